"""Expressions that a chart evaluates in the browser, so that it follows the reader's theme without the server."""

import itertools
import json
from collections.abc import Sequence
from typing import Any

import altair as alt

from ui.colours import MASKED, Hue, Ramp, contrast

DARK = "dark"
"""Whether the reader's theme is dark, as an expression; `specifications.without_data` gives every chart the parameter.

Asked once a chart: a luminance takes as long as all else that is worked out for a cell."""


def expression(text: str) -> alt.ExprRef:
    """A Vega expression as a value that Altair accepts.

    Parameters
    ----------
    text : str
        Never made from a reader's words.

    Returns
    -------
    altair.ExprRef
        To be used where a constant could stand.

    Examples
    --------
    >>> expression("1 + 1").to_dict()
    {'expr': '1 + 1'}
    """
    return alt.ExprRef(text)


def entries(parts: Sequence[tuple[str, str]]) -> str:
    """What the mouse is told of a mark, as an expression.

    Vega-Lite's own asks of every part of every mark whether it is there and whether it is a list.

    Parameters
    ----------
    parts : sequence of (str, str)
        Our own name of each part, all different, with the expression of its value.

    Returns
    -------
    str
        For the tooltip of a mark.

    Examples
    --------
    >>> entries((("query", "datum.row_name"), ("A", "datum.value")))
    '{"query": datum.row_name, "A": datum.value}'
    """
    return f"{{{', '.join(f'{json.dumps(name, ensure_ascii=False)}: {value}' for name, value in parts)}}}"


def sentence(parts: Sequence[tuple[str, str]]) -> str:
    """The same for a screen reader.

    Parameters
    ----------
    parts : sequence of (str, str)
        As for `entries`.

    Returns
    -------
    str
        For the description of a mark.

    Examples
    --------
    >>> sentence((("query", "datum.row_name"), ("A", "datum.value")))
    '"query: " + datum.row_name + "; A: " + datum.value'
    """
    names = [f"{'; ' if place else ''}{name}: " for place, (name, _) in enumerate(parts)]
    return " + ".join(
        f"{json.dumps(name, ensure_ascii=False)} + {value}" for name, (_, value) in zip(names, parts, strict=True)
    )


def themed(hue: Hue) -> alt.ExprRef:
    """A colour that differs between the themes.

    Parameters
    ----------
    hue : Hue
        The colour.

    Returns
    -------
    altair.ExprRef
        Its twin for the theme on the reader's screen.

    Examples
    --------
    >>> from ui.colours import PICKED
    >>> themed(PICKED).to_dict()["expr"]
    "dark ? '#FFB938' : '#D98A00'"
    """
    return expression(f"{DARK} ? '{hue.dark}' : '{hue.light}'")


def ramp_parameters(ramp: Ramp) -> list[dict[str, Any]]:
    """The list of colours that `FILL` looks up, for the theme on the reader's screen.

    Parameters
    ----------
    ramp : Ramp
        Values to colours.

    Returns
    -------
    list of dict
        For the top level of a specification.

    Examples
    --------
    >>> from ui.colours import WEIGHTS
    >>> [parameter["name"] for parameter in ramp_parameters(WEIGHTS)]
    ['ramp']
    """
    # Chosen once a chart and not once a cell; as one expression, because a list of two hundred strings takes longer to
    # write and read than the rest of a chart.
    dark, light = ([masked, *colours.tolist()] for masked, colours in _by_theme(ramp))
    return [{"name": "ramp", "expr": f"{DARK} ? {dark} : {light}"}]


FILL = expression("ramp[datum.step + 1]")
"""Colour of a cell from its `step`; at -1 it is masked."""


def ink(ramp: Ramp) -> str:
    """Black or white, whichever stands out more from the cell: at least 4.5 : 1 on any colour.

    Parameters
    ----------
    ramp : Ramp
        Of the cells.

    Returns
    -------
    str
        An expression of `datum.step`, short because neighbouring steps have one ink.

    Examples
    --------
    >>> from ui.colours import WEIGHTS
    >>> ink(WEIGHTS).count("datum.step <")
    2
    """
    chosen = []
    for masked, colours in _by_theme(ramp):
        inks = ["#FFFFFF" if contrast("#FFFFFF", at) > contrast("#000000", at) else "#000000" for at in colours]
        first = "#FFFFFF" if contrast("#FFFFFF", masked) > contrast("#000000", masked) else "#000000"
        runs = [(-1, first), *((step, now) for step, now in enumerate(inks) if now != [first, *inks][step])]
        said = "".join(f"datum.step < {end} ? '{now}' : " for (_, now), (end, _) in itertools.pairwise(runs))
        chosen.append(f"({said}'{runs[-1][1]}')")
    return f"{DARK} ? {chosen[0]} : {chosen[1]}"


def _by_theme(ramp: Ramp) -> tuple[tuple[str, Any], tuple[str, Any]]:
    """Colour of what is masked and of every step, in the dark theme and in the light one."""
    return (MASKED.dark, ramp.dark), (MASKED.light, ramp.light)


TEXT = expression(f"{DARK} ? '#F0F3F7' : '#14181F'")
"""Text on the page itself."""


def axis_of(title: str | None, **options: Any) -> alt.Axis:
    """An axis of numbers beside curves or bars, in the type of this house.

    Parameters
    ----------
    title : str or None
        Our own words.
    **options
        For `altair.Axis`.

    Returns
    -------
    altair.Axis
        Readable in both themes.

    Examples
    --------
    >>> axis_of("d", grid=False).to_dict()["title"]
    'd'
    """
    return alt.Axis(
        title=title,
        labelColor=TEXT,
        titleColor=TEXT,
        labelFontSize=12,
        titleFontSize=12,
        titleFontWeight="normal",
        labelPadding=6,
        titlePadding=6,
        **options,
    )
