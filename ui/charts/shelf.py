"""Words as books on a shelf: the label on each spine, and how much of the book is taken."""

import functools

import altair as alt
import numpy as np
import pyarrow as pa

from core.softmax import Floats
from ui.charts import tables
from ui.charts.heat_map import Axis
from ui.charts.specifications import Spec, fixed, stretching
from ui.charts.theme import TEXT, expression, themed
from ui.colours import KEY, NEUTRAL, VALUE


def shelf_table(keys: Axis, fits: Floats, weights: Floats) -> pa.Table:
    """One row a book.

    Parameters
    ----------
    keys : Axis
        The words.
    fits, weights : ndarray of shape (key,)
        Scaled scores of the word that asks, and their softmax.

    Returns
    -------
    pyarrow.Table
        key, key_name, position, fit, weight, rounded.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> shelf_table(word_axis("key", ("a", "b")), np.zeros(2), np.array([0.25, 0.75])).column("rounded").to_pylist()
    ['0.25', '0.75']
    """
    return tables.of_columns(
        {
            "key": keys.labels,
            "key_name": keys.names,
            "position": np.arange(len(keys.names)),
            "fit": fits,
            "weight": weights,
            "rounded": [f"{weight:.2f}" for weight in weights],
        }
    )


@functools.lru_cache(maxsize=4)
def shelf_chart(many: bool, height: int = 170) -> Spec:
    """Books side by side in the order of the sentence, each filled as high as its weight.

    Parameters
    ----------
    many : bool
        Whether the axis has positions in place of words; then the numbers are left to the tooltip.
    height : int
        Of a book, in pixels.

    Returns
    -------
    dict
        Specification for `shelf_table`, without data.

    Examples
    --------
    >>> [layer["mark"]["type"] for layer in shelf_chart(False)["layer"]]
    ['bar', 'rect', 'text']
    """
    axis = alt.Axis(
        title="key: the label on the spine",
        labelColor=themed(KEY),
        titleColor=themed(KEY),
        labelFontSize=13,
        titleFontSize=12,
        titleFontWeight="normal",
        labelAngle=0 if many else -40,
        labelOverlap="parity" if many else False,
        labelLimit=90,
        ticks=False,
        domain=True,
        domainColor=themed(NEUTRAL),
        domainWidth=3,
    )
    scale = alt.Scale(paddingInner=0.25, paddingOuter=0.1)
    x = alt.X(field="key", type="nominal", sort=None, scale=scale, axis=axis)
    y = alt.Y(
        field="weight",
        type="quantitative",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(title="taken", values=[0, 0.5, 1], labelColor=TEXT, titleColor=TEXT, titleFontWeight="normal"),
    )
    tooltip = [
        alt.Tooltip(field="key_name", type="nominal", title="key"),
        alt.Tooltip(field="fit", type="quantitative", format=".6f", title="label fits (scaled score)"),
        alt.Tooltip(field="weight", type="quantitative", format=".6f", title="taken (weight)"),
    ]
    base = alt.Chart()
    taken = base.mark_bar(fill=themed(VALUE), stroke=None, tooltip=None).encode(x=x, y=y)
    covers = base.mark_rect(fill="transparent", stroke=themed(NEUTRAL), strokeWidth=1).encode(
        x=x, **fixed(y=0, y2="height"), tooltip=tooltip
    )
    layers = [taken, covers]
    if not many:
        # Four characters that fit above a book, however narrow the window.
        size = expression("min(20, bandwidth('x') * 0.48)")
        numbers = base.mark_text(dy=10, fill=TEXT, fontSize=size, y=-20, tooltip=None)
        layers.append(numbers.encode(x=x, text=alt.Text(field="rounded", type="nominal")))
    spec = stretching(alt.layer(*layers, width="container", height=height))
    spec["padding"] = {"top": 24, "left": 5, "right": 5, "bottom": 5}
    return spec
