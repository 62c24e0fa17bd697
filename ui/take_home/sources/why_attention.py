"""Why attention: how much of each word still reaches the last one, in a recurrent network and by attention.

All numbers are drawn from the seed and nobody trained them; the sizes of the derivatives are computed, exactly. Every
table of the page is printed, rounded to six decimals. Needs Python 3.11 and NumPy.
"""

from functools import partial

import numpy as np

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
# The recurrent matrix is orthogonal times its radius. In a wide model a dozen features stand for all.

# %%
from attention import attend
from drawing import draw_example

d_model = n_heads * d_head
x, w_q, w_k, w_v = draw_example(words, d_head, n_heads, seed)
factor = 1.0 if as_elsewhere else 1.0 / (0.5 * np.sqrt(d_model))
to_q, to_k, to_v = factor * w_q, factor * w_k, factor * w_v
rng = np.random.default_rng([7, seed])
w_x = rng.normal(0.0, 0.5 / np.sqrt(d_model), (d_model, d_model))
orthogonal, upper = np.linalg.qr(rng.normal(size=(d_model, d_model)))
b = rng.normal(0.0, 0.1, d_model)
w_h = radius * orthogonal * np.sign(np.diag(upper))
each = d_head if d_model <= 64 else -(-12 // n_heads)
features = [h * d_head + place * d_head // each for h in range(n_heads) for place in range(each)]

# %% [markdown]
# ## The recurrent network
# One state, written over at every word. Its derivative by an earlier state is a product with one factor for every
# word between; it is taken from the last state back.

# %%


def run(x):
    """States (position, d_model)."""
    states, state = [], np.zeros(d_model)
    for given in x @ w_x + b:
        state = np.tanh(given + state @ w_h)
        states.append(state)
    return np.array(states)


def size(jacobian):
    """Root mean square over the features of the length of each one's gradient."""
    return np.linalg.norm(jacobian) / np.sqrt(jacobian.shape[1])


def look_back(states, places):
    """How much the last state moves with each state, and with the words at some places."""
    by_state, by_word = np.empty(len(states)), {}
    carried = np.eye(d_model)[:, features]  # d last / d state
    for place in reversed(range(len(states))):
        through = (1 - states[place][:, None] ** 2) * carried
        by_state[place] = size(carried)
        if place in places:
            by_word[place] = size(w_x @ through)
        carried = w_h @ through
    return by_state, [by_word[place] for place in places]


# %% [markdown]
# ## Attention
# One weight for every word, and two ways through which it moves the output: its value and its score. The last word
# moves its own query too.

# %%


def look_across(x, places):
    """How much the last word's output moves with the words at some places."""
    q, k, v = x[-1:] @ to_q, x @ to_k, x @ to_v  # (head, position, d_head)
    *_, weights, outputs = attend(q, k, v)
    apart, by_score = v - outputs, to_k @ q.swapaxes(1, 2) / np.sqrt(d_head)
    found = []
    for place in places:
        parts = weights[:, :, place, None] * (to_v + by_score * apart[:, None, place])  # (head, d_model, d_head)
        if place == len(x) - 1:
            parts += to_q @ (weights * k.swapaxes(1, 2)) @ apart / np.sqrt(d_head)
        found.append(size(parts.swapaxes(0, 1).reshape(d_model, d_model)[:, features]))
    return found


everywhere, states = range(len(words)), run(x)
by_state, by_word = look_back(states, everywhere)
by_attention = look_across(x, everywhere)

# %% [markdown]
# ## Longer sentences
# The words come again and again; the last word stays the last.

# %%
lengths = [2, 4, 8, 16, 32, 64, 128, 256, 512]
ends = []
for length in lengths:
    longer = x[[*(place % len(words) for place in range(length - 1)), -1]]
    both = 0, length - 1
    ends.append((*look_back(run(longer), both)[1], *look_across(longer, both)))

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
_, fits, taken, _ = attend(x @ w_q[head], x @ w_k[head], x @ w_v[head])

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
rows, models = ("word", name_words(words)), ("recurrent network", "attention")
columns = ("measure", [f"{model}, {what}" for model in models for what in ("size", "share")])
found = np.column_stack([one for sizes in (by_word, by_attention) for one in (sizes, np.divide(sizes, sizes[-1]))])
show("what each word moves", found, rows, columns)
first_last = ("measure", [f"{model}, {what} word" for model in models for what in ("first", "last")])
show("first and last word by length", ends, ("words", lengths), first_last)
show("steps one after another", waiting, ("words", lengths), ("model", models))
show("states of the recurrent network", states, rows, ("feature", range(d_model)))
back = np.column_stack([(1 - states**2).mean(axis=-1), by_state])
show("back from the last state", back, rows, ("measure", ["slope of tanh, mean", "size by state"]))
shelf = np.column_stack([fits[query], taken[query]])
show("books on the shelf", shelf, rows, ("measure", ["label fits", "taken"]))

# %% [markdown] notebook only
# ## The same numbers as curves
# Needs Matplotlib. What is below the axis has underflowed.

# %% notebook only
import matplotlib.pyplot as plt

_, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for axes, places, curves in ((left, range(len(words)), found[:, [1, 3]]), (right, lengths, np.array(ends)[:, [0, 2]])):
    for model, colour, style, curve in zip(models, ("#4A5361", "#34288A"), ("--o", "-o"), curves.T):
        axes.plot(places, np.maximum(curve, 1e-16), style, color=colour, label=model)
    axes.set_yscale("log")
left.set(title="share of the last word's", xlabel="position")
right.set(title="size of the first word's, by length", xlabel="words")
right.set_xscale("log", base=2)
left.legend()
plt.show()
