"""Query, key, value: one head of attention on one sentence, step by step.

Embeddings and projections are random numbers drawn from the seed, so that the pattern means nothing yet, or those of a
trained model; everything else is computed from them. Every matrix of the page is printed, rounded to six decimals.
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
query = 0  # positions of the cell that is worked out at the end
key = 3
feature = 0
trained = False  # whether a head of a trained model is shown; then words, d_head, n_heads and seed play no part
pieces = ["[CLS]", "me", "##era", "bought", "a", "new", "bat", "[SEP]"]  # what the trained model reads
layer = 3  # of the trained model
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## Random numbers to start from, or trained ones
# One vector a word, and for each head three matrices that training would adjust. The trained ones need the folder
# core/pretrained/model of the dashboard's repository beside this file, as `model` (all-MiniLM-L6-v2, Apache-2.0).

# %%
from drawing import draw_example
from trained_head import trained_head

if trained:
    x, w_q, w_k, w_v = trained_head(pieces, layer, head)
    words = pieces
else:
    x, w_q, w_k, w_v = draw_example(words, d_head, n_heads, seed)
    w_q, w_k, w_v = w_q[head], w_k[head], w_v[head]  # (d_model, d_head) each

# %% [markdown]
# ## Attention
# softmax(q kᵀ / √d_head) v, in its steps.

# %% [markdown] notebook only
# $$\operatorname{softmax}\left(\frac{q\,k^\top}{\sqrt{d_{head}}}\right) v$$

# %%
from softmax import softmax

q, k, v = x @ w_q, x @ w_k, x @ w_v  # what each word asks, is found by, and gives
scores = q @ k.T  # (query, key): how well each query matches each key
scaled_scores = scores / np.sqrt(q.shape[1])  # longer keys make larger scores, whatever the words
weights = softmax(scaled_scores)  # each row sums to 1
output = weights @ v  # (query, feature): the values, mixed by the weights

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
queries, keys = ("query", name_words(words)), ("key", name_words(words))
inputs, features = ("input feature", range(x.shape[1])), ("feature", range(q.shape[1]))
show("X", x, ("word", name_words(words)), inputs)
for name, matrix in (("W_q", w_q), ("W_k", w_k), ("W_v", w_v)):
    show(name, matrix, inputs, features)
for name, matrix, positions in (("Q", q, queries), ("K", k, keys), ("V", v, keys)):
    show(name, matrix, positions, features)
show("scores", scores, queries, keys)
show("scaled scores", scaled_scores, queries, keys)
show("weights", weights, queries, keys)
show("output", output, queries, features)

# %% [markdown]
# ## One cell, worked out

# %%
print(f"worked cell: query {query}, key {key}, feature {feature}")
print(f"score\t{q[query] @ k[key]:z.6f}")
print(f"scaled score\t{q[query] @ k[key] / np.sqrt(q.shape[1]):z.6f}")
print(f"weight\t{weights[query, key]:z.6f}")
print(f"output[{query}, {feature}]\t{weights[query] @ v[:, feature]:z.6f}")

# %% [markdown] notebook only
# ## The same numbers as pictures
# Needs Matplotlib. Change a setting above and run all cells: the pictures follow.

# %% notebook only
import matplotlib.pyplot as plt
from picture import heat_map

_, places = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
heat_map(places[0, 0], "scores", scores, queries, keys, queries_in=queries_in)
heat_map(places[0, 1], "scaled scores", scaled_scores, queries, keys, queries_in=queries_in)
heat_map(places[1, 0], "weights", weights, queries, keys, "weights", queries_in)
heat_map(places[1, 1], "output", output, queries, features, queries_in=queries_in)
plt.show()
