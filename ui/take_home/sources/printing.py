"""Matrices as text that a person reads and a spreadsheet takes."""

import sys
import unicodedata

import numpy as np

if hasattr(sys.stdout, "reconfigure"):  # words of any script, on a console or in a file of any system
    sys.stdout.reconfigure(encoding="utf-8")


def name_words(words):
    """Position and word, so that equal words stay apart; what would break a line is written as an escape."""
    breaks = ("Cc", "Cs", "Zl", "Zp")
    escaped = ["".join(ascii(c)[1:-1] if unicodedata.category(c) in breaks else c for c in word) for word in words]
    return [f"{position} {word}" for position, word in enumerate(escaped)]


def show(name, values, rows, columns, queries_in="rows"):
    """Print a matrix, its entries separated by tabs; rows and columns are what they hold and their names."""
    values = np.asarray(values, dtype=float)
    if queries_in == "columns":
        name, values, rows, columns = f"{name}, queries in columns", values.T, columns, rows
    print(f"{name} ({len(rows[1])} × {len(columns[1])}), rows: {rows[0]}, columns: {columns[0]}")
    print("", *columns[1], sep="\t")
    for row_name, row in zip(rows[1], values):
        print(row_name, *(f"{value:z.6f}" for value in row), sep="\t")
    print()
