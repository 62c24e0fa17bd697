"""Encoder block, with PyTorch: every intermediate value that nn.TransformerEncoderLayer lets out.

The random numbers are NumPy's, so that both versions print the same; nothing here has been learned. The layer works in
double precision and without dropout. Needs Python 3.11, NumPy and PyTorch.
"""

import torch
from torch import nn

# %% [markdown]
# ## Settings

# %%
words = ["Meera", "bought", "a", "new", "bat"]
d_head = 4  # size of a query, key or value
n_heads = 2  # the width of an embedding, d_model, is n_heads * d_head
factor = 2  # the feed-forward part is this many times as wide
seed = 0
norm_position = "pre"  # or "post", as in the paper of 2017
activation = "gelu"  # or "relu"
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## Random numbers to start from

# %%
from block_drawing import draw_block

d_model, d_ff = n_heads * d_head, factor * n_heads * d_head
x, parameters = draw_block(words, d_head, n_heads, d_ff, seed)
p = {name: torch.from_numpy(array) for name, array in parameters.items()}

# %% [markdown]
# ## The layer
# PyTorch keeps the transpose of each matrix, and those of q, k and v in one.

# %%
layer = nn.TransformerEncoderLayer(
    d_model,
    n_heads,
    d_ff,
    dropout=0.0,
    activation=activation,
    batch_first=True,
    norm_first=norm_position == "pre",
    dtype=torch.float64,
)
layer.load_state_dict(
    {
        "self_attn.in_proj_weight": torch.cat([p["w_q"], p["w_k"], p["w_v"]], dim=1).T,
        "self_attn.in_proj_bias": torch.cat([p["b_q"], p["b_k"], p["b_v"]]),
        "self_attn.out_proj.weight": p["w_o"].T,
        "self_attn.out_proj.bias": p["b_o"],
        "linear1.weight": p["w_1"].T,
        "linear1.bias": p["b_1"],
        "linear2.weight": p["w_2"].T,
        "linear2.bias": p["b_2"],
        "norm1.weight": p["norm_1_gain"],
        "norm1.bias": p["norm_1_shift"],
        "norm2.weight": p["norm_2_gain"],
        "norm2.bias": p["norm_2_shift"],
    }
)

# %% [markdown]
# ## The way through, part by part

# %%
parts = {
    "norm1": "norm 1",
    "self_attn": "attention",
    "norm2": "norm 2",
    "linear1": "hidden",
    "linear2": "feed-forward",
}
made = {"X": torch.from_numpy(x)}
for attribute, name in parts.items():

    def hear(_, inputs, output, name=name):
        """Keep what the part gives, and what it reads where no other part gives that."""
        if name == "feed-forward":
            made["activated"] = inputs[0][0]
        if name == ("norm 2" if norm_position == "pre" else "norm 1"):
            made["sum 1"] = inputs[0][0]
        if name == "norm 2" and norm_position == "post":
            made["sum 2"] = inputs[0][0]
        made[name] = (output[0] if isinstance(output, tuple) else output)[0]

    getattr(layer, attribute).register_forward_hook(hear)
with torch.no_grad():
    output = layer(made["X"][None])[0]
    if norm_position == "pre":
        made["sum 2"] = output
    # The heads' outputs are not let out; they follow from the layer's own projections.
    given = made["norm 1"] if norm_position == "pre" else made["X"]
    q, k, v = (
        part.unflatten(-1, (n_heads, d_head)).transpose(0, 1)
        for part in nn.functional.linear(given, layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias).chunk(
            3, -1
        )
    )
    made["joined"] = nn.functional.scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(1)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

before, after = ["norm 1", "joined", "attention", "sum 1", "norm 2"], ["joined", "attention", "sum 1", "norm 1"]
order = ["X", *(before if norm_position == "pre" else after), "hidden", "activated", "feed-forward", "sum 2"]
for name in order if norm_position == "pre" else [*order, "norm 2"]:
    columns = ("unit" if name in ("hidden", "activated") else "feature", range(made[name].shape[1]))
    show(name, made[name].numpy(), ("word", name_words(words)), columns, queries_in)
