"""Random parameters of a decoder block, the same as on the page."""

import numpy as np


def draw_layer(stream, d_model, cross=False):
    """All parameters by name; those of cross-attention only where they are wanted."""
    rng = np.random.default_rng(stream)

    def matrix(rows, columns):
        return rng.normal(0.0, rows**-0.5, (rows, columns))

    p = {f"w_{name}": matrix(d_model, d_model) for name in "qkvo"}
    p |= {"w_1": matrix(d_model, 2 * d_model), "w_2": matrix(2 * d_model, d_model)}
    p |= {name: rng.normal(1.0, 0.1, d_model) for name in ("norm_1_gain", "norm_2_gain")}
    vectors = ("b_q", "b_k", "b_v", "b_o", "b_2", "norm_1_shift", "norm_2_shift")
    p |= {name: rng.normal(0.0, 0.1, d_model) for name in vectors}
    p["b_1"] = rng.normal(0.0, 0.1, 2 * d_model)
    if cross:
        p |= {f"w_cross_{name}": matrix(d_model, d_model) for name in "qkvo"}
        p |= {f"b_cross_{name}": rng.normal(0.0, 0.1, d_model) for name in "qkvo"}
        p |= {
            name: rng.normal(centre, 0.1, d_model) for name, centre in (("cross_norm_shift", 0), ("cross_norm_gain", 1))
        }
    return p
