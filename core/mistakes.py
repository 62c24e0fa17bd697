"""Mistakes that pass every test of shapes, kept apart from what is right, so that a page can make them on purpose."""

import numpy as np
from numpy.typing import ArrayLike

from core.softmax import Floats


def split_heads_by_reshape_alone(x: ArrayLike, n_heads: int) -> Floats:
    """Heads cut out by one reshape, without moving the axis: each head gets pieces of several positions.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        All heads' features side by side.
    n_heads : int
        A divisor of d_model.

    Returns
    -------
    ndarray of shape (head, position, d_head)
        The shape of `core.multi_head.split_heads`, with other numbers in it unless there is one head or one position.

    Raises
    ------
    ValueError
        x has not two axes, or d_model is not a multiple of n_heads.

    Examples
    --------
    >>> split_heads_by_reshape_alone([[0, 1, 2, 3], [4, 5, 6, 7]], 2).astype(int).tolist()
    [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    """
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"x needs the axes (position, d_model); got shape {values.shape}")
    n_positions, d_model = values.shape
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(f"d_model must be a multiple of n_heads; got {d_model} and {n_heads}")
    return values.reshape(n_heads, n_positions, d_model // n_heads)
