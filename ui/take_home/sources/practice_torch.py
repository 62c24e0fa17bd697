"""Practice, with PyTorch: one exercise with its numbers, and its answer for whoever sets revealed to True.

The numbers are random and small. Everything is in double precision. Needs Python 3.11, NumPy and PyTorch.
"""

from functools import partial

import torch
from torch import nn

# %% [markdown]
# ## Settings
# Of each matrix: its name, its numbers, then what its rows and its columns are, with names where they have any.

# %%
kind = "scaling"
seed = 0
number = 1
operands = [["scores", [[-9, 7, -9]], "query", [], "key", []]]
given = [["d", 5], ["heads", 2]]
options = []  # of a question with answers to choose from
rows = ["answer"]
columns = ["key 0", "key 1", "key 2"]
revealed = False  # True prints the answer too
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## The way to the answer
# One function for each kind of exercise.

# %%
from printing import show

m = {name: torch.tensor(values, dtype=torch.float64) for name, values, *_ in operands}
n = len(m["Q"]) if "Q" in m else 3
causal = torch.ones(n, n).tril().bool()


def weights_of(q, k, may_attend=causal):
    """The fused function, with the identity for v: its output is then the weights."""
    identity = torch.eye(len(k), dtype=torch.float64)
    return nn.functional.scaled_dot_product_attention(q[None], k[None], identity[None], may_attend)[0]


def mask(n_query, n_key, padding):
    seen = torch.ones(n_query, n_key).tril(n_key - n_query)
    seen[:, [padding] if padding >= 0 else []] = 0
    return seen


def encoding(position, d_model):
    angles = position / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1)


def head_split(n_heads, head):
    features = torch.arange(len(columns))
    return torch.isin(features, features.reshape(n_heads, -1)[head]).expand(len(rows), -1)


def parameters(d_model, n_heads, d_ff):
    layer = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, device="meta")
    return torch.tensor(sum(parameter.numel() for parameter in layer.parameters()))


def whose_mask(asked):
    seen = m["may attend"]
    if len(seen) != len(seen.T):
        return torch.tensor(2)
    return torch.tensor(0 if seen.all() else 1 if seen.equal(seen.tril()) else 3)


def shapes(asked):
    batch, words, heads, d = m["given"][0].int().tolist()
    x = torch.empty(batch, words, heads * d)
    q = x.unflatten(2, (heads, d)).transpose(1, 2)
    weights = q @ q.mT
    averaged = nn.MultiheadAttention(heads * d, heads)(x, x, x)[1]  # batch_first is False unless asked for
    found = weights, q, (weights @ q).transpose(1, 2).flatten(2), averaged
    return torch.tensor(options.index(str(tuple(found[asked].shape))))


def which_mistake(asked):
    q, k = m["Q"], m["K"]
    free, root = weights_of(q, k, None), q.shape[-1] ** 0.5
    down = (q @ k.T / root).masked_fill(~causal, -torch.inf).softmax(dim=0)
    made = [weights_of(q, k), weights_of(q * root, k), free, free * causal, down, weights_of(k, q)]
    made.append(weights_of(q, k, ~causal))
    return torch.stack([(weights - m["weights made"]).abs().max() for weights in made]).argmin()


answers = {
    "reading": lambda query, key: torch.stack([m["weights"][query, key], m["weights"][query].max()]),
    "projection": lambda: m["x"] @ m["W_q"],
    "score": lambda query, key: m["Q"][query] @ m["K"][key],
    "scaling": lambda d, heads: m["scores"] / d**0.5,
    "softmax": lambda query: m["scaled scores"][query].softmax(dim=-1),
    "mixture": lambda query: m["weights"][query] @ m["V"],
    "mask": mask,
    "causal rows": lambda: m["scaled scores"].masked_fill(~causal, -torch.inf).softmax(dim=-1)[[0, -1]],
    "weights": lambda query: weights_of(m["Q"], m["K"])[query],
    "order": lambda first: m["output"][m["new order"][0].long()],
    "encoding": encoding,
    "head split": head_split,
    "layer norm": lambda word: nn.functional.layer_norm(m["x"], m["x"].shape[1:], eps=0.0)[word],
    "parameters": parameters,
    "doubling": lambda n, n_heads, d: torch.tensor([(length * n) ** 2 * n_heads * d for length in (1, 2)]),
    "whose mask": whose_mask,
    "shapes": shapes,
    "which mistake": which_mistake,
}

# %% [markdown]
# ## The numbers of the page

# %%
show = partial(show, queries_in=queries_in)
print(f"{kind}, number {number} of seed {seed}\n")
for name, _, row_title, row_names, column_title, column_names in operands:
    axes = (row_title, row_names or range(len(m[name]))), (column_title, column_names or range(len(m[name].T)))
    show(name, m[name], *axes)
if revealed:
    answer = answers[kind](**dict(given)).reshape(len(rows), len(columns)).detach()
    show("answer", answer, ("answer", rows), ("cell", columns))
