"""What the tests do in the browser, in the words of a reader: open a page, move a slider, read a chart."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import ConsoleMessage, Dialog, Locator, Page, Request, WebSocket, expect

PAGES = ("", "query_key_value", "scaling_sweep", "causal_mask", "order_blindness", "parameter_count")
"""Addresses of the pages; the empty one is home."""

# Runs in every page before its own scripts: when did anything on it last change?
WATCH = """
window.__changed = performance.now();
new MutationObserver(() => { window.__changed = performance.now(); })
  .observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
"""

# The script has ended, nothing is a leftover of the run before, every chart is drawn, and all of it has settled.
SETTLED = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  if (!app || app.dataset.testScriptState !== 'notRunning' || app.dataset.testConnectionState !== 'CONNECTED')
    return false;
  if (document.querySelector('[data-testid=stSkeleton], [data-testid=stSpinner], [data-stale=true]')) return false;
  if (!document.querySelector('[data-testid=stMain] h2')) return false;
  const charts = [...document.querySelectorAll('[data-testid=stVegaLiteChart]')];
  if (charts.some(chart => !chart.querySelector('svg.marks, canvas.marks'))) return false;
  return performance.now() - window.__changed > 120;
}"""

# No file of ours is asked for under a page's own path; Streamlit looks there before it looks at the root.
HARMLESS = ("_stcore/health", "_stcore/host-config", "Infinite extent")


@dataclass  # no slots: Playwright keeps a note on the object whose methods it calls
class Heard:
    """What a browser tab let be heard while a test ran."""

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    frames_sent: int = 0

    def listen(self, page: Page) -> None:
        page.on("request", self._request)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("websocket", self._websocket)

    def foreign_hosts(self) -> set[str]:
        """Hosts other than this computer that anything was asked of."""
        parts = [urlsplit(url) for url in self.requests]
        hosts = {part.hostname or "" for part in parts if part.scheme not in ("data", "blob")}
        return hosts - {"127.0.0.1", "localhost"}

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)

    def _console(self, message: ConsoleMessage) -> None:
        said = f"{message.text} {message.location.get('url', '')}"
        if message.type in ("error", "warning") and not any(words in said for words in HARMLESS):
            self.errors.append(f"{message.type}: {said}")

    def _dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _websocket(self, socket: WebSocket) -> None:
        self.requests.append(socket.url)
        socket.on("framesent", self._sent)

    def _sent(self, _: object) -> None:
        self.frames_sent += 1


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One browser tab with the dashboard in it."""

    page: Page
    address: str
    heard: Heard

    def open(self, path: str = "", **parameters: object) -> None:
        """Open a page by its link and wait until all of it is there."""
        query = f"?{urlencode(parameters)}" if parameters else ""
        self.page.goto(f"{self.address}/{path}{query}")
        self.settle()

    def settle(self) -> None:
        """Wait until the script has ended and every chart is painted."""
        self.page.wait_for_function(SETTLED, timeout=60_000)

    def go_to(self, title: str) -> None:
        """Choose a page in the navigation at the top."""
        top = self.page.get_by_test_id("stTopNavLinkContainer")
        top.first.wait_for()
        raise NotImplementedError

    def query(self) -> dict[str, str]:
        """Parameters in the address bar; the last one where a name is repeated."""
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.page.url).query).items()}
