"""Matrices too large for one mark a cell, as PNG pictures."""

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from core.masks import Booleans
from ui.charts.heat_map import RAMPS
from ui.colours import MASKED, PICKED

NO_COLOUR = 255
"""In `coloured_picture`."""


def matrix_picture(
    values: ArrayLike,
    width: int,
    height: int,
    ramp: str = "signed",
    limit: float = 1.0,
    may_attend: Booleans | None = None,
    picked: Sequence[tuple[int | None, int | None]] = (),
    dark: bool = False,
) -> bytes:
    """A matrix as a picture, one coloured area a cell, picked rows and columns outlined.

    Parameters
    ----------
    values : array_like of shape (row, column)
        Finite numbers, or -inf, which looks like the lowest.
    width, height : int
        About the size in pixels; each cell gets a whole number of them, at least one.
    ramp : "weights" or "signed"
        The colours.
    limit : float
        Value at which the ramp ends.
    may_attend : ndarray of bool of the same shape, or None
        False marks a masked cell.
    picked : sequence of (row or None, column or None)
        What to outline; None means the whole row or column.
    dark : bool
        Which theme's colours.

    Returns
    -------
    bytes
        A PNG file.

    Raises
    ------
    ValueError
        The values have not two axes, or one of them is empty.

    Examples
    --------
    >>> matrix_picture([[0.0, 1.0]], 40, 20)[1:4]
    b'PNG'
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"values need two axes with at least one entry each; got shape {array.shape}")
    colours = RAMPS[ramp].dark if dark else RAMPS[ramp].light
    numbers = RAMPS[ramp].steps(np.where(np.isfinite(array), array, -limit), limit).astype(np.uint8)
    if may_attend is not None:
        numbers[~may_attend] = len(colours)
    return coloured_picture(
        numbers, [*colours, MASKED.dark if dark else MASKED.light], width, height, picked, dark=dark
    )


def coloured_picture(
    numbers: NDArray[np.uint8],
    colours: Sequence[str],
    width: int,
    height: int,
    picked: Sequence[tuple[int | None, int | None]] = (),
    dark: bool = False,
) -> bytes:
    """A matrix of colours as a picture.

    Parameters
    ----------
    numbers : ndarray of uint8 of shape (row, column)
        Places in `colours`, or `NO_COLOUR` for what lets the page show through.
    colours : sequence of str
        At most 250, in hex.
    width, height, picked, dark
        As for `matrix_picture`.

    Returns
    -------
    bytes
        A PNG file.

    Examples
    --------
    >>> coloured_picture(np.array([[0, 1]], np.uint8), ["#FFFFFF", "#000000"], 40, 20)[1:4]
    b'PNG'
    """
    # Few colours, so a byte a pixel is enough: a third of what has to be packed.
    palette = [*colours, PICKED.dark if dark else PICKED.light]
    through: dict[str, int] = {}
    if (empty := numbers == NO_COLOUR).any():
        through["transparency"] = len(palette)
        numbers = np.where(empty, np.uint8(len(palette)), numbers)
        palette.append("#000000")
    n_rows, n_columns = numbers.shape
    across, down = max(1, width // n_columns), max(1, height // n_rows)
    pixels = numbers.repeat(down, axis=0).repeat(across, axis=1)
    for row, column in picked:
        top, bottom = (0, n_rows) if row is None else (row, row + 1)
        left, right = (0, n_columns) if column is None else (column, column + 1)
        _frame(pixels, top * down, bottom * down, left * across, right * across, len(colours))
    file = io.BytesIO()
    image = Image.fromarray(pixels)
    image.putpalette(bytes.fromhex("".join(palette).replace("#", "")))
    # Harder packing takes four times as long and saves a fifth.
    image.save(file, format="PNG", compress_level=1, **through)
    return file.getvalue()


def _frame(pixels: np.ndarray, top: int, bottom: int, left: int, right: int, colour: int) -> None:
    """Paint a frame two pixels wide around a region, beside it where there is room, so that it hides no cell."""
    top, left = max(top - 2, 0), max(left - 2, 0)
    bottom, right = min(bottom + 2, pixels.shape[0]), min(right + 2, pixels.shape[1])
    pixels[top : top + 2, left:right] = colour
    pixels[bottom - 2 : bottom, left:right] = colour
    pixels[top:bottom, left : left + 2] = colour
    pixels[top:bottom, right - 2 : right] = colour
