"""What the last word takes from each word by attention, and how much each of them still moves it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.attention import attend
from core.softmax import Floats


@dataclass(frozen=True, slots=True)
class LastQuery:
    """The last word's question to all words, and what came of it; every head beside the others."""

    q: Floats
    """(head, d_head): of the last word."""
    k: Floats
    """(head, position, d_head)."""
    v: Floats
    """(head, position, d_head)."""
    weights: Floats
    """(head, position): of the last word; each row sums to 1."""
    output: Floats
    """(head, d_head): of the last word."""
    w_q: Floats
    """(head, d_model, d_head)."""
    w_k: Floats
    w_v: Floats

    @property
    def n_features(self) -> int:
        """Of the joined output."""
        return self.output.size


def ask_last(x: ArrayLike, w_q: ArrayLike, w_k: ArrayLike, w_v: ArrayLike) -> LastQuery:
    """Attention of the last word to all words, itself included.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        One row a word, at least one.
    w_q, w_k, w_v : array_like of shape (head, d_model, d_head)
        Each head's projections.

    Returns
    -------
    LastQuery
        The last row of what `core.multi_head.multi_head_attention` computes without w_o, with its operands.

    Raises
    ------
    ValueError
        There is no word, or the shapes do not fit.

    Examples
    --------
    >>> asked = ask_last(np.eye(2), *[np.ones((1, 2, 1))] * 3)
    >>> asked.weights.tolist(), asked.output.tolist()
    ([[0.5, 0.5]], [[1.0]])
    """
    rows, to_q, to_k, to_v = (np.asarray(array, dtype=np.float64) for array in (x, w_q, w_k, w_v))
    if rows.ndim != 2 or not len(rows):
        raise ValueError(f"x must have shape (position, d_model) with at least one position; got {rows.shape}")
    if any(w.ndim != 3 or w.shape != to_q.shape or w.shape[1] != rows.shape[1] for w in (to_q, to_k, to_v)):
        given = ", ".join(str(w.shape) for w in (to_q, to_k, to_v))
        raise ValueError(f"w_q, w_k and w_v must have one shape (head, {rows.shape[1]}, d_head); got {given}")
    q, k, v = rows[-1:] @ to_q, rows @ to_k, rows @ to_v
    run = attend(q, k, v)
    return LastQuery(q[:, 0], k, v, run.weights[:, 0], run.output[:, 0], to_q, to_k, to_v)


def last_output_jacobian(asked: LastQuery, position: int, features: Sequence[int] | None = None) -> Floats:
    """Derivative of the last word's joined output by one word.

    Parameters
    ----------
    asked : LastQuery
        From `ask_last`.
    position : int
        Of the word, from 0.
    features : sequence of int or None
        Features of the joined output that are looked at, head 0's first; None for all.

    Returns
    -------
    ndarray of shape (d_model, feature)
        Row i: how each feature of the output moves with feature i of the word.

    Raises
    ------
    ValueError
        The position or a feature does not exist.

    Notes
    -----
    By the product rule a word t moves the output z = sum_j w_j v_j of a head in two ways, and both carry its weight:
    w_t (w_v + (w_k q / sqrt(d)) (v_t - z)). The last word has a third, through its query:
    w_q sum_j w_j k_j (v_j - z) / sqrt(d). No factor is repeated: however far away the word stands, there is one weight.

    Examples
    --------
    >>> asked = ask_last([[0.0], [0.0]], [[[1.0]]], [[[1.0]]], [[[3.0]]])
    >>> last_output_jacobian(asked, 0).tolist()
    [[1.5]]
    """
    return np.asarray(_jacobians(asked, [position], _chosen(asked, features))[0])


def _chosen(asked: LastQuery, features: Sequence[int] | None) -> NDArray[np.intp]:
    chosen = np.arange(asked.n_features) if features is None else np.asarray(features, dtype=np.intp)
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < asked.n_features:
        raise ValueError(f"features must be from 0 to {asked.n_features - 1}; got {chosen.tolist()}")
    return chosen


def _jacobians(asked: LastQuery, positions: Sequence[int], chosen: NDArray[np.intp]) -> Floats:
    """As in `last_output_jacobian`, for several words at once: (position, d_model, feature)."""
    n_heads, n_positions, d_head = asked.k.shape
    at = np.asarray(positions, dtype=np.intp)
    if at.size and not 0 <= at.min() <= at.max() < n_positions:
        wrong = next(position for position in positions if not 0 <= position < n_positions)
        raise ValueError(f"position must be from 0 to {n_positions - 1}; got {wrong}")
    head, place = np.divmod(chosen, d_head)  # (feature,): the head that a feature belongs to, and where in it
    scale = 1.0 / np.sqrt(d_head)
    weights = asked.weights[head].T  # (position, feature)
    off = asked.v[head, :, place].T - asked.output[head, place]  # (position, feature): v_t - z
    by_value = asked.w_v[head, :, place].T  # (d_model, feature)
    by_score = (asked.w_k @ asked.q[..., None] * scale)[head, :, 0].T  # (d_model, feature): of the word's own score
    found = weights[at, None] * (by_value + by_score * off[at, None])  # (position, d_model, feature)
    last = at == n_positions - 1
    if last.any():
        # A feature hangs on the queries of its own head alone.
        of_head = np.arange(n_heads)[:, None, None] == head  # (head, 1, feature)
        by_query = asked.k.swapaxes(-2, -1) @ np.where(of_head, weights * off, 0.0) * scale  # (head, d_head, feature)
        found[last] += (asked.w_q @ by_query).sum(axis=0)
    return np.asarray(found)


def last_output_influence(
    asked: LastQuery, features: Sequence[int] | None = None, positions: Sequence[int] | None = None
) -> Floats:
    """How much each word moves the last word's joined output.

    Parameters
    ----------
    asked, features
        As in `last_output_jacobian`.
    positions : sequence of int or None
        Words that are asked for; None for all.

    Returns
    -------
    ndarray of shape (position,)
        `core.recurrence.size` of each exact Jacobian; 0 for a word that was not asked for.

    Raises
    ------
    ValueError
        A position or a feature does not exist.

    Examples
    --------
    >>> last_output_influence(ask_last(np.zeros((4, 1)), *[np.ones((1, 1, 1))] * 3)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    n_positions = asked.k.shape[1]
    wanted = list(range(n_positions) if positions is None else positions)
    jacobians = _jacobians(asked, wanted, _chosen(asked, features))
    found = np.zeros(n_positions)
    found[wanted] = np.linalg.norm(jacobians, axis=(1, 2)) / np.sqrt(jacobians.shape[2])  # `size` of each
    return np.asarray(found)


def influence_by_head(asked: LastQuery, position: int, features: Sequence[int] | None = None) -> Floats:
    """How much one word moves each head's part of the last word's output.

    Parameters
    ----------
    asked, position, features
        As in `last_output_jacobian`; the same number of features of every head.

    Returns
    -------
    ndarray of shape (head,)
        Their root mean square is the word's entry of `last_output_influence`.

    Raises
    ------
    ValueError
        The position or a feature does not exist, or the heads have different numbers of features.

    Examples
    --------
    >>> asked = ask_last(np.zeros((4, 2)), *[np.ones((2, 2, 1))] * 3)
    >>> (4 * influence_by_head(asked, 1)).round(6).tolist()
    [1.414214, 1.414214]
    """
    n_heads, d_head = asked.output.shape
    head = _chosen(asked, features) // d_head  # (feature,)
    of_each = np.bincount(head, minlength=n_heads)
    if of_each.min() != of_each.max():
        raise ValueError(f"features must hold as many of each head; got {of_each.tolist()}")
    lengths = np.linalg.norm(last_output_jacobian(asked, position, features), axis=0)  # (feature,)
    return np.asarray(np.sqrt(np.bincount(head, weights=lengths**2, minlength=n_heads) / of_each))
