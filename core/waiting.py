"""How many steps of a computation must wait for each other: numbers that carry their own depth along."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.recurrence import RecurrentParameters
from core.softmax import Floats

Counts = NDArray[np.intp]


class Stepped(np.lib.mixins.NDArrayOperatorsMixin):
    """Numbers that know how many matrix products stand, one after another, between them and what was given.

    Parameters
    ----------
    values : array_like
        The numbers.
    steps : array_like of int, or None
        One a number; None for numbers that were given, which wait for nothing.

    Notes
    -----
    A product waits for both its factors and is one step more than the later one; whatever is computed entry by entry
    (a sum, tanh, the exponential) rides along with the product before it. Sums of a row and its largest entry do so
    too: hardware adds in a tree, whose few levels are left out here on both sides of the comparison.

    Examples
    --------
    >>> product = np.tanh(Stepped([[1.0, 2.0]]) @ np.eye(2)) @ np.ones((2, 1))
    >>> product.steps.tolist()
    [[2]]
    """

    def __init__(self, values: ArrayLike, steps: ArrayLike | None = None) -> None:
        self.values: Floats = np.asarray(values, dtype=np.float64)
        self.steps: Counts = np.broadcast_to(np.asarray(0 if steps is None else steps, np.intp), self.values.shape)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> "Stepped":
        """Any of NumPy's functions, and beside it what it waits for."""
        given = [one if isinstance(one, Stepped) else Stepped(one) for one in inputs]
        values = getattr(ufunc, method)(*(one.values for one in given), **options)
        if method == "reduce":
            return Stepped(values, np.maximum.reduce(given[0].steps, **options))
        if method != "__call__":
            raise TypeError(f"a function must be called or reduce an axis; got {ufunc.__name__}.{method}")
        if ufunc is np.matmul:
            left, right = given
            # Entry (i, j) waits for all of row i and all of column j.
            latest = np.maximum(left.latest(-1)[..., :, None], right.latest(-2)[..., None, :])
            return Stepped(values, latest + 1)
        return Stepped(values, np.maximum.reduce(np.broadcast_arrays(*(one.steps for one in given))))

    def latest(self, axis: int) -> Counts:
        """Steps of the number along an axis that waits longest."""
        if not any(self.steps.strides):  # one number for all, as for whatever was given: nothing to look through
            return np.asarray(self.steps.take(0, axis))
        return np.asarray(self.steps.max(axis, initial=0))

    @property
    def turned(self) -> "Stepped":
        """Rows and columns exchanged."""
        return Stepped(self.values.swapaxes(-2, -1), self.steps.swapaxes(-2, -1))

    def row(self, position: int) -> "Stepped":
        """One row, as a matrix of one row."""
        return Stepped(self.values[position : position + 1], self.steps[position : position + 1])


def count_recurrence(x: ArrayLike, parameters: RecurrentParameters) -> Stepped:
    """The states of a recurrent layer, and the steps each of them waits for.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        One row a word, at least one.
    parameters : RecurrentParameters
        Of the layer.

    Returns
    -------
    Stepped
        (position, d_state): the same numbers as `core.recurrence.recurrent_states`.

    Raises
    ------
    ValueError
        There is no word.

    Examples
    --------
    >>> one = RecurrentParameters(np.ones((1, 1)), np.ones((1, 1)), np.zeros(1))
    >>> count_recurrence([[0.5], [0.0], [0.0]], one).steps.ravel().tolist()
    [1, 2, 3]
    """
    from_words = Stepped(_rows(x)) @ parameters.w_x + parameters.b  # of all words at once
    state = Stepped(np.zeros((1, parameters.b.size)))
    states = []
    for position in range(len(from_words.values)):
        state = np.tanh(from_words.row(position) + state @ parameters.w_h)
        states.append(state)
    return Stepped(np.vstack([one.values for one in states]), np.vstack([one.steps for one in states]))


def count_attention(x: ArrayLike, w_q: ArrayLike, w_k: ArrayLike, w_v: ArrayLike) -> Stepped:
    """Attention's outputs, and the steps each of them waits for.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        One row a word, at least one.
    w_q, w_k, w_v : array_like of shape (..., d_model, d_head)
        Projections of a head, or of several.

    Returns
    -------
    Stepped
        (..., position, d_head): the same numbers as `core.attention.self_attention`.

    Raises
    ------
    ValueError
        There is no word.

    Examples
    --------
    >>> count_attention(np.eye(5), *[np.ones((5, 2))] * 3).steps.tolist() == [[3, 3]] * 5
    True
    """
    rows = Stepped(_rows(x))
    q, k, v = (rows @ np.asarray(w, dtype=np.float64) for w in (w_q, w_k, w_v))
    scores = q @ k.turned * (1.0 / np.sqrt(q.values.shape[-1]))
    powers = np.exp(scores - np.maximum.reduce(scores, axis=-1, keepdims=True))
    output: Stepped = (powers / np.add.reduce(powers, axis=-1, keepdims=True)) @ v
    return output


def _rows(x: ArrayLike) -> Floats:
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2 or not len(rows):
        raise ValueError(f"x must have shape (position, d_model) with at least one position; got {rows.shape}")
    return rows
