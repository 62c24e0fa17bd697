"""Streamlit's own page, with a script of ours that must run before Streamlit's program does."""

import gzip

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui import in_browser

BEGINNING = f"<script>{in_browser.TOGETHER}</script>".encode()
"""What is put in front of the page's first script."""


class Document:
    """Middleware that adds `BEGINNING` to every page that is asked for; all other answers pass through untouched.

    Parameters
    ----------
    app : ASGIApp
        What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with the addition."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        begins: Message = {}
        body = b""

        async def with_beginning(message: Message) -> None:
            nonlocal begins, body
            if message["type"] == "http.response.start" and _is_page(message):
                begins = message
            elif begins and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    headers = MutableHeaders(scope=begins)
                    page = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
                    page = page.replace(b"<script", BEGINNING + b"<script", 1)
                    # What a browser has kept must not outlive a change of ours that Streamlit's file knows nothing of.
                    for name in ("accept-ranges", "content-encoding", "etag", "last-modified"):
                        del headers[name]
                    headers["content-length"] = str(len(page))
                    await send(begins)
                    await send({"type": "http.response.body", "body": page})
            else:
                await send(message)

        await self.app(scope, receive, with_beginning)


def _is_page(message: Message) -> bool:
    headers = Headers(raw=message["headers"])
    written = headers.get("content-encoding", "identity") in ("identity", "gzip")
    return message["status"] == 200 and headers.get("content-type", "").startswith("text/html") and written
