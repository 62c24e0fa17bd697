"""Presentation: every slide fits the projector and reads from the back row, and the keys of a clicker lead through."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.measure import CUT_OFF, SIDEWAYS, chart_texts, faint
from tests.browser.page_object import PROJECTOR, Dashboard, open_tab
from tests.browser.server import Server
from ui.pages import HOME, PAGES

pytestmark = pytest.mark.browser

SLIDES = [("" if page is HOME else page.name, step) for page in (HOME, *PAGES) for step in page.steps]
"""Address and step of every slide, in the order of the lesson."""

D = "d: size of each key"
FRAME = ("stSidebar", "stExpandSidebarButton", "stHeader", "stMainMenuButton", "stTopNavSection")

# Pictures on the slide, and which of them leave the window or reach under the speaker's controls.
PICTURES = """() => {
  const bar = document.querySelector('[data-testid=stBottom]')?.getBoundingClientRect();
  const floor = bar?.height ? bar.top : innerHeight;
  const found = {all: [], hidden: []};
  for (const picture of document.querySelectorAll('[data-testid=stVegaLiteChart], [data-testid=stImage] img')) {
    if (!picture.getClientRects().length) continue;
    const name = picture.getAttribute('aria-label') || picture.getAttribute('alt');
    const box = picture.getBoundingClientRect();
    found.all.push(name);
    const far = Math.max(-box.left, -box.top, box.right - innerWidth, box.bottom - floor);
    if (far > 1) found.hidden.push(`${name}: by ${far.toFixed(0)} pixels`);
  }
  return found;
}"""

SMALL = """() => [...document.querySelectorAll('p, li, .line, .quiet, .worked')]
  .filter(element => element.closest('[data-testid=stMain]') && element.getClientRects().length)
  .filter(element => element.textContent.trim() && parseFloat(getComputedStyle(element).fontSize) < 20)
  .map(element => `${getComputedStyle(element).fontSize}: ${element.textContent.slice(0, 60)}`)"""


@dataclass(slots=True)
class Slide:
    """One slide as measured, in one theme or in both; what is wrong is empty where nothing is."""

    in_address: str | None = None
    pictures: int = 0
    hidden: list[str] = field(default_factory=list)
    small: list[str] = field(default_factory=list)
    sideways: list[float] = field(default_factory=list)
    cut_off: list[str] = field(default_factory=list)
    frame: list[str] = field(default_factory=list)
    faint: list[tuple[str, float]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def measure(tab: Dashboard, slide: Slide) -> None:
    """Add what is wrong with the slide on the screen, in the theme that it has now."""
    page = tab.page
    pictures = page.evaluate(PICTURES)
    slide.in_address = tab.query().get("present")
    slide.pictures = len(pictures["all"])
    slide.hidden += pictures["hidden"]
    slide.small += page.evaluate(SMALL)
    slide.sideways += page.evaluate(SIDEWAYS)
    slide.cut_off += page.evaluate(CUT_OFF)
    slide.frame += [name for name in FRAME if any(part.is_visible() for part in page.get_by_test_id(name).all())]
    slide.frame += [name for name in ("Share", "Take home", "Present") if button(tab, name).is_visible()]
    slide.faint += faint(chart_texts(page))
    slide.said += page.get_by_test_id("stException").all_inner_texts()


def button(tab: Dashboard, name: str) -> Locator:
    return tab.page.get_by_role("button", name=name, exact=True)


@pytest.fixture(scope="module")
def slides(browser: Browser, server: Server) -> dict[tuple[str, str], Slide]:
    """The lesson from its first slide to its last, by the right arrow key, on a projector of 1280 by 720 pixels."""
    shown = {}
    themes = ["dark", "light"]
    with open_tab(browser, server.address, PROJECTOR, "dark") as tab:
        for number, (path, step) in enumerate(SLIDES):
            if number == 0:
                tab.open(path, present=1)
            else:
                tab.page.keyboard.press("ArrowRight")
            tab.turn_to(path, step)
            slide = shown[path, step] = Slide()
            measure(tab, slide)
            if path != SLIDES[number - 1][0]:
                # In both themes the first slide of each page, whose charts test_layout.py sees in both; the others in
                # the one that this leaves.
                themes.reverse()
                tab.in_theme(themes[0])
                measure(tab, slide)
        expect(tab.page.get_by_role("button", name="Next")).to_be_disabled()
    return shown


def wrong(slides: dict[tuple[str, str], Slide], what: str) -> dict[tuple[str, str], Any]:
    """Slides on which something is wrong."""
    return {name: found for name, slide in slides.items() if (found := getattr(slide, what))}


def test_right_arrow_leads_through_all_slides(slides: dict[tuple[str, str], Slide]) -> None:
    assert list(slides) == SLIDES
    assert {name: slide.in_address for name, slide in slides.items()} == dict.fromkeys(SLIDES, "1")


def test_every_slide_but_the_questions_has_a_picture(slides: dict[tuple[str, str], Slide]) -> None:
    assert [name for name, slide in slides.items() if not slide.pictures and name[1] != "guess"] == []


@pytest.mark.parametrize("what", ["hidden", "small", "sideways", "cut_off", "frame", "faint", "said"])
def test_slides(slides: dict[tuple[str, str], Slide], what: str) -> None:
    assert wrong(slides, what) == {}


def test_arrow_keys_escape_and_the_speakers_slider(browser: Browser, server: Server) -> None:
    with open_tab(browser, server.address, PROJECTOR) as tab:
        keys = tab.page.keyboard
        tab.open("query_key_value", present=1, step="score")
        expect(tab.chart("Q (5 × 4)")).to_be_visible()

        # A slider keeps its arrow keys, and what it changes is on the slide.
        tab.slider(D).press("ArrowRight")
        expect(tab.chart("Q (5 × 5)")).to_be_visible()
        tab.slider(D).press("ArrowRight")
        tab.slider(D).press("ArrowLeft")
        tab.turn_to("query_key_value", "score")
        expect(tab.chart("Q (5 × 5)")).to_be_visible()
        assert tab.query() == {"d": "5", "present": "1", "step": "score"}

        tab.slider(D).blur()
        for key, path, step in (
            ("ArrowLeft", "query_key_value", "project"),
            ("ArrowLeft", "query_key_value", "overview"),
            ("ArrowLeft", "why_attention", "guess"),
            ("ArrowRight", "query_key_value", "overview"),
        ):
            keys.press(key)
            tab.turn_to(path, step)
        expect(tab.page.get_by_test_id("stSidebar")).to_be_hidden()

        keys.press("Escape")
        expect(tab.page.get_by_test_id("stSidebar")).to_be_visible()
        expect(button(tab, "Present")).to_be_visible()
        tab.turn_to("query_key_value", "overview")
        assert tab.query() == {"d": "5"}


def test_hidden_control_is_out_of_reach(tab: Dashboard) -> None:
    tab.open("causal_mask", hide="d")
    expect(tab.page.get_by_label("Seed of the random numbers")).to_be_visible()
    reached = reached_by_tab(tab)
    assert reached >= {"Sentence", "Heads", "Seed of the random numbers"}
    assert D not in reached
    expect(tab.slider(D)).to_be_hidden()

    button(tab, "Present").click()
    tab.turn_to("causal_mask", "mask")
    assert tab.query() == {"present": "1", "hide": "d"}
    expect(tab.page.get_by_label("Seed of the random numbers")).to_be_visible()
    expect(tab.slider(D)).to_be_hidden()
    reached = reached_by_tab(tab)
    assert "Seed of the random numbers" in reached
    assert D not in reached


def reached_by_tab(tab: Dashboard) -> set[str]:
    """Labels of everything that the Tab key comes to in one round."""
    reached = set()
    for _ in range(100):
        tab.page.keyboard.press("Tab")
        label = tab.page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''")
        reached.add(label)
        if tab.page.evaluate("document.activeElement === document.body"):
            return reached
    raise AssertionError("the Tab key never comes round")
