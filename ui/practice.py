"""One exercise on the screen: its operands, the boxes for the answer, what is said of it, and the score so far."""

import html
from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.practice.exercise import Exercise, Operand, Verdict, judge, read_number
from core.softmax import Floats
from ui import controls, matrices, view
from ui.charts.heat_map import Axis, Panel, named_axis, position_axis, symmetric_limit
from ui.colours import KEY, NEUTRAL, QUERY, VALUE
from ui.matrices import Matrix

_CHECKED, _SHOWN, _TRIED = "_practice_checked", "_practice_shown", "_practice_tried"
_HUES = {"Q": QUERY, "W_q": QUERY, "x": NEUTRAL, "K": KEY, "W_k": KEY, "V": VALUE, "output": VALUE}
_SYMBOLS = {"feature": "d", "input feature": "d_model"}


@dataclass(frozen=True, slots=True)
class Place:
    """Which exercise is on the screen: all that its numbers depend on."""

    seed: int
    kind: str
    number: int

    @property
    def key(self) -> str:
        """Part of the keys of its widgets, so that every exercise has boxes of its own."""
        return f"{self.seed}_{self.kind.replace(' ', '_')}_{self.number}"


def axes(operand: Operand) -> tuple[Axis, Axis]:
    """Rows and columns of an operand.

    Parameters
    ----------
    operand : Operand
        Of any kind of exercise.

    Returns
    -------
    tuple of two Axis
        Positions from 0 where it has no names.

    Examples
    --------
    >>> axes(Operand("Q", np.zeros((2, 3)), "query", "feature"))[1].caption
    'feature (d = 3)'
    """
    rows, columns = (
        named_axis(title, names) if names else position_axis(title, size, _SYMBOLS.get(title, ""))
        for title, names, size in zip(
            (operand.rows, operand.columns),
            (operand.row_names, operand.column_names),
            operand.values.shape,
            strict=True,
        )
    )
    return rows, columns


def answer_matrix(exercise: Exercise) -> tuple[Floats, Axis, Axis]:
    """The right answer for the tables and files.

    Parameters
    ----------
    exercise : Exercise
        One that the reader has been shown the way of.

    Returns
    -------
    tuple of ndarray, Axis and Axis
        Values, rows and columns.

    Examples
    --------
    >>> from core.practice.kinds import draw
    >>> answer_matrix(draw("score", 0, 1))[2].names
    ('score',)
    """
    rows, columns = answer_names(exercise)
    return exercise.answer, named_axis("answer", rows), named_axis("cell", columns)


def answer_names(exercise: Exercise) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the rows and columns of an answer, none of them empty.

    Parameters
    ----------
    exercise : Exercise
        Of any kind.

    Returns
    -------
    tuple of two tuple of str
        Rows and columns.

    Examples
    --------
    >>> from core.practice.kinds import draw
    >>> answer_names(draw("score", 0, 1))
    (('answer',), ('score',))
    """
    rows = tuple(name or "answer" for name in exercise.rows)
    return rows, tuple(name or ("option" if exercise.form == "choice" else "value") for name in exercise.columns)


def operands(exercise: Exercise) -> None:
    """What is given, each matrix as a picture.

    Parameters
    ----------
    exercise : Exercise
        What is asked.
    """
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for number, operand in enumerate(exercise.operands):
            rows, columns = axes(operand)
            is_share = operand.name.startswith("weights")
            sizes = operand.rows == "row"
            longest = max((len(name) for name in columns.labels), default=1)
            smallest = 31.0 if len(exercise.operands) > 2 else 35.0  # three stand side by side on a slide
            width = max(smallest + 5 * bool(operand.decimals), 7.6 * longest + 8)
            with st.container(width="content"):
                matrices.show(
                    Matrix(
                        operand.name,
                        operand.values,
                        rows,
                        columns,
                        ramp="weights" if is_share else "signed",
                        # Sizes are no quantities to compare by colour: the ramp ends far beyond them.
                        limit=symmetric_limit(operand.values) * (12 if sizes else 1.6),
                        decimals=operand.decimals,
                    ),
                    Panel(hue=_HUES.get(operand.name, NEUTRAL), width=width, height=34, row_labels=not sizes),
                    key=f"operand_{number}",
                    alt=operand.name,
                )


def _key(place: Place, row: int, column: int = 0) -> str:
    return f"cell_{place.key}_{row}_{column}"


def _fields(exercise: Exercise, place: Place) -> None:
    """The boxes, marks or options of an answer; one a cell, each with its name."""
    width = 112 if view.now().presenting else 88
    if exercise.form == "choice":
        st.radio(
            "Your answer",
            range(len(exercise.options)),
            format_func=exercise.options.__getitem__,
            index=None,
            key=_key(place, 0),
            persist_state="session",
        )
        return
    if exercise.form == "cells":
        for row, name in enumerate(exercise.rows):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.html(f'<p class="quiet">{name}</p>', width=90 if view.now().presenting else 62)
                st.pills(
                    name,
                    range(len(exercise.columns)),
                    format_func=exercise.columns.__getitem__,
                    selection_mode="multi",
                    key=_key(place, row),
                    persist_state="session",
                    label_visibility="collapsed",
                    wrap=True,
                    width="content",
                )
        return
    upright = len(exercise.columns) == 1
    for row, name in enumerate(exercise.rows):
        if upright and row:
            break
        if name and not upright:
            st.html(f'<p class="quiet">{name}</p>')
        with st.container(horizontal=True, gap="xsmall"):
            for number, label in enumerate(exercise.rows if upright and len(exercise.rows) > 1 else exercise.columns):
                cell = (number, 0) if upright else (row, number)
                st.text_input(
                    label,
                    key=_key(place, *cell),
                    width=max(width, 9 * len(label) + 20),
                    max_chars=40,
                    persist_state="session",
                )


def given(exercise: Exercise, place: Place) -> Floats:
    """The reader's answer as it stands in the boxes.

    Parameters
    ----------
    exercise : Exercise
        What is asked.
    place : Place
        Where it comes from.

    Returns
    -------
    ndarray of the shape of the answer
        Numbers.

    Raises
    ------
    ValueError
        A box is empty or holds no number, or nothing was chosen; the message is one sentence.
    """
    state = st.session_state
    if exercise.form == "choice":
        chosen = state.get(_key(place, 0))
        if chosen is None:
            raise ValueError("Choose one of the answers first.")
        return np.array([[float(chosen)]])
    found: Floats = np.zeros(exercise.answer.shape)
    n_rows, n_columns = len(exercise.rows), len(exercise.columns)
    for row in range(n_rows):
        if exercise.form == "cells":
            found[row, list(state.get(_key(place, row)) or [])] = 1.0
            continue
        for column in range(n_columns):
            try:
                found[row, column] = read_number(state.get(_key(place, row, column)) or "", exercise.decimals == 0)
            except ValueError as error:
                names = (exercise.rows[row], exercise.columns[column])
                where = ", ".join(name for name in names if name) or "answer"
                raise ValueError(f"{where[0].upper()}{where[1:]}: {error}.") from None
    if exercise.form == "cells" and not found.any():
        raise ValueError("Mark at least one cell first.")
    return found


def ask(exercise: Exercise, place: Place) -> None:
    """The question's boxes and the button that checks them.

    Parameters
    ----------
    exercise : Exercise
        What is asked.
    place : Place
        Where it comes from.
    """
    with st.form(f"exercise_{place.key}", border=False):
        _fields(exercise, place)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.form_submit_button("Check", type="primary", on_click=_check, args=(exercise, place), key="check")
            st.html(f'<p class="quiet">{_wanted(exercise)}</p>', width="content")


def _wanted(exercise: Exercise) -> str:
    """How exact the answer has to be."""
    if exercise.form != "numbers":
        return ""
    if not exercise.decimals:
        return "Exact numbers."
    digits = "one decimal" if exercise.decimals == 1 else f"{exercise.decimals} decimals"
    if exercise.tolerance < 10.0**-exercise.decimals:
        return f"{digits[0].upper()}{digits[1:]}."
    return f"{digits[0].upper()}{digits[1:]}; {exercise.tolerance:g} more or less still counts."


def _check(exercise: Exercise, place: Place) -> None:
    """Remember that the boxes are to be judged, and count the exercise once."""
    st.session_state.setdefault(_CHECKED, set()).add(place)
    try:
        verdict = judge(exercise, given(exercise, place))
    except ValueError:
        return  # nothing that could be judged, so nothing tried
    if is_shown(place):
        return  # who has seen the way cannot try it any more
    tried: dict[Place, bool] = st.session_state.setdefault(_TRIED, {})
    tried[place] = tried.get(place, False) or verdict.is_right


def show_way(place: Place) -> None:
    """Show the worked solution from now on.

    Parameters
    ----------
    place : Place
        Of the exercise.
    """
    st.session_state.setdefault(_SHOWN, set()).add(place)


def is_shown(place: Place) -> bool:
    """Whether the reader has asked for the worked solution.

    Parameters
    ----------
    place : Place
        Of the exercise.

    Returns
    -------
    bool
        True for the rest of the session.
    """
    return place in st.session_state.get(_SHOWN, set())


def feedback(exercise: Exercise, place: Place) -> None:
    """What is to be said of the answer, once it has been checked.

    Parameters
    ----------
    exercise : Exercise
        What is asked.
    place : Place
        Where it comes from.
    """
    if place not in st.session_state.get(_CHECKED, set()):
        return
    try:
        verdict = judge(exercise, given(exercise, place))
    except ValueError as error:
        controls.notice(str(error))
        return
    st.html(_said(verdict))


def _said(verdict: Verdict) -> str:
    if verdict.is_right:
        return '<p class="line answer verdict right" role="status"><b>✓ Right.</b></p>'
    head = "Not yet."
    if len(verdict.says) > 1:
        head = "Not yet. More than one mistake gives these numbers."
    said = " <b>Or:</b> ".join(html.escape(text) for text in verdict.says)
    return f'<p class="line answer verdict" role="status"><b>✗ {head}</b> {said}</p>'


def score() -> None:
    """How many exercises of this session were tried, and how many of them were right."""
    tried: dict[Place, bool] = st.session_state.get(_TRIED, {})
    st.html(
        f'<p class="quiet score">This session: <b>{sum(tried.values())}</b> right of <b>{len(tried)}</b> tried.</p>',
        width="content",
    )


def as_literals(exercise: Exercise) -> list[list[object]]:
    """The operands as the script of the page takes them.

    Parameters
    ----------
    exercise : Exercise
        Of any kind.

    Returns
    -------
    list of list
        Name, numbers, then title and names of the rows and of the columns; no names for positions from 0.

    Examples
    --------
    >>> from core.practice.kinds import draw
    >>> as_literals(draw("scaling", 0, 1))[0][2:]
    ['query', [], 'key', []]
    """
    return [
        [
            operand.name,
            [[int(value) if value == int(value) else float(value) for value in row] for row in operand.values],
            operand.rows,
            list(operand.row_names),
            operand.columns,
            list(operand.column_names),
        ]
        for operand in exercise.operands
    ]
