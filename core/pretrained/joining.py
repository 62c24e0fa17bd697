"""Attention between pieces brought to whole words, and without the start and the end of a text."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.softmax import Floats


def join_words(weights: ArrayLike, word_of: Sequence[int]) -> Floats:
    """Attention from word to word: the weights on the pieces of a word added, the rows of its pieces averaged.

    Parameters
    ----------
    weights : array_like of shape (..., query, key)
        Between pieces.
    word_of : sequence of int
        Which word a piece belongs to, in order from 0.

    Returns
    -------
    ndarray of shape (..., word, word)
        Rows keep their sum of 1.

    Raises
    ------
    ValueError
        The number of pieces differs.

    Notes
    -----
    Clark et al. 2019, section 4.1: adding over the keys keeps what is spent on a word, averaging over the queries keeps
    the sum of a row.

    Examples
    --------
    >>> join_words([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], [0, 1, 1]).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim < 2 or values.shape[-2:] != (len(word_of),) * 2:
        raise ValueError(f"weights must have the axes (query, key) of {len(word_of)} pieces; got shape {values.shape}")
    belongs = np.equal.outer(np.arange(max(word_of) + 1), np.asarray(word_of)).astype(np.float64)  # (word, piece)
    averaging = belongs / belongs.sum(axis=1, keepdims=True)
    return np.asarray(averaging @ values @ belongs.T)


def leave_out_ends(weights: ArrayLike) -> Floats:
    """Attention among what stands between the first and the last position, rows brought back to a sum of 1.

    Parameters
    ----------
    weights : array_like of shape (..., query, key)
        Each row sums to 1.

    Returns
    -------
    ndarray of shape (..., query - 2, key - 2)
        A row that spent all its weight on the ends is zeros.

    Raises
    ------
    ValueError
        There are fewer than two positions.

    Examples
    --------
    >>> ends = [[1, 0, 0, 0], [0.5, 0.125, 0.375, 0], [0.5, 0, 0, 0.5], [0, 0, 0, 1]]
    >>> leave_out_ends(ends).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim < 2 or values.shape[-1] < 2 or values.shape[-2] != values.shape[-1]:
        raise ValueError(f"weights must have the axes (query, key), two or more of each; got shape {values.shape}")
    between = values[..., 1:-1, 1:-1]
    sums = between.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(between, sums, out=np.zeros_like(between), where=sums > 0))
