"""Softmax, what is lost when it saturates, and the entropy of its rows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.masks import Booleans

Floats = NDArray[np.float64]


def softmax(scores: ArrayLike, axis: int = -1, where: Booleans | bool = True, out: Floats | None = None) -> Floats:
    """Shares that grow with the exponential of each score.

    Parameters
    ----------
    scores : array_like of shape (..., n, ...)
        Real numbers; -inf marks an entry that gets no share.
    axis : int
        The axis along which the shares sum to 1.
    where : ndarray of bool, broadcastable to the shape of the scores
        True for the entries among which is shared; the others get no share, whatever their score.
    out : ndarray of float of the shape of the scores, or None
        Takes the shares, as in NumPy; it may be the scores themselves, which are then lost.

    Returns
    -------
    ndarray of the same shape
        Probabilities, no unit; they sum to 1 along the axis. Where every entry is -inf, or none is to get a
        share, there is nothing to share out, and all are 0 (PyTorch's own softmax gives NaN there).

    Raises
    ------
    ValueError
        A score that is to get a share is NaN or +inf.

    Notes
    -----
    softmax(s)_j = exp(s_j) / sum_i exp(s_i), computed after subtracting the largest score, which changes no
    share and keeps every exponential at or below 1 (Goodfellow, Bengio, Courville 2016, section 4.1).

    Examples
    --------
    >>> softmax([0.0, 0.0]).tolist()
    [0.5, 0.5]
    >>> softmax([1, -10, 1000]).tolist()
    [0.0, 0.0, 1.0]
    >>> softmax([0.0, 5.0, 0.0], where=np.array([True, False, True])).tolist()
    [0.5, 0.0, 0.5]
    """
    values = np.asarray(scores, dtype=np.float64)
    largest = values.max(axis=axis, keepdims=True, initial=-np.inf, where=where)
    if not (largest < np.inf).all():  # NaN is the largest wherever it occurs
        raise ValueError("scores must be finite or -inf; got NaN or +inf")
    # One array holds the differences, then their exponentials, then the shares: at 12 heads of 512 words new memory
    # for each of them takes longer than computing it, and the exponential of -inf four times as long as another one,
    # which is why entries outside `where` are passed over. A gap beyond the largest number becomes -inf, whose
    # exponential is 0 as it should be.
    shares = np.empty(values.shape) if out is None else out
    with np.errstate(over="ignore"):
        np.subtract(values, np.where(np.isneginf(largest), 0.0, largest), out=shares, where=where)
    np.exp(shares, out=shares, where=where)
    if where is not True:
        np.copyto(shares, 0.0, where=np.logical_not(where))
    total = shares.sum(axis=axis, keepdims=True)
    np.divide(shares, np.where(total == 0, 1.0, total), out=shares)
    return shares


def entropy(weights: ArrayLike, axis: int = -1) -> Floats:
    """How spread out the shares are: 0 when one takes all, ln n when all n are equal.

    Parameters
    ----------
    weights : array_like of shape (..., n, ...)
        Probabilities along the axis.
    axis : int
        The axis that is summed over.

    Returns
    -------
    ndarray without that axis
        Entropy in nats.

    Raises
    ------
    ValueError
        A weight is negative.

    Notes
    -----
    -sum_j w_j ln w_j with 0 ln 0 = 0, its limit (Shannon 1948, section 6).

    Examples
    --------
    >>> round(float(entropy([0.25, 0.25, 0.25, 0.25])), 8), float(entropy([1.0, 0.0]))
    (1.38629436, 0.0)
    """
    shares = np.asarray(weights, dtype=np.float64)
    if (shares < 0).any():
        raise ValueError(f"weights must not be negative; got {shares.min()}")
    logarithms = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    # + 0.0 turns the -0.0 of a one-hot row into 0.0, which a page would print as "-0.00".
    return np.asarray(-(shares * logarithms).sum(axis=axis) + 0.0)


def jacobian_norm(weights: ArrayLike) -> Floats:
    """Size of the softmax's derivative with respect to its own input: how much a score can still change.

    Parameters
    ----------
    weights : array_like of shape (..., n)
        Result of `softmax` along the last axis.

    Returns
    -------
    ndarray of shape (...)
        Frobenius norm of the n by n matrix dw_i/ds_j, no unit.

    Raises
    ------
    ValueError
        There is no axis.

    Notes
    -----
    dw_i/ds_j = w_i (δ_ij - w_j). The diagonal is written w_i times the sum of the *other* weights: 1 - w_i would
    lose every digit just where the softmax saturates, which is where the reader looks.

    Examples
    --------
    >>> round(float(jacobian_norm([0.5, 0.5])), 3)
    0.5
    """
    shares = np.asarray(weights, dtype=np.float64)
    if shares.ndim == 0:
        raise ValueError("weights must have at least one axis; got a single number")
    others = 1.0 - np.eye(shares.shape[-1])
    diagonal = (shares * (shares @ others)) ** 2
    off_diagonal = shares**2 * (shares**2 @ others)
    return np.asarray(np.sqrt((diagonal + off_diagonal).sum(axis=-1)))
