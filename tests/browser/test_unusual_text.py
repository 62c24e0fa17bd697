"""Texts that are not like the default one: nothing leaves the screen, and words that look like markup stay words."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from core.tokens import shorten
from tests.browser.measure import CUT_OFF, SIDEWAYS
from tests.browser.page_object import LAPTOP, PHONE, Dashboard, open_tab
from tests.browser.server import Server

pytestmark = pytest.mark.browser

MARKUP = ("<script>alert(1)</script>", "a<b<c", "<s>", "&lt;", "$5$", "**x**", "![i](http://example.com/a.png)")
SCRIPTS = f"👨‍👩‍👧‍👦 🇮🇳 مرحبا क्या我喜 {'x' * 400}"

ODD: dict[str, object] = {"text": " ".join((*MARKUP, SCRIPTS)), "queries_in": "columns"}
LINKS: dict[str, dict[str, object]] = {
    "64 words": {"text": " ".join(f"word{number}" for number in range(64))},
    "markup, scripts, a long word, as wide as can be": ODD | {"d": 64, "heads": 12},
}

# What is wider than the dialog that it stands in, and no box of code, which may scroll by itself.
OUTSIDE = """dialog => {
  const {left, right} = dialog.getBoundingClientRect();
  if (dialog.scrollWidth > dialog.clientWidth || left < 0 || right > innerWidth) return ['the dialog itself'];
  return [...dialog.querySelectorAll('button, input, img, p, label, [data-testid=stCode]')]
    .filter(element => element.getClientRects().length && !element.closest('pre'))
    .filter(element => element.getBoundingClientRect().left < left || element.getBoundingClientRect().right > right)
    .map(element => element.outerHTML.slice(0, 120));
}"""


def what_does_not_fit(tab: Dashboard) -> list[Any]:
    """What scrolls sideways or is cut off and stays so: charts take a moment to follow the window."""
    for _ in range(10):
        found: list[Any] = [*tab.page.evaluate(SIDEWAYS), *tab.page.evaluate(CUT_OFF)]
        if not found:
            return []
        tab.page.wait_for_timeout(300)
    return found


@pytest.mark.parametrize("link", LINKS)
def test_unusual_text_fits_the_screen(browser: Browser, server: Server, link: str) -> None:
    found: dict[str, Any] = {}
    with open_tab(browser, server.address) as tab:
        for path in tab.walk(**LINKS[link]):
            for screen, viewport in (("laptop", LAPTOP), ("phone", PHONE)):
                tab.page.set_viewport_size(viewport)
                tab.settle()
                tab.to_top()
                if too_large := what_does_not_fit(tab):
                    found[f"{path} on a {screen}"] = too_large
            tab.page.set_viewport_size(LAPTOP)
            if link.startswith("markup"):
                shown_as_typed(tab, path)
    assert found == {}


def shown_as_typed(tab: Dashboard, path: str) -> None:
    """Nothing was made of the markup: neither dialogs nor pictures, whose asking would be heard."""
    words = tab.page.get_by_label("words analysed")
    expect(words).to_be_visible()  # the sidebar comes back from a phone's width in its own time
    listed = words.locator("bdi").all_inner_texts()
    assert listed[: len(MARKUP)] == [shorten(word, 24) for word in MARKUP], path
    if path == "query_key_value":
        assert tab.picker("query").input_value() == f"0 {MARKUP[0]}"
        labels = tab.chart("weightsᵀ: softmax").locator(".role-axis-label text").all_text_contents()
        assert set(labels) >= {f"{place} {shorten(word)}" for place, word in enumerate(MARKUP)}
    if path == "":
        assert tab.page.locator(".line b.query").inner_text() == MARKUP[0]


def test_dialogs_fit_a_phone(browser: Browser, server: Server) -> None:
    with open_tab(browser, server.address, PHONE) as tab:
        tab.open("query_key_value", **ODD, step="softmax")
        tab.agreed()
        for button, tabs in (("Share", ()), ("Take home", ("NumPy", "PyTorch", "Numbers", "Pictures"))):
            dialog = tab.open_dialog(button)
            assert dialog.evaluate(OUTSIDE) == [], button
            for name in tabs:
                dialog.get_by_role("tab", name=name).click()
                expect(dialog.get_by_role("tabpanel", name=name).get_by_role("button").first).to_be_visible()
                tab.settle()
                assert dialog.evaluate(OUTSIDE) == [], name
            tab.close_dialog()
