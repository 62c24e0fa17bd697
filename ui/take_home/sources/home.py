"""Attention at work: how much each word takes from each word, in one of several heads.

Embeddings and projections are random numbers drawn from the seed, so the pattern means nothing yet; the weights are
computed from them. Numbers are rounded to six decimals. Needs Python 3.11 and NumPy.
"""

from functools import partial

# %% [markdown]
# ## Settings

# %%
words = ["Meera", "bought", "a", "new", "bat"]
d_head = 4  # size of a query, key or value
n_heads = 2  # the width of an embedding, d_model, is n_heads * d_head
seed = 0
head = 0  # which head is shown
query = 0  # position of the word whose shares are printed on their own
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## Every head at once
# One vector a word, and for each head three matrices that training would adjust. The axis of the heads comes first, so
# that one product serves all of them.

# %%
from attention import attend
from drawing import draw_example

x, w_q, w_k, w_v = draw_example(words, d_head, n_heads, seed)
weights = attend(x @ w_q, x @ w_k, x @ w_v)[2]  # (head, query, key)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
queries, keys = name_words(words), ("key", name_words(words))
show("weights of this head", weights[head], ("query", queries), keys)
show("shares of one query", weights[head, query, None], ("query", [queries[query]]), keys)

# %% [markdown] notebook only
# ## The same numbers as a picture
# Needs Matplotlib. A line from a word on the left is as strong as what it takes from the word on the right.

# %% notebook only
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

_, axes = plt.subplots(figsize=(7, 1 + 0.45 * len(words)), layout="constrained")
for position, name in enumerate(queries):
    axes.text(-0.04, position, name[:24], ha="right", va="center", color="#0072B2", parse_math=False)
    axes.text(1.04, position, name[:24], ha="left", va="center", color="#D55E00", parse_math=False)
lines = [[(0, start), (1, end)] for start, end in np.ndindex(weights[head].shape)]
strengths = weights[head].ravel()
colours = ["#0072B2" if start == query else "#999999" for (_, start), _ in lines]
axes.add_collection(LineCollection(lines, colors=colours, alpha=strengths, linewidths=5 * strengths))
axes.set(xlim=(-1, 2), ylim=(len(words) - 0.5, -0.5))
axes.axis("off")
plt.show()
