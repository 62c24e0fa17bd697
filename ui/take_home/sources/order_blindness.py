"""Order-blindness: without positions, shuffled words give the same outputs, shuffled; with positions they do not.

Embeddings, projections and the learned table are random numbers drawn from the seed (the table before its training);
everything else is computed. Every matrix of the page is printed, rounded to six decimals. No mask: under a causal mask
a row also depends on how many words stand before it. Needs Python 3.11 and NumPy.
"""

from functools import partial

import numpy as np

# %% [markdown]
# ## Settings

# %%
words = ["dog", "bites", "the", "man"]
d_head = 4  # size of a query, key or value
n_heads = 2  # the width of an embedding, d_model, is n_heads * d_head
seed = 3
head = 0  # which head is shown
order = [3, 1, 2, 0]  # position in the sentence of each word of the new order
positions = "sinusoidal"  # or "learned table", or "rotary"
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## Positions
# The first two are added to the embeddings; "rotary" turns queries and keys instead.

# %%
from positions import angles, draw_position_embedding, sinusoidal_encoding


def rotate(x):
    """Turn each pair of features by the angle of its position; the last feature of an odd width stays."""
    n_positions, width = x.shape
    turn = angles(n_positions, width)[:, : width // 2]
    first, second = x[:, 0 : width // 2 * 2 : 2], x[:, 1::2]
    turned = x.copy()
    turned[:, 0 : width // 2 * 2 : 2] = first * np.cos(turn) - second * np.sin(turn)
    turned[:, 1::2] = first * np.sin(turn) + second * np.cos(turn)
    return turned


d_model = n_heads * d_head
if positions == "rotary":
    encoding = np.cos(angles(len(words), d_head)[:, : d_head // 2])  # shown only: nothing is added
elif positions == "learned table":
    encoding = draw_position_embedding(len(words), d_model, seed)
else:
    encoding = sinusoidal_encoding(len(words), d_model)

# %% [markdown]
# ## Both orders, without and with positions
# A word keeps its vector wherever it stands. The outputs of the sentence are moved along with their words and then
# compared with those of the new order: without positions nothing but rounding is left.

# %%
from attention import attend
from drawing import draw_example

x, w_q, w_k, w_v = draw_example(words, d_head, n_heads, seed, lesson_words=("dog", "bites", "the", "man"))
w_q, w_k, w_v = w_q[head], w_k[head], w_v[head]  # (d_model, d_head) each


def run(rows, with_positions):
    """Output of one head for these embeddings."""
    if with_positions and positions != "rotary":
        rows = rows + encoding
    q, k, v = rows @ w_q, rows @ w_k, rows @ w_v
    if with_positions and positions == "rotary":
        q, k = rotate(q), rotate(k)
    return attend(q, k, v)[3]


plain, plain_shuffled = run(x, False), run(x[order], False)
placed, placed_shuffled = run(x, True), run(x[order], True)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
old, new = ("word", name_words(words)), ("word", name_words([words[position] for position in order]))
features = ("feature", range(d_head))
show("output without positions", plain, old, features)
show("output of the new order, without positions", plain_shuffled, new, features)
show("difference without positions", plain_shuffled - plain[order], new, features)
show("output with positions", placed, old, features)
show("output of the new order, with positions", placed_shuffled, new, features)
show("difference with positions", placed_shuffled - placed[order], new, features)
entries = ("pair" if positions == "rotary" else "input feature", range(encoding.shape[1]))
show("positions", encoding, old, entries)

# %% [markdown] notebook only
# ## The same numbers as pictures
# Needs Matplotlib. Rounding is all that the first difference shows, so it has the scale of the outputs.

# %% notebook only
import matplotlib.pyplot as plt
from picture import heat_map

_, places = plt.subplots(2, 3, figsize=(13, 7), layout="constrained")
for row, (title, first, second) in zip(
    places, (("without positions", plain, plain_shuffled), ("with positions", placed, placed_shuffled))
):
    heat_map(row[0], f"output {title}", first, old, features, queries_in=queries_in)
    heat_map(row[1], "output of the new order", second, new, features, queries_in=queries_in)
    difference = np.round(second - first[order], 12)
    heat_map(row[2], "new order − moved rows", difference, new, features, queries_in=queries_in)
plt.show()
