"""Ways to tell a position: sinusoids that are added, and a rotation of queries and keys."""

import numpy as np
from numpy.typing import ArrayLike

from core.softmax import Floats

BASE = 10000.0
"""The paper's base: wavelengths run from 2π to 10000 · 2π positions."""


def sinusoidal_encoding(n_positions: int, d_model: int, base: float = BASE) -> Floats:
    """A fixed vector for each position, made of sines and cosines of falling frequency.

    Parameters
    ----------
    n_positions, d_model : int
        Rows (positions from 0) and columns (features); an odd width ends in a sine without its cosine.
    base : float
        Positive; how slowly the last pair turns.

    Returns
    -------
    ndarray of shape (n_positions, d_model)
        Values from -1 to 1, no unit.

    Raises
    ------
    ValueError
        A size is negative or the base is not positive.

    Notes
    -----
    Feature 2i is sin(p / base^(2i/d_model)), feature 2i + 1 the cosine of the same angle: the interleaved layout of
    Vaswani et al. 2017, section 3.5. Some programs put all sines first: the same values in other columns.

    Examples
    --------
    >>> sinusoidal_encoding(2, 4).round(4).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.01, 1.0]]
    """
    if n_positions < 0 or d_model < 0:
        raise ValueError(f"n_positions and d_model must not be negative; got {n_positions} and {d_model}")
    angles = np.arange(n_positions)[:, None] * _frequencies(d_model, base)  # (position, pair)
    encoding = np.empty((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return encoding


def _frequencies(width: int, base: float) -> Floats:
    """Radians a position for each pair of features; half a pair counts as one."""
    if not base > 0:
        raise ValueError(f"base must be positive; got {base}")
    return base ** (-np.arange(0, width, 2) / max(width, 1))


def rotation_angles(n_positions: int, d_head: int, base: float = BASE) -> Floats:
    """By how much each pair of features is turned at each position.

    Parameters
    ----------
    n_positions, d_head : int
        Rows, and features of a query or key.
    base : float
        Positive; as in `sinusoidal_encoding`.

    Returns
    -------
    ndarray of shape (n_positions, d_head // 2)
        Radians; 0 in the first row.

    Raises
    ------
    ValueError
        A size is negative or the base is not positive.

    Examples
    --------
    >>> rotation_angles(3, 2).tolist()
    [[0.0], [1.0], [2.0]]
    """
    if n_positions < 0 or d_head < 0:
        raise ValueError(f"n_positions and d_head must not be negative; got {n_positions} and {d_head}")
    return np.arange(n_positions)[:, None] * _frequencies(d_head, base)[: d_head // 2]


def rotate(x: ArrayLike, base: float = BASE) -> Floats:
    """Turn each pair of features by an angle that grows with the position (rotary position embedding).

    Parameters
    ----------
    x : array_like of shape (..., position, d_head)
        Queries or keys, the first row at position 0.
    base : float
        Positive; as in `sinusoidal_encoding`.

    Returns
    -------
    ndarray of the same shape
        Every row keeps its length. A dot product of two rotated rows depends on their distance, not on where they are.

    Raises
    ------
    ValueError
        There are fewer than two axes or the base is not positive.

    Notes
    -----
    Pairs are neighbours, (0, 1), (2, 3), ..., as in Su et al. 2021, equation 15. The last feature of an odd width has
    no partner and stays as it is; with d_head = 1 nothing turns.

    Examples
    --------
    >>> rotate([[1.0, 0.0], [1.0, 0.0]]).round(4).tolist()
    [[1.0, 0.0], [0.5403, 0.8415]]
    """
    values = np.asarray(x, dtype=np.float64)
    if values.ndim < 2:
        raise ValueError(f"x needs the axes (position, d_head); got shape {values.shape}")
    n_positions, width = values.shape[-2:]
    paired = width // 2 * 2
    angles = rotation_angles(n_positions, width, base)  # (position, pair)
    first, second = values[..., 0:paired:2], values[..., 1:paired:2]
    rotated = values.copy()
    rotated[..., 0:paired:2] = first * np.cos(angles) - second * np.sin(angles)
    rotated[..., 1:paired:2] = first * np.sin(angles) + second * np.cos(angles)
    return rotated
