"""The exponent of a growth, from a few measured points."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class PowerFit:
    """A power law through points: y = factor · n ^ exponent."""

    exponent: float
    factor: float
    r_squared: float
    """Share of the variance of log y that the line explains; 1 for points on a line."""
    residual: float
    """Largest factor by which a point lies off the line; 1 for points on it."""
    n_points: int


def fit_power(n: Sequence[float], y: Sequence[float]) -> PowerFit:
    """Least squares of log y on log n.

    Parameters
    ----------
    n, y : sequence of float
        Positive; at least two different n.

    Returns
    -------
    PowerFit
        With its quality.

    Raises
    ------
    ValueError
        Fewer than two different n, or a value that is not positive.

    Examples
    --------
    >>> fit = fit_power([512, 1024, 2048], [3.0, 12.0, 48.0])
    >>> round(fit.exponent, 12), round(fit.r_squared, 12)
    (2.0, 1.0)
    """
    if len(set(n)) < 2 or min(*n, *y) <= 0:
        raise ValueError(f"wanted positive values at two different n or more; got n = {list(n)}, y = {list(y)}")
    log_n, log_y = np.log(n), np.log(y)
    across = log_n - log_n.mean()
    exponent = float(across @ log_y / (across @ across))
    start = float(log_y.mean() - exponent * log_n.mean())
    off = log_y - (start + exponent * log_n)
    spread = float(((log_y - log_y.mean()) ** 2).sum())
    # Points at one height lie on a line too: nothing is left to explain.
    r_squared = 1 - float(off @ off) / spread if spread > 0 else 1.0
    return PowerFit(exponent, float(np.exp(start)), r_squared, float(np.exp(np.abs(off).max())), len(n))
