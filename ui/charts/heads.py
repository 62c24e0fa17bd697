"""Every head of every layer at once: one picture of all matrices, under a grid that can be pointed at and clicked."""

import base64
import functools
import io
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt
import numpy as np
import pyarrow as pa
from PIL import Image

from core.pretrained.table import Pattern
from core.softmax import Floats
from ui.charts import tables
from ui.charts.specifications import Spec, stretching
from ui.charts.theme import DARK, TEXT, axis_of, expression, themed
from ui.colours import NEUTRAL, PAGE, PICKED, SCALED, UNSCALED, WEIGHTS

PICK = "head"
"""Name of the selection that a click makes."""

_SMALLEST, _GAP = 40, 0.06
"""Pixels of a matrix's side in the picture, at least; share of a place that stays empty on each of its sides."""


def heads_picture(weights: Floats, dark: bool = False) -> bytes:
    """All matrices as one picture, a row a layer and a column a head.

    Parameters
    ----------
    weights : ndarray of shape (layer, head, query, key)
        From 0 to 1.
    dark : bool
        Which theme's colours.

    Returns
    -------
    bytes
        A PNG file with one byte a pixel: 128 words a side make 0.2 to 0.5 MB for 72 heads.

    Raises
    ------
    ValueError
        There are not four axes, or one of them is empty.

    Examples
    --------
    >>> heads_picture(np.eye(3)[None, None])[1:4]
    b'PNG'
    """
    if weights.ndim != 4 or weights.size == 0:
        raise ValueError(f"weights need four axes with at least one entry each; got shape {weights.shape}")
    n_layers, n_heads, n, _ = weights.shape
    up = max(1, -(-_SMALLEST // n))
    gap = max(1, round(_GAP * n * up))
    cells = WEIGHTS.steps(weights).astype(np.uint8).repeat(up, axis=2).repeat(up, axis=3)
    colours = [*(WEIGHTS.dark if dark else WEIGHTS.light), PAGE.dark if dark else PAGE.light]
    empty = len(colours) - 1
    framed = np.pad(cells, ((0, 0), (0, 0), (gap, gap), (gap, gap)), constant_values=empty)
    side = n * up + 2 * gap
    image = Image.fromarray(framed.swapaxes(1, 2).reshape(n_layers * side, n_heads * side), mode="P")
    image.putpalette(bytes.fromhex("".join(colour[1:] for colour in colours)))
    file = io.BytesIO()
    image.save(file, format="PNG", optimize=True)
    return file.getvalue()


def heads_table(
    picture: bytes, n_layers: int, n_heads: int, picked: tuple[int, int], names: Mapping[tuple[int, int], str]
) -> pa.Table:
    """The picture and the places over it, for `heads_chart`.

    Parameters
    ----------
    picture : bytes
        From `heads_picture`.
    n_layers, n_heads : int
        Rows and columns.
    picked : tuple of int
        Layer and head that stand out.
    names : mapping of (layer, head) to str
        What some heads are called.

    Returns
    -------
    pyarrow.Table
        kind ("picture" or "head"), layer, head, name, picked, url.

    Examples
    --------
    >>> table = heads_table(b"", 1, 2, (0, 1), {(0, 1): "previous word"})
    >>> [(row["kind"], row["head"], row["name"], row["picked"]) for row in table.to_pylist()]
    [('picture', 0, '', False), ('head', 0, '', False), ('head', 1, 'previous word', True)]
    """
    address = "data:image/png;base64," + base64.b64encode(picture).decode()
    rows: list[tuple[Any, ...]] = [("picture", 0, 0, "", False, address)]
    for layer in range(n_layers):
        for head in range(n_heads):
            place = layer, head
            rows.append(("head", layer, head, names.get(place, ""), place == picked, ""))
    return tables.of_rows(("kind", "layer", "head", "name", "picked", "url"), rows)


@functools.lru_cache(maxsize=4)
def heads_chart(n_layers: int, n_heads: int, height: int = 330) -> Spec:
    """A grid of heads over their picture; a click picks one.

    Parameters
    ----------
    n_layers, n_heads : int
        Rows and columns.
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `heads_table`, without data; no word of a reader is in it.

    Examples
    --------
    >>> [layer["mark"]["type"] for layer in heads_chart(6, 12)["layer"]]
    ['image', 'rect', 'rect']
    """
    base = alt.Chart()

    def axis(title: str, orient: Literal["top", "left"]) -> alt.Axis:
        return alt.Axis(
            title=title, orient=orient, ticks=False, domain=False, labelAngle=0, labelColor=TEXT, titleColor=TEXT,
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titlePadding=4, labelPadding=4,
        )  # fmt: skip

    def scale(domain: list[int]) -> alt.Scale:
        return alt.Scale(domain=domain, paddingInner=0, paddingOuter=0)

    x = alt.X(field="head", type="ordinal", scale=scale(list(range(n_heads))), axis=axis("head", "top"))
    y = alt.Y(field="layer", type="ordinal", scale=scale(list(range(n_layers))), axis=axis("layer", "left"))
    tooltip = [
        alt.Tooltip(field="layer", type="ordinal"),
        alt.Tooltip(field="head", type="ordinal"),
        alt.Tooltip(field="name", type="nominal", title="measured as"),
    ]
    whole: Any = expression("width")
    tall: Any = expression("height")
    picture = (
        base.transform_filter("datum.kind === 'picture'")
        .mark_image(aspect=False, align="left", baseline="top", x=0, y=0, width=whole, height=tall, tooltip=None)
        .encode(url=alt.Url(field="url", type="nominal"))
    )
    places = base.transform_filter("datum.kind === 'head'")
    touch = places.mark_rect(fill="transparent", stroke=None, cursor="pointer").encode(x=x, y=y, tooltip=tooltip)
    touch = touch.add_params(alt.selection_point(name=PICK, fields=["layer", "head"], on="click", clear="dblclick"))
    frame = places.transform_filter("datum.picked").mark_rect(
        fill=None, stroke=themed(PICKED), strokeWidth=3, tooltip=None
    )
    chart = alt.layer(picture, touch, frame.encode(x=x, y=y), width="container", height=height)
    return stretching(chart)


def scores_table(patterns: Sequence[Pattern], picked: tuple[int, int]) -> pa.Table:
    """One row a measured pattern, for `scores_chart`.

    Parameters
    ----------
    patterns : sequence of Pattern
        From the measured table.
    picked : tuple of int
        Layer and head that stand out.

    Returns
    -------
    pyarrow.Table
        position, pattern, layer, head, found, distance, mass, picked.

    Examples
    --------
    >>> one = Pattern("next word", 1, 8, 183, 1.0, 1.0, 0.6, 0.99, None, None, 0.6, 0.99)
    >>> scores_table([one], (1, 8)).select(["pattern", "found", "picked"]).to_pylist()
    [{'pattern': 'next word, 1.8', 'found': 0.99, 'picked': True}]
    """
    columns = ["position", "pattern", "layer", "head", "found", "distance", "mass", "picked"]
    rows = [
        (
            place,
            f"{p.name}, {p.layer}.{p.head}",
            p.layer,
            p.head,
            p.hit,
            p.distance,
            p.mass,
            (p.layer, p.head) == picked,
        )
        for place, p in enumerate(patterns)
    ]
    return tables.of_rows(columns, rows)


@functools.lru_cache(maxsize=4)
def scores_chart(n_patterns: int) -> Spec:
    """What each named head finds beside what the best fixed distance would find; a click shows the head.

    Parameters
    ----------
    n_patterns : int
        At least 1.

    Returns
    -------
    dict
        Specification for `scores_table`, without data.

    Examples
    --------
    >>> [layer["mark"]["type"] for layer in scores_chart(10)["layer"]]
    ['rule', 'tick', 'point', 'rect']
    """
    base = alt.Chart()
    # The identical sort in every layer: where one lacks it, Vega falls back to the alphabet.
    sort = alt.EncodingSortField(field="position", op="min", order="ascending")
    names = axis_of(None, grid=False, ticks=False, domain=False, labelLimit=320, labelOverlap=False)
    y = alt.Y(field="pattern", type="nominal", sort=sort, axis=names)
    scale = alt.Scale(domain=[0, 1])

    def x(field: str) -> alt.X:
        shares = axis_of("share of the cases", grid=True, format=".1f", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
        return alt.X(field=field, type="quantitative", scale=scale, axis=shares)

    tooltip = [
        alt.Tooltip(field="pattern", type="nominal"),
        alt.Tooltip(field="found", type="quantitative", format=".6f"),
        alt.Tooltip(field="distance", type="quantitative", format=".6f", title="by the best distance"),
        alt.Tooltip(field="mass", type="quantitative", format=".6f", title="mean weight"),
    ]
    ink = f"datum.picked ? ({DARK} ? '{PICKED.dark}' : '{PICKED.light}') : ({DARK} ? '{SCALED.dark}' : "
    between = base.mark_rule(stroke=themed(NEUTRAL), strokeWidth=1, tooltip=None)
    tick = base.mark_tick(color=themed(UNSCALED), thickness=3, size=16, tooltip=None)
    point = base.mark_point(filled=True, size=110, opacity=1, fill=expression(f"{ink}'{SCALED.light}')"), tooltip=None)
    touch = base.mark_rect(opacity=0, cursor="pointer", x=0, x2=expression("width"))
    touch = touch.add_params(alt.selection_point(name=PICK, fields=["layer", "head"], on="click", clear="dblclick"))
    chart = alt.layer(
        between.encode(y=y, x=x("distance"), x2=alt.X2(field="found")),
        tick.encode(y=y, x=x("distance")),
        point.encode(y=y, x=x("found")),
        touch.encode(y=y, tooltip=tooltip),
        width="container",
        height=27 * n_patterns,
    )
    return stretching(chart)
