"""Links: each restores what the reader set, on the first visit too, and the Back button leads back."""

import re

import pytest
from playwright.sync_api import expect

from core.attention import self_attention
from core.examples import draw_example
from core.masks import causal_mask
from tests.browser.page_object import TITLES, Dashboard, as_shown

pytestmark = pytest.mark.browser

LINK = {"text": "the cat saw the dog", "d": "16", "heads": "3", "seed": "7"}


def test_first_visit_by_deep_link_after_a_server_start(first_tab: Dashboard) -> None:
    tab = first_tab
    tab.page.goto(f"{tab.address}/causal_mask?text=the+cat+saw+the+dog&d=16&heads=3&seed=7")
    shown = tab.settled_texts("weights with the mask")
    expect(tab.heading()).to_have_text("Causal mask")
    assert tab.sidebar() == LINK

    example = draw_example(tuple(LINK["text"].split()), d_head=16, n_heads=3, seed=7)
    head = example.w_q[0], example.w_k[0], example.w_v[0]
    weights = self_attention(example.x, *head, causal_mask(5)).attention.weights
    assert shown == [as_shown(weight) for weight in weights.ravel()] + ["1.00"] * 5

    labels = tab.chart("weights with the mask").locator(".role-axis-label text").all_text_contents()
    words = ["0 the", "1 cat", "2 saw", "3 the", "4 dog"]
    assert labels == [*words, "sum", *words]


@pytest.mark.parametrize("path", ["", "query_key_value", "parameter_count"])  # tests/pages has all of them
def test_link_restores_the_sidebar_and_outlives_a_page_change(tab: Dashboard, path: str) -> None:
    tab.open(path, **LINK)
    assert tab.heading().text_content() == TITLES[path]
    assert tab.sidebar() == LINK

    tab.go_to("scaling_sweep" if path == "parameter_count" else "parameter_count")
    assert tab.query() == LINK
    assert tab.sidebar() == LINK


def test_link_restores_and_keeps_the_chosen_cell(tab: Dashboard) -> None:
    cell = {"query": "4 bat", "key": "2 a", "head": "1"}
    tab.open("query_key_value", **cell)
    assert {name: tab.picker(name).input_value() for name in cell} == cell
    assert tab.query() == cell
    expect(tab.page.locator(".notice")).to_have_count(0)


def test_reload_keeps_a_word_that_is_no_longer_the_last_one(tab: Dashboard) -> None:
    """It was the default, so it was not in the address; with the new sentence it is another word than the default."""
    tab.open("causal_mask", text="the old teacher reads a letter near the river")
    sentence = tab.page.get_by_label("Sentence", exact=True)
    sentence.fill("because no every reads new red a near river yonder")
    sentence.press("Enter")
    expect(tab.page).to_have_url(re.compile(r"text=because.*replace=8\+river$"))
    _reload_shows_the_same(tab, {"replace": "8 river"})


def test_reload_keeps_a_step_that_is_no_longer_the_first_one(tab: Dashboard) -> None:
    tab.open("encoder_block")
    tab.page.get_by_role("radio", name="post").click()
    expect(tab.page).to_have_url(re.compile(r"norm=post&step=norm\+1$"))
    expect(tab.step()).to_have_text("norm 1")
    _reload_shows_the_same(tab, {})
    expect(tab.step()).to_have_text("norm 1")


def test_reload_keeps_what_was_taken_along_to_another_page_where_it_has_another_name(tab: Dashboard) -> None:
    tab.open("causal_mask", text="the cat sees", query="1 cat")
    tab.go_to("three_shapes")
    expect(tab.page).to_have_url(re.compile(r"query=1\+ne$"))
    _reload_shows_the_same(tab, {"query": "1 ne", "head": "0"})


def _reload_shows_the_same(tab: Dashboard, picked: dict[str, str]) -> None:
    tab.settle()
    weights = tab.page.locator("[data-testid=stVegaLiteChart]").first
    address, drawn = tab.page.url, weights.get_attribute("aria-label")
    assert {name: tab.picker(name).first.input_value() for name in picked} == picked
    tab.page.reload()
    tab.settle()
    assert {name: tab.picker(name).first.input_value() for name in picked} == picked
    assert (tab.page.url, weights.get_attribute("aria-label")) == (address, drawn)


def test_back_button_returns_to_a_page_with_its_values(tab: Dashboard) -> None:
    tab.open("causal_mask", d=16, seed=7)
    tab.go_to("order_blindness")
    tab.page.go_back()
    tab.arrive("causal_mask")
    assert tab.query() == {"d": "16", "seed": "7"}
    assert tab.sidebar() == LINK | {"text": "Meera bought a new bat", "heads": "2"}


def test_back_button_after_slider_moves_on_both_pages(tab: Dashboard) -> None:
    tab.open("query_key_value")
    tab.slider("d: size of each key").press("ArrowRight")
    expect(tab.chart("Q (5 × 5)")).to_be_visible()
    tab.go_to("parameter_count")
    tab.slider("d: size of each key").press("ArrowRight")
    expect(tab.page.get_by_text("Model width: 2 heads × 6 = 12")).to_be_visible()
    tab.settle()

    tab.page.go_back()
    tab.arrive("query_key_value")
    expect(tab.chart("Q (5 × 5)")).to_be_visible()
    assert tab.query() == {"d": "5"}
    assert tab.sidebar()["d"] == "5"
