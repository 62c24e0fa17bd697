"""Where no browser is, the tests say how to get one."""

import pytest

from tests.browser import chromium


def test_missing_browser_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "usual_places", list)
    with pytest.raises(RuntimeError, match=r"apt install chromium.*set CHROMIUM"):
        chromium.find_chromium()


def test_named_browser_is_never_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "/nowhere/chrome")
    with pytest.raises(RuntimeError, match="/nowhere/chrome"):
        chromium.find_chromium()
