"""Exercises about several heads and the rest of a block: positions, head split, layer norm, counts and cost."""

import numpy as np

from core.cost import attention_cost
from core.multi_head import split_heads
from core.parameter_count import encoder_block_parameters
from core.positions import sinusoidal_encoding
from core.practice.exercise import Exercise, Mistake, Operand
from core.softmax import Floats


def _given(**sizes: int) -> Operand:
    """Sizes as one row, for questions about nothing else."""
    return Operand("given", np.array([[*sizes.values()]], dtype=np.float64), "row", "size", column_names=tuple(sizes))


def _one(value: float) -> Floats:
    return np.array([[float(value)]])


def encoding(rng: np.random.Generator) -> Exercise:
    """The sinusoidal encoding of one position.

    Parameters
    ----------
    rng : numpy.random.Generator
        Of the variant; likewise for all functions here.

    Returns
    -------
    Exercise
        Perhaps not fair: `core.practice.kinds.draw` draws until it is.
    """
    d, position = int(rng.choice([4, 6])), int(rng.integers(1, 40))
    feature = np.arange(d)
    pair = feature // 2
    right = sinusoidal_encoding(position + 2, d)
    angles = position / 10000.0 ** (2 * pair / d)

    def waves(angle: Floats) -> Floats:
        """Sine at even features, cosine at odd ones."""
        return np.where(feature % 2, np.cos(angle), np.sin(angle))[None]

    return Exercise(
        "encoding",
        f"Write down the sinusoidal encoding of position {position} for d_model = {d}, interleaved. Angles are in "
        "radians.",
        right[[position]],
        (
            Mistake(
                "sine and cosine exchanged",
                "Sine and cosine are exchanged: even features take the sine, odd ones the cosine.",
                np.where(feature % 2, np.sin(angles), np.cos(angles))[None],
            ),
            Mistake(
                "halves",
                "You wrote all sines first and then all cosines. Here they alternate: sine, cosine, sine, cosine.",
                np.concatenate([np.sin(angles[::2]), np.cos(angles[::2])])[None],
            ),
            Mistake(
                "own angle for each feature",
                "You gave each feature an angle of its own. A sine and the cosine beside it share one: the pair i, not "
                "the feature, stands in 10000^(2i/d).",
                waves(position / 10000.0 ** (feature / d)),
            ),
            Mistake(
                "exponent doubled",
                "You put the number of the feature for i. In 10000^(2i/d), i counts pairs: 0, 0, 1, 1, …",
                waves(position / 10000.0 ** (2 * feature / d)),
            ),
            Mistake("degrees", "Your calculator is set to degrees; angles are in radians.", waves(np.deg2rad(angles))),
            Mistake(
                "positions from 1",
                f"That is position {position + 1}: positions count from 0, and the number itself goes into the angle.",
                right[[position + 1]],
            ),
            Mistake(
                "100 as base", "You took 100 as base; the paper has 10000.", waves(position / 100.0 ** (2 * pair / d))
            ),
        ),
        (_given(position=position, d_model=d),),
        {"position": position, "d_model": d},
        columns=tuple(f"feature {number}" for number in range(d)),
        decimals=3,
        tolerance=0.002,
    )


def head_split(rng: np.random.Generator) -> Exercise:
    """Which numbers of the projected words belong to one head."""
    n, n_heads, d_head = ((2, 2, 3), (3, 2, 3), (3, 3, 2), (2, 3, 2), (2, 4, 2), (3, 2, 4), (2, 2, 4))[
        int(rng.integers(7))
    ]
    head, d_model = int(rng.integers(n_heads)), n_heads * d_head
    numbers = np.arange(n * d_model).reshape(n, d_model)

    def marked(found: np.ndarray[tuple[int, ...], np.dtype[np.int_]]) -> Floats:
        """1 at the cells with these numbers."""
        return np.isin(numbers, found).astype(np.float64)

    right = split_heads(numbers, n_heads)[head].astype(np.int_)
    after = split_heads(numbers, n_heads)[(head + 1) % n_heads].astype(np.int_)
    before = split_heads(numbers, n_heads)[head - 1].astype(np.int_)
    mistakes = [
        Mistake(
            "every h-th feature",
            f"You dealt the features out one by one. Each head has its {d_head} features side by side.",
            marked(numbers[:, head::n_heads]),
        ),
        Mistake(
            "reshape alone",
            f"That is q.reshape({n_heads}, {n}, {d_head}): it gives a head pieces of some words only. Every head sees "
            "every word; the axis of the heads has to be moved.",
            marked(numbers.reshape(n_heads, n, d_head)[head]),
        ),
        Mistake("heads from 1", "You counted heads from 1; here the first is head 0.", marked(before)),
        Mistake("the next head", f"Those belong to head {(head + 1) % n_heads}.", marked(after)),
        Mistake(
            "whole words",
            "You gave a whole word to the head. Every head sees every word, in its own features.",
            marked(numbers[head % n]),
        ),
    ]
    if n_heads != d_head and (head + 1) * n_heads <= d_model:
        mistakes.append(
            Mistake(
                "sizes exchanged",
                f"You exchanged the number of heads and their width: a head has d_model ÷ heads = {d_head} features.",
                marked(numbers[:, head * n_heads : (head + 1) * n_heads]),
            )
        )
    return Exercise(
        "head split",
        f"Q of all heads, {n} words by d_model = {d_model}, is split into {n_heads} heads. Mark the features that head "
        f"{head} gets of each word.",
        marked(right),
        _different(mistakes, marked(right)),
        (Operand("Q", rng.integers(-9, 10, (n, d_model)).astype(np.float64), "query", "feature"),),
        {"n_heads": n_heads, "head": head},
        rows=tuple(f"query {word}" for word in range(n)),
        columns=tuple(str(feature) for feature in range(d_model)),
        form="cells",
    )


def _different(mistakes: list[Mistake], right: Floats) -> tuple[Mistake, ...]:
    """The first mistake of each answer that is not the right one: with two heads, the next is the one before."""
    kept: list[Mistake] = []
    for mistake in mistakes:
        if not any(np.array_equal(mistake.answer, other) for other in (right, *(one.answer for one in kept))):
            kept.append(mistake)
    return tuple(kept)


def norm(rng: np.random.Generator) -> Exercise:
    """Layer norm of one word's vector."""
    x = rng.integers(-6, 10, (3, 4)).astype(np.float64)
    word = int(rng.integers(3))
    row = x[word]
    spread = row.std() or np.nan
    columns = x.std(axis=0)
    return Exercise(
        "layer norm",
        f"Take the layer norm of word {word}, with gain 1, shift 0 and ε left out.",
        np.atleast_2d((row - row.mean()) / spread),
        (
            Mistake(
                "wrong axis",
                "You normalised down the columns, over the words. Layer norm takes each word by itself.",
                np.atleast_2d((row - x.mean(axis=0)) / np.where(columns, columns, np.nan)),
            ),
            Mistake("mean not subtracted", "The mean was not subtracted.", np.atleast_2d(row / spread)),
            Mistake(
                "divided by the variance",
                "You divided by the variance; the division is by its root, the standard deviation.",
                np.atleast_2d((row - row.mean()) / spread**2),
            ),
            Mistake(
                "n − 1",
                "You took the sample's standard deviation, with d − 1. Layer norm divides the sum of squares by d = 4.",
                np.atleast_2d((row - row.mean()) / (row.std(ddof=1) or np.nan)),
            ),
            Mistake(
                "only centred", "The mean is subtracted; the division is missing.", np.atleast_2d(row - row.mean())
            ),
            Mistake(
                "divided by the length",
                "You divided by the length of the centred vector, the root of the sum of squares. Take the root of "
                "their mean.",
                np.atleast_2d((row - row.mean()) / (2 * spread)),
            ),
        ),
        (Operand("x", x, "word", "feature"),),
        {"word": word},
        columns=tuple(f"feature {number}" for number in range(4)),
        decimals=2,
        tolerance=0.02,
    )


def parameters(rng: np.random.Generator) -> Exercise:
    """How many numbers a block learns."""
    n_heads = int(rng.choice([2, 4]))
    d_model = n_heads * int(rng.integers(2, 6))
    d_ff = d_model * int(rng.integers(2, 5))
    table = encoder_block_parameters(d_model, n_heads, d_ff)
    count = {row.name: row.count for row in table.rows}
    total = table.total
    biases = sum(count[name] for name in count if name.startswith("b_"))
    norms = table.part_total("layer norm")
    return Exercise(
        "parameters",
        f"How many parameters does an encoder block have: d_model = {d_model}, {n_heads} heads, d_ff = {d_ff}? All "
        "linear maps have biases; there are two layer norms.",
        _one(total),
        (
            Mistake("biases left out", "The biases of the linear maps are missing.", _one(total - biases)),
            Mistake(
                "norms left out", "The two layer norms are missing: each has a gain and a shift.", _one(total - norms)
            ),
            Mistake("one norm", "A block has two layer norms; one of them is missing.", _one(total - norms // 2)),
            Mistake(
                "shifts and biases left out",
                "Biases are missing, and the shifts of the layer norms.",
                _one(total - biases - norms // 2),
            ),
            Mistake(
                "W_o left out", "W_o, which mixes the heads, is missing.", _one(total - count["w_o"] - count["b_o"])
            ),
            Mistake(
                "heads counted each with d_model",
                f"You counted {n_heads} times four full matrices. The heads share them: each has its own columns.",
                _one(total + (n_heads - 1) * table.part_total("attention")),
            ),
            Mistake(
                "one feed-forward map",
                "The feed-forward part has two maps: out to d_ff, and back to d_model.",
                _one(total - count["w_2"] - count["b_2"]),
            ),
            Mistake("attention only", "That is the attention part alone.", _one(table.part_total("attention"))),
        ),
        (_given(d_model=d_model, heads=n_heads, d_ff=d_ff),),
        {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff},
        columns=("parameters",),
    )


def doubling(rng: np.random.Generator) -> Exercise:
    """What twice the words cost."""
    n, n_heads, d_head = int(rng.integers(3, 11)), int(rng.choice([2, 3, 4])), int(rng.choice([2, 3, 5, 8]))
    d_model = n_heads * d_head
    # Half of what attention multiplies: the other half is weights · V.
    now, then = (attention_cost(length, d_model, n_heads).multiply_adds // 2 for length in (n, 2 * n))

    def pair(first: float, second: float) -> Floats:
        return np.array([[float(first), float(second)]])

    return Exercise(
        "doubling",
        f"How many multiplications does Q Kᵀ take for {n} words, all {n_heads} heads together with d = {d_head} each? "
        "And for twice as many words?",
        pair(now, then),
        (
            Mistake(
                "doubled only",
                "The first is right. Twice the words, and every word meets twice as many: four times the work.",
                pair(now, 2 * now),
            ),
            Mistake(
                "one head",
                f"That is one head. There are {n_heads} of them.",
                pair(n * n * d_head, 4 * n * n * d_head),
            ),
            Mistake(
                "d squared",
                "You squared the width and not the number of words: every word meets every word, and each of these "
                "pairs takes d multiplications.",
                pair(n * d_model**2, 2 * n * d_model**2),
            ),
            Mistake(
                "pairs only",
                "Those are the scores. Each of them takes d multiplications.",
                pair(n_heads * n * n, n_heads * 4 * n * n),
            ),
            Mistake(
                "weights · V too",
                "You counted weights · V too; asked is Q Kᵀ alone.",
                pair(2 * now, 2 * then),
            ),
            Mistake(
                "heads as wide as the model",
                "You gave every head the full width. Together they have d_model.",
                pair(n_heads * now, n_heads * then),
            ),
            Mistake(
                "the future left out",
                "You counted only the pairs that a causal mask leaves. There is no mask here.",
                pair(n * (n + 1) // 2 * d_model, n * (2 * n + 1) * d_model),
            ),
            Mistake(
                "eightfold",
                "The first is right. Twice the words are four times the pairs, not eight.",
                pair(now, 8 * now),
            ),
        ),
        (_given(words=n, heads=n_heads, d=d_head),),
        {"n": n, "n_heads": n_heads, "d": d_head},
        columns=("now", "with twice the words"),
    )
