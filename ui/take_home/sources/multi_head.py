"""Multi-head attention: every head of one sentence, joined and mixed; an average and a wrong split beside it.

Embeddings and projections are random numbers drawn from the seed, so no head has learned anything; everything else is
computed from them. Every matrix of the page is printed, rounded to six decimals. Needs Python 3.11 and NumPy.
"""

from functools import partial

# %% [markdown]
# ## Settings

# %%
words = ["Meera", "bought", "a", "new", "bat"]
d_head = 4  # size of a query, key or value
n_heads = 2  # the width of an embedding, d_model, is n_heads * d_head
seed = 0
head = 0  # which head the wrong split is shown for
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## Every head at once
# The axis of the heads comes first, so that one product serves all of them.

# %%
from attention import attend
from block_drawing import draw_block
from drawing import draw_example

d_model = n_heads * d_head
x, w_q, w_k, w_v = draw_example(words, d_head, n_heads, seed)
w_o = draw_block(words, d_head, n_heads, 1, seed)[1]["w_o"]
q, k, v = x @ w_q, x @ w_k, x @ w_v  # (head, position, d_head)
*_, weights, outputs = attend(q, k, v)

# %% [markdown]
# ## Joined, then mixed
# The heads' outputs stand side by side, head 0 first.

# %%


def join(heads):
    """(head, position, d_head) to (position, d_model)."""
    return heads.swapaxes(0, 1).reshape(len(words), d_model)


joined = join(outputs)
output = joined @ w_o

# %% [markdown]
# ## An average, one wide head, and a wrong split
# A reshape alone gives the right shape and deals pieces of several words to each head.

# %%
wide_x, wide_q, wide_k, wide_v = draw_example(words, d_model, 1, seed)
wide = attend(wide_x @ wide_q[0], wide_x @ wide_k[0], wide_x @ wide_v[0])[2]
wrong = attend(*(join(heads).reshape(heads.shape) for heads in (q, k, v)))[2]

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
queries, keys, rows = ((title, name_words(words)) for title in ("query", "key", "word"))
features = ("feature", range(d_model))
for number in range(n_heads):
    show(f"weights of head {number}", weights[number], queries, keys)
show("joined", joined, rows, features)
show("W_o", w_o, ("joined feature", range(d_model)), features)
show("output", output, rows, features)
show("average of all heads", weights.mean(axis=0), queries, keys)
show("one wide head", wide, queries, keys)
show("wrong split", wrong[head], queries, keys)

# %% [markdown] notebook only
# ## The same numbers as pictures
# Needs Matplotlib. Change a setting above and run all cells: the pictures follow.

# %% notebook only
import matplotlib.pyplot as plt
from picture import heat_map

across = min(n_heads, 4)
_, places = plt.subplots(-(-n_heads // across), across, figsize=(11, 1 + 3 * -(-n_heads // across)), squeeze=False)
for number, place in zip(range(n_heads), places.flat):
    heat_map(place, f"head {number}", weights[number], queries, keys, "weights", queries_in)
plt.tight_layout()
plt.show()
