"""Two readers train at once on the real server while a third one moves a slider: all get what they asked for."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.page_object import Dashboard, open_tab
from tests.browser.server import Server

pytestmark = pytest.mark.browser


def progress(page: Page, said: str) -> None:
    expect(page.get_by_test_id("stProgress")).to_contain_text(said)


def ask(tab: Dashboard, task: str, seed: int) -> None:
    tab.open("learning", task=task, seed=seed)
    expect(tab.page.get_by_text(f"No run of seed {seed} yet")).to_be_visible()
    tab.page.get_by_role("button", name=f"Train, seed {seed}", exact=True).click()


def has_trained(tab: Dashboard, seed: int) -> None:
    expect(tab.page.get_by_text(f"Trained on this server, seed {seed}.")).to_be_visible(timeout=120_000)
    tab.settle()


def test_two_train_and_a_third_moves_a_slider(browser: Browser, server: Server) -> None:
    with (
        open_tab(browser, server.address) as first,
        open_tab(browser, server.address) as second,
        open_tab(browser, server.address) as third,
    ):
        third.open("multi_head")
        ask(first, "order", 101)
        progress(first.page, "order, seed 101.")
        ask(second, "mask", 102)
        progress(second.page, "mask, seed 102.")
        slider = third.slider("d: size of each key")
        for d in range(5, 7):
            slider.press("ArrowRight")
            expect(third.page.get_by_text(f"2 heads × {d} = {2 * d}")).to_be_visible()
            third.settle()
        has_trained(first, 101)
        has_trained(second, 102)
        # A third reader of the same settings gets the run at once.
        third.open("learning", task="mask", seed=102)
        expect(third.page.get_by_text("Trained on this server, seed 102.")).to_be_visible()


def test_stop_ends_a_training_and_keeps_what_was_learned(tab: Dashboard) -> None:
    ask(tab, "induction", 103)
    expect(tab.page.get_by_test_id("stProgress")).to_contain_text(re.compile(r"Step \d+ of 400"), timeout=120_000)
    expect(tab.chart_named("Loss over")).to_be_visible()
    tab.page.get_by_role("button", name="Stop training", exact=True).click()
    expect(tab.page.get_by_text(re.compile(r"Stopped at step \d+ of 400"))).to_be_visible()
    expect(tab.page.get_by_role("button", name="Train, seed 103", exact=True)).to_be_visible()
