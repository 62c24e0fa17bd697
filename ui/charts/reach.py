"""Curves of two models beside each other: what still reaches the last word, and how many steps must wait."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

from core.softmax import Floats
from ui.charts import tables
from ui.charts.heat_map import Axis
from ui.charts.specifications import Spec, fixed, stretching
from ui.charts.theme import TEXT, axis_of, expression, themed
from ui.colours import NEUTRAL, PICKED, SCALED

MODELS = ("recurrent network", "attention")
"""Names of the two series, in the order of the page."""

FLOOR = 1e-16
"""Where the logarithmic axis ends: beside 1 a number below is lost to rounding. What is smaller stands on the floor."""

ONE_PERCENT = 0.01

_HUES = dict(zip(MODELS, (NEUTRAL, SCALED), strict=True))
_DASHES = dict(zip(MODELS, ([6, 4], [1, 0]), strict=True))


def exponent_text(value: float) -> str:
    """A size of any magnitude in a few characters.

    Parameters
    ----------
    value : float
        Not negative.

    Returns
    -------
    str
        Three digits; with a power of ten where there are too many zeros, and no line ends inside.

    Examples
    --------
    >>> exponent_text(0.0123), exponent_text(1e-16), exponent_text(0.0)
    ('0.0123', '10⁻¹⁶', '0')
    """
    if value == 0 or 1e-3 <= value < 1e4:
        return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
    digits, _, exponent = f"{value:.2e}".partition("e")
    times = "" if digits == "1.00" else f"{digits}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"
    return f"{times}10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def words_table(axis: Axis, sizes: Mapping[str, Floats], picked: int) -> pa.Table:
    """What each word of a sentence still moves, as one long table.

    Parameters
    ----------
    axis : Axis
        The words.
    sizes : mapping of str to ndarray of shape (position,)
        Not negative, by the name of the model.
    picked : int
        Position of the word that is worked out.

    Returns
    -------
    pyarrow.Table
        word, row_name, position, back, picked, series, value, said, shown, small. A value below `FLOOR`,
        0 included, is shown at the floor and marked small; there is a number in every row.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> words_table(word_axis("word", ("a", "b")), {MODELS[0]: np.array([0.0, 1.0])}, 0).column("shown").to_pylist()
    [1e-16, 1.0]
    """
    n_words = len(axis.names)
    parts = []
    for series, values in sizes.items():
        positions = np.arange(n_words)
        parts.append(
            tables.of_columns(
                {
                    "word": axis.labels,
                    "row_name": axis.names,
                    "position": positions,
                    "back": n_words - 1 - positions,
                    "picked": positions == picked,
                }
                | _values(series, values)
            )
        )
    return pa.concat_tables(parts).combine_chunks()


def lengths_table(lengths: Sequence[int], sizes: Mapping[str, Floats]) -> pa.Table:
    """A quantity by the length of a sentence, as one long table.

    Parameters
    ----------
    lengths : sequence of int
        In rising order.
    sizes : mapping of str to ndarray of shape (length,)
        Not negative, by the name of the model.

    Returns
    -------
    pyarrow.Table
        length, series, value, said, shown, small; see `words_table`.

    Examples
    --------
    >>> lengths_table((2, 4), {MODELS[1]: np.array([0.5, 1e-20])}).column("small").to_pylist()
    [False, True]
    """
    parts = [tables.of_columns({"length": lengths} | _values(series, values)) for series, values in sizes.items()]
    return pa.concat_tables(parts).combine_chunks()


def _values(series: str, values: Floats) -> dict[str, Any]:
    return {
        "series": [series] * len(values),
        "value": values,
        "said": [exponent_text(float(value)) for value in values],
        "shown": np.maximum(values, FLOOR),
        "small": values < FLOOR,
    }


# 0.01 and 1000 as they are, the rest as powers of ten with real exponents.
_POWERS = (
    "datum.value >= 0.009 && datum.value < 9999 ? format(datum.value, '~r') : '10' + "
    "replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace("
    "'' + round(log(datum.value) / LN10), '-', '⁻'), /0/g, '⁰'), /1/g, '¹'), /2/g, '²'), /3/g, '³'), /4/g, '⁴'), "
    "/5/g, '⁵'), /6/g, '⁶'), /7/g, '⁷'), /8/g, '⁸'), /9/g, '⁹')"
)


def _sizes_axis(title: str) -> alt.Y:
    axis = axis_of(title, labelExpr=_POWERS, values=[10.0**power for power in range(-16, 100)], labelOverlap="greedy")
    return alt.Y(field="shown", type="quantitative", scale=alt.Scale(type="log", nice=True), axis=axis)


def _series(base: alt.Chart, x: alt.X, y: alt.Y, tooltip: list[alt.Tooltip]) -> list[Any]:
    """Line and points of each model; a point on the floor is a triangle that points down."""
    layers: list[Any] = []
    for series in MODELS:
        one = base.transform_filter(f"datum.series === '{series}'")
        hue = themed(_HUES[series])
        layers.append(
            one.mark_line(stroke=hue, strokeWidth=2.5, strokeDash=_DASHES[series], tooltip=None).encode(x=x, y=y)
        )
        layers.append(
            one.mark_point(
                filled=True,
                size=expression("datum.small ? 110 : 55"),
                opacity=1,
                fill=hue,
                stroke=None,
                shape=expression("datum.small ? 'triangle-down' : 'circle'"),
            ).encode(x=x, y=y, tooltip=tooltip)
        )
    return layers


def _reference(value: float, text: str, right: bool) -> list[Any]:
    """A level line across the picture with its name, at the end where no curve comes down to it."""
    base = alt.Chart().transform_aggregate(n="count()").transform_calculate(shown=f"{value!r}")
    y = alt.Y(field="shown", type="quantitative")
    return [
        base.mark_rule(stroke=themed(NEUTRAL), strokeWidth=1, strokeDash=[2, 3], tooltip=None).encode(y=y),
        base.mark_text(
            align="right" if right else "left",
            dy=-7,
            fill=TEXT,
            fontSize=12,
            x=expression("width - 4") if right else 4,
            tooltip=None,
            text=text,
        ).encode(y=y),
    ]


@functools.lru_cache(maxsize=16)
def words_chart(many: bool, shares: bool, title: str, height: int = 250) -> Spec:
    """What each word of a sentence still moves, on a logarithmic axis, the words in their order.

    Parameters
    ----------
    many : bool
        Whether the axis has positions in place of words.
    shares : bool
        Whether the sizes are shares of the last word's: then 1 % is marked.
    title : str
        Of the vertical axis, our own words.
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `words_table`, without data. A click on a word selects its position under the name "word".

    Examples
    --------
    >>> words_chart(False, True, "share")["layer"][0]["mark"]["type"]
    'rect'
    """
    x = alt.X(
        field="word",
        type="nominal",
        sort=None,
        axis=axis_of(
            "position of the word" if many else None,
            labelAngle=0 if many else -40,
            labelOverlap="parity" if many else False,
            labelLimit=90,
            grid=False,
        ),
    )
    y = _sizes_axis(title)
    tooltip = [
        alt.Tooltip(field="row_name", type="nominal", title="word"),
        alt.Tooltip(field="back", type="quantitative", title="words before the last"),
        alt.Tooltip(field="series", type="nominal", title="model"),
        alt.Tooltip(field="said", type="nominal", title=title),
    ]
    base = alt.Chart()
    # A whole column can be clicked, not only a dot; one series is enough for that.
    columns = base.transform_filter(f"datum.series === '{MODELS[0]}'")
    touch = (
        columns.mark_rect(opacity=expression("datum.picked ? 0.25 : 0"), fill=themed(PICKED), stroke=None)
        .encode(x=x, **fixed(y=0, y2="height"), tooltip=tooltip[:2])
        .add_params(alt.selection_point(name="word", fields=["position"], on="click", clear="dblclick"))
    )
    layers = [touch, *_series(base, x, y, tooltip), *(_reference(ONE_PERCENT, "1 %", right=True) if shares else [])]
    return stretching(alt.layer(*layers, width="container", height=height))


@functools.lru_cache(maxsize=8)
def lengths_chart(shares: bool, title: str, height: int = 250) -> Spec:
    """What the first word still moves by the length of the sentence; both axes logarithmic.

    Parameters
    ----------
    shares, title, height
        As in `words_chart`.

    Returns
    -------
    dict
        Specification for `lengths_table`, without data.

    Examples
    --------
    >>> lengths_chart(True, "share")["height"]
    250
    """
    return _by_length(_sizes_axis(title), title, _reference(ONE_PERCENT, "1 %", right=False) if shares else [], height)


@functools.lru_cache(maxsize=2)
def steps_chart(height: int = 190) -> Spec:
    """Steps that wait for each other, by the length of the sentence; both axes logarithmic.

    Parameters
    ----------
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `lengths_table`, without data.

    Examples
    --------
    >>> steps_chart()["height"]
    190
    """
    axis = axis_of("steps one after another", values=[1, 3, 8, 32, 128, 512], format="d")
    y = alt.Y(field="shown", type="quantitative", scale=alt.Scale(type="log", base=2, domain=[1, 600]), axis=axis)
    return _by_length(y, "steps", [], height)


def _by_length(y: alt.Y, title: str, references: list[Any], height: int) -> Spec:
    x = alt.X(
        field="length",
        type="quantitative",
        scale=alt.Scale(type="log", base=2, nice=False),
        axis=axis_of("words in the sentence", values=[2, 8, 32, 128, 512], format="d", grid=False),
    )
    tooltip = [
        alt.Tooltip(field="length", type="quantitative", title="words"),
        alt.Tooltip(field="series", type="nominal", title="model"),
        alt.Tooltip(field="said", type="nominal", title=title),
    ]
    layers = [*_series(alt.Chart(), x, y, tooltip), *references]
    return stretching(alt.layer(*layers, width="container", height=height))
