"""One step of decoding: which rows and pairs it computed, and which it had; and what all steps together come to."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

from core.decoding import AGAIN, KEPT, NOT_COMPUTED, NOW, ORIGINS, Origin
from core.masks import Booleans
from core.softmax import Floats
from ui.charts import tables
from ui.charts.heat_map import PLACE, SMALLEST_NUMBER, Axis, dictionary, label_step, number_text
from ui.charts.picture import NO_COLOUR, coloured_picture
from ui.charts.specifications import Spec, stretching
from ui.charts.theme import DARK, TEXT, axis_of, entries, expression, sentence, themed
from ui.colours import AGAIN as AGAIN_HUE
from ui.colours import KEPT as KEPT_HUE
from ui.colours import KEY, MASKED, PICKED, QUERY, WITH_CACHE, WITHOUT_CACHE, Hue, contrast
from ui.colours import NOW as NOW_HUE

SERIES = ("without a cache", "with a cache")

MASKED_PAIR = len(ORIGINS)
"""Kind of a pair that was computed and then masked; the kinds below it are the places in `ORIGINS`."""

KIND_HUES = {NOW: NOW_HUE, AGAIN: AGAIN_HUE, KEPT: KEPT_HUE, MASKED_PAIR: MASKED}

_GAP = -1


@dataclass(frozen=True, slots=True)
class Grid:
    """What one step has to do with queries and keys."""

    queries: Axis
    keys: Axis
    of_queries: Origin
    """(query,): where the rows of Q come from."""
    of_keys: Origin
    """(key,): where the rows of K and V come from."""
    of_pairs: Origin
    """(query, key)."""
    weights: Floats
    """(query, key): of one head; what was not computed does not matter."""
    may_attend: Booleans
    """(query, key)."""
    picked: int | None
    """Key whose pair with the last query is outlined; None for none."""

    @property
    def thick(self) -> tuple[int, int]:
        """Cells across a row of K or V, and a column of Q: more than one where one of so many would vanish."""
        return max(1, round(len(self.queries.labels) / 20)), max(1, round(len(self.keys.labels) / 20))

    @property
    def kinds(self) -> Origin:
        """(query, key): where the pairs come from, `MASKED_PAIR` for those that are masked afterwards."""
        kinds: Origin = np.where(self.may_attend | (self.of_pairs == NOT_COMPUTED), self.of_pairs, MASKED_PAIR)
        return kinds

    @property
    def cells(self) -> int:
        """How many cells the picture has room for, those of the edges included."""
        return (self.first_query + len(self.queries.labels)) * (self.first_key + len(self.keys.labels))

    @property
    def first_query(self) -> int:
        """Rows that stand before the pairs: K, V and a gap."""
        return 3 * self.thick[0]

    @property
    def first_key(self) -> int:
        """Columns that stand before the pairs: Q and a gap."""
        return 2 * self.thick[1]


def _labels(edges: str, thick: int, axis: Axis) -> tuple[str, ...]:
    """Labels along one axis, all different: an edge has its own in the middle of its cells and blanks beside it."""
    made = [name if cell == thick // 2 else "" for name in (*edges, "") for cell in range(thick)]
    blanks = itertools.count(1)
    return (*(label or " " * next(blanks) for label in made), *axis.labels)


def grid_table(grid: Grid, turned: bool = False) -> pa.Table:
    """One row a cell: those of Q, K and V at the edges, those of the pairs inside.

    Parameters
    ----------
    grid : Grid
        One step.
    turned : bool
        Whether queries stand in columns.

    Returns
    -------
    pyarrow.Table
        row, row_position, row_name, column, column_position, column_name, place, kind, note, weight, text, outline.
        Pairs that were not computed are left out.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> one, all_true = np.zeros(1, np.int16), np.ones((1, 1), bool)
    >>> axis = word_axis("query", ("dog",))
    >>> grid_table(Grid(axis, axis, one, one, one[None], np.ones((1, 1)), all_true, 0))["text"].to_pylist()[-1]
    '1.00'
    """
    n_query, n_key = grid.of_pairs.shape
    (tall, wide), first_query, first_key, kinds = grid.thick, grid.first_query, grid.first_key, grid.kinds
    query, key = np.nonzero(kinds != NOT_COMPUTED)
    places = [
        *((np.array([2 * tall + row]), np.array([0]), np.array([_GAP])) for row in range(tall)),
        *((np.array([0]), np.array([wide + column]), np.array([_GAP])) for column in range(wide)),
        *((np.full(n_key, row), first_key + np.arange(n_key), grid.of_keys) for row in range(2 * tall)),
        *((first_query + np.arange(n_query), np.full(n_query, column), grid.of_queries) for column in range(wide)),
        (first_query + query, first_key + key, kinds[query, key]),
    ]
    rows, columns, kind = (np.concatenate(part) for part in zip(*places, strict=True))
    # Texts, because cells without a weight have none to show.
    weight, text = [""] * (rows.size - query.size), [""] * (rows.size - query.size)
    for value, one in zip(grid.weights[query, key].tolist(), kinds[query, key].tolist(), strict=True):
        weight.append("0" if one == MASKED_PAIR else number_text(value, 6))
        text.append("" if one == MASKED_PAIR else number_text(value))
    # Of two decimals there are few; each travels once.
    texts, places_of_text = np.unique(np.array(text, dtype=str), return_inverse=True)
    # The last query's pair, and the rows of K and V that it is made of.
    outline = ((rows == first_query + n_query - 1) | (rows < 2 * tall)) & (grid.picked is not None)
    outline &= columns == first_key + (grid.picked or 0)
    notes = ("", *ORIGINS, "computed, then masked")
    ends = ("row", "column") if not turned else ("column", "row")
    found: dict[str, Any] = {}
    sides = ((rows, "KV", tall, grid.queries), (columns, "Q", wide, grid.keys))
    for end, (index, edges, thick, axis) in zip(ends, sides, strict=True):
        before = len(edges) + 1  # the gap, too
        within = np.where(index < before * thick, index // thick, index - before * (thick - 1))
        found[end] = dictionary(index.astype(np.int16), _labels(edges, thick, axis))
        found[f"{end}_position"] = pa.array(index.astype(np.int16))
        found[f"{end}_name"] = dictionary(within.astype(np.int16), (*edges, "", *axis.names))
    found |= {
        "place": pa.array((rows * _FARTHEST + columns).astype(np.int32)),
        "kind": pa.array(kind.astype(np.int8)),
        "note": dictionary((kind + 1).astype(np.int16), notes),
        "weight": pa.array(weight),
        "text": pa.DictionaryArray.from_arrays(places_of_text.astype(np.int16), pa.array(texts.tolist())),
        "outline": pa.array(outline),
    }
    return pa.table(found)


def grid_picture(grid: Grid, width: int, height: int, turned: bool = False, dark: bool = False) -> bytes:
    """One step with more cells than marks make sense for, as a picture.

    Parameters
    ----------
    grid : Grid
        One step.
    width, height : int
        About the size in pixels.
    turned : bool
        Whether queries stand in columns.
    dark : bool
        Which theme's colours.

    Returns
    -------
    bytes
        A PNG file; transparent where nothing is computed.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> one, all_true = np.zeros(1, np.int16), np.ones((1, 1), bool)
    >>> axis = word_axis("query", ("dog",))
    >>> grid_picture(Grid(axis, axis, one, one, one[None], np.ones((1, 1)), all_true, 0), 40, 20)[1:4]
    b'PNG'
    """
    (tall, wide), first_query, first_key = grid.thick, grid.first_query, grid.first_key
    kinds = np.full((first_query + grid.of_queries.size, first_key + grid.of_keys.size), _GAP, dtype=np.int16)
    kinds[: 2 * tall, first_key:] = grid.of_keys
    kinds[first_query:, :wide] = grid.of_queries[:, None]
    kinds[first_query:, first_key:] = grid.kinds
    shown = sorted(KIND_HUES)
    colours = [KIND_HUES[kind].dark if dark else KIND_HUES[kind].light for kind in shown]
    numbered = np.full(kinds.shape, NO_COLOUR, dtype=np.uint8)
    for number, kind in enumerate(shown):
        numbered[kinds == kind] = number
    outlined = []
    if grid.picked is not None:
        outlined = [(kinds.shape[0] - 1, first_key + grid.picked)]
    if turned:
        numbered, outlined = numbered.T, [(column, row) for row, column in outlined]
    return coloured_picture(numbered, colours, width, height, outlined, dark)


def _kind_parameters() -> list[dict[str, str]]:
    """Colour and ink by kind, looked up by `_FILL` and `_INK`: chosen once a chart and not once a cell."""
    hues: dict[str, list[str]] = {"dark": [], "light": []}
    inks: dict[str, list[str]] = {"dark": [], "light": []}
    for theme in hues:
        for kind in range(_GAP, MASKED_PAIR + 1):
            colour = getattr(KIND_HUES[kind], theme) if kind in KIND_HUES else "transparent"
            light = colour != "transparent" and contrast("#FFFFFF", colour) > contrast("#000000", colour)
            hues[theme].append(colour)
            inks[theme].append("#FFFFFF" if light else "#000000")
    return [
        {"name": name, "expr": f"{DARK} ? {listed['dark']} : {listed['light']}"}
        for name, listed in (("kinds", hues), ("inks", inks))
    ]


TALL = 0.62
"""Share of a cell's height that a number may have."""

_FILL = f"kinds[datum.kind - ({_GAP})]"
_INK = f"inks[datum.kind - ({_GAP})]"

_FARTHEST = 1024
"""More than a side of the picture has cells."""


def grid_chart(grid: Grid, height: float, pick: str = "", type_size: float = 1.0, turned: bool = False) -> Spec:
    """The picture of one step.

    Parameters
    ----------
    grid : Grid
        Only its size and what its axes are count.
    height : float
        Of a cell, in pixels.
    pick : str
        Name of the selection that a click makes; empty for none.
    type_size : float
        Factor on all type, for a lecture hall.
    turned : bool
        Whether queries stand in columns.

    Returns
    -------
    dict
        Specification for `grid_table`, without data.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> axis = word_axis("query", ("dog",))
    >>> one = np.zeros((1, 1), np.int16)
    >>> grid_chart(Grid(axis, axis, one[0], one[0], one, one * 1.0, one == 0, 0), 20)["height"]
    80
    """
    rows, columns = grid.first_query + len(grid.queries.labels), grid.first_key + len(grid.keys.labels)
    titles = grid.queries.title, grid.keys.title
    steps = label_step(grid.queries), label_step(grid.keys)
    if turned:
        rows, columns, titles, steps = columns, rows, titles[::-1], steps[::-1]
    across = grid.queries if turned else grid.keys
    tilted = any(not label.isdecimal() for label in across.labels)
    numbered = TALL * height >= SMALLEST_NUMBER
    return _grid_chart(rows * height, titles, steps, tilted, numbered, pick, type_size)


@functools.lru_cache(maxsize=128)
def _grid_chart(
    height: float,
    titles: tuple[str, str],
    steps: tuple[int, int],
    tilted: bool,
    numbered: bool,
    pick: str,
    type_size: float,
) -> Spec:
    x = _place(alt.X, "column", titles[1], steps[1], type_size, orient="top", labelAngle=-40 if tilted else 0)
    y = _place(alt.Y, "row", titles[0], steps[0], type_size)
    bare = []
    for channel in (x, y):
        without = channel.copy()
        without.axis = alt.Undefined
        bare.append(without)
    parts = (
        (titles[0], "datum.row_name"),
        (titles[1], "datum.column_name"),
        ("here", "datum.note"),
        ("weight", "datum.weight"),
    )
    base = alt.Chart()
    cells = base.transform_filter(f"datum.kind !== {_GAP}").mark_rect(
        fill=expression(_FILL),
        stroke=expression(
            f"datum.kind === {KEPT} || datum.kind === {NOT_COMPUTED} ? "
            f"({DARK} ? '{NOW_HUE.dark}' : '{NOW_HUE.light}') : 'transparent'"
        ),
        strokeOpacity=expression(f"datum.kind === {KEPT} ? 0.8 : 0.25"),
        strokeWidth=expression("frame"),
        tooltip=expression(entries(parts)),
        description=expression(sentence(parts)),
    )
    cells = cells.encode(x=x, y=y, key=PLACE)
    if pick:
        fields = ["row_position", "column_position"]
        cells = cells.add_params(alt.selection_point(name=pick, fields=fields, on="click", clear="dblclick"))
    # It keeps its place among the rows.
    gap = base.transform_filter(f"datum.kind === {_GAP}").mark_point(opacity=0, tooltip=None, aria=False)
    gap = gap.encode(x=bare[0], y=bare[1])
    size = f"min({13 * type_size:g}, (bandwidth('x') - 2) / 2.3, bandwidth('y') * {TALL})"
    numbers = base.mark_text(
        fill=expression(_INK),
        fontSize=expression("size"),
        opacity=expression(f"size >= {SMALLEST_NUMBER} ? 1 : 0"),
        tooltip=None,
        aria=False,  # the cell behind it says the number
    ).encode(x=bare[0], y=bare[1], text=alt.Text(field="text", type="nominal"), key=PLACE)
    outline = (
        base.transform_filter("datum.outline")
        .mark_rect(fill=None, stroke=themed(PICKED), strokeWidth=2.5, tooltip=None)
        .encode(x=bare[0], y=bare[1])
    )
    layers = [cells, gap, *([numbers] if numbered else []), outline]
    chart = alt.layer(*layers, width="container", height=round(height))
    once = {"size": size, "frame": "min(bandwidth('x'), bandwidth('y')) < 8 ? 0 : 1"}  # wider frames hide their cells
    spec = stretching(chart, [*_kind_parameters(), *({"name": name, "expr": expr} for name, expr in once.items())])
    if tilted:  # the last label leans over the edge
        spec["padding"] = {"left": 5, "top": 5, "right": 30 * type_size, "bottom": 5}
    spec["config"]["scale"] = {"bandPaddingInner": 0.06, "bandPaddingOuter": 0}
    return spec


def _place(channel: type[Any], end: str, title: str, step: int, type_size: float, **options: Any) -> Any:
    axis = alt.Axis(
        title=title,
        ticks=False,
        domain=False,
        labelFlush=False,
        labelColor=TEXT,
        titleColor=themed({"query": QUERY, "key": KEY}[title]),
        labelLimit=110 * type_size,
        labelFontSize=12 * type_size,
        titleFontSize=12 * type_size,
        titleFontWeight="normal",
        titlePadding=4,
        labelOverlap=False,
        labelExpr=f"isNaN(+datum.label) || +datum.label % {step} === 0 ? datum.label : ''",
        **options,
    )
    sort = alt.EncodingSortField(field=f"{end}_position", op="min", order="ascending")
    return channel(field=end, type="nominal", sort=sort, axis=axis)


def steps_table(series: Mapping[str, Sequence[int]], number: int) -> pa.Table:
    """Numbers of every step, for `steps_chart`.

    Parameters
    ----------
    series : mapping of str to sequence of int
        Name of each line, in our own words, to one number a step.
    number : int
        Of the step that is looked at, from 0.

    Returns
    -------
    pyarrow.Table
        step (from 1), series, value, here, last.

    Examples
    --------
    >>> steps_table({"with a cache": [3, 5]}, 1).column("here").to_pylist()
    [False, True]
    """
    rows = (
        (place + 1, name, int(value), place == number, place == len(values) - 1)
        for name, values in series.items()
        for place, value in enumerate(values)
    )
    return tables.of_rows(("step", "series", "value", "here", "last"), rows)


@functools.lru_cache(maxsize=16)
def steps_chart(title: str, series: tuple[str, ...] = SERIES, height: int = 230) -> Spec:
    """Lines over the steps, with their ends written out and the step that is looked at marked.

    Parameters
    ----------
    title : str
        What is counted, with its unit.
    series : tuple of str
        Names of the lines, from `SERIES`.
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `steps_table`, without data.

    Examples
    --------
    >>> steps_chart("multiply-adds")["height"]
    230
    """
    hues: dict[str, tuple[Hue, list[int]]] = dict(
        zip(SERIES, ((WITHOUT_CACHE, [5, 3]), (WITH_CACHE, [1, 0])), strict=True)
    )

    x = alt.X(
        field="step",
        type="quantitative",
        scale=alt.Scale(nice=False, zero=False, padding=14),
        axis=axis_of("step", tickMinStep=1, format="d", grid=False),
    )
    y = alt.Y(
        field="value",
        type="quantitative",
        scale=alt.Scale(zero=True),
        axis=axis_of(title, tickCount=5, format="~s"),
    )
    tooltip = [
        alt.Tooltip(field="series", type="nominal"),
        alt.Tooltip(field="step", type="quantitative"),
        alt.Tooltip(field="value", type="quantitative", format=",d"),
    ]
    here = (
        alt.Chart()
        .transform_filter("datum.here")
        .mark_rule(stroke=themed(PICKED), strokeWidth=2, tooltip=None)
        .encode(x=x)
    )
    layers: list[Any] = [here]
    for name in series:
        hue, dash = hues[name]
        one = alt.Chart().transform_filter(f"datum.series === '{name}'")
        layers += [
            one.mark_line(stroke=themed(hue), strokeWidth=2.5, strokeDash=dash, tooltip=None).encode(x=x, y=y),
            one.mark_point(filled=True, size=60, opacity=1, fill=themed(hue), stroke=None).encode(
                x=x, y=y, tooltip=tooltip
            ),
        ]
    return stretching(alt.layer(*layers, width="container", height=height))
