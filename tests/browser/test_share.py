"""Sharing: a code that the back row can scan, and a link that restores what was on the screen."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.page_object import LAPTOP, TITLES, Dashboard, box, cell_texts, open_tab
from tests.browser.server import Server

pytestmark = pytest.mark.browser


def copied(tab: Dashboard, dialog: Locator) -> str:
    """The link on the clipboard, which is the one that is shown and coded."""
    dialog.get_by_role("button", name="Copy link").click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    link: str = tab.page.evaluate("navigator.clipboard.readText()")
    assert dialog.locator("[data-testid=stCode] code").inner_text() == link
    code = dialog.get_by_role("img", name="QR code")
    expect(code).to_have_attribute("alt", f"QR code of the link {link}")
    where = box(code)
    assert min(where["width"], where["height"]) >= 0.4 * LAPTOP["height"]
    assert where["y"] >= 0
    assert where["y"] + where["height"] <= LAPTOP["height"]
    return link


def state(tab: Dashboard) -> dict[str, object]:
    """All that a reader set, as the page shows it, and the numbers of its first chart with numbers."""
    chosen = tab.page.locator("[data-testid=stMain] [role=radio][aria-checked=true], [role=switch]")
    return {
        "page": tab.heading().inner_text(),
        "sidebar": tab.sidebar(),
        "lists": tab.page.get_by_role("combobox").evaluate_all("lists => lists.map(list => list.value)"),
        "choices": chosen.all_inner_texts(),
        "numbers": [cell_texts(chart) for chart in tab.page.get_by_test_id("stVegaLiteChart").all()],
    }


def test_link_of_each_page_restores_its_state(server: Server, browser: Browser) -> None:
    shared = {"text": "你 & I went = out", "d": 3, "heads": 3, "seed": 7, "head": 2}
    own: dict[str, dict[str, object]] = {
        "query_key_value": {"query": "1 &", "key": "4 =", "feature": 2, "of": "V", "step": "project"},
        "order_blindness": {"order": "4 0 1 3 2 5", "positions": "rotary", "word": "3 went"},
    }
    with open_tab(browser, server.address) as sender:
        for path, controls in own.items():
            sender.open(path, **shared, **controls)
            if path == "query_key_value":
                sender.agreed()
            dialog = sender.open_dialog("Share")
            link = copied(sender, dialog)
            sender.close_dialog()
            assert link.startswith(f"{server.address}/{path}?")
            with open_tab(browser, server.address) as reader:
                reader.page.goto(link)
                reader.arrive(path)
                expect(reader.page.locator(".notice")).to_have_count(0)
                assert state(reader) == state(sender)


def test_link_to_a_presentation_without_a_control(tab: Dashboard) -> None:
    tab.open("", seed=7)
    dialog = tab.open_dialog("Share")
    dialog.get_by_text("Open as a presentation").click()
    expect(dialog.locator("code")).to_contain_text("present=1")
    dialog.get_by_role("combobox", name="Controls to hide").click()
    tab.page.get_by_role("option", name="Sentence").click()
    tab.page.keyboard.press("Tab")  # closes the list, and not the dialog
    expect(dialog.locator("code")).to_contain_text("hide=text")
    tab.settle()
    link = copied(tab, dialog)
    assert parse_qs(urlsplit(link).query) == {"seed": ["7"], "present": ["1"], "hide": ["text"]}

    audience = tab.second()
    audience.page.goto(link)
    audience.turn_to("", "links")
    expect(audience.heading()).to_have_text(TITLES[""])
    expect(audience.page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(audience.page.get_by_label("Sentence", exact=True)).to_be_hidden()
    expect(audience.page.get_by_label("Seed of the random numbers")).to_have_value("7")
