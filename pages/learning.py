"""Watch attention being learned: what tiny models look at while they are trained, and what they do with your words."""

import streamlit as st

from core.agreement import Agreement, compare
from core.masks import causal_mask
from core.softmax import Floats, softmax
from core.training import figures
from core.training.model import Run
from core.training.runs import Film, saved
from core.training.task import read
from core.training.tasks import TASKS, TWIN, TWINS
from ui import controls, draw, frame, learning, matrices, questions, steps, torch_check, train_here, view
from ui.charts.heat_map import Panel, named_axis, word_axis
from ui.charts.learning import Measure, learning_chart, learning_table
from ui.literal import literal
from ui.matrices import Matrix
from ui.take_home.figures import LEARNING_KEY
from ui.trainings import PACES


@st.cache_data(max_entries=64)
def figures_of(task: str, seed: int, _film: Film) -> dict[str, float]:
    """What a finished model can do, on fresh sequences."""
    return figures.of(TASKS[task], _film.parameters)


@st.cache_data(max_entries=64)
def run_model(task: str, seed: int, words: tuple[str, ...], _film: Film) -> tuple[tuple[str, ...], Run]:
    """A finished model's run over some words; what it sorts it first writes itself."""
    return learning.complete(TASKS[task], _film.parameters, words)


checked = frame.heading(
    "learning",
    "Nobody tells a model where to look. It is told which answers were right, and looking in the right place pays off.",
)
settings = controls.settings()
with steps.section("curves", "film"):
    chosen = controls.choice("Task", tuple(learning.TOLD), "task", "reverse", label_visibility="collapsed")
    told = learning.TOLD[chosen]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        at = controls.number_choice("Time: snapshot 0 to 50", range(51), "snapshot", 50, width=300)
        without = controls.switch(f"Without {told.without}", "left_out", False, help=learning.LEFT_OUT)
        name = learning.task_name(chosen, without)
        pace = controls.choice("Training", tuple(PACES), "pace", "fast", label_visibility="collapsed", width="content")
        train_here.button(name, settings.seed, PACES[pace])
task = TASKS[name]
showing = train_here.showing(name, settings.seed)
film, pair = showing.film, saved(learning.task_name(chosen, not without))
finished = film if film.done else saved(name)
pictures = learning.picture_names(task)
slide = view.now().presenting


def curve(of: Film, measure: Measure, now: int) -> None:
    """One chart of curves."""
    phase = learning.phase_change(of) if chosen == "induction" else None
    draw.chart(
        learning_table(of, pair, measure, now, len(pictures) - 1, phase),
        learning_chart(measure, task.recipe.steps),
        name=f"{measure} over the steps",
        key=f"curve_{measure}",
        alt=learning.curve_said(of, measure, now),
        grow=0.65,
        legend=LEARNING_KEY[measure],
    )


def picture(
    title: str,
    values: Floats,
    words: tuple[str, ...],
    cells: list[tuple[int, int]],
    whose: str,
    key: str,
    room: int,
    labels: bool = True,
) -> None:
    """One attention matrix; of the pointer the only row that is asked for."""
    may_attend = causal_mask(len(words)) if task.design.causal else None
    rows, height = word_axis("query", words), min(26.0, room / len(words))
    if title == "pointer":
        row = words.index("it")
        rows, values, cells = (
            named_axis("query", (f"{row} it",)),
            values[row : row + 1],
            [(0, place) for _, place in cells],
        )
    matrices.show(
        Matrix(
            title,
            values,
            rows,
            word_axis("key", words),
            ramp="weights",
            picked=cells,
            may_attend=may_attend,
        ),
        Panel(height=height, column_labels=labels and len(words) <= 12),
        key=key,
        alt=f"{title} {whose}, for “{' '.join(words)}”",
    )


def snapshot(of: Film, now: int) -> None:
    """Curves, and the attention of the probe at one snapshot: side by side, or each on its slide."""
    wide = 1.2 if len(pictures) == 1 else 1.7
    left, right = (st.container(), st.container()) if slide else st.columns([wide, 1])
    with right, steps.section("curves"):
        st.html(learning.legend(told.without, without))
        places = st.columns(2) if slide else (right, right)
        for place, measure in zip(places, learning.MEASURES, strict=True):
            with place:
                curve(of, measure, now)
    with left, steps.section("film"):
        cells = learning.outlined(task, task.probe)
        for place, number in zip(st.columns(len(pictures)), range(len(pictures)), strict=True):
            with place:
                picture(
                    learning.short(pictures[number]),
                    of.weights(now)[number],
                    task.probe,
                    cells[number],
                    f"at step {of.steps[now]}",
                    f"film_{number}",
                    room=150 if slide else 250,
                    labels=not slide,
                )
        st.html(learning.written(task, of, now))


with steps.section("curves"):
    st.html(f'<p class="line">{told.asks} <b>{showing.said}</b></p>')
with steps.section("curves", "film"):
    if showing.live:
        train_here.watch(lambda of: snapshot(of, len(of.steps) - 1))
    else:
        snapshot(film, min(at, len(film.steps) - 1))
        train_here.watch(lambda of: None)
frame.provenance(
    f"All {sum(array.size for array in finished.parameters.values()):,} numbers of this model are <b>trained</b>, from "
    "random first values (by the seed); attention is <b>computed</b>."
)
with steps.section(steps.PAGE_ONLY):
    found = figures_of(name, film.seed, film) if film.done else {}
    st.html(learning.look_for(learning.Seen(film, pair, found)))

with steps.section("your own"):
    frame.subheading("Your own sequence, by the finished model")
    own = controls.text(f"Yours: {told.own}", "own", "", placeholder=learning.example(task), width=560)
    words = task.probe
    if own.strip():
        try:
            words = read(task, own)
        except ValueError as refusal:
            controls.notice(f"{str(refusal)[:1].upper()}{str(refusal)[1:]}. Shown is the sequence of the film.")
    words, run = run_model(name, finished.seed, words, finished)
    *places, beside = st.columns(len(pictures) + 1)
    for place, title, attention, cells in zip(
        places, pictures, run.pictures, learning.outlined(task, words), strict=True
    ):
        with place:
            picture(
                learning.short(title),
                attention.weights,
                words,
                cells,
                "of the finished model",
                f"own_{title}",
                room=185 if slide else 250,
            )
    with beside:
        st.html(learning.answer(task, words, run))
        with (
            steps.section(steps.PAGE_ONLY),
            frame.disclosure(
                f"The {len(task.words)} {'words' if task.spaced else 'symbols'} that it knows", "vocabulary_open"
            ) as opened,
        ):
            if opened:
                st.html(f'<p class="quiet">{literal(" ".join(task.words))}</p>')

with steps.section("not explanation"):
    frame.subheading("Attention is not explanation")
    ending = controls.choice("Meera put the shirt in her bag because it was", ("tight", "roomy"), "ending", "tight")
    sentence = learning.twin_sentence(ending)
    twins = [run_model(TWIN, seed, sentence, saved(TWIN, seed))[1] for seed in TWINS]
    counted = [figures_of(TWIN, seed, saved(TWIN, seed)) for seed in TWINS]
    row = sentence.index("it")
    for place, seed, twin in zip(st.columns(2), TWINS, twins, strict=True):
        with place:
            matrices.show(
                Matrix(
                    f"“it” in layer 1, seed {seed}",
                    twin.pictures[-1].weights[row : row + 1],
                    named_axis("query", (f"{row} it",)),
                    word_axis("key", sentence),
                    ramp="weights",
                ),
                Panel(height=34.0),
                key=f"twin_{seed}",
                alt=f"What “it” looks at in the model of seed {seed}",
            )
    st.html(learning.twins_said(sentence, twins, counted))

shares = {} if task.design.readout == "pointer" else {
    "shares of the answers": (softmax(run.logits), word_axis("position", words), named_axis("answer", task.words))
}  # fmt: skip
frame.numbers(
    {
        title: (attention.weights, word_axis("query", words), word_axis("key", words))
        for title, attention in zip(pictures, run.pictures, strict=True)
    }
    | shares,
    learning.code(task, finished, words, view.SIDES[view.turned()]),
    key="learning_numbers",
)
frame.to_notice(
    "The picture is not drawn into the model, it comes out of the answers. Where one and the same answer can be found "
    "in several ways, training takes one of them, and the picture shows that one."
)
with steps.section("guess"):
    state = (name, film.seed, len(film.steps))
    half = len(film.steps) // 2
    questions.number(
        "half_way",
        f"Which share of fresh answers is right at step {film.steps[half]}, half-way?",
        (0.0, 1.0),
        lambda: float(film.accuracy[half]),
        lambda true: f"At the end it is {film.accuracy[-1]:.2f}.",
        state,
    )
    other = "with" if without else "without"
    questions.choice(
        "without_it",
        f"Does the same model reach 0.95 right answers {other} {told.without}?",
        ("yes", "no"),
        lambda: "yes" if pair.accuracy[-1] >= 0.95 else "no",
        lambda: f"At the end of its training {pair.accuracy[-1]:.2f} are right.",
        state,
    )
frame.way_on("learning")


def check() -> Agreement:
    """The finished model's attention and answers, by PyTorch."""
    from core import torch_reference

    theirs = torch_reference.trained_model(task.design, finished.parameters, task.numbers(words))
    ours = {f"weights {number}": attention.weights for number, attention in enumerate(run.pictures)}
    return compare(ours | {"logits": run.logits}, {part: array[0] for part, array in theirs.items()})


with checked:
    torch_check.show(check, "the same model by the PyTorch functions that trained it", on_request=True)
