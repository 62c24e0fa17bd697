"""A block as a picture: its parts in a row, and the skip connections that go around them."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

from ui.charts import tables
from ui.charts.heat_map import number_text
from ui.charts.specifications import Spec, fixed, stretching
from ui.charts.theme import DARK, TEXT, expression, themed
from ui.colours import BOX, NEUTRAL, PICKED

PICK = "part"
"""Name of the selection that a click makes."""

_SHORT = {"attention": "att.", "norm 1": "norm", "norm 2": "norm", "expand": "exp.", "contract": "con."}
_TOP, _BOX, _MIDDLE, _FLOOR = 7, 20, 41, 62
"""Heights in pixels: of a skip connection, of a box's upper edge, middle and lower edge."""


def block_table(parts: Sequence[str], lengths: Sequence[float], skips: Mapping[str, str], picked: str = "") -> pa.Table:
    """Parts of a block and ways around them, for `block_chart`.

    Parameters
    ----------
    parts : sequence of str
        Names in the order of the computation, the input first.
    lengths : sequence of float
        Of what leaves each part.
    skips : mapping of str to str
        What goes around, to the part that adds it again.
    picked : str
        The part that stands out.

    Returns
    -------
    pyarrow.Table
        kind ("part" or "skip"), place, end, part, label, short, length, said, picked.

    Examples
    --------
    >>> table = block_table(("X", "norm 1", "add 1"), (3.0, 2.5, 4.0), {"X": "add 1"}, "norm 1")
    >>> [(row["kind"], row["place"], row["end"], row["label"], row["said"]) for row in table.to_pylist()[-2:]]
    [('part', 2, 2, '+', '4.00'), ('skip', 0, 2, '', '')]
    """
    rows = []
    for place, (part, length) in enumerate(zip(parts, lengths, strict=True)):
        label = "+" if part.startswith("add") else part
        said = number_text(length, max(0, 2 - int(np.log10(max(1.0, length)))))
        rows.append(("part", place, place, part, label, _SHORT.get(part, label), length, said, part == picked))
    for start, end in skips.items():
        rows.append(("skip", parts.index(start), parts.index(end), "", "", "", 0.0, "", False))
    columns = ["kind", "place", "end", "part", "label", "short", "length", "said", "picked"]
    return tables.of_rows(columns, rows)


@functools.lru_cache(maxsize=4)
def block_chart(n_parts: int) -> Spec:
    """Parts in a row with what leaves them, one low strip that follows the width of the page.

    Parameters
    ----------
    n_parts : int
        The input included.

    Returns
    -------
    dict
        Specification for `block_table`, without data; a click picks a part.

    Examples
    --------
    >>> block_chart(9)["height"]
    64
    """

    def across(places: str) -> Any:
        return expression(f"({places}) * width / {n_parts}")

    base = alt.Chart()
    parts, skips = (base.transform_filter(f"datum.kind === '{kind}'") for kind in ("part", "skip"))
    line: dict[str, Any] = {"stroke": themed(NEUTRAL), "strokeWidth": 1.5, "tooltip": None}
    tip: dict[str, Any] = {
        "filled": True,
        "fill": themed(NEUTRAL),
        "stroke": None,
        "opacity": 1,
        "size": 40,
        "tooltip": None,
    }
    between = parts.transform_filter(f"datum.place < {n_parts - 1}")
    start, end = across("datum.place + 1"), across("datum.end + 0.5")
    outline = f"datum.picked ? ({DARK} ? '{PICKED.dark}' : '{PICKED.light}') : ({DARK} ? '{NEUTRAL.dark}' : "
    boxes = parts.mark_rect(
        cornerRadius=6,
        cursor="pointer",
        fill=themed(BOX),
        stroke=expression(f"{outline}'{NEUTRAL.light}')"),
        strokeWidth=expression("datum.picked ? 2.5 : 1"),
        y=_BOX,
        y2=_FLOOR,
    ).encode(
        **fixed(x=across("datum.place + 0.09"), x2=across("datum.place + 0.91")),
        tooltip=[
            alt.Tooltip(field="part", type="nominal"),
            alt.Tooltip(field="length", type="quantitative", format=".6f", title="length behind it"),
        ],
    )
    boxes = boxes.add_params(alt.selection_point(name=PICK, fields=["part"], on="click", clear="dblclick"))
    # Where the names do not fit, on a phone, shorter ones stand in their place.
    size = expression(f"min(13, width / {n_parts} / 3.6)")

    def words(field: str, y: int, shown: str, weight: Any = "normal") -> Any:
        return parts.mark_text(
            fontSize=size, fontWeight=weight, fill=TEXT, opacity=expression(shown), y=y, tooltip=None
        ).encode(**fixed(x=across("datum.place + 0.5")), text=alt.Text(field=field, type="nominal"))

    chart = alt.layer(
        between.mark_rule(**line).encode(**fixed(x=start, x2=across("datum.place + 1.09"), y=_MIDDLE)),
        between.mark_rule(**line).encode(**fixed(x=across("datum.place + 0.91"), x2=start, y=_MIDDLE)),
        skips.mark_rule(**line).encode(**fixed(x=start, y=_MIDDLE, y2=_TOP)),
        skips.mark_rule(**line).encode(**fixed(x=start, x2=end, y=_TOP)),
        skips.mark_rule(**line).encode(**fixed(x=end, y=_TOP, y2=_BOX)),
        skips.mark_point(shape="triangle-down", **tip).encode(**fixed(x=end, y=_BOX - 4)),
        boxes,
        words("label", _MIDDLE - 8, f"width >= {62 * n_parts} ? 1 : 0", "bold"),
        words("short", _MIDDLE - 8, f"width >= {62 * n_parts} ? 0 : 1", "bold"),
        words("said", _MIDDLE + 11, "1"),
        width="container",
        height=_FLOOR + 2,
        title=alt.TitleParams(
            text="length of the picked word's vector behind each part",
            anchor="start",
            fontSize=12,
            fontWeight="normal",
            color=TEXT,
            offset=2,
        ),
    )
    return stretching(chart)
