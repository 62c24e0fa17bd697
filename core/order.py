"""Orders of a sentence: reading and drawing them, knowing when none can be seen, and what attention makes of two."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.attention import self_attention
from core.softmax import Floats
from core.tokens import shorten


def default_order(words: tuple[str, ...]) -> tuple[int, ...] | None:
    """The first word changes places with the last word that differs from it.

    Parameters
    ----------
    words : tuple of str
        The sentence.

    Returns
    -------
    tuple of int or None
        Position in the sentence of each word of the new order; None where no order can be told from another,
        because there is one word, none, or only equal words.

    Examples
    --------
    >>> default_order(("dog", "bites", "the", "man"))
    (3, 1, 2, 0)
    >>> default_order(("la", "la")) is None
    True
    """
    for last in range(len(words) - 1, 0, -1):
        if words[last] != words[0]:
            order = list(range(len(words)))
            order[0], order[last] = last, 0
            return tuple(order)
    return None


def reads_as_before(words: tuple[str, ...], order: tuple[int, ...]) -> bool:
    """Whether a sentence reads the same in another order, because only equal words changed places, or none.

    Parameters
    ----------
    words : tuple of str
        The sentence.
    order : tuple of int
        Position in the sentence of each word of the new order.

    Returns
    -------
    bool
        True where nothing can be seen.

    Examples
    --------
    >>> reads_as_before(("the", "cat", "the"), (2, 1, 0)), reads_as_before(("the", "cat"), (1, 0))
    (True, False)
    """
    return all(words[new] == words[old] for old, new in enumerate(order))


def draw_order(words: tuple[str, ...], rng: np.random.Generator) -> tuple[int, ...] | None:
    """A random order that reads differently from the sentence.

    Parameters
    ----------
    words : tuple of str
        The sentence; equal words are allowed.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    tuple of int or None
        As in `default_order`; never an order in which the sentence reads as before.

    Examples
    --------
    >>> draw_order(("a", "b"), np.random.default_rng(0))
    (1, 0)
    """
    if default_order(words) is None:
        return None
    # Two different words fall in their old places with a chance of at most one half, so this ends soon.
    while True:
        order = tuple(int(position) for position in rng.permutation(len(words)))
        if not reads_as_before(words, order):
            return order


def read_order(text: str, n_words: int) -> tuple[int, ...]:
    """An order as the reader writes it.

    Parameters
    ----------
    text : str
        The positions in their new order, separated by spaces or commas: "3 1 2 0".
    n_words : int
        Words in the sentence.

    Returns
    -------
    tuple of int
        Every position from 0 to n_words - 1 once.

    Raises
    ------
    ValueError
        A position is missing, repeated, out of range or no number.

    Examples
    --------
    >>> read_order("3, 1, 2, 0", 4)
    (3, 1, 2, 0)
    """
    wanted = f"wanted each of 0 to {n_words - 1} once"
    parts = text.replace(",", " ").split()
    if not all(part.isascii() and part.isdigit() and len(part) <= 4 for part in parts):
        raise ValueError(f"{wanted}, separated by spaces; given: {shorten(text, 40)}")
    order = tuple(int(part) for part in parts)
    if sorted(order) != list(range(n_words)):
        missing = sorted(set(range(n_words)) - set(order))
        listed = ", ".join(str(position) for position in itertools.islice(missing, 5))
        given = f"{len(order)} positions" + (f", without {listed}" if missing else "")
        raise ValueError(f"{wanted}; given: {given}")
    return order


def write_order(order: tuple[int, ...]) -> str:
    """An order as `read_order` reads it.

    Parameters
    ----------
    order : tuple of int
        Positions in their new order.

    Returns
    -------
    str
        The positions, separated by spaces.

    Examples
    --------
    >>> write_order((3, 1, 2, 0))
    '3 1 2 0'
    """
    return " ".join(str(position) for position in order)


@dataclass(frozen=True, slots=True)
class TwoOrders:
    """The same head run over a sentence and over the same words in another order."""

    output: Floats
    """(position, d_head) of the sentence as it stands."""
    moved_output: Floats
    """(position, d_head): the same rows, each where its word stands in the new order."""
    shuffled_output: Floats
    """(position, d_head) of the sentence in the new order."""
    difference: Floats
    """(position, d_head): shuffled_output - moved_output; all but 0 where the order makes no difference."""

    @property
    def largest_difference(self) -> float:
        """Largest absolute difference; 0 for an empty sentence."""
        return float(np.abs(self.difference).max(initial=0.0))


def run_two_orders(
    x: Floats,
    w_q: Floats,
    w_k: Floats,
    w_v: Floats,
    order: tuple[int, ...],
    added: Floats | None = None,
    turn: Callable[[Floats], Floats] | None = None,
) -> TwoOrders:
    """Compare a shuffled sentence's outputs with the sentence's outputs, shuffled.

    Parameters
    ----------
    x : ndarray of shape (position, d_model)
        One row a word.
    w_q, w_k, w_v : ndarray of shape (d_model, d_head)
        One head's projections.
    order : tuple of int
        Position in the sentence of each word of the new order.
    added : ndarray of shape (position, d_model) or None
        Added to the rows by where they stand, before the projections: an encoding of positions.
    turn : callable or None
        Applied to q and k, as in `core.attention.self_attention`.

    Returns
    -------
    TwoOrders
        Both outputs and their difference.

    Raises
    ------
    ValueError
        The order does not hold every position once.

    Notes
    -----
    Without positions attention is equivariant: f(P x) = P f(x) for every permutation P. The rows move with their
    words; they do not stay where they are.

    Examples
    --------
    >>> x, w = np.array([[1.0, 0.0], [0.0, 2.0]]), np.eye(2)
    >>> run_two_orders(x, w, w, w, (1, 0)).largest_difference < 1e-15
    True
    """
    if sorted(order) != list(range(len(x))):
        raise ValueError(f"order must hold each of 0 to {len(x) - 1} once; got {order}")
    positions = 0.0 if added is None else added
    moved = list(order)
    output = self_attention(x + positions, w_q, w_k, w_v, turn=turn).attention.output
    shuffled = self_attention(x[moved] + positions, w_q, w_k, w_v, turn=turn).attention.output
    return TwoOrders(output, output[moved], shuffled, shuffled - output[moved])
