"""Stacked blocks, with PyTorch: a stack of nn.TransformerEncoderLayer, and the gradients that autograd finds.

The random numbers are NumPy's, so that both versions print the same: a model before its first step of training. It
works in double precision and without dropout. Needs Python 3.11, NumPy and PyTorch.
"""

import torch
from torch import nn

# %% [markdown]
# ## Settings
# d_head and n_heads belong to the other pages; the stack has a width and heads of its own.

# %%
words = ["Meera", "bought", "a", "new", "bat"]
d_head = 4
n_heads = 2
seed = 0
queries_in = "rows"  # changes nothing here: no matrix of this page has queries as rows
n_layers = 12
d_model = 32
stack_heads = 4  # a divisor of d_model
activation = "gelu"  # or "relu"
keep_attention = True  # False takes a part out of every block, and its norm and skip connection with it
keep_feed_forward = True
keep_skip = True
keep_norm = True
keep_final_norm = True  # the norm after the last block, where the norm comes first

# %% [markdown]
# ## Random numbers to start from

# %%
from stack_drawing import draw_stack

x, layers, reading = draw_stack(words, d_model, n_layers, seed)
x, reading = torch.from_numpy(x), torch.from_numpy(reading)
torch.backends.cuda.enable_flash_sdp(False)  # on the CPU too: its way back is wrong where scores are huge (no norms)

# %% [markdown]
# ## The blocks
# PyTorch keeps the transpose of each matrix, and those of q, k and v in one; its norms begin at 1 and 0, as ours do.


# %%
def block(w, pre):
    layer = nn.TransformerEncoderLayer(
        d_model,
        stack_heads,
        4 * d_model,
        dropout=0.0,
        activation=activation,
        batch_first=True,
        norm_first=pre,
        bias=False,
        dtype=torch.float64,
    )
    w = {name: torch.from_numpy(matrix).T for name, matrix in w.items()}
    state = {
        "self_attn.in_proj_weight": torch.cat([w["w_q"], w["w_k"], w["w_v"]]),
        "self_attn.out_proj.weight": w["w_o"],
        "linear1.weight": w["w_1"],
        "linear2.weight": w["w_2"],
    }
    layer.load_state_dict(state, strict=False)
    return layer


def run(layer, x):
    """The layer as it is, or those of its parts that are kept."""
    if keep_attention and keep_feed_forward and keep_skip and keep_norm:
        return layer(x[None])[0]

    def half(x, part, norm):
        made = part(norm(x) if keep_norm and layer.norm_first else x)
        joined = x + made if keep_skip else made
        return norm(joined) if keep_norm and not layer.norm_first else joined

    if keep_attention:
        x = half(x, lambda read: layer.self_attn(read[None], read[None], read[None])[0][0], layer.norm1)
    if keep_feed_forward:
        x = half(x, lambda read: layer.linear2(layer.activation(layer.linear1(read))), layer.norm2)
    return x


def matrices(layer):
    attention = [layer.self_attn.in_proj_weight, layer.self_attn.out_proj.weight]
    return attention * keep_attention + [layer.linear1.weight, layer.linear2.weight] * keep_feed_forward


def lengths(gradients):
    """Of the gradient at each matrix; those of q, k and v come in one."""
    found = [*gradients]
    if keep_attention:
        found[:1] = found[0].chunk(3)
    return [float(gradient.norm()) for gradient in found]


# %% [markdown]
# ## Both stacks

# %%
from printing import show

names = ["w_q", "w_k", "w_v", "w_o"] * keep_attention + ["w_1", "w_2"] * keep_feed_forward
for name in ("pre-norm", "post-norm"):
    pre = name == "pre-norm"
    stack = [block(w, pre) for w in layers]
    final = nn.LayerNorm(d_model, dtype=torch.float64) if pre and keep_norm and keep_final_norm else nn.Identity()
    streams = [x.clone().requires_grad_()]
    for layer in stack:
        streams.append(run(layer, streams[-1]))
    loss = (final(streams[-1]) * reading).sum()
    at_streams = torch.autograd.grad(loss, streams, retain_graph=True)
    of_layers, lasts = [], []
    for layer, given in zip(stack, streams) if names else ():
        of_layers.append(lengths(torch.autograd.grad(loss, matrices(layer), retain_graph=True)))
        ends_here = (final(run(layer, given.detach())) * reading).sum()  # as if this layer were the last
        lasts.append(lengths(torch.autograd.grad(ends_here, matrices(layer))))

    seen = [stream.detach() for stream in streams]
    columns = {"length": [float(stream.norm(dim=-1).mean()) for stream in seen]}
    if len(words) > 1:
        units = [nn.functional.normalize(stream, dim=-1, eps=0.0) for stream in seen]
        pairs = len(words) * (len(words) - 1)
        columns["mean cosine"] = [(float((unit @ unit.T).sum()) - len(words)) / pairs for unit in units]
    columns["gradient"] = [float(gradient.norm()) for gradient in at_streams]
    table = [*zip(*columns.values())]
    show(f"stream, {name}", table, ("layer", range(n_layers + 1)), ("measure", [*columns]))
    if names:
        show(f"gradients, {name}", of_layers, ("layer", range(1, n_layers + 1)), ("measure", names))
        show(f"gradients of the last layer, {name}", lasts, ("layer", range(1, n_layers + 1)), ("measure", names))
