"""Do two computations agree: the largest difference, the tolerance, and why that tolerance."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.softmax import Floats

TOLERANCE = 1e-12
TOLERANCE_REASON = (
    "both sides compute in double precision, which rounds at 2.2e-16 of a number's size; sums of many products in "
    "another order differ by some hundreds or thousands of such steps, hence 1e-12 of the largest number compared"
)

SENSITIVE = 1e-4
"""Largest difference that rounding may ever excuse, as a share of the largest number compared."""
ROUNDINGS = 1000
"""How much more all roundings on the way may change than that of the input does; up to 50 was found in 94 stacks of 12
to 48 layers without norms."""
SENSITIVE_REASON = (
    "these numbers are sensitive to rounding: the input changed in its last digit changes them too, hence "
    f"{ROUNDINGS:,} times that change"
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Outcome of comparing named arrays of two computations."""

    largest_difference: float
    where: str
    """Name of the array in which it occurs."""
    tolerance: float
    reason: str
    """Why this tolerance."""

    @property
    def agrees(self) -> bool:
        """Whether the largest difference is within the tolerance; False for NaN."""
        return self.largest_difference <= self.tolerance


def compare(
    ours: Mapping[str, ArrayLike],
    theirs: Mapping[str, ArrayLike],
    tolerance: float = TOLERANCE,
    reason: str = TOLERANCE_REASON,
    ours_nudged: Mapping[str, ArrayLike] | None = None,
) -> Agreement:
    """Largest absolute difference between arrays of the same names.

    Parameters
    ----------
    ours, theirs : mapping of str to array_like
        The same names, the same shapes; at least one.
    tolerance : float
        Largest difference that counts as agreement, as a share of the largest finite number of ours, or as it is
        where that number is below 1.
    reason : str
        Why, in words that a page can show.
    ours_nudged : mapping of str to array_like, or None
        Ours from an input that was `nudged`, where rounding may grow with every step. What this changes makes the
        tolerance larger, `ROUNDINGS` times over and up to `SENSITIVE`, and gives it another reason.

    Returns
    -------
    Agreement
        Equal infinities differ by 0; a NaN on one side makes the largest difference NaN.

    Raises
    ------
    ValueError
        Names or shapes differ, or there is nothing to compare.

    Examples
    --------
    >>> found = compare({"weights": [0.25, 0.75]}, {"weights": [0.25, 0.75]})
    >>> found.largest_difference, found.agrees
    (0.0, True)
    >>> compare({"end": [8.0]}, {"end": [8.0 + 1e-9]}, ours_nudged={"end": [8.0 + 1e-11]}).agrees
    True
    """
    if not ours or set(ours) != set(theirs):
        raise ValueError(f"both sides need the same names, at least one; got {sorted(ours)} and {sorted(theirs)}")
    differences = {name: _largest(_difference(name, ours[name], theirs[name])) for name in ours}
    where = max(differences, key=lambda name: np.nan_to_num(differences[name], nan=np.inf))
    if ours_nudged is not None:
        moved = compare(ours, ours_nudged, tolerance=1.0)  # so that its tolerance is the largest number compared
        excused = min(ROUNDINGS * moved.largest_difference / moved.tolerance, SENSITIVE)
        if excused > tolerance:
            tolerance, reason = excused, SENSITIVE_REASON
    return Agreement(differences[where], where, tolerance * max(1.0, _size(ours)), reason)


def nudged(numbers: ArrayLike) -> Floats:
    """The same numbers, each changed in its last digit: what that changes in a result, rounding may change too.

    Parameters
    ----------
    numbers : array_like of any shape
        Input of a computation.

    Returns
    -------
    ndarray of the same shape
        Up and down by turns, by 2.2e-16 of each number's size.

    Examples
    --------
    >>> (nudged([1.0, 1.0]) - 1).tolist()
    [-2.220446049250313e-16, 2.220446049250313e-16]
    """
    values = np.asarray(numbers, dtype=np.float64)
    up = np.arange(values.size).reshape(values.shape) % 2 == 1
    return np.asarray(values * (1 + np.spacing(1.0) * np.where(up, 1, -1)))


def _size(arrays: Mapping[str, ArrayLike]) -> float:
    """Largest finite absolute value; an error of a score of 700 passes into the weights, however small they are."""
    values = np.abs(np.concatenate([np.asarray(array, dtype=np.float64).ravel() for array in arrays.values()]))
    return float(values[np.isfinite(values)].max(initial=0.0))


def _difference(name: str, a: ArrayLike, b: ArrayLike) -> Floats:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(f"{name} must have the same shape on both sides; got {first.shape} and {second.shape}")
    with np.errstate(invalid="ignore"):  # inf - inf; replaced on the same line
        return np.where(first == second, 0.0, np.abs(first - second))


def _largest(differences: Floats) -> float:
    return float(differences.max()) if differences.size else 0.0


def row_differences(before: ArrayLike, after: ArrayLike) -> Floats:
    """How far each row moved: its largest absolute difference.

    Parameters
    ----------
    before, after : array_like of shape (row, column)
        The same shape.

    Returns
    -------
    ndarray of shape (row,)
        Exactly 0 for a row that is the same to the last bit.

    Raises
    ------
    ValueError
        The shapes differ or are not two axes.

    Examples
    --------
    >>> row_differences([[1, 2], [3, 4]], [[1, 2], [3, 7]]).tolist()
    [0.0, 3.0]
    """
    difference = _difference("after", before, after)
    if difference.ndim != 2:
        raise ValueError(f"both arrays need the axes (row, column); got shape {difference.shape}")
    return np.asarray(difference.max(axis=-1, initial=0.0))
