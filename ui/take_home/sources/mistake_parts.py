"""What the mistakes are made of: attention with a scale, a mask and an axis to get wrong, and a generator."""

import numpy as np


def softmax(scores, axis=-1):
    """Shares that sum to 1 along an axis; zeros where nothing is allowed."""
    largest = scores.max(axis=axis, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total > 0, total, 1.0)


def attend(q, k, v, may_attend=None, axis=-1):
    """Weights and output."""
    scores = q @ k.swapaxes(-2, -1) / q.shape[-1] ** 0.5
    weights = softmax(scores if may_attend is None else np.where(may_attend, scores, -np.inf), axis)
    return weights, weights @ v


def leak(x, projections, may_attend, axis=-1):
    """How far the rows before the last one move when the last word's vector is turned around."""
    changed = np.vstack([x[:-1], -x[-1:]])
    before, after = (attend(*(rows @ w for w in projections), may_attend, axis)[1] for rows in (x, changed))
    return abs(after - before)[:-1].max(initial=0.0)


def spread(x):
    """Standard deviation; 1 for equal numbers."""
    return x.std() if x.std() > 1e-12 * abs(x).max() else 1.0


def unit(x):
    """Brought to a spread of 1."""
    return x / spread(x)


def encode(n_positions, d_model):
    """Sine and cosine of each position's angles, interleaved; an odd width ends in a sine."""
    angles = np.arange(n_positions)[:, None] * 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n_positions, -1)[:, :d_model]


def learn_by_heart(words, x, projections, may_attend, seed):
    """Weights, and how many next words a fitted read-out names right: in training, and when they are not there yet."""
    n, vocabulary = len(words), [*dict.fromkeys(words)]
    wanted = np.array([vocabulary.index(word) for word in words[1:]], dtype=int)
    q, k, v = (unit(x @ w + encode(*x.shape) @ w) for w in projections)
    weights, output = attend(q, k, v, may_attend)
    alone = attend(q, k, v, np.tri(n, dtype=bool))[1]  # row i: what is there when word i + 1 is generated
    rng, width, d_head = np.random.default_rng([5, seed]), 8 * n + 32, v.shape[1]
    mix, bias = rng.normal(size=(d_head, width)) / d_head**0.5, rng.normal(size=width)
    learned, new = (np.maximum(rows[:-1] / spread(output) @ mix + bias, 0) / width**0.5 for rows in (output, alone))
    alike = learned @ learned.T
    ridge = 1e-8 * np.trace(alike) / max(1, n - 1) * np.eye(n - 1)
    read_out = learned.T @ np.linalg.solve(alike + ridge, np.eye(len(vocabulary))[wanted])
    named = [(rows @ read_out).round(6).argmax(axis=1) for rows in (learned, new)]
    return weights, *((one == wanted).sum() / max(1, n - 1) for one in named)
