"""Encoder, decoder, both: masks of one's own, the weights under them, and how far a word is heard through layers.

Embeddings and projections are random numbers drawn from the seed, so the pattern means nothing yet; everything else is
computed from them. Every matrix of the page is printed, rounded to six decimals; a masked score is -inf.
Needs Python 3.11 and NumPy.
"""

from functools import partial

import numpy as np

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
    query, key = np.ogrid[:n_query, :n_key]
    before = key <= query
    mask = {
        "full": np.ones((n_query, n_key), dtype=bool),
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
# In cross-attention the queries come from the target, keys and values from the source. Each attention reads the
# embeddings themselves; in a whole model the layers before it stand between. A query without any key gets zeros.

# %%
from drawing import draw_example

x, *projections = draw_example(words, d_head, n_heads, seed)
y = draw_example(target, d_head, n_heads, seed)[0] if target else x
drawn = np.random.default_rng([17, seed]).normal(0.0, 0.5, (2, n_heads, 3, n_heads * d_head, d_head))
own, across = (attention.swapaxes(0, 1) for attention in drawn)  # (w_q, w_k or w_v; head; d_model; d_head)
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
    scaled_scores = np.where(mask, q @ k.T / np.sqrt(d_head), -np.inf)
    exponentials = np.exp(scaled_scores - np.max(scaled_scores, axis=1, keepdims=True, where=mask, initial=-1e300))
    weights = exponentials / np.maximum(exponentials.sum(axis=1, keepdims=True), 1e-300)
    found[name] = mask, scaled_scores, weights, weights @ v

# %% [markdown]
# ## How far a word is heard
# A layer hands on what its keys had heard before, and the skip connection keeps the word itself: powers of the mask.
# The decoder looks at what the encoder's last layer gave.

# %%


def power(mask, n):
    """True where something of the key can be in the query after n layers."""
    step = mask | np.eye(len(mask), dtype=bool)
    return np.linalg.matrix_power(step.astype(int), n) > 0  # counts the ways: 64^8 at most


heard = {name: power(found[name][0], n_layers) for name in parts if name != "cross"}
if "cross" in parts:
    looked_up = found["cross"][0].astype(int) @ heard["encoder"].astype(int) > 0
    heard["cross"] = power(found["decoder"][0], n_layers - 1).astype(int) @ looked_up.astype(int) > 0

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

# %% [markdown] notebook only
# ## The same numbers as pictures
# Needs Matplotlib. Masked cells are grey.

# %% notebook only
import matplotlib.pyplot as plt
from picture import heat_map

_, places = plt.subplots(2, len(parts), figsize=(4 * len(parts) + 1, 8), layout="constrained", squeeze=False)
for column, (name, (asking, _, looked_at, *_)) in zip(places.T, parts.items()):
    queries, keys = ("query", name_words(asking)), ("key", name_words(looked_at))
    heat_map(column[0], f"{name}: mask", found[name][0], queries, keys, "weights", queries_in)
    heat_map(column[1], f"{name}: weights", found[name][2], queries, keys, "weights", queries_in)
plt.show()
