"""From the key press on a slider to the last paint, on every page, in a real browser.

Every page with its default and its largest settings, before PyTorch is loaded in the server and after; between its
moves, in the same minute, the moves of an empty page and of one with `st.image` on the same server.
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, CDPSession, Locator, Page, sync_playwright

from tests.benchmarks.tables import Result, Table, Verdict
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.page_object import SETTLED, WATCH, open_tab
from tests.browser.server import serving
from ui.pages import HOME, ORDER

MOVES, WARM_UP, STEPS = 5, 2, 4

# What counts as painted: the first frame after the last change of what the page shows. That an element is marked as
# stale and fresh again is no change of what it shows, nor what is told a screen reader, nor what happens outside the
# page's body.
PAINTS = """
window.__painted = 0; window.__arrived = 0; window.__pressed = 0; window.__blocked = 0;
(() => {
  let asked = false;
  const note = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => setTimeout(() => { window.__painted = performance.now(); asked = false; }));
  };
  const shows = change => {
    const element = change.target.nodeType === 1 ? change.target : change.target.parentElement;
    if (!element?.closest('[data-testid=stMain], [data-testid=stBottom]')) return false;
    if (change.type !== 'attributes') return true;
    if (/^(aria-|role|tabindex)/.test(change.attributeName)) return false;
    return element.closest('svg.marks, [data-testid=stImage]') !== null || change.attributeName === 'src';
  };
  new MutationObserver(changes => { if (changes.some(shows)) note(); })
    .observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  for (const name of ['fillRect', 'fill', 'stroke', 'fillText', 'drawImage']) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) { note(); return draw.apply(this, given); };
  }
  for (const kind of ['keydown', 'pointerdown'])
    addEventListener(kind, event => { window.__pressed = event.timeStamp; }, true);
  const Socket = window.WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', () => { window.__arrived = performance.now(); });
    }
  };
  new PerformanceObserver(list => { for (const task of list.getEntries()) window.__blocked += task.duration; })
    .observe({entryTypes: ['longtask']});
})();
"""


@dataclass(frozen=True, slots=True)
class Move:
    """What a reader does on a page to see its picture change."""

    key: str
    """Of the control in the link; its style class is made from it."""
    keys: tuple[str, str] = ("ArrowRight", "ArrowLeft")
    """There and back."""
    on: str = "input[type=range]"
    """Element of the control that takes the key."""
    largest: dict[str, Any] = field(default_factory=dict)
    """The page's own controls at the largest that they offer, beside 64 words, d = 64 and 12 heads."""


MANY_WORDS = " ".join(f"word{number}" for number in range(64))
MANY = {"text": MANY_WORDS, "d": 64, "heads": 12}
ANOTHER = " ".join(f"w{number}" for number in range(64))  # a second sentence has at most 300 characters

D, UP = "d", ("ArrowUp", "ArrowDown")
MOVES_ON: dict[str, Move] = {
    "home": Move(D),
    "why_attention": Move(D),
    "query_key_value": Move(D),
    "scaling_sweep": Move("keys", largest={"keys": 16, "draws": 500, "dims": [2**power for power in range(13)]}),
    "causal_mask": Move(D, largest={"n_query": 8, "n_key": 8}),
    "order_blindness": Move(D, largest={"order": " ".join(str(63 - place) for place in range(64))}),
    "multi_head": Move(D),
    "encoder_block": Move(D, largest={"factor": 4}),
    "stack": Move("depth", largest={"depth": 48, "stack_width": 64, "stack_heads": 8}),
    "parameter_count": Move(
        "d_model", UP, "input", {"d_model": 16384, "block_heads": 256, "d_ff": 65536, "layers": 200}
    ),
    "three_shapes": Move(D, largest={"target": ANOTHER, "reach_layers": 8}),
    "kv_cache": Move("t", largest={"new_words": 8, "decoder_layers": 2, "t": 8, "cross": True, "source": ANOTHER}),
    "cost": Move("tokens", largest={"tokens": 131072, "model_width": 12288, "model_heads": 96, "batch": 64}),
    "learning": Move("snapshot", largest={"task": "induction"}),
    "real_model": Move("ends", (" ", " "), "input[type=checkbox]"),
    "common_mistakes": Move(D),
    "practice": Move("number", UP, "input"),
}


@dataclass(slots=True)
class Moved:
    """Milliseconds and bytes of one move after another on one page."""

    paint: list[float] = field(default_factory=list)
    wire: list[float] = field(default_factory=list)
    blocked: list[float] = field(default_factory=list)
    script: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)

    def median(self, name: str) -> float:
        """Of one quantity, without the first moves."""
        return statistics.median(getattr(self, name)[WARM_UP:])


class Tab:
    """A page of the browser that notes its paints, and how many bytes its socket brought."""

    def __init__(self, browser: Browser, address: str, script_times: Path) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 800})
        self.context.add_init_script(WATCH + PAINTS)
        self.page: Page = self.context.new_page()
        self.received = 0
        self.address, self.script_times = address, script_times
        self.devtools: CDPSession = self.context.new_cdp_session(self.page)
        self.devtools.send("Network.enable")
        self.devtools.on("Network.webSocketFrameReceived", self._frame)
        self.ways: dict[str, tuple[int, int]] = {}

    def _frame(self, event: dict[str, Any]) -> None:
        data = event["response"]["payloadData"]
        # Binary frames come in base 64.
        self.received += len(data) * 3 // 4 if event["response"]["opcode"] == 2 else len(data)

    def open(self, path: str, parameters: dict[str, Any]) -> None:
        """Open a link and wait until all of it is there."""
        self.page.goto(f"{self.address}/{path}?{urlencode(parameters, doseq=True)}")
        self.settle()

    def settle(self) -> None:
        """Wait until the script has ended and nothing moves any more."""
        # Looking at every frame, as is the rule, would take a tenth of the time that is measured.
        self.page.wait_for_function(SETTLED, polling=100, timeout=60_000)

    def move(self, move: Move, into: Moved, into_picture: bool = True) -> None:
        """One press of a key: some steps up, as many down, turning where the control ends.

        `into_picture` False: of a control that the page's picture does not depend on.
        """
        self.page.bring_to_front()
        control = self.page.locator(f".st-key-{move.key} {move.on}").first
        control.focus()
        key = move.keys[self._way(move, control)]
        self.settle()
        self.page.evaluate("window.__painted = window.__arrived = window.__blocked = 0")
        bytes_before, runs_before = self.received, len(self._runs())
        self.page.keyboard.press(key)
        # The answer must be on its way: a move that changed nothing would look like a fast one.
        self.page.wait_for_function("() => window.__arrived > window.__pressed", polling=100, timeout=30_000)
        self.settle()
        self.page.wait_for_timeout(150)
        self.settle()
        painted, arrived, blocked = self.page.evaluate("[__painted - __pressed, __arrived - __pressed, __blocked]")
        if painted <= 0 and into_picture:
            raise RuntimeError(f"nothing was painted after a move of {move.key} on {self.page.url}")
        runs = self._runs()[runs_before:]
        into.paint.append(painted)
        into.wire.append(arrived)
        into.blocked.append(blocked)
        into.script.append(runs[0]["wall"] if runs else float("nan"))
        into.processor.append(runs[0]["processor"] if runs else float("nan"))
        into.sent.append(self.received - bytes_before)

    def _way(self, move: Move, control: Locator) -> int:
        """Which of the two keys is next: it goes on in one direction for STEPS moves or up to the end."""
        way, steps = self.ways.get(move.key, (0, 0))
        value, last = control.evaluate("input => [Number(input.value), Number(input.max || Infinity)]")
        if (way == 0 and value >= last) or steps == STEPS:
            way, steps = 1 - way, 0
        self.ways[move.key] = (way, steps + 1)
        return way

    def _runs(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.script_times.read_text().splitlines()]

    def close(self) -> None:
        """With its context, so that the server forgets the session."""
        self.context.close()


@dataclass(frozen=True, slots=True)
class Case:
    """One page with one kind of settings."""

    page: str
    settings: str
    torch: bool
    own: Moved
    whole: Moved | None
    """Moves of the shared slider where the page's own one is another: the whole script runs."""
    floor: Moved
    picture: Moved

    @property
    def full_run(self) -> Moved:
        """The moves after which the whole script ran."""
        return self.whole or self.own

    def row(self) -> dict[str, Any]:
        """As the table shows it."""
        floor = self.floor.median("paint")
        paint = self.own.median("paint")
        return {
            "page": self.page,
            "settings": self.settings,
            "PyTorch": "loaded" if self.torch else "not",
            "control": MOVES_ON[self.page].key,
            "to paint, ms": paint,
            "floor, ms": floor,
            "st.image, ms": self.picture.median("paint"),
            "times floor": paint / floor,
            "over floor, ms": paint - floor,
            "until the answer, ms": self.own.median("wire"),
            "after it, ms": paint - self.own.median("wire"),
            "browser busy, ms": self.own.median("blocked"),
            "script, ms": self.own.median("script"),
            "whole script, ms": self.full_run.median("script"),
            "whole script, processor ms": self.full_run.median("processor"),
            "kB": max(self.own.median("sent"), self.full_run.median("sent")) / 1000,
        }


WAITS_FOR_TORCH = ("query_key_value", "scaling_sweep")
"""Pages that load PyTorch by themselves: there is no such page without it."""


@contextmanager
def one_tab(browser: Browser, address: str, script_times: Path) -> Iterator[Tab]:
    """A tab with a clean slate; it is closed with its session."""
    tab = Tab(browser, address, script_times)
    try:
        yield tab
    finally:
        tab.close()


@contextmanager
def beside(browser: Browser, address: str, script_times: Path) -> Iterator[tuple[Tab, Tab]]:
    """The floor and the picture, open while all pages are measured."""
    with one_tab(browser, address, script_times) as floor, one_tab(browser, address, script_times) as picture:
        floor.open("", {"floor": 1})
        picture.open("", {"picture": 1})
        yield floor, picture


def measure(own: Tab, floor: Tab, picture: Tab, page: str, largest: bool, torch: bool, n: int) -> Case:
    """Moves on one page, on the floor and on the picture by turns."""
    move = MOVES_ON[page]
    whole = None if move.key == D else Moved()
    case = Case(page, "largest" if largest else "default", torch, Moved(), whole, Moved(), Moved())
    own.open("" if page == HOME.name else page, MANY | move.largest if largest else {})
    if refused := own.page.locator(".notice", has_text="was ignored").all_inner_texts():
        raise RuntimeError(f"{page} does not offer what is to be measured: {refused}")
    for number in range(n + WARM_UP):
        own.move(move, case.own)
        floor.move(Move(D), case.floor)
        picture.move(Move(D), case.picture)
        if case.whole is not None and number < n // 2 + 1 + WARM_UP:
            own.move(Move(D), case.whole, into_picture=False)
    return case


def run(thorough: bool = True) -> Result:
    """All pages, both settings, before and after PyTorch."""
    cases: list[Case] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        script_times = Path(folder) / "times.jsonl"
        script_times.touch()
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        with serving(
            script="tests/benchmarks/served/app.py", environment={"SCRIPT_TIMES": str(script_times)}
        ) as server:
            for torch in (False, True):
                if torch:
                    with open_tab(browser, server.address) as tab:
                        tab.open("query_key_value")
                        tab.agreed()
                pages = [page.name for page in ORDER if torch or page.name not in WAITS_FOR_TORCH]
                moves = MOVES if thorough else 1
                with beside(browser, server.address, script_times) as others:
                    for page in pages if thorough else pages[:1]:
                        for largest in (False, True):
                            with one_tab(browser, server.address, script_times) as own:
                                cases.append(measure(own, *others, page, largest, torch, moves))
                            print(f"  {cases[-1].row()}", file=sys.stderr, flush=True)
        browser.close()
    return Result("Slider to picture", [Table("Every page", [case.row() for case in cases], ABOUT)], verdicts(cases))


def verdicts(cases: Sequence[Case]) -> list[Verdict]:
    """The acceptance lines of speed."""
    default = [case for case in cases if case.settings == "default"]
    largest = [case for case in cases if case.settings == "largest"]

    def worst(claim: str, limit: float, unit: str, of: Sequence[Case], column: str) -> Verdict:
        rows = [case.row() for case in of]
        row = max(rows, key=lambda row: row[column])
        return Verdict(claim, row[column], limit, unit, where=f"{row['page']}, PyTorch {row['PyTorch']}")

    return [
        worst("key press to paint, default settings", 3.0, "times the floor", default, "times floor"),
        worst("key press to paint, largest settings", 250.0, "ms over the floor", largest, "over floor, ms"),
        worst("script of a whole run, default settings", 40.0, "ms", default, "whole script, ms"),
        worst("sent for a move", 300.0, "kB", cases, "kB"),
    ]


ABOUT = (
    f"Medians of {MOVES} moves of one key press each, after {WARM_UP} that do not count; floor (an empty page with one "
    "slider) and `st.image` (one picture of 64 × 64 cells) moved by turns with each page, on the same server. To "
    "paint: from the key press to the frame after the last change of what the page shows. Script: wall time in the "
    "server, garbage collection included; the whole script runs where the shared slider d moves. kB: of the larger."
)
