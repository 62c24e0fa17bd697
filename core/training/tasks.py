"""The tasks by name: what is learned, by which model, and how it is trained."""

from dataclasses import replace
from functools import partial

from core.training import sentences as s
from core.training import sequences as q
from core.training.model import Design
from core.training.task import Recipe, Task

_PROBES = {
    "pronoun": "Meera put the bat in her bag because it was new",
    "mask": "the old man finds the bird near the river . the girl",
}

NONE = "-none"
"""Ends the name of a task whose model lacks what the task needs."""
TWIN = "pronoun-word"
"""The pronoun's task for an ordinary encoder of two layers, which names the noun instead of pointing at it."""

COPIES = (1, 2, 3)
"""Places back that there is a task for."""


def _copy(back: int, positions: bool) -> Task:
    draw = partial(q.copy_back, back, 12)
    return Task(
        f"copy-{back}" + NONE * (not positions),
        (*q.LETTERS, q.BLANK),
        Design(27, 12, causal=True, positions=positions),
        Recipe(5e-3, 64, 300, 6),
        draw,
        draw,
        tuple("attentionism"),
        partial(q.lit_copy_back, back),
        spaced=False,
        lengths=(1, 12),
        needs=_no_blank,
    )


def _different_digits(words: tuple[str, ...]) -> str:
    if q.END in words:
        return f"wanted digits only, the bar comes by itself; got {''.join(words)}"
    return "" if len(set(words)) == len(words) else f"wanted different digits, each once; got {''.join(words)}"


def _no_blank(words: tuple[str, ...]) -> str:
    return (
        "wanted letters only; the blank is what the model writes where there is no letter yet"
        if q.BLANK in words
        else ""
    )


def _induction(name: str, n_layers: int) -> Task:
    draw = partial(q.tables, 32, n_layers)
    return Task(
        name,
        q.TABLE_LETTERS,
        Design(16, 32, d_model=64, d_head=64, n_layers=n_layers, causal=True),
        Recipe(3e-3, 32, 400, 8),
        draw,
        partial(q.repeated, n_layers),
        tuple("dkbnahpgcmfldkbnahpgcmfl"),
        partial(q.lit_tables, n_layers),
        spaced=False,
        lengths=(2, 32),
    )


def _one_it(words: tuple[str, ...]) -> str:
    return "" if words.count("it") == 1 else f"wanted a sentence with the word it exactly once; got {words.count('it')}"


def _pronoun(name: str, design: Design, recipe: Recipe) -> Task:
    pointer = design.readout == "pointer"
    return Task(
        name,
        s.PRONOUN_WORDS,
        design,
        recipe,
        partial(s.pronouns, design.n_pictures, False, not pointer),
        partial(s.pronouns, design.n_pictures, True, not pointer),
        tuple(_PROBES["pronoun"].split()),
        partial(s.lit_pronouns, design.n_pictures),
        spaced=True,
        lengths=(2, s.LENGTH),
        needs=_one_it,
    )


def _three_words(words: tuple[str, ...]) -> str:
    one, deed, other = words
    fits = one in s.ACTORS and deed in s.DEEDS and other in s.ACTORS
    return "" if fits else f"wanted a noun, a verb and a noun; got {' '.join(words)}"


def _order(name: str, positions: bool) -> Task:
    return Task(
        name,
        s.ORDER_VOCABULARY,
        Design(len(s.ORDER_VOCABULARY), 4, d_model=16, d_head=16, positions=positions),
        Recipe(3e-3, 64, 300, 6),
        partial(s.who, False),
        partial(s.who, True),
        (s.ASKED, "dog", "bites", "man"),
        s.lit_who,
        spaced=True,
        lengths=(3, 3),
        needs=_three_words,
        prefix=(s.ASKED,),
    )


SCALE_LENGTH = 12


def _scale(name: str, scaled: bool) -> Task:
    draw = partial(q.reverse, 10, SCALE_LENGTH)
    return Task(
        name,
        q.DIGITS,
        Design(10, SCALE_LENGTH, d_head=256, scaled=scaled, unit_scores=True),
        Recipe(1e-3, 32, 150, 3),
        draw,
        draw,
        tuple("314159265358"),
        q.lit_reverse,
        spaced=False,
        lengths=(SCALE_LENGTH, SCALE_LENGTH),
    )


def _mask(name: str, causal: bool) -> Task:
    draw = partial(s.texts, 12, causal)
    return Task(
        name,
        s.GRAMMAR_WORDS,
        Design(len(s.GRAMMAR_WORDS), 12, causal=causal),
        Recipe(1e-2, 32, 300, 6),
        draw,
        draw,
        tuple(_PROBES["mask"].split()),
        partial(s.lit_texts, causal),
        spaced=True,
        lengths=(1, 12),
    )


def _reverse(name: str, positions: bool) -> Task:
    draw = partial(q.reverse, 26, 10)
    return Task(
        name,
        q.LETTERS,
        Design(26, 10, positions=positions),
        Recipe(2e-3, 64, 300, 6),
        draw,
        draw,
        tuple("attentions"),
        q.lit_reverse,
        spaced=False,
        lengths=(10, 10),
    )


def _sort(name: str, positions: bool) -> Task:
    return Task(
        name,
        (*q.DIGITS, q.END),
        Design(11, 12, d_ff=128, causal=True, positions=positions),
        Recipe(1e-2, 64, 400, 8),
        q.sort,
        q.sort,
        (*"582914", q.END, *"12458"),
        q.lit_sort,
        spaced=False,
        lengths=(q.N_SORTED, q.N_SORTED),
        needs=_different_digits,
    )


_POINTER = Design(len(s.PRONOUN_WORDS), s.LENGTH, spread=0.15, readout="pointer")
_POINTING = Recipe(3e-3, 64, 400, 8)

_ALL = (
    _reverse("reverse", True),
    _reverse("reverse" + NONE, False),
    *(_copy(back, positions) for back in COPIES for positions in (True, False)),
    _sort("sort", True),
    _sort("sort" + NONE, False),
    _induction("induction", 2),
    _induction("induction" + NONE, 1),
    _pronoun("pronoun", _POINTER, _POINTING),
    _pronoun("pronoun" + NONE, replace(_POINTER, n_layers=0), _POINTING),
    _order("order", True),
    _order("order" + NONE, False),
    _scale("scale", True),
    _scale("scale" + NONE, False),
    _mask("mask", True),
    _mask("mask" + NONE, False),
    _pronoun(
        TWIN,
        Design(len(s.PRONOUN_WORDS), s.LENGTH, n_layers=2, spread=0.15),
        Recipe(5e-3, 64, 500, 10),
    ),
)

TASKS = {task.name: task for task in _ALL}
"""Every task by its name."""

TWINS = (2, 9)
"""Seeds of two models of "pronoun-word" that answer equally well and attend differently."""

SAVED = (*((task.name, 0) for task in _ALL if task.name != TWIN), *((TWIN, seed) for seed in TWINS))
"""Tasks and seeds of the runs that the repository keeps."""
