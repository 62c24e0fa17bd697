"""What the server does not take: long links, bodies, addresses of Streamlit's that this dashboard has no use for."""

import os
import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LONGEST_QUERY = 32_768
"""Bytes of a link after its question mark. Two sentences of emoji and three masks set by hand take about 20,000."""

MOST_PARAMETERS = 200
"""Parameters of a link, repeated ones counted each."""

READERS = "DASHBOARD_MAX_READERS"
"""Environment variable: how many tabs one process serves at once."""

MOST_READERS = 1000
"""Where the environment says nothing."""

METHODS = ("GET", "HEAD", "OPTIONS")
"""None of them has a body that anything reads."""

# Streamlit's addresses for files from a reader, components, log-in, agents and statistics; and all that it may add.
_CLOSED = re.compile(r"/(_stcore/(?!(health|host-config|stream)$)|component/|auth/|oauth2callback(/|$))")


def most_readers() -> int:
    """How many tabs one process serves at once.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        The environment says something else than a whole number.

    Examples
    --------
    >>> most_readers()
    1000
    """
    given = os.environ.get(READERS, str(MOST_READERS))
    if not re.fullmatch("[1-9][0-9]{0,5}", given):
        raise ValueError(f"{READERS} must be a whole number from 1 to 999999; got {given!r}")
    return int(given)


def refusal(method: str, path: str, query: bytes) -> PlainTextResponse | None:
    """What a request over HTTP is refused with.

    Parameters
    ----------
    method, path : str
        As asked.
    query : bytes
        What stands after the question mark.

    Returns
    -------
    PlainTextResponse or None
        None for a request that may pass.

    Examples
    --------
    >>> refusal("GET", "/cost", b"d=4") is None
    True
    >>> refusal("PUT", "/cost", b"").status_code
    405
    """
    if method not in METHODS:
        return PlainTextResponse(f"Only {', '.join(METHODS)}.", 405, {"Allow": ", ".join(METHODS)})
    if len(query) > LONGEST_QUERY:
        return PlainTextResponse(
            f"A link may have at most {LONGEST_QUERY} characters after its question mark; this one has {len(query)}.",
            414,
        )
    if (count := query.count(b"&") + 1) > MOST_PARAMETERS:
        return PlainTextResponse(f"A link may have at most {MOST_PARAMETERS} parameters; this one has {count}.", 414)
    if _CLOSED.search(path):
        return PlainTextResponse("Not found.", 404)
    return None


class Limits:
    """Middleware that refuses what the dashboard has no use for.

    Parameters
    ----------
    app : ASGIApp
        What answers all the rest.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._readers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] == "http":
            refused = refusal(scope["method"], scope["path"], scope.get("query_string", b""))
            await (refused or self.app)(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._one_more(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _one_more(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._readers >= most_readers():
            await receive()
            await send({"type": "websocket.close", "code": 1013})  # "try again later"; the browser does by itself
            return
        self._readers += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._readers -= 1
