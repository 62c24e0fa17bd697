"""Why the scores are divided by sqrt(d): the lesson's single draw, and a sweep over d with many draws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.softmax import Floats, entropy, jacobian_norm, softmax

LESSON_DIMS = (4, 64, 512)
SWEEP_DIMS = tuple(2**power for power in range(13))
"""1 to 4096 in powers of two."""

BAND = (0.1, 0.9)
"""Quantiles between which a band holds the middle 80 % of the draws."""

# Draws are made in portions of at most this many numbers (0.8 MB), whatever d and the number of draws.
_PORTION = 100_000


@dataclass(frozen=True, slots=True)
class SingleDraw:
    """One query against a few keys, without and with the division by sqrt(d)."""

    d: int
    q: Floats
    """(d,): the query."""
    keys: Floats
    """(key, d)."""
    raw_scores: Floats
    """(key,): dot products of the query with each key."""
    raw_score_spread: float
    """Population standard deviation of the raw scores."""
    weights_unscaled: Floats
    """(key,): softmax of the raw scores."""
    weights_scaled: Floats
    """(key,): softmax of the raw scores divided by sqrt(d)."""

    @property
    def max_weight_unscaled(self) -> float:
        """Largest weight without the division."""
        return float(self.weights_unscaled.max())

    @property
    def max_weight_scaled(self) -> float:
        """Largest weight with the division."""
        return float(self.weights_scaled.max())


def single_draws(dims: Sequence[int] = LESSON_DIMS, n_keys: int = 5, seed: int = 1) -> tuple[SingleDraw, ...]:
    """The lesson's run: for each d one query and a few keys, all from one generator.

    Parameters
    ----------
    dims : sequence of int
        Sizes of a key, in the order in which they are drawn.
    n_keys : int
        Keys for each query.
    seed : int
        Not negative.

    Returns
    -------
    tuple of SingleDraw
        One a size. As in the lesson the generator runs on from size to size, so a row depends on those before it.

    Raises
    ------
    ValueError
        A size is below 1, there is no key, or the seed is negative.

    Examples
    --------
    >>> [round(draw.raw_score_spread, 2) for draw in single_draws()]
    [0.48, 5.73, 14.71]
    """
    _check(dims, n_keys, seed)
    rng = np.random.default_rng(seed)
    draws = []
    for d in dims:
        q, keys = rng.normal(size=d), rng.normal(size=(n_keys, d))
        raw = keys @ q
        draws.append(SingleDraw(d, q, keys, raw, float(raw.std()), softmax(raw), softmax(raw / np.sqrt(d))))
    return tuple(draws)


@dataclass(frozen=True, slots=True)
class Band:
    """A quantity over many draws: its mean, and the quantiles of `BAND` around it."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SweepRow:
    """What happens at one d, over many draws of one query and its keys."""

    d: int
    n_keys: int
    n_draws: int
    pooled_spread: float
    """Standard deviation of all raw scores of all draws; about sqrt(d)."""
    raw_score_spread: Band
    """Spread of one draw's own few scores, which on average is below the pooled one."""
    scaled_score_spread: Band
    max_weight_unscaled: Band
    max_weight_scaled: Band
    entropy_unscaled: Band
    """In nats; at most ln n_keys."""
    entropy_scaled: Band
    gradient_norm_unscaled: Band
    """Frobenius norm of the softmax's Jacobian at the unscaled scores."""
    gradient_norm_scaled: Band


def sweep(dims: Sequence[int] = SWEEP_DIMS, n_keys: int = 5, n_draws: int = 200, seed: int = 0) -> tuple[SweepRow, ...]:
    """Spread, largest weight, entropy and gradient over many draws, for each d, scaled and not.

    Parameters
    ----------
    dims : sequence of int
        Sizes of a key.
    n_keys : int
        Keys for each query.
    n_draws : int
        Independent draws of a query and its keys, all standard normal.
    seed : int
        Not negative; each d has a generator of its own, so a row does not depend on the other sizes.

    Returns
    -------
    tuple of SweepRow
        One a size, in the order given.

    Raises
    ------
    ValueError
        A size, the number of keys or of draws is below 1, or the seed is negative.

    Notes
    -----
    The components of q and k are independent with mean 0 and variance 1, hence q·k has mean 0 and variance d
    (Vaswani et al. 2017, footnote 4). An estimate from N draws scatters around it by about sqrt(2/N).

    Examples
    --------
    >>> low, high = sweep([1, 256], n_draws=2000)
    >>> low.max_weight_unscaled.mean < 0.6 < 0.9 < high.max_weight_unscaled.mean
    True
    """
    _check(dims, n_keys, seed)
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1; got {n_draws}")
    return tuple(_sweep_row(d, n_keys, n_draws, seed) for d in dims)


def _sweep_row(d: int, n_keys: int, n_draws: int, seed: int) -> SweepRow:
    raw = draw_scores(d, n_keys, n_draws, seed)
    scaled = raw / np.sqrt(d)
    unscaled_weights, scaled_weights = softmax(raw), softmax(scaled)

    def both(quantity: Callable[[Floats], Floats]) -> tuple[Band, Band]:
        return _band(quantity(unscaled_weights)), _band(quantity(scaled_weights))

    return SweepRow(
        d,
        n_keys,
        n_draws,
        float(raw.std()),
        _band(raw.std(axis=-1)),
        _band(scaled.std(axis=-1)),
        *both(lambda weights: weights.max(axis=-1)),
        *both(entropy),
        *both(jacobian_norm),
    )


def draw_scores(d: int, n_keys: int, n_draws: int, seed: int = 0) -> Floats:
    """Raw scores of many independent draws at one size of a key, the ones that `sweep` sums up.

    Parameters
    ----------
    d, n_keys, n_draws : int
        Size of a key, keys for each query, draws.
    seed : int
        Not negative.

    Returns
    -------
    ndarray of shape (draw, key)
        Dot products of standard normal vectors; a draw's numbers are its query, then its keys.

    Raises
    ------
    ValueError
        A size is below 1, or the seed is negative.

    Examples
    --------
    >>> draw_scores(64, 5, 200).shape
    (200, 5)
    """
    _check((d,), n_keys, seed)
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1; got {n_draws}")
    rng = np.random.default_rng([seed, d])
    scores = np.empty((n_draws, n_keys))
    portion = max(1, _PORTION // ((n_keys + 1) * d))
    memory = np.empty((min(portion, n_draws), n_keys + 1, d))
    for start in range(0, n_draws, portion):
        stop = min(start + portion, n_draws)
        vectors = rng.standard_normal(out=memory[: stop - start])
        scores[start:stop] = (vectors[:, 1:] @ vectors[:, :1].swapaxes(-2, -1))[..., 0]
    return scores


def unit_spread(x: Floats) -> tuple[Floats, float]:
    """Numbers brought to a spread of 1, as layer norm and the usual first values keep queries and keys.

    Parameters
    ----------
    x : ndarray
        Of any shape.

    Returns
    -------
    tuple of ndarray of the same shape and float
        x divided by the standard deviation of all its numbers, and that divisor; 1 where all numbers are equal.

    Examples
    --------
    >>> unit_spread(np.array([[2.0, -2.0]]))[0].tolist(), unit_spread(np.array([3.0]))[1]
    ([[1.0, -1.0]], 1.0)
    """
    spread = float(x.std()) if x.size else 0.0
    # Equal numbers may differ in their last bit, which is no spread.
    divisor = spread if spread > 1e-12 * np.abs(x).max(initial=0.0) else 1.0
    return x / divisor, divisor


def _band(values: Floats) -> Band:
    low, high = np.quantile(values, BAND)
    return Band(float(values.mean()), float(low), float(high))


def _check(dims: Sequence[int], n_keys: int, seed: int) -> None:
    if any(d < 1 for d in dims):
        raise ValueError(f"dims must be at least 1; got {tuple(dims)}")
    if n_keys < 1:
        raise ValueError(f"n_keys must be at least 1; got {n_keys}")
    if seed < 0:
        raise ValueError(f"seed must not be negative; got {seed}")
