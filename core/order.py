"""Orders of a sentence: reading them, drawing them, and knowing when none can be seen."""

import itertools

import numpy as np


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
        if any(words[new] != words[old] for old, new in enumerate(order)):
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
        raise ValueError(f"{wanted}, separated by spaces; given: {text}")
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
