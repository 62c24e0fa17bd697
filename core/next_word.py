"""A generator that learns one sentence by heart, with a causal mask and without, and then has to recite it."""

from dataclasses import dataclass

import numpy as np

from core.attention import Attention, attend
from core.masks import causal_mask
from core.positions import sinusoidal_encoding
from core.scaling import unit_spread
from core.softmax import Floats

RIDGE = 1e-8
"""Added to the diagonal of the least squares, as a share of its mean: rows that are all but equal stay solvable."""

_STREAM = 5  # as in `core.examples`: keeps this purpose's numbers apart under the reader's seed


@dataclass(frozen=True, slots=True)
class Recital:
    """What a read-out named as the next word, in training and afterwards; numbers are positions in the vocabulary."""

    weights: Floats
    """(query, key): attention over the whole sentence, as in training."""
    logits: Floats
    """(query, key): what went into its softmax."""
    qkv: tuple[Floats, Floats, Floats]
    """(position, d_head): what was compared and mixed, positions included."""
    vocabulary: tuple[str, ...]
    """The different words of the sentence, in their order."""
    wanted: tuple[int, ...]
    """The word after each position but the last."""
    in_training: tuple[int, ...]
    """Named from the rows it was fitted to."""
    in_generation: tuple[int, ...]
    """Named when the word and what follows is not there yet; the words before are the true ones."""
    recited: tuple[int, ...]
    """Named one after the other from the first word on, each from what was named before."""

    @property
    def training_accuracy(self) -> float:
        """Share of words named right in training; 0 where there is none to name."""
        return _share(self.in_training, self.wanted)

    @property
    def generation_accuracy(self) -> float:
        """Share of words named right when they are not there yet."""
        return _share(self.in_generation, self.wanted)


def _share(named: tuple[int, ...], wanted: tuple[int, ...]) -> float:
    return sum(one == other for one, other in zip(named, wanted, strict=True)) / max(1, len(wanted))


def learn_by_heart(
    words: tuple[str, ...], x: Floats, w_q: Floats, w_k: Floats, w_v: Floats, masked: bool, seed: int = 0
) -> Recital:
    """Fit a read-out of one head's output to the next word of a sentence, and let it generate.

    Parameters
    ----------
    words : tuple of str
        The sentence; equal words must have equal rows in x.
    x : ndarray of shape (position, d_model)
        Their embeddings; positions are added here.
    w_q, w_k, w_v : ndarray of shape (d_model, d_head)
        One head's projections, not trained.
    masked : bool
        Whether each query may attend to itself and what stands before it only.
    seed : int
        Of the layer between.

    Returns
    -------
    Recital
        What was named when.

    Raises
    ------
    ValueError
        x has not one row a word.

    Notes
    -----
    Sinusoidal positions are added; q, k and v are brought to a spread of 1, as layer norm would. The head's output goes
    through one random layer with a bend (8 units a word and 32), which is not trained; the read-out is fitted to
    one-hot next words by least squares. When position i + 1 is to be generated, what stands from there on does not
    exist: the last row of the prefix is all there is. It equals row i of the masked run, whatever was done in training.
    Of several words with an equal score the first wins.

    Examples
    --------
    >>> x, w = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.eye(2)
    >>> learn_by_heart(("a", "b", "c"), x, w, w, w, masked=True).recited
    (1, 2)
    """
    n = len(words)
    if len(x) != n:
        raise ValueError(f"x needs one row a word, {n}; got {len(x)}")
    vocabulary = tuple(dict.fromkeys(words))
    numbers = [vocabulary.index(word) for word in words]
    positions = sinusoidal_encoding(n, x.shape[-1])
    # A sum of two projections, so that a recited word costs no projection of its own.
    by_word, by_place = ([part @ w for w in (w_q, w_k, w_v)] for part in (x, positions))
    spreads = [unit_spread(a + b)[1] for a, b in zip(by_word, by_place, strict=True)]

    def project(places: list[int]) -> tuple[Floats, Floats, Floats]:
        """q, k and v of words, each told by where the sentence has it."""
        q, k, v = (
            (a[places] + b[: len(places)]) / spread for a, b, spread in zip(by_word, by_place, spreads, strict=True)
        )
        return q, k, v

    def run(places: list[int], mask: bool) -> Attention:
        return attend(*project(places), causal_mask(len(places)) if mask else None)

    trained = run([*range(n)], masked)
    output = trained.output
    size = unit_spread(output)[1]
    rng = np.random.default_rng([_STREAM, seed])
    width, d_head = 8 * n + 32, output.shape[-1]
    mix, bias = rng.normal(size=(d_head, width)) / np.sqrt(d_head), rng.normal(size=width)

    def features(outputs: Floats) -> Floats:
        return np.asarray(np.maximum(outputs / size @ mix + bias, 0.0) / np.sqrt(width))

    targets = np.eye(len(vocabulary))[numbers[1:]]  # (position, vocabulary), one row less than words
    learned = features(output[:-1])
    alike = learned @ learned.T
    ridge = RIDGE * (np.trace(alike) / max(1, n - 1)) * np.eye(n - 1)
    read_out = learned.T @ np.linalg.solve(alike + ridge, targets)

    def name(outputs: Floats) -> tuple[int, ...]:
        # Rounded, so that of equal scores the first wins on every machine.
        return tuple(int(best) for best in (features(outputs) @ read_out).round(6).argmax(axis=-1))

    alone = run([*range(n)], True).output  # row i: what is there to see when position i + 1 is generated
    recited = [numbers[0]]
    while len(recited) < n:
        so_far = run([numbers.index(number) for number in recited], True).output
        recited.append(name(so_far[-1:])[0])
    wanted = tuple(numbers[1:])
    return Recital(
        trained.weights,
        trained.scaled_scores,
        project([*range(n)]),
        vocabulary,
        wanted,
        name(output[:-1]),
        name(alone[:-1]),
        tuple(recited[1:]),
    )
