"""The messages of a run come in one burst, in their order, and none is lost."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from server import bursts
from server.bursts import Bursts
from tests.coroutines import completed
from tests.load.reader import unpacked

BEGINS, ENDS = ForwardMsg(), ForwardMsg()
BEGINS.new_session.name = "a run"
ENDS.script_finished = ForwardMsg.FINISHED_SUCCESSFULLY
RUNS, RESTS = ForwardMsg(), ForwardMsg()
RUNS.session_status_changed.script_is_running = True
RESTS.session_status_changed.script_is_running = False


def delta(text: str) -> ForwardMsg:
    """An element of a page."""
    message = ForwardMsg()
    message.delta.new_element.html.body = text
    return message


def conversation(
    script: Callable[[Callable[[ForwardMsg], Awaitable[None]]], Awaitable[None]], query: bytes = b""
) -> list[tuple[str, int]]:
    """What the browser got of what the script said: each message with the number of those said by then.

    With a query that asks for packed ones, those of one frame share a number, and "frame" stands before them.
    """
    got: list[tuple[str, int]] = []
    said = 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def say(message: ForwardMsg) -> None:
            nonlocal said
            said += 1
            await send({"type": "websocket.send", "bytes": message.SerializeToString()})

        await send({"type": "websocket.accept"})
        await script(say)

    async def send(message: Message) -> None:
        if message["type"] == "websocket.send":
            if message["bytes"].startswith(b"\0"):
                got.append(("frame", said))
            for part in unpacked(message["bytes"]):
                one = ForwardMsg.FromString(part)
                got.append((one.delta.new_element.html.body or str(one.WhichOneof("type")), said))
        else:
            got.append((message["type"], said))

    async def receive() -> Message:
        raise AssertionError("nothing is said to the server here")

    completed(Bursts(app)({"type": "websocket", "query_string": query}, receive, send))
    return got


def test_a_run_comes_at_once_with_its_last_word() -> None:
    async def script(say: Callable[[ForwardMsg], Awaitable[None]]) -> None:
        for message in (BEGINS, RUNS, delta("a"), delta("b" * 5003), ENDS, RESTS):
            await say(message)

    assert conversation(script) == [
        ("websocket.accept", 0),
        ("new_session", 6),
        ("session_status_changed", 6),
        ("a", 6),
        ("b" * 5003, 6),
        ("script_finished", 6),
        ("session_status_changed", 6),
    ]


@pytest.mark.parametrize("query", [b"packed=1", b"a=%C3%A9&packed=1", b"packed=1&b="])
def test_a_browser_that_can_unpack_gets_a_run_in_one_message(query: bytes) -> None:
    async def script(say: Callable[[ForwardMsg], Awaitable[None]]) -> None:
        for message in (BEGINS, delta("a"), delta("b" * 70_001), ENDS, RESTS, RESTS):
            await say(message)

    assert conversation(script, query) == [
        ("websocket.accept", 0),
        ("frame", 5),
        ("new_session", 5),
        ("a", 5),
        ("b" * 70_001, 5),
        ("script_finished", 5),
        ("session_status_changed", 5),
        ("session_status_changed", 6),  # alone, and so not packed
    ]


@pytest.mark.parametrize("query", [b"", b"unpacked=1", b"x=packed", b"%ff%fe=%ff"])
def test_any_other_gets_them_one_by_one(query: bytes) -> None:
    async def script(say: Callable[[ForwardMsg], Awaitable[None]]) -> None:
        for message in (BEGINS, ENDS, RESTS):
            await say(message)

    assert "frame" not in [what for what, _ in conversation(script, query)]


@given(st.lists(st.one_of(st.none(), st.binary(min_size=1).filter(lambda message: message[0] != 0)), max_size=13))
def test_packing_keeps_every_message_and_their_order(said: list[bytes | None]) -> None:
    """None stands for a message of another kind, such as the end of the connection."""
    messages = [
        {"type": "websocket.close"} if one is None else {"type": "websocket.send", "bytes": one} for one in said
    ]
    sent = list(bursts.packed(messages))
    got = [part for message in sent for part in (unpacked(message["bytes"]) if "bytes" in message else [None])]
    assert got == said
    of_bytes = ["bytes" in message for message in sent]
    assert not any(one and other for one, other in pairwise(of_bytes))


def test_a_long_run_shows_what_it_has() -> None:
    async def script(say: Callable[[ForwardMsg], Awaitable[None]]) -> None:
        await say(BEGINS)
        await say(delta("a"))
        await asyncio.sleep(3 * bursts.HELD_FOR)
        await say(delta("b"))
        await say(delta("c"))
        await asyncio.sleep(3 * bursts.HELD_FOR)
        await say(ENDS)
        await say(RESTS)

    assert conversation(script)[1:] == [
        ("new_session", 2),
        ("a", 2),
        ("b", 4),
        ("c", 4),
        ("script_finished", 6),
        ("session_status_changed", 6),
    ]


def test_an_end_without_a_last_word_is_not_kept() -> None:
    async def script(say: Callable[[ForwardMsg], Awaitable[None]]) -> None:
        await say(BEGINS)
        await say(ENDS)
        await asyncio.sleep(bursts.HELD_FOR / 2)
        await say(BEGINS)
        await say(ENDS)
        await say(RESTS)

    assert [said for _, said in conversation(script)[1:]] == [2, 2, 5, 5, 5]


def test_what_belongs_to_no_run_passes() -> None:
    async def script(say: Callable[[ForwardMsg], Awaitable[None]]) -> None:
        await say(delta("a"))
        await say(RESTS)

    assert conversation(script)[1:] == [("a", 1), ("session_status_changed", 2)]


def test_a_reader_who_left_is_no_error() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.send", "bytes": BEGINS.SerializeToString()})
        await asyncio.sleep(2 * bursts.HELD_FOR)

    async def gone(message: Message) -> None:
        raise OSError("the connection is closed")

    async def receive() -> Message:
        raise AssertionError("nothing is said to the server here")

    completed(Bursts(app)({"type": "websocket"}, receive, gone))
