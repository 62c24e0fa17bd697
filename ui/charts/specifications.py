"""From Altair's charts to dictionaries that are sent with a table."""

from collections.abc import Sequence
from typing import Any

import altair as alt
from altair.utils import schemapi

Spec = dict[str, Any]

# Vega knows the page's colour under this name; the server's own idea of the theme is one rerun late.
_THEME = {"name": "dark", "expr": "luminance(background) < 0.5"}


FIRST_ROW = "data('source')[0]"
"""Of a chart's table, in Vega's language."""


def as_dictionary(chart: alt.TopLevelMixin) -> Spec:
    """A chart as a Vega-Lite specification, checked against its schema unless Altair's debug mode is off.

    Parameters
    ----------
    chart : altair.Chart
        Of any kind.

    Returns
    -------
    dict
        With Altair's own empty data.

    Examples
    --------
    >>> as_dictionary(alt.Chart().mark_bar())["mark"]
    {'type': 'bar'}
    """
    spec: Spec = chart.to_dict(validate=schemapi.DEBUG_MODE)
    return spec


def fixed(**values: Any) -> dict[str, Any]:
    """Channels that are the same for all marks; Altair goes through all of its classes to see what an `alt.value` is.

    Parameters
    ----------
    **values : float, str or altair.ExprRef
        By the name of the channel.

    Returns
    -------
    dict
        For ``encode``.

    Examples
    --------
    >>> alt.Chart().mark_rect().encode(**fixed(x=0, x2="width")).to_dict()["encoding"]
    {'x': {'value': 0}, 'x2': {'value': 'width'}}
    """
    return {name: getattr(alt, f"{name[0].upper()}{name[1:]}Value")(value) for name, value in values.items()}


def configured(spec: Spec, **more: Any) -> Spec:
    """A specification without the frame that Vega-Lite draws around every chart.

    Every method of Altair that changes a chart copies all of it and, where it is in layers, puts it together anew;
    that is half of the time which a chart takes when a process shows it first.

    Parameters
    ----------
    spec : dict
        From `as_dictionary`; it is changed.
    **more : dict
        Other parts of the configuration.

    Returns
    -------
    dict
        The same dictionary.

    Examples
    --------
    >>> configured({}, scale={"bandPaddingOuter": 0})
    {'config': {'view': {'stroke': None}, 'scale': {'bandPaddingOuter': 0}}}
    """
    configuration = spec.setdefault("config", {})
    configuration.setdefault("view", {})["stroke"] = None
    configuration.update(more)
    return spec


def without_data(spec: Spec, parameters: Sequence[dict[str, Any]] = ()) -> Spec:
    """A specification ready to be sent with a table: no data of its own, some parameters more, that of the theme first.

    Parameters
    ----------
    spec : dict
        From Altair's ``to_dict``.
    parameters : sequence of dict
        For the top level.

    Returns
    -------
    dict
        Another dictionary.

    Examples
    --------
    >>> without_data({"data": {"name": "empty"}, "layer": [{"data": {"name": "empty"}, "mark": "rect"}]})["layer"]
    [{'mark': 'rect'}]
    """

    def strip(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: strip(value) for key, value in node.items() if key not in ("data", "datasets")}
        return [strip(item) for item in node] if isinstance(node, list) else node

    stripped: Spec = strip(spec)
    own = [parameter for parameter in stripped.get("params", []) if parameter != _THEME]
    stripped["params"] = [_THEME, *own, *parameters]
    return stripped


def of_first_row(expression: str, before: str) -> str:
    """What the table says in its first row of the chart as a whole.

    Parameters
    ----------
    expression : str
        In Vega's language, about `FIRST_ROW`.
    before : str
        What holds until then: the chart is made before its first data arrive.

    Returns
    -------
    str
        For a parameter.

    Examples
    --------
    >>> of_first_row(f"{FIRST_ROW}.top", "1")
    "length(data('source')) ? data('source')[0].top : 1"
    """
    return f"length(data('source')) ? {expression} : {before}"


def enlarged(spec: Spec, type_size: float, height: float) -> Spec:
    """The same chart with larger type and more height, for a lecture hall.

    Parameters
    ----------
    spec : dict
        Not changed.
    type_size, height : float
        Factors on every size of type that is a plain number, and on the chart's own height.

    Returns
    -------
    dict
        Another dictionary.

    Examples
    --------
    >>> enlarged({"height": 100, "layer": [{"mark": {"type": "text", "fontSize": 10}}]}, 1.5, 2.0)
    {'height': 200.0, 'layer': [{'mark': {'type': 'text', 'fontSize': 15.0}}]}
    """

    def grow(node: Any, key: str = "") -> Any:
        if isinstance(node, dict):
            return {name: grow(value, name) for name, value in node.items()}
        if isinstance(node, list):
            return [grow(item) for item in node]
        is_size = key.lower().endswith("fontsize") or key in ("labelLimit", "legendOffset")
        return node * type_size if is_size and isinstance(node, (int, float)) else node

    larger: Spec = grow(spec)
    if isinstance(larger.get("height"), (int, float)):
        larger["height"] *= height
    return larger


def stretching(chart: alt.LayerChart | alt.FacetChart, parameters: Sequence[dict[str, Any]] = ()) -> Spec:
    """A chart that fills the width of its container, ready to be sent with a table.

    Parameters
    ----------
    chart : altair.LayerChart
        Its width is "container", its height a number of pixels.
    parameters : sequence of dict
        For the top level.

    Returns
    -------
    dict
        A Vega-Lite specification without data.

    Examples
    --------
    >>> stretching(alt.layer(alt.Chart().mark_bar()))["autosize"]["type"]
    'fit-x'
    """
    spec = without_data(configured(as_dictionary(chart)), parameters)
    # Streamlit would fit the height as well, labels included.
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec
