"""Stacked blocks: how the residual stream grows, and what of a gradient arrives in which layer.

Embeddings and matrices are random numbers drawn from the seed: a model before its first step of training. The way back
is written out, part by part. Numbers are rounded to six decimals. Needs Python 3.11 and NumPy.
"""

import math

import numpy as np

# %% [markdown]
# ## Settings
# d_head and n_heads belong to the other pages; the stack has a width and heads of its own.

# %%
words = ["Meera", "bought", "a", "new", "bat"]
d_head = 4
n_heads = 2
seed = 0
queries_in = "rows"  # changes nothing here: no matrix of this page has queries as rows
n_layers = 12
d_model = 32
stack_heads = 4  # a divisor of d_model
activation = "gelu"  # or "relu"
keep_attention = True  # False takes a part out of every block, and its norm and skip connection with it
keep_feed_forward = True
keep_skip = True
keep_norm = True
keep_final_norm = True  # the norm after the last block, where the norm comes first

# %% [markdown]
# ## Random numbers to start from

# %%
from stack_drawing import draw_stack

x, layers, reading = draw_stack(words, d_model, n_layers, seed)

# %% [markdown]
# ## The parts, there and back
# Each gives its result, and a function that takes the gradient at the result back to what the part read.

# %%
from attention import attend


def layer_norm(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    normed = centred / deviation

    def back(g):
        along = (g * normed).mean(axis=-1, keepdims=True)
        return (g - g.mean(axis=-1, keepdims=True) - normed * along) / deviation

    return normed, back


def attention(x, w):
    q, k, v = (split(x @ w[name]) for name in ("w_q", "w_k", "w_v"))
    *_, weights, mixed = attend(q, k, v)
    joined = merge(mixed)

    def back(g):
        to_mixed = split(g @ w["w_o"].T)
        to_weights = to_mixed @ v.swapaxes(-2, -1)
        # Taken relative to the largest weight: a saturated softmax would lose its digits in the difference.
        relative = to_weights - np.take_along_axis(to_weights, weights.argmax(axis=-1)[..., None], axis=-1)
        to_scores = weights * (relative - (weights * relative).sum(axis=-1, keepdims=True)) * q.shape[-1] ** -0.5
        ways = to_scores @ k, to_scores.swapaxes(-2, -1) @ q, weights.swapaxes(-2, -1) @ to_mixed
        to_q, to_k, to_v = (merge(way) for way in ways)
        to_x = to_q @ w["w_q"].T + to_k @ w["w_k"].T + to_v @ w["w_v"].T
        return to_x, {"w_q": x.T @ to_q, "w_k": x.T @ to_k, "w_v": x.T @ to_v, "w_o": joined.T @ g}

    return joined @ w["w_o"], back


def split(x):
    """(position, d_model) to (head, position, feature)."""
    return x.reshape(len(x), stack_heads, -1).swapaxes(0, 1)


def merge(x):
    return x.swapaxes(0, 1).reshape(x.shape[1], -1)


def feed_forward(x, w):
    hidden = x @ w["w_1"]
    if activation == "relu":
        bent, slope = np.maximum(hidden, 0.0), (hidden > 0) * 1.0
    else:
        share = 0.5 * (1.0 + np.vectorize(math.erf, otypes=[float])(hidden / math.sqrt(2.0)))
        bent, slope = hidden * share, share + hidden * np.exp(-0.5 * hidden**2) / math.sqrt(2.0 * math.pi)

    def back(g):
        to_hidden = g @ w["w_2"].T * slope
        return to_hidden @ w["w_1"].T, {"w_1": x.T @ to_hidden, "w_2": bent.T @ g}

    return bent @ w["w_2"], back


def with_norm_and_skip(part, x, w, pre):
    read, norm_back = layer_norm(x) if keep_norm and pre else (x, lambda g: g)
    made, part_back = part(read, w)
    joined = x + made if keep_skip else made
    after, end_back = layer_norm(joined) if keep_norm and not pre else (joined, lambda g: g)

    def back(g):
        g = end_back(g)
        through, found = part_back(g)
        return norm_back(through) + (g if keep_skip else 0), found

    return after, back


# %% [markdown]
# ## Both stacks

# %%
from printing import show

parts = [attention] * keep_attention + [feed_forward] * keep_feed_forward


def through_layer(backs, g):
    found = {}
    for back in reversed(backs):
        g, more = back(g)
        found |= more
    return g, found


def length(array):
    return np.sqrt((array**2).sum())


curves = {}
for name in ("pre-norm", "post-norm"):
    pre, stream, streams, backs = name == "pre-norm", x, [x], []
    for w in layers:
        backs.append([])
        for part in parts:
            stream, back = with_norm_and_skip(part, stream, w, pre)
            backs[-1].append(back)
        streams.append(stream)

    ends = [layer_norm(stream)[1](reading) if pre and keep_norm and keep_final_norm else reading for stream in streams]
    lasts = [through_layer(back, end)[1] for back, end in zip(backs, ends[1:])]
    at_streams, of_layers = [ends[-1]], []
    for back in reversed(backs):
        gradient, found = through_layer(back, at_streams[0])
        at_streams.insert(0, gradient)
        of_layers.insert(0, found)

    columns = {"length": [np.sqrt((stream**2).sum(axis=-1)).mean() for stream in streams]}
    if len(words) > 1:
        units = [stream / np.sqrt((stream**2).sum(axis=-1, keepdims=True)) for stream in streams]
        pairs = len(words) * (len(words) - 1)
        columns["mean cosine"] = [((unit @ unit.T).sum() - len(words)) / pairs for unit in units]
    columns["gradient"] = [length(gradient) for gradient in at_streams]
    show(f"stream, {name}", np.transpose([*columns.values()]), ("layer", range(n_layers + 1)), ("measure", [*columns]))
    matrices = [matrix for matrix in layers[0] if matrix in of_layers[0]]
    for title, gradients in (("gradients", of_layers), ("gradients of the last layer", lasts)):
        if matrices:
            numbers = [[length(found[matrix]) for matrix in matrices] for found in gradients]
            show(f"{title}, {name}", numbers, ("layer", range(1, n_layers + 1)), ("measure", matrices))
    curves[name] = columns

# %% [markdown] notebook only
# ## The same numbers as curves
# Needs Matplotlib. Axes of lengths and gradients are logarithmic.

# %% notebook only
import matplotlib.pyplot as plt

_, places = plt.subplots(1, len(columns), figsize=(14, 4), layout="constrained", squeeze=False)
for axes, measure in zip(places.flat, columns):
    for name, colour, style in (("pre-norm", "#0B6B78", "-"), ("post-norm", "#9A3F9E", "--")):
        axes.plot(range(n_layers + 1), curves[name][measure], style, color=colour, label=name)
    axes.set(title=measure, xlabel="layer", yscale="linear" if measure == "mean cosine" else "log")
places[0, 0].legend()
plt.show()
