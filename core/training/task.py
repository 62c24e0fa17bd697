"""What a task is: where its sequences come from, which cells should light up, and how a model of it is trained."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.training.model import Design, Integers

NONE = -1
"""In targets and lit cells: nothing is asked of this row."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences of one length with their answers."""

    tokens: Integers
    """(sequence, position): numbers of words."""
    targets: Integers
    """(sequence, position): the word to be named there, or the position to be pointed at; `NONE` where none is."""
    lit: Integers
    """(picture, sequence, query): the key that this row of this picture should look at; `NONE` where none is."""
    sure: Integers
    """(sequence, position): the targets that can be known, others `NONE`; what accuracy is counted over."""


Draw = Callable[[np.random.Generator, int], Batch]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained."""

    rate: float
    """Largest learning rate."""
    batch: int
    """Sequences a step."""
    steps: int
    every: int
    """Steps from one snapshot to the next."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to learn, and one kind of model that learns it."""

    name: str
    """Of the saved run and in links."""
    words: tuple[str, ...]
    """The vocabulary: a word's number is its place."""
    design: Design
    recipe: Recipe
    draw: Draw
    """Sequences to learn from, from a generator."""
    fresh: Draw
    """Sequences that training never shows, where the task keeps some back; else drawn in the same way."""
    probe: tuple[str, ...]
    """The sequence whose attention is kept at every snapshot."""
    lit: Callable[[Integers], Integers]
    """Tokens (sequence, position) to the cells that should light up, (picture, sequence, query)."""
    spaced: bool
    """Whether a reader writes words with spaces between them; else symbols side by side."""
    lengths: tuple[int, int]
    """Fewest and most words of a reader's own sequence."""
    needs: Callable[[tuple[str, ...]], str] = lambda words: ""
    """What a reader's own sequence lacks, as a sentence; empty where it lacks nothing."""
    prefix: tuple[str, ...] = ()
    """Put before a reader's own sequence."""

    def numbers(self, words: Sequence[str]) -> Integers:
        """Words by their numbers.

        Parameters
        ----------
        words : sequence of str
            All of the vocabulary.

        Returns
        -------
        ndarray of shape (1, position)
            A batch of one.
        """
        return np.array([[self.words.index(word) for word in words]])


def no_cells(n_pictures: int, tokens: Integers) -> Integers:
    """Cells of a task none of which should light up yet.

    Parameters
    ----------
    n_pictures : int
        Attention matrices of a run.
    tokens : ndarray of shape (sequence, position)
        The sequences.

    Returns
    -------
    ndarray of int of shape (picture, sequence, query)
        All `NONE`.

    Examples
    --------
    >>> no_cells(2, np.zeros((3, 5), int)).shape
    (2, 3, 5)
    """
    return np.full((n_pictures, *tokens.shape), NONE)


def read(task: Task, text: str) -> tuple[str, ...]:
    """A reader's own sequence.

    Parameters
    ----------
    task : Task
        Whose vocabulary is meant.
    text : str
        What was typed; capitals do not matter where the vocabulary tells the words apart without them.

    Returns
    -------
    tuple of str
        Words of the vocabulary.

    Raises
    ------
    ValueError
        A word is not in the vocabulary, or the length or the kind of sequence is not what the model was trained on;
        the message says what is wanted and what was given.

    Examples
    --------
    >>> from core.training.tasks import TASKS
    >>> read(TASKS["sort"], "5 2 904")
    Traceback (most recent call last):
    ...
    ValueError: wanted 6 symbols, since the model was trained on that; got 5
    """
    known = {word.casefold(): word for word in task.words}
    given = text.split() if task.spaced else list("".join(text.split()))
    unknown = [word for word in given if word.casefold() not in known]
    kind = "words" if task.spaced else "symbols"
    if unknown:
        shown = ", ".join(f"“{word[:24]}”" for word in dict.fromkeys(unknown))
        raise ValueError(f"wanted {kind} that the model was trained on; it does not know {shown}")
    fewest, most = task.lengths
    if not fewest <= len(given) <= most:
        wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        raise ValueError(f"wanted {wanted} {kind}, since the model was trained on that; got {len(given)}")
    words = tuple(known[word.casefold()] for word in given)
    lacking = task.needs(words)
    if lacking:
        raise ValueError(lacking)
    return (*task.prefix, *words)
