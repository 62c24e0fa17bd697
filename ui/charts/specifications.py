"""From Altair's charts to dictionaries that are sent with a table."""

from collections.abc import Sequence
from typing import Any

import altair as alt

Spec = dict[str, Any]


def without_data(spec: Spec, parameters: Sequence[dict[str, Any]] = ()) -> Spec:
    """A specification ready to be sent with a table: no data of its own, some parameters more.

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
    >>> without_data({"data": {"name": "empty"}, "layer": [{"data": {"name": "empty"}, "mark": "rect"}]})
    {'layer': [{'mark': 'rect'}]}
    """

    def strip(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: strip(value) for key, value in node.items() if key not in ("data", "datasets")}
        return [strip(item) for item in node] if isinstance(node, list) else node

    stripped: Spec = strip(spec)
    if parameters:
        stripped["params"] = [*stripped.get("params", []), *parameters]
    return stripped


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
    spec = without_data(chart.configure_view(stroke=None).to_dict(), parameters)
    # Streamlit would fit the height as well, labels included.
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec
