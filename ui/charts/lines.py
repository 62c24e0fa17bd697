"""Curves: the sweep over d, position encodings, and the softmax under the reader's thumb."""

import functools
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

from core.scaling import Band, SingleDraw, SweepRow
from core.softmax import Floats
from ui.charts import tables
from ui.charts.specifications import FIRST_ROW, Spec, of_first_row, stretching
from ui.charts.theme import DARK, TEXT, expression, themed
from ui.charts.theme import axis_of as _axis
from ui.colours import POSITION, SCALED, UNSCALED

SERIES = ("raw scores", "divided by √d")

MEASURES = ("spread of the scores", "largest weight", "entropy (nats)", "gradient of the softmax")
"""What the sweep shows, in the order of the page."""


def sweep_table(rows: Sequence[SweepRow], only: str | None = None, top: float = 1.0) -> pa.Table:
    """The sweep as one long table.

    Parameters
    ----------
    rows : sequence of SweepRow
        From `core.scaling.sweep`.
    only : str or None
        One of `MEASURES`; all of them where it is None.
    top : float
        Upper end of the chart's axis. It travels with the data: a specification that differs makes the browser build
        the whole chart anew.

    Returns
    -------
    pyarrow.Table
        measure, d, series, mean, low, high, reference (√d for the spread of raw scores, else missing), top.

    Examples
    --------
    >>> from core.scaling import sweep
    >>> len(sweep_table(sweep([2, 3], n_draws=5)))
    16
    """
    records = []
    for row in rows:
        for measure, bands in zip(MEASURES, _bands(row), strict=True):
            if only not in (None, measure):
                continue
            for series, band in zip(SERIES, bands, strict=True):
                reference = float(np.sqrt(row.d)) if measure == MEASURES[0] and series == SERIES[0] else np.nan
                records.append((measure, row.d, series, band.mean, band.low, band.high, reference, top))
    return tables.of_rows(("measure", "d", "series", "mean", "low", "high", "reference", "top"), records)


def _bands(row: SweepRow) -> tuple[tuple[Band, Band], ...]:
    # The mean of the first is the spread over all draws together: that is the quantity which grows like sqrt(d).
    pooled = Band(row.pooled_spread, row.raw_score_spread.low, row.raw_score_spread.high)
    scaled = Band(row.pooled_spread / row.d**0.5, row.scaled_score_spread.low, row.scaled_score_spread.high)
    return (
        (pooled, scaled),
        (row.max_weight_unscaled, row.max_weight_scaled),
        (row.entropy_unscaled, row.entropy_scaled),
        (row.gradient_norm_unscaled, row.gradient_norm_scaled),
    )


def _series_colour() -> alt.ExprRef:
    dark = f"datum.series === '{SERIES[0]}' ? '{UNSCALED.dark}' : '{SCALED.dark}'"
    light = f"datum.series === '{SERIES[0]}' ? '{UNSCALED.light}' : '{SCALED.light}'"
    return expression(f"{DARK} ? ({dark}) : ({light})")


_TOP = {"name": "top", "expr": of_first_row(f"{FIRST_ROW}.top", "1")}


@functools.lru_cache(maxsize=32)
def sweep_chart(measure: str, height: int = 120) -> Spec:
    """One measure of the sweep over d, raw and scaled, each with its band.

    The axis ends where the table says; the spread has a logarithmic one of its own.

    Parameters
    ----------
    measure : str
        One of `MEASURES`.
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `sweep_table`, without data.

    Raises
    ------
    ValueError
        There is no such measure.

    Examples
    --------
    >>> sweep_chart("largest weight")["height"]
    120
    """
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {MEASURES}; got {measure!r}")
    logarithmic = measure == MEASURES[0]
    scale = alt.Scale(type="log", domain=[0.1, 100]) if logarithmic else alt.Scale(domain=[0, alt.ExprRef("top")])
    values = [0.1, 1, 10, 100] if logarithmic else alt.Undefined
    x = alt.X(
        field="d",
        type="quantitative",
        scale=alt.Scale(type="log", base=2, nice=False),
        axis=_axis("d", values=[1, 4, 16, 64, 256, 1024, 4096], format="d", grid=False),
    )

    def y(field: str) -> alt.Y:
        return alt.Y(field=field, type="quantitative", scale=scale, axis=_axis(None, values=values, tickCount=4))

    base = alt.Chart().transform_filter(f"datum.measure === '{measure}'")
    layers: list[Any] = []
    for series, hue, dash in ((SERIES[0], UNSCALED, [5, 3]), (SERIES[1], SCALED, [1, 0])):
        one = base.transform_filter(f"datum.series === '{series}'")
        low_end = alt.Y2(field="low")
        layers += [
            one.mark_area(clip=True, opacity=0.18, fill=themed(hue), tooltip=None).encode(x=x, y=y("high"), y2=low_end),
            one.mark_line(stroke=themed(hue), strokeWidth=2.5, strokeDash=dash, tooltip=None).encode(x=x, y=y("mean")),
        ]
    tooltip = [alt.Tooltip(field="d", type="quantitative"), alt.Tooltip(field="series", type="nominal")]
    tooltip += [alt.Tooltip(field=name, type="quantitative", format=".4f") for name in ("mean", "low", "high")]
    layers.append(
        base.mark_point(filled=True, size=45, opacity=1, fill=_series_colour(), stroke=None).encode(
            x=x, y=y("mean"), tooltip=tooltip
        )
    )
    if logarithmic:  # drawn last, thin, so that the dots are seen to lie on it
        layers.append(
            base.transform_filter("isValid(datum.reference)")
            .mark_line(stroke=TEXT, strokeWidth=1.2, tooltip=None)
            .encode(x=x, y=y("reference"))
        )
    chart = alt.layer(
        *layers,
        width="container",
        height=height,
        title=alt.TitleParams(text=measure, anchor="start", fontSize=14, color=TEXT, offset=6),
    )
    return stretching(chart, [] if logarithmic else [_TOP])


def drag_table(draw: SingleDraw) -> pa.Table:
    """Raw scores of one draw, for `drag_chart`.

    Parameters
    ----------
    draw : SingleDraw
        From `core.scaling.single_draws`.

    Returns
    -------
    pyarrow.Table
        key, raw, d.

    Examples
    --------
    >>> from core.scaling import single_draws
    >>> drag_table(single_draws()[0]).shape
    (5, 3)
    """
    keys = np.arange(draw.raw_scores.size)
    return tables.of_columns({"key": keys, "raw": draw.raw_scores, "d": [draw.d] * keys.size})


@functools.lru_cache(maxsize=2)
def drag_chart(height: int = 170) -> Spec:
    """Weights of one query that follow a slider while it is dragged, without a word to the server.

    Parameters
    ----------
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `drag_table`, without data.

    Examples
    --------
    >>> drag_chart()["params"][1]["name"]
    'exponent'
    """
    exponent = {
        "name": "exponent",
        "value": 0.5,
        "bind": {"input": "range", "min": 0, "max": 1, "step": 0.01, "name": "divide by d to the power of "},
    }
    base = (
        alt.Chart()
        .transform_calculate(scaled="datum.raw / pow(datum.d, exponent)")
        .transform_joinaggregate(top="max(scaled)")
        .transform_calculate(power="exp(datum.scaled - datum.top)")
        .transform_joinaggregate(total="sum(power)")
        .transform_calculate(weight="datum.power / datum.total", bend="datum.weight * (1 - datum.weight)")
    )
    x = alt.X(field="key", type="ordinal", axis=_axis("key", labelAngle=0))
    y = alt.Y(field="weight", type="quantitative", scale=alt.Scale(domain=[0, 1]), axis=_axis("weight", tickCount=5))
    tooltip = [
        alt.Tooltip(field="key", type="ordinal"),
        alt.Tooltip(field="raw", type="quantitative", format=".4f", title="raw score"),
        alt.Tooltip(field="scaled", type="quantitative", format=".4f", title="divided score"),
        alt.Tooltip(field="weight", type="quantitative", format=".6f"),
    ]
    bars = base.mark_bar(fill=themed(SCALED)).encode(x=x, y=y, tooltip=tooltip)
    numbers = base.mark_text(dy=-8, fill=TEXT, fontSize=13).encode(
        x=x, y=y, text=alt.Text(field="weight", type="quantitative", format=".2f")
    )
    caption = (
        base.transform_aggregate(largest="max(weight)", d="max(d)", bend="max(bend)")
        .transform_calculate(
            said="'÷ ' + format(pow(datum.d, exponent), '.3~r') + ':  largest weight ' + format(datum.largest, '.3f')"
            " + ',  steepest slope ' + format(datum.bend, '.4f')"
        )
        .mark_text(align="left", fill=TEXT, fontSize=expression("min(14, width / 27)"), fontWeight="bold", x=-30, y=-14)
        .encode(text=alt.Text(field="said", type="nominal"))
    )
    chart = alt.layer(bars, numbers, caption, width="container", height=height)
    spec = stretching(chart, [exponent])
    spec["padding"] = {"top": 26, "left": 5, "right": 5, "bottom": 5}
    return spec


def curves_table(encoding: Floats, most: int = 8) -> pa.Table:
    """Columns of an encoding as curves over the positions.

    Parameters
    ----------
    encoding : ndarray of shape (position, feature)
        Real numbers.
    most : int
        Curves to keep, the first ones: the fastest.

    Returns
    -------
    pyarrow.Table
        position, feature, value.

    Examples
    --------
    >>> curves_table(np.zeros((3, 2))).shape
    (6, 3)
    """
    kept = encoding[:, :most]
    positions, features = np.indices(kept.shape)
    return tables.of_columns({"position": positions.ravel(), "feature": features.ravel(), "value": kept.ravel()})


@functools.lru_cache(maxsize=4)
def curves_chart(feature: str, height: int = 190) -> Spec:
    """Curves of an encoding over the positions, one a feature.

    Parameters
    ----------
    feature : str
        What a curve is: "feature" or "pair".
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `curves_table`, without data.

    Examples
    --------
    >>> curves_chart("feature")["layer"][0]["mark"]["type"]
    'line'
    """
    x = alt.X(
        field="position",
        type="quantitative",
        scale=alt.Scale(nice=False),
        axis=_axis("position", tickMinStep=1, format="d", grid=False),
    )
    y = alt.Y(field="value", type="quantitative", axis=_axis("value", tickCount=5))
    # One hue: the lower the frequency, the fainter and the longer its dashes, so that curves differ without colour too.
    legend = alt.Legend(
        symbolOpacity=expression("1 - 0.09 * datum.value"),  # as the lines below, whose field a legend does not have
        title=feature,
        labelColor=TEXT,
        titleColor=TEXT,
        symbolStrokeColor=themed(POSITION),
        symbolSize=400,
    )
    dashes = [[1, 0], [8, 2], [6, 3], [4, 3], [3, 3], [2, 3], [1, 3], [1, 5]]
    dash = alt.StrokeDash(field="feature", type="ordinal", legend=legend, scale=alt.Scale(range=dashes))
    tooltip = [
        alt.Tooltip(field="position", type="quantitative"),
        alt.Tooltip(field="feature", type="ordinal", title=feature),
        alt.Tooltip(field="value", type="quantitative", format=".6f"),
    ]
    base = alt.Chart()
    detail = alt.Detail(field="feature", type="ordinal")
    fade = expression("1 - 0.09 * datum.feature")
    line = base.mark_line(stroke=themed(POSITION), strokeWidth=2, opacity=fade, tooltip=None).encode(
        x=x, y=y, detail=detail, strokeDash=dash
    )
    points = base.mark_point(filled=True, size=30, fill=themed(POSITION), opacity=fade).encode(
        x=x, y=y, tooltip=tooltip
    )
    chart = alt.layer(line, points, width="container", height=height)
    return stretching(chart)
