"""What positions are made of."""

import numpy as np


def angles(n_positions, width):
    """Radians (position, pair): the first pair turns by 1 at each position, each further pair more slowly."""
    return np.arange(n_positions)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)


def sinusoidal_encoding(n_positions, d_model):
    """Sine and cosine of each angle, interleaved; an odd width ends in a sine."""
    encoding = np.empty((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles(n_positions, d_model))
    encoding[:, 1::2] = np.cos(angles(n_positions, d_model))[:, : d_model // 2]
    return encoding


def draw_position_embedding(n_positions, d_model, seed):
    """A learned table before its training: random, from a stream of its own."""
    return np.random.default_rng([2, seed]).normal(size=(n_positions, d_model))
