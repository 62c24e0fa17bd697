"""Several heads side by side: split, attend, join, mix."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.attention import Attention, attend
from core.masks import Booleans
from core.softmax import Floats


@dataclass(frozen=True, slots=True)
class MultiHead:
    """What every head computed, and what they give together."""

    heads: Attention
    """Arrays with the axes (..., head, query, ...)."""
    joined: Floats
    """(..., query, n_heads * d_head): the heads' outputs side by side, head 0 first."""
    output: Floats
    """(..., query, d_model): joined @ w_o, or joined itself without w_o."""


def split_heads(x: ArrayLike, n_heads: int) -> Floats:
    """Cut the features into equal shares, one a head.

    Parameters
    ----------
    x : array_like of shape (..., position, d_model)
        All heads' features side by side.
    n_heads : int
        A divisor of d_model.

    Returns
    -------
    ndarray of shape (..., head, position, d_head)
        Head h holds the features h * d_head to (h + 1) * d_head of every position.

    Raises
    ------
    ValueError
        d_model is not a multiple of n_heads.

    Notes
    -----
    The axis has to be moved, not only reshaped: a bare reshape to the final shape deals out positions to heads,
    passes every test of shapes, and is wrong.

    Examples
    --------
    >>> split_heads([[0, 1, 2, 3], [4, 5, 6, 7]], 2).astype(int).tolist()
    [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    """
    values = np.asarray(x, dtype=np.float64)
    if values.ndim < 2:
        raise ValueError(f"x needs the axes (position, d_model); got shape {values.shape}")
    d_model = values.shape[-1]
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(f"d_model must be a multiple of n_heads; got {d_model} and {n_heads}")
    shares = values.reshape(*values.shape[:-1], n_heads, d_model // n_heads)  # (..., position, head, d_head)
    return shares.swapaxes(-3, -2)  # (..., head, position, d_head)


def merge_heads(x: ArrayLike) -> Floats:
    """Put the heads' features side by side again; the inverse of `split_heads`.

    Parameters
    ----------
    x : array_like of shape (..., head, position, d_head)
        One matrix a head.

    Returns
    -------
    ndarray of shape (..., position, head * d_head)
        Head 0 first.

    Raises
    ------
    ValueError
        There are fewer than three axes.

    Examples
    --------
    >>> merge_heads([[[0, 1], [4, 5]], [[2, 3], [6, 7]]]).astype(int).tolist()
    [[0, 1, 2, 3], [4, 5, 6, 7]]
    """
    values = np.asarray(x, dtype=np.float64)
    if values.ndim < 3:
        raise ValueError(f"x needs the axes (head, position, d_head); got shape {values.shape}")
    n_heads, n_positions, d_head = values.shape[-3:]
    return values.swapaxes(-3, -2).reshape(*values.shape[:-3], n_positions, n_heads * d_head)


def multi_head_attention(
    x: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    w_o: ArrayLike | None = None,
    may_attend: Booleans | None = None,
) -> MultiHead:
    """Self-attention of one sentence by several heads, each with its own smaller projections.

    Parameters
    ----------
    x : array_like of shape (..., position, d_model)
        One row a token.
    w_q, w_k, w_v : array_like of shape (head, d_model, d_head)
        Each head's projections, used as x @ w.
    w_o : array_like of shape (head * d_head, d_model) or None
        Mixes the joined heads; None leaves them side by side, as in the lesson's exercise.
    may_attend : ndarray of bool, broadcastable to (..., head, query, key), or None
        True where the query may attend to the key.

    Returns
    -------
    MultiHead
        Every head's scores, weights and output; the joined outputs; the result.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    Vaswani et al. 2017, section 3.2.2. All heads run in one array operation; there is no loop over heads.

    Examples
    --------
    >>> x, w = np.eye(2), np.ones((3, 2, 1))
    >>> multi_head_attention(x, w, w, w).joined.tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    x, w_q, w_k, w_v = (np.asarray(array, dtype=np.float64) for array in (x, w_q, w_k, w_v))
    if x.ndim < 2:
        raise ValueError(f"x needs the axes (position, d_model); got shape {x.shape}")
    n_heads = w_q.shape[0] if w_q.ndim else 1
    for name, w in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v)):
        if w.ndim != 3 or w.shape[:2] != (n_heads, x.shape[-1]):
            wanted = f"({n_heads}, {x.shape[-1]}, d_head)"
            raise ValueError(f"{name} must have shape (head, d_model, d_head) = {wanted}; got {w.shape}")
    spread = x[..., None, :, :]  # (..., 1, position, d_model): the same rows for every head
    heads = attend(spread @ w_q, spread @ w_k, spread @ w_v, may_attend)
    joined = merge_heads(heads.output)
    if w_o is None:
        return MultiHead(heads, joined, joined)
    mix = np.asarray(w_o, dtype=np.float64)
    if mix.ndim != 2 or mix.shape[0] != joined.shape[-1]:
        raise ValueError(f"w_o must have shape ({joined.shape[-1]}, d_model); got {mix.shape}")
    return MultiHead(heads, joined, joined @ mix)


def head_contributions(head_outputs: ArrayLike, w_o: ArrayLike) -> Floats:
    """What each head adds to the output: its own part of the joined features times its own rows of w_o.

    Parameters
    ----------
    head_outputs : array_like of shape (..., head, position, d_head)
        From `multi_head_attention`, as ``heads.output``.
    w_o : array_like of shape (head * d_head, d_model)
        Mixes the joined heads.

    Returns
    -------
    ndarray of shape (..., head, position, d_model)
        Their sum over the heads is joined @ w_o.

    Raises
    ------
    ValueError
        w_o has another number of rows.

    Examples
    --------
    >>> head_contributions([[[1.0]], [[2.0]]], [[3.0], [5.0]]).tolist()
    [[[3.0]], [[10.0]]]
    """
    outputs, mix = (np.asarray(array, dtype=np.float64) for array in (head_outputs, w_o))
    if outputs.ndim < 3:
        raise ValueError(f"head_outputs needs the axes (head, position, d_head); got shape {outputs.shape}")
    n_heads, _, d_head = outputs.shape[-3:]
    if mix.ndim != 2 or mix.shape[0] != n_heads * d_head:
        raise ValueError(f"w_o must have shape ({n_heads * d_head}, d_model); got {mix.shape}")
    return np.asarray(outputs @ mix.reshape(n_heads, d_head, mix.shape[1]))
