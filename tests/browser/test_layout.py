"""Layout: nothing sideways, nothing cut off, the picture on the first screen, and all of it legible in both themes."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, ViewportSize

from core.parameter_count import PRESETS, encoder_block_parameters
from tests.browser.page_object import LAPTOP, PHONE, Dashboard, background, box, contrast
from tests.browser.server import Server

pytestmark = pytest.mark.browser

VIEWPORTS = [pytest.param(LAPTOP, id="laptop"), pytest.param(PHONE, id="phone")]

LINKS: dict[str, dict[str, object]] = {
    "default": {},
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
          (right(text) > right(picture) + 1 || left(text) < left(picture) - 1))
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


@pytest.mark.parametrize("viewport", VIEWPORTS)
@pytest.mark.parametrize("link", LINKS)
def test_nothing_is_sideways_or_cut_off(
    new_tab: Callable[..., Dashboard], server: Server, viewport: ViewportSize, link: str
) -> None:
    tab = new_tab(server, viewport)
    found: dict[str, Any] = {}
    for path in tab.walk(**LINKS[link]):
        if wider := tab.page.evaluate(SIDEWAYS):
            found[f"{path}: scrolls sideways"] = wider
        if cut := tab.page.evaluate(CUT_OFF):
            found[f"{path}: cut off"] = cut
    assert found == {}


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


def test_main_picture_needs_no_scroll(tab: Dashboard) -> None:
    below = {}
    for path in tab.walk():
        for picture in first_pictures(tab, path):
            where = box(picture)
            if where["y"] < 0 or where["y"] + where["height"] > LAPTOP["height"]:
                below[path, picture.get_attribute("aria-label")] = where
    assert below == {}


def faint(tab: Dashboard) -> list[tuple[str, float]]:
    """Text of the charts with less than 4.5 : 1 to what lies behind it."""
    page = background(tab.page)
    texts = [text for chart in tab.page.get_by_test_id("stVegaLiteChart").all() for text in chart.evaluate(INK)]
    assert texts, "no text was found"
    ratios = [(text, round(contrast(ink, behind or page), 2)) for text, ink, behind in texts]
    return [(text, ratio) for text, ratio in ratios if ratio < 4.5]


@pytest.mark.parametrize(("theme", "colour"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(16, 20, 26)")])
def test_text_of_the_charts_is_legible(
    new_tab: Callable[..., Dashboard], server: Server, theme: str, colour: str
) -> None:
    tab = new_tab(server, color_scheme=theme)
    found = {path: faint(tab) for path in tab.walk()}
    assert background(tab.page) == colour
    assert {path: texts for path, texts in found.items() if texts} == {}


def test_every_tensor_of_the_block_is_named(tab: Dashboard) -> None:
    tab.open("parameter_count")
    lesson = PRESETS[0]
    rows = encoder_block_parameters(lesson.d_model, lesson.n_heads, lesson.d_ff).rows
    labels = tab.chart_named("Parameters by tensor").locator(".role-axis-label text:not([opacity='0'])")
    assert labels.all_text_contents() == [row.name for row in rows]


def test_titles_and_links_are_shown_in_full(tab: Dashboard) -> None:
    shortened = {}
    for path in tab.walk():
        titles = tab.page.locator(".role-title-text text").all_text_contents()
        links = tab.page.locator("[data-testid=stMain] [data-testid=stPageLink] p").evaluate_all(
            "links => links.filter(link => link.scrollWidth > link.clientWidth).map(link => link.textContent)"
        )
        shortened[path] = [title for title in titles if title.endswith("…")] + links
    assert {path: texts for path, texts in shortened.items() if texts} == {}
