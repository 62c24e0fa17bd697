"""A move of a slider brings new data and not new charts, which the browser must build from nothing."""

import pytest

from tests.pages.reading import PAGES, change, open_page

OWN = [
    ("scaling_sweep", "keys", (5, 16)),
    ("stack", "depth", (7, 11)),
    ("cost", "tokens", (1024, 4096)),
    ("kv_cache", "t", (1, 5)),
    ("learning", "snapshot", (2, 5)),
    ("real_model", "ends", (True, False)),
]
"""Pages with a control whose moves change their pictures."""


def drawn(at):
    """Every chart as it is sent, by its name."""
    return {chart.proto.id or chart.proto.alt: chart.proto for chart in at.get("vega_lite_chart")}


@pytest.mark.parametrize(
    ("page", "control", "values"),
    [*((page, "d", (4, 5)) for page in PAGES), *OWN],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_charts_stay_and_their_data_change(page, control, values):
    before, after = values
    at = open_page(page, **{control: str(before).lower()})
    first = drawn(at)
    moved = drawn(change(at, **{control: after}))
    assert {name: proto.spec for name, proto in moved.items()} == {name: proto.spec for name, proto in first.items()}
    if (page, control, values) in OWN:
        assert any(moved[name].data.data != proto.data.data for name, proto in first.items())
