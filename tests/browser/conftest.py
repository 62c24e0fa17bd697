"""The real server and a real browser: one of each for all tests, and for each test a tab with a clean slate."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, ViewportSize, expect, sync_playwright

from tests.browser.chromium import find_chromium
from tests.browser.page_object import LAPTOP, WATCH, Dashboard, Heard
from tests.browser.server import Server, serving

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        expect.set_options(timeout=30_000)  # on a machine with better things to do
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server for all tests; what it printed is read when they are over."""
    with serving() as server:
        yield server
        assert server.complaints() == ""


@pytest.fixture
def fresh_server() -> Iterator[Server]:
    """A server that nobody has visited yet, and that has not loaded PyTorch."""
    with serving() as server:
        yield server
        assert server.complaints() == ""


@pytest.fixture
def new_tab(browser: Browser) -> Iterator[Callable[..., Dashboard]]:
    """Open tabs on a server; whatever a test did in them, they asked nothing of other hosts and met no error."""
    opened = []

    def open_tab(server: Server, viewport: ViewportSize = LAPTOP, color_scheme: str = "light") -> Dashboard:
        context = browser.new_context(viewport=viewport, color_scheme=color_scheme)
        context.add_init_script(WATCH)
        tab = Dashboard(context.new_page(), server.address, Heard())
        tab.heard.listen(tab.page)
        opened.append(tab)
        return tab

    yield open_tab
    for tab in opened:
        tab.page.context.close()
        assert tab.heard.foreign_hosts() == set()
        assert tab.heard.dialogs == []
        assert tab.heard.errors == []


@pytest.fixture
def first_tab(fresh_server: Server, new_tab: Callable[..., Dashboard]) -> Dashboard:
    """A tab for the first visitor of a server; it closes before the server stops."""
    return new_tab(fresh_server)


@pytest.fixture
def tab(server: Server, new_tab: Callable[..., Dashboard]) -> Dashboard:
    """A laptop's tab in the light theme, on the server for all tests."""
    return new_tab(server)
