"""Growth of a cost with the number of tokens: what is guessed and what it is, both axes logarithmic."""

import functools
from collections.abc import Sequence
from typing import Any

import altair as alt
import pyarrow as pa

from ui.charts import tables
from ui.charts.specifications import Spec, stretching
from ui.charts.theme import TEXT, expression, themed
from ui.colours import SCALED, UNSCALED

GUESS, TRUE = "guessed: as many times as the tokens", "counted: every pair"


def growth_table(lengths: Sequence[float], guessed: Sequence[float] | None, counted: Sequence[float]) -> pa.Table:
    """One row a point.

    Parameters
    ----------
    lengths : sequence of float
        Tokens.
    guessed, counted : sequence of float
        The cost; no guess where it is None.

    Returns
    -------
    pyarrow.Table
        tokens, series, cost, said.

    Examples
    --------
    >>> growth_table([1, 2], [1, 2], [1, 4]).column("cost").to_pylist()
    [1.0, 2.0, 1.0, 4.0]
    """
    parts = [(GUESS, guessed)] if guessed is not None else []
    records = [
        (float(tokens), series, float(cost), short(float(cost)))
        for series, costs in (*parts, (TRUE, counted))
        for tokens, cost in zip(lengths, costs, strict=True)
    ]
    return tables.of_rows(("tokens", "series", "cost", "said"), records)


def short(number: float) -> str:
    """A large number in words' reach.

    Parameters
    ----------
    number : float
        Not negative.

    Returns
    -------
    str
        Three digits and a power of a thousand.

    Examples
    --------
    >>> short(200.0), short(137438953472.0)
    ('200', '137 G')
    """
    for unit in ("", " k", " M", " G", " T"):
        if number < 999.5:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:,.0f} P"


@functools.lru_cache(maxsize=8)
def growth_chart(title: str, height: int = 190) -> Spec:
    """Both series over the tokens.

    Parameters
    ----------
    title : str
        What it costs, our own words.
    height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `growth_table`, without data.

    Examples
    --------
    >>> growth_chart("work")["height"]
    190
    """

    def axis(name: str | None, **options: Any) -> alt.Axis:
        return alt.Axis(
            title=name,
            labelColor=TEXT,
            titleColor=TEXT,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            **options,
        )

    x = alt.X(
        field="tokens",
        type="quantitative",
        scale=alt.Scale(type="log", base=2, domain=[1, 131072], nice=False),
        axis=axis("tokens", values=[1, 1024, 131072], format=",d", grid=False, labelOverlap=False),
    )
    y = alt.Y(
        field="cost",
        type="quantitative",
        scale=alt.Scale(type="log", domain=[1, 1e14], nice=False),
        axis=axis(None, format="~s", values=[1, 1e3, 1e6, 1e9, 1e12]),
    )
    tooltip = [
        alt.Tooltip(field="tokens", type="quantitative", format=",d"),
        alt.Tooltip(field="series", type="nominal"),
        alt.Tooltip(field="cost", type="quantitative", format=",.0f"),
    ]
    layers: list[Any] = []
    side = expression("datum.tokens > 2e4 ? 'right' : 'center'")  # the last number stays inside
    for series, hue, dash, above in ((GUESS, UNSCALED, [5, 3], 16), (TRUE, SCALED, [1, 0], -12)):
        one = alt.Chart().transform_filter(f"datum.series === '{series}'")
        layers += [
            one.mark_line(stroke=themed(hue), strokeWidth=2.5, strokeDash=dash, tooltip=None).encode(x=x, y=y),
            one.mark_point(filled=True, size=45, opacity=1, fill=themed(hue), stroke=None).encode(
                x=x, y=y, tooltip=tooltip
            ),
            one.transform_filter("datum.tokens === 1024 || datum.tokens > 1e5")
            .mark_text(dy=above, fill=themed(hue), fontSize=12, align=side, tooltip=None)
            .encode(x=x, y=y, text=alt.Text(field="said", type="nominal")),
        ]
    chart = alt.layer(
        *layers,
        width="container",
        height=height,
        title=alt.TitleParams(text=title, anchor="start", fontSize=14, color=TEXT, offset=6),
    )
    return stretching(chart)
