"""A random stack of blocks for the sentence, the same as on the page."""

import numpy as np
from drawing import draw_example


def draw_stack(words, d_model, n_layers, seed):
    """x (position, d_model), each layer's matrices by name, and the reading: the loss is the sum of output times it."""
    d_ff, layers = 4 * d_model, []
    shapes = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (d_model, d_model))
    shapes |= {"w_1": (d_model, d_ff), "w_2": (d_ff, d_model)}
    for number in range(n_layers):
        rng = np.random.default_rng([11, seed, number])  # a stream of its own: one more layer changes no other
        layers.append({name: rng.normal(0.0, shape[0] ** -0.5, shape) for name, shape in shapes.items()})
    reading = np.random.default_rng([12, seed]).normal(size=(len(words), d_model))
    return draw_example(words, d_model, 1, seed)[0], layers, reading / np.sqrt(reading.size)
