"""Query, key, value with PyTorch: one head of attention on one sentence.

The random numbers are NumPy's, so that both versions print the same; the pattern means nothing yet, but for a head of a
trained model. Everything else is computed by PyTorch, in double precision. Needs Python 3.11, NumPy and PyTorch.
"""

from functools import partial

import torch
from torch.nn import functional

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
    x, w_q, w_k, w_v = (torch.from_numpy(array) for array in trained_head(pieces, layer, head))
    words = pieces
else:
    x, w_q, w_k, w_v = (torch.from_numpy(array) for array in draw_example(words, d_head, n_heads, seed))
    w_q, w_k, w_v = w_q[head], w_k[head], w_v[head]  # (d_model, d_head) each

# %% [markdown]
# ## Attention
# softmax(q kᵀ / √d_head) v, in its steps; one fused function gives the output as well.

# %%
q, k, v = (functional.linear(x, w.T) for w in (w_q, w_k, w_v))  # PyTorch keeps (d_out, d_in)
scores = q @ k.T
scaled_scores = scores / q.shape[1] ** 0.5
weights = torch.softmax(scaled_scores, dim=-1)
output = functional.scaled_dot_product_attention(q, k, v)
torch.testing.assert_close(output, weights @ v)

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
print(f"scaled score\t{q[query] @ k[key] / q.shape[1] ** 0.5:z.6f}")
print(f"weight\t{weights[query, key]:z.6f}")
print(f"output[{query}, {feature}]\t{weights[query] @ v[:, feature]:z.6f}")
