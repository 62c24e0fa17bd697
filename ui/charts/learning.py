"""Curves of a training: loss, right answers, and the weight on the cells that matter."""

import functools
import math
from collections.abc import Iterator
from typing import Literal

import altair as alt
import numpy as np
import pyarrow as pa

from core.training.runs import Film
from ui.charts import tables
from ui.charts.specifications import Spec, stretching
from ui.charts.theme import TEXT, axis_of, expression, themed
from ui.colours import PICKED, SCALED, UNSCALED, VALUE, Hue

Measure = Literal["loss", "share"]

SERIES: dict[str, tuple[Hue, tuple[int, ...]]] = {
    "loss": (SCALED, ()),
    "right answers": (SCALED, ()),
    "weight on the outlined cells": (VALUE, ()),
    "the other model": (UNSCALED, (5, 3)),
}
"""Name of each line to its colour and its dashes."""


def learning_table(
    film: Film, other: Film | None, measure: Measure, now: int, picture: int, phase: tuple[int, int] | None = None
) -> pa.Table:
    """Curves of one measure.

    Parameters
    ----------
    film : Film
        The run that is shown.
    other : Film or None
        The run to compare with, of the other kind of model.
    measure : "loss" or "share"
        The loss, a mean over the steps of each snapshot; or shares between 0 and 1.
    now : int
        Number of the snapshot that is looked at.
    picture : int
        The picture whose weight on the outlined cells is drawn.
    phase : tuple of two int or None
        First and last step of a phase change, to be shaded.

    Returns
    -------
    pyarrow.Table
        step, until, series, value, and kind: "line", "now" for the step that is looked at, or "phase".

    Examples
    --------
    >>> from core.training.runs import saved
    >>> kinds = learning_table(saved("order"), None, "share", 50, 0).column("kind").to_pylist()
    >>> kinds.count("line"), kinds.count("now"), len(kinds)
    (102, 1, 103)
    """
    rows: list[tuple[int, int, str, float, str]] = []
    if measure == "loss":
        rows += _line("loss", *_mean_losses(film))
    else:
        rows += _line("right answers", film.steps, film.accuracy)
        rows += _line("weight on the outlined cells", film.steps, film.masses[:, picture])
    if other is not None:
        curve = _mean_losses(other) if measure == "loss" else (other.steps, other.accuracy)
        rows += _line("the other model", *curve)
    rows.append(_mark("now", int(film.steps[now]), int(film.steps[now])))
    if phase is not None:
        rows.append(_mark("phase", *phase))
    return tables.of_rows(("step", "until", "series", "value", "kind"), rows)


def _mark(kind: str, first: int, last: int) -> tuple[int, int, str, float, str]:
    return first, last, "", 0.0, kind


def _line(series: str, steps: np.ndarray, values: np.ndarray) -> Iterator[tuple[int, int, str, float, str]]:
    for step, value in zip(steps.tolist(), values.astype(float).tolist(), strict=True):
        if not math.isnan(value):
            yield step, step, series, value, "line"


def _mean_losses(film: Film) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the losses between two snapshots, at the later one; the first loss at step 0."""
    if len(film.steps) < 2:
        return np.array([], dtype=int), np.array([])
    every = int(film.steps[1])
    means = film.losses[: len(film.losses) // every * every].reshape(-1, every).mean(axis=1)
    return np.append(0, film.steps[1:][: len(means)]), np.append(film.losses[0], means)


@functools.lru_cache(maxsize=16)
def learning_chart(measure: Measure, steps: int, height: int = 120) -> Spec:
    """Curves of a training over its steps.

    Parameters
    ----------
    measure : "loss" or "share"
        As in `learning_table`.
    steps : int
        End of the axis.
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `learning_table`, without data.

    Examples
    --------
    >>> learning_chart("loss", 300)["height"]
    120
    """
    top = alt.Scale(domain=[0, 1]) if measure == "share" else alt.Scale(domainMin=0, nice=True)
    x = alt.X(
        field="step",
        type="quantitative",
        scale=alt.Scale(domain=[0, steps], nice=False),
        axis=axis_of("step" if measure == "share" else None, format="d", grid=False, tickCount=6),
    )
    y = alt.Y(field="value", type="quantitative", scale=top, axis=axis_of(None, tickCount=4))
    base = alt.Chart()
    tooltip = [
        alt.Tooltip(field="series", type="nominal"),
        alt.Tooltip(field="step", type="quantitative"),
        alt.Tooltip(field="value", type="quantitative", format=".4f"),
    ]
    layers = [
        base.transform_filter("datum.kind === 'phase'")
        .mark_rect(fill=themed(PICKED), opacity=0.22, tooltip=None)
        .encode(x=x, x2=alt.X2(field="until")),
        base.transform_filter("datum.kind === 'now'")
        .mark_rule(stroke=themed(PICKED), strokeWidth=2, tooltip=None)
        .encode(x=x),
    ]
    for series, (hue, dash) in reversed(SERIES.items()):
        layers.append(
            base.transform_filter(f"datum.kind === 'line' && datum.series === '{series}'")
            .mark_line(stroke=themed(hue), strokeWidth=2.2, strokeDash=list(dash) or [1, 0], tooltip=None, clip=True)
            .encode(x=x, y=y)
        )
    # Dots that cannot be seen, large enough to be hit with the pointer.
    layers.append(
        base.transform_filter("datum.kind === 'line'")
        .mark_point(filled=True, size=80, opacity=0, fill=expression("'#888888'"))
        .encode(x=x, y=y, tooltip=tooltip)
    )
    name = "loss (nats)" if measure == "loss" else "shares, on fresh sequences"
    chart = alt.layer(
        *layers,
        width="container",
        height=height,
        title=alt.TitleParams(text=name, anchor="start", fontSize=14, color=TEXT, offset=6),
    )
    return stretching(chart)
