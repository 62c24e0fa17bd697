"""Exercises with a few answers to choose from: shapes, kinds of attention, and which mistake made a matrix."""

from dataclasses import replace

import numpy as np

from core.attention import attend
from core.masks import causal_mask
from core.practice.exercise import Exercise, Mistake, Operand, written


def _choice(
    kind: str,
    asks: str,
    options: list[tuple[str, str]],
    right: int,
    operands: tuple[Operand, ...],
    why: str,
    asked: int = 0,
) -> Exercise:
    """An exercise whose options each say why they are wrong."""
    mistakes = tuple(
        Mistake(name, says, np.array([[float(place)]])) for place, (name, says) in enumerate(options) if place != right
    )
    return Exercise(
        kind,
        asks,
        np.array([[float(right)]]),
        mistakes,
        operands,
        {"asked": asked},
        form="choice",
        options=tuple(name for name, _ in options),
        why=why,
    )


SHAPES_ASKED = (
    "the weights of all heads",
    "Q, split into heads",
    "the heads' outputs, joined",
    "the head-averaged weights that nn.MultiheadAttention returns with batch_first left at its default",
)


def shapes(rng: np.random.Generator) -> Exercise:
    """The shape of one tensor on the way.

    Parameters
    ----------
    rng : numpy.random.Generator
        Of the variant; likewise for all functions here.

    Returns
    -------
    Exercise
        Perhaps not fair: `core.practice.kinds.draw` draws until it is.
    """
    batch, n, heads, d = (int(size) for size in rng.choice([2, 3, 4, 5, 6, 7], 4, replace=False))
    width, asked = heads * d, int(rng.integers(len(SHAPES_ASKED)))
    flat, split = (batch, n, width), (batch, heads, n, d)
    pairs = (batch, heads, n, n)
    says = {
        pairs: f"For every head each of the {n} queries has one number for each of the {n} keys; that is the weights.",
        split: f"That is one vector of d = {d} for each word and head: Q, K or V, split.",
        flat: f"That is one vector of d_model = {width} a word: all heads side by side.",
        (batch, n, heads, d): "The axis of the heads has to stand before that of the words, or the product over the "
        "last two axes would compare heads with heads.",
        (batch, heads, d, d): "That compares features with features: Qᵀ K. Scores compare words with words: Q Kᵀ.",
        (batch, n, n): "That has no axis for the heads: they were averaged.",
        (n, batch, batch): f"With its default the module takes the first axis for the words: {batch} of them, in {n} "
        "batches.",
        (batch, n, d): "That is a single head.",
    }
    wanted = (pairs, split, flat, (n, batch, batch))[asked]
    wrong = (
        ((batch, n, n), (batch, heads, d, d), split),
        ((batch, n, heads, d), flat, pairs),
        (split, (batch, n, d), pairs),
        ((batch, n, n), pairs, flat),
    )[asked]
    options = [wanted, *wrong]
    rng.shuffle(options)
    reasons: dict[tuple[int, ...], str] = dict(says)
    if asked == 3:
        reasons[batch, n, n] = (
            "That is what batch_first=True gives. By default the module reads the first axis as the words."
        )
        reasons[pairs] = "The module averages over the heads unless told not to."
        reasons[flat] = "That is the shape of its output; the weights go from words to words."
    return _choice(
        "shapes",
        f"x has the shape ({batch}, {n}, {width}): {batch} sentences of {n} words, d_model = {width}, {heads} heads. "
        f"What is the shape of {SHAPES_ASKED[asked]}?",
        [(str(shape), reasons[shape]) for shape in options],
        options.index(wanted),
        (
            Operand(
                "given",
                np.array([[batch, n, heads, d]], dtype=np.float64),
                "row",
                "size",
                column_names=("sentences", "words", "heads", "d"),
            ),
        ),
        reasons[wanted],
        asked,
    )


ATTENTIONS = {
    "self-attention of an encoder": "There every word of the sentence sees every word of it.",
    "self-attention of a decoder": "There a word sees itself and what stands before it, nothing later.",
    "cross-attention": "There the queries come from one text and the keys from another, so their numbers can differ, "
    "and every query sees every key.",
    "an encoder's, with padding": "There every word sees every word; the keys at the end that only fill the batch are "
    "hidden from all.",
}


def attention_kinds(rng: np.random.Generator) -> Exercise:
    """Whose mask this is."""
    names = list(ATTENTIONS)
    right, n = int(rng.integers(len(names))), int(rng.integers(3, 6))
    n_key = n + int(rng.choice([-1, 1, 2])) if right == 2 else n
    allowed = np.ones((n, n_key), dtype=bool)
    if right == 1:
        allowed = causal_mask(n)
    elif right == 3:
        allowed[:, n - int(rng.integers(1, n - 1)) :] = False
    return _choice(
        "whose mask",
        "1 says that a query may look at a key, 0 that it may not. Whose attention is this?",
        list(ATTENTIONS.items()),
        right,
        (Operand("may attend", allowed.astype(np.float64), "query", "key"),),
        ATTENTIONS[names[right]],
    )


def which_mistake(rng: np.random.Generator) -> Exercise:
    """Which mistake made a matrix of weights, or none."""
    n, d = 3, 4
    q, k = (rng.integers(-2, 3, (n, d)).astype(np.float64) for _ in range(2))
    allowed = causal_mask(n)
    free, right = attend(q, k, k).weights, attend(q, k, k, allowed)
    exponentials = np.where(allowed, np.exp(right.scores / np.sqrt(d)), 0.0)
    made = {
        "no mistake": right.weights,
        "no scale": attend(q, k, k, allowed, scale=1.0).weights,
        "mask forgotten": free,
        "mask after the softmax": np.where(allowed, free, 0.0),
        "softmax down the columns": exponentials / exponentials.sum(axis=0),
        "scores transposed": attend(k, q, q, allowed).weights,
        "mask inverted": attend(q, k, k, ~allowed).weights,
    }
    chosen = int(rng.integers(len(made)))
    shown = list(made.values())[chosen].round(2)
    options = []
    names = list(made)
    for name, weights in made.items():
        # The row in which the two differ most: there the reader can see it.
        row = int(np.abs(weights - shown).max(axis=1).argmax())
        options.append(
            (
                name,
                f"With “{name}”, query {row} would give {written(weights[row], 2)}; here it gives "
                f"{written(shown[row], 2)}.",
            )
        )
    exercise = _choice(
        "which mistake",
        "Weights with the causal mask were wanted for these Q and K. What was done wrong, if anything?",
        options,
        chosen,
        (
            Operand("Q", q, "query", "feature"),
            Operand("K", k, "key", "feature"),
            Operand("weights made", shown, "query", "key", decimals=2),
        ),
        f"These are the weights of “{names[chosen]}”, number by number.",
    )
    apart = all(np.abs(one - shown).max() > 0.05 for place, one in enumerate(made.values()) if place != chosen)
    # A matrix that two options would give has no answer; what is not finite is not fair.
    return exercise if apart else replace(exercise, answer=np.array([[np.nan]]))
