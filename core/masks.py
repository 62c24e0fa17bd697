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


def local_mask(n_query: int, n_key: int, width: int, causal: bool = False) -> Booleans:
    """Which keys stand near each query: a band along the diagonal.

    Parameters
    ----------
    n_query, n_key : int
        Numbers of queries and of keys.
    width : int
        Positions that a query sees to each side of its own; 0 leaves its own alone.
    causal : bool
        True leaves out the side that follows.

    Returns
    -------
    ndarray of shape (n_query, n_key), bool
        True where the query may attend to the key.

    Raises
    ------
    ValueError
        A number is negative.

    Notes
    -----
    Child et al. 2019 and Beltagy et al. 2020 ("sliding window") use such bands so that the cost grows with the length
    and not with its square.

    Examples
    --------
    >>> local_mask(4, 4, 1).astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    """
    if min(n_query, n_key, width) < 0:
        raise ValueError(f"n_query, n_key and width must not be negative; got {n_query}, {n_key} and {width}")
    back = np.arange(n_query)[:, None] - np.arange(n_key)  # how far before the query the key stands
    return (back <= width) & (back >= (0 if causal else -width))


def prefix_mask(n_query: int, n_key: int, n_prefix: int) -> Booleans:
    """Which keys stand at or before each query or in the prefix, so that the prefix sees itself whole.

    Parameters
    ----------
    n_query, n_key : int
        Numbers of queries and of keys.
    n_prefix : int
        Positions of the prefix, such as a question that is to be answered.

    Returns
    -------
    ndarray of shape (n_query, n_key), bool
        True where the query may attend to the key.

    Raises
    ------
    ValueError
        A number is negative.

    Notes
    -----
    The prefix language model of Raffel et al. 2020 (T5), figure 4. Without a prefix it is the causal mask.

    Examples
    --------
    >>> prefix_mask(4, 4, 2).astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    """
    if n_prefix < 0:
        raise ValueError(f"n_prefix must not be negative; got {n_prefix}")
    return causal_mask(n_query, n_key) | (np.arange(n_key) < n_prefix)


def padding_mask(n_query: int, n_key: int, n_padding: int) -> Booleans:
    """Which keys are words: the last ones only fill the row up, and no query may attend to them.

    Parameters
    ----------
    n_query, n_key : int
        Numbers of queries and of keys.
    n_padding : int
        Keys at the end that are padding; all of them where there are fewer.

    Returns
    -------
    ndarray of shape (n_query, n_key), bool
        True where the query may attend to the key.

    Raises
    ------
    ValueError
        A number is negative.

    Examples
    --------
    >>> padding_mask(2, 3, 1).astype(int).tolist()
    [[1, 1, 0], [1, 1, 0]]
    """
    if min(n_query, n_key, n_padding) < 0:
        raise ValueError(f"n_query, n_key and n_padding must not be negative; got {n_query}, {n_key} and {n_padding}")
    return np.broadcast_to(np.arange(n_key) < n_key - n_padding, (n_query, n_key)).copy()


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
