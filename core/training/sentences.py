"""Small grammars of English to learn from: what a pronoun means, who did it, and sentences one after another."""

from collections.abc import Sequence

import numpy as np

from core.training.model import Integers
from core.training.task import NONE, Batch, no_cells

NOUNS = {
    "tool": ("bat", "hammer", "knife", "pen", "saw", "spoon", "phone", "key"),
    "container": ("bag", "box", "basket", "drawer", "bucket", "suitcase", "jar", "trunk"),
    "food": ("apple", "bread", "cake", "mango", "soup", "rice", "cheese", "orange"),
    "animal": ("dog", "cat", "horse", "goat", "bird", "rabbit", "cow", "parrot"),
    "place": ("house", "garden", "school", "shop", "station", "market", "temple", "park"),
    "clothes": ("shirt", "coat", "scarf", "sari", "hat", "dress", "jacket", "glove"),
}
ADJECTIVES = {
    "tool": ("new", "heavy", "sharp", "lost"),
    "container": ("empty", "open", "full", "roomy"),
    "food": ("fresh", "tasty", "sweet", "stale"),
    "animal": ("hungry", "tired", "thirsty", "angry"),
    "place": ("crowded", "quiet", "closed", "near"),
    "clothes": ("torn", "woollen", "ironed", "tight"),
}
CLASSES = tuple(NOUNS)
EITHER = ("old", "small", "red")
"""Adjectives that fit every noun: which one is meant cannot be known."""
SHARE_EITHER = 0.1
OWNERS = {"Meera": "her", "Asha": "her", "Anita": "her", "Ravi": "his", "Arun": "his", "Omar": "his"}
TEMPLATES = tuple(
    template.split()
    for template in (
        "NAME put the A in OWN B because it was X",
        "NAME took the A from OWN B because it was X",
        "NAME found OWN A beside the B because it was X",
        "NAME wanted the A not the B because it was X",
        "because it was X NAME put the A in OWN B",
        "because it was X NAME took the A from OWN B",
    )
)
LENGTH = len(TEMPLATES[0])


def _used(*groups: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for group in groups for word in group))


PRONOUN_WORDS = _used(
    tuple(OWNERS),
    tuple(OWNERS.values()),
    [word for template in TEMPLATES for word in template if word.islower()],
    *NOUNS.values(),
    *ADJECTIVES.values(),
    EITHER,
)
FITS = {word: kind for kind in CLASSES for word in (*NOUNS[kind], *ADJECTIVES[kind])}
"""The class of every noun and adjective that has one."""


def _pairs_kept_back() -> frozenset[tuple[str, str]]:
    """Thirty pairs of noun and adjective that training never shows, none of them of the sentence of the page."""
    shown = {("bat", "new"), ("bat", "heavy"), ("bag", "empty")}
    every = [(noun, word) for kind in CLASSES for noun in NOUNS[kind] for word in ADJECTIVES[kind]]
    others = [pair for pair in every if pair not in shown]
    chosen = np.random.default_rng(0).choice(len(others), 30, replace=False)
    return frozenset(others[number] for number in chosen)


KEPT_BACK = _pairs_kept_back()


def pronoun_sentence(template: Sequence[str], name: str, nouns: Sequence[str], adjective: str) -> tuple[str, ...]:
    """A sentence of the pronoun's grammar.

    Parameters
    ----------
    template : sequence of str
        One of `TEMPLATES`.
    name : str
        One of `OWNERS`.
    nouns : sequence of two str
        In their order.
    adjective : str
        What "it" was.

    Returns
    -------
    tuple of str
        Its words.

    Examples
    --------
    >>> " ".join(pronoun_sentence(TEMPLATES[0], "Meera", ("bat", "bag"), "new"))
    'Meera put the bat in her bag because it was new'
    """
    filled = {"NAME": name, "OWN": OWNERS[name], "A": nouns[0], "B": nouns[1], "X": adjective}
    return tuple(filled.get(word, word) for word in template)


def pronouns(n_pictures: int, fresh: bool, answer_is_word: bool, rng: np.random.Generator, n: int) -> Batch:
    """Sentences with two nouns and an adjective that fits one of them, which is what "it" means.

    Parameters
    ----------
    n_pictures : int
        Attention matrices of the model.
    fresh : bool
        True for pairs of noun and adjective that training never shows, and only those that can be known.
    answer_is_word : bool
        Whether the noun itself is to be named; else its position.
    rng : numpy.random.Generator
        The only source of randomness.
    n : int
        Sentences.

    Returns
    -------
    Batch
        One target a sentence, at "it".

    Examples
    --------
    >>> batch = pronouns(2, False, False, np.random.default_rng(0), 3)
    >>> batch.tokens.shape, (batch.targets != NONE).sum(axis=1).tolist()
    ((3, 11), [1, 1, 1])
    """
    number = {word: place for place, word in enumerate(PRONOUN_WORDS)}
    tokens = np.empty((n, LENGTH), dtype=np.int64)
    targets, sure = np.full((n, LENGTH), NONE), np.full((n, LENGTH), NONE)
    kept_back = sorted(KEPT_BACK)
    for row in range(n):
        if fresh:
            meant, adjective = kept_back[rng.integers(len(kept_back))]
            kind = FITS[meant]
        else:
            kind = CLASSES[rng.integers(len(CLASSES))]
            meant, adjective = _shown_pair(kind, rng)
        unclear = not fresh and rng.random() < SHARE_EITHER
        if unclear:
            adjective = EITHER[rng.integers(len(EITHER))]
        others = [other for other in CLASSES if other != kind]
        rival = NOUNS[others[rng.integers(len(others))]][rng.integers(8)]
        nouns = (meant, rival) if rng.random() < 0.5 else (rival, meant)
        template = TEMPLATES[rng.integers(len(TEMPLATES))]
        name = tuple(OWNERS)[rng.integers(len(OWNERS))]
        tokens[row] = [number[word] for word in pronoun_sentence(template, name, nouns, adjective)]
        asks = template.index("it")
        targets[row, asks] = number[meant] if answer_is_word else template.index("A" if nouns[0] == meant else "B")
        if not unclear:
            sure[row, asks] = targets[row, asks]
    return Batch(tokens, targets, lit_pronouns(n_pictures, tokens), sure)


def _shown_pair(kind: str, rng: np.random.Generator) -> tuple[str, str]:
    while True:
        pair = NOUNS[kind][rng.integers(8)], ADJECTIVES[kind][rng.integers(4)]
        if pair not in KEPT_BACK:
            return pair


def lit_pronouns(n_pictures: int, tokens: Integers) -> Integers:
    """Cells of `pronouns`: "it" looks at the adjective in the first picture, at the noun that it fits in the last.

    Parameters
    ----------
    n_pictures : int
        Attention matrices of the model.
    tokens : ndarray of shape (sequence, position)
        The sentences; where the adjective fits no noun or several, no noun is lit.

    Returns
    -------
    ndarray of int of shape (picture, sequence, query)
        See `Batch.lit`.

    Examples
    --------
    >>> words = "Meera put the bat in her bag because it was empty".split()
    >>> tokens = np.array([[PRONOUN_WORDS.index(word) for word in words]])
    >>> lit_pronouns(2, tokens)[:, 0, 8].tolist()
    [10, 6]
    """
    lit = no_cells(n_pictures, tokens)
    adjectives = {word for group in (*ADJECTIVES.values(), EITHER) for word in group}
    for row, numbers in enumerate(tokens.tolist()):
        words = [PRONOUN_WORDS[number] for number in numbers]
        if "it" not in words:
            continue
        asks = words.index("it")
        found = [place for place, word in enumerate(words) if word in adjectives]
        if len(found) != 1:
            continue
        lit[0, row, asks] = found[0]
        kind = FITS.get(words[found[0]])
        fitting = [place for place, word in enumerate(words) if kind and word in NOUNS[kind]]
        lit[-1, row, asks] = fitting[0] if len(fitting) == 1 else NONE
    return lit


def twin_sentences(rng: np.random.Generator, n: int) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Pairs of sentences that differ in the adjective: it fits the first noun in one and the second in the other.

    Parameters
    ----------
    rng, n
        As in `pronouns`.

    Returns
    -------
    tuple of two lists of tuple of str
        The sentences that mean the first noun, and their twins.

    Examples
    --------
    >>> first, second = twin_sentences(np.random.default_rng(0), 1)
    >>> sum(a != b for a, b in zip(first[0], second[0]))
    1
    """
    first, second = [], []
    for _ in range(n):
        kinds = rng.choice(len(CLASSES), 2, replace=False)
        nouns = tuple(NOUNS[CLASSES[kind]][rng.integers(8)] for kind in kinds)
        words = [ADJECTIVES[CLASSES[kind]][rng.integers(4)] for kind in kinds]
        template, name = TEMPLATES[rng.integers(len(TEMPLATES))], tuple(OWNERS)[rng.integers(len(OWNERS))]
        first.append(pronoun_sentence(template, name, nouns, words[0]))
        second.append(pronoun_sentence(template, name, nouns, words[1]))
    return first, second


# Who did it

ACTORS = ("dog", "man", "cat", "woman", "bird", "girl", "boy", "teacher")
DEEDS = ("bites", "sees", "calls", "follows")
ASKED = "[who]"
"""Stands first; the one who acts is to be named there."""
ORDER_VOCABULARY = (ASKED, *ACTORS, *DEEDS)


def _order_split() -> tuple[Integers, Integers]:
    """All sentences; a quarter is kept back, mirror images always on the same side."""
    groups = [(a, b, deed) for a in range(8) for b in range(a) for deed in range(4)]
    mixed = np.random.default_rng(0).permutation(len(groups))
    parts = []
    for chosen in (mixed[len(groups) // 4 :], mixed[: len(groups) // 4]):
        both = [(one, deed, other) for a, b, deed in (groups[i] for i in chosen) for one, other in ((a, b), (b, a))]
        parts.append(np.array([[0, 1 + one, 1 + len(ACTORS) + deed, 1 + other] for one, deed, other in both]))
    return parts[0], parts[1]


_ORDER_SHOWN, _ORDER_KEPT_BACK = _order_split()


def who(fresh: bool, rng: np.random.Generator, n: int) -> Batch:
    """Sentences of noun, verb and noun; asked is who acts.

    Parameters
    ----------
    fresh : bool
        True for sentences that training never shows, nor their mirror images: all of them in turn.
    rng, n
        As in `pronouns`.

    Returns
    -------
    Batch
        One target a sentence, at its first position.

    Examples
    --------
    >>> batch = who(False, np.random.default_rng(0), 3)
    >>> (batch.targets[:, 0] == batch.tokens[:, 1]).all()
    np.True_
    """
    if fresh:
        # In turn, mirror images side by side: who guesses one noun for both is right exactly half of the time.
        tokens = np.resize(_ORDER_KEPT_BACK, (n, _ORDER_KEPT_BACK.shape[1]))
    else:
        tokens = _ORDER_SHOWN[rng.integers(len(_ORDER_SHOWN), size=n)]
    targets = np.full_like(tokens, NONE)
    targets[:, 0] = tokens[:, 1]
    return Batch(tokens, targets, lit_who(tokens), targets)


def lit_who(tokens: Integers) -> Integers:
    """Cells of `who`: the first position looks at the first noun.

    Parameters
    ----------
    tokens : ndarray of shape (sequence, position)
        The sentences.

    Returns
    -------
    ndarray of int of shape (picture, sequence, query)
        See `Batch.lit`.

    Examples
    --------
    >>> lit_who(np.array([[0, 1, 9, 2]])).tolist()
    [[[1, -1, -1, -1]]]
    """
    lit = no_cells(1, tokens)
    lit[0, :, 0] = 1
    return lit


# Sentences one after another

PARTS = {
    "adjective": ("big", "small", "old", "young", "red"),
    "noun": ("dog", "cat", "man", "girl", "bird", "teacher"),
    "verb": ("sees", "likes", "helps", "finds", "calls"),
    "preposition": ("in", "near"),
    "place": ("park", "house", "garden", "river", "school"),
}
GRAMMAR_WORDS = ("the", ".", *(word for part in PARTS.values() for word in part))
_PART = {word: part for part, words in PARTS.items() for word in words} | {"the": "the", ".": "."}
# State of the grammar to the parts that may follow, and the state that each of them leads to.
_NEXT = {
    "start": {"the": "subject"},
    "subject": {"adjective": "subject noun", "noun": "verb"},
    "subject noun": {"noun": "verb"},
    "verb": {"verb": "object article"},
    "object article": {"the": "object"},
    "object": {"adjective": "object noun", "noun": "after object"},
    "object noun": {"noun": "after object"},
    "after object": {".": "start", "preposition": "place article"},
    "place article": {"the": "place"},
    "place": {"place": "stop"},
    "stop": {".": "start"},
}


def is_grammatical(words: Sequence[str]) -> bool:
    """Whether words are the beginning of a text of the grammar.

    Parameters
    ----------
    words : sequence of str
        Of `GRAMMAR_WORDS`.

    Returns
    -------
    bool
        The text may break off anywhere.

    Notes
    -----
    A sentence is "the [adjective] noun verb the [adjective] noun [in|near the place] .".

    Examples
    --------
    >>> is_grammatical("the old dog sees the cat . the".split()), is_grammatical("the dog dog".split())
    (True, False)
    """
    state = "start"
    for word in words:
        part = _PART.get(word, "")
        if part not in _NEXT[state]:
            return False
        state = _NEXT[state][part]
    return True


def texts(length: int, causal: bool, rng: np.random.Generator, n: int) -> Batch:
    """Sentences of the grammar one after another, cut off at a length; the next word is to be named everywhere.

    Parameters
    ----------
    length : int
        Words.
    causal : bool
        Whether the model is kept from looking at what follows.
    rng, n
        As in `pronouns`.

    Returns
    -------
    Batch
        Lit is the next word itself, which only a model without a mask can look at.

    Examples
    --------
    >>> batch = texts(12, False, np.random.default_rng(0), 1)
    >>> " ".join(GRAMMAR_WORDS[number] for number in batch.tokens[0])
    'the small dog sees the dog . the teacher finds the girl'
    """
    number = {word: place for place, word in enumerate(GRAMMAR_WORDS)}
    words = np.empty((n, length + 1), dtype=np.int64)
    for row in range(n):
        text: list[str] = []
        while len(text) <= length:
            text += _sentence(rng)
        words[row] = [number[word] for word in text[: length + 1]]
    tokens, targets = words[:, :-1], words[:, 1:].copy()
    return Batch(tokens, targets, lit_texts(causal, tokens), targets)


def _sentence(rng: np.random.Generator) -> list[str]:
    def one(part: str) -> str:
        return PARTS[part][rng.integers(len(PARTS[part]))]

    def thing() -> list[str]:
        return ["the", *([one("adjective")] if rng.random() < 0.5 else []), one("noun")]

    where = [one("preposition"), "the", one("place")] if rng.random() < 0.5 else []
    return [*thing(), one("verb"), *thing(), *where, "."]


def lit_texts(causal: bool, tokens: Integers) -> Integers:
    """Cells of `texts`: the word to be named, one to the right, where nothing hides it.

    Parameters
    ----------
    causal : bool
        Whether it is hidden.
    tokens : ndarray of shape (sequence, position)
        The texts.

    Returns
    -------
    ndarray of int of shape (picture, sequence, query)
        See `Batch.lit`.

    Examples
    --------
    >>> lit_texts(False, np.zeros((1, 3), int)).tolist()
    [[[1, 2, -1]]]
    """
    lit = no_cells(1, tokens)
    if not causal:
        lit[0, :, :-1] = np.arange(1, tokens.shape[1])
    return lit
