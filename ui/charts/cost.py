"""Cost against length on two logarithmic axes, by formula and as measured, and bars for caches."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd
import pyarrow as pa

from core.cache_size import Model, cache_bytes
from core.cost import BlockCost, Crossovers, PartName, human, powers_of_two
from core.measurement.fit import PowerFit
from core.measurement.plan import METHODS, Method, Reading
from ui.charts import tables
from ui.charts.specifications import Spec, fixed, stretching
from ui.charts.theme import DARK, TEXT, axis_of, expression, themed
from ui.colours import KEY, MASKED, NEUTRAL, PICKED, QUERY, SCALED, UNSCALED, VALUE, Hue


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of the cost chart: parts that cost the same way, drawn together."""

    name: str
    parts: tuple[PartName, ...]
    hue: Hue
    sign: str
    """A piece of the line, for words."""
    dash: tuple[float, ...] = ()


CURVES = (
    Curve("q kᵀ and weights · V", ("q kᵀ", "weights · V"), SCALED, "━"),
    Curve("softmax", ("softmax",), UNSCALED, "┈", (2, 3)),
    Curve("Q, K, V and W_o", ("Q, K, V", "W_o"), QUERY, "╍", (7, 3)),
    Curve("feed-forward", ("feed-forward",), VALUE, "━ ·", (9, 3, 2, 3)),
)
"""The first two grow with n², the others with n."""

METHOD_HUES: Mapping[Method, tuple[Hue, tuple[float, ...]]] = {
    METHODS[0]: (UNSCALED, (5, 3)),
    METHODS[1]: (SCALED, ()),
}


def cost_table(seq_lens: Sequence[int], costs: Sequence[BlockCost], chosen: int, places: Crossovers) -> pa.Table:
    """Every curve at every length, and what is marked on them.

    Parameters
    ----------
    seq_lens : sequence of int
        Lengths, rising.
    costs : sequence of BlockCost
        One a length.
    chosen : int
        The length on the sliders, one of them.
    places : Crossovers
        Where the square overtakes.

    Returns
    -------
    pyarrow.Table
        n, curve, flops, said, mark: "" for a point of a line, "chosen" for one at the chosen length, "crossing" for
        a place where the square overtakes; places beyond the last length are left out.

    Examples
    --------
    >>> from core.cost import block_cost, crossovers
    >>> table = cost_table((8, 16), [block_cost(n, 4, 1, 16) for n in (8, 16)], 16, crossovers(4, 16))
    >>> marks = table.column("mark").to_pylist()
    >>> marks.count("chosen"), table.column("n")[marks.index("crossing")].as_py()
    (4, 8)
    """
    records: list[tuple[int, str, float, str, str]] = []
    for n, cost in zip(seq_lens, costs, strict=True):
        for curve in CURVES:
            flops = sum(cost.part(part).flops for part in curve.parts)
            records.append((n, curve.name, float(flops), human(flops, "FLOP"), "chosen" if n == chosen else ""))
    for n, what in ((places.projections, "the projections"), (places.block, "the rest of the block")):
        if seq_lens[0] <= n <= seq_lens[-1]:
            last = sum(costs[-1].part(part).flops for part in CURVES[0].parts)
            records.append((n, what, last * (n / seq_lens[-1]) ** 2, f"n = {n:,}", "crossing"))
    return tables.of_rows(("n", "curve", "flops", "said", "mark"), records)


def _by(field: str, hues: Mapping[str, Hue]) -> alt.ExprRef:
    """Colour of a mark by the value of a field."""
    light, dark = (
        " : ".join(f"datum.{field} === '{name}' ? '{getattr(hue, theme)}'" for name, hue in hues.items())
        + f" : '{getattr(NEUTRAL, theme)}'"
        for theme in ("light", "dark")
    )
    return expression(f"{DARK} ? ({dark}) : ({light})")


def _length_axis(values: Sequence[int]) -> alt.X:
    return alt.X(
        field="n",
        type="quantitative",
        scale=alt.Scale(type="log", base=2, nice=False, domain=[values[0], values[-1]]),
        axis=axis_of("tokens n", values=list(values), format=",d", grid=False, labelOverlap=True),
    )


_TO_THE_LEFT = "datum.curve === 'the projections' || datum.n >= 16384"


@functools.lru_cache(maxsize=4)
def cost_chart(first: int, last: int, height: int = 292) -> Spec:
    """Operations of the parts of a block against the length, both axes logarithmic.

    Parameters
    ----------
    first, last : int
        Ends of the lengths.
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `cost_table`, without data.

    Examples
    --------
    >>> cost_chart(8, 1024)["height"]
    292
    """
    ticks = [n for n in (8, 32, 128, 512, 2048, 8192, 32768, 131072) if first <= n <= last]
    x = _length_axis([first, *[n for n in ticks if first < n < last], last])
    y = alt.Y(
        field="flops",
        type="quantitative",
        scale=alt.Scale(type="log", nice=True),
        axis=axis_of("FLOP", format="~s", tickCount=6),
    )
    base = alt.Chart()
    lines = base.transform_filter("datum.mark !== 'crossing'")
    layers: list[Any] = [
        lines.transform_filter(f"datum.curve === '{curve.name}'")
        .mark_line(stroke=themed(curve.hue), strokeWidth=2.5, strokeDash=list(curve.dash) or [1, 0], tooltip=None)
        .encode(x=x, y=y)
        for curve in CURVES
    ]
    crossing = base.transform_filter("datum.mark === 'crossing'")
    layers += [
        crossing.mark_rule(stroke=themed(PICKED), strokeWidth=2, strokeDash=[4, 3], tooltip=None).encode(x=x),
        # Beside its line: the first to the left, the second to the right while there is room.
        crossing.mark_text(
            align=expression(f"{_TO_THE_LEFT} ? 'right' : 'left'"),
            dx=expression(f"{_TO_THE_LEFT} ? -5 : 5"),
            dy=expression("datum.curve === 'the projections' || datum.n < 16384 ? 8 : 26"),
            y=0,
            fill=TEXT,
            fontSize=12,
            tooltip=None,
        ).encode(x=x, text=alt.Text(field="said", type="nominal")),
        crossing.mark_point(size=130, stroke=themed(PICKED), strokeWidth=2.5, filled=False, tooltip=None).encode(
            x=x, y=y
        ),
        # Points that are nearly unseen carry the tooltips of the lines.
        lines.mark_point(
            filled=True,
            size=expression("datum.mark === 'chosen' ? 90 : 40"),
            opacity=expression("datum.mark === 'chosen' ? 1 : 0.35"),
            fill=_by("curve", {curve.name: curve.hue for curve in CURVES}),
            stroke=None,
        ).encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip(field="n", type="quantitative", format=",d", title="tokens n"),
                alt.Tooltip(field="curve", type="nominal", title="part"),
                alt.Tooltip(field="said", type="nominal", title="work"),
            ],
        ),
    ]
    return stretching(alt.layer(*layers, width="container", height=height))


def cache_table(models: Sequence[Model], context: int, batch: int, bytes_per_number: int) -> pa.Table:
    """Caches of some models, and what they would be if every head of queries had keys and values of its own.

    Parameters
    ----------
    models : sequence of Model
        In the order of the bars.
    context, batch, bytes_per_number : int
        As in `core.cache_size.cache_bytes`.

    Returns
    -------
    pyarrow.Table
        order, model, bytes, full_bytes, share, full_share (of the longest bar), said, full_said, heads.

    Examples
    --------
    >>> from core.cache_size import MODELS
    >>> cache_table(MODELS[:1], 1024, 1, 2).column("said").to_pylist()
    ['36.0 MiB']
    """
    own, full = (
        [cache_bytes(context, model.n_layers, heads, model.d_head, batch, bytes_per_number) for model, heads in pairs]
        for pairs in (
            [(model, model.n_kv_heads) for model in models],
            [(model, model.n_heads) for model in models],
        )
    )
    longest = max(full)
    groups = [model.n_heads // model.n_kv_heads for model in models]
    return tables.of_columns(
        {
            "order": range(len(models)),
            "model": [model.name for model in models],
            "bytes": own,
            "full_bytes": full,
            "share": [count / longest for count in own],
            "full_share": [count / longest for count in full],
            "said": [
                human(count, "B", 1024) + (f" = {human(all_heads, 'B', 1024)} ÷ {group}" if group > 1 else "")
                for count, all_heads, group in zip(own, full, groups, strict=True)
            ],
            "full_said": [human(count, "B", 1024) for count in full],
            "heads": [f"{model.n_heads} heads of queries, {model.n_kv_heads} of keys and values" for model in models],
        }
    )


@functools.lru_cache(maxsize=4)
def cache_chart(n_models: int, row_height: int = 27) -> Spec:
    """One bar a model, in front of a faint one for as many key and value heads as query heads.

    Parameters
    ----------
    n_models : int
        Rows of the table.
    row_height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `cache_table`, without data.

    Examples
    --------
    >>> cache_chart(9)["height"]
    243
    """
    sort = alt.EncodingSortField(field="order", op="min", order="ascending")
    axis = axis_of(None, ticks=False, domain=False, labelLimit=150, labelOverlap=False, labelFlush=False)
    y = alt.Y(field="model", type="nominal", sort=sort, axis=axis)
    tooltip = [
        alt.Tooltip(field=name, type="nominal", title=title)
        for name, title in (
            ("model", "model"),
            ("heads", "heads"),
            ("said", "cache"),
            ("full_said", "with a key and value head for each"),
        )
    ]

    def end(share: str) -> Any:
        # The longest bar leaves room for its number, however wide the chart is.
        return expression(f"datum.{share} * (width - max(165, 0.22 * width))")

    base = alt.Chart()
    full = base.mark_rect(fill=themed(MASKED), stroke=themed(NEUTRAL), strokeWidth=1, height=row_height * 0.72).encode(
        **fixed(x=0, x2=end("full_share")), y=y, tooltip=tooltip
    )
    own = base.mark_rect(fill=themed(KEY), height=row_height * 0.72).encode(
        **fixed(x=0, x2=end("share")), y=y, tooltip=tooltip
    )
    numbers = base.mark_text(align="left", dx=6, fill=TEXT, fontSize=13, tooltip=None).encode(
        **fixed(x=end("full_share")), y=y, text=alt.Text(field="said", type="nominal")
    )
    chart = alt.layer(full, own, numbers, width="container", height=row_height * n_models)
    return stretching(chart)


Measure = Literal["time", "memory"]

_BINARY = ((30, "GiB"), (20, "MiB"), (10, "KiB"))


def measured_table(readings: Sequence[Reading], measure: Measure, fits: Mapping[Method, PowerFit]) -> pd.DataFrame:
    """Measured points of one measure, and the lines that were fitted through some of them.

    Parameters
    ----------
    readings : sequence of Reading
        As far as there are any.
    measure : "time" or "memory"
        Seconds, or bytes; a reading whose memory is not known is left out.
    fits : mapping of str to PowerFit
        By method; drawn where they were fitted.

    Returns
    -------
    pandas.DataFrame
        n, method, amount, said, kind: "measured" or "fitted".

    Examples
    --------
    >>> one = Reading(64, "plain formula", 0.002, 3, None, 0)
    >>> measured_table([one], "time", {}).said[0], len(measured_table([one], "memory", {}))
    ('2.00 ms', 0)
    """
    records = []
    for reading in readings:
        if measure == "time":
            said = duration(reading.seconds)
            records.append((reading.n, reading.method, reading.seconds, f"{said}", "measured"))
        elif reading.peak_bytes is not None:
            said = human(reading.peak_bytes, "B", 1024)
            records.append((reading.n, reading.method, float(reading.peak_bytes), said, "measured"))
    for method, fit in fits.items():
        lengths = sorted(one.n for one in readings if one.method == method and one.n >= FITTED_FROM)
        records += [(n, method, fit.factor * n**fit.exponent, "", "fitted") for n in lengths]
    return pd.DataFrame(records, columns=["n", "method", "amount", "said", "kind"])


FITTED_FROM = 512
"""Shortest length that counts for an exponent: below, the calls themselves take most of the time."""


def duration(seconds: float) -> str:
    """A short time in a unit of its size, with three digits.

    Parameters
    ----------
    seconds : float
        Not negative.

    Returns
    -------
    str
        In µs, ms or s.

    Examples
    --------
    >>> duration(0.0000123), duration(0.136), duration(2.5)
    ('12.3 µs', '136 ms', '2.50 s')
    """
    amount, unit = next(
        ((seconds * factor, unit) for factor, unit in ((1, "s"), (1e3, "ms")) if seconds * factor >= 1),
        (seconds * 1e6, "µs"),
    )
    return f"{amount:.{max(0, 2 - len(str(int(amount))) + 1)}f} {unit}"


@functools.lru_cache(maxsize=4)
def measured_chart(measure: Measure, first: int, last: int, height: int = 200) -> Spec:
    """Time or memory against the length as measured, both axes logarithmic, with the fitted lines.

    Parameters
    ----------
    measure : "time" or "memory"
        Which.
    first, last : int
        Ends of the lengths.
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `measured_table`, without data.

    Examples
    --------
    >>> measured_chart("time", 64, 4096)["height"]
    200
    """
    x = _length_axis(powers_of_two(first, last))
    if measure == "time":
        title, values = "time of one call", [10.0**power for power in range(-7, 4)]
        label = "format(datum.value, '~s') + 's'"
    else:
        title, values = "memory of one call", [float(4**power) for power in range(5, 20)]
        steps = " : ".join(
            f"datum.value >= {2**power} ? datum.value / {2**power} + ' {unit}'" for power, unit in _BINARY
        )
        label = f"{steps} : datum.value + ' B'"
    y = alt.Y(
        field="amount",
        type="quantitative",
        scale=alt.Scale(type="log", nice=True),
        axis=axis_of(None, values=values, labelExpr=label, labelOverlap=True),
    )
    base = alt.Chart()
    layers: list[Any] = []
    for method, (hue, dash) in METHOD_HUES.items():
        one = base.transform_filter(f"datum.method === '{method}'")
        layers += [
            one.transform_filter("datum.kind === 'fitted'")
            .mark_line(stroke=themed(hue), strokeWidth=2, strokeDash=list(dash) or [1, 0], tooltip=None)
            .encode(x=x, y=y),
            one.transform_filter("datum.kind === 'measured'")
            .mark_point(filled=True, size=55, opacity=1, fill=themed(hue), stroke=None)
            .encode(
                x=x,
                y=y,
                tooltip=[
                    alt.Tooltip(field="n", type="quantitative", format=",d", title="tokens n"),
                    alt.Tooltip(field="method", type="nominal"),
                    alt.Tooltip(field="said", type="nominal", title=measure),
                ],
            ),
        ]
    chart = alt.layer(
        *layers,
        width="container",
        height=height,
        title=alt.TitleParams(text=title, anchor="start", fontSize=14, color=TEXT, offset=6),
    )
    return stretching(chart)
