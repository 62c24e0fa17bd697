"""Common mistakes in a browser: one tab goes through the links, and sees each symptom beside its fix."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from core.common_mistakes import MISTAKES, make
from tests.browser.page_object import Dashboard, as_shown, cell_texts, open_tab
from tests.browser.server import Server
from ui.mistakes import amount

pytestmark = pytest.mark.browser

WORDS = ("the", "cat", "saw", "the", "dog")
LINK = {"text": " ".join(WORDS), "d": 3, "heads": 2, "seed": 11, "head": "1", "query": "2 saw"}


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server) -> Iterator[Dashboard]:
    """One tab for all of them."""
    with open_tab(browser, server.address) as tab:
        yield tab


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_link_shows_the_symptom_and_the_switch_the_fix(shared: Dashboard, mistake: str) -> None:
    shared.open("common_mistakes", **LINK, mistake=mistake)
    found = make(mistake, WORDS, 3, 2, 11, 1, 2)  # type: ignore[arg-type]
    verdict = shared.page.locator("p.line[role=status]", has_text="(right: ")
    expect(verdict).to_contain_text(f"{amount(found.test.wrong)} (right: {amount(found.test.right)})")
    expect(verdict).to_contain_text("The test finds it.")
    expect(shared.page.locator("p.code.wrong")).to_have_count(1)
    if mistake != "quadratic cost":
        sides = (("as it runs", found.wrong), ("done right", found.right))
        for name, side in sides:
            texts = cell_texts(shared.chart_named(f"{name}, {mistake}"))
            assert texts[: side.values.size] != []
            assert set(texts) >= {as_shown(value) for value in side.values.ravel().tolist()}

    shared.page.get_by_text("Make it", exact=True).click()
    expect(verdict).to_contain_text("The test finds nothing.")
    expect(shared.page.locator("p.code.wrong")).to_have_count(0)
    shared.settle()
    assert shared.query()["made"] == "false"
    if mistake != "quadratic cost":
        left, right = (cell_texts(shared.chart_named(f"{name}, {mistake}")) for name in ("as it runs", "done right"))
        assert left == right
