"""Our script stands in every page that the server gives out, and hands messages on together."""

from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import streamlit as st

from server import document
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
    said.push([event.data, task, event.target === socket]);
    next.port2.postMessage(null);  // a task of its own, as React draws in one
    if (event.data === 1) throw new Error('the second one fails');
  });
  window.tell = data => socket.dispatchEvent(new MessageEvent('message', {data}));
  window.socket = socket;
}"""


def test_messages_that_come_together_are_delivered_together(tab: Dashboard) -> None:
    tab.open()
    failed: list[str] = []
    tab.page.on("pageerror", lambda error: failed.append(str(error)))
    tab.page.evaluate(LISTEN)
    at_once = tab.page.evaluate("() => { for (const data of [0, 1, 2, 3, 4]) tell(data); return said.length; }")
    assert at_once == 0
    tab.page.wait_for_function("() => said.length === 5")
    assert tab.page.evaluate("said") == [[data, 0, True] for data in range(5)]
    assert [error for error in failed if "the second one fails" in error] != []
    tab.heard.errors[:] = [error for error in tab.heard.errors if "the second one fails" not in error]


def test_messages_wait_neither_for_ever_nor_for_a_connection_that_has_ended(tab: Dashboard) -> None:
    tab.open()
    tab.page.evaluate(LISTEN)
    # Without a pause, for longer than they may wait: what came first is there before the last.
    early = tab.page.evaluate(
        "() => { const end = performance.now() + 120; while (performance.now() < end) tell(7); return said.length; }"
    )
    assert early > 0
    tab.page.evaluate(LISTEN)
    waited = tab.page.evaluate(
        "() => { tell(8); const n = said.length; socket.dispatchEvent(new Event('close')); return n; }"
    )
    assert (waited, tab.page.evaluate("said")) == (0, [[8, 0, True]])
