"""Practice: one exercise at a time with feedback that names the mistake, and exercises to build at home."""

from functools import partial

import streamlit as st

from core.practice.exercise import Exercise
from core.practice.kinds import KINDS, draw
from ui import controls, frame, practice, steps, view, ways
from ui.literal import literal
from ui.take_home import exercises

frame.heading(
    "practice",
    "One exercise at a time, to be done with paper and a calculator. A wrong answer is told which mistake gives it.",
)
settings = controls.settings()
FIRST, LAST = 1, 999


@st.cache_data(max_entries=256, show_spinner=False)
def drawn(kind: str, seed: int, number: int) -> Exercise:
    """An exercise, drawn once."""
    return draw(kind, seed, number)


def another(number: int) -> None:
    """The same kind with other numbers."""
    controls.take({"number": FIRST if number == LAST else number + 1})


def next_kind(number: int) -> None:
    """The kind that comes next in the lesson."""
    controls.take({"exercise": list(KINDS)[(number + 1) % len(KINDS)]})


hidden, presenting = view.now().hidden, view.now().presenting
with steps.section("exercise"):
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small")
with bar:
    chosen = controls.pick("exercise", tuple(KINDS), "exercise", width=170)
    with st.container(width=290 if presenting else 215, key="control_number"):
        number = controls.typed_number("number", "number", FIRST, (FIRST, LAST))
    st.button("Another one", on_click=another, args=(number,), key="another", disabled="number" in hidden)
    st.button("Another kind", on_click=next_kind, args=(chosen,), key="next_kind", disabled="exercise" in hidden)
kind = tuple(KINDS)[chosen]
place = practice.Place(settings.seed, kind, number)
exercise = drawn(kind, settings.seed, number)
shown = practice.is_shown(place)

with steps.section("exercise"):
    st.html(f'<p class="asks">{literal(exercise.asks)}</p>')
    left, right = st.columns([1.9 if len(exercise.operands) > 2 else 1.1, 1], gap="medium")
    with left:
        practice.operands(exercise)
    solution = f'<div class="way">{ways.way(exercise)}</div>' if shown else ""
    with right:
        if presenting and shown:
            st.html(solution)  # in the place of the boxes: a slide has no room for both
        else:
            practice.ask(exercise, place)
            practice.feedback(exercise, place)
    with bar if presenting else right.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Show the way", on_click=practice.show_way, args=(place,), key="way", disabled=shown)
        if not presenting:
            practice.score()
    if shown and not presenting:
        left.html(solution)

frame.provenance(
    f"The numbers are <b>random</b> (seed {settings.seed}); right answers, and what each mistake would give, are "
    "<b>computed</b>. The sentence plays no part."
)
rows, columns = practice.answer_names(exercise)
frame.numbers(
    {operand.name: (operand.values, *practice.axes(operand)) for operand in exercise.operands}
    | ({"answer": practice.answer_matrix(exercise)} if shown else {}),
    {
        "kind": kind,
        "seed": settings.seed,
        "number": number,
        "operands": practice.as_literals(exercise),
        "given": [[name, value] for name, value in exercise.given.items()],
        "options": list(exercise.options),
        "rows": list(rows),
        "columns": list(columns),
        "revealed": shown,
        view.QUERIES_IN: view.SIDES[view.turned()],
    },
    key="practice_numbers",
)
with steps.section(steps.PAGE_ONLY):
    frame.subheading("Build it yourself")
    st.markdown(
        "A notebook with eight functions to write, from the softmax to a whole block in NumPy and in PyTorch, and a "
        "file that checks them and says **which** mistake was made. It needs Python and NumPy, nothing of this page."
    )
    # Made when they are asked for: a notebook takes longer than all the rest of the page.
    words, seed = settings.words, settings.seed
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "All of it (.zip)",
            partial(exercises.archive, words, seed),
            "build_attention.zip",
            "application/zip",
            on_click="ignore",
            type="primary",
            key="take_exercises",
        )
        for name, mime in exercises.FILES.items():
            st.download_button(
                name, partial(exercises.content, name, words, seed), name, mime, on_click="ignore", key=f"take_{mime}"
            )
frame.to_notice(
    "Almost every mistake here keeps all shapes and raises nothing. Whoever knows what it does to the numbers finds it "
    "in minutes: rows that do not sum to 1, a weight above the diagonal, a softmax that is too sharp."
)
frame.way_on("practice")
