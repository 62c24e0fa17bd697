"""A matrix on a page: one mark a cell while there are few, a picture when there are many."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pyarrow as pa
import streamlit as st

from core.masks import Booleans
from core.softmax import Floats
from ui.charts.heat_map import (
    PICTURE_ABOVE,
    Axis,
    Panel,
    label_step,
    longest_text,
    matrix_table,
    specification,
    with_row_sums,
)
from ui.charts.picture import matrix_picture

Picked = Sequence[tuple[int | None, int | None]]

INTERACTIVE_UP_TO = 64 * 64
"""Cells up to which the one matrix that can be clicked stays interactive: the longest sentence offered."""


def draw(
    panel: Panel,
    values: Floats,
    rows: Axis,
    columns: Axis,
    *,
    key: str,
    alt: str,
    ramp: str = "signed",
    limit: float = 1.0,
    may_attend: Booleans | None = None,
    picked: Picked = (),
    on_pick: Callable[[], None] | None = None,
    row_sums: bool = False,
    decimals: int | None = 2,
    most: int = PICTURE_ABOVE,
) -> None:
    """One matrix.

    Parameters
    ----------
    panel : Panel
        How it is drawn while it has few cells.
    values : ndarray of shape (row, column)
        Its numbers.
    rows, columns : Axis
        Of the values.
    key : str
        Of the chart in the session.
    alt : str
        What a reader who cannot see it should know: the takeaway.
    ramp, limit, may_attend, picked
        As in `ui.charts.heat_map.matrix_table`.
    on_pick : callable or None
        Called after a click on a cell.
    row_sums : bool
        Whether a column with the sums of the rows is added.
    decimals : int or None
        In the cells; None leaves the numbers to the tooltip.
    most : int
        Cells beyond which it becomes a picture.
    """
    if values.size > most:
        picture(panel.title, values, alt=alt, ramp=ramp, limit=limit, may_attend=may_attend, picked=picked)
        return
    table = matrix_table(values, rows, columns, ramp, limit, may_attend, picked, decimals)
    panel = replace(
        panel,
        n_rows=len(rows.labels),
        row_step=label_step(rows),
        column_step=label_step(columns),
        characters=longest_text(table),
    )
    if row_sums:
        table = with_row_sums(table, values, rows)
    send(table, panel, ramp=ramp, key=key, alt=alt, on_pick=on_pick)


def send(
    table: pa.Table,
    *panels: Panel,
    key: str,
    alt: str,
    ramp: str = "signed",
    on_pick: Callable[[], None] | None = None,
) -> None:
    """Send a table with the specification of its panels.

    Parameters
    ----------
    table : pyarrow.Table
        From `matrix_table`, or several of them joined.
    *panels : Panel
        One, or several side by side.
    key, alt, ramp, on_pick
        As in `draw`.
    """
    stretch = len(panels) == 1 and panels[0].width is None
    width: Literal["stretch", "content"] = "stretch" if stretch else "content"
    spec = specification(*panels, ramp=ramp)
    if on_pick is None:
        st.vega_lite_chart(table, spec, width=width, key=key, alt=alt)
    else:
        st.vega_lite_chart(
            table, spec, width=width, key=key, alt=alt, on_select=on_pick, selection_mode=[panels[0].pick]
        )


def picture(
    title: str,
    values: Floats,
    *,
    alt: str,
    ramp: str = "signed",
    limit: float = 1.0,
    may_attend: Booleans | None = None,
    picked: Picked = (),
    width: int | None = None,
    height: int = 150,
) -> None:
    """A matrix as an image with its title.

    Parameters
    ----------
    title : str
        Our own words.
    values : ndarray of shape (row, column)
        Its numbers.
    alt, ramp, limit, may_attend, picked
        As in `draw`.
    width : int or None
        In pixels; None fills the container.
    height : int
        In pixels where the width is given, else about a third of the width.
    """
    shown = _thin(values, 2 * (width or 300), 2 * height)
    allowed = None if may_attend is None else _thin(may_attend.astype(float), 2 * (width or 300), 2 * height) > 0
    marked = _scale(picked, values, shown)
    dark = st.context.theme.type == "dark"
    # Drawn at twice the size, so that it stays sharp on a projector and on a phone.
    file = matrix_picture(shown, 2 * (width or 300), 2 * height, ramp, limit, allowed, marked, dark)
    with st.container(width="content" if width else "stretch", gap="xsmall"):
        st.html(f'<p class="quiet"><b>{title}</b></p>')
        st.image(file, width=width or "stretch", alt=alt)


def _thin(values: Floats, width: int, height: int) -> Floats:
    """A matrix with more cells than pixels, thinned to means of neighbouring cells."""
    across, down = -(-values.shape[1] // width), -(-values.shape[0] // height)
    if across == down == 1:
        return values
    row_starts, column_starts = np.arange(0, values.shape[0], down), np.arange(0, values.shape[1], across)
    sums = np.add.reduceat(np.add.reduceat(values, row_starts, axis=0), column_starts, axis=1)
    row_sizes = np.diff(np.append(row_starts, values.shape[0]))
    column_sizes = np.diff(np.append(column_starts, values.shape[1]))
    return np.asarray(sums / (row_sizes[:, None] * column_sizes))


def _scale(picked: Picked, values: Floats, shown: Floats) -> Picked:
    down, across = -(-values.shape[0] // shown.shape[0]), -(-values.shape[1] // shown.shape[1])
    return [(None if row is None else row // down, None if col is None else col // across) for row, col in picked]
