"""Our script stands in every page that the server gives out, and hands messages on together."""

from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import streamlit as st
from playwright.sync_api import expect

from server import bursts, document
from tests.browser.page_object import Dashboard
from tests.browser.server import Server
from ui import in_browser

pytestmark = pytest.mark.browser

STREAMLIT_S = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["/", "/causal_mask", "/no_such_page"])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_the_server_s_own_pages(server: Server, path: str, encoding: str) -> None:
    with urlopen(Request(server.address + path, headers={"Accept-Encoding": encoding}), timeout=10) as answer:
        headers = answer.headers
        page = answer.read().decode()
    ours, streamlit_s = page.index(in_browser.TOGETHER), page.index('<script type="module"')
    assert page.count(in_browser.TOGETHER) == 1
    assert ours < streamlit_s
    assert page.replace(document.BEGINNING.decode(), "") == STREAMLIT_S
    assert headers["ETag"] is None


# A connection on which nothing was said yet can be told things, as if it had brought them.
LISTEN = """() => {
  const socket = new WebSocket(`ws://${location.host}/_stcore/stream`, ['streamlit']);
  const said = window.said = [];
  let task = 0;
  const next = new MessageChannel();
  next.port1.onmessage = () => { task += 1; };
  socket.addEventListener('message', event => {
    const {data} = event;
    said.push([data instanceof ArrayBuffer ? [...new Uint8Array(data)] : data, task, event.type]);
    next.port2.postMessage(null);  // a task of its own, as React draws in one
    if (data.byteLength === 3) throw new Error('this one fails');
  });
  window.tell = data => socket.dispatchEvent(new MessageEvent('message', {data}));
  return socket.url;
}"""


def frame(*messages: bytes) -> list[int]:
    """What the server makes of several messages."""
    (one,) = bursts.packed({"type": "websocket.send", "bytes": message} for message in messages)
    return list(one["bytes"])


def test_packed_messages_are_delivered_one_by_one_in_one_task(tab: Dashboard) -> None:
    tab.open()
    failed: list[str] = []
    tab.page.on("pageerror", lambda error: failed.append(str(error)))
    assert tab.page.evaluate(LISTEN).endswith("/_stcore/stream?packed=1")
    messages = [b"\x0a\x00\x00", b"\x2a" * 7, b"\x0a", bytes(range(1, 256)) * 269]  # the last one needs two bytes
    tab.page.evaluate("bytes => tell(new Uint8Array(bytes).buffer)", frame(*messages))
    tab.page.wait_for_function("() => said.length === 4")
    assert tab.page.evaluate("said") == [[list(message), 0, "message"] for message in messages]
    assert [error for error in failed if "this one fails" in error] != []
    tab.heard.errors[:] = [error for error in tab.heard.errors if "this one fails" not in error]


def test_what_is_not_packed_is_delivered_as_it_came(tab: Dashboard) -> None:
    tab.open()
    tab.page.evaluate(LISTEN)
    tab.page.evaluate("() => { for (const data of ['', 'text', 0]) tell(data); }")
    tab.page.evaluate("() => { for (const bytes of [[], [10, 0]]) tell(new Uint8Array(bytes).buffer); }")
    assert [data for data, *_ in tab.page.evaluate("said")] == ["", "text", 0, [], [10, 0]]


def test_a_page_s_run_comes_in_few_messages(tab: Dashboard) -> None:
    came: list[bytes] = []
    tab.page.on("websocket", lambda socket: socket.on("framereceived", lambda data: came.append(data)))
    tab.open("causal_mask")
    opened = len(came)
    tab.page.locator(".st-key-d input[type=range]").press("ArrowRight")
    expect(tab.page.get_by_text("Model width: 2 heads × 5 = 10")).to_be_visible()
    tab.settle()
    # One by one there would be a hundred; a run that takes longer than `HELD_FOR` comes in several.
    assert 0 in [data[0] for data in came[opened:]]
    assert len(came) - opened < 20
