"""Attention as lines from the words that ask to the words they look at."""

import functools

import altair as alt
import numpy as np
import pyarrow as pa

from core.softmax import Floats
from ui.charts.heat_map import Axis, dictionary
from ui.charts.specifications import Spec, fixed, stretching
from ui.charts.theme import expression, themed
from ui.colours import KEY, QUERY, SCALED

LEFT = 0.28
"""Share of the width that the words on each side take."""


def links_table(weights: Floats, queries: Axis, keys: Axis, picked: int = 0) -> pa.Table:
    """One row for each pair of words.

    Parameters
    ----------
    weights : ndarray of shape (query, key)
        From 0 to 1.
    queries, keys : Axis
        The words.
    picked : int
        Position of the word whose lines stand out while the reader points at none.

    Returns
    -------
    pyarrow.Table
        query, query_position, query_name, key, key_position, key_name, weight, picked.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> axis = word_axis("query", ("a", "b"))
    >>> links_table(np.eye(2), axis, axis)["weight"].to_pylist()
    [1.0, 0.0, 0.0, 1.0]
    """
    query, key = (index.ravel().astype(np.int16) for index in np.indices(weights.shape))
    return pa.table(
        {
            "query": dictionary(query, queries.labels),
            "query_position": query,
            "query_name": dictionary(query, queries.names),
            "key": dictionary(key, keys.labels),
            "key_position": key,
            "key_name": dictionary(key, keys.names),
            "weight": weights.ravel(),
            "picked": query == picked,
        }
    )


@functools.lru_cache(maxsize=64)
def links_chart(n_words: int) -> Spec:
    """Words that ask at the left, the same words as looked at to the right, a line as strong as the weight.

    Parameters
    ----------
    n_words : int
        At least 1; many words make the chart higher, up to a laptop's first screen.

    Returns
    -------
    dict
        Specification for `links_table`, without data. Pointing at a word that asks leaves only its lines; no word to
        the server.

    Examples
    --------
    >>> [layer["mark"]["type"] for layer in links_chart(5)["layer"]]
    ['rule', 'rule', 'text', 'text', 'rect']
    """
    height = max(330, 9 * n_words)
    size = expression(f"min({min(17, 0.8 * height / n_words):.1f}, width * {LEFT} / 8.2)")
    scale = alt.Scale(domain=[-0.5, n_words - 0.5], reverse=True)
    base = alt.Chart()

    def y(field: str) -> alt.Y:
        return alt.Y(field=field, type="quantitative", scale=scale, axis=None)

    hover = alt.selection_point(
        name="asks", fields=["query_position"], on="pointerover", clear="pointerout", empty=True
    )
    shown = "!isValid(asks.query_position) || datum.query_position == asks.query_position[0]"
    tooltip = [
        alt.Tooltip(field="query_name", type="nominal", title="query"),
        alt.Tooltip(field="key_name", type="nominal", title="key"),
        alt.Tooltip(field="weight", type="quantitative", format=".6f"),
    ]
    across = fixed(x=expression(f"width * {LEFT}"), x2=expression(f"width * {1 - LEFT}"))
    # Many words make many lines: all but the picked word's step back while nothing is pointed at.
    faint = min(1.0, 12 / n_words)
    at_rest = f"isValid(asks.query_position) || datum.picked ? 1 : {faint:.2f}"
    strength = f"min(1, 0.04 + 1.2 * datum.weight) * ({at_rest})"
    lines = base.mark_rule(
        stroke=themed(SCALED),
        strokeWidth=expression("1 + 9 * datum.weight"),
        strokeCap="round",
        opacity=expression(f"({shown}) ? {strength} : 0.02"),
        tooltip=None,
    ).encode(**across, y=y("query_position"), y2=alt.Y2(field="key_position"))
    # A second, invisible line, wide enough to be pointed at.
    touch = base.mark_rule(opacity=0, strokeWidth=8).encode(
        **across, y=y("query_position"), y2=alt.Y2(field="key_position"), tooltip=tooltip
    )
    asking = base.transform_filter("datum.key_position == 0").mark_text(
        align="right",
        fontSize=size,
        fill=themed(QUERY),
        fontWeight=expression("datum.picked ? 'bold' : 'normal'"),
        x=expression(f"width * {LEFT} - 8"),
        tooltip=None,
    )
    asked = base.transform_filter("datum.query_position == 0").mark_text(
        align="left", fontSize=size, fill=themed(KEY), x=expression(f"width * {1 - LEFT} + 8"), tooltip=None
    )
    area = (
        base.transform_filter("datum.key_position == 0")
        .transform_calculate(top="datum.query_position - 0.5", bottom="datum.query_position + 0.5")
        .mark_rect(opacity=0, x=0, x2=expression(f"width * {LEFT}"), tooltip=None)
        .encode(y=y("top"), y2=alt.Y2(field="bottom"))
        .add_params(hover)
    )
    chart = alt.layer(
        lines,
        touch,
        asking.encode(y=y("query_position"), text=alt.Text(field="query", type="nominal")),
        asked.encode(y=y("key_position"), text=alt.Text(field="key", type="nominal")),
        area,
        width="container",
        height=height,
    )
    return stretching(chart)
