"""One started server, of which one sentence breaks a page and one address the server: headers, limits, and the log."""

import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.browser.server import ROOT, Server, serving

SABOTAGE = """
import warnings

from starlette.routing import Route

from core import settings

split_words = settings.split_words


def failing(text):
    if text.startswith("warn"):
        warnings.warn(f"odd text {text}", RuntimeWarning)
    if text.startswith("break"):
        raise LookupError(f"text must not break; got {text!r}")
    return split_words(text)


settings.split_words = failing


async def broken(request):
    try:
        raise ValueError(str(request.url))
    except ValueError:
        1 / 0


app._user_routes.append(Route("/broken", broken))
"""
"""Goes behind the entry: faults that quote a reader."""

SAID = "Zanzibarine"
"""Stands in the sentence that is sent; must stand nowhere in the log."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The dashboard with another entry in front, which breaks it for some sentences."""
    folder = tmp_path_factory.mktemp("sabotaged")
    for name in ("core", "ui", "pages", "server", ".streamlit"):
        (folder / name).symlink_to(ROOT / name)
    entry = (ROOT / "streamlit_app.py").read_text(encoding="utf-8")
    (folder / "streamlit_app.py").write_text(entry + SABOTAGE, encoding="utf-8")
    with serving(folder) as server:
        yield server


def ask(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, Message, bytes]:
    request = urllib.request.Request(f"{server.address}{path}", method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers, refused.read()


def visit(server: Server, page: str, **link: str) -> None:
    """One run of a page, as a browser asks for it."""
    message = BackMsg()
    message.rerun_script.query_string = urlencode(link)
    message.rerun_script.page_name = page
    with connect(f"{server.address.replace('http', 'ws')}/_stcore/stream", subprotocols=["streamlit"]) as stream:
        stream.send(message.SerializeToString())
        for _ in range(500):
            answer = ForwardMsg()
            answer.ParseFromString(stream.recv(timeout=30))
            if answer.WhichOneof("type") == "script_finished":
                return
    raise AssertionError("the script did not end within 500 messages")


def static_file(server: Server) -> str:
    page = ask(server, "/")[2].decode()
    return "/static/js/" + page.partition("./static/js/")[2].partition('"')[0]


def test_every_kind_of_answer_has_the_headers(server: Server) -> None:
    broken = {"/broken": 500, "/media/none": 404, "/..%2f..%2fetc": 400, "/_stcore/metrics": 404}
    found = dict.fromkeys(("/", "/cost", "/healthz", "/_stcore/health", static_file(server)), 200) | broken
    for path, expected in found.items():
        status, headers, _ = ask(server, path)
        assert status == expected, path
        policy = headers["Content-Security-Policy"]
        assert "frame-ancestors 'self' https://*.streamlit.app https://share.streamlit.io" in policy
        assert "default-src 'none'; script-src 'self' 'sha256-" in policy
        assert "unsafe-eval" not in policy
        assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
        assert "camera=()" in headers["Permissions-Policy"]
        assert headers["Strict-Transport-Security"] is None


def test_only_behind_https_the_browser_is_held_to_it(server: Server) -> None:
    headers = ask(server, "/healthz", **{"X-Forwarded-Proto": "https"})[1]
    assert headers["Strict-Transport-Security"] == "max-age=31536000"


def test_static_files_are_still_kept_by_the_browser(server: Server) -> None:
    assert ask(server, static_file(server))[1]["Cache-Control"] == "public, immutable, max-age=31536000"


def test_alive_and_ready(server: Server) -> None:
    assert ask(server, "/healthz")[2] == b'{"state":"alive"}'
    for _ in range(300):
        status, headers, said = ask(server, "/readyz")
        if status == 200:
            break
        time.sleep(0.1)
    assert (status, headers["Cache-Control"], said) == (200, "no-store", b'{"state":"ready"}')


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        (f"/?text={'x' * 33_000}", "GET", 414),
        (f"/?{'a=1&' * 200}", "GET", 414),
        ("/", "POST", 405),
        ("/_stcore/upload_file/session/file", "PUT", 405),
        ("/_stcore/upload_file/session/file", "OPTIONS", 404),
        ("/_stcore/agent/openapi.json", "GET", 404),
        ("/_stcore/bidi-components/x", "GET", 404),
        ("/component/x/index.html", "GET", 404),
        ("/auth/login", "GET", 404),
        ("/oauth2callback", "GET", 404),
    ],
)
def test_what_is_refused(server: Server, path: str, method: str, status: int) -> None:
    assert ask(server, path, method)[0] == status


def test_a_page_of_another_host_may_not_speak_to_the_dashboard_and_nobody_is_asked_who_this_host_is(
    server: Server,
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"{server.address.replace('http', 'ws')}/_stcore/stream", origin=Origin("https://evil.example"))
    assert refused.value.response.status_code == 403
    ask(server, "/_stcore/health", Origin="https://evil.example")
    assert "disallowed Origin or Host header: origin=…, host=…" in server.log()
    assert "external IP" not in server.log()
    assert "evil" not in server.log()


def test_a_page_that_breaks_is_told_by_type_place_and_page_and_no_reader_is_quoted(server: Server) -> None:
    assert ask(server, f"/broken?text={SAID}")[0] == 500
    visit(server, "cost", text=f"warn {SAID}")
    visit(server, "", text=f"break {SAID}")
    visit(server, "causal_mask", text=f"break {SAID}")
    log = server.log()
    assert SAID not in log
    lines = log.splitlines()
    warned = [line for line in lines if "warning=RuntimeWarning" in line]
    assert warned
    assert all("at=streamlit_app.py:" in line for line in warned)
    raised = [line for line in lines if "ERROR Uncaught app execution" in line]
    assert [re.search(r"page=(\w+)", line)[1] for line in raised] == ["home", "causal_mask"]
    assert all(re.search(r"exception=LookupError places=.*<core/settings\.py:.*<ui/main\.py:", line) for line in raised)
    after_the_start = lines[next(i for i, line in enumerate(lines) if " INFO started python=" in line) :]
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* [A-Z]+ \S", line) for line in after_the_start if line)
    assert [line for line in after_the_start if " INFO " in line] == after_the_start[:1]  # no line a request
    assert any("exception=ZeroDivisionError after=ValueError" in line for line in lines)
    assert "127.0.0.1:" not in log.replace(server.address, "")
    assert "Traceback" not in log
