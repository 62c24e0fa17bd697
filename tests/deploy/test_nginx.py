"""Where no nginx is, the tests say how to get one; what they change of the configuration is there to be changed."""

from pathlib import Path

import pytest

from tests.deploy import nginx


def test_missing_nginx_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NGINX", raising=False)
    monkeypatch.setattr(nginx, "PLACES", ("no-such-program",))
    with pytest.raises(RuntimeError, match=r"apt install nginx.*set NGINX"):
        nginx.find_nginx()


def test_named_nginx_is_never_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NGINX", "/nowhere/nginx")
    with pytest.raises(RuntimeError, match="/nowhere/nginx"):
        nginx.find_nginx()


def test_a_line_that_must_be_changed_is_missed(tmp_path: Path) -> None:
    text = nginx.CONFIGURATION.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"it lacks \['listen 80;'\]"):
        nginx.run_here(text.replace("listen 80;", "listen 8080;"), 1, (2, 3), tmp_path)
