"""What a test does in the browser, in a reader's words: open a page, move a slider, point at a word, read a chart."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Locator,
    Page,
    Request,
    ViewportSize,
    WebSocket,
    expect,
)

from ui.pages import HOME, PAGES

TITLES = {"" if page is HOME else page.name: page.title for page in (HOME, *PAGES)}
"""Address of every page, in the order of the lesson, with its heading."""

LAPTOP: ViewportSize = {"width": 1280, "height": 800}
PROJECTOR: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 844}

BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 20, 26)"}

# Runs before a page's own scripts: when did anything on it last change?
WATCH = """
window.__changed = performance.now();
new MutationObserver(() => { window.__changed = performance.now(); })
  .observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
"""

# The script has ended, nothing is a leftover of the run before, every chart is drawn, and nothing moves any more.
SETTLED = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  if (app?.dataset.testScriptState !== 'notRunning' || app.dataset.testConnectionState !== 'CONNECTED') return false;
  if (document.querySelector('[data-testid=stSkeleton], [data-testid=stSpinner], [data-stale=true]')) return false;
  if (!document.querySelector('[data-testid=stMain] h1')) return false;
  const charts = [...document.querySelectorAll('[data-testid=stVegaLiteChart]')];
  if (charts.some(chart => !chart.querySelector('svg.marks, canvas.marks'))) return false;
  return performance.now() - window.__changed > 120;
}"""

# Streamlit looks for its own addresses below a page's name first; Vega warns of a picture that has no data yet.
HARMLESS = ("_stcore/health", "_stcore/host-config", "Infinite extent", "Log scale domain includes zero: [Infinity")


@dataclass  # no slots: Playwright keeps a note on the object whose methods it calls
class Heard:
    """What a tab let be heard while a test ran."""

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    frames_sent: int = 0

    def listen(self, page: Page) -> None:
        """Begin; before the first page is opened."""
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
        said = f"{message.type}: {message.text} ({message.location.get('url', '')})"
        if message.type in ("error", "warning") and not any(words in said for words in HARMLESS):
            self.errors.append(said)

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
    """One tab with the dashboard in it."""

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

    def arrive(self, path: str) -> None:
        """Wait until another page of the dashboard is there."""
        expect(self.page).to_have_url(re.compile(rf"://[^/]+/{path}(\?|$)"))
        expect(self.heading()).to_have_text(TITLES[path])
        self.settle()

    def go_to(self, path: str) -> None:
        """Choose a page in the navigation at the top, with the mouse."""
        if path == "":
            self.page.get_by_test_id("stTopNavLink").click()
        else:
            section = next(page.section for page in PAGES if page.name == path)
            self.page.get_by_test_id("stTopNavSection").filter(has_text=section).click()
            self.page.get_by_test_id("stTopNavDropdownLink").filter(has_text=TITLES[path]).click()
        self.arrive(path)

    def walk(self, **parameters: object) -> Iterator[str]:
        """Every page in the order of the lesson, by the link 'Next' at the foot of each."""
        for number, path in enumerate(TITLES):
            if number == 0:
                self.open(path, **parameters)
            else:
                self.page.get_by_role("link", name=f"Next: {TITLES[path]}").click()
                self.arrive(path)
            yield path

    def to_top(self) -> float:
        """Scroll to the top of the page, and say how far that was."""
        far: float = self.page.get_by_test_id("stMain").evaluate(
            "main => { const far = main.scrollTop; main.scrollTo(0, 0); return far; }"
        )
        return far

    def heading(self) -> Locator:
        """The title of the page."""
        return self.page.get_by_test_id("stMain").locator("h1")

    def sidebar(self) -> dict[str, str]:
        """What the four controls of the sidebar show, by their name in the link."""
        return {
            "text": self.page.get_by_label("Sentence", exact=True).input_value(),
            "d": self.slider("d: size of each key").get_attribute("aria-valuetext") or "",
            "heads": self.slider("Heads").get_attribute("aria-valuetext") or "",
            "seed": self.page.get_by_label("Seed of the random numbers").input_value(),
        }

    def slider(self, label: str) -> Locator:
        """The hidden input of a slider: the arrow keys move it."""
        return self.page.locator(f"input[type=range][aria-label='{label}']")

    def picker(self, label: str) -> Locator:
        """The text box of a list to choose from."""
        return self.page.get_by_role("combobox", name=label, exact=True)

    def step(self) -> Locator:
        """The step that is chosen, on a page that goes step by step and on a slide."""
        return self.page.locator(".st-key-step [role=radio][aria-checked=true]")

    def choose(self, label: str, option: str) -> None:
        """Find an option of a list by typing it, and take it."""
        picker = self.picker(label)
        picker.focus()
        self.type_choice(picker, option)

    def type_choice(self, picker: Locator, option: str) -> None:
        """The same in the list that has the focus."""
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(option)
        expect(self.page.get_by_role("option")).to_have_text([option])
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Enter")
        expect(picker).to_have_value(option)

    def agreed(self) -> None:
        """Wait until PyTorch has been loaded and agrees; until then the page may run again by itself."""
        expect(self.page.locator(".agree")).to_contain_text("✓", timeout=60_000)
        self.settle()

    def turn_to(self, path: str, step: str) -> None:
        """Wait until a step of a page is there."""
        self.arrive(path)
        expect(self.step()).to_have_text(step)
        self.settle()

    def in_theme(self, theme: Literal["light", "dark"]) -> None:
        """The reader's system changes to the other theme, and the page with it."""
        self.page.emulate_media(color_scheme=theme)
        expect(self.page.get_by_test_id("stApp")).to_have_css("background-color", BACKGROUNDS[theme])
        self.settle()

    def open_dialog(self, button: str) -> Locator:
        """Press a button beside the title, and wait for what opens."""
        self.page.get_by_role("button", name=button, exact=True).click()
        dialog = self.page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        self.settle()
        return dialog

    def close_dialog(self) -> None:
        """By its cross."""
        self.page.get_by_role("dialog").get_by_role("button", name="Close").click()
        expect(self.page.get_by_role("dialog")).to_have_count(0)

    def second(self) -> "Dashboard":
        """Another tab of the same browser window, listened to as well."""
        other = Dashboard(self.page.context.new_page(), self.address, self.heard)
        self.heard.listen(other.page)
        return other

    def query(self) -> dict[str, str]:
        """Parameters in the address."""
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.page.url).query).items()}

    def chart(self, title: str) -> Locator:
        """The chart in which this title stands."""
        titled = self.page.locator(".role-title-text", has_text=title)
        return self.page.get_by_test_id("stVegaLiteChart").filter(has=titled)

    def chart_named(self, start: str) -> Locator:
        """The chart whose text alternative starts like this."""
        return self.page.locator(f"[data-testid=stVegaLiteChart][aria-label^='{start}']")

    def settled_texts(self, title: str) -> list[str]:
        """Wait for a chart of this title and read the numbers in its cells, row by row."""
        expect(self.chart(title)).to_be_visible()
        self.settle()
        return cell_texts(self.chart(title))


_windows: dict[tuple[Any, ...], list[BrowserContext]] = {}
"""Browser windows that nobody uses now, by server and looks: each has fetched the files of Streamlit's frame before."""


def _new_window(browser: Browser, viewport: ViewportSize, theme: Literal["light", "dark"]) -> BrowserContext:
    context = browser.new_context(viewport=viewport, color_scheme=theme)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.add_init_script(WATCH)
    return context


def _forget(page: Page, address: str) -> None:
    """Nothing is left of the reader before but the files that the browser has fetched."""
    page.context.clear_cookies()
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": address, "storageTypes": "all"})
    session.detach()


@contextmanager
def open_tab(
    browser: Browser, address: str, viewport: ViewportSize = LAPTOP, theme: Literal["light", "dark"] = "light"
) -> Iterator[Dashboard]:
    """A tab with a clean slate; whatever is done in it, it must ask nothing of other hosts and meet no error."""
    windows = _windows.setdefault((browser, address, *viewport.values(), theme), [])
    context = windows.pop() if windows else _new_window(browser, viewport, theme)
    tab = Dashboard(context.new_page(), address, Heard())
    tab.heard.listen(tab.page)
    try:
        _forget(tab.page, address)
        yield tab
        for page in context.pages:
            page.close()
        windows.append(context)
    except BaseException:
        context.close()
        raise
    assert tab.heard.foreign_hosts() == set()
    assert tab.heard.dialogs == []
    assert tab.heard.errors == []


def cell_texts(chart: Locator) -> list[str]:
    """Numbers that can be seen in the cells of a chart, in the order of its table."""
    texts: list[str] = chart.evaluate(
        """chart => [...chart.querySelectorAll('g.mark-text.role-mark text')]
             .filter(text => text.getAttribute('opacity') !== '0').map(text => text.textContent)"""
    )
    return texts


def cell_values(chart: Locator, name: str) -> list[float]:
    """Values of a matrix in full precision, as the cells tell them to a screen reader; numbers hidden or not."""
    labels: list[str] = chart.locator("g.mark-rect path").evaluate_all(
        "cells => cells.map(cell => cell.getAttribute('aria-label') ?? '')"
    )
    found = [re.search(rf"; {re.escape(name)}: ([−0-9.]+);", label) for label in labels]
    return [float(match[1].replace("−", "-")) for match in found if match]


def as_shown(value: float) -> str:
    """A number as a cell shows it: two decimals, a bare 0 only where it is exactly 0."""
    if value == 0:
        return "0"
    text = f"{value:.2f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def box(locator: Locator) -> dict[str, float]:
    """Where an element is in the window."""
    found: Any = locator.bounding_box()
    assert found is not None, "it cannot be seen"
    return {side: float(number) for side, number in found.items()}


def background(page: Page) -> str:
    """Colour behind the page, as the browser computed it."""
    colour: str = page.get_by_test_id("stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    return colour


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours "rgb(r, g, b)", by the formula of WCAG 2.2."""
    dark, light = sorted((_luminance(first), _luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
