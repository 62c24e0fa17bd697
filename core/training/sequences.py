"""Sequences of symbols to learn from: reversed, copied, sorted, and random tables of what follows what."""

import string

import numpy as np

from core.training.model import Integers
from core.training.task import NONE, Batch, no_cells

LETTERS = tuple(string.ascii_lowercase)
DIGITS = tuple(string.digits)
BLANK = "_"
"""What a copy of what is not there yet is called."""
END = "|"
"""Stands between the digits and their sorted copy."""
N_SORTED = 6
TABLE_LETTERS = tuple(string.ascii_lowercase[:16])
N_REPEATED = 12
FOLLOWS = 0.9
"""Share of the steps at which the table decides what comes next; a random letter otherwise."""


def reverse(n_symbols: int, length: int, rng: np.random.Generator, n: int) -> Batch:
    """Random sequences, each to be written backwards.

    Parameters
    ----------
    n_symbols, length : int
        Size of the alphabet, symbols of a sequence.
    rng : numpy.random.Generator
        The only source of randomness.
    n : int
        Sequences.

    Returns
    -------
    Batch
        Row i should look at the key that stands as far from the end as i from the start.

    Examples
    --------
    >>> batch = reverse(26, 5, np.random.default_rng(0), 1)
    >>> (batch.targets == batch.tokens[:, ::-1]).all(), batch.lit[0, 0].tolist()
    (np.True_, [4, 3, 2, 1, 0])
    """
    tokens = rng.integers(n_symbols, size=(n, length))
    targets = tokens[:, ::-1].copy()
    return Batch(tokens, targets, lit_reverse(tokens), targets)


def lit_reverse(tokens: Integers) -> Integers:
    """Cells of `reverse`: the anti-diagonal.

    Parameters
    ----------
    tokens : ndarray of shape (sequence, position)
        The sequences.

    Returns
    -------
    ndarray of int of shape (picture, sequence, query)
        See `Batch.lit`.

    Examples
    --------
    >>> lit_reverse(np.zeros((1, 3), int)).tolist()
    [[[2, 1, 0]]]
    """
    lit = no_cells(1, tokens)
    lit[0] = np.arange(tokens.shape[1])[::-1]
    return lit


def copy_back(back: int, length: int, rng: np.random.Generator, n: int) -> Batch:
    """Random letters; at each position the one that stood so many places before is to be written.

    Parameters
    ----------
    back, length : int
        Places to look back, letters of a sequence.
    rng, n
        As in `reverse`.

    Returns
    -------
    Batch
        Where there is no such letter yet, the blank is to be written.

    Examples
    --------
    >>> batch = copy_back(2, 4, np.random.default_rng(0), 1)
    >>> batch.tokens.tolist(), batch.targets.tolist(), batch.lit.tolist()
    ([[22, 16, 13, 7]], [[26, 26, 22, 16]], [[[-1, -1, 0, 1]]])
    """
    tokens = rng.integers(len(LETTERS), size=(n, length))
    targets = np.full_like(tokens, len(LETTERS))
    targets[:, back:] = tokens[:, :-back]
    return Batch(tokens, targets, lit_copy_back(back, tokens), targets)


def lit_copy_back(back: int, tokens: Integers) -> Integers:
    """Cells of `copy_back`: a line so far below the diagonal.

    Parameters
    ----------
    back : int
        Places to look back.
    tokens : ndarray of shape (sequence, position)
        The sequences.

    Returns
    -------
    ndarray of int of shape (picture, sequence, query)
        See `Batch.lit`.

    Examples
    --------
    >>> lit_copy_back(2, np.zeros((1, 5), int)).tolist()
    [[[-1, -1, 0, 1, 2]]]
    """
    lit = no_cells(1, tokens)
    lit[0, :, back:] = np.arange(tokens.shape[1])[:-back]
    return lit


def sort(rng: np.random.Generator, n: int) -> Batch:
    """Six different digits, a bar, and the same digits in order, which are to be written one after the other.

    Parameters
    ----------
    rng, n
        As in `reverse`.

    Returns
    -------
    Batch
        The last digit is not read, only written, so that there are twelve positions.

    Examples
    --------
    >>> batch = sort(np.random.default_rng(0), 1)
    >>> batch.tokens[0].tolist(), batch.targets[0, 6:].tolist()
    ([4, 6, 2, 7, 3, 5, 10, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 7])
    """
    digits = rng.permuted(np.tile(np.arange(len(DIGITS)), (n, 1)), axis=1)[:, :N_SORTED]
    in_order = np.sort(digits, axis=1)
    bar = np.full((n, 1), len(DIGITS))
    tokens = np.concatenate([digits, bar, in_order[:, :-1]], axis=1)
    targets = np.full_like(tokens, NONE)
    targets[:, N_SORTED:] = in_order
    return Batch(tokens, targets, lit_sort(tokens), targets)


def lit_sort(tokens: Integers) -> Integers:
    """Cells of `sort`: each row that writes looks at the digit that it is to write.

    Parameters
    ----------
    tokens : ndarray of shape (sequence, position)
        Six different digits, the bar, and as many of the sorted ones as there are.

    Returns
    -------
    ndarray of int of shape (picture, sequence, query)
        See `Batch.lit`.

    Examples
    --------
    >>> lit_sort(np.array([[4, 6, 2, 7, 3, 5, 10, 2, 3]])).tolist()
    [[[-1, -1, -1, -1, -1, -1, 2, 4, 0]]]
    """
    lit = no_cells(1, tokens)
    n_rows = tokens.shape[1] - N_SORTED
    lit[0, :, N_SORTED:] = np.argsort(tokens[:, :N_SORTED], axis=1)[:, :n_rows]
    return lit


def tables(length: int, n_pictures: int, rng: np.random.Generator, n: int) -> Batch:
    """Letters that follow a table of successors, a new random order of all letters for each sequence.

    Parameters
    ----------
    length, n_pictures : int
        Letters of a sequence; attention matrices of the model.
    rng, n
        As in `reverse`.

    Returns
    -------
    Batch
        The next letter is to be written at every position; known are those that followed the same letter before.

    Notes
    -----
    What follows a letter can be known only from an earlier copy of it in the same sequence: "in-context" learning as in
    Olsson et al. 2022, *In-context Learning and Induction Heads*.

    Examples
    --------
    >>> tables(32, 2, np.random.default_rng(0), 5).tokens.shape
    (5, 32)
    """
    n_letters = len(TABLE_LETTERS)
    table = rng.permuted(np.tile(np.arange(n_letters), (n, 1)), axis=1)
    decided = rng.random((n, length)) < FOLLOWS
    drawn = rng.integers(n_letters, size=(n, length + 1))
    letters = np.empty((n, length + 1), dtype=np.int64)
    letters[:, 0] = drawn[:, 0]
    rows = np.arange(n)
    for place in range(length):
        follows = table[rows, letters[:, place]]
        letters[:, place + 1] = np.where(decided[:, place], follows, drawn[:, place + 1])
    tokens, targets = letters[:, :-1], letters[:, 1:].copy()
    lit = lit_tables(n_pictures, tokens)
    # Where the letter after the last earlier copy is the one that comes next, looking there names it.
    found = np.take_along_axis(tokens, np.maximum(lit[-1], 0), axis=1)
    sure = np.where((lit[-1] != NONE) & (found == targets), targets, NONE)
    return Batch(tokens, targets, lit, sure)


def repeated(n_pictures: int, rng: np.random.Generator, n: int) -> Batch:
    """Twelve different random letters, twice: from the second time on, what comes next can be known.

    Parameters
    ----------
    n_pictures : int
        Attention matrices of the model.
    rng, n
        As in `reverse`.

    Returns
    -------
    Batch
        Targets from the second copy of the first letter on. Not what the models of `tables` are trained on.

    Examples
    --------
    >>> batch = repeated(2, np.random.default_rng(0), 3)
    >>> batch.tokens.shape, (batch.targets[0] != NONE).nonzero()[0].tolist()
    ((3, 24), [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22])
    """
    letters = rng.permuted(np.tile(np.arange(len(TABLE_LETTERS)), (n, 1)), axis=1)[:, :N_REPEATED]
    tokens = np.tile(letters, 2)
    targets = np.full_like(tokens, NONE)
    targets[:, N_REPEATED:-1] = tokens[:, N_REPEATED + 1 :]
    lit = lit_tables(n_pictures, tokens)
    lit[-1, :, -1] = NONE  # nothing is asked of the last letter
    return Batch(tokens, targets, lit, targets)


def lit_tables(n_pictures: int, tokens: Integers) -> Integers:
    """Cells of `tables`: the letter before in the first layer, the one after the last earlier copy in the second.

    Parameters
    ----------
    n_pictures : int
        Attention matrices of the model.
    tokens : ndarray of shape (sequence, position)
        The sequences.

    Returns
    -------
    ndarray of int of shape (picture, sequence, query)
        See `Batch.lit`.

    Examples
    --------
    >>> lit_tables(2, np.array([[3, 7, 5, 3]])).tolist()
    [[[-1, 0, 1, 2]], [[-1, -1, -1, 1]]]
    """
    lit = no_cells(n_pictures, tokens)
    n = tokens.shape[1]
    if n_pictures > 1:
        lit[0, :, 1:] = np.arange(n - 1)
    same = tokens[:, :, None] == tokens[:, None, :]  # (sequence, query, key)
    places = np.where(same & (np.arange(n)[:, None] > np.arange(n)), np.arange(n), NONE - 1)
    lit[-1] = np.maximum(places.max(axis=-1) + 1, NONE)
    return lit
