"""Matrices as files: CSV for a spreadsheet, NPZ for NumPy, and all of them in one archive."""

import csv
import io
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ui.charts.heat_map import Axis

Matrix = tuple[NDArray[np.float64], Axis, Axis]
"""Values of shape (row, column), their rows, their columns."""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_NOT_IN_A_FILE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORMULA = tuple("=+-@＝＋－＠\t\r\n")
# Windows opens a device where a file has one of these names, with any extension.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_OF_NUMPY = frozenset(("file", "allow_pickle"))
"""Names that `numpy.savez_compressed` takes for its own parameters."""


def carried(text: str) -> str:
    r"""Text as every file can carry it.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The same; U+FFFD for each character that neither UTF-8 nor XML knows: half a surrogate pair, a control
        character other than tab and line break.

    Examples
    --------
    >>> carried("a\x00b") == carried("a\ud800b") == "a\ufffdb"
    True
    """
    return _NOT_IN_A_FILE.sub(_REPLACEMENT, text)


def never_a_formula(text: str) -> str:
    """Text that a spreadsheet shows and does not compute.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The same, behind an apostrophe where its first visible character, or its very first one, starts a formula.

    Examples
    --------
    >>> never_a_formula("0 =1+1"), never_a_formula("=1+1"), never_a_formula(" @SUM(A1)")
    ('0 =1+1', "'=1+1", "' @SUM(A1)")
    """
    # Spreadsheets skip spaces, and some of them characters without width, before they look for a formula.
    visible = next((i for i, char in enumerate(text) if unicodedata.category(char)[0] not in "ZC"), len(text))
    return f"'{text}" if text[visible:].startswith(_FORMULA) or text.startswith(_FORMULA) else text


def csv_of(values: NDArray[np.float64], rows: Axis, columns: Axis) -> bytes:
    r"""A matrix as a CSV file, with its names, in full precision.

    Parameters
    ----------
    values : ndarray of shape (row, column)
        Any numbers; masked scores are written ``-inf``.
    rows, columns : Axis
        As long as the two axes.

    Returns
    -------
    bytes
        UTF-8 with a byte order mark, without which Excel garbles accents. Each number is the shortest text that gives
        exactly the same float64 back. Text is in quotes, so that a spreadsheet which separates by semicolons splits no
        word either.

    Raises
    ------
    ValueError
        The axes do not fit the values.

    Examples
    --------
    >>> axis = Axis("query", ("0 a",), ("0 a",))
    >>> csv_of(np.array([[0.1]]), axis, axis).decode("utf-8-sig").splitlines()
    ['"query \\ query","0 a"', '"0 a",0.1']
    """
    _must_fit(values, rows, columns)
    file = io.StringIO(newline="")
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([_cell(f"{rows.title} \\ {columns.title}"), *map(_cell, columns.names)])
    for name, numbers in zip(rows.names, values.tolist(), strict=True):
        writer.writerow([_cell(name), *map(float, numbers)])
    return file.getvalue().encode("utf-8-sig")


def _cell(name: str) -> str:
    return never_a_formula(carried(name))


def _must_fit(values: NDArray[np.float64], rows: Axis, columns: Axis) -> None:
    expected = (len(rows.names), len(columns.names))
    if values.shape != expected:
        raise ValueError(f"values must have shape {expected}; got {values.shape}")


def npz_of(matrices: Mapping[str, Matrix]) -> bytes:
    """Matrices with their names as one compressed NumPy archive, readable without pickle.

    Parameters
    ----------
    matrices : mapping of str to Matrix
        Our own name of each to its values, rows and columns.

    Returns
    -------
    bytes
        For each matrix the array under its key (`file_stem` of its name), and under ``<key>.rows``, ``<key>.columns``
        and ``<key>.axes`` the names of its rows, of its columns, and the titles of both.

    Raises
    ------
    ValueError
        The axes of a matrix do not fit its values.

    Examples
    --------
    >>> axis = Axis("query", ("0 a",), ("0 a",))
    >>> file = np.load(io.BytesIO(npz_of({"scaled scores": (np.array([[0.5]]), axis, axis)})))
    >>> float(file["scaled_scores"][0, 0]), file["scaled_scores.rows"].tolist()
    (0.5, ['0 a'])
    """
    arrays: dict[str, NDArray[np.float64] | NDArray[np.str_]] = {}
    for key, (values, rows, columns) in zip(distinct_stems(matrices, _OF_NUMPY), matrices.values(), strict=True):
        _must_fit(values, rows, columns)
        arrays[key] = np.asarray(values, dtype=np.float64)
        for part, names in (("rows", rows.names), ("columns", columns.names), ("axes", (rows.title, columns.title))):
            arrays[f"{key}.{part}"] = np.array([carried(name) for name in names], dtype=np.str_)
    file = io.BytesIO()
    # Spelled out for the type checker: the keys are none of NumPy's own parameters.
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def zip_of(matrices: Mapping[str, Matrix], extra: Mapping[str, bytes] | None = None) -> bytes:
    """All matrices as CSV files in one archive.

    Parameters
    ----------
    matrices : mapping of str to Matrix
        Our own name of each to its values, rows and columns.
    extra : mapping of str to bytes, or None
        Further files, by file name.

    Returns
    -------
    bytes
        A ZIP file; the same matrices give the same bytes.

    Raises
    ------
    ValueError
        The axes of a matrix do not fit its values.

    Examples
    --------
    >>> axis = Axis("query", ("0 a",), ("0 a",))
    >>> file = zip_of({"scaled scores": (np.array([[0.5]]), axis, axis)}, {"read me.txt": b"..."})
    >>> zipfile.ZipFile(io.BytesIO(file)).namelist()
    ['scaled_scores.csv', 'read_me.txt']
    """
    tables = zip(distinct_stems(matrices), matrices.values(), strict=True)
    return pack([*((f"{stem}.csv", csv_of(*matrix)) for stem, matrix in tables), *(extra or {}).items()])


def pack(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Files as one archive that depends on nothing but them.

    Parameters
    ----------
    files : iterable of (str, bytes)
        Name and content of each.

    Returns
    -------
    bytes
        A ZIP file without dates; names are made safe as by `file_stem`, and distinct.

    Examples
    --------
    >>> zipfile.ZipFile(io.BytesIO(pack([("a.txt", b"1"), ("A.txt", b"2")]))).namelist()
    ['a.txt', 'A_2.txt']
    """
    archive = io.BytesIO()
    used: set[str] = set()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in files:
            stem, end = _split(name)
            entry = zipfile.ZipInfo(_unused(file_stem(stem), end, used), date_time=_NO_DATE)
            # Otherwise the entry says on which system it was made, and may be unreadable for its owner.
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            file.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return archive.getvalue()


_NO_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest that a ZIP file can say."""


def _split(name: str) -> tuple[str, str]:
    """A file's name and its extension, which stays as it is where it is a plain one."""
    found = re.fullmatch(r"(.*?)((?:\.[A-Za-z0-9]{1,8})?)", name, re.DOTALL)
    assert found  # the pattern takes any text
    return found[1], found[2]


def file_stem(name: str) -> str:
    """A name as a file and an array can bear it everywhere.

    Parameters
    ----------
    name : str
        Our own words; a reader's words belong into no file name.

    Returns
    -------
    str
        Letters and digits without accents, hyphens and underscores; at least one character, at most 80.

    Examples
    --------
    >>> file_stem("largest weight, raw scores"), file_stem("W_q"), file_stem("÷ √d"), file_stem("con")
    ('largest_weight_raw_scores', 'W_q', 'd', 'con_')
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", plain).strip("_-")[:80] or "matrix"
    return f"{stem}_" if _DEVICES.match(stem) else stem


def distinct_stems(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names as by `file_stem`, all different even where capitals do not count, as on Windows.

    Parameters
    ----------
    names : iterable of str
        Our own words.
    taken : iterable of str
        Stems that none may have.

    Returns
    -------
    list of str
        One a name; the second of a kind ends in ``_2``.

    Examples
    --------
    >>> distinct_stems(["Q", "q", "q"])
    ['Q', 'q_2', 'q_3']
    """
    used = {stem.casefold() for stem in taken}
    return [_unused(file_stem(name), "", used) for name in names]


def _unused(stem: str, end: str, used: set[str]) -> str:
    """A name that nobody has yet; it is added to those in use."""
    name, count = stem + end, 1
    while name.casefold() in used:
        count += 1
        name = f"{stem}_{count}{end}"
    used.add(name.casefold())
    return name
