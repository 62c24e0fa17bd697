"""A query that may attend to nothing: what becomes of its weights under the rules that libraries follow."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from core.masks import Booleans
from core.softmax import Floats, softmax

Rule = Literal["zeros", "plain softmax", "replaced", "added"]
RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rule makes of a query without any allowed key."""

    rule: Rule
    weights: Floats
    """(key,): its row."""
    rows_lost: int
    """Rows of the next attention that hold a NaN."""


def by_every_rule(scaled_scores: ArrayLike, may_attend: Booleans, values: ArrayLike, query: int) -> tuple[Outcome, ...]:
    """What each rule makes of one query.

    Parameters
    ----------
    scaled_scores, may_attend
        As in `weights_by_rule`, of one sentence.
    values : array_like of shape (key, d_value)
        What the weights mix.
    query : int
        Its position.

    Returns
    -------
    tuple of Outcome
        In the order of `RULES`.

    Examples
    --------
    >>> outcomes = by_every_rule([[0.0]], np.array([[False]]), [[1.0]], 0)
    >>> [outcome.rows_lost for outcome in outcomes]
    [0, 1, 0, 0]
    """
    found = [(rule, weights_by_rule(scaled_scores, may_attend, rule)) for rule in RULES]
    return tuple(Outcome(rule, weights[query], rows_lost_next(weights, values)) for rule, weights in found)


def weights_by_rule(scaled_scores: ArrayLike, may_attend: Booleans, rule: Rule) -> Floats:
    """Attention weights under one rule for what is masked; the rules differ in rows without any allowed key only.

    Parameters
    ----------
    scaled_scores : array_like of shape (..., query, key)
        Finite, before the mask.
    may_attend : ndarray of bool of the same shape
        True where the query may attend to the key.
    rule : str
        "zeros": minus infinity before the softmax, zeros for a row that holds nothing else (this project; PyTorch's
        ``scaled_dot_product_attention``). "plain softmax": minus infinity, and 0 / 0 for such a row. "replaced": a
        masked score becomes a large negative number. "added": the most negative single-precision number is added to
        it, in single precision.

    Returns
    -------
    ndarray of the same shape
        For a row without any allowed key: zeros, NaN, and twice equal shares.

    Raises
    ------
    ValueError
        There is no such rule, the mask is not boolean, or the shapes differ.

    Notes
    -----
    Read in the sources: "replaced" is what ``jax.nn.dot_product_attention`` (-0.7 times the largest number, on its
    default path), Flax's ``dot_product_attention_weights`` (the most negative number) and Keras' ``Softmax`` layer with
    a mask (-1e9) do; "added" is the mask that Hugging Face's Transformers builds for its eager attention. "plain
    softmax" is PyTorch's own softmax, and so ``nn.MultiheadAttention`` when it returns its weights.

    Examples
    --------
    >>> scores, nothing = [[1.0, 2.0]], np.array([[False, False]])
    >>> [weights_by_rule(scores, nothing, rule).tolist()[0] for rule in ("zeros", "plain softmax", "replaced", "added")]
    [[0.0, 0.0], [nan, nan], [0.5, 0.5], [0.5, 0.5]]
    """
    scores = np.asarray(scaled_scores, dtype=np.float64)
    if may_attend.dtype != np.bool_ or may_attend.shape != scores.shape:
        raise ValueError(
            f"may_attend must be boolean, with the shape {scores.shape}; got {may_attend.dtype}, {may_attend.shape}"
        )
    if rule == "zeros":
        return softmax(np.where(may_attend, scores, -np.inf))
    if rule == "plain softmax":
        weights = softmax(np.where(may_attend, scores, -np.inf))
        return np.where(may_attend.any(axis=-1, keepdims=True), weights, np.nan)
    if rule == "replaced":
        return softmax(np.where(may_attend, scores, -0.7 * np.finfo(np.float32).max))
    if rule == "added":
        # The scores are lost in the rounding: next to 3.4e38 single precision knows no smaller steps than 2e31.
        single = scores.astype(np.float32) + np.where(may_attend, 0.0, np.finfo(np.float32).min).astype(np.float32)
        return softmax(single)
    raise ValueError(f"rule must be one of {RULES}; got {rule!r}")


def rows_lost_next(weights: ArrayLike, values: ArrayLike) -> int:
    """How many rows of the next attention hold a NaN, when this one's output is its input.

    Parameters
    ----------
    weights : array_like of shape (query, key)
        May hold NaN.
    values : array_like of shape (key, d_value)
        Mixed by the weights.

    Returns
    -------
    int
        0 where no weight is NaN; else every row, because each query of the next layer asks the lost one too.

    Examples
    --------
    >>> rows_lost_next([[1.0, 0.0], [np.nan, np.nan]], [[1.0], [2.0]])
    2
    """
    with np.errstate(invalid="ignore"):
        output = np.asarray(weights, dtype=np.float64) @ np.asarray(values, dtype=np.float64)
        scores = output @ output.T
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        following = exponentials / exponentials.sum(axis=-1, keepdims=True) @ output
    return int(np.isnan(following).any(axis=-1).sum())
