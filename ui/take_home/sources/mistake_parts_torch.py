"""What the mistakes are made of, by PyTorch: attention with a mask and an axis to get wrong, and a generator."""

import numpy as np
import torch


def attend(q, k, v, may_attend=None, axis=-1):
    """Weights and output; PyTorch's softmax is not a number where nothing is allowed, and 0 is put there."""
    scores = q @ k.mT / q.shape[-1] ** 0.5
    scores = scores if may_attend is None else scores.masked_fill(~may_attend, -torch.inf)
    weights = torch.softmax(scores, dim=axis).nan_to_num(0.0)
    return weights, weights @ v


def largest(x):
    """Largest absolute number; 0 where there is none."""
    return float(x.abs().max()) if x.numel() else 0.0


def leak(x, projections, may_attend, axis=-1):
    """How far the rows before the last one move when the last word's vector is turned around."""
    changed = torch.cat([x[:-1], -x[-1:]])
    before, after = (attend(*(rows @ w for w in projections), may_attend, axis)[1] for rows in (x, changed))
    return largest((after - before)[:-1])


def spread(x):
    """Standard deviation; 1 for equal numbers."""
    return x.std(correction=0) if x.std(correction=0) > 1e-12 * largest(x) else torch.tensor(1.0)


def unit(x):
    """Brought to a spread of 1."""
    return x / spread(x)


def encode(n_positions, d_model):
    """Sine and cosine of each position's angles, interleaved; an odd width ends in a sine."""
    pairs = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = torch.arange(n_positions)[:, None] * 10000.0 ** (-pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(n_positions, -1)[:, :d_model]


def learn_by_heart(words, x, projections, may_attend, seed):
    """Weights, and how many next words a fitted read-out names right: in training, and when they are not there yet."""
    n, vocabulary = len(words), [*dict.fromkeys(words)]
    wanted = torch.tensor([vocabulary.index(word) for word in words[1:]], dtype=torch.long)
    q, k, v = (unit(x @ w + encode(*x.shape) @ w) for w in projections)
    weights, output = attend(q, k, v, may_attend)
    alone = attend(q, k, v, torch.ones(n, n, dtype=torch.bool).tril())[1]  # row i: what is there before word i + 1
    rng, width, d_head = np.random.default_rng([5, seed]), 8 * n + 32, v.shape[1]
    mix, bias = (torch.from_numpy(rng.normal(size=size)) for size in ((d_head, width), width))
    hidden = (rows[:-1] / spread(output) @ (mix / d_head**0.5) + bias for rows in (output, alone))
    learned, new = (torch.relu(rows) / width**0.5 for rows in hidden)
    alike = learned @ learned.T
    ridge = 1e-8 * alike.trace() / max(1, n - 1) * torch.eye(n - 1)
    read_out = learned.T @ torch.linalg.solve(alike + ridge, torch.eye(len(vocabulary), dtype=x.dtype)[wanted])
    named = [(rows @ read_out).round(decimals=6).argmax(dim=1) for rows in (learned, new)]
    return weights, *(float((one == wanted).sum()) / max(1, n - 1) for one in named)
