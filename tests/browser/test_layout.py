"""Layout: nothing sideways, nothing cut off, the picture on the first screen, and all of it legible in both themes."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Locator, ViewportSize, expect

from core.parameter_count import PRESETS, encoder_block_parameters
from tests.browser.measure import CUT_OFF, SIDEWAYS, chart_texts, faint
from tests.browser.page_object import LAPTOP, PHONE, Dashboard, box, open_tab
from tests.browser.server import Server

pytestmark = pytest.mark.browser

# The default sentence is looked at more closely, by `laptop` below.
LINKS: dict[str, dict[str, object]] = {
    "64 words": {"text": " ".join(f"word{number}" for number in range(64))},
    "wide": {"d": 64, "heads": 12},
    "scripts and a long word": {"text": f"👨‍👩‍👧‍👦 family 👍🏽 🇮🇳 مرحبا שלום क्या 我喜欢机器学习 {'x' * 530}"},
    "turned": {"queries_in": "columns"},
}

# Links whose words do not fit, without so much as dots.
SHORTENED = """links => links.filter(link => link.scrollWidth > link.clientWidth + 1).map(link => link.textContent)"""


# What is wider than the dialog that it stands in, and no box of code, which may scroll by itself.
OUTSIDE = """dialog => {
  const {left, right} = dialog.getBoundingClientRect();
  if (dialog.scrollWidth > dialog.clientWidth || left < 0 || right > innerWidth) return ['the dialog itself'];
  return [...dialog.querySelectorAll('button, input, img, p, label, [data-testid=stCode]')]
    .filter(element => element.getClientRects().length && !element.closest('pre'))
    .filter(element => element.getBoundingClientRect().left < left || element.getBoundingClientRect().right > right)
    .map(element => element.outerHTML.slice(0, 120));
}"""


@dataclass(frozen=True, slots=True)
class Look:
    """What is wrong with one page, as measured; empty where nothing is."""

    scrolled: float
    sideways: list[float]
    cut_off: list[str]
    below_the_fold: dict[str, float]
    shortened: list[str]
    faint: list[tuple[str, float]]
    faint_in_the_dark: list[tuple[str, float]]


def first_pictures(tab: Dashboard, path: str) -> list[Locator]:
    """What a reader comes to a page for."""
    if path == "":
        return [tab.chart_named("Lines from each word")]
    if path == "query_key_value":
        return [tab.chart("Q (5 × 4)"), tab.chart("weights: softmax")]
    if path == "scaling_sweep":
        measures = ("spread of the scores", "largest weight", "entropy (nats)", "gradient of the softmax")
        return [tab.chart(measure) for measure in measures]
    if path == "causal_mask":
        return [tab.chart("scaled scores after"), tab.chart("weights with the mask")]
    if path == "order_blindness":
        return [tab.chart_named("output without positions"), tab.chart_named("new order − moved rows, without")]
    if path == "multi_head":
        return [tab.chart("head 0 (5 × 5)").first, tab.chart("head 1 (5 × 5)")]
    if path == "encoder_block":
        return [tab.chart("X (5 × 8)"), tab.chart("sum 2 (5 × 8)")]
    return [tab.chart_named("Parameters by tensor")]


def look(tab: Dashboard, path: str) -> Look:
    """Measure one page."""
    scrolled = tab.to_top()
    bottoms = {}
    for picture in first_pictures(tab, path):
        where = box(picture)
        bottoms[picture.get_attribute("aria-label") or ""] = where["y"] + where["height"]
    titles = tab.page.locator(".role-title-text text").all_text_contents()
    links = tab.page.locator("[data-testid=stMain] [data-testid=stPageLink] p")
    return Look(
        scrolled,
        tab.page.evaluate(SIDEWAYS),
        tab.page.evaluate(CUT_OFF),
        {name: bottom for name, bottom in bottoms.items() if bottom > LAPTOP["height"]},
        [title for title in titles if title.endswith("…")] + links.evaluate_all(SHORTENED),
        *(faint_in(tab, theme) for theme in ("light", "dark")),
    )


def faint_in(tab: Dashboard, theme: Literal["light", "dark"]) -> list[tuple[str, float]]:
    """Text of the charts that is hard to read in a theme."""
    tab.in_theme(theme)
    texts = chart_texts(tab.page)
    assert texts, "no text was found"
    return faint(texts)


def looks(browser: Browser, server: Server, viewport: ViewportSize) -> dict[str, Look]:
    """All pages with the default sentence, measured in one walk."""
    with open_tab(browser, server.address, viewport) as tab:
        return {path: look(tab, path) for path in tab.walk()}


@pytest.fixture(scope="module")
def laptop(browser: Browser, server: Server) -> dict[str, Look]:
    return looks(browser, server, LAPTOP)


@pytest.fixture(scope="module")
def phone(browser: Browser, server: Server) -> dict[str, Look]:
    return looks(browser, server, PHONE)


def wrong(pages: dict[str, Look], what: str) -> dict[str, Any]:
    """Pages on which something is wrong."""
    return {path: found for path, page in pages.items() if (found := getattr(page, what))}


@pytest.mark.parametrize("screen", ["laptop", "phone"])
@pytest.mark.parametrize("what", ["sideways", "cut_off"])
def test_default_sentence_fits_the_screen(request: pytest.FixtureRequest, screen: str, what: str) -> None:
    assert wrong(request.getfixturevalue(screen), what) == {}


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
    assert found == {}


def test_dialogs_fit_a_phone(browser: Browser, server: Server) -> None:
    with open_tab(browser, server.address, PHONE) as tab:
        tab.open("query_key_value", **LINKS["scripts and a long word"], step="softmax")
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


def test_main_picture_is_on_the_first_screen(laptop: dict[str, Look]) -> None:
    assert wrong(laptop, "below_the_fold") == {}


def test_next_page_starts_at_its_top(laptop: dict[str, Look]) -> None:
    assert wrong(laptop, "scrolled") == {}


def test_titles_and_links_are_shown_in_full(laptop: dict[str, Look]) -> None:
    assert wrong(laptop, "shortened") == {}


@pytest.mark.parametrize("theme", ["faint", "faint_in_the_dark"])
def test_text_of_the_charts_is_legible(laptop: dict[str, Look], theme: str) -> None:
    assert wrong(laptop, theme) == {}


def test_every_tensor_of_the_block_is_named(tab: Dashboard) -> None:
    tab.open("parameter_count")
    lesson = PRESETS[0]
    rows = encoder_block_parameters(lesson.d_model, lesson.n_heads, lesson.d_ff).rows
    labels = tab.chart_named("Parameters by tensor").locator(".role-axis-label text:not([opacity='0'])")
    assert labels.all_text_contents() == [row.name for row in rows]
