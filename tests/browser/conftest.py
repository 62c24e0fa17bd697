"""The real server and a real browser: one of each for all tests, a new tab with a clean slate for each test."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from tests.browser.chromium import find_chromium
from tests.browser.page_object import WATCH, Dashboard, Heard
from tests.browser.server import Server, serving

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]
LAPTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}

OpenTab = Callable[..., Dashboard]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/tests/browser/" in item.path.as_posix() and "server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        yield browser
        browser.close()
