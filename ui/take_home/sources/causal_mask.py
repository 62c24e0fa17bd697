"""Causal mask: no query sees a later word, and no later word leaks into an earlier row.

Embeddings and projections are random numbers drawn from the seed, so the pattern means nothing yet; everything else is
computed from them. Every matrix of the page is printed, rounded to six decimals; a masked score is -inf.
Needs Python 3.11 and NumPy.
"""

from functools import partial

import numpy as np

# %% [markdown]
# ## Settings

# %%
words = ["Meera", "bought", "a", "new", "bat"]
d_head = 4  # size of a query, key or value
n_heads = 2  # the width of an embedding, d_model, is n_heads * d_head
seed = 0
head = 0  # which head is shown
causal = True  # False switches the mask off
replace = 4  # the leak test: position of the word that is replaced,
by = "ball"  # and by what
n_query = 2  # sizes of the two masks at the end
n_key = 5
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## With and without the mask
# A score that is masked becomes -inf before the softmax, which makes its weight exactly 0.

# %%
from attention import attend
from drawing import draw_example

x, w_q, w_k, w_v = draw_example(words, d_head, n_heads, seed)
w_q, w_k, w_v = w_q[head], w_k[head], w_v[head]  # (d_model, d_head) each
q, k, v = x @ w_q, x @ w_k, x @ w_v
mask = np.tri(len(words), dtype=bool)  # (query, key): True where the query may attend to the key
_, scores_before, weights_before, _ = attend(q, k, v)
_, scores_after, weights, output = attend(q, k, v, mask if causal else True)

# %% [markdown]
# ## Does a later word leak?
# One word is replaced, everything is computed again, and each row of the output is compared with what it was.

# %%
new_words = by.split()
changed = [*words]
if len(new_words) == 1:  # otherwise nothing is replaced, and nothing moves
    changed[replace] = new_words[0]
new_x = draw_example(changed, d_head, n_heads, seed)[0]
moved = []
for may_attend in (mask, True):
    before, after = (attend(rows @ w_q, rows @ w_k, rows @ w_v, may_attend)[3] for rows in (x, new_x))
    moved.append(abs(after - before).max(axis=1))
moved = np.stack(moved, axis=1)  # (query, with mask or without)

# %% [markdown]
# ## More keys than queries
# All scores are alike here, so that each query shares equally among its keys and the mask alone is seen. "top-left":
# query i is position i. "bottom-right": the last query is the last key, as with a cache. No key, no share.

# %%
shapes = {}
for align, offset in (("top-left", 0), ("bottom-right", n_key - n_query)):
    allowed = np.tri(n_query, n_key, offset, dtype=bool)
    shapes[align] = allowed / np.maximum(allowed.sum(axis=1, keepdims=True), 1)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
queries, keys = ("query", name_words(words)), ("key", name_words(words))
show("mask", mask, queries, keys)
show("scaled scores before", scores_before, queries, keys)
show("scaled scores after", scores_after, queries, keys)
show("weights", weights, queries, keys)
show("weights without a mask", weights_before, queries, keys)
show("output", output, queries, ("feature", range(d_head)))
show("how far each output row moved", moved, queries, ("side", ["with mask", "without"]))
for align, shape in shapes.items():
    show(align, shape, ("query", range(n_query)), ("key", range(n_key)))

# %% [markdown] notebook only
# ## The same numbers as pictures
# Needs Matplotlib. Masked cells are grey.

# %% notebook only
import matplotlib.pyplot as plt
from picture import heat_map

_, places = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
heat_map(places[0, 0], "scaled scores after", scores_after, queries, keys, queries_in=queries_in)
heat_map(places[0, 1], "weights", weights, queries, keys, "weights", queries_in)
heat_map(places[1, 0], "weights without a mask", weights_before, queries, keys, "weights", queries_in)
sides = ("side", ["with mask", "without"])
heat_map(places[1, 1], "how far each output row moved", moved, queries, sides, queries_in=queries_in)
plt.show()
