"""Encoder block: every intermediate value of one sentence on its way through one block.

Embeddings and parameters are random numbers drawn from the seed, so nothing here has been learned; everything else is
computed from them. Every matrix of the page is printed, rounded to six decimals. Needs Python 3.11 and NumPy.
"""

import math
from functools import partial

import numpy as np

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

x, p = draw_block(words, d_head, n_heads, factor * n_heads * d_head, seed)

# %% [markdown]
# ## The parts of a block
# Words meet in the attention alone; norm and feed-forward part treat each word by itself.

# %%
from attention import attend


def layer_norm(x, gain, shift):
    """Each word's numbers brought to mean 0 and variance 1, then scaled and shifted."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * gain + shift


def bend(x):
    """GELU by the exact formula, or ReLU."""
    if activation == "relu":
        return np.maximum(x, 0.0)
    return 0.5 * x * (1.0 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2.0)))


def split_heads(x):
    """(position, d_model) to (head, position, d_head)."""
    return x.reshape(len(x), n_heads, d_head).swapaxes(0, 1)


def join_heads(x):
    """All heads' outputs side by side."""
    q, k, v = (split_heads(x @ p[f"w_{name}"] + p[f"b_{name}"]) for name in "qkv")
    return attend(q, k, v)[-1].swapaxes(0, 1).reshape(x.shape)


# %% [markdown]
# ## The way through

# %%
norm_1 = partial(layer_norm, gain=p["norm_1_gain"], shift=p["norm_1_shift"])
norm_2 = partial(layer_norm, gain=p["norm_2_gain"], shift=p["norm_2_shift"])
pre = norm_position == "pre"
made = {"X": x}
if pre:
    made["norm 1"] = norm_1(x)
made["joined"] = join_heads(made["norm 1"] if pre else x)
made["attention"] = made["joined"] @ p["w_o"] + p["b_o"]
made["sum 1"] = x + made["attention"]
after_attention = made["sum 1"] if pre else norm_1(made["sum 1"])
made["norm 2" if pre else "norm 1"] = norm_2(after_attention) if pre else after_attention
made["hidden"] = made["norm 2" if pre else "norm 1"] @ p["w_1"] + p["b_1"]
made["activated"] = bend(made["hidden"])
made["feed-forward"] = made["activated"] @ p["w_2"] + p["b_2"]
made["sum 2"] = after_attention + made["feed-forward"]  # the block's output, where the norm comes first
if not pre:
    made["norm 2"] = norm_2(made["sum 2"])  # the block's output, where the norm comes last

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

rows = ("word", name_words(words))
for name, values in made.items():
    wide = name in ("hidden", "activated")
    show(name, values, rows, ("unit" if wide else "feature", range(values.shape[1])), queries_in)

# %% [markdown] notebook only
# ## The same numbers as pictures
# Needs Matplotlib. Change a setting above and run all cells: the pictures follow.

# %% notebook only
import matplotlib.pyplot as plt
from picture import heat_map

_, places = plt.subplots(2, 5, figsize=(18, 7), layout="constrained")
for place, (name, values) in zip(places.flat, made.items()):
    heat_map(place, name, values, rows, ("feature", range(values.shape[1])), queries_in=queries_in)
plt.show()
