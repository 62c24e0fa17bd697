"""The log without the readers' texts: every record is stripped when it is made, whoever writes it to wherever.

A message is kept where it stands word for word in the source of whoever logs it; of the values that go into it numbers
are kept. Of an exception its type and the places it passed through are kept, its message is not: it may quote a reader.
"""

import logging
import platform
import sys
import threading
import types
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from streamlit.logger import get_logger, update_formatter
from streamlit.runtime.scriptrunner import get_script_run_ctx

OURS = "dashboard"
"""Name of the logger whose values are all our own and are kept."""

BELOW = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "websockets", "asyncio")
"""Loggers of the servers below Streamlit."""

WITHHELD = "…"
"""Stands for a text."""

_ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = "site-packages"
_MOST_PLACES = 12

_make_record = logging.getLogRecordFactory()


def configure() -> None:
    """Strip all that is logged from now on, warnings and exceptions of threads too, and say that the process began."""
    logging.setLogRecordFactory(stripped_record)
    warnings.showwarning = _log_warning
    threading.excepthook = _log_end_of_thread
    sys.unraisablehook = _log_unraisable
    for name in BELOW:
        get_logger(name).handlers.clear()  # uvicorn has its own way of writing, or took Streamlit's away
    update_formatter()  # Streamlit's format, from .streamlit/config.toml, and its level for all of them
    for name in BELOW:
        for handler in logging.getLogger(name).handlers:
            handler.setLevel(logging.WARNING)  # below that they tell of every connection
    logging.getLogger("uvicorn.access").handlers.clear()  # without one, uvicorn does not even put its lines together
    get_logger(OURS).info(
        "started python=%s streamlit=%s numpy=%s", platform.python_version(), version("streamlit"), version("numpy")
    )


def stripped_record(
    name: str,
    level: int,
    path: str,
    line: int,
    message: Any,
    values: Any,
    exception: Any,
    function: str | None = None,
    stack: str | None = None,
    **rest: Any,
) -> logging.LogRecord:
    """A record of the log that quotes no reader; in place of `logging.LogRecord`.

    Parameters
    ----------
    name, level, path, line, message, values, exception, function, stack, **rest
        As for `logging.LogRecord`.

    Returns
    -------
    LogRecord
        One line, with neither values nor an exception that a formatter could write out.

    Examples
    --------
    >>> stripped_record("other", logging.ERROR, __file__, 1, "to %s", ("Meera",), None).getMessage()
    '… logger=other at=server/logs.py:1'
    """
    said = WITHHELD
    if name == OURS or (isinstance(message, str) and _stands_in_source(message, path, line)):
        said = _filled(str(message), values, trusted=name == OURS)
    parts = [said]
    if name != OURS:
        parts += [f"logger={name}", f"at={place(path, line)}"]
    if (page := _page()) is not None:
        parts.append(f"page={page}")
    if isinstance(exception, tuple) and exception[0] is not None:
        parts.append(of_exception(exception[1]))
    return _make_record(name, level, path, line, " ".join(" ".join(parts).split()), (), None, function, None, **rest)


def of_exception(exception: BaseException) -> str:
    """Type of an exception and the places that it passed through, innermost first.

    Parameters
    ----------
    exception : BaseException
        Its message is not read.

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> of_exception(ValueError("Meera bought a bat"))
    'exception=ValueError places='
    """
    frames, trace = [], exception.__traceback__
    while trace is not None:
        frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    kept = [place(path, line) for path, line in frames if _is_ours(path)]
    if frames and not _is_ours(frames[-1][0]):
        kept.append(place(*frames[-1]))
    cause = exception.__cause__ or (None if exception.__suppress_context__ else exception.__context__)
    after = f" after={type(cause).__name__}" if cause is not None else ""
    return f"exception={type(exception).__name__}{after} places={'<'.join(kept[: -_MOST_PLACES - 1 : -1])}"


def place(path: str, line: int) -> str:
    """Where in the source something stands.

    Parameters
    ----------
    path : str
        Of a file of ours, or of an installed package.
    line : int
        Counted from 1.

    Returns
    -------
    str
        The path within the project or the package, and the line; of any other file its name.

    Examples
    --------
    >>> place("/usr/lib/python3/site-packages/numpy/linalg/_linalg.py", 12)
    'numpy/linalg/_linalg.py:12'
    """
    file = Path(path)
    if _PACKAGES in file.parts:
        file = Path(*file.parts[file.parts.index(_PACKAGES) + 1 :])
    elif _is_ours(path):
        file = file.resolve().relative_to(_ROOT)
    else:
        file = Path(file.name)
    return f"{file.as_posix()}:{line}"


def _is_ours(path: str) -> bool:
    return _PACKAGES not in path and Path(path).resolve().is_relative_to(_ROOT)  # resolved, for folders that are links


def _stands_in_source(message: str, path: str, line: int) -> bool:
    """Whether a message is a constant of the function that logs it, and so no text that was put together."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == path and frame.f_lineno == line:
            return message in frame.f_code.co_consts
        frame = frame.f_back
    return False


def _filled(message: str, values: Any, trusted: bool) -> str:
    if not values:
        return message
    if not isinstance(values, tuple):
        return message if not trusted else message % values
    kept = tuple(value if trusted or isinstance(value, int | float) else WITHHELD for value in values)
    try:
        return message % kept
    except (TypeError, ValueError):  # a number was wanted where a text was withheld
        return message


def _page() -> str | None:
    """Name of the page whose script is running on this thread."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return None
    page = context.pages_manager.get_pages().get(context.page_script_hash)
    script = (
        Path(page["script_path"]) if page is not None else Path()
    )  # not by its name, which the reader may have typed
    return script.stem if script.parent.name == "pages" else None


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    get_logger(OURS).warning("warning=%s at=%s", category.__name__, place(filename, lineno))


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        get_logger(OURS).error("a thread has ended %s", of_exception(ended.exc_value))


def _log_unraisable(lost: Any) -> None:
    if lost.exc_value is not None:
        get_logger(OURS).error("an exception was lost %s", of_exception(lost.exc_value))
