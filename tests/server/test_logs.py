"""What a record of the log keeps, whoever makes it."""

import logging
import sys
import warnings
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from server import logs

READER = "Meera bought a new bat"
LOGGER = logging.getLogger("somebody.else")


class Kept(logging.Handler):
    """Formats as any other handler would, the exception too."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line."""
        self.lines.append(logging.Formatter("%(message)s").format(record))


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Lines that a handler of somebody else writes while records are stripped."""
    handler, before = Kept(), logging.getLogRecordFactory()
    logging.setLogRecordFactory(logs.stripped_record)
    LOGGER.addHandler(handler)
    LOGGER.propagate = False
    yield handler.lines
    LOGGER.removeHandler(handler)
    LOGGER.propagate = True
    logging.setLogRecordFactory(before)


def test_a_message_of_the_source_is_kept_with_its_numbers_alone(lines: list[str]) -> None:
    LOGGER.error("read %s after %d of %.1f s", READER, 3, 0.25)
    assert lines[0].startswith("read … after 3 of 0.2 s logger=somebody.else at=tests/server/test_logs.py:")


def test_a_message_that_was_put_together_is_withheld(lines: list[str]) -> None:
    LOGGER.error(f"cannot read {READER}")
    LOGGER.error("cannot read " + READER)
    LOGGER.error(READER)
    LOGGER.error(f"{READER} %s", READER)
    LOGGER.error(ValueError(READER))
    LOGGER.error("wrong %d", READER)
    LOGGER.error("by name %(name)s", {"name": READER})
    assert len(lines) == 7
    assert all("Meera" not in line for line in lines)
    assert sum(line.startswith("… logger=") for line in lines) == 5


def test_an_exception_is_its_type_and_its_places(lines: list[str]) -> None:
    try:
        try:
            raise KeyError(READER)
        except KeyError as missing:
            raise ValueError(f"got {READER!r}") from missing
    except ValueError:
        LOGGER.exception("failed", stack_info=True)
    assert "\n" not in lines[0]
    assert " exception=ValueError after=KeyError places=tests/server/test_logs.py:" in lines[0]
    assert "Meera" not in lines[0]


def test_a_warning_is_its_kind_and_its_place(lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "get_logger", lambda _: LOGGER)
    monkeypatch.setattr(logs, "OURS", LOGGER.name)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", logs._log_warning)
        warnings.warn(READER, RuntimeWarning, stacklevel=1)
    assert lines[0].startswith("warning=RuntimeWarning at=tests/server/test_logs.py:")


def test_places_are_within_the_project_or_a_package() -> None:
    assert logs.place(pytest.__file__, 7) == "pytest/__init__.py:7"
    assert logs.place(sys.executable + "/../secret.py", 7).endswith(":7")
    assert logs.place("/home/meera/secret.py", 7) == "secret.py:7"


@pytest.mark.parametrize(("script", "page"), [("/app/pages/cost.py", "cost"), ("/app/ui/main.py", None)])
def test_the_page_is_named_by_its_script_and_never_by_what_was_typed(
    script: str, page: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"hash": {"page_script_hash": "", "page_name": READER, "icon": "", "script_path": script}}
    context = SimpleNamespace(page_script_hash="hash", pages_manager=SimpleNamespace(get_pages=lambda: known))
    monkeypatch.setattr(logs, "get_script_run_ctx", lambda suppress_warning: context)
    assert logs._page() == page
    context.page_script_hash = "another"
    assert logs._page() is None
