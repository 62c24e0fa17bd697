"""A tab that is sent what changes shows what a fresh one shows by the same link."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.page_object import Dashboard
from tests.load.reader import unpacked

pytestmark = pytest.mark.browser

# Vega leaves marks that stay in front of those that have come since.
SHOWN = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const names = [...main.querySelectorAll('svg.marks [aria-label]')]
    .map(mark => mark.getAttribute('aria-label'));
  return [main.innerText.split('\\n').sort(), names.sort(), main.querySelectorAll('*').length];
}"""


def same_as_by_link(tab: Dashboard) -> None:
    tab.settle()
    fresh = tab.second()
    fresh.page.goto(tab.page.url)
    fresh.settle()
    for _ in range(20):
        shown, expected = tab.page.evaluate(SHOWN), fresh.page.evaluate(SHOWN)
        if shown == expected:
            break
        tab.page.wait_for_timeout(100)  # a fragment looks whether PyTorch agrees
    fresh.page.close()
    assert shown == expected


def elements(frames: list[bytes]) -> Iterator[ForwardMsg]:
    for data in frames:
        for message in unpacked(data):
            content = ForwardMsg.FromString(message)
            if content.WhichOneof("type") in ("delta", "ref_hash"):
                yield content


@pytest.mark.parametrize("path", ["causal_mask", "kv_cache"])
def test_moves_one_by_one_and_in_a_row_and_a_visit_to_another_page(tab: Dashboard, path: str) -> None:
    came: list[bytes] = []
    tab.page.on("websocket", lambda socket: socket.on("framereceived", lambda data: came.append(data)))
    tab.open(path)
    all_of_it = len(list(elements(came)))
    width = tab.page.locator(".st-key-d input[type=range]")
    for value in range(5, 11):
        came.clear()
        width.press("ArrowRight")
        expect(width).to_have_attribute("aria-valuetext", str(value))
        tab.settle()
        if value > 5 and 0 < len(list(elements(came))) < all_of_it / 2:
            break
    else:
        raise AssertionError("every move was sent whole")  # as one is where the server takes longer than `HELD_FOR`
    same_as_by_link(tab)
    for _ in range(6):
        width.press("ArrowRight")
    same_as_by_link(tab)
    tab.go_to("cost")
    tab.go_to(path)
    same_as_by_link(tab)
    for _ in range(2):
        tab.open_dialog("Share")
        tab.close_dialog()
