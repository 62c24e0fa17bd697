"""An exercise: what is asked, its right answer, and the answer that each mistake with a name would give."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.softmax import Floats

Form = Literal["numbers", "cells", "choice"]

APART = 2.5
"""Tolerances between any two answers: each is met within one, so that no number can be near two of them."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A matrix that is given."""

    name: str
    values: Floats
    """Of shape (row, column)."""
    rows: str
    """What a row is: "query", "key", "feature"."""
    columns: str
    row_names: tuple[str, ...] = ()
    """Empty for plain positions from 0."""
    column_names: tuple[str, ...] = ()
    decimals: int = 0
    """Of its numbers as they are written; they are exact."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake with a name, and what it makes of the exercise."""

    name: str
    says: str
    """What was done instead of what was wanted; one or two sentences to the reader."""
    answer: Floats
    """Of the shape of the right answer."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise with its numbers."""

    kind: str
    asks: str
    answer: Floats
    """Of shape (row, column): numbers, 1 and 0 for cells to choose, or the number of the right option."""
    mistakes: tuple[Mistake, ...]
    operands: tuple[Operand, ...] = ()
    given: Mapping[str, int] = field(default_factory=dict)
    """Sizes and places that the question names."""
    rows: tuple[str, ...] = ("",)
    """Names of the rows of the answer."""
    columns: tuple[str, ...] = ("",)
    form: Form = "numbers"
    decimals: int = 0
    """To which the answer is to be written; 0 for whole numbers, which must be exact."""
    tolerance: float = 0.0
    """Largest difference at which a number counts as right."""
    sums_to_one: bool = False
    """Whether each row of the answer must sum to 1."""
    options: tuple[str, ...] = ()
    why: str = ""
    """Of a choice: why the right option is right."""

    @property
    def is_fair(self) -> bool:
        """Whether the right answer and all mistakes are finite and told apart by any answer within the tolerance."""
        answers = [self.answer, *(mistake.answer for mistake in self.mistakes)]
        if not all(np.isfinite(answer).all() for answer in answers):
            return False
        least = max(APART * self.tolerance, 1e-6)
        return all(
            np.abs(one - other).max() > least for place, one in enumerate(answers) for other in answers[place + 1 :]
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said of an answer."""

    is_right: bool
    says: tuple[str, ...] = ()
    """One or two sentences each; more than one where several mistakes would give the same numbers."""
    named: tuple[str, ...] = ()
    """Names of the mistakes that were recognised."""
    wrong: tuple[tuple[int, int], ...] = ()
    """Row and column of every cell that is not right."""


def judge(exercise: Exercise, given: ArrayLike) -> Verdict:
    """Whether an answer is right, and if not, which mistake gives it.

    Parameters
    ----------
    exercise : Exercise
        What was asked.
    given : array_like of the shape of its answer
        Finite numbers.

    Returns
    -------
    Verdict
        A mistake is named only if it gives all of the numbers, each within the exercise's tolerance.

    Raises
    ------
    ValueError
        The shape is another one, or a number is not finite.

    Examples
    --------
    >>> half = Mistake("halved", "You halved it.", np.array([[2.0]]))
    >>> asked = Exercise("double", "2 × 2?", np.array([[4.0]]), (half,))
    >>> judge(asked, [[4]]).is_right, judge(asked, [[2]]).named
    (True, ('halved',))
    """
    values = np.asarray(given, dtype=np.float64)
    if values.shape != exercise.answer.shape:
        raise ValueError(f"given must have shape {exercise.answer.shape}; got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"given must be finite; got {values.tolist()}")
    off = ~_near(values, exercise.answer, exercise.tolerance)
    if not off.any():
        return Verdict(True)
    wrong = tuple((int(row), int(column)) for row, column in np.argwhere(off))
    found = [mistake for mistake in exercise.mistakes if _near(values, mistake.answer, exercise.tolerance).all()]
    says = [mistake.says for mistake in found]
    named = [mistake.name for mistake in found]
    coarse = _coarse(exercise, values, off)
    if coarse:
        named.append("rounded too coarsely")
        says.append(coarse)
    if not says and exercise.sums_to_one and (sums := _sums(exercise, values)):
        named.append("rows do not sum to 1")
        says.append(sums)
    if not says:
        says.append(_where(exercise, wrong))
    return Verdict(False, tuple(says), tuple(named), wrong)


def _near(values: Floats, wanted: Floats, tolerance: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    close: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = np.abs(values - wanted) <= tolerance + 1e-9
    return close


def _coarse(exercise: Exercise, values: Floats, off: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    """A sentence if every wrong number is the right one with too few decimals."""
    for decimals in range(exercise.decimals - 1, -1, -1):
        rounded = np.round(exercise.answer, decimals)
        if (np.abs(values - rounded)[off] <= 1e-9).all():
            return (
                f"That is the right answer rounded too coarsely: {_count(decimals, 'decimal')} where "
                f"{exercise.decimals} are wanted."
            )
    return ""


def _sums(exercise: Exercise, values: Floats) -> str:
    """A sentence if the weights of a row cannot be shares of one whole."""
    # Each number may have been rounded by half of its last digit.
    slack = (0.5 * 10.0**-exercise.decimals + exercise.tolerance) * values.shape[1]
    for name, total in zip(exercise.rows, values.sum(axis=1), strict=True):
        if abs(total - 1) > slack:
            of = f" of {name}" if name else ""
            return f"The weights{of} sum to {total:.{exercise.decimals}f}. Shares of one whole must sum to 1."
    return ""


def _where(exercise: Exercise, wrong: Sequence[tuple[int, int]]) -> str:
    """How much of the answer is right, without giving any of it away."""
    if exercise.form == "choice":
        return "That is not the one."
    total = exercise.answer.size
    if total == 1:
        return "That is not right, and it is none of the usual mistakes: look for a slip in the arithmetic."
    names = [" ".join(part for part in (exercise.rows[row], exercise.columns[column]) if part) for row, column in wrong]
    if len(names) > 4:
        return f"{total - len(wrong)} of {total} are right; the others follow none of the usual mistakes."
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    verb = "is" if len(names) == 1 else "are"
    return f"{total - len(wrong)} of {total} are right. Not right {verb}: {listed}."


def _count(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"


def read_number(text: str, whole: bool = False) -> float:
    """A number as a reader types it.

    Parameters
    ----------
    text : str
        Digits with a point or a comma, and either kind of minus sign.
    whole : bool
        Whether a whole number is expected, in which commas and spaces only group digits.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ValueError
        It is none; the message says what was wanted and what was given.

    Examples
    --------
    >>> read_number("−0,25"), read_number("8,544", whole=True)
    (-0.25, 8544.0)
    """
    typed = text.strip()
    if not typed:
        raise ValueError("a number is wanted; the box is empty")
    plain = typed.replace("−", "-").replace("–", "-")
    if whole and re.fullmatch(r"[+-]?[0-9]{1,3}([, \u00a0\u202f][0-9]{3})+", plain):
        plain = re.sub("[, \u00a0\u202f]", "", plain)
    plain = plain.replace(",", ".")
    if not re.fullmatch(r"[+-]?([0-9]{1,15}(\.[0-9]{0,30})?|\.[0-9]{1,30})", plain):
        shown = typed if len(typed) <= 20 else f"{typed[:20]}…"
        raise ValueError(f"a number such as {'12' if whole else '0.25'} or −3 is wanted; given: “{shown}”")
    return float(plain)


def written(values: ArrayLike, decimals: int) -> str:
    """Numbers in a sentence.

    Parameters
    ----------
    values : array_like
        Any number of them.
    decimals : int
        Behind the point.

    Returns
    -------
    str
        With real minus signs.

    Examples
    --------
    >>> written([0.5, -1.25], 1)
    '0.5, −1.2'
    """
    texts = [f"{value:z.{decimals}f}" for value in np.ravel(np.asarray(values, dtype=np.float64))]
    return ", ".join(texts).replace("-", "−")
