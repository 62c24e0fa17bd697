"""Every page as it first looks: nothing sideways or cut off, the picture on the first screen, legible, accessible."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Locator, ViewportSize

from core.parameter_count import PRESETS, encoder_block_parameters
from tests.browser.measure import CUT_OFF, SIDEWAYS, at_once, chart_texts, faint, inaccessible
from tests.browser.page_object import LAPTOP, PHONE, Dashboard, box, open_tab
from tests.browser.server import Server

pytestmark = pytest.mark.browser

Theme = Literal["light", "dark"]

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
    inaccessible: list[str]


def first_pictures(tab: Dashboard, path: str) -> list[Locator]:
    """What a reader comes to a page for."""
    if path == "":
        return [tab.chart_named("Lines from each word")]
    if path == "why_attention":
        return [tab.chart_named("What each of 5 words"), tab.chart_named("What the first word still moves")]
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
    if path == "stack":
        return [tab.chart_named("how alike the words are"), tab.chart_named("gradient of the last w_2")]
    if path == "three_shapes":
        return [tab.chart("decoder: may attend = 1"), tab.chart("cross: may attend = 1")]
    if path == "encoder_block":
        return [tab.chart("X (5 × 8)"), tab.chart("sum 2 (5 × 8)")]
    if path == "kv_cache":
        return [tab.chart_named("Step 3 without a cache"), tab.chart_named("Step 3 with a cache")]
    if path == "learning":
        return [tab.chart_named("weights at step 300"), tab.chart_named("Loss over 300 steps")]
    if path == "cost":
        return [tab.chart_named("Work of each part of a block")]
    if path == "real_model":
        return [tab.chart_named("Weights of 6 × 12 heads"), tab.chart("layer 3, head 1 (7 × 7)")]
    if path == "practice":
        return [tab.chart("weights (4 × 4)"), tab.page.get_by_role("button", name="Check", exact=True)]
    if path == "common_mistakes":
        return [tab.chart("as it runs (5 × 5)"), tab.chart("done right (5 × 5)")]
    return [tab.chart_named("Parameters by tensor")]


def look(tab: Dashboard, path: str, colours: bool) -> Look:
    """Measure one page; with or without axe-core's colours."""
    scrolled = tab.to_top()
    bottoms = {}
    for picture in first_pictures(tab, path):
        where = box(picture)
        bottoms[picture.get_attribute("aria-label") or ""] = where["y"] + where["height"]
    titles = tab.page.locator(".role-title-text text").all_text_contents()
    links = tab.page.locator("[data-testid=stMain] [data-testid=stPageLink] p")
    texts = chart_texts(tab.page)
    assert texts, "no text was found"
    return Look(
        scrolled,
        tab.page.evaluate(SIDEWAYS),
        tab.page.evaluate(CUT_OFF),
        {name: bottom for name, bottom in bottoms.items() if bottom > LAPTOP["height"]},
        [title for title in titles if title.endswith("…")] + links.evaluate_all(SHORTENED),
        faint(texts),
        inaccessible(tab.page, colours),
    )


def looks(browser: Browser, server: Server, viewport: ViewportSize, theme: Theme) -> dict[str, Look]:
    """All pages with the default sentence, measured in one walk."""
    with open_tab(browser, server.address, viewport, theme) as tab:
        at_once(tab.page)
        # A phone has the colours of a laptop.
        return {path: look(tab, path, viewport is not PHONE) for path in tab.walk()}


@pytest.fixture(scope="module")
def laptop(browser: Browser, server: Server) -> dict[str, Look]:
    return looks(browser, server, LAPTOP, "light")


@pytest.fixture(scope="module")
def laptop_in_the_dark(browser: Browser, server: Server) -> dict[str, Look]:
    return looks(browser, server, LAPTOP, "dark")


@pytest.fixture(scope="module")
def phone(browser: Browser, server: Server) -> dict[str, Look]:
    return looks(browser, server, PHONE, "light")


def wrong(pages: dict[str, Look], what: str) -> dict[str, Any]:
    """Pages on which something is wrong."""
    return {path: found for path, page in pages.items() if (found := getattr(page, what))}


@pytest.mark.parametrize("screen", ["laptop", "phone"])
@pytest.mark.parametrize("what", ["sideways", "cut_off"])
def test_default_sentence_fits_the_screen(request: pytest.FixtureRequest, screen: str, what: str) -> None:
    assert wrong(request.getfixturevalue(screen), what) == {}


def test_main_picture_is_on_the_first_screen(laptop: dict[str, Look]) -> None:
    assert wrong(laptop, "below_the_fold") == {}


def test_next_page_starts_at_its_top(laptop: dict[str, Look]) -> None:
    assert wrong(laptop, "scrolled") == {}


def test_titles_and_links_are_shown_in_full(laptop: dict[str, Look]) -> None:
    assert wrong(laptop, "shortened") == {}


@pytest.mark.parametrize("screen", ["laptop", "laptop_in_the_dark", "phone"])
@pytest.mark.parametrize("what", ["faint", "inaccessible"])
def test_everybody_can_read_it(request: pytest.FixtureRequest, screen: str, what: str) -> None:
    assert wrong(request.getfixturevalue(screen), what) == {}


def test_every_tensor_of_the_block_is_named(tab: Dashboard) -> None:
    tab.open("parameter_count")
    lesson = PRESETS[0]
    rows = encoder_block_parameters(lesson.d_model, lesson.n_heads, lesson.d_ff).rows
    labels = tab.chart_named("Parameters by tensor").locator(".role-axis-label text:not([opacity='0'])")
    assert labels.all_text_contents() == [row.name for row in rows]
