"""Softmax."""

import numpy as np


def softmax(scores):
    """Shares that sum to 1 in each row."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))  # the shift keeps exp from overflowing
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
