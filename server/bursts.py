"""What a run of a page has to say reaches the browser at once, not word by word."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from server.changes import Changes, Said
from ui.in_browser import PACKED

HELD_FOR = 0.1
"""Seconds after which a run that still goes on shows what it has: what a reader takes for at once."""

LAST_WORD_WITHIN = 0.005
"""Seconds after the end of a run in which its last word, that nothing runs any more, is waited for."""


class Bursts:
    """Middleware that holds the messages of a run until it ends.

    The browser draws the whole page anew for the first message of a run, for those that have come meanwhile, and so on
    up to the last, while the server, often on the same processor, works out the rest. All at once are drawn once. A
    browser that says it can unpack them gets them in one message, and without those that say what it shows already: to
    take in each of a page's hundred costs it a tenth of a millisecond and more, the server a little less.

    Parameters
    ----------
    app : ASGIApp
        What speaks.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold what a websocket is sent; pass on all the rest."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        burst = _Burst(send, PACKED in parse_qs(scope.get("query_string", b"").decode("latin-1")))
        try:
            await self.app(scope, burst.listening(receive), burst.take)
        finally:
            burst.forget()


class _Burst:
    """The messages of one connection that wait."""

    def __init__(self, send: Send, packs: bool) -> None:
        self._send = send
        self._packs = packs
        self._changes = Changes()
        self._held: list[Said] = []
        self._sending = asyncio.Lock()  # whoever sends first has the older messages
        self._running = False
        self._later: asyncio.Task[None] | None = None

    def listening(self, receive: Receive) -> Receive:
        """What the browser says, heard on its way."""

        async def heard() -> Message:
            message = await receive()
            if self._packs:
                self._changes.asked(message)
            return message

        return heard

    async def take(self, message: Message) -> None:
        """Hold a message, or send it after those that are held."""
        payload = message.get("bytes") if message["type"] == "websocket.send" else None
        content = ForwardMsg.FromString(payload or b"")
        self._held.append(Said(message, content))
        match _says(content):
            case "begins":
                self._running = True
                self._hold(HELD_FOR)
            case "ends":
                self._running = False
                self._hold(LAST_WORD_WITHIN)
            case "goes on" if self._later is not None:
                pass  # with those that are held
            case "goes on" if self._running:
                self._hold(HELD_FOR)
            case _:
                self.forget()
                await self._flush()

    def forget(self) -> None:
        """Nothing is sent later any more."""
        if self._later is not None:
            self._later.cancel()
            self._later = None

    def _hold(self, seconds: float) -> None:
        self.forget()
        self._later = asyncio.create_task(self._flush_in(seconds))

    async def _flush_in(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._later = None  # from here on it sends, and must not be stopped half way
        with suppress(OSError):  # the reader has left; Streamlit hears of it at its own next message
            await self._flush()

    async def _flush(self) -> None:
        async with self._sending:
            held, self._held = self._held, []
            messages = packed(self._changes.of(held)) if self._packs else (message for message, _ in held)
            for message in messages:
                await self._send(message)


def packed(messages: Iterable[Message]) -> Iterator[Message]:
    r"""Messages of bytes that follow each other, as one.

    Parameters
    ----------
    messages : iterable of ASGI messages
        What is to be sent.

    Yields
    ------
    ASGI message
        One that stands alone as it is; of several, a 0, with which no message of Streamlit begins (its first byte names
        a field, and fields count from 1), and then each after its length in four bytes, the largest first.

    Examples
    --------
    >>> [message["bytes"] for message in packed({"type": "websocket.send", "bytes": text} for text in (b"on", b"e"))]
    [b'\x00\x00\x00\x00\x02on\x00\x00\x00\x01e']
    """
    for of_bytes, group in groupby(messages, lambda message: bool(message.get("bytes"))):
        several = list(group)
        if not of_bytes or len(several) == 1:
            yield from several
            continue
        body = bytearray(1)
        for message in several:
            body += len(message["bytes"]).to_bytes(4, "big") + message["bytes"]
        yield {"type": "websocket.send", "bytes": bytes(body)}


def _says(content: ForwardMsg) -> str:
    """What a message says of the run that it belongs to: it begins, goes on or ends; or "now"."""
    match content.WhichOneof("type"):
        case None:
            return "now"  # the connection itself: accepted, closed
        case "new_session":
            return "begins"
        case "script_finished":
            return "ends"
        case "session_status_changed" if not content.session_status_changed.script_is_running:
            return "now"  # the last word
    return "goes on"
