"""What is done between the start of a process and its first reader."""

import ast
import gc
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def load() -> None:
    """Import what the frame and the pages import, in the order in which a reader's run needs it.

    Raises
    ------
    ImportError
        A module cannot be loaded.
    """
    for script in (ROOT / "ui" / "main.py", *sorted((ROOT / "pages").glob("*.py"))):
        for name in imports_of(script.read_text(encoding="utf-8")):
            importlib.import_module(name)


def imports_of(source: str) -> Iterator[str]:
    r"""Modules that a script imports at its start.

    Pages are scripts: they show something when they are run, so they are read instead.

    Parameters
    ----------
    source : str
        Of the script.

    Yields
    ------
    str
        Full names; of "from a import b", a and, where it is a module, a.b.

    Examples
    --------
    >>> list(imports_of("import json.decoder\nfrom xml import dom\nfrom math import pi"))
    ['json.decoder', 'xml', 'xml.dom', 'math']
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                try:
                    found = importlib.util.find_spec(name)
                except ModuleNotFoundError:  # its parent is a module and no package
                    continue
                if found:
                    yield name


def warm() -> None:
    """Load what every page needs; runs once, on a thread of its own, and the process is ready when it returns.

    A first reader who comes meanwhile waits for no more than the module that is being loaded.

    Raises
    ------
    ImportError
        A module cannot be loaded; the process will not become ready.
    """
    _know_how_it_was_started()
    # Almost nothing that an import makes is garbage, and looking for it takes a quarter of the time.
    gc.disable()
    try:
        load()
    finally:
        gc.enable()
    gc.freeze()
    _trust_charts()


def _know_how_it_was_started() -> None:
    """Keep Streamlit from looking for that when the first element is shown, in the files of all modules.

    It would warn whoever runs a script without ``streamlit run``. The look takes a tenth of the first reader's second.
    """
    from streamlit import delta_generator

    delta_generator._use_warning_has_been_displayed = True


def _trust_charts() -> None:
    """Leave out Altair's check of every part of a chart against its schema, which takes as long as making the chart.

    Tests make every chart with the check; nothing that a reader enters is part of one.
    """
    from altair.utils import schemapi

    schemapi.disable_debug_mode()
