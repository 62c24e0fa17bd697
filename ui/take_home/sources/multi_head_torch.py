"""Multi-head attention, with PyTorch: nn.MultiheadAttention head by head; an average and a wrong split beside it.

The random numbers are NumPy's, so that both versions print the same; no head has learned anything. Everything is in
double precision. Needs Python 3.11, NumPy and PyTorch.
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
head = 0  # which head the wrong split is shown for
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## Every head at once
# The module keeps the projections of all heads in one matrix (3 * d_model, d_model): transposed, head below head.

# %%
from block_drawing import draw_block
from drawing import draw_example

d_model = n_heads * d_head
x, *projections = (torch.from_numpy(array) for array in draw_example(words, d_head, n_heads, seed))
w_o = torch.from_numpy(draw_block(words, d_head, n_heads, 1, seed)[1]["w_o"])
attention = nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True, dtype=torch.float64)
with torch.no_grad():
    attention.in_proj_weight.copy_(torch.cat([w.mT.reshape(d_model, d_model) for w in projections]))
    attention.out_proj.weight.copy_(w_o.T)
    # Unless told not to, it averages the weights of the heads.
    output, weights = (array[0] for array in attention(x[None], x[None], x[None], average_attn_weights=False))

# %% [markdown]
# ## What the module does not let out
# Joined outputs of the heads, one wide head, and a split that has the right shape and is wrong.

# %%


def attend(q, k):
    """Weights only."""
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)


q, k, v = (x @ w for w in projections)  # (head, position, d_head)
joined = nn.functional.scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(1)
wide_x, wide_q, wide_k, _ = (torch.from_numpy(array) for array in draw_example(words, d_model, 1, seed))
wide = attend(wide_x @ wide_q[0], wide_x @ wide_k[0])
wrong = attend(*(heads.transpose(0, 1).reshape(heads.shape) for heads in (q, k)))

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
show("average of all heads", weights.mean(dim=0), queries, keys)
show("one wide head", wide, queries, keys)
show("wrong split", wrong[head], queries, keys)
