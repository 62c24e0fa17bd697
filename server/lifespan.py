"""From the start of the server to its end."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType

import streamlit as st

from server import logs
from server.headers import frame_ancestors
from server.limits import most_readers
from server.outside import stay_here
from server.readiness import PROCESS
from server.warming import warm

_Handler = Callable[[int, FrameType | None], object]

DRAIN = "DASHBOARD_DRAIN_SECONDS"
"""Environment variable: how long the process goes on serving after SIGTERM, while it says that it is not ready."""

LONGEST_DRAIN = 600.0
"""Seconds."""


def drain_seconds() -> float:
    """How long a proxy is given to notice that this process stops.

    Returns
    -------
    float
        Seconds; 0 unless the environment says otherwise.

    Raises
    ------
    ValueError
        It says something else than a number of seconds.

    Examples
    --------
    >>> drain_seconds()
    0.0
    """
    given = os.environ.get(DRAIN, "0")
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_DRAIN:
        raise ValueError(f"{DRAIN} must be a number of seconds from 0 to {LONGEST_DRAIN:g}; got {given!r}")
    return seconds


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """What `st.App` runs around its serving: prepare in the background, and be unready before the end.

    Parameters
    ----------
    app : App
        The dashboard.

    Yields
    ------
    None
        While it serves.
    """
    # What the environment says wrongly ends the start, and is told in full: no reader has come yet.
    frame_ancestors()
    most_readers()
    drain = drain_seconds()
    logs.configure()
    stay_here()
    _be_unready_first(drain)
    threading.Thread(target=PROCESS.prepare, args=(warm,), name="warming", daemon=True).start()
    yield
    PROCESS.stop()


def _be_unready_first(seconds: float) -> None:
    """On SIGTERM: say so to whoever asks, and end after some seconds; a second SIGTERM ends at once."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread is told of signals
    loop = asyncio.get_running_loop()
    end = signal.getsignal(signal.SIGTERM)  # uvicorn's, which closes the door at once
    if callable(end):
        signal.signal(signal.SIGTERM, _unready_first(end, seconds, loop))


def _unready_first(end: _Handler, seconds: float, loop: asyncio.AbstractEventLoop) -> _Handler:
    def unready(number: int, frame: FrameType | None) -> None:
        PROCESS.stop()
        if seconds:
            signal.signal(signal.SIGTERM, end)
            loop.call_soon_threadsafe(loop.call_later, seconds, end, number, frame)
        else:
            end(number, frame)

    return unready
