"""Bars: how many parameters sit in each tensor."""

import functools

import altair as alt
import pandas as pd

from core.parameter_count import ParameterTable
from ui.charts.specifications import Spec, fixed, stretching
from ui.charts.theme import DARK, TEXT, expression
from ui.colours import NEUTRAL, QUERY, VALUE

PART_HUES = {"attention": QUERY, "feed-forward": VALUE, "layer norm": NEUTRAL}


def percent(share: float) -> str:
    """A share in percent, with as many decimals as it needs not to vanish.

    Parameters
    ----------
    share : float
        From 0 to 1.

    Returns
    -------
    str
        With one decimal, or with two significant digits below 0.1 %.

    Examples
    --------
    >>> percent(0.494), percent(0.000108)
    ('49.4 %', '0.011 %')
    """
    return f"{share:.1%}".replace("%", " %") if share >= 0.001 else f"{share * 100:.2g} %"


def parameters_table(table: ParameterTable) -> pd.DataFrame:
    """The rows of a count, with their share of the total.

    Parameters
    ----------
    table : ParameterTable
        From `core.parameter_count.encoder_block_parameters`.

    Returns
    -------
    pandas.DataFrame
        order, tensor, shape, count, share, part, said, torch_name.

    Examples
    --------
    >>> from core.parameter_count import encoder_block_parameters
    >>> parameters_table(encoder_block_parameters(32, 4, 64)).said[0]
    '1,024  (12.0 %)'
    """
    total = table.total
    return pd.DataFrame(
        {
            "order": range(len(table.rows)),
            "tensor": [row.name for row in table.rows],
            "shape": [" × ".join(f"{size:,}" for size in row.shape) for row in table.rows],
            "count": [row.count for row in table.rows],
            "share": [row.count / total for row in table.rows],
            "part": [row.part for row in table.rows],
            "said": [f"{row.count:,}  ({percent(row.count / total)})" for row in table.rows],
            "torch_name": [row.torch_name for row in table.rows],
        }
    )


@functools.lru_cache(maxsize=8)
def parameters_chart(n_tensors: int, row_height: int = 22) -> Spec:
    """One bar a tensor, in the order of the computation, coloured by the part that it belongs to.

    Parameters
    ----------
    n_tensors : int
        Rows of the table.
    row_height : int
        In pixels.

    Returns
    -------
    dict
        Specification for `parameters_table`, without data.

    Examples
    --------
    >>> parameters_chart(16)["height"]
    352
    """
    light = " : ".join(f"datum.part === '{part}' ? '{hue.light}'" for part, hue in PART_HUES.items()) + " : '#000000'"
    dark = " : ".join(f"datum.part === '{part}' ? '{hue.dark}'" for part, hue in PART_HUES.items()) + " : '#FFFFFF'"
    sort = alt.EncodingSortField(field="order", op="min", order="ascending")
    axis = alt.Axis(
        title=None,
        ticks=False,
        labelFlush=False,
        domain=False,
        labelColor=TEXT,
        labelFontSize=13,
        labelLimit=140,
        labelOverlap=False,
    )
    y = alt.Y(field="tensor", type="nominal", sort=sort, axis=axis)
    tooltip = [
        alt.Tooltip(field=name, type="nominal", title=title)
        for name, title in (
            ("tensor", "tensor"),
            ("shape", "shape"),
            ("said", "parameters"),
            ("part", "part"),
            ("torch_name", "in PyTorch"),
        )
    ]
    # The longest bar leaves room for its number, however wide the chart is.
    end = expression("datum.share / datum.longest * (width - 130)")
    base = alt.Chart().transform_joinaggregate(longest="max(share)")
    fill = expression(f"{DARK} ? ({dark}) : ({light})")
    bars = base.mark_rect(fill=fill, height=row_height * 0.72).encode(**fixed(x=0, x2=end), y=y, tooltip=tooltip)
    numbers = base.mark_text(align="left", dx=6, fill=TEXT, fontSize=13, tooltip=None).encode(
        **fixed(x=end), y=y, text=alt.Text(field="said", type="nominal")
    )
    chart = alt.layer(bars, numbers, width="container", height=row_height * n_tensors)
    return stretching(chart)
