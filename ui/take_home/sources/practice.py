"""Practice: one exercise with its numbers, and its answer for whoever sets revealed to True.

The numbers are random and small. Needs Python 3.11 and NumPy.
"""

import math
from functools import partial

import numpy as np

# %% [markdown]
# ## Settings
# Of each matrix: its name, its numbers, then what its rows and its columns are, with names where they have any.

# %%
kind = "scaling"
seed = 0
number = 1
operands = [["scores", [[-9, 7, -9]], "query", [], "key", []]]
given = [["d", 5], ["heads", 2]]
options = []  # of a question with answers to choose from
rows = ["answer"]
columns = ["key 0", "key 1", "key 2"]
revealed = False  # True prints the answer too
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## The way to the answer
# One function for each kind of exercise.

# %%
from printing import show
from softmax import softmax

m = {name: np.array(values, dtype=float) for name, values, *_ in operands}
n = len(m["Q"]) if "Q" in m else 3
causal = np.tril(np.ones((n, n), dtype=bool))


def weights_of(q, k, may_attend=causal):
    """A query that may attend to nothing gives nothing."""
    shares = np.where(may_attend, np.exp(q @ k.T / math.sqrt(q.shape[-1])), 0)
    return shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-300)


def mask(n_query, n_key, padding):
    seen = np.tril(np.ones((n_query, n_key)), n_key - n_query)
    seen[:, [padding] if padding >= 0 else []] = 0
    return seen


def encoding(position, d_model):
    angles = position / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1)


def head_split(n_heads, head):
    features = np.arange(len(columns))
    return np.tile(features // (len(columns) // n_heads) == head, (len(rows), 1))


def whose_mask(asked):
    seen = m["may attend"]
    if len(seen) != len(seen.T):
        return 2
    return 0 if seen.all() else 1 if np.array_equal(seen, np.tril(seen)) else 3


def shapes(asked):
    batch, words, heads, d = m["given"][0].astype(int).tolist()
    q = np.empty((batch, words, heads * d)).reshape(batch, words, heads, d).swapaxes(1, 2)
    weights = q @ q.mT
    joined = (weights @ q).swapaxes(1, 2).reshape(batch, words, heads * d)
    return options.index(str((weights.shape, q.shape, joined.shape, (words, batch, batch))[asked]))


def which_mistake(asked):
    q, k = m["Q"], m["K"]
    free, unscaled = weights_of(q, k, True), weights_of(q * math.sqrt(q.shape[-1]), k)
    down = weights_of(k, q, causal.T).T
    made = [weights_of(q, k), unscaled, free, free * causal, down, weights_of(k, q), weights_of(q, k, ~causal)]
    return np.argmin([abs(weights - m["weights made"]).max() for weights in made])


answers = {
    "reading": lambda query, key: (m["weights"][query, key], m["weights"][query].max()),
    "projection": lambda: m["x"] @ m["W_q"],
    "score": lambda query, key: m["Q"][query] @ m["K"][key],
    "scaling": lambda d, heads: m["scores"] / math.sqrt(d),
    "softmax": lambda query: softmax(m["scaled scores"])[query],
    "mixture": lambda query: m["weights"][query] @ m["V"],
    "mask": mask,
    "causal rows": lambda: softmax(np.where(causal, m["scaled scores"], -np.inf))[[0, -1]],
    "weights": lambda query: weights_of(m["Q"], m["K"])[query],
    "order": lambda first: m["output"][m["new order"][0].astype(int)],
    "encoding": encoding,
    "head split": head_split,
    "layer norm": lambda word: (m["x"][word] - m["x"][word].mean()) / m["x"][word].std(),
    "parameters": lambda d_model, n_heads, d_ff: 4 * d_model * (d_model + 2) + (2 * d_model + 1) * d_ff + d_model,
    "doubling": lambda n, n_heads, d: (n**2 * n_heads * d, (2 * n) ** 2 * n_heads * d),
    "whose mask": whose_mask,
    "shapes": shapes,
    "which mistake": which_mistake,
}

# %% [markdown]
# ## The numbers of the page

# %%
show = partial(show, queries_in=queries_in)
print(f"{kind}, number {number} of seed {seed}\n")
for name, _, row_title, row_names, column_title, column_names in operands:
    axes = (row_title, row_names or range(len(m[name]))), (column_title, column_names or range(len(m[name].T)))
    show(name, m[name], *axes)
if revealed:
    answer = np.reshape(answers[kind](**dict(given)), (len(rows), len(columns)))
    show("answer", answer, ("answer", rows), ("cell", columns))

# %% [markdown] notebook only
# ## The same numbers as pictures
# Needs Matplotlib.

# %% notebook only
import matplotlib.pyplot as plt
from picture import heat_map

_, places = plt.subplots(1, len(operands), figsize=(4 * len(operands), 3), squeeze=False)
for place, (name, _, row_title, row_names, column_title, column_names) in zip(places.flat, operands):
    axes = (row_title, row_names or range(len(m[name]))), (column_title, column_names or range(len(m[name].T)))
    heat_map(place, name, m[name], *axes, "weights" if "weights" in name else "signed", queries_in)
plt.tight_layout()
plt.show()
