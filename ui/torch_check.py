"""The line 'NumPy = PyTorch' beside a picture: PyTorch is loaded in the background, after the picture was sent."""

import gc
import html
import sys
import threading
from collections.abc import Callable, Hashable

import streamlit as st

from core.agreement import Agreement
from ui import view

PICTURE_FIRST = 1.5
"""Seconds before PyTorch is loaded: meanwhile the first reader's browser fetches the frame's files and paints the
picture, and an import would hold up both."""

_ASKED = "_torch_asked"
_lock = threading.Lock()
_state: dict[str, Exception | bool] = {}


def _load() -> None:
    try:
        import core.torch_reference  # noqa: F401  (loads torch)
    except Exception as error:
        _state["failed"] = error
        return
    # Streamlit collects all garbage after every run; without this each run would walk through PyTorch's objects.
    gc.collect()
    gc.freeze()
    _state["ready"] = True


def start_loading() -> None:
    """Have PyTorch loaded soon, in a thread of its own, once a process."""
    with _lock:
        if "started" not in _state:
            _state["started"] = True
            loading = threading.Timer(PICTURE_FIRST, _load)
            loading.name, loading.daemon = "load-torch", True
            loading.start()


def _ready() -> bool:
    # Loaded by somebody else (a test, a notebook): nothing to wait for.
    return "ready" in _state or ("core.torch_reference" in sys.modules and "started" not in _state)


@st.cache_data(max_entries=256, show_spinner=False)
def _compared(what: str, state: tuple[Hashable, ...], _check: Callable[[], Agreement]) -> Agreement:
    """Outcome for these settings: a check may cost more than the rest of its page."""
    return _check()


def show(
    check: Callable[[], Agreement], what: str, on_request: bool = False, state: tuple[Hashable, ...] | None = None
) -> None:
    """The outcome of a check, or that it is not there yet, or why it could not run.

    Parameters
    ----------
    check : callable
        Imports `core.torch_reference` itself and compares.
    what : str
        What PyTorch function is compared, in our own words.
    on_request : bool
        Leave PyTorch (seconds, and hundreds of megabytes) unloaded until the reader asks. Once it is loaded for
        anybody, checking happens by itself.
    state : tuple or None
        Everything that the numbers on both sides depend on: the outcome is kept for these settings. None checks in
        every run. What could not run is tried again.
    """
    if view.now().presenting:
        return  # a slide has no room for it
    if on_request and not _ready() and not st.session_state.get(_ASKED):
        st.button("Check against PyTorch", on_click=_ask, help=what)
        return
    if _ready() or "failed" in _state:
        _line(check, what, state, waiting=False)
    else:
        st.fragment(_line, run_every=0.4)(check, what, state, waiting=True)
        start_loading()


def _ask() -> None:
    st.session_state[_ASKED] = True


def _line(check: Callable[[], Agreement], what: str, state: tuple[Hashable, ...] | None, waiting: bool) -> None:
    if waiting and (_ready() or "failed" in _state):
        st.rerun()  # the whole page, so that the timer of this fragment ends
    if "failed" in _state:
        _write(
            "unchecked",
            f"Not checked against PyTorch: it could not be loaded ({_state['failed']}).",
            f"Wanted: {what}.",
        )
    elif not _ready():
        _write("unchecked", "Not checked yet: PyTorch is being loaded …", f"To be compared: {what}.")
    else:
        _outcome(check if state is None else lambda: _compared(what, state, check), what)


def _outcome(check: Callable[[], Agreement], what: str) -> None:
    try:
        found = check()
    except Exception as error:  # the page must survive whatever the referee does
        _write("unchecked", f"Not checked against PyTorch: {type(error).__name__}: {error}", f"Wanted: {what}.")
        return
    sign, kind = ("✓ NumPy = PyTorch", "") if found.agrees else ("✗ NumPy and PyTorch differ", "differ")
    size = f"largest difference {found.largest_difference:.1e}"
    where = f"Found in {found.where}, tolerance {found.tolerance:.0e}. " if found.tolerance else ""
    if found.tolerance == 0:
        size = "exactly equal" if found.agrees else f"they differ by {found.largest_difference:,.0f}"
    _write(kind, f"{sign}: {size}", f"{where}Compared: {what}. Why this tolerance: {found.reason}.")


def _write(kind: str, said: str, why: str) -> None:
    # What is compared and why that tolerance opens under the line: a tooltip would not on a phone.
    line, reason = html.escape(said), html.escape(why)
    st.html(f'<details class="agree {kind}"><summary><span role="status">{line}</span></summary>{reason}</details>')
