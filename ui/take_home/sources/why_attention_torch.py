"""Why attention, with PyTorch: nn.RNN against attention, and what autograd says of how far back each of them reaches.

The random numbers are NumPy's, so that both versions print the same; nobody trained them. Everything is in double
precision. Needs Python 3.11, NumPy and PyTorch.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

# %% [markdown]
# ## Settings

# %%
words = ["Meera", "put", "the", "bat", "in", "her", "bag", "because", "it", "was", "new"]
d_head = 4  # size of a query, key or value
n_heads = 2  # the width of an embedding and of a state, d_model, is n_heads * d_head
seed = 0
radius = 1.0  # spectral radius of w_h: what a step does to the state before tanh
as_elsewhere = False  # attention's projections as on the other pages, or of the size at which layers usually start
query = 8  # position of the word that asks in the library
head = 0  # and the head that it asks with
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## Two layers of the same width
# nn.RNN keeps its matrices transposed and has two biases, which are added. In a wide model a dozen features stand for
# all.

# %%
from drawing import draw_example

d_model = n_heads * d_head
x, *projections = (torch.from_numpy(array) for array in draw_example(words, d_head, n_heads, seed))
factor = 1.0 if as_elsewhere else 1.0 / (0.5 * d_model**0.5)
rng = np.random.default_rng([7, seed])
w_x = rng.normal(0.0, 0.5 / np.sqrt(d_model), (d_model, d_model))
orthogonal, upper = np.linalg.qr(rng.normal(size=(d_model, d_model)))
b = rng.normal(0.0, 0.1, d_model)
w_h = radius * orthogonal * np.sign(np.diag(upper))
network = nn.RNN(d_model, d_model, batch_first=True, dtype=torch.float64)
given = {"weight_ih_l0": w_x.T, "weight_hh_l0": w_h.T, "bias_ih_l0": b, "bias_hh_l0": 0 * b}
network.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in given.items()})
each = d_head if d_model <= 64 else -(-12 // n_heads)
features = [h * d_head + place * d_head // each for h in range(n_heads) for place in range(each)]

# %% [markdown]
# ## What autograd says
# The gradient of each feature of the last state, by all that came before it.

# %%


def size_by(last, *places):
    """For each tensor of rows: how much the last state moves with each row, as root mean square over the features."""
    directions = torch.eye(d_model, dtype=torch.float64)[features].reshape(-1, *last.shape)
    gradients = torch.autograd.grad(last, places, directions, is_grads_batched=True)
    return [torch.linalg.norm(one, dim=-1).square().mean(dim=0).sqrt() for one in gradients]


def recur(x):
    """How much the network's last state moves with each word."""
    rows = x.clone().requires_grad_()
    return size_by(network(rows[None])[0][0, -1], rows)[0]


def ask(x):
    """How much the last word's output moves with each word, by attention."""
    rows = x.clone().requires_grad_()
    q, k, v = (rows @ (factor * w) for w in projections)  # (head, position, d_head)
    weights = torch.softmax(q[:, -1:] @ k.mT / d_head**0.5, dim=-1)
    return size_by((weights @ v).flatten(), rows)[0]


by_word, by_attention = recur(x), ask(x)
states = [torch.zeros(1, d_model, dtype=torch.float64)]
for row in x:  # one word at a time, so that every state is a tensor of its own
    states.append(network(row[None], states[-1])[1])
by_state = torch.cat(size_by(states[-1], *states[1:]))
states = torch.cat(states[1:]).detach()

# %% [markdown]
# ## Longer sentences
# The words come again and again; the last word stays the last.

# %%
lengths = [2, 4, 8, 16, 32, 64, 128, 256, 512]
ends = []
for length in lengths:
    longer = x[[*(place % len(words) for place in range(length - 1)), -1]]
    ends.append([*recur(longer)[[0, -1]], *ask(longer)[[0, -1]]])

# %% [markdown]
# ## Steps that wait for each other
# A product waits for both its factors and is one step more.

# %%


def product(left, right):
    """Steps of a product from those of its factors."""
    return max(left, right) + 1


def count_recurrence(length):
    """Steps before the last state is known."""
    state = 0
    for _ in range(length):
        state = max(product(0, 0), product(state, 0))  # x w_x, and h w_h
    return state


q = k = v = product(0, 0)
waiting = [(count_recurrence(length), product(product(q, k), v)) for length in lengths]

# %% [markdown]
# ## The library
# How well each label fits, and how much of each book is taken.

# %%
w_q, w_k, _ = projections
fits = (x @ w_q[head])[query] @ (x @ w_k[head]).T / d_head**0.5
taken = torch.softmax(fits, dim=-1)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
rows, models = ("word", name_words(words)), ("recurrent network", "attention")
sizes = ("measure", [f"{model}, {what}" for model in models for what in ("size", "share")])
found = torch.stack([by_word, by_word / by_word[-1], by_attention, by_attention / by_attention[-1]], dim=1)
show("what each word moves", found, rows, sizes)
first_last = ("measure", [f"{model}, {what} word" for model in models for what in ("first", "last")])
show("first and last word by length", ends, ("words", lengths), first_last)
show("steps one after another", waiting, ("words", lengths), ("model", models))
show("states of the recurrent network", states, rows, ("feature", range(d_model)))
back = torch.stack([(1 - states**2).mean(dim=-1), by_state], dim=1)
show("back from the last state", back, rows, ("measure", ["slope of tanh, mean", "size by state"]))
show("books on the shelf", torch.stack([fits, taken], dim=1), rows, ("measure", ["label fits", "taken"]))
