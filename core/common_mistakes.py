"""The ten mistakes, each made and not made with one reader's sentence: both matrices, the symptom, the test for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from core.agreement import TOLERANCE, row_differences
from core.attention import attend, self_attention
from core.cost import attention_cost
from core.examples import Example, draw_example
from core.masks import Booleans, causal_mask
from core.missing_key import Outcome, by_every_rule, weights_by_rule
from core.mistakes import (
    attend_across_the_batch,
    attend_over_the_wrong_axis,
    project_by_the_transpose,
    split_heads_by_reshape_alone,
)
from core.multi_head import split_heads
from core.next_word import Recital, learn_by_heart
from core.order import default_order, run_two_orders
from core.positions import sinusoidal_encoding
from core.scaling import unit_spread
from core.softmax import Floats, entropy, jacobian_norm

Mistake = Literal[
    "no scale",
    "no causal mask",
    "no positions",
    "batch first",
    "quadratic cost",
    "transposed weights",
    "inverted mask",
    "softmax axis",
    "no allowed key",
    "split heads",
]
MISTAKES: tuple[Mistake, ...] = get_args(Mistake)

LENGTHS = (1024, 32 * 1024, 128 * 1024)
"""Tokens for which the cost is told beside the reader's own."""

FILL = -1e9
"""What stands for a masked score where minus infinity is avoided."""

WIDE = 64
"""Size of a key at which a missing scale factor is easy to see."""


@dataclass(frozen=True, slots=True)
class Side:
    """What is shown of one way to compute it."""

    values: Floats
    """A matrix."""
    rows: str
    """What a row is: "query", "word", "sentence" or "tokens"."""
    columns: str
    may_attend: Booleans | None = None
    """Of the same shape; None where nothing is masked."""
    logits: Floats | None = None
    """What went into the softmax, where the matrix holds weights."""
    qkv: tuple[Floats, Floats, Floats] | None = None
    """What was compared and mixed, where one call of `core.attention.attend` gives the weights."""
    scale: float | None = None
    """Handed to that call."""
    operands: tuple[Floats, Floats] | None = None
    """Of feature 0 in the row that is looked at: what is multiplied and summed, or the two that are compared."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number, computed both ways."""

    name: str
    """Our own words."""
    wrong: float
    right: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A mistake and its fix."""

    wrong: Side
    right: Side
    measures: tuple[Measure, ...]
    """The symptom."""
    test: Measure
    """The number that gives it away."""
    found: tuple[bool, bool]
    """Whether the test strikes: on the wrong computation, on the right one."""
    weights: tuple[Floats, Floats]
    """(..., query, key): attention weights of both, whatever is shown; equal where the mistake leaves them alone."""
    recital: tuple[Recital, Recital] | None = None
    """Of the generator without its mask, and with it."""
    outcomes: tuple[Outcome, ...] = ()
    """Of each rule, for the query without any allowed key."""

    @property
    def largest_difference(self) -> float:
        """Between the two matrices; infinite where their shapes differ."""
        wrong, right = self.wrong.values, self.right.values
        return float(np.abs(wrong - right).max(initial=0.0)) if wrong.shape == right.shape else float("inf")

    def matrix_of_measures(self, made: bool) -> Floats:
        """(measure, 2): each number as it runs and done right, the test's last.

        Parameters
        ----------
        made : bool
            Whether what runs has the mistake.

        Returns
        -------
        ndarray of shape (measure, 2)
            Its rows belong to `measures` and `test`.
        """
        rows = [[one.wrong if made else one.right, one.right] for one in (*self.measures, self.test)]
        return np.array(rows)

    @property
    def rows_sum_to_one(self) -> bool:
        """Whether every query's wrong weights still sum to 1."""
        return bool(np.allclose(self.weights[0].sum(axis=-1), 1.0, rtol=0, atol=TOLERANCE))


@dataclass(frozen=True, slots=True)
class _Asked:
    """One reader's settings, and what most mistakes start from."""

    words: tuple[str, ...]
    example: Example
    head: int
    query: int
    seed: int

    @property
    def n(self) -> int:
        return len(self.words)

    @property
    def d_head(self) -> int:
        return int(self.example.w_q.shape[-1])

    @property
    def n_heads(self) -> int:
        return len(self.example.w_q)

    @property
    def d_model(self) -> int:
        return int(self.example.x.shape[-1])

    @property
    def projections(self) -> tuple[Floats, Floats, Floats]:
        e = self.example
        return e.w_q[self.head], e.w_k[self.head], e.w_v[self.head]

    @property
    def qkv(self) -> tuple[Floats, Floats, Floats]:
        q, k, v = (self.example.x @ w for w in self.projections)
        return q, k, v


def make(
    mistake: Mistake,
    words: tuple[str, ...],
    d_head: int = 4,
    n_heads: int = 2,
    seed: int = 0,
    head: int = 0,
    query: int = 0,
) -> Comparison:
    """Make one mistake with a sentence, and do the same right.

    Parameters
    ----------
    mistake : str
        One of `MISTAKES`.
    words : tuple of str
        At least one.
    d_head, n_heads, seed : int
        As in `core.examples.draw_example`.
    head : int
        The head that is looked at.
    query : int
        The position that is looked at: of the query without any key, and of the words that a batch compares.

    Returns
    -------
    Comparison
        Both matrices, measures of the symptom, and the test that finds it.

    Raises
    ------
    ValueError
        There is no such mistake, no word, or no such head or position.

    Notes
    -----
    A later word is changed by turning its vector around (its negative): a change for every word, with no second
    sentence to explain.

    Examples
    --------
    >>> axis = make("softmax axis", ("the", "cat", "saw"))
    >>> axis.rows_sum_to_one, axis.found
    (False, (True, False))
    """
    if mistake not in MISTAKES:
        raise ValueError(f"mistake must be one of {MISTAKES}; got {mistake!r}")
    if not words or not 0 <= head < n_heads or not 0 <= query < len(words):
        raise ValueError(
            f"wanted a word or more, a head below {n_heads} and a position below {len(words)}; got {head} and {query}"
        )
    asked = _Asked(words, draw_example(words, d_head, n_heads, seed), head, query, seed)
    return _MAKERS[mistake](asked)


def _no_scale(asked: _Asked) -> Comparison:
    wrong, right = (_scaled(asked.qkv[0], asked.qkv[1], scaled) for scaled in (False, True))
    wide = draw_example(asked.words, WIDE, 1, asked.seed)
    at_64 = [_scaled(wide.x @ wide.w_q[0], wide.x @ wide.w_k[0], scaled) for scaled in (False, True)]
    measures = tuple(
        Measure(f"{name}{place}", *(float(measure(side.values).mean()) for side in both))
        for place, both in (("", (wrong, right)), (f", d = {WIDE}", at_64))
        for name, measure in _SATURATION
    )
    spreads = [float(_logits(side).std()) for side in (wrong, right)]
    # A spread of 1 is wanted and one of about √d is feared: the border is half way on a logarithmic scale.
    border = max(asked.d_head**0.25, 1.0 + TOLERANCE)
    found = spreads[0] > border and asked.d_head > 1, spreads[1] > border and asked.d_head > 1
    test = Measure("spread of what enters the softmax", *spreads)
    return Comparison(wrong, right, measures, test, found, (wrong.values, right.values))


def _largest(weights: Floats) -> Floats:
    return np.asarray(weights.max(axis=-1))


_SATURATION: tuple[tuple[str, Callable[[Floats], Floats]], ...] = (
    ("largest weight", _largest),
    ("entropy (nats)", entropy),
    ("gradient", jacobian_norm),
)


def _scaled(q: Floats, k: Floats, scaled: bool) -> Side:
    q, k = unit_spread(q)[0], unit_spread(k)[0]
    scale = None if scaled else 1.0
    run = attend(q, k, k, scale=scale)
    return Side(run.weights, "query", "key", logits=run.scaled_scores, qkv=(q, k, k), scale=scale)


def _logits(side: Side) -> Floats:
    assert side.logits is not None
    return side.logits


def _no_causal_mask(asked: _Asked) -> Comparison:
    allowed = causal_mask(asked.n)
    x = asked.example.x
    recitals = [learn_by_heart(asked.words, x, *asked.projections, masked, asked.seed) for masked in (False, True)]
    wrong, right = (recital.weights for recital in recitals)
    later = [float(np.where(allowed, 0.0, weights).sum(axis=-1).mean()) for weights in (wrong, right)]
    measures = (
        Measure("share of later words", *later),
        Measure("named right, in training", *(recital.training_accuracy for recital in recitals)),
        Measure("named right, when generating", *(recital.generation_accuracy for recital in recitals)),
    )
    moved = [_leak(asked, mask) for mask in (None, allowed)]
    test = Measure("earlier rows move by", *moved)
    return Comparison(
        Side(wrong, "query", "key", logits=recitals[0].logits, qkv=recitals[0].qkv),
        Side(right, "query", "key", allowed, recitals[1].logits, recitals[1].qkv),
        measures,
        test,
        (moved[0] > 0, moved[1] > 0),
        (wrong, right),
        (recitals[0], recitals[1]),
    )


def _leak(asked: _Asked, may_attend: Booleans | None, wrong_axis: bool = False) -> float:
    """How far the output rows before the last one move when the last word's vector is turned around."""
    changed = asked.example.x.copy()
    changed[-1] *= -1.0

    def run(rows: Floats) -> Floats:
        q, k, v = (rows @ w for w in asked.projections)
        found = attend_over_the_wrong_axis(q, k, v, may_attend) if wrong_axis else attend(q, k, v, may_attend)
        return found.output

    before, after = run(asked.example.x), run(changed)
    return float(row_differences(before, after)[:-1].max(initial=0.0))


def _no_positions(asked: _Asked) -> Comparison:
    order = default_order(asked.words) or tuple(range(asked.n))
    encoding = sinusoidal_encoding(asked.n, asked.d_model)
    x = asked.example.x
    without, placed = (run_two_orders(x, *asked.projections, order, added) for added in (None, encoding))
    weights = [
        self_attention(x + added, *asked.projections).attention.weights for added in (np.zeros(x.shape), encoding)
    ]
    means = [
        float(np.abs(run.output.mean(axis=0) - run.shuffled_output.mean(axis=0)).max()) for run in (without, placed)
    ]
    largest = without.largest_difference, placed.largest_difference
    test = Measure("largest difference", *largest)
    wrong, right = (
        Side(
            run.difference,
            "word",
            "feature",
            operands=(run.shuffled_output[asked.query, :1], run.moved_output[asked.query, :1]),
        )
        for run in (without, placed)
    )
    return Comparison(
        wrong,
        right,
        (Measure("mean outputs differ by", *means),),
        test,
        (largest[0] <= TOLERANCE, largest[1] <= TOLERANCE),
        (weights[0], weights[1]),
    )


def batch_of(x: Floats) -> Floats:
    """A small batch made of one sentence: itself, itself backwards, and itself with its first word at the end.

    Parameters
    ----------
    x : ndarray of shape (position, d_model)
        The rows of the sentence.

    Returns
    -------
    ndarray of shape (sentence, position, d_model)
        Three sentences.

    Examples
    --------
    >>> batch_of(np.array([[0.0], [1.0], [2.0]]))[:, :, 0].tolist()
    [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [1.0, 2.0, 0.0]]
    """
    return np.stack([x, x[::-1], np.roll(x, -1, axis=0)])


def _batch_first(asked: _Asked) -> Comparison:
    batch = batch_of(asked.example.x)
    other = batch.copy()
    other[1:] *= -1.0  # the other sentences of the batch change, this one does not
    wrong, right = attend_across_the_batch(batch, *asked.projections), self_attention(batch, *asked.projections)
    wrong_other = attend_across_the_batch(other, *asked.projections).attention.output[:, 0]
    right_other = self_attention(other, *asked.projections).attention.output[0]
    wrong_output, right_output = wrong.attention.output[:, 0], right.attention.output[0]  # of the first sentence
    moved = [float(row_differences(*pair).max()) for pair in ((wrong_output, wrong_other), (right_output, right_other))]
    off = 1.0 - np.eye(asked.n)
    within = float((right.attention.weights[0] * off).sum(axis=-1).mean())
    measures = (
        Measure(
            "output off by",
            float(row_differences(wrong_output, right_output).max()),
            0.0,
        ),
        Measure("share of its other words", 0.0, within),
    )
    test = Measure("this sentence moves by", *moved)
    return Comparison(
        Side(
            wrong.attention.weights[asked.query],
            "sentence",
            "sentence",
            logits=wrong.attention.scaled_scores[asked.query],
        ),
        Side(right.attention.weights[0], "query", "key", logits=right.attention.scaled_scores[0]),
        measures,
        test,
        (moved[0] > 0, moved[1] > 0),
        (wrong.attention.weights, right.attention.weights),
    )


def _quadratic_cost(asked: _Asked) -> Comparison:
    sizes = asked.d_model, asked.n_heads
    lengths = (asked.n, *LENGTHS)
    costs = [attention_cost(n, *sizes) for n in lengths]
    right = np.array([[cost.flops, cost.weight_bytes] for cost in costs], dtype=np.float64)
    wrong = right[0] * np.array([[n / asked.n] for n in lengths])
    measures = tuple(
        Measure(f"bytes at {n:,} tokens", float(guess[1]), float(true[1]))
        for n, guess, true in zip(lengths, wrong, right, strict=True)
    )
    twice = attention_cost(2 * asked.n, *sizes).flops / costs[0].flops
    test = Measure("work multiplied by", 2.0, twice)
    weights = attend(*asked.qkv).weights
    return Comparison(
        Side(wrong, "tokens", "cost"), Side(right, "tokens", "cost"), measures, test, (True, False), (weights, weights)
    )


def _transposed_weights(asked: _Asked) -> Comparison:
    x, e = asked.example.x, asked.example
    whole = [np.hstack(list(w)) for w in (e.w_q, e.w_k, e.w_v)]  # (d_model, d_model): all heads side by side
    q, k, v = (split_heads(x @ w, asked.n_heads)[asked.head] for w in whole)
    wrong_q, wrong_k, wrong_v = (split_heads(project_by_the_transpose(x, w), asked.n_heads)[asked.head] for w in whole)
    right, wrong = attend(q, k, v), attend(wrong_q, wrong_k, wrong_v)
    first = np.eye(asked.d_model)[:1]
    off = [
        float(np.abs(rows - whole[0][:1]).max())
        for rows in (project_by_the_transpose(first, whole[0]), first @ whole[0])
    ]
    measures = (
        Measure("weights off by", float(np.abs(wrong.weights - right.weights).max()), 0.0),
        Measure("outputs off by", float(np.abs(wrong.output - right.output).max()), 0.0),
    )
    return Comparison(
        Side(
            wrong_q,
            "query",
            "feature",
            qkv=(wrong_q, wrong_k, wrong_v),
            operands=(x[asked.query], whole[0][asked.head * asked.d_head]),
        ),
        Side(q, "query", "feature", qkv=(q, k, v), operands=(x[asked.query], whole[0][:, asked.head * asked.d_head])),
        measures,
        Measure("the row is off by", off[0], off[1]),
        (off[0] > TOLERANCE, off[1] > TOLERANCE),
        (wrong.weights, right.weights),
    )


def _inverted_mask(asked: _Asked) -> Comparison:
    allowed = causal_mask(asked.n)
    masks = ~allowed, allowed
    runs = [attend(*asked.qkv, mask) for mask in masks]
    later = [float(np.where(allowed, 0.0, run.weights).sum(axis=-1).mean()) for run in runs]
    measures = (
        Measure("share of later words", *later),
        Measure("queries without a key", *(float((~mask.any(axis=-1)).sum()) for mask in masks)),
        Measure("earlier rows move by", *(_leak(asked, mask) for mask in masks)),
    )
    own = [float(run.weights[0, 0]) for run in runs]
    test = Measure("weight of the first word on itself", *own)
    wrong, right = (
        Side(run.weights, "query", "key", mask, run.scaled_scores, asked.qkv)
        for run, mask in zip(runs, masks, strict=True)
    )
    return Comparison(wrong, right, measures, test, (own[0] != 1, own[1] != 1), (runs[0].weights, runs[1].weights))


def _softmax_axis(asked: _Asked) -> Comparison:
    allowed = causal_mask(asked.n)
    runs = attend_over_the_wrong_axis(*asked.qkv, allowed), attend(*asked.qkv, allowed)
    off = [[float(np.abs(run.weights.sum(axis=axis) - 1.0).max()) for run in runs] for axis in (-1, -2)]
    moved = _leak(asked, allowed, wrong_axis=True), _leak(asked, allowed)
    measures = (
        Measure("column sums off by", *off[1]),
        Measure("earlier rows move by", *moved),
    )
    test = Measure("row sums off by", *off[0])
    wrong, right = (Side(run.weights, "query", "key", allowed, run.scaled_scores, asked.qkv) for run in runs)
    found = off[0][0] > TOLERANCE, off[0][1] > TOLERANCE
    return Comparison(wrong, right, measures, test, found, (runs[0].weights, runs[1].weights))


def _no_allowed_key(asked: _Asked) -> Comparison:
    allowed = np.ones((asked.n, asked.n), dtype=np.bool_)
    allowed[asked.query] = False
    q, k, v = asked.qkv
    scores = attend(q, k, v).scaled_scores
    weights = weights_by_rule(scores, allowed, "replaced"), weights_by_rule(scores, allowed, "zeros")
    sums = [float(one[asked.query].sum()) for one in weights]
    measures = (
        Measure("weight of a forbidden key", *(float(one[asked.query].max()) for one in weights)),
        Measure("its output, largest entry", *(float(np.abs(one[asked.query] @ v).max()) for one in weights)),
    )
    # What is masked on the wrong side looks like any other score, and is drawn like one.
    wrong = Side(weights[0], "query", "key", logits=np.where(allowed, scores, FILL), qkv=(q, k, v))
    right = Side(weights[1], "query", "key", allowed, np.where(allowed, scores, -np.inf), (q, k, v))
    test = Measure("row sum", *sums)
    outcomes = by_every_rule(scores, allowed, v, asked.query)
    return Comparison(wrong, right, measures, test, (sums[0] != 0, sums[1] != 0), weights, outcomes=outcomes)


def _split_heads(asked: _Asked) -> Comparison:
    e, n_heads = asked.example, asked.n_heads
    q, k, v = (np.hstack(list(e.x @ w)) for w in (e.w_q, e.w_k, e.w_v))  # (position, d_model)
    cut = split_heads_by_reshape_alone, split_heads
    parts = [(one(q, n_heads)[asked.head], one(k, n_heads)[asked.head], one(v, n_heads)[asked.head]) for one in cut]
    runs = [attend(*part) for part in parts]
    # Every entry carries its own position, and its place in the heads is looked up.
    origin = np.repeat(np.arange(asked.n), asked.d_model).reshape(asked.n, asked.d_model)
    strangers = [float((one(origin, n_heads) != np.arange(asked.n)[:, None]).mean()) for one in cut]
    gap = float(np.abs(runs[0].output - runs[1].output).max())
    measures = (
        Measure("weights off by", float(np.abs(runs[0].weights - runs[1].weights).max()), 0.0),
        Measure("outputs off by", gap, 0.0),
    )
    test = Measure("share from other words", *strangers)
    wrong, right = (
        Side(run.weights, "query", "key", logits=run.scaled_scores, qkv=part)
        for run, part in zip(runs, parts, strict=True)
    )
    found = strangers[0] > 0, strangers[1] > 0
    return Comparison(wrong, right, measures, test, found, (runs[0].weights, runs[1].weights))


_MAKERS: dict[Mistake, Callable[[_Asked], Comparison]] = {
    "no scale": _no_scale,
    "no causal mask": _no_causal_mask,
    "no positions": _no_positions,
    "batch first": _batch_first,
    "quadratic cost": _quadratic_cost,
    "transposed weights": _transposed_weights,
    "inverted mask": _inverted_mask,
    "softmax axis": _softmax_axis,
    "no allowed key": _no_allowed_key,
    "split heads": _split_heads,
}
