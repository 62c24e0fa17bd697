"""Expressions that a chart evaluates in the browser, so that it follows the reader's theme without the server."""

from typing import Any

import altair as alt

from ui.colours import MASKED, Hue, Ramp

# Vega knows the page's colour under this name; the server's own idea of the theme is one rerun late.
DARK = "luminance(background) < 0.5"


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
    "luminance(background) < 0.5 ? '#FFB938' : '#D98A00'"
    """
    return expression(f"{DARK} ? '{hue.dark}' : '{hue.light}'")


def ramp_parameters(ramp: Ramp) -> list[dict[str, Any]]:
    """The two lists of colours that `fill` looks up.

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
    ['lightRamp', 'darkRamp']
    """
    # As one expression each: a list of two hundred strings takes longer to write and read than the rest of a chart.
    colours = {"lightRamp": ramp.light.tolist(), "darkRamp": ramp.dark.tolist()}
    return [{"name": name, "expr": f"{listed}"} for name, listed in colours.items()]


_FILL = f"datum.step < 0 ? ({DARK} ? '{MASKED.dark}' : '{MASKED.light}') : ({DARK} ? darkRamp : lightRamp)[datum.step]"
FILL = expression(_FILL)
"""Colour of a cell from its `step`; below 0 it is masked."""

INK = expression(f"contrast('#FFFFFF', {_FILL}) > contrast('#000000', {_FILL}) ? '#FFFFFF' : '#000000'")
"""Black or white, whichever stands out more from the cell: at least 4.5 : 1 on any colour."""

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
