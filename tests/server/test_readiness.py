"""From the start of a process to its end: what the readiness route would say."""

import signal
from unittest.mock import Mock

import pytest

from server import lifespan
from server.readiness import Readiness, State
from server.routes import ROUTES
from ui.pages import ORDER


def test_ready_once_prepared_and_never_again_after_the_stop() -> None:
    readiness = Readiness()
    seen = []
    readiness.prepare(lambda: seen.append(readiness.state))
    assert seen == [State.STARTING]
    assert readiness.state is State.READY
    readiness.stop()
    readiness.prepare(lambda: None)
    assert readiness.state is State.STOPPING


def test_a_process_that_cannot_prepare_itself_is_never_ready() -> None:
    readiness = Readiness()
    with pytest.raises(ZeroDivisionError):
        readiness.prepare(lambda: 1 / 0)
    assert readiness.state is State.FAILED


@pytest.mark.parametrize("seconds", [0.0, 10.0])
def test_sigterm_makes_it_unready_first_and_ends_it_later(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    readiness = Readiness()
    monkeypatch.setattr(lifespan, "PROCESS", readiness)
    ended: list[State] = []
    loop = Mock()
    end = lifespan._unready_first(lambda *_: ended.append(readiness.state), seconds, loop)
    before = signal.signal(signal.SIGTERM, end)
    try:
        signal.raise_signal(signal.SIGTERM)
        assert readiness.state is State.STOPPING
        assert ended == ([] if seconds else [State.STOPPING])
        if seconds:
            assert loop.call_soon_threadsafe.call_args.args[:2] == (loop.call_later, seconds)
            signal.raise_signal(signal.SIGTERM)  # the second one does not wait
        assert ended == [State.STOPPING]
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("given", ["soon", "-1", "nan", "601"])
def test_drain_seconds_must_be_a_number_of_seconds(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(lifespan.DRAIN, given)
    with pytest.raises(ValueError, match="DASHBOARD_DRAIN_SECONDS must be a number of seconds from 0 to 600; got"):
        lifespan.drain_seconds()


def test_no_page_is_called_like_a_route() -> None:
    pages = {page.name for page in ORDER}
    assert pages.isdisjoint(route.path.strip("/") for route in ROUTES)
    assert pages.isdisjoint({"_stcore", "media", "static", "component", "app"})
