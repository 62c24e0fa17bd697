"""What a trained model can do, as numbers, by its forward pass in NumPy."""

from collections.abc import Sequence

import numpy as np

from core.softmax import Floats, entropy, softmax
from core.training import sentences
from core.training.model import Design, Integers, Parameters, Run, run
from core.training.sequences import DIGITS, N_SORTED
from core.training.task import NONE, Task

N_FRESH = 500
"""Fresh sequences, pairs of sentences, or samples that a figure is counted over."""


def accuracy(logits: Floats, targets: Integers) -> float:
    """Share of targets that get the largest logit.

    Parameters
    ----------
    logits : ndarray of shape (..., position, option)
        As in `core.training.model.Run`.
    targets : ndarray of int of shape (..., position)
        `NONE` where nothing is asked.

    Returns
    -------
    float
        From 0 to 1; NaN where nothing is asked at all.

    Examples
    --------
    >>> accuracy(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]), np.array([1, 1, -1]))
    0.5
    """
    asked = targets != NONE
    return float((logits.argmax(axis=-1) == targets)[asked].mean()) if asked.any() else float("nan")


def loss(logits: Floats, targets: Integers) -> float:
    """Mean of -log of the share that the softmax gives to the right answer.

    Parameters
    ----------
    logits, targets
        As in `accuracy`.

    Returns
    -------
    float
        In nats.

    Examples
    --------
    >>> round(loss(np.zeros((1, 4)), np.array([2])), 6) == round(float(np.log(4)), 6)
    True
    """
    asked = targets != NONE
    shares = np.take_along_axis(softmax(logits), np.maximum(targets, 0)[..., None], axis=-1)[..., 0]
    return float(-np.log(np.maximum(shares[asked], np.finfo(float).tiny)).mean())


def masses(found: Run, lit: Integers) -> tuple[float, ...]:
    """For each picture, the mean weight on the cells that should light up.

    Parameters
    ----------
    found : Run
        Of a batch.
    lit : ndarray of int of shape (picture, sequence, query)
        See `core.training.task.Batch`.

    Returns
    -------
    tuple of float
        NaN for a picture in which no cell should light up.

    Examples
    --------
    >>> from core.attention import attend
    >>> one = attend(np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), np.zeros((1, 2, 3)))
    >>> masses(Run((one,), np.zeros((1, 2, 5))), np.array([[[1, -1]]]))
    (0.5,)
    """
    return tuple(
        _mean(np.take_along_axis(attention.weights, np.maximum(cells, 0)[..., None], axis=-1)[..., 0][cells != NONE])
        for attention, cells in zip(found.pictures, lit, strict=True)
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")


def first_entropy(found: Run) -> float:
    """Mean entropy of the rows of the first picture.

    Parameters
    ----------
    found : Run
        Of a batch.

    Returns
    -------
    float
        In nats.

    Examples
    --------
    >>> from core.attention import attend
    >>> one = attend(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
    >>> round(first_entropy(Run((one,), np.zeros((2, 5)))), 6) == round(float(np.log(2)), 6)
    True
    """
    return float(entropy(found.pictures[0].weights).mean())


def on_fresh(task: Task, parameters: Parameters, seed: int = 1) -> dict[str, float]:
    """Accuracy, loss and lit mass on fresh sequences.

    Parameters
    ----------
    task : Task
        What was learned.
    parameters : mapping of str to ndarray
        By what.
    seed : int
        Of the sequences.

    Returns
    -------
    dict of str to float
        "accuracy", "loss" of all targets, and "mass 0", "mass 1", ... of the pictures in which cells should light up.
    """
    batch = task.fresh(np.random.default_rng([seed, 2]), N_FRESH)
    found = run(task.design, parameters, batch.tokens)
    named = {f"mass {place}": mass for place, mass in enumerate(masses(found, batch.lit)) if mass == mass}  # not NaN
    return {"accuracy": accuracy(found.logits, batch.sure), "loss": loss(found.logits, batch.targets)} | named


def sorted_by_itself(design: Design, parameters: Parameters, digits: Integers) -> Integers:
    """Digits in order as a model writes them, each read again before the next.

    Parameters
    ----------
    design, parameters
        Of the task "sort".
    digits : ndarray of int of shape (sequence, 6)
        What is to be sorted.

    Returns
    -------
    ndarray of int of shape (sequence, 6)
        What was written.
    """
    tokens = np.concatenate([digits, np.full((len(digits), 1), 10)], axis=1)
    for _ in range(N_SORTED):
        tokens = np.concatenate(
            [tokens, run(design, parameters, tokens[:, : 2 * N_SORTED]).logits[:, -1:].argmax(-1)], 1
        )
    return np.asarray(tokens[:, N_SORTED + 1 :])


def flips(task: Task, parameters: Parameters, seed: int = 1, n: int = N_FRESH) -> dict[str, float]:
    """Whether what "it" is taken for changes with the adjective, over pairs of sentences that differ in nothing else.

    Parameters
    ----------
    task, parameters
        Of "pronoun" or "pronoun-word".
    seed, n : int
        Of the sentences; how many pairs.

    Returns
    -------
    dict of str to float
        "both right": share of the pairs whose two answers are right. "picture flips": share in which the last
        picture's row of "it" has more weight on the right noun than on the other one, in both. "moved": mean over the
        pairs of the weight that moves from one noun to the other.
    """
    pairs = sentences.twin_sentences(np.random.default_rng([seed, 4]), n)
    right, larger, shares = [], [], []
    for meant in (0, 1):
        tokens = np.concatenate([task.numbers(words) for words in pairs[meant]])
        found = run(task.design, parameters, tokens)
        lit = sentences.lit_pronouns(task.design.n_pictures, tokens)[-1]
        rows, asks = np.nonzero(lit != NONE)
        targets = lit[rows, asks]
        answers = found.logits[rows, asks].argmax(axis=-1)
        wanted = targets if task.design.readout == "pointer" else tokens[rows, targets]
        right.append(answers == wanted)
        weights = found.pictures[-1].weights[rows, asks]  # (sentence, key)
        nouns = np.array([_places(task, row) for row in tokens])  # (sentence, first or second noun)
        first, second = (weights[np.arange(n), nouns[:, place]] for place in (0, 1))
        shares.append(first - second)
        larger.append(first > second if meant == 0 else second > first)
    return {
        "both right": float((right[0] & right[1]).mean()),
        "picture flips": float((larger[0] & larger[1]).mean()),
        "moved": float((shares[0] - shares[1]).mean() / 2),
    }


def _places(task: Task, tokens: Integers) -> tuple[int, int]:
    nouns = {noun for group in sentences.NOUNS.values() for noun in group}
    first, second = (place for place, number in enumerate(tokens) if task.words[number] in nouns)
    return first, second


def only_what_came_before(task: Task, parameters: Parameters, seed: int = 1, n: int = 200) -> float:
    """Loss of naming the next word when the rest of the text is not there at all.

    Parameters
    ----------
    task, parameters
        Of "mask" or "mask-none".
    seed, n : int
        Of the texts; how many.

    Returns
    -------
    float
        In nats a word, over all lengths.
    """
    batch = task.fresh(np.random.default_rng([seed, 5]), n)
    length = batch.tokens.shape[1]
    return float(
        np.mean(
            [
                loss(run(task.design, parameters, batch.tokens[:, :end]).logits[:, -1], batch.targets[:, end - 1])
                for end in range(1, length + 1)
            ]
        )
    )


def samples(
    task: Task, parameters: Parameters, seed: int = 1, n: int = 200, begin: Sequence[str] = ("the",)
) -> list[tuple[str, ...]]:
    """Texts that a model writes by itself, each word drawn from the shares it gives.

    Parameters
    ----------
    task, parameters
        Of "mask" or "mask-none".
    seed, n : int
        Of the draws; how many texts.
    begin : sequence of str
        First words.

    Returns
    -------
    list of tuple of str
        Twelve words each.
    """
    rng = np.random.default_rng([seed, 6])
    tokens = np.repeat(task.numbers(begin), n, axis=0)
    while tokens.shape[1] < task.design.n_positions:
        shares = softmax(run(task.design, parameters, tokens).logits[:, -1])
        drawn = (shares.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1, keepdims=True)
        tokens = np.concatenate([tokens, np.minimum(drawn, len(task.words) - 1)], axis=1)
    return [tuple(task.words[number] for number in row) for row in tokens]


def grammatical(texts: Sequence[Sequence[str]]) -> float:
    """Share of texts that keep to the grammar.

    Parameters
    ----------
    texts : sequence of sequence of str
        At least one.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> grammatical([["the", "dog"], ["dog", "the"]])
    0.5
    """
    return float(np.mean([sentences.is_grammatical(text) for text in texts]))


def of(task: Task, parameters: Parameters, seed: int = 1) -> dict[str, float]:
    """Everything that is counted of a trained model.

    Parameters
    ----------
    task, parameters
        What was learned, by what.
    seed : int
        Of the fresh sequences.

    Returns
    -------
    dict of str to float
        See `on_fresh`; and what belongs to one task alone: "whole" (share of sequences sorted without a mistake, each
        digit read again before the next), "known" (accuracy where a table of successors was learned in-context),
        what `flips` counts, "before" (see `only_what_came_before`) and "grammatical".
    """
    found = on_fresh(task, parameters, seed)
    rng = np.random.default_rng([seed, 7])
    if task.name == "sort":
        digits = rng.permuted(np.tile(np.arange(len(DIGITS)), (N_FRESH, 1)), axis=1)[:, :N_SORTED]
        written = sorted_by_itself(task.design, parameters, digits)
        found["whole"] = float((written == np.sort(digits, axis=1)).all(axis=1).mean())
    elif task.name.startswith("induction"):
        batch = task.draw(rng, N_FRESH)
        found["known"] = accuracy(run(task.design, parameters, batch.tokens).logits, batch.sure)
    elif task.name.startswith("pronoun"):
        found |= flips(task, parameters, seed)
    elif task.name.startswith("mask"):
        found["before"] = only_what_came_before(task, parameters, seed)
        found["grammatical"] = grammatical(samples(task, parameters, seed))
    return found
