"""The exercises to take home: a notebook with functions to write, and the file that checks them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ui.take_home import notebook, scripts
from ui.take_home.tables import pack

FOLDER = scripts.SOURCES / "exercises"


@dataclass(frozen=True, slots=True)
class File:
    """One of the files."""

    key: str
    """Of its button."""
    content: bytes
    kind: str
    """MIME type."""


def files(words: Sequence[str], seed: int) -> dict[str, File]:
    """The files for a sentence and a seed.

    Parameters
    ----------
    words : sequence of str
        The reader's sentence; may be empty, then it is the lesson's.
    seed : int
        The checks draw their numbers from it.

    Returns
    -------
    dict of str to File
        By file name.

    Examples
    --------
    >>> list(files(["a"], 3))
    ['build_attention.ipynb', 'check_attention.py', 'read_me.txt']
    """
    source = (FOLDER / "build_attention.py").read_text(encoding="utf-8")
    values: dict[str, object] = {"seed": seed} | ({"words": list(words)} if words else {})
    built = notebook.build(scripts.compose(source, values, notebook=True))
    return {
        "build_attention.ipynb": File("notebook", built, "application/x-ipynb+json"),
        "check_attention.py": File("check", (FOLDER / "check_attention.py").read_bytes(), "text/x-python"),
        "read_me.txt": File("read_me", (FOLDER / "read_me.txt").read_bytes(), "text/plain"),
    }


def archive(made: Mapping[str, File]) -> bytes:
    """All files in one.

    Parameters
    ----------
    made : mapping of str to File
        From `files`.

    Returns
    -------
    bytes
        A ZIP file; the same files give the same bytes.

    Examples
    --------
    >>> archive(files(["a"], 3)) == archive(files(["a"], 3))
    True
    """
    return pack((name, file.content) for name, file in made.items())
