"""Trained models in words: the names of tasks and pictures, what to look for, and what a model answers."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.softmax import softmax
from core.training.figures import sorted_by_itself
from core.training.model import Parameters, Run, run
from core.training.runs import Film
from core.training.sentences import TEMPLATES, pronoun_sentence
from core.training.sequences import END, N_SORTED
from core.training.task import NONE as NOTHING
from core.training.task import Task
from core.training.tasks import NONE
from ui.charts.learning import Measure
from ui.literal import literal


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of one task."""

    without: str
    """What the other model lacks, after "without"."""
    asks: str
    """What is to be learned."""
    own: str
    """What a reader may type."""


TOLD: dict[str, Told] = {
    "reverse": Told("positions", "Ten letters are to be written backwards.", "ten letters"),
    "copy 1": Told("positions", "At each place the letter just before it is to be written.", "up to twelve letters"),
    "copy 2": Told("positions", "At each place the letter two places before is to be written.", "up to twelve letters"),
    "copy 3": Told(
        "positions", "At each place the letter three places before is to be written.", "up to twelve letters"),
    "sort": Told("positions", "Six digits are read, then written in order, one by one.", "six different digits"),
    "induction": Told(
        "a second layer",
        "A random table says which letter follows which: what comes next stands only in the text itself.",
        "two to 32 letters from a to p",
    ),
    "pronoun": Told(
        "the first layer", "What is “it”? The noun that the adjective fits is to be pointed at.",
        "a sentence of its vocabulary with the word it",
    ),
    "order": Told("positions", "Who did it? The noun that acts is to be named at [who].", "noun, verb, noun"),
    "scale": Told(
        "1/√d", "Twelve digits are to be written backwards, by one head with keys of size d = 256.", "twelve digits"
    ),
    "mask": Told("the causal mask", "In small English sentences the next word is to be named.", "up to twelve words"),
}  # fmt: skip
"""The tasks that a reader can choose from."""


def task_name(chosen: str, without: bool) -> str:
    """The task of `core.training.tasks` behind a choice.

    Parameters
    ----------
    chosen : str
        A name of `TOLD`.
    without : bool
        Whether what it needs is left out.

    Returns
    -------
    str
        A key of `TASKS`.

    Examples
    --------
    >>> task_name("copy 2", True)
    'copy-2-none'
    """
    return chosen.replace(" ", "-") + NONE * without


def picture_names(task: Task) -> tuple[str, ...]:
    """Names of a model's attention matrices.

    Parameters
    ----------
    task : Task
        Whose model.

    Returns
    -------
    tuple of str
        In the order of `Run.pictures`.

    Examples
    --------
    >>> from core.training.tasks import TASKS
    >>> picture_names(TASKS["reverse"]), picture_names(TASKS["pronoun"])
    (('weights',), ('weights of layer 0', 'weights of the pointer'))
    """
    layers = tuple(f"weights of layer {layer}" for layer in range(task.design.n_layers))
    if task.design.readout == "pointer":
        return (*layers, "weights of the pointer")
    return layers if len(layers) > 1 else ("weights",)


MEASURES: tuple[Measure, ...] = ("loss", "share")


def short(name: str) -> str:
    """Name of a picture beside others.

    Parameters
    ----------
    name : str
        From `picture_names`.

    Returns
    -------
    str
        Without what all of them have in common.

    Examples
    --------
    >>> short("weights of layer 0"), short("weights of the pointer"), short("weights")
    ('layer 0', 'pointer', 'weights')
    """
    return name.removeprefix("weights of ").removeprefix("the ")


def twin_sentence(ending: str) -> tuple[str, ...]:
    """The sentence that both models of "pronoun-word" read.

    Parameters
    ----------
    ending : str
        Its last word, an adjective.

    Returns
    -------
    tuple of str
        Of their vocabulary.

    Examples
    --------
    >>> " ".join(twin_sentence("roomy"))
    'Meera put the shirt in her bag because it was roomy'
    """
    return pronoun_sentence(TEMPLATES[0], "Meera", ("shirt", "bag"), ending)


def outlined(task: Task, words: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Cells that should light up for a sequence.

    Parameters
    ----------
    task : Task
        What is learned.
    words : sequence of str
        Of its vocabulary.

    Returns
    -------
    list of list of tuple of int
        For each picture, (query, key).

    Examples
    --------
    >>> from core.training.tasks import TASKS
    >>> outlined(TASKS["order"], ("[who]", "dog", "bites", "man"))
    [[(0, 1)]]
    """
    lit = task.lit(task.numbers(words))[:, 0]
    return [[(query, int(key)) for query, key in enumerate(rows) if key != NOTHING] for rows in lit]


def first_step(film: Film, share: float) -> int | None:
    """The step of the first snapshot from which so many answers were right.

    Parameters
    ----------
    film : Film
        A run.
    share : float
        From 0 to 1.

    Returns
    -------
    int or None
        None where it never came to that.

    Examples
    --------
    >>> from core.training.runs import saved
    >>> first_step(saved("order-none"), 0.99) is None
    True
    """
    found = np.flatnonzero(film.accuracy >= share)
    return int(film.steps[found[0]]) if found.size else None


def phase_change(film: Film) -> tuple[int, int] | None:
    """Between which steps a run went from hardly any right answer to nearly all.

    Parameters
    ----------
    film : Film
        A run.

    Returns
    -------
    tuple of two int or None
        First step with one right answer in ten, first with nine in ten; None where it never came to that.

    Examples
    --------
    >>> from core.training.runs import saved
    >>> phase_change(saved("induction"))
    (96, 128)
    """
    begins, ends = first_step(film, 0.1), first_step(film, 0.9)
    return None if begins is None or ends is None else (begins, ends)


@dataclass(frozen=True, slots=True)
class Seen:
    """A run, and what it is compared with."""

    film: Film
    pair: Film
    """The saved run of the other kind of model."""
    found: Mapping[str, float]
    """Of `core.training.figures.of`; empty while the run has no end."""

    @property
    def without(self) -> bool:
        """Whether what the task needs was left out."""
        return self.film.task.endswith(NONE)

    @property
    def last(self) -> str:
        """Share of right answers at the end."""
        return f"{self.film.accuracy[-1]:.2f}"

    @property
    def masses(self) -> list[str]:
        """Weight on the outlined cells at the end, a picture each."""
        return [f"{mass:.2f}" for mass in self.film.masses[-1]]

    @property
    def right(self) -> str:
        """From when on the answers are right."""
        step = first_step(self.film, 0.99)
        when = f"from step {step} on" if step is not None else f"never (at most {self.film.accuracy.max():.2f})"
        return f"99 of 100 answers are right {when}."

    def share(self, name: str) -> str:
        """A figure that needs what was learned."""
        return f"{self.found[name]:.3f}" if name in self.found else "(an unfinished run: not counted)"


def _reverse(seen: Seen) -> str:
    n = seen.film.pictures.shape[-1]
    if seen.without:
        return (
            "Without positions a row cannot know where it stands, so it cannot find its mirror place: "
            f"{seen.last} right at the end, and {seen.masses[0]} of the weight on the outlined cells, where looking "
            f"everywhere alike gives 1/{n} = {1 / n:.2f}."
        )
    return (
        f"The anti-diagonal lights up: row i writes what stands at {n - 1} − i, so it has to look there. Weight on "
        f"those cells: {seen.film.masses[0, 0]:.2f} before the first step, {seen.masses[0]} at the end. {seen.right}"
    )


def _copy(seen: Seen) -> str:
    back = seen.film.task.split("-")[1]
    if seen.without:
        return (
            f"Without positions “{back} back” means nothing: {seen.last} right at the end. Only the mask still tells "
            "an early row from a late one."
        )
    return (
        f"A line {back} below the diagonal lights up ({seen.masses[0]} of the weight). Rows before it have nothing to "
        f"copy and write a blank. {seen.right}"
    )


def _sort(seen: Seen) -> str:
    if seen.without:
        return (
            f"Nothing is missed: {seen.last} right without positions, {seen.pair.accuracy[-1]:.2f} with them. Which "
            "digit comes next depends on what the digits are, not on where they stand."
        )
    return (
        f"Each row that writes looks at the digit that it writes next ({seen.masses[0]} of the weight), wherever that "
        f"stands: looking by content. {seen.right} By itself it sorts {seen.share('whole')} of fresh sequences without "
        "a mistake."
    )


def _induction(seen: Seen) -> str:
    if seen.without:
        return (
            f"One layer cannot do it: {seen.last} right. To look after the earlier copy, a row must know what stands "
            "before each key, and in a single layer the keys know only themselves."
        )
    change = f"No phase change yet: {seen.film.accuracy.max():.2f} right at best."
    if (found := phase_change(seen.film)) is not None:
        change = (
            f"A phase change, shaded in the curves: until step {found[0]} fewer than 1 answer in 10 is right, from "
            f"step {found[1]} on 9 in 10."
        )
    return (
        f"{change} Layer 0 learns to look at the letter before ({seen.masses[0]}); layer 1 uses that to look after the "
        f"earlier copy of the same letter ({seen.masses[1]}), and writes what it finds. Counted on twelve random "
        "letters written twice, which training never shows."
    )


def _pronoun(seen: Seen) -> str:
    if seen.without:
        return (
            "Without its first layer “it” never sees the adjective, so both sentences of a pair look alike to it: "
            f"{seen.share('both right')} of 500 pairs right. It can only guess from the nouns."
        )
    return (
        f"“it” looks first at the adjective (layer 0: {seen.masses[0]}), then, with what it found, at the noun that "
        f"fits (pointer: {seen.masses[1]}). Of 500 pairs of sentences that differ in the adjective alone, "
        f"{seen.share('both right')} are right both times. {seen.right} Only rows of “it” are trained."
    )


def _order(seen: Seen) -> str:
    if seen.without:
        return (
            f"{seen.last}: without positions “dog bites man” and “man bites dog” are the same to it, so of two mirror "
            "images it gets one right and one wrong."
        )
    return (
        f"[who] looks at the first noun ({seen.masses[0]} of the weight), on sentences that training never shows. "
        f"{seen.right} Without positions: {seen.pair.accuracy[-1]:.2f}."
    )


def _scale(seen: Seen) -> str:
    raw, scaled = (seen.film, seen.pair) if seen.without else (seen.pair, seen.film)
    n = scaled.pictures.shape[-1]
    return (
        f"Before the first step the rows have an entropy of {scaled.entropy[0]:.2f} nats with 1/√d, of "
        f"{raw.entropy[0]:.2f} without; looking everywhere alike is ln {n} = {np.log(n):.2f}. Without it the softmax "
        f"begins saturated: the gradient at what it reads is {raw.gradient[0]:.4f}, not {scaled.gradient[0]:.4f}. "
        f"Right at the end: {raw.accuracy[-1]:.2f} without, {scaled.accuracy[-1]:.2f} with it."
    )


def _mask(seen: Seen) -> str:
    cheat, honest = (seen.film, seen.pair) if seen.without else (seen.pair, seen.film)
    said = (
        f"Loss at the end: {honest.losses[-10:].mean():.2f} with the mask, {cheat.losses[-10:].mean():.2f} without. "
        "The low one is a cheat: each row looks at the very word that it is to name, one to the right "
        f"({cheat.masses[-1, 0]:.2f} of the weight). "
    )
    if seen.found:
        said += (
            f"Where later words do not exist yet, this model’s loss is {seen.found['before']:.2f}, and of 200 texts "
            f"that it writes by itself {seen.found['grammatical']:.0%} keep to the grammar."
        )
    return said


_LOOK = {
    "reverse": _reverse,
    "copy": _copy,
    "sort": _sort,
    "induction": _induction,
    "pronoun": _pronoun,
    "order": _order,
    "scale": _scale,
    "mask": _mask,
}


def look_for(seen: Seen) -> str:
    """What to look for in a run, and why it happens, in its numbers.

    Parameters
    ----------
    seen : Seen
        The run.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> from core.training.runs import saved
    >>> look_for(Seen(saved("order-none"), saved("order"), {}))[:54]
    '<p class="line"><b>What to look for.</b> 0.50: without'
    """
    return f'<p class="line"><b>What to look for.</b> {_LOOK[seen.film.task.split("-")[0]](seen)}</p>'


def answer(task: Task, words: Sequence[str], found: Run) -> str:
    """What a model makes of a sequence.

    Parameters
    ----------
    task : Task
        What was learned.
    words : sequence of str
        What it read.
    found : Run
        Of these words alone, without an axis for the sequences.

    Returns
    -------
    str
        HTML paragraph.
    """
    shares = softmax(found.logits)
    if task.design.readout == "pointer":
        row = shares[list(words).index("it")]
        best = int(row.argmax())
        return f'<p class="line">“it” is <b>{literal(words[best])}</b>, with a weight of {row[best]:.2f}.</p>'
    if task.prefix:
        best = int(shares[0].argmax())
        who = literal(task.words[best])
        return f'<p class="line">Who did it: <b>{who}</b>, with a share of {shares[0, best]:.2f}.</p>'
    named = [task.words[int(number)] for number in found.logits.argmax(axis=-1)]
    if END in words:
        written = literal(" ".join(named[N_SORTED:]))
        return f'<p class="line">It writes <b>{written}</b>, and reads each digit before it writes the next.</p>'
    written = literal(" ".join(named))
    return f'<p class="line">Row by row it writes <b>{written}</b>.</p>'


LEFT_OUT = "The same model without what its task needs most: the dashed line of the charts, whichever is shown."


def complete(task: Task, parameters: Parameters, words: tuple[str, ...]) -> tuple[tuple[str, ...], Run]:
    """A model's run over a sequence; digits to be sorted are written by the model itself first.

    Parameters
    ----------
    task : Task
        What was learned.
    parameters : mapping of str to ndarray
        By what.
    words : tuple of str
        What is read.

    Returns
    -------
    tuple of tuple of str and Run
        All words that were read in the end, and what came of them, without an axis for the sequences.
    """
    if END in task.words and END not in words:
        digits = sorted_by_itself(task.design, parameters, task.numbers(words))[0, :-1]
        words = (*words, END, *(task.words[int(number)] for number in digits))
    return words, run(task.design, parameters, task.numbers(words)[0])


def example(task: Task) -> str:
    """Something that a reader could type.

    Parameters
    ----------
    task : Task
        For which.

    Returns
    -------
    str
        The sequence of its film, without what comes by itself.

    Examples
    --------
    >>> from core.training.tasks import TASKS
    >>> example(TASKS["order"]), example(TASKS["sort"])
    ('dog bites man', '582914')
    """
    words = task.probe[len(task.prefix) :]
    words = words[: words.index(END)] if END in words else words
    return (" " if task.spaced else "").join(words)


def written(task: Task, film: Film, now: int) -> str:
    """What the model answers to the film's sequence at a snapshot, and how well it does by then.

    Parameters
    ----------
    task : Task
        What is learned.
    film : Film
        The run.
    now : int
        Number of the snapshot.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> from core.training.runs import saved
    >>> from core.training.tasks import TASKS
    >>> written(TASKS["order"], saved("order"), 50)[-60:]
    'On fresh sequences <b>1.00</b> of the answers are right.</p>'
    """
    numbers = film.written[now]
    if task.design.readout == "pointer":
        said = f"“it” is <b>{literal(task.probe[int(numbers[task.probe.index('it')])])}</b>"
    elif task.prefix:
        said = f"it names <b>{literal(task.words[int(numbers[0])])}</b>"
    else:
        first = N_SORTED if END in task.words else 0
        said = f"it writes <b>{literal(' '.join(task.words[int(number)] for number in numbers[first:]))}</b>"
    return (
        f'<p class="line">Step {film.steps[now]}: {said}. On fresh sequences <b>{film.accuracy[now]:.2f}</b> of the '
        "answers are right.</p>"
    )


def curve_said(film: Film, measure: str, now: int) -> str:
    """The takeaway of a chart of curves.

    Parameters
    ----------
    film : Film
        The run.
    measure : str
        "loss" or "share".
    now : int
        Number of the snapshot that is looked at.

    Returns
    -------
    str
        For a reader who cannot see it.

    Examples
    --------
    >>> from core.training.runs import saved
    >>> curve_said(saved("order"), "share", 50)
    'Right answers over 300 steps: 0.10 before the first, 1.00 at step 300'
    """
    steps = f"over {film.steps[-1]} steps"
    if measure == "loss":
        begins, ends = (film.losses[0], film.losses[-10:].mean()) if film.losses.size else (np.nan, np.nan)
        return f"Loss {steps}: {begins:.2f} at first, {ends:.2f} at last"
    return (
        f"Right answers {steps}: {film.accuracy[0]:.2f} before the first, {film.accuracy[now]:.2f} at step "
        f"{film.steps[now]}"
    )


def legend(lacks: str, without: bool) -> str:
    """Which line of the charts is which.

    Parameters
    ----------
    lacks : str
        What one of the two models does without.
    without : bool
        Whether that is the one that is shown.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "the same without positions" in legend("positions", False)
    True
    """
    other = f"the same {'with' if without else 'without'} {lacks}"
    lines = (
        ("scaled", "━ loss, right answers"),
        ("value", "━ weight on the outlined cells"),
        ("unscaled", f"┅ {other}"),
    )
    said = [f'<span class="{kind}" style="white-space: nowrap">{line}</span>' for kind, line in lines]
    return f'<p class="quiet">{" &nbsp; ".join(said)}</p>'


def twins_said(words: Sequence[str], twins: Sequence[Run], counted: Sequence[Mapping[str, float]]) -> str:
    """What two models of one task have in common and what they have not.

    Parameters
    ----------
    words : sequence of str
        The sentence that both read.
    twins : sequence of two Run
        What each made of it.
    counted : sequence of two mappings
        Of `core.training.figures.of`.

    Returns
    -------
    str
        HTML paragraph.
    """
    row = list(words).index("it")
    looks = []
    for twin in twins:
        weights = twin.pictures[-1].weights[row]
        best = int(weights.argmax())
        looks.append(f"{literal(words[best])} ({weights[best]:.2f})")
    names = [f"{one['accuracy']:.3f}" for one in counted]
    pairs = [f"{one['both right']:.3f}" for one in counted]
    nouns = [f"{one['mass 1']:.2f}" for one in counted]
    return (
        '<p class="line">The same encoder of two layers, trained twice on the pronoun: only the seed differs. Right on '
        f"fresh sentences: <b>{names[0]}</b> and <b>{names[1]}</b>; both sentences of a pair: <b>{pairs[0]}</b> and "
        f"<b>{pairs[1]}</b>. Here “it” looks most at <b>{looks[0]}</b> in one, at <b>{looks[1]}</b> in the other; over "
        f"fresh sentences the right noun gets <b>{nouns[0]}</b> and <b>{nouns[1]}</b> of its weight. The same answers, "
        "found in two ways: a picture shows where a model looked, not why it answered.</p>"
    )


def code(task: Task, film: Film, words: Sequence[str], queries_in: str) -> dict[str, object]:
    """Values that the page's script is filled with, what was learned among them.

    Parameters
    ----------
    task : Task
        What was learned.
    film : Film
        A finished run.
    words : sequence of str
        What is read.
    queries_in : str
        "rows" or "columns".

    Returns
    -------
    dict of str to object
        The learned numbers are the file of an NPZ, as text.
    """
    file = io.BytesIO()
    np.savez_compressed(file, **film.parameters)  # type: ignore[arg-type]  # its stub takes any keyword for its own
    text = base64.b64encode(file.getvalue()).decode()
    return {
        "words": list(words),
        "vocabulary": list(task.words),
        "causal": task.design.causal,
        "divide_by_root_d": task.design.scaled,
        "queries_in": queries_in,
        "learned": [text[start : start + 90] for start in range(0, len(text), 90)],
    }
