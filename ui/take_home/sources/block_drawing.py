"""A random block for the sentence, the same as on the page."""

import numpy as np
from drawing import draw_example


def draw_block(words, d_head, n_heads, d_ff, seed):
    """x (position, d_model) and the block's parameters by name; its heads are those of the other pages."""
    x, *projections = draw_example(words, d_head, n_heads, seed)
    d_model, rng = n_heads * d_head, np.random.default_rng([3, seed])

    def matrix(rows, columns):
        return rng.normal(0.0, rows**-0.5, (rows, columns))

    p = {name: matrix(d_model, d_model) for name in ("w_q", "w_k", "w_v", "w_o")}
    p |= {"w_1": matrix(d_model, d_ff), "w_2": matrix(d_ff, d_model)}
    p |= {name: rng.normal(1.0, 0.1, d_model) for name in ("norm_1_gain", "norm_2_gain")}
    vectors = ("b_q", "b_k", "b_v", "b_o", "b_2", "norm_1_shift", "norm_2_shift")
    p |= {name: rng.normal(0.0, 0.1, d_model) for name in vectors}
    p["b_1"] = rng.normal(0.0, 0.1, d_ff)
    heads = {name: np.hstack(list(w)) for name, w in zip(("w_q", "w_k", "w_v"), projections)}
    return x, p | heads | {name: np.zeros(d_model) for name in ("b_q", "b_k", "b_v")}
