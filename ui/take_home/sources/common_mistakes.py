"""Common mistakes: one of ten, made or not, with the reader's sentence; none of them raises an error.

Embeddings and projections are random numbers drawn from the seed, so that nothing has learned anything; everything else
is computed from them. What the page shows is printed, rounded to six decimals: the matrix as it runs, the matrix done
right, and the measures of the symptom, the test that finds it last. Needs Python 3.11 and NumPy.
"""

from functools import partial

import numpy as np

# %% [markdown]
# ## Settings

# %%
words = ["Meera", "bought", "a", "new", "bat"]
d_head = 4  # size of a query, key or value
n_heads = 2  # the width of an embedding, d_model, is n_heads * d_head
seed = 0
mistake = "no scale"  # or another name of the list at the end
made = True  # False does it right
head = 0  # which head is looked at
query = 0  # which position: the query without any key, the place that a batch compares
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## What the mistakes start from

# %%
from drawing import draw_example
from mistake_parts import attend, leak, softmax, unit

x, w_q, w_k, w_v = draw_example(words, d_head, n_heads, seed)
n, d_model, one = len(words), n_heads * d_head, (w_q[head], w_k[head], w_v[head])
q, k, v = (x @ w for w in one)
causal, everything = np.tri(n, dtype=bool), np.ones((n, n), dtype=bool)
square = ("query", words), ("key", words)

# %% [markdown]
# ## The ten
# Each returns its matrix, the axes, and the measures; `wrong` says whether the mistake is made.

# %%


def no_scale(wrong):
    alone = draw_example(words, 64, 1, seed)
    measures = {}
    for place, queries, keys in (("", q, k), (", d = 64", alone[0] @ alone[1][0], alone[0] @ alone[2][0])):
        scores = unit(queries) @ unit(keys).T / (1 if wrong else queries.shape[1] ** 0.5)
        w = softmax(scores)
        jacobian = np.eye(n) * w[:, :, None] - w[:, :, None] * w[:, None]
        measures[f"largest weight{place}"] = w.max(axis=1).mean()
        measures[f"entropy (nats){place}"] = -(w * np.log(np.where(w > 0, w, 1))).sum(axis=1).mean()
        measures[f"gradient{place}"] = np.linalg.norm(jacobian, axis=(1, 2)).mean()
        if not place:
            shown, spread = w, scores.std()
    return shown, *square, measures | {"spread of what enters the softmax": spread}


def no_causal_mask(wrong):
    weights, in_training, when_generating = learn_by_heart(words, x, one, None if wrong else causal, seed)
    measures = {"share of later words": np.where(causal, 0, weights).sum(axis=1).mean()}
    measures |= {"named right, in training": in_training, "named right, when generating": when_generating}
    return weights, *square, measures | {"earlier rows move by": leak(x, one, None if wrong else causal)}


def no_positions(wrong):
    # The first word changes places with the last one that differs from it.
    order = [*range(n)]
    last = max((place for place in order if words[place] != words[0]), default=0)
    order[0], order[last] = last, 0
    added = 0 if wrong else encode(n, d_model)
    old, new = (attend(*((rows + added) @ w for w in one))[1] for rows in (x, x[order]))
    measures = {"mean outputs differ by": abs(old.mean(axis=0) - new.mean(axis=0)).max()}
    measures["largest difference"] = abs(new - old[order]).max()
    return new - old[order], ("word", [words[place] for place in order]), ("feature", range(d_head)), measures


def batch_first(wrong):
    batch = np.stack([x, x[::-1], np.roll(x, -1, axis=0)])
    changed = batch * np.array([1, -1, -1])[:, None, None]  # the other sentences, not this one
    swap = (lambda rows: rows.swapaxes(0, 1)) if wrong else (lambda rows: rows)
    weights, output = attend(*(swap(batch) @ w for w in one))
    moved = swap(attend(*(swap(changed) @ w for w in one))[1])[0]
    off = abs(swap(output)[0] - attend(q, k, v)[1]).max()
    others = 0 if wrong else (weights[0] * (1 - np.eye(n))).sum(axis=1).mean()
    measures = {"output off by": off, "share of its other words": others}
    measures["this sentence moves by"] = abs(moved - swap(output)[0]).max()
    sentences = ["yours", "reversed", "rolled"]
    axes = (("sentence", sentences), ("sentence", sentences)) if wrong else square
    return weights[query if wrong else 0], *axes, measures


def quadratic_cost(wrong):
    lengths = (n, 1024, 32 * 1024, 128 * 1024)
    costs = np.array([[4.0 * length**2 * d_model, 4.0 * n_heads * length**2] for length in lengths])
    if wrong:
        costs = costs[0] * np.array([[length / n] for length in lengths])
    measures = {f"bytes at {length:,} tokens": row[1] for length, row in zip(lengths, costs)}
    names = ["n", *(f"{length:,}" for length in lengths[1:])], ["operations", "bytes of weights"]
    return costs, ("tokens", names[0]), ("cost", names[1]), measures | {"work multiplied by": 2 if wrong else 4}


def transposed_weights(wrong):
    whole = [np.hstack(list(w)) for w in (w_q, w_k, w_v)]  # all heads side by side: square
    own = slice(head * d_head, (head + 1) * d_head)
    right, now = ([(x @ w)[:, own] for w in side] for side in (whole, [w.T if wrong else w for w in whole]))
    (w_right, o_right), (w_now, o_now) = attend(*right), attend(*now)
    measures = {"weights off by": abs(w_now - w_right).max(), "outputs off by": abs(o_now - o_right).max()}
    measures["the row is off by"] = abs((whole[0].T if wrong else whole[0])[0] - whole[0][0]).max()
    return now[0], square[0], ("feature", range(d_head)), measures


def inverted_mask(wrong):
    mask = ~causal if wrong else causal
    weights, _ = attend(q, k, v, mask)
    measures = {"share of later words": np.where(causal, 0, weights).sum(axis=1).mean()}
    measures["queries without a key"] = (~mask.any(axis=1)).sum()
    measures |= {"earlier rows move by": leak(x, one, mask), "weight of the first word on itself": weights[0, 0]}
    return weights, *square, measures


def softmax_axis(wrong):
    axis = 0 if wrong else 1
    weights, _ = attend(q, k, v, causal, axis)
    measures = {"column sums off by": abs(weights.sum(axis=0) - 1).max()}
    measures["earlier rows move by"] = leak(x, one, causal, axis)
    return weights, *square, measures | {"row sums off by": abs(weights.sum(axis=1) - 1).max()}


def no_allowed_key(wrong):
    allowed = everything.copy()
    allowed[query] = False
    scores = q @ k.T / d_head**0.5
    weights = softmax(np.where(allowed, scores, -1e9 if wrong else -np.inf))
    row = weights[query]
    measures = {"weight of a forbidden key": row.max(), "its output, largest entry": abs(row @ v).max()}
    return weights, *square, measures | {"row sum": row.sum()}


def split_heads(wrong):
    def cut(array):
        return array.reshape(n_heads, n, -1) if wrong else array.reshape(n, n_heads, -1).swapaxes(0, 1)

    right = attend(q, k, v)
    now = attend(*(cut(np.hstack(list(x @ w)))[head] for w in (w_q, w_k, w_v)))
    strangers = cut(np.repeat(np.arange(n), d_model).reshape(n, d_model)) != np.arange(n)[:, None]
    measures = {f"{name} off by": abs(a - b).max() for name, a, b in zip(("weights", "outputs"), now, right)}
    return now[0], *square, measures | {"share from other words": strangers.mean()}


# %% [markdown]
# ## The numbers of the page

# %%
from mistake_parts import encode, learn_by_heart
from printing import name_words, show

ten = (no_scale, no_causal_mask, no_positions, batch_first, quadratic_cost)
ten += (transposed_weights, inverted_mask, softmax_axis, no_allowed_key, split_heads)
make = {one.__name__.replace("_", " "): one for one in ten}[mistake]
show, both = partial(show, queries_in=queries_in), {"as it runs": make(made), "done right": make(False)}
for name, (matrix, *axes, measures) in both.items():
    axes = [(title, name_words(names) if title in ("query", "key", "word") else names) for title, names in axes]
    both[name] = matrix, *axes, measures
    show(name, *both[name][:3])
numbers = np.array([list(measures.values()) for *_, measures in both.values()]).T
show("measures", numbers, ("measure", [*both["done right"][3]]), ("computed", [*both]))

# %% [markdown] notebook only
# ## The same numbers as pictures
# Needs Matplotlib. Change a setting above and run all cells: the pictures follow.

# %% notebook only
import matplotlib.pyplot as plt
from picture import heat_map

_, places = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for place, (name, (matrix, *axes, _)) in zip(places, both.items()):
    ramp = "weights" if mistake not in ("no positions", "quadratic cost", "transposed weights") else "signed"
    heat_map(place, f"{mistake}, {name}", matrix, *axes, ramp, queries_in)
plt.show()
