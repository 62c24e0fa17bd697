"""Order-blindness with PyTorch: without positions, shuffled words give the same outputs, shuffled.

The random numbers are NumPy's, so that both versions print the same (the learned table is untrained). Everything else
is computed by PyTorch, in double precision. Needs Python 3.11, NumPy and PyTorch.
"""

from functools import partial

import torch
from torch.nn import functional

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
# PyTorch has neither sinusoids nor a rotation of its own. The angle of a pair is that of a complex number of length 1:
# its two parts are the sinusoids, and multiplying by it turns a pair of features.

# %%
from positions import angles, draw_position_embedding

n, d_model = len(words), n_heads * d_head


def turns(width):
    """Complex numbers (position, pair) of length 1."""
    angle = torch.from_numpy(angles(n, width))
    return torch.polar(torch.ones_like(angle), angle)


def rotate(rows):
    """Turn each pair of features; the last feature of an odd width stays."""
    paired = rows.shape[1] // 2 * 2
    pairs = torch.view_as_complex(rows[:, :paired].reshape(n, -1, 2).contiguous())
    turned = torch.view_as_real(pairs * turns(rows.shape[1])[:, : paired // 2])
    return torch.cat([turned.reshape(n, paired), rows[:, paired:]], dim=1)


if positions == "rotary":
    encoding = turns(d_head).real[:, : d_head // 2]  # shown only: nothing is added
elif positions == "learned table":
    encoding = torch.from_numpy(draw_position_embedding(n, d_model, seed))
else:
    parts = turns(d_model)
    encoding = torch.stack([parts.imag, parts.real], dim=-1).reshape(n, -1)[:, :d_model]

# %% [markdown]
# ## Both orders, without and with positions
# A word keeps its vector wherever it stands. The outputs of the sentence are moved along with their words and then
# compared with those of the new order: without positions nothing but rounding is left.

# %%
from drawing import draw_example

drawn = draw_example(words, d_head, n_heads, seed, lesson_words=("dog", "bites", "the", "man"))
x, w_q, w_k, w_v = (torch.from_numpy(array) for array in drawn)
w_q, w_k, w_v = w_q[head], w_k[head], w_v[head]  # (d_model, d_head) each


def run(rows, with_positions):
    """Output of one head for these embeddings."""
    if with_positions and positions != "rotary":
        rows = rows + encoding
    q, k, v = rows @ w_q, rows @ w_k, rows @ w_v
    if with_positions and positions == "rotary":
        q, k = rotate(q), rotate(k)
    return functional.scaled_dot_product_attention(q, k, v)


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
