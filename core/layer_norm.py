"""Layer norm: bring every token's vector to mean 0 and variance 1."""

import numpy as np
from numpy.typing import ArrayLike

from core.softmax import Floats

EPSILON = 1e-5
"""Added to the variance, as in PyTorch, so that a constant vector does not divide by zero."""


def layer_norm(
    x: ArrayLike, gain: ArrayLike | None = None, shift: ArrayLike | None = None, eps: float = EPSILON
) -> Floats:
    """Each row with its mean taken away and divided by its standard deviation, then scaled and shifted.

    Parameters
    ----------
    x : array_like of shape (..., d_model)
        One vector a token.
    gain, shift : array_like of shape (d_model,) or None
        Learned factor and offset of each feature; None means 1 and 0.
    eps : float
        Added to the variance, inside the root.

    Returns
    -------
    ndarray of shape (..., d_model)
        No unit.

    Raises
    ------
    ValueError
        There is no feature, or gain or shift has another length.

    Notes
    -----
    (x - mean) / sqrt(variance + eps) · gain + shift with the variance divided by d_model, not d_model - 1
    (Ba, Kiros, Hinton 2016, equation 4; the same as PyTorch's ``layer_norm``).

    Examples
    --------
    >>> layer_norm([1, 0, 0, 0]).round(5).tolist()
    [1.732, -0.57733, -0.57733, -0.57733]
    """
    values = np.asarray(x, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(f"x needs at least one feature on its last axis; got shape {values.shape}")
    for name, learned in (("gain", gain), ("shift", shift)):
        if learned is not None and np.shape(learned) != values.shape[-1:]:
            raise ValueError(f"{name} must have shape {values.shape[-1:]}; got {np.shape(learned)}")
    # Two passes on purpose: mean of squares minus square of the mean loses its digits when the mean is large.
    centred = values - values.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    normed: Floats = centred / np.sqrt(variance + eps)
    if gain is not None:
        normed = normed * np.asarray(gain, dtype=np.float64)
    return normed if shift is None else normed + np.asarray(shift, dtype=np.float64)
