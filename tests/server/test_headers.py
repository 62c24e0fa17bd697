"""What the environment may say of frames and readers, and which scripts the policy knows."""

import asyncio
import textwrap

import pytest

from server import headers, limits
from tests.coroutines import completed
from ui import in_browser


@pytest.mark.parametrize("given", ["'none'", "'self'", "'self' https://moodle.example.edu http://*.example.org:8080"])
def test_sites_that_may_frame_stand_in_the_policy(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(headers.FRAME_ANCESTORS, given)
    policy = headers.content_security_policy(headers.frame_ancestors())
    assert policy.endswith(f"; frame-ancestors {given}")


@pytest.mark.parametrize(
    "given",
    ["", "moodle.example.edu", "'none' https://a.org", "https://a.org; script-src *", "https://a.org\nX: y", "*"],
)
def test_anything_else_is_told_and_not_sent(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(headers.FRAME_ANCESTORS, given)
    with pytest.raises(ValueError, match="DASHBOARD_FRAME_ANCESTORS must be 'none', or 'self' and sites such as"):
        headers.frame_ancestors()


@pytest.mark.parametrize("code", in_browser.ALLOWED)
def test_a_script_reaches_the_browser_as_the_text_whose_hash_is_allowed(code: str) -> None:
    element = in_browser.element(code, "cost")
    assert textwrap.dedent(element).strip() == element  # what `st.html` does to it
    assert element.partition(">")[2].removesuffix("</script>") == code
    assert headers._hash(code) in headers.content_security_policy("'self'")


def test_another_script_is_no_element() -> None:
    with pytest.raises(ValueError, match="code must be one of the texts in ALLOWED; got one of 8 characters"):
        in_browser.element("alert(1)")


def test_one_reader_too_many_is_refused_until_another_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.READERS, "1")

    async def trying() -> list[str]:
        leave = asyncio.Event()
        said: list[str] = []

        async def serve(scope: object, receive: object, send: object) -> None:
            said.append("served")
            await leave.wait()

        async def receive() -> dict[str, object]:
            return {"type": "websocket.connect"}

        async def send(message: dict[str, object]) -> None:
            said.append(f"{message['type']} {message['code']}")

        guard = limits.Limits(serve)
        first = asyncio.create_task(guard({"type": "websocket"}, receive, send))
        await asyncio.sleep(0)
        await guard({"type": "websocket"}, receive, send)
        leave.set()
        await first
        await guard({"type": "websocket"}, receive, send)
        return said

    assert completed(trying()) == ["served", "websocket.close 1013", "served"]


@pytest.mark.parametrize("given", ["0", "-1", "many", "1.5"])
def test_the_number_of_readers_must_be_one(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.READERS, given)
    with pytest.raises(ValueError, match="DASHBOARD_MAX_READERS must be a whole number from 1 to 999999; got"):
        limits.most_readers()
