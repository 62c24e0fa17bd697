"""A mask that the reader changes: by clicks on its cells, by two boxes and a switch, by presets; kept in the link."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from core.mask_design import (
    FIRST_SIZES,
    PRESETS,
    MaskDesign,
    Preset,
    build_mask,
    left_out,
    read_design,
    turn_over,
    write_design,
)
from core.masks import Booleans, count_allowed
from core.settings import MAX_WORDS
from core.shapes import FIRST_MASKS, PartName
from ui import controls
from ui.charts.heat_map import Axis
from ui.literal import literal
from ui.shape_texts import listed

_VERSION = "_mask_version"
_PRESET, _SIZE, _CELL = "mask_preset", "mask_size", "mask_cell"

SIZE_NAMES: dict[Preset, str] = {"window": "width", "prefix": "words", "padding": "words"}
_SET = {True: "allowed", False: "blocked"}


def offered(part: PartName) -> tuple[Preset, ...]:
    """Presets that make sense for an attention.

    Parameters
    ----------
    part : str
        Which one.

    Returns
    -------
    tuple of str
        Between two sentences there is no before and after.

    Examples
    --------
    >>> offered("cross")
    ('full', 'window', 'padding')
    """
    return tuple(preset for preset in PRESETS if part != "cross" or preset not in ("causal", "prefix"))


@dataclass(frozen=True, slots=True)
class EditedMask:
    """The mask of one attention, and how the reader came to it."""

    part: PartName
    design: MaskDesign
    queries: Axis
    keys: Axis

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of queries and of keys."""
        return len(self.queries.names), len(self.keys.names)

    @property
    def one_way(self) -> bool:
        """Whether the presets keep to what came before."""
        return self.part == "decoder"

    @property
    def may_attend(self) -> Booleans:
        """(query, key): True where the query may attend."""
        return build_mask(self.design, *self.size, self.one_way)

    @property
    def beyond(self) -> tuple[tuple[int, int], ...]:
        """Cells set by hand that the sentence no longer has."""
        return left_out(self.design, *self.size)

    def cell_name(self, cell: tuple[int, int]) -> str:
        """Query and key of a cell, in HTML."""
        query, key = self.queries.names[cell[0]], self.keys.names[cell[1]]
        return f'<b class="query">{literal(query)}</b> → <b class="key">{literal(key)}</b>'


def key_of(part: PartName) -> str:
    """Name in the link of an attention's mask.

    Parameters
    ----------
    part : str
        Which attention.

    Returns
    -------
    str
        Of plain letters.

    Examples
    --------
    >>> key_of("cross")
    'cross_mask'
    """
    return f"{part}_mask"


def kept(part: PartName, queries: Axis, keys: Axis) -> EditedMask:
    """The mask as the reader left it, or as the link gave it.

    Parameters
    ----------
    part : str
        Which attention.
    queries, keys : Axis
        Of the sentences that it joins.

    Returns
    -------
    EditedMask
        The attention's own mask at first.
    """

    def reads(text: str) -> bool:
        try:
            return read_design(text).preset in offered(part)
        except ValueError:
            return False

    sizes = (f"{preset}-{FIRST_SIZES[preset]}" if preset in FIRST_SIZES else preset for preset in offered(part))
    wanted = f"a mask such as {', '.join(sizes)}"
    text = controls.kept(f"Mask: {part}", key_of(part), FIRST_MASKS[part], reads, wanted)
    return EditedMask(part, read_design(text), queries, keys)


def version() -> str:
    """Another text after every change of a mask, for `ui.matrices.Matrix`.

    Returns
    -------
    str
        A number.
    """
    return str(st.session_state.get(_VERSION, 0))


def _take(part: PartName, design: MaskDesign) -> None:
    controls.take({key_of(part): write_design(design)})
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def flip(mask: EditedMask) -> Callable[[int, int], None]:
    """What a click on a cell does.

    Parameters
    ----------
    mask : EditedMask
        Which mask.

    Returns
    -------
    callable
        Of a query and a key: turns that cell over.
    """

    def turn(query: int, key: int) -> None:
        _take(mask.part, turn_over(mask.design, (query, key), *mask.size, mask.one_way))

    return turn


def toolbar(edited: Mapping[PartName, EditedMask], part: PartName, query: int, key: int) -> None:
    """Preset, its size, the picked cell's switch, and the way back.

    Parameters
    ----------
    edited : mapping of str to EditedMask
        The masks of the shape.
    part : str
        The attention whose mask is edited; the others have a place too, so that a link can hide what edits them.
    query, key : int
        The picked cell.
    """
    for name, mask in edited.items():
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"control_{key_of(name)}"):
            if name == part:
                _tools(mask, query, key)


def _tools(mask: EditedMask, query: int, key: int) -> None:
    design = mask.design
    # Values of the mask and not of these boxes: another click, a link or another attention may have changed it.
    st.session_state[_PRESET] = design.preset
    st.session_state[_CELL] = bool(mask.may_attend[query, key])
    st.segmented_control(
        "Preset",
        offered(mask.part),
        required=True,
        key=_PRESET,
        on_change=_choose_preset,
        args=(mask,),
        label_visibility="collapsed",
        width="content",
        wrap=True,
    )
    if design.preset in FIRST_SIZES:
        st.session_state[_SIZE] = design.size
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
            st.html(f'<p class="quiet">{SIZE_NAMES[design.preset]}</p>', width="content")
            st.number_input(
                SIZE_NAMES[design.preset],
                0,
                MAX_WORDS,
                key=_SIZE,
                on_change=_choose_size,
                args=(mask,),
                label_visibility="collapsed",
                width=120,
            )
    st.toggle(
        "may attend",
        key=_CELL,
        on_change=flip(mask),
        args=(query, key),
        help="Whether the picked query may attend to the picked key: the same as a click on that cell.",
    )
    st.button(
        "Reset mask",
        on_click=_take,
        args=(mask.part, replace(design, allowed=frozenset(), blocked=frozenset())),
        disabled=not design.edits,
        key="mask_reset",
        help="Takes back all that was changed by hand in this mask; the preset stays.",
    )


def _choose_preset(mask: EditedMask) -> None:
    preset: Preset = st.session_state[_PRESET]
    _take(mask.part, replace(mask.design, preset=preset, size=FIRST_SIZES.get(preset, 0)))


def _choose_size(mask: EditedMask) -> None:
    _take(mask.part, replace(mask.design, size=int(st.session_state[_SIZE])))


def code(edited: Mapping[PartName, EditedMask]) -> dict[str, object]:
    """Values for the page's script.

    Parameters
    ----------
    edited : mapping of str to EditedMask
        The masks of the shape.

    Returns
    -------
    dict of str to object
        Of each its preset, its size, the cells allowed by hand and those blocked, as lists of query and key.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> axis = word_axis("query", ("a", "b"))
    >>> code({"cross": EditedMask("cross", MaskDesign("full", blocked=frozenset({(1, 0)})), axis, axis)})
    {'cross_mask': ['full', 0, [], [[1, 0]]]}
    """
    return {
        key_of(part): [
            mask.design.preset,
            mask.design.size,
            *([list(cell) for cell in sorted(cells)] for cells in (mask.design.allowed, mask.design.blocked)),
        ]
        for part, mask in edited.items()
    }


def said(edited: Sequence[EditedMask]) -> str:
    """What each preset allows, and what was changed by hand.

    Parameters
    ----------
    edited : sequence of EditedMask
        The masks of the shape.

    Returns
    -------
    str
        HTML, one paragraph.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> axis = word_axis("query", ("a", "b"))
    >>> "itself and what stands before it" in said([EditedMask("decoder", MaskDesign("causal"), axis, axis)])
    True
    """
    lines = []
    for mask in edited:
        line = f"<b>{mask.part}:</b> {_rule(mask)}"
        fitting = sorted(mask.design.edits - set(mask.beyond))
        if fitting:
            cells = [f"{mask.cell_name(cell)} {_SET[cell in mask.design.allowed]}" for cell in fitting]
            line += f" By hand: {listed(cells)}."
        ahead = _looks_ahead(mask)
        if ahead:
            line += (
                f" {ahead} pair{'' if ahead == 1 else 's'} look{'s' if ahead == 1 else ''} ahead: a generator trained "
                "so has seen the word that it is to guess."
            )
        lines.append(line)
    return f'<p class="quiet">{"<br>".join(lines)}</p>'


def without_place(mask: EditedMask) -> str:
    """Names the cells set by hand that the sentence no longer has.

    Parameters
    ----------
    mask : EditedMask
        The mask.

    Returns
    -------
    str
        A sentence; empty where all of them fit.

    Examples
    --------
    >>> from ui.charts.heat_map import word_axis
    >>> axis = word_axis("query", ("a", "b"))
    >>> without_place(EditedMask("cross", MaskDesign("full", blocked=frozenset({(1, 2)})), axis, axis))[-16:]
    'query 1 → key 2.'
    """
    if not mask.beyond:
        return ""
    cells = listed([f"query {query} → key {key}" for query, key in mask.beyond])
    n_query, n_key = mask.size
    return (
        f"Left out of the {mask.part} mask, because the sentence has no such cell any more ({n_query} queries, "
        f"{n_key} keys): {cells}."
    )


def _looks_ahead(mask: EditedMask) -> int:
    """Pairs in which a word that the decoder is to write looks at a later one; a given prefix is not written by it."""
    if mask.part != "decoder":
        return 0
    given = mask.design.size if mask.design.preset == "prefix" else 0
    return count_allowed(np.triu(mask.may_attend, 1)[:, given:])


def _rule(mask: EditedMask) -> str:
    size, before = mask.design.size, "and what stands before it"
    words = f"{size} word{'' if size == 1 else 's'}"
    match mask.design.preset:
        case "full":
            return "every word sees every word."
        case "causal":
            return f"every word sees itself {before}."
        case "window" if mask.one_way:
            return f"every word sees itself and the {words} before it."
        case "window" if mask.part == "cross":
            return f"every word sees the place of its own number and {words} to each side."
        case "window":
            return f"every word sees itself and {words} to each side."
        case "prefix":
            return f"the first {words} see one another whole; the others see themselves {before}."
        case "padding" if size >= len(mask.keys.names):
            return "all words are padding, which no word sees."
        case "padding":
            rest = f"; of the rest each sees itself {before}" if mask.one_way else ""
            return f"the last {words} {'is' if size == 1 else 'are'} padding, which no word sees{rest}."
