"""A recurrent layer against attention: what of the first word still reaches the last, in how long a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.attention_jacobian import ask_last, last_output_influence
from core.examples import PROJECTION_SPREAD, Example
from core.recurrence import RecurrentParameters, recurrent_states, size
from core.softmax import Floats

LENGTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Words of the sentences that are compared."""

ALL_UP_TO = 64
"""Width up to which every feature of the last state is looked at."""

_ENOUGH = 12


def measured_features(d_head: int, n_heads: int) -> tuple[int, ...]:
    """Features of the last state whose gradients are measured.

    Parameters
    ----------
    d_head, n_heads : int
        At least 1; the width is their product.

    Returns
    -------
    tuple of int
        All of them up to a width of `ALL_UP_TO`. A wider state costs d_model³ for every word between, so that a
        dozen or a few more stand for all: as many from each head as from the others, evenly spaced. They tell a size to
        about a fifth.

    Examples
    --------
    >>> measured_features(2, 3), measured_features(48, 8)[:4]
    ((0, 1, 2, 3, 4, 5), (0, 24, 48, 72))
    """
    if d_head * n_heads <= ALL_UP_TO:
        return tuple(range(d_head * n_heads))
    each = -(-_ENOUGH // n_heads)
    return tuple(head * d_head + place * d_head // each for head in range(n_heads) for place in range(each))


def stretched(n_words: int, length: int) -> NDArray[np.intp]:
    """A sentence of any length from a reader's words: they come again and again, and the last word stays the last.

    Parameters
    ----------
    n_words : int
        Of the reader's sentence, at least 1.
    length : int
        Wanted, at least 1.

    Returns
    -------
    ndarray of shape (length,)
        Which word of the sentence stands at each position. First and last word are the same for every length from 2.

    Raises
    ------
    ValueError
        A number is below 1.

    Examples
    --------
    >>> stretched(3, 7).tolist(), stretched(3, 2).tolist()
    ([0, 1, 2, 0, 1, 2, 2], [0, 2])
    """
    if min(n_words, length) < 1:
        raise ValueError(f"n_words and length must be at least 1; got {n_words} and {length}")
    return np.append(np.arange(length - 1) % n_words, n_words - 1)


def at_usual_size(example: Example) -> Example:
    """The same projections, brought to the size at which layers usually start.

    Parameters
    ----------
    example : Example
        From `core.examples.draw_example`, whose projections have a spread of 0.5 whatever the width.

    Returns
    -------
    Example
        A spread of 1 / sqrt(d_model), as the recurrent layer's: queries, keys and values then have the spread of the
        words, and the softmax does not saturate in a wide model (Glorot, Bengio 2010).

    Examples
    --------
    >>> from core.examples import draw_example
    >>> example = draw_example(("dog",), d_head=8, n_heads=2)
    >>> bool((at_usual_size(example).w_q == example.w_q / 2).all())
    True
    """
    factor = 1.0 / (PROJECTION_SPREAD * np.sqrt(example.x.shape[1]))
    return replace(example, w_q=factor * example.w_q, w_k=factor * example.w_k, w_v=factor * example.w_v)


@dataclass(frozen=True, slots=True)
class Reach:
    """How much the first and the last word move the last state, for both layers; sizes as in `core.recurrence.size`."""

    recurrent: Floats
    """(length, 2): of the recurrent layer's last state, by the first word and by the last."""
    attention: Floats
    """(length, 2): of attention's last output, all heads joined."""


def by_length(
    example: Example,
    parameters: RecurrentParameters,
    lengths: Sequence[int] = LENGTHS,
    features: Sequence[int] | None = None,
) -> Reach:
    """How much the first and the last word move the last state, in sentences of several lengths.

    Parameters
    ----------
    example : Example
        Words and projections, at least one word.
    parameters : RecurrentParameters
        Of the recurrent layer.
    lengths : sequence of int
        Words of each sentence, made by `stretched`.
    features : sequence of int or None
        Those of the last state that are looked at; None for all.

    Returns
    -------
    Reach
        One row a length.

    Raises
    ------
    ValueError
        There is no word, or a length is below 1.

    Examples
    --------
    >>> from core.examples import draw_example, draw_recurrence
    >>> found = by_length(draw_example(("dog", "bites", "man")), draw_recurrence(8, 1.0), (2, 64))
    >>> bool(found.recurrent[1, 0] < 1e-3 < found.attention[1, 0])
    True
    """
    attention = np.zeros((len(lengths), 2))
    for row, length in enumerate(lengths):
        asked = ask_last(example.x[stretched(len(example.x), length)], example.w_q, example.w_k, example.w_v)
        ends = [0, length - 1]
        attention[row] = last_output_influence(asked, features, ends)[ends]
    return Reach(_recurrent_ends(example.x, parameters, lengths, features), attention)


def _recurrent_ends(
    x: Floats, parameters: RecurrentParameters, lengths: Sequence[int], features: Sequence[int] | None
) -> Floats:
    """The recurrent layer's part of `by_length`.

    Sentences of all lengths begin alike, so one way back through the longest serves all of them: each joins it at the
    place where its own last word stands.
    """
    longest = max(lengths, default=1)
    before = recurrent_states(x[stretched(len(x), longest)][:-1], parameters)
    states = np.vstack([np.zeros(parameters.b.size), before])  # the state before position p is row p
    slopes = (1.0 - states**2)[..., None]
    identity = np.eye(parameters.b.size)
    start = identity if features is None else identity[:, list(features)]
    found = np.zeros((len(lengths), 2))
    # The last word's own step, for every length.
    joining: dict[int, list[tuple[int, Floats]]] = {}
    for row, length in enumerate(lengths):
        last = np.tanh(x[-1] @ parameters.w_x + parameters.b + states[length - 1] @ parameters.w_h)
        carried = (1.0 - last**2)[:, None] * start
        found[row, 1] = size(parameters.w_x @ carried)
        if length == 1:
            found[row, 0] = found[row, 1]
        else:
            joining.setdefault(length - 2, []).append((row, carried))
    rows: list[int] = []
    together = np.empty((parameters.b.size, 0))  # all lengths that are on their way, side by side
    for position in range(longest - 2, -1, -1):
        for row, carried in joining.get(position, ()):
            rows.append(row)
            together = np.hstack([together, carried])
        together = parameters.w_h @ together
        together *= slopes[position + 1]
    for row, block in zip(rows, np.split(parameters.w_x @ together, len(rows), axis=1) if rows else (), strict=True):
        found[row, 0] = size(block)
    return found


def relative(sizes: ArrayLike) -> Floats:
    """Sizes as shares of the last one, the size for the word that is nearest of all.

    Parameters
    ----------
    sizes : array_like of shape (..., n)
        Not negative.

    Returns
    -------
    ndarray of the same shape
        No unit; the last entry is 1. All 0 where the last size is 0.

    Examples
    --------
    >>> relative([[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]]).tolist()
    [[0.25, 0.5, 1.0], [0.0, 0.0, 0.0]]
    """
    values = np.asarray(sizes, dtype=np.float64)
    last = values[..., -1:]
    return np.divide(values, last, out=np.zeros_like(values), where=last > 0)


def first_below(lengths: Sequence[int], shares: ArrayLike, limit: float) -> int | None:
    """The first length from which on every share stays below a limit.

    Parameters
    ----------
    lengths : sequence of int
        In rising order.
    shares : array_like of shape (length,)
        One a length.
    limit : float
        The limit itself is not below it.

    Returns
    -------
    int or None
        None where the share at the greatest length is not below the limit.

    Examples
    --------
    >>> first_below((2, 4, 8), [0.5, 0.004, 0.001], 0.01), first_below((2, 4), [0.5, 0.2], 0.01)
    (4, None)
    """
    below = np.asarray(shares, dtype=np.float64) < limit
    staying = np.logical_and.accumulate(below[::-1])[::-1]
    return lengths[int(staying.argmax())] if staying.any() else None
