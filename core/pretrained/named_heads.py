"""What single heads of the trained model do, and how well: by the weight on the word that they should look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.pretrained.joining import join_words
from core.pretrained.model import Encoder, read_text
from core.pretrained.sentences import (
    Case,
    last_word_cases,
    marked_cases,
    plain_texts,
    pronoun_cases,
    repeated_cases,
)
from core.softmax import Floats

NAMED = {
    "previous word": (0, 2),
    "next word": (1, 8),
    "same word elsewhere": (2, 9),
    "determiner to noun": (3, 1),
    "adjective to noun": (2, 8),
    "preposition to noun": (3, 1),
    "verb to object": (3, 1),
    "pronoun to the one meant": (1, 3),
    "last full stop": (3, 11),
    "rests on the start": (4, 5),
}
"""Layer and head, both counted from 0, that a pattern is named after: what `best_head` finds for it."""

LIMIT = '"it" to what the last word decides'
"""A pattern that no head of this model has."""

Attentions = Mapping[str, Floats]
"""Every text to (layer, head, word, word), whole words, start and end included."""


@dataclass(frozen=True, slots=True)
class Score:
    """How well a head finds the word that it should."""

    mass: float
    """Mean weight on that word, from 0 to 1."""
    hit: float
    """Share of cases in which no other word has more; start, end and the asking word itself do not count as others."""
    rival_mass: float | None
    """Mean weight on the word that it could be mistaken for; None where there is none."""
    over_rival: float | None
    """Share of cases in which it has more weight than its rival."""

    @property
    def found(self) -> float:
        """The share over the rival where there is one, else the share of hits."""
        return self.hit if self.over_rival is None else self.over_rival


def cases() -> dict[str, tuple[Case, ...]]:
    """Every pattern with its cases.

    Returns
    -------
    dict of str to tuple of Case
        In the order of `NAMED`, the limit last.

    Examples
    --------
    >>> {name: len(found) for name, found in cases().items()}["pronoun to the one meant"]
    84
    """
    texts = [(text, len(text.split())) for text in plain_texts()]
    places = [(text, place, n) for text, n in texts for place in range(1, n + 1)]  # the start is 0
    found = {
        "previous word": tuple(Case(text, place, place - 1) for text, place, _ in places if place > 1),
        "next word": tuple(Case(text, place, place + 1) for text, place, n in places if place < n),
        "same word elsewhere": repeated_cases(),
        **marked_cases(),
        "pronoun to the one meant": pronoun_cases(),
        "last full stop": tuple(Case(text, place, n) for text, place, n in places if place < n),
        "rests on the start": tuple(Case(text, place, 0) for text, place, _ in places),
    }
    return {name: found[name] for name in NAMED} | {LIMIT: last_word_cases()}


def attentions(encoder: Encoder, texts: Sequence[str]) -> dict[str, Floats]:
    """Attention of every head to whole words.

    Parameters
    ----------
    encoder : Encoder
        From `core.pretrained.model.load`.
    texts : sequence of str
        Each once.

    Returns
    -------
    dict of str to ndarray of shape (layer, head, word, word)
        Start and end included.
    """
    found = {}
    for text in texts:
        reading = read_text(encoder, text)
        found[text] = join_words(reading.weights, reading.pieces.word_of)
    return found


def score(cases_of: Sequence[Case], found: Attentions, layer: int, head: int) -> Score:
    """How well one head does on some cases.

    Parameters
    ----------
    cases_of : sequence of Case
        At least one.
    found : mapping of str to ndarray
        From `attentions`.
    layer, head : int
        Counted from 0.

    Returns
    -------
    Score
        Means over the cases.

    Examples
    --------
    >>> weights = np.array([[[[0.1, 0.6, 0.2, 0.1]] * 4]])
    >>> score([Case("a b", 1, 2, 3)], {"a b": weights}, 0, 0)
    Score(mass=0.2, hit=1.0, rival_mass=0.1, over_rival=1.0)
    """
    mass, hit, rival = [], [], []
    for case in cases_of:
        row = found[case.text][layer, head, case.query]
        mass.append(row[case.key])
        rest = [place for place in range(1, len(row) - 1) if place != case.query]
        hit.append(row[case.key] >= row[rest].max(initial=0.0))
        if case.rival is not None:
            rival.append(row[case.rival])
    told = float(np.mean(mass)), float(np.mean(hit))
    if len(rival) < len(mass):
        return Score(*told, None, None)
    return Score(*told, float(np.mean(rival)), float(np.mean(np.greater(mass, rival))))


def best_distance(cases_of: Sequence[Case]) -> float:
    """Share of cases that the best fixed distance gets right: what a head must beat to have learned more than places.

    Parameters
    ----------
    cases_of : sequence of Case
        At least one.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> round(best_distance([Case("", 1, 2), Case("", 4, 5), Case("", 3, 1)]), 2)
    0.67
    """
    distances = [case.key - case.query for case in cases_of]
    return max(distances.count(distance) for distance in distances) / len(distances)


def best_head(cases_of: Sequence[Case], found: Attentions) -> tuple[int, int]:
    """The head that does best on some cases: by the share of hits, then by the mean weight.

    Parameters
    ----------
    cases_of : sequence of Case
        At least one.
    found : mapping of str to ndarray
        From `attentions`.

    Returns
    -------
    tuple of int
        Layer and head, counted from 0.

    Examples
    --------
    >>> weights = np.array([[[[0.1, 0.6, 0.2, 0.1]] * 4, [[0.0, 0.3, 0.7, 0.0]] * 4]])
    >>> best_head([Case("a b", 1, 2)], {"a b": weights})
    (0, 1)
    """
    n_layers, n_heads = found[cases_of[0].text].shape[:2]
    heads = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]

    def merit(place: tuple[int, int]) -> tuple[float, float]:
        scored = score(cases_of, found, *place)
        return scored.hit, scored.mass

    return max(heads, key=merit)


def on_the_other_half(cases_of: Sequence[Case], found: Attentions) -> float:
    """How well heads do that were chosen on other sentences: chosen on one half and tested on the other, both ways.

    Parameters
    ----------
    cases_of : sequence of Case
        Of at least two groups.
    found : mapping of str to ndarray
        From `attentions`.

    Returns
    -------
    float
        Mean of `Score.found` of both ways.

    Examples
    --------
    >>> weights = np.array([[[[0.1, 0.6, 0.2, 0.1]] * 4, [[0.0, 0.3, 0.7, 0.0]] * 4]])
    >>> on_the_other_half([Case("a b", 1, 2), Case("c d", 1, 2)], {"a b": weights, "c d": weights})
    1.0
    """
    groups = list(dict.fromkeys(case.group or case.text for case in cases_of))
    halves = [[case for case in cases_of if groups.index(case.group or case.text) % 2 == side] for side in (0, 1)]
    results = []
    for chosen_on, tested_on in (halves, halves[::-1]):
        results.append(score(tested_on, found, *best_head(chosen_on, found)).found)
    return float(np.mean(results))


def highest_share(cases_of: Sequence[Case], found: Attentions) -> float:
    """The largest `Score.found` of all heads, each given the benefit of having been chosen on these very cases.

    Parameters
    ----------
    cases_of : sequence of Case
        At least one.
    found : mapping of str to ndarray
        From `attentions`.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> weights = np.array([[[[0.1, 0.6, 0.2, 0.1]] * 4]])
    >>> highest_share([Case("a b", 1, 2, 3), Case("a b", 1, 3, 2)], {"a b": weights})
    0.5
    """
    n_layers, n_heads = found[cases_of[0].text].shape[:2]
    return max(score(cases_of, found, layer, head).found for layer in range(n_layers) for head in range(n_heads))
