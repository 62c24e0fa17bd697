"""Attention between pieces brought to whole words, and without the ends of a text."""

import numpy as np


def join_words(weights, pieces):
    """Weights on the pieces of a word added, rows of its pieces averaged; and the words."""
    starts = [place for place, piece in enumerate(pieces) if not piece.startswith("##")]
    sizes = np.diff([*starts, len(pieces)])
    added = np.add.reduceat(weights, starts, axis=1)
    words = ["".join(piece.removeprefix("##") for piece in pieces[i : i + size]) for i, size in zip(starts, sizes)]
    return np.add.reduceat(added, starts, axis=0) / sizes[:, None], words


def leave_out_ends(weights):
    """Without the first and the last token, each row brought back to a sum of 1."""
    between = weights[1:-1, 1:-1]
    sums = between.sum(axis=-1, keepdims=True)
    return np.divide(between, sums, out=np.zeros_like(between), where=sums > 0)
