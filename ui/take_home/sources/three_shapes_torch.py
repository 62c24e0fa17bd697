"""Encoder, decoder, both, with PyTorch: masks of one's own, the weights under them, and how far a word is heard.

The random numbers are NumPy's, so that both versions print the same; the pattern means nothing yet. Everything else is
computed by PyTorch, in double precision. Needs Python 3.11, NumPy and PyTorch.
"""

from functools import partial

import numpy as np
import torch
from torch import nn
from torch.nn import functional

# %% [markdown]
# ## Settings
# A mask is a preset (full, causal, window, prefix or padding), its size, and the cells allowed and blocked by hand,
# each as query and key.

# %%
words = ["Meera", "bought", "a", "new", "bat"]
target = ["Meera", "ne", "ek", "naya", "balla", "kharida"]  # of the encoder-decoder only
shape = "encoder-decoder"  # or "encoder", "decoder"
encoder_mask = ["full", 0, [], []]
decoder_mask = ["causal", 0, [], []]
cross_mask = ["full", 0, [], []]
d_head = 4  # size of a query, key or value
n_heads = 2  # the width of an embedding, d_model, is n_heads * d_head
seed = 0
head = 0  # which head is shown
n_layers = 2  # how many layers a word is followed through
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## Masks
# True where the query may attend to the key. A decoder's window and padding keep to what came before.

# %%


def make_mask(n_query, n_key, preset, size, allowed, blocked, one_way=False):
    """A preset with some cells changed; cells beyond the sentence are left out."""
    query, key = torch.arange(n_query)[:, None], torch.arange(n_key)[None]
    before = key <= query
    mask = {
        "full": torch.ones(n_query, n_key, dtype=torch.bool),
        "causal": before,
        "window": (abs(query - key) <= size) & (before | (not one_way)),
        "prefix": before | (key < size),
        "padding": (key < n_key - size) & (before | (not one_way)),
    }[preset]
    for cells, value in ((allowed, True), (blocked, False)):
        for row, column in cells:
            if row < n_query and column < n_key:
                mask[row, column] = value
    return mask


# %% [markdown]
# ## Each attention of the shape
# In cross-attention the queries come from the target, keys and values from the source. The module reads True in a mask
# as "blocked", scaled_dot_product_attention reads it as "may attend". A query without any key gets zeros from the
# second and NaN from the first.

# %%
from drawing import draw_example

d_model = n_heads * d_head
x, *projections = (torch.from_numpy(array) for array in draw_example(words, d_head, n_heads, seed))
y = torch.from_numpy(draw_example(target, d_head, n_heads, seed)[0]) if target else x
drawn = np.random.default_rng([17, seed]).normal(0.0, 0.5, (2, n_heads, 3, d_model, d_head))
own, across = (attention.swapaxes(0, 1) for attention in torch.from_numpy(drawn))


def weights_of_head(rows, columns, projections, mask):
    """nn.MultiheadAttention(query, key, value), whose weights are those of every head."""
    module = nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([w.mT.reshape(d_model, d_model) for w in projections]))
        query, key = rows[None], columns[None]
        _, weights = module(query, key, key, attn_mask=~mask, average_attn_weights=False)
    return weights[0, head].nan_to_num(0.0)


parts = {  # the sentence that asks, the sentence that is looked at, each with its rows; projections, mask
    "encoder": {"encoder": (words, x, words, x, projections, encoder_mask)},
    "decoder": {"decoder": (words, x, words, x, projections, decoder_mask)},
    "encoder-decoder": {
        "encoder": (words, x, words, x, projections, encoder_mask),
        "decoder": (target, y, target, y, own, decoder_mask),
        "cross": (target, y, words, x, across, cross_mask),
    },
}[shape]
found = {}
for name, (asking, rows, looked_at, columns, (w_q, w_k, w_v), made) in parts.items():
    mask = make_mask(len(asking), len(looked_at), *made, one_way=name == "decoder")
    q, k, v = rows @ w_q[head], columns @ w_k[head], columns @ w_v[head]
    scaled_scores = (q @ k.T / d_head**0.5).masked_fill(~mask, -torch.inf)
    weights = weights_of_head(rows, columns, (w_q, w_k, w_v), mask)
    found[name] = mask, scaled_scores, weights, functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)

# %% [markdown]
# ## How far a word is heard
# A layer hands on what its keys had heard before, and the skip connection keeps the word itself: powers of the mask.
# The decoder looks at what the encoder's last layer gave.

# %%


def power(mask, n):
    """True where something of the key can be in the query after n layers."""
    step = mask | torch.eye(len(mask), dtype=torch.bool)
    return torch.linalg.matrix_power(step.double(), n) > 0  # counts the ways: 64^8 at most, exact in doubles


heard = {name: power(found[name][0], n_layers) for name in parts if name != "cross"}
if "cross" in parts:
    looked_up = found["cross"][0].double() @ heard["encoder"].double() > 0
    heard["cross"] = power(found["decoder"][0], n_layers - 1).double() @ looked_up.double() > 0

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
for name, (asking, _, looked_at, *_) in parts.items():
    queries, keys = ("query", name_words(asking)), ("key", name_words(looked_at))
    mask, scaled_scores, weights, output = found[name]
    show(f"{name}: mask", mask, queries, keys)
    show(f"{name}: scaled scores", scaled_scores, queries, keys)
    show(f"{name}: weights", weights, queries, keys)
    show(f"{name}: output", output, queries, ("feature", range(d_head)))
    show(f"{name}: reach", heard[name], queries, keys)
