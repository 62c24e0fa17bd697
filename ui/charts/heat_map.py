"""Matrices as heat maps: rows and columns by position, so that equal words stay apart."""

import functools
import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from core.masks import Booleans
from core.tokens import label_words
from ui.charts.specifications import (
    FIRST_ROW,
    Spec,
    as_dictionary,
    configured,
    fixed,
    of_first_row,
    without_data,
)
from ui.charts.theme import FILL, TEXT, entries, expression, ink, ramp_parameters, sentence, themed
from ui.colours import FEATURE, KEY, NEUTRAL, PICKED, QUERY, SIGNED, WEIGHTS, WIDTH, Hue, Ramp

PICTURE_ABOVE = 1_000
"""Cells beyond which a matrix is shown as a picture instead of one mark a cell."""

TALL = 0.6
"""Share of a cell's height that a number may have."""

SMALLEST_NUMBER = 8.5
"""Pixels of type below which the numbers in cells are left to the tooltip."""

POSITIONS_ABOVE = 12
"""Words beyond which an axis shows positions only; the words are in the tooltip."""

RAMPS: dict[str, Ramp] = {"weights": WEIGHTS, "signed": SIGNED}


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a matrix."""

    title: str
    """What its entries are: "query", "key", "feature"."""
    labels: tuple[str, ...]
    """One a position, all different; short enough for the axis."""
    names: tuple[str, ...]
    """The same in full, for tooltips and tables."""
    symbol: str = ""
    """Letter of the dimension: "n", "d", "d_model"; empty where it has none."""

    @property
    def hue(self) -> Hue:
        """Colour of the dimension, the same in every picture, formula and table."""
        roles = {"query": QUERY, "key": KEY}
        return roles.get(self.title) or {"d": FEATURE, "d_model": WIDTH}.get(self.symbol, NEUTRAL)

    @property
    def size(self) -> str:
        """The dimension in short: "n = 5"; the bare title where it has no letter."""
        return f"{self.symbol} = {len(self.labels)}" if self.symbol else self.title

    @property
    def caption(self) -> str:
        """What the axis holds and how many: "query (n = 5)"."""
        return f"{self.title} ({self.size})" if self.symbol else self.title


@functools.lru_cache(maxsize=64)
def word_axis(title: str, words: tuple[str, ...]) -> Axis:
    """Axis of positions with their words.

    Parameters
    ----------
    title : str
        "query" or "key", or "word" where a row is neither.
    words : tuple of str
        The sentence.

    Returns
    -------
    Axis
        Labels such as "0 the"; positions only when there are many.

    Examples
    --------
    >>> word_axis("query", ("the", "cat", "the")).labels
    ('0 the', '1 cat', '2 the')
    """
    names = tuple(f"{position} {word}" for position, word in enumerate(words))
    short = label_words(words) if len(words) <= POSITIONS_ABOVE else tuple(str(i) for i in range(len(words)))
    return Axis(title, short, names, "n")


@functools.lru_cache(maxsize=64)
def position_axis(title: str, count: int, symbol: str = "") -> Axis:
    """Axis of numbered entries, such as features.

    Parameters
    ----------
    title : str
        What is numbered.
    count : int
        How many.
    symbol : str
        Letter of the dimension.

    Returns
    -------
    Axis
        Labels "0", "1", ...

    Examples
    --------
    >>> axis = position_axis("feature", 2, "d")
    >>> axis.labels, axis.caption
    (('0', '1'), 'feature (d = 2)')
    """
    labels = tuple(str(i) for i in range(count))
    return Axis(title, labels, labels, symbol)


def label_step(axis: Axis) -> int:
    """Every how-manieth label of an axis fits.

    Parameters
    ----------
    axis : Axis
        Of words or positions.

    Returns
    -------
    int
        1 while there are few.

    Examples
    --------
    >>> label_step(position_axis("feature", 12)), label_step(position_axis("feature", 64))
    (1, 8)
    """
    count = len(axis.labels)
    return 1 if count <= POSITIONS_ABOVE else -(-count // 8)


def longest_text(*tables: pa.Table) -> int:
    """Characters of the longest number in the cells of some tables.

    Parameters
    ----------
    *tables : pyarrow.Table
        From `matrix_table`.

    Returns
    -------
    int
        At least 4, so that ordinary states share one specification.

    Examples
    --------
    >>> axis = word_axis("query", ("the",))
    >>> longest_text(matrix_table([[-12.5]], axis, axis))
    6
    """
    return max(4, *(len(text) for table in tables for text in table["text"].to_pylist()))


def named_axis(title: str, names: tuple[str, ...]) -> Axis:
    """Axis of entries that have names of our own.

    Parameters
    ----------
    title : str
        What they are.
    names : tuple of str
        All different.

    Returns
    -------
    Axis
        Labels and names alike.

    Examples
    --------
    >>> named_axis("measure", ("mean", "low")).labels
    ('mean', 'low')
    """
    return Axis(title, names, names)


def number_text(value: float, decimals: int = 2) -> str:
    """A number as a cell shows it: rounded, with a real minus sign, never "-0.00".

    Parameters
    ----------
    value : float
        Finite or infinite.
    decimals : int
        Digits behind the point.

    Returns
    -------
    str
        "−∞" for minus infinity.

    Examples
    --------
    >>> number_text(-1.256), number_text(-0.001), number_text(float("-inf"))
    ('−1.26', '0.00', '−∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{decimals}f}"
    if text[0] != "-":
        return text
    return f"−{text[1:]}" if text.strip("-0.") else text[1:]


def symmetric_limit(*arrays: ArrayLike) -> float:
    """Largest absolute value of several arrays: where the signed ramp ends on all of them.

    Parameters
    ----------
    *arrays : array_like
        Infinities do not count.

    Returns
    -------
    float
        Positive, 1 where there is nothing but zeros.

    Examples
    --------
    >>> symmetric_limit([1.0, -3.0], [-np.inf])
    3.0
    """
    largest = 0.0
    for array in arrays:
        values = np.asarray(array, dtype=np.float64)
        # Both ends are found without a copy of what may be megabytes; nearly always they are finite.
        ends = np.array([values.min(), values.max()]) if values.size else np.zeros(2)
        if not np.isfinite(ends).all():
            ends = values[np.isfinite(values)]
        largest = max(largest, float(np.abs(ends).max(initial=0.0)))
    return largest or 1.0


def matrix_table(
    values: ArrayLike,
    rows: Axis,
    columns: Axis,
    ramp: str = "signed",
    limit: float = 1.0,
    may_attend: Booleans | None = None,
    picked: Sequence[tuple[int | None, int | None]] = (),
    decimals: int | None = 2,
    matrix: str = "",
) -> pa.Table:
    """One row a cell, with everything that a heat map draws.

    Parameters
    ----------
    values : array_like of shape (row, column)
        Real numbers; -inf where masked.
    rows, columns : Axis
        As long as the two axes.
    ramp : "weights" or "signed"
        The colours.
    limit : float
        Value at which the ramp ends.
    may_attend : ndarray of bool of the same shape, or None
        False marks a masked cell.
    picked : sequence of (row or None, column or None)
        Cells to outline; None means the whole row or column.
    decimals : int or None
        In the cells; None leaves the numbers to the tooltip.
    matrix : str
        Name, for charts that hold several.

    Returns
    -------
    pyarrow.Table
        row, row_position, row_name, column, column_position, column_name, value, text, step, note, outline,
        matrix.

    Raises
    ------
    ValueError
        The axes do not fit the values.

    Examples
    --------
    >>> axis = word_axis("query", ("the", "the"))
    >>> table = matrix_table([[0.25, 0.75], [0.5, 0.5]], axis, axis, "weights", picked=[(0, 1)])
    >>> [row["text"] for row in table.to_pylist() if row["outline"] == "cell"]
    ['0.75']
    """
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(rows.labels), len(columns.labels)):
        raise ValueError(f"values must have shape {(len(rows.labels), len(columns.labels))}; got {array.shape}")
    flat = array.ravel()
    steps = RAMPS[ramp].steps(np.where(np.isfinite(flat), flat, 0.0), limit)
    outline = np.zeros(array.shape, dtype=np.int16)
    for row, column in picked:
        # The first cell of a row or a column stands for all of it.
        outline[row or 0, column or 0] = _OUTLINES.index(
            "row" if column is None else "column" if row is None else "cell"
        )
    # A bare 0 is exactly 0; what only rounds to it is 0.00. One Python call a cell is dear: no text, no call.
    if decimals is None or flat.size > PICTURE_ABOVE:
        text = _no_text(flat.size)
    else:
        text = pa.array([_cell_text(value, decimals) for value in flat.tolist()])
    if may_attend is None:
        note = _all_alike(flat.size, _NOTES)
    else:
        masked = ~np.broadcast_to(may_attend, array.shape).ravel()
        steps = np.where(masked, np.int16(-1), steps)
        note = dictionary(masked.astype(np.int16), _NOTES)
    columns_of_state = (
        _all_alike(flat.size, (matrix,)),
        pa.array(flat, mask=~np.isfinite(flat)),
        text,
        pa.array(steps),
        note,
        dictionary(outline.ravel(), _OUTLINES) if picked else _all_alike(flat.size, _OUTLINES),
    )
    return pa.Table.from_arrays([*_places(rows, columns), *columns_of_state], names=_NAMES)


_NAMES = (
    "row",
    "row_position",
    "row_name",
    "column",
    "column_position",
    "column_name",
    "place",
    "matrix",
    "value",
    "text",
    "step",
    "note",
    "outline",
)


@functools.lru_cache(maxsize=256)
def _all_alike(count: int, labels: tuple[str, ...]) -> pa.DictionaryArray:
    """A column that holds the first label in every row."""
    return dictionary(np.zeros(count, dtype=np.int16), labels)


@functools.lru_cache(maxsize=64)
def _no_text(count: int) -> pa.Array:
    return pa.array([""] * count)


@functools.lru_cache(maxsize=64)
def _places(rows: Axis, columns: Axis) -> tuple[pa.Array, ...]:
    """Row and column of every cell, by position, label and name: the same for every state of a shape and its words."""
    n_rows, n_columns = len(rows.labels), len(columns.labels)
    row_index = np.repeat(np.arange(n_rows, dtype=np.int16), n_columns)
    column_index = np.tile(np.arange(n_columns, dtype=np.int16), n_rows)
    return (
        *(
            made
            for index, axis in ((row_index, rows), (column_index, columns))
            for made in (dictionary(index, axis.labels), pa.array(index), dictionary(index, axis.names))
        ),
        pa.array(np.arange(n_rows * n_columns, dtype=np.int32)),
    )


def _cell_text(value: float, decimals: int) -> str:
    return number_text(value, decimals) if value else "0"


_OUTLINES = ("", "cell", "row", "column")
_NOTES = ("", "masked (−∞ before the softmax)")


def dictionary(positions: np.ndarray[Any, Any], labels: tuple[str, ...]) -> pa.DictionaryArray:
    """Labels by position, as a column in which each word travels once and not once a cell.

    Parameters
    ----------
    positions : ndarray of int
        One a row.
    labels : tuple of str
        One a position.

    Returns
    -------
    pyarrow.DictionaryArray
        As long as the positions.

    Examples
    --------
    >>> dictionary(np.array([1, 0, 1]), ("a", "b")).to_pylist()
    ['b', 'a', 'b']
    """
    return pa.DictionaryArray.from_arrays(positions, _strings(labels))


@functools.lru_cache(maxsize=128)
def _strings(labels: tuple[str, ...]) -> pa.Array:
    # The same few axes serve a dozen tables of one run.
    return pa.array(labels, pa.string())


def join(*tables: pa.Table) -> pa.Table:
    """Several tables from `matrix_table` as one, for a chart that holds several matrices.

    Parameters
    ----------
    *tables : pyarrow.Table
        At least one.

    Returns
    -------
    pyarrow.Table
        All rows, with one dictionary a column.

    Examples
    --------
    >>> axis = word_axis("query", ("the",))
    >>> join(matrix_table([[1.0]], axis, axis), matrix_table([[2.0]], axis, axis)).num_rows
    2
    """
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def with_sums(table: pa.Table, weights: ArrayLike, queries: Axis, turned: bool = False) -> pa.Table:
    """A table of weights with one more column: the sum of each query's weights, from the unrounded values.

    Parameters
    ----------
    table : pyarrow.Table
        From `matrix_table`.
    weights : array_like of shape (query, key)
        The values behind it.
    queries : Axis
        One a sum.
    turned : bool
        Whether the table shows queries in columns; the sums then stand in one more row.

    Returns
    -------
    pyarrow.Table
        The sums are called "sum" and have a colour of their own (`step` -2 is drawn without a cell).

    Examples
    --------
    >>> axis = word_axis("query", ("the", "the"))
    >>> weights = [[0.25, 0.75], [0.5, 0.5]]
    >>> with_sums(matrix_table(weights, axis, axis, "weights"), weights, axis)["text"].to_pylist()[-2:]
    ['1.00', '1.00']
    """
    array = np.asarray(weights, dtype=np.float64)
    sums, ends = array.sum(axis=-1, keepdims=True), Axis("", ("sum",), ("sum of the query's weights",))
    extra = matrix_table(sums.T, ends, queries, "weights") if turned else matrix_table(sums, queries, ends, "weights")
    count = array.shape[0]
    for name, values in (
        ("row_position" if turned else "column_position", np.full(count, array.shape[1], dtype=np.int16)),
        ("step", np.full(count, -2, dtype=np.int16)),
        ("place", np.arange(-count, 0, dtype=np.int32)),  # no cell's: marks of one place would be taken for one
    ):
        extra = extra.set_column(extra.column_names.index(name), name, pa.array(values))
    return join(table, extra)


def _position(
    channel: type[Any], axis: str, caption: str, hue: Hue, labels: bool, step: str, type_size: float, **options: Any
) -> Any:
    # The identical sort in every layer: where one lacks it, Vega falls back to the alphabet.
    drawn = (
        alt.Axis(
            title=caption or None,
            ticks=False,
            domain=False,
            labels=labels,
            labelFlush=False,  # else the first and last label leave their row
            labelColor=TEXT,
            titleColor=themed(hue),
            labelLimit=110 * type_size,
            labelFontSize=12 * type_size,
            titleFontSize=12 * type_size,
            titlePadding=4,
            labelOverlap=False,
            labelExpr=f"isNaN(+datum.label) || +datum.label % {step} === 0 ? datum.label : ''",
            titleFontWeight="normal",
            **options,
        )
        if caption or labels
        else None
    )
    sort = alt.EncodingSortField(field=f"{axis}_position", op="min", order="ascending")
    return channel(field=axis, type="nominal", sort=sort, axis=drawn)


def _without_axis(channel: Any) -> Any:
    """The same channel for a further layer; an axis that is left out altogether (None) must be left out in all."""
    bare = channel.copy()
    if bare.axis is not None:
        bare.axis = alt.Undefined
    return bare


@dataclass(frozen=True, slots=True)
class Panel:
    """How one matrix is drawn; its numbers come with the table."""

    title: str = ""
    """Our own words only, such as "Q (5 × 4)"."""
    hue: Hue = NEUTRAL
    """Colour of the title: the role of the matrix."""
    row_title: str = "row"
    """What a row is, in the tooltip."""
    column_title: str = "column"
    row_caption: str = ""
    """Name of the axis beside the picture; empty for none."""
    column_caption: str = ""
    row_hue: Hue = NEUTRAL
    """Colour of the caption: that of the dimension."""
    column_hue: Hue = NEUTRAL
    row_labels: bool = True
    column_labels: bool = True
    width: float | None = None
    """Of a cell, in pixels; None stretches the chart to its container (a single panel only)."""
    height: float = 30
    """Of a cell, in pixels."""
    n_rows: int = 1
    n_columns: int = 1
    row_step: int = 1
    """Every how-manieth label of an axis of plain positions is written."""
    column_step: int = 1
    characters: int = 5
    """Of the longest number in a cell; decides how large the numbers can be, and whether they are shown."""
    numbers: bool = True
    """False where no number can fit, so that none need be made."""
    outlines: frozenset[str] = frozenset(("cell", "row", "column"))
    """What may be outlined here: a layer each."""
    measure: str = ""
    """What a value is called in the tooltip; empty for the title up to its first number."""
    pick: str = ""
    """Name of the selection that a click on a cell makes; empty for none."""
    matrix: str = ""
    """Draw only the table's rows of this name; empty for all."""
    type_size: float = 1.0
    """Factor on all type, for a lecture hall."""

    @property
    def value_title(self) -> str:
        """What a value is called."""
        return self.measure or _measure(self.title)


@functools.lru_cache(maxsize=512)
def specification(*panels: Panel, ramp: str = "signed", spacing: int = 6) -> Spec:
    """One matrix, or several side by side, as a dictionary that is sent with a table from `matrix_table`.

    Parameters
    ----------
    *panels : Panel
        At least one.
    ramp : "weights" or "signed"
        The colours of all of them.
    spacing : int
        Pixels between them.

    Returns
    -------
    dict
        A Vega-Lite specification without data; shared, not to be changed.

    Examples
    --------
    >>> [layer["mark"]["type"] for layer in specification(Panel("A"))["layer"]]
    ['rect', 'text', 'rect', 'rect', 'rect']
    """
    template = _template(tuple(_structure(panel) for panel in panels), ramp, spacing)
    if len(panels) == 1:
        return template | _filled(template, panels[0])
    return template | {
        "hconcat": [part | _filled(part, panel) for part, panel in zip(template["hconcat"], panels, strict=True)]
    }


_CAPTIONS = ("title", "rows", "columns", "tall", "wide", "digits", "rowStep", "columnStep")
_BETWEEN = "\n"


def captioned(table: pa.Table, *panels: Panel) -> pa.Table:
    r"""A table with what stands around its matrices, and the sizes of their cells and numbers.

    They travel with the data, because they hold sizes: a specification that differs from the last one, and be it in a
    title, makes the browser build the whole chart anew.

    Parameters
    ----------
    table : pyarrow.Table
        From `matrix_table`, `with_sums` or `join`.
    *panels : Panel
        In the order of the chart.

    Returns
    -------
    pyarrow.Table
        One more column, `captions`: all of them in the first row, nothing in the others.

    Examples
    --------
    >>> axis = word_axis("query", ("the",))
    >>> captioned(matrix_table([[1.0]], axis, axis), Panel("A", height=30))["captions"].to_pylist()
    ['A\n\n\n30\n0\n5\n1\n1']
    """
    words = [
        f"{said:g}" if isinstance(said, float) else str(said)
        for panel in panels
        for said in (
            panel.title,
            panel.row_caption,
            panel.column_caption,
            panel.height,
            panel.width or 0,
            panel.characters,
            panel.row_step,
            panel.column_step,
        )
    ]
    places = np.zeros(table.num_rows, dtype=np.int16)
    places[:1] = 1
    return table.append_column("captions", dictionary(places, ("", _BETWEEN.join(words))))


def read_captions(table: pa.Table) -> list[dict[str, str]]:
    """What `captioned` wrote.

    Parameters
    ----------
    table : pyarrow.Table
        With its column.

    Returns
    -------
    list of dict
        For each panel its title, names of rows and columns, and sizes.

    Examples
    --------
    >>> axis = word_axis("query", ("the",))
    >>> read_captions(captioned(matrix_table([[1.0]], axis, axis), Panel("A", row_caption="query")))[0]["rows"]
    'query'
    """
    words = table["captions"][0].as_py().split(_BETWEEN)
    count = len(_CAPTIONS)
    return [dict(zip(_CAPTIONS, words[at : at + count], strict=True)) for at in range(0, len(words), count)]


def _caption(number: int, name: str) -> dict[str, str]:
    """One of the captions of a panel, as the browser looks it up."""
    return {"expr": f"captions[{number * len(_CAPTIONS) + _CAPTIONS.index(name)}]"}


def _caption_parameters(panels: Sequence[Panel]) -> list[dict[str, str]]:
    read = of_first_row(f"split({FIRST_ROW}.captions, {json.dumps(_BETWEEN)})", "[]")
    sizes = _CAPTIONS[3:]
    return [
        {"name": "captions", "expr": read},
        *(
            {"name": f"{name}{number}", "expr": f"+{_caption(number, name)['expr']}"}
            for number in range(len(panels))
            for name in sizes
        ),
        *({"name": f"size{number}", "expr": _size_of_number(panel, number)} for number, panel in enumerate(panels)),
    ]


def _size_of_number(panel: Panel, number: int) -> str:
    """Pixels of the type in the cells; whether it fits is known only in the browser where the width stretches."""
    room = f"wide{number}" if panel.width else "bandwidth('x')"
    return f"min({14 * panel.type_size:g}, ({room} - 3) / (0.56 * digits{number}), tall{number} * {TALL})"


def _structure(panel: Panel) -> Panel:
    """A panel without what differs from state to state: Altair makes one specification for all that are alike in it."""
    return replace(
        panel,
        title=panel.title and "title",
        row_caption=panel.row_caption and "rows",
        column_caption=panel.column_caption and "columns",
        width=panel.width and 1.0,
        height=1.0,
        n_rows=1,
        n_columns=1,
        characters=1,
        measure="",
        row_step=1,
        column_step=min(panel.column_step, 2),  # whether labels are thinned decides whether they are tilted
    )


def _filled(part: Spec, panel: Panel) -> Spec:
    """What differs and cannot travel with the data: the size of the picture, and what its values are called."""
    cells, *others = part["layer"]
    tooltip, description = _told(panel)
    told = {"tooltip": {"expr": tooltip}, "description": {"expr": description}}
    filled: Spec = {"layer": [cells | {"mark": cells["mark"] | told}, *others]}
    # As a whole and not as steps: pages give matrices of any width the same room.
    filled["height"] = round(panel.height * panel.n_rows, 1)
    if panel.width is not None:
        filled["width"] = round(panel.width * panel.n_columns, 1)
    return filled


def _told(panel: Panel) -> tuple[str, str]:
    """What the mouse and a screen reader are told of a cell."""
    parts = tuple(zip(_names(panel), ("datum.row_name", "datum.column_name", _SIX_DECIMALS), strict=True))
    noted = (*parts, ("note", "datum.note"))
    return f"datum.note ? {entries(noted)} : {entries(parts)}", f"{sentence(parts)} + ';' + datum.note"


def _names(panel: Panel) -> tuple[str, str, str]:
    """Of row, column and value, all different: Vega takes no two entries of one name."""
    row, column, value = panel.row_title, panel.column_title, panel.value_title
    if row == column:
        row, column = f"{row} (row)", f"{column} (column)"
    return row, column, f"{value} (value)" if value in (row, column, "note") else value


_SIX_DECIMALS = "(datum.value === null ? '−∞' : format(datum.value, '.6f'))"


def _measure(title: str) -> str:
    """A title up to its first number, which may be a size."""
    words = itertools.takewhile(lambda word: not any(sign.isdigit() for sign in word), title.split(" (")[0].split())
    return " ".join(words).rstrip(" ÷") or "value"


@functools.lru_cache(maxsize=128)
def _template(panels: tuple[Panel, ...], ramp: str, spacing: int) -> Spec:
    """The specification of some structures, with nothing filled in; a tenth of a second and more."""
    charts = [_draw(panel, ramp, number) for number, panel in enumerate(panels)]
    chart = charts[0] if len(charts) == 1 else alt.hconcat(*charts, spacing=spacing)
    spec = configured(as_dictionary(chart), scale={"bandPaddingInner": 0.04, "bandPaddingOuter": 0})
    # Added to the dictionary, because Altair would move parameters of a layered chart into its first layer.
    spec = without_data(spec, [*ramp_parameters(RAMPS[ramp]), *_caption_parameters(panels)])
    for number, part in enumerate(spec.get("hconcat", [spec])):
        _refer(part, number)
    # Streamlit would fit the height as well, labels included, and squeeze the cells.
    stretch = len(panels) == 1 and panels[0].width is None
    spec["autosize"] = {"type": "fit-x" if stretch else "pad", "contains": "padding"}
    return spec


def _refer(part: Spec, number: int) -> None:
    """Let title and axes of a panel say what the data say; Altair would take no expression for the name of an axis."""
    if "title" in part:
        part["title"]["text"] = _caption(number, "title")
    for channel, name in (("x", "columns"), ("y", "rows")):
        axis = part["layer"][0]["encoding"][channel]["axis"]
        if axis and axis.get("title"):
            axis["title"] = _caption(number, name)


PLACE = alt.Key(field="place", type="nominal")
"""New data move and recolour the marks of the old ones; without it the browser would make all of them anew."""


def _draw(panel: Panel, ramp: str, number: int) -> alt.LayerChart | alt.FacetChart:
    """Cells, numbers where they are legible, outlines of what is picked; sizes are parameters of this number."""
    angle = -40 if panel.column_title in ("query", "key", "word") and panel.column_step == 1 else 0
    x = _position(
        alt.X,
        "column",
        panel.column_caption,
        panel.column_hue,
        panel.column_labels,
        f"columnStep{number}",
        panel.type_size,
        labelAngle=angle,
    )
    y = _position(alt.Y, "row", panel.row_caption, panel.row_hue, panel.row_labels, f"rowStep{number}", panel.type_size)
    base = alt.Chart()
    if panel.matrix:
        base = base.transform_filter(f"datum.matrix === '{panel.matrix}'")
    cells = base.transform_filter("datum.step > -2").mark_rect(fill=FILL, stroke=None)
    cells = cells.encode(x=x, y=y, key=PLACE)
    if panel.pick:
        # The name too: a click on the same cell counts again once it has changed.
        fields = ["row_position", "column_position", "matrix"]
        cells = cells.add_params(alt.selection_point(name=panel.pick, fields=fields, on="click", clear="dblclick"))
    # One layer names the axes for all: the specification is sent with every state, and is a third shorter so.
    bare_x, bare_y = _without_axis(x), _without_axis(y)
    numbers = base.mark_text(
        fill=expression(f"datum.step === -2 ? ({TEXT.to_dict()['expr']}) : ({ink(RAMPS[ramp])})"),
        fontSize=expression(f"size{number}"),
        opacity=expression(f"size{number} >= {SMALLEST_NUMBER} ? 1 : 0"),
        tooltip=None,
        aria=False,  # the cell behind it says the number
    ).encode(x=bare_x, y=bare_y, text=alt.Text(field="text", type="nominal"), key=PLACE)
    frame: dict[str, Any] = {"fill": None, "stroke": themed(PICKED), "strokeWidth": 2.5, "tooltip": None}
    outline = base.transform_filter("datum.outline === 'cell'").mark_rect(**frame).encode(x=bare_x, y=bare_y)
    # One frame around a whole row: around each of many narrow cells it would hide their colours.
    row_outline = (
        base.transform_filter("datum.outline === 'row'").mark_rect(**frame).encode(**fixed(x=0, x2="width"), y=bare_y)
    )
    column_outline = (
        base.transform_filter("datum.outline === 'column'")
        .mark_rect(**frame)
        .encode(**fixed(y=0, y2="height"), x=bare_x)
    )
    whole: dict[str, Any] = {"width": panel.width or "container", "height": panel.height}
    if panel.title:
        whole["title"] = alt.TitleParams(
            text=panel.title,
            anchor="start",
            fontSize=min(14 * panel.type_size, 20),
            color=themed(panel.hue),
            offset=6,
            frame="group",
        )
    outlines = {"row": row_outline, "column": column_outline, "cell": outline}
    shown = [outlines[kind] for kind in outlines if kind in panel.outlines]
    return alt.layer(cells, *([numbers] if panel.numbers else []), *shown, **whole)
