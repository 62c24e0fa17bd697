"""What is done between the start of a process and its first reader."""

import importlib

LOADED = ("numpy", "pandas", "altair", "pyarrow", "ui.pages")
"""Modules that every page needs and that the first reader would otherwise wait for."""


def warm() -> None:
    """Load what every page needs; runs once, on a thread of its own, and the process is ready when it returns.

    Raises
    ------
    ImportError
        A module cannot be loaded; the process will not become ready.
    """
    for name in LOADED:
        importlib.import_module(name)
