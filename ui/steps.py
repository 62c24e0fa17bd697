"""One idea at a time: the steps of a page, the way from one to the next, and what belongs to which."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import controls, shown, view
from ui.pages import neighbours

PAGE_ONLY = "page only"
"""A step that no page has: for `section`, what is never on a slide."""


def bar(names: tuple[str, ...]) -> str:
    """Buttons to the step before and after, which the arrow keys press too, and the steps to choose from.

    Parameters
    ----------
    names : tuple of str
        The steps offered.

    Returns
    -------
    str
        The step that is shown.
    """
    record = shown.now()
    if st.session_state.get(controls.STEP, names[0]) not in names:
        st.session_state[controls.STEP] = names[0]  # of another page
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key="control_step"):
        place = st.container(width="content")
        here = controls.choice("Step", names, controls.STEP, names[0], label_visibility="collapsed", width="content")
        number = names.index(here)
        across = view.now().presenting
        before, after = neighbours(record.page)
        with place:
            st.button(
                "Back",
                on_click=_go,
                args=(record.page, names, number - 1),
                disabled=number == 0 and not (across and before),
                key="step_back",
                shortcut="Left",
            )
        st.button(
            "Next",
            on_click=_go,
            args=(record.page, names, number + 1),
            disabled=number == len(names) - 1 and not (across and after),
            key="step_next",
            shortcut="Right",
        )
    record.step, record.first = here, names[0]
    return here


def _go(page: str, names: tuple[str, ...], number: int) -> None:
    """To a step of this page, or over its end to the next page."""
    if 0 <= number < len(names):
        st.session_state[controls.STEP] = names[number]
        return
    before, after = neighbours(page)
    other = before if number < 0 else after
    if other is not None:
        st.session_state[controls.STEP] = other.steps[-1 if number < 0 else 0]
        st.switch_page(other.path, query_params={})  # None would refuse: some are bound to widgets


@contextmanager
def section(*names: str) -> Iterator[None]:
    """What is drawn inside belongs to these steps: in a presentation it is out of sight on every other slide.

    Parameters
    ----------
    *names : str
        Steps of the page.
    """
    record = shown.now()
    presenting = view.now().presenting
    away = presenting and record.step not in names
    before = record.out_of_sight
    record.out_of_sight = before or away
    record.sections += 1
    # Hidden by the style sheet and not left out: its controls must go on to exist, or their values would be lost. A
    # page that is not presented has no use for the box, and every box is drawn anew at each move of a slider.
    with st.container(key=f"away_{record.sections}" if away else None) if presenting else nullcontext():
        yield
    record.out_of_sight = before


def detail(formula: str, why: str, arithmetic: str) -> DeltaGenerator:
    """A step's formula and why, beside the arithmetic of the picked cell.

    Parameters
    ----------
    formula : str
        LaTeX.
    why : str
        Markdown, our own words; on a slide its first sentence, the speaker says the rest.
    arithmetic : str
        HTML.

    Returns
    -------
    DeltaGenerator
        The place under the explanation.
    """
    left, right = st.columns([1.1, 1])
    left.latex(formula)
    left.markdown(f"{why.partition('. ')[0].rstrip('.')}." if view.now().presenting else why)
    right.html(arithmetic)
    return left
