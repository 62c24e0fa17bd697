"""What surrounds every page: its heading, what its numbers are, its tables, and the way on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import controls, in_browser, shown, steps, toolbar, view
from ui.charts.heat_map import number_text
from ui.pages import named, neighbours
from ui.shown import Matrix

STYLED_UP_TO = 64 * 64
"""Cells up to which a table shows a real minus sign, six decimals and −∞: the longest sentence squared."""


def heading(name: str, sentence: str, in_order: tuple[str, ...] = ()) -> DeltaGenerator:
    """Title of a page, the one sentence that it is about, and what can be done with all of it.

    Parameters
    ----------
    name : str
        Of the page.
    sentence : str
        Markdown, our own words.
    in_order : tuple of str
        Its steps, where their order depends on a control; else the page's own.

    Returns
    -------
    DeltaGenerator
        A place beside the title, for the comparison with PyTorch.
    """
    page = named(name)
    presenting = view.now().presenting
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"):
        st.title(page.title, anchor=False, width="content")
        beside = st.container(width="content", key="away_check" if presenting else None)
        if presenting:
            steps.bar(in_order or page.steps)
        toolbar.buttons()
    record = shown.now()
    if record.step == record.first:  # both are empty on a page that is shown as a whole
        st.markdown(sentence)
    return beside


def start_at_the_top(name: str) -> None:
    """Bring a page that was just opened to its top; Streamlit leaves the reader where the page before was left.

    Parameters
    ----------
    name : str
        Of the page. The script is our own and runs once each time that the name changes.
    """
    st.html(in_browser.element(in_browser.TO_TOP, once_for=name), unsafe_allow_javascript=True)


def provenance(text: str) -> None:
    """Plain statement of what is random, trained or computed.

    Parameters
    ----------
    text : str
        HTML, our own words.
    """
    record = shown.now()
    if view.now().presenting and record.step != record.first:
        return  # said on the first slide
    st.html(f'<p class="quiet">{text}</p>')


def subheading(text: str) -> None:
    """Title of a part of a page; a slide has its step's name instead.

    Parameters
    ----------
    text : str
        Our own words.
    """
    with steps.section(steps.PAGE_ONLY):
        st.header(text, anchor=False)


def to_notice(text: str) -> None:
    """What to notice on a page; left out on slides, where the speaker says it.

    Parameters
    ----------
    text : str
        HTML, our own words or literal ones.
    """
    st.html(f'<p class="line no_slide"><b>Notice.</b> {text}</p>')


def sentence_code() -> dict[str, object]:
    """Values that the script of every page with a sentence is filled with.

    Returns
    -------
    dict of str to object
        The words and the sidebar's settings.
    """
    settings = controls.settings()
    return {
        "words": list(settings.words),
        "d_head": settings.d_head,
        "n_heads": settings.n_heads,
        "seed": settings.seed,
        view.QUERIES_IN: view.SIDES[view.turned()],
    }


def numbers(matrices: Mapping[str, Matrix], code: Mapping[str, object], key: str) -> None:
    """The numbers behind the pictures, in full precision, one table at a time; kept for the files and the code.

    Parameters
    ----------
    matrices : mapping of str to tuple of ndarray, Axis and Axis
        Name of each matrix to its values, rows and columns.
    code : mapping of str to object
        What the page's script is to be filled with.
    key : str
        Of the widgets; different on every page.
    """
    keep(matrices, code)
    if view.now().presenting:
        return
    with disclosure("The numbers behind every picture", f"{key}_open") as opened:
        if not opened:
            return
        name = st.selectbox("Matrix", list(matrices), key=f"{key}_matrix", persist_state="session")
        values, rows, columns = matrices[name]
        if view.turned():
            values, rows, columns = values.T, columns, rows
        frame = pd.DataFrame(values, index=list(rows.names), columns=list(columns.names))
        frame.index.name = rows.title
        # A style is made cell by cell in Python, so large matrices go without; they hold no infinities.
        styled = frame.style.format(lambda value: number_text(value, 6)) if frame.size <= STYLED_UP_TO else frame
        st.dataframe(styled, alt=f"{name}, {rows.title} by {columns.title}")
        st.html(
            f'<p class="quiet">Rows: {rows.caption}; columns: {columns.caption}. '
            "Six decimals are shown; cells of the pictures are rounded to two. “Take home” has all of them as "
            "files.</p>"
        )


def keep(matrices: Mapping[str, Matrix], code: Mapping[str, object]) -> None:
    """Numbers and settings for the files and the code that can be taken home.

    Parameters
    ----------
    matrices, code
        As in `numbers`.
    """
    record = shown.now()
    record.matrices, record.code = matrices, code


@contextmanager
def disclosure(title: str, key: str) -> Iterator[bool]:
    """Something that opens under a line, and costs nothing while it is closed.

    Parameters
    ----------
    title : str
        The line, in our own words.
    key : str
        Of its state; True in the session opens it.

    Yields
    ------
    bool
        Whether what belongs inside is to be drawn.
    """
    with st.expander(title, key=key, on_change="rerun") as expander:
        yield bool(expander.open)


def way_on(name: str) -> None:
    """Links to the page before and the page after.

    Parameters
    ----------
    name : str
        Of this page.
    """
    if view.now().presenting:
        return  # the bar of steps leads on
    before, after = neighbours(name)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        if before:
            st.page_link(before.path, label=f"Previous: {before.title}", icon=":material/arrow_back:")
        if after:
            st.page_link(
                after.path, label=f"Next: {after.title}", icon=":material/arrow_forward:", icon_position="right"
            )
