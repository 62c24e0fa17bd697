"""Accessibility of what the walk of test_layout.py does not meet: states of a page, the focus, what moves."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.measure import at_once, inaccessible
from tests.browser.page_object import LAPTOP, PHONE, Dashboard, open_tab
from tests.browser.server import Server

pytestmark = pytest.mark.browser

# What has the focus; whether it can be seen, and whether it or the box that it stands in is set apart by a line.
FOCUSED = """() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  const lined = each => {
    const {outlineStyle: style, outlineWidth: width} = getComputedStyle(each);
    return style === 'auto' || (style !== 'none' && parseFloat(width) >= 2);
  };
  const around = [element];
  while (around.length < 5 && around.at(-1).parentElement) around.push(around.at(-1).parentElement);
  const shown = element.matches('input') ? element.parentElement : element;  // a slider's own input is never seen
  const box = shown.getBoundingClientRect();
  return {
    name: (element.getAttribute('aria-label') || element.innerText || element.tagName).trim().split('\\n').at(-1),
    seen: shown.checkVisibility({opacityProperty: true, visibilityProperty: true})
      && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight,
    lined: around.some(lined),
  };
}"""

MOVING = """() => [...document.querySelectorAll('*')].flatMap(element => ['', '::before', '::after'].map(part => {
  const style = getComputedStyle(element, part);
  const longest = durations => Math.max(...durations.split(',').map(parseFloat));
  return [element.tagName + part, longest(style.transitionDuration), longest(style.animationDuration)];
})).filter(([_, transition, animation]) => transition > 0.001 || animation > 0.001)"""


@dataclass(frozen=True, slots=True)
class State:
    """A page in a state that it does not have at first."""

    path: str
    do: Callable[[Page], None] | None = None
    """What a reader does."""
    seen: str = "[data-testid=stMain]"
    """CSS selector of what can then be seen."""
    link: dict[str, object] = field(default_factory=dict)
    viewport: ViewportSize = field(default_factory=lambda: LAPTOP)


def _press(text: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_text(text).first.click()


def _press_id(test_id: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_test_id(test_id).first.click()


def _type_sentence(text: str) -> Callable[[Page], None]:
    def do(page: Page) -> None:
        page.get_by_label("Sentence", exact=True).fill(text)
        page.keyboard.press("Enter")

    return do


STATES = {
    "numbers open": State("query_key_value", _press("The numbers behind every picture"), "[data-testid=stDataFrame]"),
    "comparison open": State(
        "query_key_value", lambda page: page.locator(".agree summary", has_text="✓").click(), ".agree[open]"
    ),
    "navigation open": State("", _press_id("stTopNavSection"), "[data-testid=stTopNavDropdownLink]"),
    "menu open": State("", _press_id("stMainMenuButton"), "[data-testid=stMainMenuList]"),
    "sidebar on a phone": State("", _press_id("stExpandSidebarButton"), "[data-testid=stSidebarNav]", viewport=PHONE),
    "list open": State("", lambda page: page.get_by_role("combobox", name="query").click(), "[role=listbox]"),
    "help shown": State("", lambda page: page.get_by_label("Help for Sentence").hover(), "[role=tooltip]"),
    "sharing": State("query_key_value", _press("Share"), "[role=dialog] .copy"),
    "taking home": State("query_key_value", _press("Take home"), "[role=dialog] [data-testid=stCode]"),
    "presentation": State("query_key_value", link={"present": 1}),
    "notice": State("causal_mask", seen=".notice", link={"d": 999, "query": "x"}),
    "no words": State("order_blindness", _type_sentence(""), "[data-testid=stAlert]"),
    "pictures": State("query_key_value", seen="[data-testid=stImage]", link={"text": "w " * 64, "d": 64}),
}


IN_THE_DARK = ("menu open", "list open", "help shown", "sharing", "taking home", "presentation", "notice")
"""States whose colours are not those that the walk through the pages has met."""


@pytest.mark.parametrize("name", STATES)
def test_states(browser: Browser, server: Server, name: str) -> None:
    state = STATES[name]
    with open_tab(browser, server.address, state.viewport) as tab:
        at_once(tab.page)
        tab.open(state.path, **state.link)
        if state.do is not None:
            state.do(tab.page)
        expect(tab.page.locator(state.seen).first).to_be_visible()
        tab.settle()
        assert inaccessible(tab.page) == []
        if name in IN_THE_DARK:
            tab.in_theme("dark")
            expect(tab.page.locator(state.seen).first).to_be_visible()
            assert inaccessible(tab.page) == []


def tab_stops(tab: Dashboard) -> Iterator[dict[str, Any]]:
    """Everything that the Tab key comes to, from the top of the page to its end."""
    for _ in range(200):
        tab.page.keyboard.press("Tab")
        focused: dict[str, Any] | None = tab.page.evaluate(FOCUSED)
        if focused is None:
            return
        yield focused
    raise AssertionError("the Tab key never comes to an end")


@pytest.mark.parametrize("viewport", [pytest.param(LAPTOP, id="laptop"), pytest.param(PHONE, id="phone")])
@pytest.mark.parametrize("path", ["query_key_value", "scaling_sweep"])
def test_tab_key_only_stops_where_it_is_seen(
    browser: Browser, server: Server, path: str, viewport: ViewportSize
) -> None:
    with open_tab(browser, server.address, viewport) as tab:
        tab.open(path)
        stops = list(tab_stops(tab))
    assert stops[0]["name"] == "Skip to main content"
    assert [stop["name"] for stop in stops if not stop["seen"]] == []
    assert [stop["name"] for stop in stops if not stop["lined"]] == []
    if viewport is LAPTOP:  # on a phone the sidebar is folded away at first
        names = {stop["name"] for stop in stops}
        assert names >= {"Sentence", "d: size of each key", "Heads", "Seed of the random numbers"}
        assert names >= {"Attention", "Transformer", "The numbers behind every picture"}


def test_nothing_moves_for_who_asks_for_that(tab: Dashboard) -> None:
    tab.page.emulate_media(reduced_motion="reduce")
    tab.open("scaling_sweep")
    assert tab.page.evaluate(MOVING) == []


def test_colours_change_at_once_for_who_asks_that_nothing_moves(tab: Dashboard) -> None:
    """A transition of what is inherited, and be it short, would begin in each element when its parent's has ended."""
    tab.page.emulate_media(reduced_motion="reduce")
    tab.open("query_key_value")
    tab.open_dialog("Share")
    first, then = tab.page.evaluate("""async () => {
      const texts = [...document.querySelectorAll('[role=dialog] p')];
      const colours = () => texts.map(text => getComputedStyle(text).color);
      document.body.style.color = 'rgb(1, 2, 3)';
      const first = colours();
      for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame);
      return [first, colours()];
    }""")
    assert "rgb(1, 2, 3)" in then
    assert first == then
