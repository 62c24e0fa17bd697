"""The mouse unplugged: from the first page to another reader's screen with the keys of the keyboard alone."""

import pytest
from playwright.sync_api import Locator, expect

from core.attention import self_attention
from core.examples import ATTENTION_WORDS, draw_example
from tests.browser.page_object import Dashboard, cell_values

pytestmark = pytest.mark.browser

FAR = 80
"""Presses of the Tab key after which something counts as out of reach."""


def go_to(tab: Dashboard, target: Locator, back: bool = False) -> None:
    """Press the Tab key, or Shift and Tab, until this has the focus."""
    for _ in range(FAR):
        if target.evaluate_all("found => found.some(element => element === document.activeElement)"):
            return
        tab.page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"{target} is not reached with {FAR} presses of the Tab key")


def test_a_lesson_without_a_mouse(tab: Dashboard) -> None:
    page, keys = tab.page, tab.page.keyboard
    tab.open("")

    go_to(tab, page.get_by_role("button", name="Attention", exact=True))
    keys.press("Enter")
    # A menu is one stop of the Tab key: the arrow keys lead along it.
    go_to(tab, page.get_by_role("menuitem", name="Why attention"))
    keys.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Query, key, value")).to_be_focused()
    keys.press("Enter")
    tab.arrive("query_key_value")
    tab.agreed()

    go_to(tab, tab.slider("d: size of each key"))
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(tab.chart("Q (5 × 6)")).to_be_visible()
    tab.settle()
    for picker, word in (("query", "1 bought"), ("key", "2 a")):
        go_to(tab, tab.picker(picker))
        tab.type_choice(tab.picker(picker), word)
        tab.settle()

    # The steps are one stop of the Tab key: the arrow keys lead along them, and the space bar chooses.
    go_to(tab, tab.step())
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(page.get_by_role("radio", name="score")).to_be_focused()
    keys.press("Space")
    tab.turn_to("query_key_value", "score")

    example = draw_example(ATTENTION_WORDS, 6)
    run = self_attention(example.x, example.w_q[0], example.w_k[0], example.w_v[0])
    derivation = page.get_by_role("group", name="worked arithmetic")
    go_to(tab, derivation)
    lines = [line.replace("−", "-").split("\t") for line in derivation.inner_text().splitlines()]
    products = run.q[1] * run.k[2]
    expected = [[run.q[1, i], run.k[2, i], products[i]] for i in range(6)]
    assert [line[1:] for line in lines[1:-1]] == [[f"{number:.3f}" for number in row] for row in expected]
    assert lines[-1][-1] == f"{run.attention.scores[1, 2]:.3f}"

    go_to(tab, page.get_by_role("button", name="Share", exact=True), back=True)
    keys.press("Enter")
    copy = page.get_by_role("dialog").get_by_role("button", name="Copy link")
    expect(copy).to_be_visible()
    tab.settle()
    go_to(tab, copy)
    keys.press("Space")
    expect(page.get_by_role("dialog").get_by_role("button", name="Copied")).to_be_focused()
    link_copied: str = page.evaluate("navigator.clipboard.readText()")
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    reader = tab.second()
    reader.page.goto(link_copied)
    reader.turn_to("query_key_value", "score")
    assert reader.query() == tab.query() == {"d": "6", "query": "1 bought", "key": "2 a", "step": "score"}
    assert reader.sidebar() == tab.sidebar()
    for picker in ("head", "query", "key", "feature"):
        assert reader.picker(picker).input_value() == tab.picker(picker).input_value()
    for screen in (tab, reader):
        weights = cell_values(screen.chart("weights: softmax"), "weights: softmax")
        assert weights == pytest.approx(run.attention.weights.ravel(), abs=1e-6)
