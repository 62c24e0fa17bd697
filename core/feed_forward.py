"""The feed-forward part of a block: two dense layers with a bend between them, on each token alone."""

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from core.error_function import erf
from core.softmax import Floats

ActivationName = Literal["gelu", "relu"]


def gelu(x: ArrayLike, approximate: bool = False) -> Floats:
    """A smooth bend: close to 0 for negative numbers, close to x for positive ones.

    Parameters
    ----------
    x : array_like of any shape
        Real numbers.
    approximate : bool
        True for the tanh form of GPT-2; the two differ by at most 4.74e-4.

    Returns
    -------
    ndarray of the same shape
        x times the share of a standard normal that lies below x.

    Raises
    ------
    ValueError
        x is text.

    Notes
    -----
    x Φ(x) = x (1 + erf(x / sqrt 2)) / 2, or 0.5 x (1 + tanh(sqrt(2/π) (x + 0.044715 x³))); Hendrycks, Gimpel 2016,
    section 2. PyTorch's "gelu" is the exact form.

    Examples
    --------
    >>> gelu([1.0]).round(8).tolist(), gelu([1.0], approximate=True).round(8).tolist()
    ([0.84134475], [0.84119199])
    """
    values = np.asarray(x, dtype=np.float64)
    if approximate:
        with np.errstate(over="ignore"):  # the cube of a huge number is infinite, and its tanh 1 as it should be
            return 0.5 * values * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (values + 0.044715 * values**3)))
    return values * normal_share(values)


def normal_share(x: ArrayLike) -> Floats:
    """Share of a standard normal that lies below each number.

    Parameters
    ----------
    x : array_like of any shape
        Real numbers.

    Returns
    -------
    ndarray of the same shape
        Φ(x) = (1 + erf(x / sqrt 2)) / 2, from 0 to 1.

    Examples
    --------
    >>> normal_share([0.0, 1.0]).round(8).tolist()
    [0.5, 0.84134475]
    """
    values = np.asarray(x, dtype=np.float64)
    return 0.5 * (1.0 + erf(values / math.sqrt(2.0)))


def relu(x: ArrayLike) -> Floats:
    """A sharp bend: 0 for negative numbers, x for positive ones.

    Parameters
    ----------
    x : array_like of any shape
        Real numbers.

    Returns
    -------
    ndarray of the same shape
        max(0, x).

    Raises
    ------
    ValueError
        x is text.

    Examples
    --------
    >>> relu([-2.0, 3.0]).tolist()
    [0.0, 3.0]
    """
    return np.maximum(np.asarray(x, dtype=np.float64), 0.0)


def activate(x: ArrayLike, activation: ActivationName) -> Floats:
    """The bend of that name.

    Parameters
    ----------
    x : array_like of any shape
        Real numbers.
    activation : "gelu" or "relu"
        Which of the two; "gelu" is the exact form.

    Returns
    -------
    ndarray of the same shape
        See `gelu` and `relu`.

    Raises
    ------
    ValueError
        Another name was given.

    Examples
    --------
    >>> activate([-1.0], "relu").tolist()
    [0.0]
    """
    if activation not in get_args(ActivationName):
        raise ValueError(f"activation must be 'gelu' or 'relu'; got {activation!r}")
    return gelu(x) if activation == "gelu" else relu(x)
