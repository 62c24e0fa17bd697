"""A measurement on the machine at hand, from the button to its result, and one that is stopped."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.page_object import Dashboard

pytestmark = pytest.mark.browser


def test_a_reader_measures_sees_progress_and_the_result_and_stops_another(tab: Dashboard) -> None:
    tab.open("cost", seconds=10)
    buttons = {
        name: tab.page.get_by_role("button", name=name, exact=True)
        for name in ("Measure", "Measure again", "Stop measuring")
    }
    buttons["Measure"].click()
    expect(buttons["Stop measuring"]).to_be_visible()
    progress = tab.page.get_by_test_id("stProgress")
    expect(progress).to_contain_text(re.compile(r"\d+ of 14 measured; last: n = "), timeout=60_000)
    expect(tab.chart_named("Measured time of one call")).to_be_visible()
    expect(buttons["Measure again"]).to_be_visible(timeout=60_000)
    expect(progress).to_have_count(0)
    exponents = tab.page.locator(".worked").filter(has_text="time grows as")
    for method in ("plain formula", "fused function"):
        row = exponents.locator("tr").filter(has_text=method)
        assert 1 < float(row.locator("sup").inner_text()) < 4
    expect(tab.chart_named("Measured memory of one call")).to_be_visible()
    buttons["Measure again"].click()
    buttons["Stop measuring"].click()
    expect(tab.page.get_by_text("Stopped: what was measured until then is kept.")).to_be_visible()
    expect(buttons["Measure"]).to_be_visible()
