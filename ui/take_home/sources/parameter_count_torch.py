"""Encoder block, parameter count, with PyTorch: its own layer's tensors, counted.

The layer lives on the device "meta": it has shapes, but no numbers and no memory. Needs Python 3.11 and PyTorch.
"""

import torch
from torch import nn

# %% [markdown]
# ## Settings
# d_model must be a multiple of n_heads.

# %%
d_model = 32  # width of an embedding
n_heads = 4
d_ff = 64  # inner width of the feed-forward part
n_layers = 1
biases = "all"  # or "no attention biases", "no linear biases", "none" (which leaves out the norms' shifts too)

# %% [markdown]
# ## The layer
# PyTorch has one switch for all biases and the norms' shifts; for the two choices between, their tensors are left out
# of the sum.

# %%
with torch.device("meta"):
    layer = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, batch_first=True, bias=biases != "none")
left_out = {"no attention biases": ("self_attn",), "no linear biases": ("self_attn", "linear")}.get(biases, ())
tensors = {
    name: parameter
    for name, parameter in layer.named_parameters()
    if not (name.endswith("bias") and name.startswith(left_out))
}
total = sum(parameter.numel() for parameter in tensors.values())

# %% [markdown]
# ## The numbers of the page
# PyTorch keeps q, k and v in one tensor, and every matrix transposed: here they are split and turned as on the page.

# %%
ours = {
    "self_attn.out_proj.": ("w_o", "b_o"),
    "linear1.": ("w_1", "b_1"),
    "linear2.": ("w_2", "b_2"),
    "norm1.": ("norm_1_gain", "norm_1_shift"),
    "norm2.": ("norm_2_gain", "norm_2_shift"),
}
names = {f"{module}{kind}": name for module, pair in ours.items() for kind, name in zip(("weight", "bias"), pair)}
in_proj = [tensors[name].chunk(3) for name in ("self_attn.in_proj_weight", "self_attn.in_proj_bias") if name in tensors]
rows = [(f"{kind}_{part}", tensor) for part, pair in zip("qkv", zip(*in_proj)) for kind, tensor in zip("wb", pair)]
rows += [(names[name], tensor) for name, tensor in tensors.items() if name in names]
print("tensor\tshape\tcount")
for name, tensor in rows:
    shape = tensor.mT.shape if tensor.ndim == 2 else tensor.shape
    print(name, tuple(shape), tensor.numel(), sep="\t")
print(f"\none block\t{total}")
print(f"all layers ({n_layers})\t{n_layers * total}")
