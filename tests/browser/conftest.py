"""The real server and a real browser: one of each for all tests, and for each test a tab with a clean slate."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.page_object import Dashboard, open_tab
from tests.browser.server import Server, serving


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
def first_tab(fresh_server: Server, browser: Browser) -> Iterator[Dashboard]:
    """A tab for the first visitor of a server; it closes before the server stops."""
    with open_tab(browser, fresh_server.address) as tab:
        yield tab


@pytest.fixture
def tab(server: Server, browser: Browser) -> Iterator[Dashboard]:
    """A laptop's tab in the light theme, on the server for all tests."""
    with open_tab(browser, server.address) as tab:
        yield tab
