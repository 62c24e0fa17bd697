"""Small tables of charts, made as they are sent: a frame of pandas would take five times as long on the way."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa


def of_columns(columns: Mapping[str, Sequence[Any] | Any]) -> pa.Table:
    """A table by its columns.

    Parameters
    ----------
    columns : mapping of str to sequence or ndarray
        Name of each column to its cells; all as long as each other. Not a number counts as missing.

    Returns
    -------
    pyarrow.Table
        In that order.

    Raises
    ------
    pyarrow.ArrowInvalid
        One column is longer than another.

    Examples
    --------
    >>> of_columns({"d": (1, 2), "reference": (0.5, float("nan"))}).to_pylist()
    [{'d': 1, 'reference': 0.5}, {'d': 2, 'reference': None}]
    """
    arrays = [pa.array(cells, from_pandas=True) for cells in columns.values()]
    # Where all of a column is missing, Arrow knows no type for it.
    arrays = [cells.cast(pa.float64()) if pa.types.is_null(cells.type) else cells for cells in arrays]
    return pa.Table.from_arrays(arrays, names=list(columns))


def of_rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> pa.Table:
    """A table by its rows.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    rows : iterable of sequence
        Each with one cell a column. Not a number counts as missing.

    Returns
    -------
    pyarrow.Table
        Without any row it has the columns all the same.

    Raises
    ------
    ValueError
        A row has more or fewer cells than there are columns.

    Examples
    --------
    >>> of_rows(("n", "said"), [(1, "one"), (2, "two")]).column("said").to_pylist()
    ['one', 'two']
    """
    cells: list[list[Any]] = [[] for _ in names]
    for row in rows:
        for column, cell in zip(cells, row, strict=True):
            column.append(cell)
    return of_columns(dict(zip(names, cells, strict=True)))
