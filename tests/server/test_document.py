"""Every page has our script before Streamlit's; what is no page is not touched."""

import gzip
from typing import Any

import pytest

from server import document
from server.document import Document
from tests.coroutines import completed

PAGE = b"<!doctype html><title>\xe2\x88\x91</title><script>one</script><script>two</script>"
WITH_OURS = PAGE.replace(b"<script>one", document.BEGINNING + b"<script>one")
KEPT = {"content-type": "text/html; charset=utf-8", "etag": '"7"', "last-modified": "then", "accept-ranges": "bytes"}


def answered(
    parts: list[bytes], headers: dict[str, str], status: int = 200, method: str = "GET"
) -> tuple[dict[str, str], bytes, int]:
    """What the browser gets of an answer that comes in parts: headers, body, number of messages."""
    got: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": pairs})
        for number, part in enumerate(parts):
            await send({"type": "http.response.body", "body": part, "more_body": number + 1 < len(parts)})

    async def receive() -> dict[str, Any]:
        raise AssertionError("nothing is asked of the browser")

    async def send(message: Any) -> None:
        got.append(message)

    completed(Document(app)({"type": "http", "method": method}, receive, send))
    assert got[0]["status"] == status
    found = {name.decode(): value.decode() for name, value in got[0]["headers"]}
    return found, b"".join(message["body"] for message in got[1:]), len(got)


@pytest.mark.parametrize("cut", [0, 5, 43, len(PAGE)])
def test_a_page_in_parts_gets_our_script_before_its_first(cut: int) -> None:
    headers, body, messages = answered([PAGE[:cut], PAGE[cut:]], KEPT)
    assert (body, messages) == (WITH_OURS, 2)
    assert headers == {"content-type": KEPT["content-type"], "content-length": str(len(WITH_OURS))}


def test_a_compressed_page_gets_it_as_well() -> None:
    headers, body, _ = answered([gzip.compress(PAGE)], {**KEPT, "content-encoding": "gzip"})
    assert body == WITH_OURS
    assert "content-encoding" not in headers


@pytest.mark.parametrize(
    ("headers", "status", "method"),
    [
        ({**KEPT, "content-type": "text/javascript"}, 200, "GET"),
        ({**KEPT, "content-encoding": "br"}, 200, "GET"),  # of which it knows nothing
        (KEPT, 404, "GET"),
        (KEPT, 206, "GET"),
        (KEPT, 200, "HEAD"),
    ],
)
def test_other_answers_pass_as_they_are(headers: dict[str, str], status: int, method: str) -> None:
    assert answered([PAGE[:11], PAGE[11:]], headers, status, method) == (headers, PAGE, 3)
