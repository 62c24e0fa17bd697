"""A mask that a reader made: a ready-made one, cells changed by hand, and a short text that a link can carry."""

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from core.masks import Booleans, causal_mask, local_mask, padding_mask, prefix_mask
from core.settings import MAX_WORDS

Preset = Literal["full", "causal", "window", "prefix", "padding"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
FIRST_SIZES: dict[Preset, int] = {"window": 1, "prefix": 2, "padding": 1}
"""The presets that have a size, and the size at first."""

Cell = tuple[int, int]
"""Query and key."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""One for each position; those of base64 for addresses."""

_CELLS = r"(?:[A-Za-z0-9_-]{2})*|\.[A-Za-z0-9_-]{683}"
_TEXT = re.compile(rf"(\w+)(?:-(0|[1-9][0-9]?))?(?:~({_CELLS})(?:~({_CELLS}))?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class MaskDesign:
    """A preset and what was changed by hand.

    Parameters
    ----------
    preset : str
        One of `PRESETS`.
    size : int
        Width of the window, length of the prefix or number of padded positions; 0 where the preset has none.
    allowed, blocked : frozenset of (query, key)
        Cells set by hand, whatever the preset says of them.

    Raises
    ------
    ValueError
        The preset is unknown, the size or a position is out of range, or a cell is both allowed and blocked.

    Examples
    --------
    >>> MaskDesign("causal", allowed=frozenset({(0, 1)})).edits
    frozenset({(0, 1)})
    """

    preset: Preset
    size: int = 0
    allowed: frozenset[Cell] = frozenset()
    blocked: frozenset[Cell] = frozenset()

    def __post_init__(self) -> None:
        """Refuse what no text could say."""
        if self.preset not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}; got {self.preset!r}")
        high = MAX_WORDS if self.preset in FIRST_SIZES else 0
        if not 0 <= self.size <= high:
            raise ValueError(f"size of {self.preset} must be from 0 to {high}; got {self.size}")
        if any(not 0 <= place < MAX_WORDS for cell in self.edits for place in cell):
            raise ValueError(f"positions must be from 0 to {MAX_WORDS - 1}; got {sorted(self.edits)}")
        if self.allowed & self.blocked:
            raise ValueError(f"a cell is allowed or blocked, not both; got {sorted(self.allowed & self.blocked)}")

    @property
    def edits(self) -> frozenset[Cell]:
        """All cells set by hand."""
        return self.allowed | self.blocked


def preset_mask(design: MaskDesign, n_query: int, n_key: int, one_way: bool = False) -> Booleans:
    """The ready-made part of a mask.

    Parameters
    ----------
    design : MaskDesign
        Its preset and size.
    n_query, n_key : int
        Numbers of queries and of keys.
    one_way : bool
        True for a decoder's own attention: a window or a padded row keeps the causal mask. "full" does not.

    Returns
    -------
    ndarray of shape (n_query, n_key), bool
        True where the query may attend to the key.

    Examples
    --------
    >>> preset_mask(MaskDesign("window", 1), 3, 3, one_way=True).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """
    match design.preset:
        case "full":
            return np.ones((n_query, n_key), dtype=np.bool_)
        case "causal":
            return causal_mask(n_query, n_key)
        case "window":
            return local_mask(n_query, n_key, design.size, one_way)
        case "prefix":
            return prefix_mask(n_query, n_key, design.size)
        case "padding":
            words = padding_mask(n_query, n_key, design.size)
            return words & causal_mask(n_query, n_key) if one_way else words


def build_mask(design: MaskDesign, n_query: int, n_key: int, one_way: bool = False) -> Booleans:
    """A mask with what was changed by hand; cells that do not fit are left out, see `left_out`.

    Parameters
    ----------
    design : MaskDesign
        The mask.
    n_query, n_key, one_way
        As in `preset_mask`.

    Returns
    -------
    ndarray of shape (n_query, n_key), bool
        True where the query may attend to the key.

    Examples
    --------
    >>> build_mask(MaskDesign("causal", allowed=frozenset({(0, 1), (0, 9)})), 2, 2).astype(int).tolist()
    [[1, 1], [1, 1]]
    """
    mask = preset_mask(design, n_query, n_key, one_way)
    beyond = set(left_out(design, n_query, n_key))
    for cells, value in ((design.allowed, True), (design.blocked, False)):
        for cell in cells - beyond:
            mask[cell] = value
    return mask


def left_out(design: MaskDesign, n_query: int, n_key: int) -> tuple[Cell, ...]:
    """Cells set by hand that lie beyond the sentence.

    Parameters
    ----------
    design : MaskDesign
        The mask.
    n_query, n_key : int
        Numbers of queries and of keys.

    Returns
    -------
    tuple of (query, key)
        In order.

    Examples
    --------
    >>> left_out(MaskDesign("causal", allowed=frozenset({(0, 1), (0, 9)})), 2, 2)
    ((0, 9),)
    """
    return tuple(sorted(cell for cell in design.edits if cell[0] >= n_query or cell[1] >= n_key))


def turn_over(design: MaskDesign, cell: Cell, n_query: int, n_key: int, one_way: bool = False) -> MaskDesign:
    """The same mask with one cell changed; a cell that is as the preset has it is no edit any more.

    Parameters
    ----------
    design : MaskDesign
        The mask.
    cell : tuple of two int
        Query and key, within the sentence.
    n_query, n_key, one_way
        As in `preset_mask`.

    Returns
    -------
    MaskDesign
        Allowed where it was blocked, blocked where it was allowed.

    Examples
    --------
    >>> once = turn_over(MaskDesign("causal"), (0, 1), 2, 2)
    >>> once.allowed, turn_over(once, (0, 1), 2, 2) == MaskDesign("causal")
    (frozenset({(0, 1)}), True)
    """
    now = bool(build_mask(design, n_query, n_key, one_way)[cell])
    ready_made = bool(preset_mask(design, n_query, n_key, one_way)[cell])
    allowed, blocked = design.allowed - {cell}, design.blocked - {cell}
    if now == ready_made:
        allowed, blocked = (allowed, blocked | {cell}) if now else (allowed | {cell}, blocked)
    return MaskDesign(design.preset, design.size, allowed, blocked)


def write_design(design: MaskDesign) -> str:
    """A mask as a text of letters, digits, "-", "_", "." and "~": what an address carries as it is.

    Parameters
    ----------
    design : MaskDesign
        The mask.

    Returns
    -------
    str
        "causal", "window-2"; behind a "~" the cells allowed by hand, behind a second one those blocked: two letters a
        cell, or one bit a cell where that is shorter. Never more than 1,380 characters.

    Examples
    --------
    >>> write_design(MaskDesign("window", 2, frozenset({(0, 4)}), frozenset({(1, 1), (63, 0)})))
    'window-2~AE~BB_A'
    """
    text = f"{design.preset}-{design.size}" if design.preset in FIRST_SIZES else design.preset
    if design.edits:
        text += f"~{_write_cells(design.allowed)}"
    if design.blocked:
        text += f"~{_write_cells(design.blocked)}"
    return text


def read_design(text: str) -> MaskDesign:
    """A mask from the text that `write_design` made of it.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    MaskDesign
        The mask.

    Raises
    ------
    ValueError
        It is not written so.

    Examples
    --------
    >>> read_design("causal~AB").allowed
    frozenset({(0, 1)})
    """
    found = _TEXT.fullmatch(text)
    preset = next((name for name in PRESETS if found and name == found[1]), None)
    if found and preset and (found[2] is not None) == (preset in FIRST_SIZES):
        size, allowed, blocked = (
            int(found[2] or 0),
            *(frozenset(_read_cells(cells or "")) for cells in found.groups()[2:]),
        )
        if size <= MAX_WORDS and not allowed & blocked:
            design = MaskDesign(preset, size, allowed, blocked)
            if write_design(design) == text:
                return design
    raise ValueError(f"a mask such as causal, window-2 or causal~AB; got {text!r}")


def _write_cells(cells: frozenset[Cell]) -> str:
    pairs = "".join(_LETTERS[query] + _LETTERS[key] for query, key in sorted(cells))
    if len(pairs) <= 684:
        return pairs
    grid = np.zeros((MAX_WORDS, MAX_WORDS), dtype=np.bool_)
    grid[tuple(np.array(sorted(cells)).T)] = True
    return "." + base64.urlsafe_b64encode(np.packbits(grid).tobytes()).decode().rstrip("=")


def _read_cells(text: str) -> Iterable[Cell]:
    if not text.startswith("."):
        places = [_LETTERS.index(letter) for letter in text]
        return zip(places[::2], places[1::2], strict=True)
    bits = np.unpackbits(np.frombuffer(base64.urlsafe_b64decode(text[1:] + "="), dtype=np.uint8))
    return ((int(query), int(key)) for query, key in np.argwhere(bits.reshape(MAX_WORDS, MAX_WORDS)))
