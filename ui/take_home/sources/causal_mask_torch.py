"""Causal mask with PyTorch: no query sees a later word, and no later word leaks into an earlier row.

The random numbers are NumPy's, so that both versions print the same; the pattern means nothing yet. Everything else is
computed by PyTorch, in double precision. Needs Python 3.11, NumPy and PyTorch.
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
causal = True  # False switches the mask off
replace = 4  # the leak test: position of the word that is replaced,
by = "ball"  # and by what
n_query = 2  # sizes of the two masks at the end
n_key = 5
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## With and without the mask
# In scaled_dot_product_attention True means "may attend", as here; nn.MultiheadAttention reads True as "blocked".

# %%
from drawing import draw_example

x, w_q, w_k, w_v = (torch.from_numpy(array) for array in draw_example(words, d_head, n_heads, seed))
w_q, w_k, w_v = w_q[head], w_k[head], w_v[head]  # (d_model, d_head) each
q, k, v = x @ w_q, x @ w_k, x @ w_v
mask = torch.ones(len(words), len(words), dtype=torch.bool).tril()  # True where the query may attend to the key
scores_before = q @ k.T / d_head**0.5
scores_after = scores_before.masked_fill(~mask, -torch.inf) if causal else scores_before
weights_before, weights = torch.softmax(scores_before, dim=-1), torch.softmax(scores_after, dim=-1)
output = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask if causal else None)

# %% [markdown]
# ## Does a later word leak?
# One word is replaced, everything is computed again, and each row of the output is compared with what it was.

# %%
new_words = by.split()
changed = [*words]
if len(new_words) == 1:  # otherwise nothing is replaced, and nothing moves
    changed[replace] = new_words[0]
new_x = torch.from_numpy(draw_example(changed, d_head, n_heads, seed)[0])
moved = []
for is_causal in (True, False):
    before, after = (
        functional.scaled_dot_product_attention(rows @ w_q, rows @ w_k, rows @ w_v, is_causal=is_causal)
        for rows in (x, new_x)
    )
    moved.append((after - before).abs().amax(dim=1))
moved = torch.stack(moved, dim=1)  # (query, with mask or without)

# %% [markdown]
# ## More keys than queries
# All scores are 0 here, so the weights show the mask alone. is_causal is "top-left": query i is position i.
# causal_lower_right in torch.nn.attention.bias is "bottom-right": the last query is the last key, as with a cache.

# %%
shapes = {}
for align, offset in (("top-left", 0), ("bottom-right", n_key - n_query)):
    allowed = torch.ones(n_query, n_key, dtype=torch.bool).tril(offset)
    scores = torch.zeros(n_query, n_key, dtype=torch.float64).masked_fill(~allowed, -torch.inf)
    # A query without any key has NaN here; the page shows zeros.
    shapes[align] = torch.softmax(scores, dim=-1).nan_to_num(0.0)

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
