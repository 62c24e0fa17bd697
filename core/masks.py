"""Masks: which key each query may attend to. True always means: may attend."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Alignment = Literal["top-left", "bottom-right"]
ALIGNMENTS: tuple[Alignment, ...] = get_args(Alignment)
Booleans = NDArray[np.bool_]


def causal_mask(n_query: int, n_key: int | None = None, align: Alignment = "top-left") -> Booleans:
    """Which keys stand at or before each query, so that no query sees what follows it.

    Parameters
    ----------
    n_query : int
        Number of queries, the rows.
    n_key : int or None
        Number of keys, the columns; None means as many as queries.
    align : "top-left" or "bottom-right"
        Where the corner of the triangle sits when the two numbers differ. "top-left": query i and key i are the
        same position. "bottom-right": the last query and the last key are (new words against a cache of old ones).

    Returns
    -------
    ndarray of shape (n_query, n_key), bool
        True where the query may attend to the key.

    Raises
    ------
    ValueError
        A number is negative or the alignment is not one of the two.

    Notes
    -----
    Vaswani et al. 2017, section 3.2.3. PyTorch's ``is_causal=True`` is top-left, its ``causal_lower_right`` the
    other. With more queries than keys, the first rows of "bottom-right" may attend to nothing.

    Examples
    --------
    >>> causal_mask(3).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> causal_mask(2, 5, align="bottom-right").astype(int).tolist()
    [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    """
    n_key = n_query if n_key is None else n_key
    if n_query < 0 or n_key < 0:
        raise ValueError(f"n_query and n_key must not be negative; got {n_query} and {n_key}")
    if align not in ALIGNMENTS:
        raise ValueError(f"align must be 'top-left' or 'bottom-right'; got {align!r}")
    offset = n_key - n_query if align == "bottom-right" else 0
    return np.tri(n_query, n_key, k=offset, dtype=np.bool_)


def count_allowed(may_attend: Booleans) -> int:
    """Number of query-key pairs that a mask allows.

    Parameters
    ----------
    may_attend : ndarray of shape (..., query, key), bool
        True where the query may attend.

    Returns
    -------
    int
        n (n + 1) / 2 for a square causal mask, the diagonal included.

    Raises
    ------
    ValueError
        The mask is not boolean.

    Examples
    --------
    >>> count_allowed(causal_mask(5))
    15
    """
    if may_attend.dtype != np.bool_:
        raise ValueError(f"may_attend must be boolean; got {may_attend.dtype}")
    return int(may_attend.sum())
