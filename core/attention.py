"""Scaled dot-product attention, each of its four steps by name."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.masks import Booleans
from core.products import Multiply, multiply
from core.softmax import Floats, softmax


@dataclass(frozen=True, slots=True)
class Attention:
    """What attention computed, step by step; the leading axes are those of the inputs."""

    scores: Floats
    """(..., query, key): dot product of each query with each key, before scale and mask."""
    weights: Floats
    """(..., query, key): each row sums to 1, or is all 0 where the query may attend to nothing."""
    output: Floats
    """(..., query, d_value): the values, mixed by the weights."""
    scale: float
    """Factor on the scores."""
    may_attend: Booleans | None = None
    """True where the query may attend to the key; None allows all."""

    @property
    def scaled_scores(self) -> Floats:
        """(..., query, key): scores times the scale; -inf where the query may not attend.

        Made when they are asked for: at 12 heads of 512 words, memory for one more array of this size takes longer than
        the softmax.
        """
        return _scaled(self.scores, self.scale, self.may_attend)


def attend(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    may_attend: Booleans | None = None,
    scale: float | None = None,
    multiply: Multiply = multiply,
) -> Attention:
    """Mix the values of all positions, each query by how well it matches each key.

    Parameters
    ----------
    q : array_like of shape (..., query, d_head)
        What each position asks.
    k : array_like of shape (..., key, d_head)
        What each position is found by.
    v : array_like of shape (..., key, d_value)
        What each position gives.
    may_attend : ndarray of bool, broadcastable to (..., query, key), or None
        True where the query may attend to the key; None allows all.
    scale : float or None
        Factor on the scores; None means 1 / sqrt(d_head).
    multiply : callable
        Makes the two products, "scores" and "mixing"; a `core.products.Counter` also writes down their sizes.

    Returns
    -------
    Attention
        Scores, scaled scores, weights and output.

    Raises
    ------
    ValueError
        The shapes do not fit, or the mask is not boolean.

    Notes
    -----
    softmax(q kᵀ / sqrt(d_head)) v, Vaswani et al. 2017, equation 1. The same as PyTorch's
    ``scaled_dot_product_attention``, whose boolean mask has the same polarity, a query without any key included.

    Examples
    --------
    >>> result = attend([[2, 0], [0, 0]], [[0, 0], [1, 0]], [[1.0], [3.0]])
    >>> result.weights.round(5).tolist()
    [[0.19557, 0.80443], [0.5, 0.5]]
    """
    q, k, v = (np.asarray(array, dtype=np.float64) for array in (q, k, v))
    _check_shapes(q, k, v, may_attend)
    scores = multiply("scores", q, k.swapaxes(-2, -1))  # (..., query, key)
    factor = float(1.0 / np.sqrt(q.shape[-1]) if scale is None else scale)
    scaled_scores = _scaled(scores, factor, may_attend)
    # The weights take their place; they can be made again.
    weights = softmax(scaled_scores, where=True if may_attend is None else may_attend, out=scaled_scores)
    return Attention(scores, weights, multiply("mixing", weights, v), factor, may_attend)


def _scaled(scores: Floats, scale: float, may_attend: Booleans | None) -> Floats:
    """Scores times the scale, -inf where the query may not attend."""
    if may_attend is None:
        return scores * scale
    scaled_scores: Floats = np.full(np.broadcast_shapes(scores.shape, may_attend.shape), -np.inf)
    np.multiply(scores, scale, out=scaled_scores, where=may_attend)
    return scaled_scores


def _check_shapes(q: Floats, k: Floats, v: Floats, may_attend: Booleans | None) -> None:
    """Say which shape was wanted and which was given, before NumPy complains in its own words."""
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise ValueError(f"q, k and v need two axes or more; got shapes {q.shape}, {k.shape} and {v.shape}")
    if q.shape[-1] != k.shape[-1] or q.shape[-1] == 0:
        raise ValueError(f"q and k must share a d_head of at least 1; got {q.shape[-1]} and {k.shape[-1]}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k and v must have as many rows as each other; got {k.shape[-2]} and {v.shape[-2]}")
    try:
        leading = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except ValueError:
        raise ValueError(
            f"leading axes of q, k and v must fit each other; got {q.shape[:-2]}, {k.shape[:-2]}, {v.shape[:-2]}"
        ) from None
    if may_attend is None:
        return
    if may_attend.dtype != np.bool_:
        raise ValueError(f"may_attend must be boolean, True = may attend; got {may_attend.dtype}")
    wanted = (*leading, q.shape[-2], k.shape[-2])
    try:
        fits = np.broadcast_shapes(may_attend.shape, wanted) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"may_attend must fit (..., query, key) = {wanted}; got {may_attend.shape}")


@dataclass(frozen=True, slots=True)
class SelfAttention:
    """One head's run over a sentence, its projections included."""

    q: Floats
    """(..., query, d_head): what is compared; rotated where a rotation was asked for."""
    k: Floats
    """(..., key, d_head)."""
    v: Floats
    """(..., key, d_head)."""
    attention: Attention


def self_attention(
    x: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    may_attend: Booleans | None = None,
    turn: Callable[[Floats], Floats] | None = None,
) -> SelfAttention:
    """Attention of a sentence to itself: the same rows ask, label and give.

    Parameters
    ----------
    x : array_like of shape (..., position, d_model)
        One row a token.
    w_q, w_k, w_v : array_like of shape (d_model, d_head)
        One head's projections, used as x @ w.
    may_attend : ndarray of bool, broadcastable to (..., query, key), or None
        True where the query may attend to the key.
    turn : callable or None
        Applied to q and k before they are compared, such as `core.positions.rotate`; v is left alone.

    Returns
    -------
    SelfAttention
        q, k, v, and what attention made of them.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    q = x w_q, k = x w_k, v = x w_v; then `attend`.

    Examples
    --------
    >>> run = self_attention([[1, 0], [0, 2], [1, 1]], np.eye(2), [[1, 1], [0, 1]], np.eye(2))
    >>> run.attention.scores.astype(int).tolist(), run.attention.output[2].round(5).tolist()
    ([[1, 0, 1], [2, 4, 4], [2, 2, 3]], [0.75174, 1.0])
    """
    rows, *projections = (np.asarray(array, dtype=np.float64) for array in (x, w_q, w_k, w_v))
    if rows.ndim < 2:
        raise ValueError(f"x needs the axes (position, d_model); got shape {rows.shape}")
    if any(w.ndim != 2 or w.shape[0] != rows.shape[-1] for w in projections):
        given = ", ".join(str(w.shape) for w in projections)
        raise ValueError(f"w_q, w_k and w_v must have shape ({rows.shape[-1]}, d_head); got {given}")
    q, k, v = (rows @ w for w in projections)
    if turn is not None:
        q, k = turn(q), turn(k)
    return SelfAttention(q, k, v, attend(q, k, v, may_attend))
