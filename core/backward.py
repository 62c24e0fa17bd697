"""The way back through the parts of a block: what a gradient at a part's output is at what the part reads.

Each function is a vector-Jacobian product: the Jacobian itself is never made.
"""

import math
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from core.feed_forward import ActivationName, normal_share
from core.layer_norm import EPSILON
from core.softmax import Floats


def dense_backward(x: ArrayLike, w: ArrayLike, gradient: ArrayLike) -> tuple[Floats, Floats]:
    """Back through x @ w: to what it reads and to its matrix.

    Parameters
    ----------
    x : array_like of shape (position, d_in)
        What the layer read.
    w : array_like of shape (d_in, d_out)
        Its matrix.
    gradient : array_like of shape (position, d_out)
        At its output.

    Returns
    -------
    tuple of ndarray of shape (position, d_in) and ndarray of shape (d_in, d_out)
        Gradient at x and at w.

    Raises
    ------
    ValueError
        The gradient has another shape than x @ w.

    Notes
    -----
    With y = x w and the gradient g at y: g wᵀ at x and xᵀ g at w (Goodfellow, Bengio, Courville 2016, section 6.5).

    Examples
    --------
    >>> to_x, to_w = dense_backward([[1.0, 2.0]], [[3.0], [4.0]], [[1.0]])
    >>> to_x.tolist(), to_w.tolist()
    ([[3.0, 4.0]], [[1.0], [2.0]])
    """
    rows, matrix, back = (np.asarray(array, dtype=np.float64) for array in (x, w, gradient))
    wanted = (*rows.shape[:-1], matrix.shape[-1])
    if back.shape != wanted:
        raise ValueError(f"gradient must have the shape of x @ w, {wanted}; got {back.shape}")
    return back @ matrix.T, rows.swapaxes(-2, -1) @ back


def bend_slope(x: ArrayLike, activation: ActivationName = "gelu") -> Floats:
    """Derivative of the feed-forward part's bend, number by number.

    Parameters
    ----------
    x : array_like of any shape
        What the bend read.
    activation : "gelu" or "relu"
        "gelu" is the exact form.

    Returns
    -------
    ndarray of the same shape
        No unit. At exactly 0 ReLU has no derivative; 0 is taken, as PyTorch does.

    Raises
    ------
    ValueError
        Another name was given.

    Notes
    -----
    GELU: Φ(x) + x φ(x), with Φ and φ of the standard normal (Hendrycks, Gimpel 2016, section 2). ReLU: 1 above 0.

    Examples
    --------
    >>> bend_slope([0.0]).tolist(), bend_slope([-1.0, 2.0], "relu").tolist()
    ([0.5], [0.0, 1.0])
    """
    if activation not in get_args(ActivationName):
        raise ValueError(f"activation must be 'gelu' or 'relu'; got {activation!r}")
    values = np.asarray(x, dtype=np.float64)
    if activation == "relu":
        return (values > 0).astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):  # far out the density is 0 as it should be
        density = np.exp(-0.5 * values**2) / math.sqrt(2.0 * math.pi)
    return normal_share(values) + values * density


def layer_norm_backward(
    x: ArrayLike, gradient: ArrayLike, gain: ArrayLike | None = None, eps: float = EPSILON
) -> Floats:
    """Back through a layer norm, to what it reads.

    Parameters
    ----------
    x : array_like of shape (..., d_model)
        What the norm read.
    gradient : array_like of shape (..., d_model)
        At its output.
    gain : array_like of shape (d_model,) or None
        Its learned factors; None means 1. The shift has no influence.
    eps : float
        As in `core.layer_norm.layer_norm`.

    Returns
    -------
    ndarray of shape (..., d_model)
        Gradient at x. It has mean 0: a norm does not see what is added to all features.

    Raises
    ------
    ValueError
        Gradient and x differ in shape.

    Notes
    -----
    With n the normed x, s its standard deviation and g the gradient times the gain:
    (g - mean(g) - n mean(g n)) / s, the derivative of equation 4 of Ba, Kiros, Hinton 2016. So a norm divides a
    gradient by the size of what it reads.

    Examples
    --------
    >>> layer_norm_backward([-1.0, 0.0, 1.0], [0.0, 1.0, 0.0], eps=0.0).round(4).tolist()
    [-0.4082, 0.8165, -0.4082]
    """
    values, back = np.asarray(x, dtype=np.float64), np.asarray(gradient, dtype=np.float64)
    if values.shape != back.shape:
        raise ValueError(f"gradient must have the shape of x, {values.shape}; got {back.shape}")
    if gain is not None:
        back = back * np.asarray(gain, dtype=np.float64)
    centred = values - values.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    normed = centred / deviation
    along = (back * normed).mean(axis=-1, keepdims=True)
    return np.asarray((back - back.mean(axis=-1, keepdims=True) - normed * along) / deviation)


def softmax_backward(weights: ArrayLike, gradient: ArrayLike) -> Floats:
    """Back through the softmax of each row, to its scores.

    Parameters
    ----------
    weights : array_like of shape (..., n)
        What the softmax gave.
    gradient : array_like of shape (..., n)
        At the weights.

    Returns
    -------
    ndarray of shape (..., n)
        Gradient at the scores; each row sums to 0.

    Raises
    ------
    ValueError
        Gradient and weights differ in shape.

    Notes
    -----
    dw_i/ds_j = w_i (δ_ij - w_j), hence w (g - sum(w g)): a weight of 0 lets nothing through, and where one weight is 1
    nothing moves at all. The gradient at the largest weight is taken away from all first, which changes nothing:
    without that a saturated softmax would lose every digit in the difference.

    Examples
    --------
    >>> softmax_backward([0.5, 0.5], [1.0, 0.0]).tolist(), bool(softmax_backward([1.0, 0.0], [3.0, 5.0]).any())
    ([0.25, -0.25], False)
    """
    shares, back = np.asarray(weights, dtype=np.float64), np.asarray(gradient, dtype=np.float64)
    if shares.shape != back.shape:
        raise ValueError(f"gradient must have the shape of the weights, {shares.shape}; got {back.shape}")
    if not shares.size:
        return np.zeros_like(shares)
    top = shares.argmax(axis=-1)[..., None]
    relative = back - np.take_along_axis(back, top, axis=-1)
    return np.asarray(shares * (relative - (shares * relative).sum(axis=-1, keepdims=True)))


def attention_backward(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, weights: ArrayLike, gradient: ArrayLike, scale: float | None = None
) -> tuple[Floats, Floats, Floats]:
    """Back through attention: to queries, keys and values.

    Parameters
    ----------
    q, k, v : array_like of shape (..., query or key, d_head)
        What it read.
    weights : array_like of shape (..., query, key)
        Its weights; where they are 0, because a key was masked, nothing comes back.
    gradient : array_like of shape (..., query, d_value)
        At its output.
    scale : float or None
        Factor on the scores; None means 1 / sqrt(d_head).

    Returns
    -------
    tuple of three ndarray
        Gradients at q, k and v, in their shapes.

    Raises
    ------
    ValueError
        The gradient has another shape than weights @ v.

    Examples
    --------
    >>> to_q, to_k, to_v = attention_backward([[0.0]], [[1.0], [3.0]], [[2.0], [4.0]], [[0.5, 0.5]], [[1.0]])
    >>> to_q.tolist(), to_k.tolist(), to_v.tolist()
    ([[1.0]], [[0.0], [0.0]], [[0.5], [0.5]])
    """
    queries, keys, values, shares, back = (
        np.asarray(array, dtype=np.float64) for array in (q, k, v, weights, gradient)
    )
    wanted = (*shares.shape[:-1], values.shape[-1])
    if back.shape != wanted:
        raise ValueError(f"gradient must have the shape of weights @ v, {wanted}; got {back.shape}")
    factor = queries.shape[-1] ** -0.5 if scale is None else scale
    to_weights = back @ values.swapaxes(-2, -1)  # (..., query, key)
    to_scores = softmax_backward(shares, to_weights) * factor
    return to_scores @ keys, to_scores.swapaxes(-2, -1) @ queries, shares.swapaxes(-2, -1) @ back
