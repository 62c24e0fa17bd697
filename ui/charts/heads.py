"""Every head of every layer at once: one picture of all matrices, under a grid that can be pointed at and clicked."""

import base64
import functools
import io
from collections.abc import Mapping
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from core.softmax import Floats
from ui.charts.specifications import Spec, stretching
from ui.charts.theme import TEXT, expression, themed
from ui.colours import PAGE, PICKED, WEIGHTS

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
) -> pd.DataFrame:
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
    pandas.DataFrame
        kind ("picture" or "head"), layer, head, name, picked, url.

    Examples
    --------
    >>> heads_table(b"", 1, 2, (0, 1), {(0, 1): "previous word"})[["kind", "head", "name", "picked"]].values.tolist()
    [['picture', 0, '', False], ['head', 0, '', False], ['head', 1, 'previous word', True]]
    """
    address = "data:image/png;base64," + base64.b64encode(picture).decode()
    rows: list[tuple[Any, ...]] = [("picture", 0, 0, "", False, address)]
    for layer in range(n_layers):
        for head in range(n_heads):
            place = layer, head
            rows.append(("head", layer, head, names.get(place, ""), place == picked, ""))
    return pd.DataFrame(rows, columns=["kind", "layer", "head", "name", "picked", "url"])


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
    chart = alt.layer(picture, touch, frame.encode(x=x, y=y)).properties(width="container", height=height)
    return stretching(chart)
