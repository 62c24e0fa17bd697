"""Headers that tell a browser what this site never does, on every answer of the server."""

import base64
import functools
import hashlib
import os
import re
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui import in_browser

FRAME_ANCESTORS = "DASHBOARD_FRAME_ANCESTORS"
"""Environment variable: sites that may show the dashboard in a frame of theirs, as in a content security policy."""

MAY_FRAME = "'self' https://*.streamlit.app https://share.streamlit.io"
"""Where the environment says nothing: this server, and Streamlit Community Cloud, which shows every app in a frame.

There are no accounts and nothing is kept, so a frame on somebody's app there could steal nothing.
"""

_SITE = re.compile(r"https?://(\*\.)?[a-z0-9.-]+(:(\d{1,5}|\*))?|'self'|https?:", re.IGNORECASE)

_NOT_USED = (
    *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "geolocation", "gyroscope"),
    *("magnetometer", "microphone", "midi", "payment", "publickey-credentials-get", "screen-wake-lock", "usb"),
    "xr-spatial-tracking",
)
"""Abilities of a browser that neither this site nor a site in a frame of it may ask for."""


def frame_ancestors() -> str:
    """Sites that may show the dashboard in a frame of theirs.

    Returns
    -------
    str
        Sources of a content security policy, separated by spaces.

    Raises
    ------
    ValueError
        The environment says something that is no such list.

    Examples
    --------
    >>> frame_ancestors().split()[0]
    "'self'"
    """
    given = os.environ.get(FRAME_ANCESTORS, MAY_FRAME).split()
    if given != ["'none'"] and not (given and all(_SITE.fullmatch(site) for site in given)):
        raise ValueError(
            f"{FRAME_ANCESTORS} must be 'none', or 'self' and sites such as https://moodle.example.edu separated by "
            f"spaces; got {os.environ[FRAME_ANCESTORS]!r}"
        )
    return " ".join(given)


@functools.lru_cache(maxsize=4)
def content_security_policy(ancestors: str) -> str:
    """What a page of this site may load, run and talk to.

    Parameters
    ----------
    ancestors : str
        Of `frame_ancestors`.

    Returns
    -------
    str
        Value of the header.

    Examples
    --------
    >>> "'unsafe-eval'" in content_security_policy("'none'")
    False
    """
    ours = " ".join(_hash(text) for text in (*_scripts_of_streamlit(), *in_browser.ALLOWED))
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' {ours}",
            "style-src 'self' 'unsafe-inline'",  # Streamlit and Vega style their elements one by one
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",  # the websocket too; Safari before 16 would refuse it
            "worker-src 'self' blob:",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {ancestors}",
        )
    )


def _scripts_of_streamlit() -> list[str]:
    """Scripts that stand in Streamlit's own page; read from it, so that another version brings its own."""
    page = Path(st.__file__).parent / "static" / "index.html"
    return re.findall(r"<script>(.*?)</script>", page.read_text(encoding="utf-8"), re.DOTALL)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class SafetyHeaders:
    """Middleware that adds the headers to every answer over HTTP; websockets pass through untouched.

    Parameters
    ----------
    app : ASGIApp
        What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with the headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False
        secure = "https" in (scope.get("scheme"), Headers(scope=scope).get("x-forwarded-proto"))

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = content_security_policy(frame_ancestors())
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"  # an address holds the reader's sentence
                headers["Permissions-Policy"] = ", ".join(f"{name}=()" for name in _NOT_USED)
                if secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        try:
            await self.app(scope, receive, with_headers)
        except Exception:
            if not begun:  # Starlette's own page for this comes from outside of all middleware
                await with_headers(
                    {"type": "http.response.start", "status": 500, "headers": [(b"content-type", b"text/plain")]}
                )
                await send({"type": "http.response.body", "body": b"Internal Server Error"})
            raise
