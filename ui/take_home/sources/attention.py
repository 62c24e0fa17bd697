"""Attention in four steps."""

import numpy as np
from softmax import softmax


def attend(q, k, v, may_attend=True):
    """Scores, scaled scores, weights and output; may_attend is False where a query must not see a key."""
    scores = q @ k.swapaxes(-2, -1)  # (query, key): how well each query matches each key
    scaled_scores = np.where(may_attend, scores / np.sqrt(q.shape[-1]), -np.inf)
    weights = softmax(scaled_scores)  # each row sums to 1
    return scores, scaled_scores, weights, weights @ v
