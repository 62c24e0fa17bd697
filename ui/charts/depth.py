"""Curves over the layers of a stack: pre-norm and post-norm beside each other."""

import functools
from collections.abc import Mapping
from typing import Any

import altair as alt
import pyarrow as pa

from core.encoder_block import NormPosition
from core.softmax import Floats
from ui.charts import tables
from ui.charts.specifications import Spec, stretching
from ui.charts.theme import DARK, TEXT, axis_of, expression, themed
from ui.colours import POST_NORM, PRE_NORM, Hue

SERIES: Mapping[NormPosition, str] = {"pre": "pre-norm", "post": "post-norm"}
"""Names for the reader."""

HUES: Mapping[NormPosition, Hue] = {"pre": PRE_NORM, "post": POST_NORM}
DASHES: Mapping[NormPosition, tuple[int, ...]] = {"pre": (), "post": (6, 3)}


def depth_table(curves: Mapping[NormPosition, Floats], first: int) -> pa.Table:
    """One measure of both stacks, one row a layer.

    Parameters
    ----------
    curves : mapping of "pre" and "post" to ndarray of shape (layer,)
        Finite numbers; one stack may have fewer.
    first : int
        Number of the first layer, 0 for the embeddings.

    Returns
    -------
    pyarrow.Table
        layer, series, value.

    Examples
    --------
    >>> import numpy as np
    >>> depth_table({"pre": np.array([2.0, 0.5]), "post": np.array([3.0])}, 1).to_pylist()[1:]
    [{'layer': 2, 'series': 'pre-norm', 'value': 0.5}, {'layer': 1, 'series': 'post-norm', 'value': 3.0}]
    """
    rows = (
        (first + place, SERIES[position], value)
        for position, values in curves.items()
        for place, value in enumerate(values.tolist())
    )
    return tables.of_rows(("layer", "series", "value"), rows)


@functools.lru_cache(maxsize=32)
def depth_chart(title: str, over: str = "layer", logarithmic: bool = True, height: int = 128) -> Spec:
    """A measure over the layers, a line for each position of the norm.

    Parameters
    ----------
    title : str
        What is measured, in our own words.
    over : str
        Title of the horizontal axis.
    logarithmic : bool
        Of the vertical axis, which then shows no zeros; the other one ends at 1.
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `depth_table`, without data.

    Examples
    --------
    >>> depth_chart("length")["height"]
    128
    """
    scale = alt.Scale(type="log", nice=False) if logarithmic else alt.Scale(domainMax=1, nice=True)
    x = alt.X(
        field="layer",
        type="quantitative",
        scale=alt.Scale(nice=False, zero=False),
        axis=axis_of(over, tickMinStep=1, format="d", grid=False),
    )
    # As an expression, since a logarithmic axis otherwise leaves labels away although there is room for them.
    power = "replace(format(datum.value, '.0e'), '+', '')"
    short = f"datum.value >= 1e5 || datum.value < 1e-3 ? {power} : format(datum.value, '~g')"
    said = short if logarithmic else "format(datum.value, '.1f')"
    marks = axis_of(None, labelExpr=said, labelOverlap="greedy", tickCount=4)
    y = alt.Y(field="value", type="quantitative", scale=scale, axis=marks)
    tooltip = [
        alt.Tooltip(field="series", type="nominal", title="norm"),
        alt.Tooltip(field="layer", type="quantitative", title=over),
        alt.Tooltip(field="value", type="quantitative", format=".4~g", title=title),
    ]
    every = alt.Chart()
    base = every.transform_filter("datum.value > 0") if logarithmic else every
    layers: list[Any] = [
        base.transform_filter(f"datum.series === '{SERIES[position]}'")
        .mark_line(stroke=themed(hue), strokeWidth=2.5, strokeDash=[*DASHES[position]] or [1, 0], tooltip=None)
        .encode(x=x, y=y)
        for position, hue in HUES.items()
    ]
    of_pre = f"datum.series === '{SERIES['pre']}'"
    dark = f"{of_pre} ? '{PRE_NORM.dark}' : '{POST_NORM.dark}'"
    light = f"{of_pre} ? '{PRE_NORM.light}' : '{POST_NORM.light}'"
    fill = expression(f"{DARK} ? ({dark}) : ({light})")
    layers.append(
        base.mark_point(filled=True, size=26, opacity=1, fill=fill, stroke=None).encode(x=x, y=y, tooltip=tooltip)
    )
    # Unseen: it keeps the horizontal axis as long as the stack where a curve ends in zeros.
    layers.append(every.mark_tick(opacity=0, tooltip=None).encode(x=x))
    chart = alt.layer(
        *layers,
        width="container",
        height=height,
        title=alt.TitleParams(text=title, anchor="start", fontSize=14, color=TEXT, offset=6),
    )
    return stretching(chart)
