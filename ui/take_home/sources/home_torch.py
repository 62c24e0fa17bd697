"""Attention at work, with PyTorch: how much each word takes from each word, in one of several heads.

The random numbers are NumPy's, so that both versions print the same; the pattern means nothing yet. The weights come
from nn.MultiheadAttention, in double precision. Needs Python 3.11, NumPy and PyTorch.
"""

from functools import partial

import torch
from torch import nn

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
# The module keeps the projections of all heads in one matrix (3 * d_model, d_model): transposed, head below head.

# %%
from drawing import draw_example

x, *projections = (torch.from_numpy(array) for array in draw_example(words, d_head, n_heads, seed))
d_model = n_heads * d_head
attention = nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True, dtype=torch.float64)
with torch.no_grad():
    stacked = torch.cat([w.mT.reshape(d_model, d_model) for w in projections])
    attention.in_proj_weight.copy_(stacked)
    # Unless told not to, it averages the weights of the heads.
    weights = attention(x, x, x, average_attn_weights=False)[1]  # (head, query, key)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
queries, keys = name_words(words), ("key", name_words(words))
show("weights of this head", weights[head], ("query", queries), keys)
show("shares of one query", weights[head, query, None], ("query", [queries[query]]), keys)
