"""The exercises to take home: a notebook with functions to write, and the file that checks them."""

from collections.abc import Sequence

from ui.take_home import notebook, scripts
from ui.take_home.tables import pack

FOLDER = scripts.SOURCES / "exercises"

NOTEBOOK = "build_attention.ipynb"
FILES = {NOTEBOOK: "application/x-ipynb+json", "check_attention.py": "text/x-python", "read_me.txt": "text/plain"}
"""Name of each file to its MIME type."""


def content(name: str, words: Sequence[str], seed: int) -> bytes:
    """One of the files, for a sentence and a seed.

    Parameters
    ----------
    name : str
        One of `FILES`.
    words : sequence of str
        The reader's sentence; may be empty, then it is the lesson's.
    seed : int
        The checks draw their numbers from it.

    Returns
    -------
    bytes
        The same for the same sentence and seed.

    Raises
    ------
    ValueError
        There is no such file.

    Examples
    --------
    >>> content("read_me.txt", ["a"], 3).decode().splitlines()[0]
    'Build attention yourself'
    """
    if name not in FILES:
        raise ValueError(f"name must be one of {', '.join(FILES)}; got {name!r}")
    if name != NOTEBOOK:
        return (FOLDER / name).read_bytes()
    source = (FOLDER / "build_attention.py").read_text(encoding="utf-8")
    values: dict[str, object] = {"seed": seed} | ({"words": list(words)} if words else {})
    return notebook.build(scripts.compose(source, values, notebook=True))


def archive(words: Sequence[str], seed: int) -> bytes:
    """All files in one.

    Parameters
    ----------
    words, seed
        As in `content`.

    Returns
    -------
    bytes
        A ZIP file; the same for the same sentence and seed.

    Examples
    --------
    >>> archive(["a"], 3) == archive(["a"], 3)
    True
    """
    return pack((name, content(name, words, seed)) for name in FILES)
