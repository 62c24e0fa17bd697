"""A matrix on a page: one mark a cell while there are few, else a picture; turned where that is asked for."""

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import streamlit as st

from core.masks import Booleans
from core.softmax import Floats
from ui import controls, draw, view
from ui.charts.heat_map import (
    PICTURE_ABOVE,
    SMALLEST_NUMBER,
    TALL,
    Axis,
    Panel,
    captioned,
    join,
    label_step,
    longest_text,
    matrix_table,
    number_text,
    specification,
    with_sums,
)
from ui.charts.picture import matrix_picture

Picked = Sequence[tuple[int | None, int | None]]

INTERACTIVE_UP_TO = 48 * 48
"""Cells up to which the one matrix that can be clicked stays interactive. Beyond, the boxes alone pick: the 4,096 marks
of 64 words take the browser a tenth of a second at every move."""

EDITABLE_UP_TO = 64 * 64
"""The same of a mask, which a click edits: the longest sentence offered."""

_PICK = "cell"


@dataclass(frozen=True, slots=True)
class Follow:
    """What a click on a cell sets: the controls that hold its row and its column, and whatever else explains it."""

    row: str = ""
    column: str = ""
    sets: Mapping[str, object] = field(default_factory=dict)
    row_names: Sequence[str] = ()
    """What each row is called in its control; empty where that is its name on the axis."""
    then: Callable[[int, int], None] | None = None
    """What else a click does, with the row and the column as in the code."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """One matrix and how it is to be seen; rows and columns as in the code, whichever way it is drawn."""

    name: str
    """Our own words, such as "Q"; the shape is added."""
    values: Floats
    rows: Axis
    columns: Axis
    turned: str = ""
    """Its name when it is drawn transposed; empty for the name with a raised T."""
    ramp: str = "signed"
    limit: float = 1.0
    """Value at which the ramp ends."""
    may_attend: Booleans | None = None
    picked: Picked = ()
    decimals: int | None = 2
    """In the cells; None leaves the numbers to the tooltip."""
    version: str = ""
    """Another one after every click that changes the matrix: else a second click on a cell would be none."""

    def transposed(self) -> "Matrix":
        """The same numbers with rows and columns exchanged."""
        return replace(
            self,
            name=self.turned or f"{self.name}ᵀ",
            values=self.values.T,
            rows=self.columns,
            columns=self.rows,
            may_attend=None if self.may_attend is None else self.may_attend.T,
            picked=[(column, row) for row, column in self.picked],
        )

    @property
    def title(self) -> str:
        """Name and shape."""
        return f"{self.name} ({self.values.shape[0]} × {self.values.shape[1]})"


def show(
    matrix: Matrix,
    panel: Panel,
    *,
    key: str,
    alt: str,
    follow: Follow | None = None,
    sums: bool = False,
    most: int = PICTURE_ABOVE,
) -> None:
    """One matrix.

    Parameters
    ----------
    matrix : Matrix
        Its numbers.
    panel : Panel
        How it is drawn while it has few cells and its queries stand in rows; title, axes and sizes are filled in.
    key : str
        Of the chart in the session.
    alt : str
        What it is; its range and its largest entry are added for a reader who cannot see it.
    follow : Follow or None
        What a click on a cell does.
    sums : bool
        Whether the sum of each query's weights is added.
    most : int
        Cells beyond which it becomes a picture.
    """
    turned = view.turned()
    drawn = matrix.transposed() if turned else matrix
    alt = f"{alt}; {takeaway(matrix)}"
    if matrix.values.size > most:
        _picture(drawn, alt=alt)
        return
    table = _table(drawn)
    panel = _fitted(panel, drawn, turned, longest_text(table), _PICK if follow else "")
    if sums:
        table = with_sums(table, matrix.values, matrix.rows, turned)
        panel = replace(panel, n_rows=panel.n_rows + turned, n_columns=panel.n_columns + (not turned))
    _send([panel], table, matrix.ramp, drawn.title, key, alt, follow, drawn)


def show_joined(
    matrices: Sequence[tuple[Matrix, Panel]],
    *,
    key: str,
    alt: str,
    follow: Follow | None = None,
    picture_width: int = 80,
) -> None:
    """Several matrices side by side in one chart; a click follows the last one.

    Parameters
    ----------
    matrices : sequence of (Matrix, Panel)
        Each with how it is drawn; the panel needs the width of a cell.
    key, alt, follow
        As in `show`.
    picture_width : int
        In pixels, of each where they have too many cells.
    """
    turned = view.turned()
    drawn = [matrix.transposed() if turned else matrix for matrix, _ in matrices]
    if max(matrix.values.size for matrix in drawn) > PICTURE_ABOVE:
        for matrix in drawn:
            _picture(matrix, alt=f"{alt}; {takeaway(matrix)}", width=picture_width)
        return
    tables = [_table(matrix, str(number)) for number, matrix in enumerate(drawn)]
    last = len(drawn) - 1
    panels = [
        replace(
            _fitted(panel, matrix, turned, longest_text(table), _PICK if follow and number == last else ""),
            matrix=str(number),
        )
        for number, ((_, panel), matrix, table) in enumerate(zip(matrices, drawn, tables, strict=True))
    ]
    name = " and ".join(matrix.name for matrix in drawn)
    said = f"{alt}; {takeaway(matrices[-1][0])}"
    _send(panels, join(*tables), drawn[0].ramp, name, key, said, follow, drawn[-1])


def takeaway(matrix: Matrix) -> str:
    """Range and largest entry of a matrix, in words.

    Parameters
    ----------
    matrix : Matrix
        Any.

    Returns
    -------
    str
        A phrase; masked cells do not count.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> axis = word_axis("query", ("a", "b"))
    >>> takeaway(Matrix("Q", np.array([[0.0, 2.0], [-1.0, 0.5]]), axis, axis))
    'from −1.00 to 2.00, largest at query 0 a and query 1 b'
    """
    values = matrix.values
    finite = np.isfinite(values)
    masked = values.size - int(np.count_nonzero(finite))
    if masked == values.size:
        return "every cell is masked"
    largest = int((np.where(finite, values, -np.inf) if masked else values).argmax())
    row, column = np.unravel_index(largest, values.shape)
    lowest = values.min(where=finite, initial=np.inf) if masked else values.min()
    low, high = number_text(float(lowest)), number_text(float(values.flat[largest]))
    where = f"{matrix.rows.title} {matrix.rows.names[row]} and {matrix.columns.title} {matrix.columns.names[column]}"
    extent = f"all {low}" if low == high else f"from {low} to {high}, largest at {where}"
    return extent + (f", {masked} masked" if masked else "")


def _table(matrix: Matrix, name: str | None = None) -> pa.Table:
    return matrix_table(
        matrix.values,
        matrix.rows,
        matrix.columns,
        matrix.ramp,
        matrix.limit,
        matrix.may_attend,
        matrix.picked,
        matrix.decimals,
        matrix.version if name is None else name,
    )


def _fitted(panel: Panel, matrix: Matrix, turned: bool, characters: int, pick: str) -> Panel:
    """A panel with what follows from its matrix and from how the page is looked at."""
    n_rows, n_columns = matrix.values.shape
    width, height = panel.width, panel.height
    row_labels, column_labels = panel.row_labels, panel.column_labels
    if turned:
        row_labels, column_labels = column_labels, row_labels
        # The picture keeps the room that it had.
        height = min(34.0, height * n_columns / n_rows) if width is None else width
        width = None if width is None else panel.height
    type_size = draw.LARGE if view.now().presenting else 1.0
    height, width = height * type_size, None if width is None else width * type_size
    row_room, column_room = height * n_rows, 240.0 if width is None else width * n_columns
    return replace(
        panel,
        title=matrix.title,
        row_title=matrix.rows.title or "row",
        column_title=matrix.columns.title or "column",
        row_caption=_caption(matrix.rows, row_room / type_size),
        column_caption=_caption(matrix.columns, column_room / type_size),
        row_hue=matrix.rows.hue,
        column_hue=matrix.columns.hue,
        row_labels=row_labels,
        column_labels=column_labels,
        width=width,
        height=height,
        n_rows=n_rows,
        n_columns=n_columns,
        outlines=frozenset(
            "column" if row is None else "row" if column is None else "cell" for row, column in matrix.picked
        ),
        row_step=label_step(matrix.rows),
        column_step=label_step(matrix.columns),
        numbers=matrix.decimals is not None and height * TALL >= SMALLEST_NUMBER,
        characters=characters,
        pick=pick,
        type_size=type_size,
    )


def _caption(axis: Axis, room: float) -> str:
    """As much of an axis' name as there is room for, in pixels at the usual type size."""
    return axis.caption if len(axis.caption) * 6.4 <= room else axis.size


def _send(
    panels: Sequence[Panel],
    table: pa.Table,
    ramp: str,
    name: str,
    key: str,
    alt: str,
    follow: Follow | None,
    drawn: Matrix,
) -> None:
    stretch = len(panels) == 1 and panels[0].width is None
    width: Literal["stretch", "content"] = "stretch" if stretch else "content"
    on_pick = _picker(key, follow, drawn) if follow else None
    draw.chart(
        captioned(table, *panels),
        specification(*panels, ramp=ramp),
        name=name,
        key=key,
        alt=alt,
        width=width,
        on_pick=on_pick,
        picks=_PICK,
    )


def _picker(key: str, follow: Follow, drawn: Matrix) -> Callable[[], None]:
    """Takes a clicked cell over into the controls that hold its row and its column."""
    row_names, column_names = drawn.rows.names, drawn.columns.names
    if view.turned():
        row_names, column_names = column_names, row_names
    places = [("row_position", follow.row, follow.row_names or row_names)]
    places.append(("column_position", follow.column, column_names))
    if view.turned():
        places = [(other[0], *own[1:]) for own, other in zip(places, reversed(places), strict=True)]

    def pick() -> None:
        cells = st.session_state[key]["selection"].get(_PICK, [])
        if not cells or (drawn.version and cells[0].get("matrix", drawn.version) != drawn.version):
            return  # nothing, or a click on what has changed since
        found = [(control, names, int(cells[0][position])) for position, control, names in places]
        if any(place >= len(names) for _, names, place in found):
            return  # a sum, which is no cell
        picked = {control: names[place] for control, names, place in found if control}
        controls.take(picked | dict(follow.sets))
        if follow.then:
            (_, _, row), (_, _, column) = found
            follow.then(row, column)

    return pick


def _picture(matrix: Matrix, *, alt: str, width: int | None = None, height: int = 150) -> None:
    """A matrix as an image with its title."""
    values = matrix.values
    shown = _thin(values, 2 * (width or 300), 2 * height)
    allowed = None
    if matrix.may_attend is not None:
        allowed = _thin(matrix.may_attend.astype(float), 2 * (width or 300), 2 * height) > 0
    marked = _scale(matrix.picked, values, shown)
    # Drawn at twice the size, so that it stays sharp on a projector and on a phone.
    file = matrix_picture(
        shown, 2 * (width or 300), 2 * height, matrix.ramp, matrix.limit, allowed, marked, view.dark()
    )
    axes = f"rows {html.escape(matrix.rows.size)}, columns {html.escape(matrix.columns.size)}"
    if width is None:
        axes = f"rows: {html.escape(matrix.rows.caption)}, columns: {html.escape(matrix.columns.caption)}"
    draw.picture(file, name=matrix.title, caption=axes, alt=alt, width=width)


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
