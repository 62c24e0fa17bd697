"""Predict, then reveal: the answer comes when it is asked for, and nothing else on the page is drawn again."""

import pytest
from playwright.sync_api import WebSocket, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from core.examples import ATTENTION_WORDS
from tests.browser.page_object import Dashboard

pytestmark = pytest.mark.browser

# Notes what changes in any chart from now on, and keeps hold of the charts that there are.
WATCH_CHARTS = """() => {
  window.__charts = [...document.querySelectorAll('[data-testid=stVegaLiteChart] svg.marks')];
  window.__redrawn = [];
  const watch = new MutationObserver(changes => window.__redrawn.push(...changes.map(change => change.type)));
  for (const chart of window.__charts) watch.observe(chart, {subtree: true, childList: true, attributes: true});
  return window.__charts.length;
}"""


def test_answer_is_revealed_and_no_chart_is_drawn_again(tab: Dashboard) -> None:
    sent: list[BackMsg] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(BackMsg.FromString(frame)))

    tab.page.on("websocket", listen)
    tab.open("")
    assert tab.page.evaluate(WATCH_CHARTS) == 1
    before = len(sent)

    answer = tab.page.locator(".answer")
    expect(answer).to_have_count(0)
    tab.slider("Your guess").press("ArrowLeft")
    tab.settle()
    tab.page.get_by_role("button", name="Reveal").first.click()
    expect(answer).to_be_visible()
    tab.settle()
    share = 1 / len(ATTENTION_WORDS)
    expect(tab.page.get_by_role("status").filter(has_text="It is")).to_contain_text(
        f"It is {share:.2f}. Your guess, 0.49, is off by {0.49 - share:.2f}."
    )

    runs = [message.rerun_script for message in sent[before:] if message.HasField("rerun_script")]
    assert len(runs) == 2  # the guess, the answer
    assert all(run.fragment_id for run in runs), "all of the page ran again"
    assert tab.page.evaluate("window.__charts.every(chart => chart.isConnected)")
    assert tab.page.evaluate("window.__redrawn") == []

    # Once the numbers are others, the question is open again.
    tab.choose("query", "1 bought")
    expect(tab.page.locator(".line b.query").first).to_have_text("bought")
    expect(answer).to_have_count(0)
