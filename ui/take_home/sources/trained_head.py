"""One head of a trained encoder."""

import numpy as np
from pretrained_model import embed, matrix, stored, through_layer


def trained_head(pieces, layer, head):
    """What the head reads, with a constant 1 as last feature, and W_q, W_k, W_v with their bias as last row."""
    x = embed(pieces)
    for number in range(layer):
        x, _ = through_layer(x, number)
    own = slice(32 * head, 32 * head + 32)
    found = [np.vstack([matrix(f"{layer}.w_{a}")[:, own], stored()[f"{layer}.b_{a}"][own]]) for a in "qkv"]
    return np.hstack([x, np.ones((len(x), 1))]), *found
