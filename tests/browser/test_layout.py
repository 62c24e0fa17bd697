"""Layout: nothing sideways, nothing cut off, the picture on the first screen, and all of it legible in both themes."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Locator, ViewportSize

from core.parameter_count import PRESETS, encoder_block_parameters
from tests.browser.page_object import LAPTOP, PHONE, Dashboard, background, box, contrast, open_tab
from tests.browser.server import Server

pytestmark = pytest.mark.browser

# The default sentence is looked at more closely, by `laptop` below.
LINKS: dict[str, dict[str, object]] = {
    "64 words": {"text": " ".join(f"word{number}" for number in range(64))},
    "one long word": {"text": "x" * 600},
    "wide": {"d": 64, "heads": 12},
    "scripts": {"text": "👨‍👩‍👧‍👦 family 👍🏽 🇮🇳 مرحبا שלום क्या 我喜欢机器学习"},
}

SIDEWAYS = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
  .filter(element => element.scrollWidth > element.clientWidth).map(element => element.scrollWidth)"""

# Pictures that leave their box or the window, and text that a picture cuts off.
CUT_OFF = """() => {
  const right = element => element.getBoundingClientRect().right;
  const left = element => element.getBoundingClientRect().left;
  const cut = [];
  for (const picture of document.querySelectorAll('[data-testid=stVegaLiteChart] .marks, [data-testid=stImage] img')) {
    const frame = picture.closest('[data-testid=stVegaLiteChart], [data-testid=stImage]');
    const name = frame.getAttribute('aria-label') || picture.getAttribute('alt');
    if (right(picture) > Math.min(right(frame), innerWidth) + 1) cut.push(name);
    if (right(frame) > innerWidth + 1) cut.push(name);
    for (const text of picture.querySelectorAll('text'))
      if (text.getAttribute('opacity') !== '0' && text.textContent &&
          (right(text) > right(picture) + 2 || left(text) < left(picture) - 2))
        cut.push(`${name}: ${text.textContent}`);
  }
  return cut;
}"""

# Every number in a cell with the colour of the cell that lies behind its middle; of text elsewhere its own colour.
INK = """chart => {
  const inside = (x, y, box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
  const cells = [...chart.querySelectorAll('g.mark-rect path')].filter(cell => getComputedStyle(cell).fill !== 'none'
    && cell.getAttribute('opacity') !== '0').map(cell => [cell.getBoundingClientRect(), getComputedStyle(cell).fill]);
  return [...chart.querySelectorAll('text')]
    .filter(text => text.textContent && text.getAttribute('opacity') !== '0')
    .map(text => {
      const box = text.getBoundingClientRect();
      const behind = cells.find(([cell]) => inside((box.left + box.right) / 2, (box.top + box.bottom) / 2, cell));
      return [text.textContent, getComputedStyle(text).fill, behind ? behind[1] : null];
    });
}"""


# Links whose words do not fit, without so much as dots.
SHORTENED = """links => links.filter(link => link.scrollWidth > link.clientWidth + 1).map(link => link.textContent)"""


@dataclass(frozen=True, slots=True)
class Look:
    """What is wrong with one page, as measured; empty where nothing is."""

    scrolled: float
    sideways: list[float]
    cut_off: list[str]
    below_the_fold: dict[str, float]
    shortened: list[str]
    faint: list[tuple[str, float]]
    background: str


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
    return [tab.chart_named("Parameters by tensor")]


def faint_texts(tab: Dashboard) -> list[tuple[str, float]]:
    """Text of the charts with less than 4.5 : 1 to what lies behind it."""
    page = background(tab.page)
    texts = [text for chart in tab.page.get_by_test_id("stVegaLiteChart").all() for text in chart.evaluate(INK)]
    assert texts, "no text was found"
    ratios = [(text, round(contrast(ink, behind or page), 2)) for text, ink, behind in texts]
    return [(text, ratio) for text, ratio in ratios if ratio < 4.5]


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
        faint_texts(tab),
        background(tab.page),
    )


def looks(browser: Browser, server: Server, viewport: ViewportSize, theme: Literal["light", "dark"]) -> dict[str, Look]:
    """All pages with the default sentence, measured in one walk."""
    with open_tab(browser, server.address, viewport, theme) as tab:
        return {path: look(tab, path) for path in tab.walk()}


@pytest.fixture(scope="module")
def laptop(browser: Browser, server: Server) -> dict[str, Look]:
    return looks(browser, server, LAPTOP, "light")


@pytest.fixture(scope="module")
def phone(browser: Browser, server: Server) -> dict[str, Look]:
    return looks(browser, server, PHONE, "light")


@pytest.fixture(scope="module")
def dark(browser: Browser, server: Server) -> dict[str, Look]:
    return looks(browser, server, LAPTOP, "dark")


def wrong(pages: dict[str, Look], what: str) -> dict[str, Any]:
    """Pages on which something is wrong."""
    return {path: found for path, page in pages.items() if (found := getattr(page, what))}


@pytest.mark.parametrize("screen", ["laptop", "phone"])
@pytest.mark.parametrize("what", ["sideways", "cut_off"])
def test_default_sentence_fits_the_screen(request: pytest.FixtureRequest, screen: str, what: str) -> None:
    assert wrong(request.getfixturevalue(screen), what) == {}


@pytest.mark.parametrize("viewport", [pytest.param(LAPTOP, id="laptop"), pytest.param(PHONE, id="phone")])
@pytest.mark.parametrize("link", LINKS)
def test_unusual_text_fits_the_screen(browser: Browser, server: Server, viewport: ViewportSize, link: str) -> None:
    found: dict[str, Any] = {}
    with open_tab(browser, server.address, viewport) as tab:
        for path in tab.walk(**LINKS[link]):
            tab.to_top()
            if wider := tab.page.evaluate(SIDEWAYS):
                found[f"{path}: scrolls sideways"] = wider
            if cut := tab.page.evaluate(CUT_OFF):
                found[f"{path}: cut off"] = cut
    assert found == {}


def test_main_picture_is_on_the_first_screen(laptop: dict[str, Look]) -> None:
    assert wrong(laptop, "below_the_fold") == {}


def test_next_page_starts_at_its_top(laptop: dict[str, Look], dark: dict[str, Look]) -> None:
    assert [wrong(laptop, "scrolled"), wrong(dark, "scrolled")] == [{}, {}]


def test_titles_and_links_are_shown_in_full(laptop: dict[str, Look]) -> None:
    assert wrong(laptop, "shortened") == {}


@pytest.mark.parametrize("theme", ["laptop", "dark"])
def test_text_of_the_charts_is_legible(request: pytest.FixtureRequest, theme: str) -> None:
    assert wrong(request.getfixturevalue(theme), "faint") == {}


def test_themes_differ(laptop: dict[str, Look], dark: dict[str, Look]) -> None:
    assert {page.background for page in laptop.values()} == {"rgb(255, 255, 255)"}
    assert {page.background for page in dark.values()} == {"rgb(16, 20, 26)"}


def test_every_tensor_of_the_block_is_named(tab: Dashboard) -> None:
    tab.open("parameter_count")
    lesson = PRESETS[0]
    rows = encoder_block_parameters(lesson.d_model, lesson.n_heads, lesson.d_ff).rows
    labels = tab.chart_named("Parameters by tensor").locator(".role-axis-label text:not([opacity='0'])")
    assert labels.all_text_contents() == [row.name for row in rows]
