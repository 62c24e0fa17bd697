"""What surrounds every page: its heading, what its numbers are, its tables, and the way on."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from ui.charts.heat_map import Axis, number_text
from ui.pages import HOME, PAGES, neighbours

STYLED_UP_TO = 64 * 64
"""Cells up to which a table shows a real minus sign, six decimals and −∞: the longest sentence squared."""

Matrix = tuple[NDArray[np.float64], Axis, Axis]


def heading(name: str, sentence: str) -> DeltaGenerator:
    """Title of a page and the one sentence that it is about.

    Parameters
    ----------
    name : str
        Of the page.
    sentence : str
        Markdown, our own words.

    Returns
    -------
    DeltaGenerator
        A place beside the title, for the comparison with PyTorch.
    """
    page = next(page for page in (HOME, *PAGES) if page.name == name)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(page.title, anchor=False, width="content")
        beside = st.container(width="content")
    st.markdown(sentence)
    return beside


def start_at_the_top(name: str) -> None:
    """Bring a page that was just opened to its top; Streamlit leaves the reader where the page before was left.

    Parameters
    ----------
    name : str
        Of the page. The script is our own and runs once each time that the name changes.
    """
    scroll = "document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0)"
    st.html(f"<script>{scroll} // {name}</script>", unsafe_allow_javascript=True)


def provenance(text: str) -> None:
    """Plain statement of what is random, trained or computed.

    Parameters
    ----------
    text : str
        HTML, our own words.
    """
    st.html(f'<p class="quiet">{text}</p>')


def numbers(matrices: Mapping[str, Matrix], key: str) -> None:
    """The numbers behind the pictures, in full precision, one table at a time.

    Parameters
    ----------
    matrices : mapping of str to tuple of ndarray, Axis and Axis
        Name of each matrix to its values, rows and columns.
    key : str
        Of the widgets; different on every page.
    """
    with st.expander("The numbers behind every picture", key=f"{key}_open", on_change="rerun") as expander:
        if not expander.open:
            return
        name = st.selectbox("Matrix", list(matrices), key=f"{key}_matrix", persist_state="session")
        values, rows, columns = matrices[name]
        frame = pd.DataFrame(values, index=list(rows.names), columns=list(columns.names))
        frame.index.name = rows.title
        # A style is made cell by cell in Python, so large matrices go without; they hold no infinities.
        shown = frame.style.format(lambda value: number_text(value, 6)) if frame.size <= STYLED_UP_TO else frame
        st.dataframe(shown, alt=f"{name}, {rows.title} by {columns.title}")
        st.html(
            f'<p class="quiet">Rows: {rows.title}; columns: {columns.title}. '
            "Six decimals are shown; cells of the pictures are rounded to two.</p>"
        )


def way_on(name: str) -> None:
    """Links to the page before and the page after.

    Parameters
    ----------
    name : str
        Of this page.
    """
    before, after = neighbours(name)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        if before:
            st.page_link(before.path, label=f"Previous: {before.title}", icon=":material/arrow_back:")
        if after:
            st.page_link(
                after.path, label=f"Next: {after.title}", icon=":material/arrow_forward:", icon_position="right"
            )
