"""A move of a slider brings new data and not new charts, which the browser must build from nothing."""

import pytest

from tests.pages.reading import PAGES, change, open_page

OWN = {
    "scaling_sweep": {"keys": (5, 16)},
    "stack": {"depth": (7, 11)},
    "cost": {"tokens": (1024, 4096)},
    "kv_cache": {"t": (1, 5)},
    "learning": {"snapshot": (2, 5)},
    "real_model": {"ends": (True, False)},
}
"""Controls of a page whose moves change its pictures."""

MOVES = [(page, "d", (4, 5)) for page in PAGES]
MOVES += [(page, control, values) for page, controls in OWN.items() for control, values in controls.items()]


@pytest.mark.parametrize(("page", "control", "values"), MOVES, ids=lambda part: part if isinstance(part, str) else "")
def test_charts_stay_and_their_data_change(page, control, values):
    before, after = values
    at = open_page(page, **{control: str(before).lower()})
    drawn = {chart.proto.id or chart.proto.alt: chart.proto for chart in at.get("vega_lite_chart")}
    specifications = {name: proto.spec for name, proto in drawn.items()}
    data = {name: proto.data.data for name, proto in drawn.items()}
    change(at, **{control: after})
    moved = {chart.proto.id or chart.proto.alt: chart.proto for chart in at.get("vega_lite_chart")}
    assert {name: proto.spec for name, proto in moved.items()} == specifications
    if page in OWN and control in OWN[page]:
        assert {name: proto.data.data for name, proto in moved.items()} != data
