"""Exercises about one head: reading weights, projections, scores, softmax, mixtures, masks, order."""

import numpy as np
from numpy.typing import ArrayLike

from core.attention import attend
from core.masks import causal_mask
from core.practice.exercise import Exercise, Mistake, Operand
from core.softmax import Floats, softmax


def _whole(rng: np.random.Generator, low: int, high: int, *shape: int) -> Floats:
    """Whole numbers from `low` to `high`, both included."""
    numbers: Floats = rng.integers(low, high + 1, shape).astype(np.float64)
    return numbers


def _row(values: ArrayLike) -> Floats:
    return np.atleast_2d(np.asarray(values, dtype=np.float64))


def _shares(rng: np.random.Generator, rows: int, columns: int, decimals: int) -> Floats:
    """Rows of positive numbers with that many decimals, each summing to 1 exactly as written."""
    whole = 10**decimals
    parts: Floats = np.empty((rows, columns))
    for row in parts:
        cuts = np.sort(rng.choice(np.arange(1, whole), columns - 1, replace=False))
        row[:] = np.diff([0, *cuts, whole])
    parts /= whole
    return parts


def reading(rng: np.random.Generator) -> Exercise:
    """What a matrix of weights says of two words.

    Parameters
    ----------
    rng : numpy.random.Generator
        Of the variant; likewise for all functions here.

    Returns
    -------
    Exercise
        Perhaps not fair: `core.practice.kinds.draw` draws until it is.
    """
    weights = _shares(rng, 4, 4, 2)
    query, key = (int(place) for place in rng.choice(4, 2, replace=False))
    answer = [weights[query, key], weights[query].max()]
    return Exercise(
        "reading",
        f"How much does position {query} take from position {key}? And how large is the largest weight that "
        f"position {query} gives to any position?",
        _row(answer),
        (
            Mistake(
                "read down the column",
                f"You read the matrix the wrong way round: that is what position {key} takes from position {query}. A "
                "row belongs to the query, the position that asks.",
                _row([weights[key, query], weights[:, query].max()]),
            ),
            Mistake(
                "right cell, largest of its column",
                f"The first is right. The largest weight was looked for down column {query}; what position {query} "
                f"gives away stands in row {query}.",
                _row([weights[query, key], weights[:, query].max()]),
            ),
            Mistake(
                "transposed cell, right row",
                f"The second is right. For the first you took row {key}, column {query}: the query is the row.",
                _row([weights[key, query], weights[query].max()]),
            ),
            Mistake(
                "positions from 1",
                "You counted positions from 1; here they count from 0.",
                _row([weights[query - 1, key - 1], weights[query - 1].max()]),
            ),
        ),
        (Operand("weights", weights, "query", "key", decimals=2),),
        {"query": query, "key": key},
        columns=(f"from {key}", "largest"),
        decimals=2,
        tolerance=0.004,
    )


def projection(rng: np.random.Generator) -> Exercise:
    """A query from an embedding."""
    x, w_q, w_k = _whole(rng, -2, 3, 1, 3), _whole(rng, -2, 3, 3, 3), _whole(rng, -2, 3, 3, 3)
    return Exercise(
        "projection",
        "Project the embedding x to its query: q = x W_q.",
        x @ w_q,
        (
            Mistake(
                "W_q transposed",
                "You took the rows of W_q: that is x W_qᵀ. One number of q is x times one column of W_q.",
                x @ w_q.T,
            ),
            Mistake("W_k used", "That is x W_k, the key. A query needs W_q.", x @ w_k),
            Mistake(
                "diagonal only",
                "You multiplied feature by feature with the diagonal of W_q. Each number of q is a sum over all "
                "features of x.",
                x * np.diag(w_q),
            ),
            Mistake(
                "x left out",
                "Those are the sums of the columns of W_q: x does not occur in them. Multiply before you add.",
                _row(w_q.sum(axis=0)),
            ),
        ),
        (
            Operand("x", x, "word", "input feature"),
            Operand("W_q", w_q, "input feature", "feature"),
            Operand("W_k", w_k, "input feature", "feature"),
        ),
        columns=("feature 0", "feature 1", "feature 2"),
    )


def score(rng: np.random.Generator) -> Exercise:
    """A dot product of a query with a key."""
    q, k = _whole(rng, -3, 3, 3, 4), _whole(rng, -3, 3, 3, 4)
    query, key = (int(place) for place in rng.choice(3, 2, replace=False))
    products = q[query] * k[key]
    true = products.sum()
    return Exercise(
        "score",
        f"What is the score of query {query} with key {key}, before any scaling?",
        _row(true),
        (
            Mistake(
                "transposed score",
                f"There the key asks: that is the score of query {key} with key {query}. Take row {query} of Q and "
                f"row {key} of K.",
                _row(q[key] @ k[query]),
            ),
            Mistake(
                "already scaled", "That is already divided by √d. The score comes before the scaling.", _row(true / 2)
            ),
            Mistake(
                "divided by d", "That is divided by d. The score itself is a plain sum of products.", _row(true / 4)
            ),
            Mistake(
                "signs lost",
                "The signs were lost on the way: some products are negative.",
                _row(np.abs(products).sum()),
            ),
            Mistake(
                "last product left out",
                "The last feature was left out: a score sums over all d features.",
                _row(products[:-1].sum()),
            ),
            Mistake(
                "first product left out",
                "Feature 0 was left out: features count from 0 here, and all of them take part.",
                _row(products[1:].sum()),
            ),
            Mistake(
                "sums multiplied",
                "You added up each vector first and multiplied the sums. Multiply feature by feature, then add.",
                _row(q[query].sum() * k[key].sum()),
            ),
        ),
        (Operand("Q", q, "query", "feature"), Operand("K", k, "key", "feature")),
        {"query": query, "key": key},
        columns=("score",),
    )


def scaling(rng: np.random.Generator) -> Exercise:
    """Scores divided by the root of a key's size."""
    d, heads = int(rng.choice([2, 5, 8, 9, 16])), int(rng.choice([2, 3, 4]))
    scores = _whole(rng, -9, 9, 1, 3)
    return Exercise(
        "scaling",
        f"Scale these scores. Each of {heads} heads has keys of size d = {d}, so d_model = {d * heads}.",
        scores / np.sqrt(d),
        (
            Mistake("no scale", "Those are the scores themselves: the division is missing.", scores),
            Mistake(
                "divided by d",
                f"You divided by d = {d}. The division is by √d, which is how scores spread.",
                scores / d,
            ),
            Mistake(
                "multiplied by √d",
                "You multiplied by √d. Scores grow with d; the division takes that out.",
                scores * np.sqrt(d),
            ),
            Mistake(
                "root of the number of keys",
                "You divided by √3, the root of the number of keys. What counts is the size of a key, d.",
                scores / np.sqrt(3),
            ),
            Mistake(
                "root of d_model",
                f"You divided by √{d * heads}, the root of d_model. A score sums over the d features of its head only.",
                scores / np.sqrt(d * heads),
            ),
        ),
        (Operand("scores", scores, "query", "key"),),
        {"d": d, "heads": heads},
        columns=("key 0", "key 1", "key 2"),
        decimals=2,
        tolerance=0.01,
    )


def softmax_row(rng: np.random.Generator) -> Exercise:
    """One row of a softmax."""
    scaled = rng.integers(-3, 5, (3, 3)) / 2
    query = int(rng.integers(3))
    row = scaled[query]
    return Exercise(
        "softmax",
        f"Take the softmax: how does query {query} share out its weights?",
        _row(softmax(row)),
        (
            Mistake(
                "wrong axis",
                "That takes the softmax down the columns: each column would sum to 1. The weights of one query, a row, "
                "must.",
                _row(softmax(scaled, axis=0)[query]),
            ),
            Mistake(
                "exp without normalising",
                "Those are the exponentials. They still have to be divided by their sum.",
                _row(np.exp(row)),
            ),
            Mistake(
                "no exponential",
                "You divided the scores by their sum and left the exponential out.",
                _row(row / (row.sum() or np.nan)),
            ),
            Mistake(
                "over the whole matrix",
                "You divided by the sum over all of the matrix. Each query shares out its own whole.",
                _row(np.exp(row) / np.exp(scaled).sum()),
            ),
            Mistake(
                "divided by the largest",
                "You divided by the largest exponential, so that the largest weight is 1. Divide by the sum.",
                _row(np.exp(row - row.max())),
            ),
            Mistake(
                "sign turned",
                "The signs are turned: the largest score must get the largest weight.",
                _row(softmax(-row)),
            ),
            Mistake(
                "powers of two",
                "You took powers of 2 in place of powers of e = 2.718.",
                _row(2.0**row / (2.0**row).sum()),
            ),
        ),
        (Operand("scaled scores", scaled, "query", "key", decimals=1),),
        {"query": query},
        columns=("key 0", "key 1", "key 2"),
        decimals=2,
        tolerance=0.01,
        sums_to_one=True,
    )


def causal_weights(rng: np.random.Generator) -> Exercise:
    """One row of weights from queries and keys, with the causal mask: everything that can go wrong on the way."""
    # The query has a key before it and at least two behind it, so that a diagonal that is off by one shows.
    n, query = ((4, 1), (5, 2))[int(rng.integers(2))]
    d = 4
    q, k = _whole(rng, -1, 2, n, d), _whole(rng, -1, 2, n, d)
    allowed = causal_mask(n)
    scores = q @ k.T
    right = attend(q, k, k, allowed)
    free = attend(q, k, k).weights
    scaled = scores / np.sqrt(d)
    exponentials = np.where(allowed, np.exp(scaled), 0.0)
    names = {
        "no scale": ("The division by √d is missing.", attend(q, k, k, allowed, scale=1.0).weights),
        "divided by d": ("You divided by d = 4 in place of √d = 2.", attend(q, k, k, allowed, scale=1 / d).weights),
        "wrong axis": (
            "This row sums to 1 along the wrong axis: the softmax was taken down the columns.",
            exponentials / exponentials.sum(axis=0),
        ),
        "exp without normalising": (
            "Those are exponentials that were not divided by their sum.",
            exponentials,
        ),
        "mask forgotten": (f"Query {query} looks at later positions: the mask was forgotten.", free),
        "mask after the softmax": (
            "The mask came after the softmax, and what was left was not shared out again: the weights do not sum to 1. "
            "Put −∞ in place of the scores, before the softmax.",
            np.where(allowed, free, 0.0),
        ),
        "masked with 0": (
            "The masked scores became 0 and not −∞; e⁰ is 1, so later positions still get weight.",
            softmax(np.where(allowed, scaled, 0.0)),
        ),
        "inverted polarity": (
            "The mask is the wrong way round: what may be seen was hidden, and the other way about.",
            attend(q, k, k, ~allowed).weights,
        ),
        "transposed scores": (
            "There the keys ask: you took K Qᵀ. Row i of the scores is query i with all keys.",
            attend(k, q, q, allowed).weights,
        ),
        "off by one, itself hidden": (
            f"The diagonal is off by one: query {query} may look at position {query} itself.",
            attend(q, k, k, np.tril(allowed, -1)).weights,
        ),
        "off by one, next seen": (
            f"The diagonal is off by one: query {query} must not look at position {query + 1}.",
            attend(q, k, k, np.tril(np.ones((n, n), dtype=bool), 1)).weights,
        ),
    }
    return Exercise(
        "weights",
        f"With the causal mask: which weights does query {query} give? d = {d}.",
        _row(right.weights[query]),
        tuple(Mistake(name, says, _row(made[query])) for name, (says, made) in names.items()),
        (Operand("Q", q, "query", "feature"), Operand("K", k, "key", "feature")),
        {"query": query},
        columns=tuple(f"key {key}" for key in range(n)),
        decimals=2,
        tolerance=0.01,
        sums_to_one=True,
    )


def mixture(rng: np.random.Generator) -> Exercise:
    """An output as a mixture of values."""
    weights, values = _shares(rng, 3, 3, 1), _whole(rng, -4, 6, 3, 3)
    query = int(rng.integers(3))
    row = weights[query]
    return Exercise(
        "mixture",
        f"What is the output of query {query}?",
        _row(row @ values),
        (
            Mistake(
                "column of weights",
                f"You took column {query} of the weights. The weights of query {query} stand in its row.",
                _row(weights[:, query] @ values),
            ),
            Mistake(
                "values transposed",
                "You multiplied with the rows of V. One number of the output is the row of weights times one column "
                "of V.",
                _row(values @ row),
            ),
            Mistake(
                "plain average",
                "That is the plain average of all values; the weights do not occur in it.",
                _row(values.mean(axis=0)),
            ),
            Mistake(
                "sum of the values",
                "That is the sum of all values; each must be taken by its weight.",
                _row(values.sum(axis=0)),
            ),
            Mistake(
                "the strongest only",
                "That is the value of the key with the largest weight. All values take part, each by its weight.",
                _row(values[row.argmax()]),
            ),
            Mistake(
                "its own value only",
                f"That is the value of position {query} by its own weight; the others take part too.",
                _row(row[query] * values[query]),
            ),
        ),
        (Operand("weights", weights, "query", "key", decimals=1), Operand("V", values, "key", "feature")),
        {"query": query},
        columns=("feature 0", "feature 1", "feature 2"),
        decimals=1,
        tolerance=0.04,
    )


def mask_cells(rng: np.random.Generator) -> Exercise:
    """Which keys each query may attend to, with a cache of earlier keys or with padding in some variants."""
    n_query, n_key = ((4, 4), (5, 5), (3, 5), (2, 5), (3, 4), (2, 4), (3, 6), (4, 6))[int(rng.integers(8))]
    padding = int(rng.integers(1, n_key)) if rng.random() < 0.5 else -1
    allowed = causal_mask(n_query, n_key, "bottom-right")
    keep = np.ones(n_key, dtype=bool)
    if padding >= 0:
        keep[padding] = False
    right = allowed & keep
    ones = np.ones((n_query, n_key), dtype=bool)
    offset = n_key - n_query
    mistakes = [
        (
            "inverted",
            "You marked what is hidden. Mark what a query may look at: itself and what stands before it.",
            ~right,
        ),
        (
            "mirrored",
            "Mirrored: each query looks at itself and at what comes later. A generator must not see the future.",
            np.triu(ones, offset) & keep,
        ),
        (
            "itself hidden",
            "Each query may look at itself too: the diagonal is off by one.",
            np.tril(ones, offset - 1) & keep,
        ),
        (
            "next seen",
            "Each query looks one position ahead: the diagonal is off by one.",
            np.tril(ones, offset + 1) & keep,
        ),
        ("nothing masked", "Nothing is masked there: later positions must be hidden.", ones & keep),
    ]
    if offset:
        mistakes.append(
            (
                "top-left",
                f"You started at the top left. The queries are the last {n_query} of {n_key} positions, so query 0 "
                f"stands at position {offset} and may look at all before it.",
                causal_mask(n_query, n_key, "top-left") & keep,
            )
        )
    if padding >= 0:
        mistakes.append(("padding seen", f"Key {padding} is padding: no query may look at it.", allowed))
    start = f"The {n_query} queries are the last of {n_key} positions; earlier keys are cached. " if offset else ""
    filler = f"Key {padding} is padding. " if padding >= 0 else ""
    return Exercise(
        "mask",
        f"{start}{filler}Mark the keys that each query of a generator may look at.",
        right.astype(np.float64),
        tuple(Mistake(name, says, made.astype(np.float64)) for name, says, made in mistakes),
        (
            Operand(
                "given",
                np.array([[n_query, n_key]], dtype=np.float64),
                "row",
                "size",
                column_names=("queries", "keys"),
            ),
        ),
        {"n_query": n_query, "n_key": n_key, "padding": padding},
        rows=tuple(f"query {query}" for query in range(n_query)),
        columns=tuple(str(key) for key in range(n_key)),
        form="cells",
    )


def causal_rows(rng: np.random.Generator) -> Exercise:
    """First and last row of weights under the causal mask."""
    n = 3
    scaled = rng.integers(-3, 5, (n, n)) / 2
    allowed = causal_mask(n)
    ends = [0, n - 1]

    def shares(mask: ArrayLike) -> Floats:
        """Weights of all rows, a row without a key all zeros."""
        return softmax(np.where(mask, scaled, -np.inf))

    free = softmax(scaled)
    exponentials = np.where(allowed, np.exp(scaled), 0.0)
    names = {
        "mask forgotten": ("The last row needs no mask, the first does: it may look at itself only.", free),
        "mask after the softmax": (
            "The mask came after the softmax: the first row keeps a part of its whole. It has only itself to look at, "
            "so that gets all of it.",
            np.where(allowed, free, 0.0),
        ),
        "masked with 0": (
            "The masked scores became 0 and not −∞: e⁰ is 1, and later positions still get weight.",
            softmax(np.where(allowed, scaled, 0.0)),
        ),
        "mirrored": (
            "Mirrored: the first row looks at everything and the last at itself only. It is the other way round.",
            shares(allowed.T),
        ),
        "itself hidden": (
            "The diagonal is off by one: a query may look at itself, so the first row is not empty.",
            shares(np.tril(allowed, -1)),
        ),
        "next seen": (
            "The diagonal is off by one: the first query looks at position 1.",
            shares(np.tril(np.ones((n, n)), 1)),
        ),
        "wrong axis": (
            "The softmax was taken down the columns; each row must sum to 1.",
            exponentials / exponentials.sum(axis=0),
        ),
        "exp without normalising": ("Those are exponentials that were not divided by their sum.", exponentials),
    }
    return Exercise(
        "causal rows",
        "With the causal mask: fill in the first and the last row of the weights.",
        shares(allowed)[ends],
        tuple(Mistake(name, says, made[ends]) for name, (says, made) in names.items()),
        (Operand("scaled scores", scaled, "query", "key", decimals=1),),
        rows=("query 0", f"query {n - 1}"),
        columns=tuple(f"key {key}" for key in range(n)),
        decimals=2,
        tolerance=0.01,
        sums_to_one=True,
    )


def shuffled(rng: np.random.Generator) -> Exercise:
    """What a new order of the words does to the outputs, without positions."""
    output = _whole(rng, -9, 9, 4, 1)
    order = rng.permutation(4)
    inverse = np.argsort(order)
    listed = " ".join(str(place) for place in order)
    return Exercise(
        "order",
        f"The words are put into the order {listed}: first comes the word that stood at position {order[0]}. There are "
        "no positions and no mask. What is the output now, row by row?",
        output[order],
        (
            Mistake(
                "nothing moves",
                "Those are the old rows. A row belongs to its word: where the words move, their outputs move along.",
                output,
            ),
            Mistake(
                "moved the other way",
                f"You moved the rows the other way. Row 0 is now the word that stood at position {order[0]}, with the "
                "output that it had there.",
                output[inverse],
            ),
            Mistake(
                "turned round", "You turned the rows round, last first; look at the order that is given.", output[::-1]
            ),
            Mistake(
                "new numbers",
                "Without positions no number is new: the same rows stand in another order. Those are all the mean.",
                np.full((4, 1), output.mean()),
            ),
        ),
        (
            Operand("output", output, "word", "feature"),
            Operand("new order", order[None].astype(np.float64), "row", "new row"),
        ),
        {"first": int(order[0])},
        rows=tuple(f"row {row}" for row in range(4)),
    )
