"""Masks of a reader's own: presets by loops, edits by hand, and a text that gives every mask back."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.mask_design import (
    FIRST_SIZES,
    PRESETS,
    MaskDesign,
    build_mask,
    left_out,
    preset_mask,
    read_design,
    turn_over,
    write_design,
)

CELLS = st.tuples(st.integers(0, 63), st.integers(0, 63))


@st.composite
def designs(draw, cells=CELLS, most=400):
    preset = draw(st.sampled_from(PRESETS))
    size = draw(st.integers(0, 64)) if preset in FIRST_SIZES else 0
    edits = sorted(draw(st.sets(cells, max_size=most)))
    cut = draw(st.integers(0, len(edits)))
    return MaskDesign(preset, size, frozenset(edits[:cut]), frozenset(edits[cut:]))


RULES = {
    ("full", False): lambda query, key, size, n_key: True,
    ("full", True): lambda query, key, size, n_key: True,
    ("causal", False): lambda query, key, size, n_key: key <= query,
    ("causal", True): lambda query, key, size, n_key: key <= query,
    ("window", False): lambda query, key, size, n_key: abs(query - key) <= size,
    ("window", True): lambda query, key, size, n_key: query - size <= key <= query,
    ("prefix", False): lambda query, key, size, n_key: key <= query or (query < size and key < size),
    ("prefix", True): lambda query, key, size, n_key: key <= query or (query < size and key < size),
    ("padding", False): lambda query, key, size, n_key: n_key - key > size,
    ("padding", True): lambda query, key, size, n_key: n_key - key > size and key <= query,
}
"""Who may look at whom, cell by cell, under each preset in an encoder and in a decoder."""


@pytest.mark.parametrize(("preset", "one_way"), RULES)
@pytest.mark.parametrize("size", [0, 1, 2, 5, 64])
def test_presets_equal_their_rules_cell_by_cell(preset, one_way, size):
    if preset not in FIRST_SIZES and size:
        return
    for n_query, n_key in ((1, 1), (7, 7), (5, 7), (7, 3)):
        found = preset_mask(MaskDesign(preset, size), n_query, n_key, one_way)
        rule = RULES[preset, one_way]
        expected = [[rule(query, key, size, n_key) for key in range(n_key)] for query in range(n_query)]
        np.testing.assert_array_equal(found, expected)


@given(designs(), st.integers(1, 64), st.integers(1, 64), st.booleans())
def test_edits_are_in_the_mask_and_nothing_else_has_changed(design, n_query, n_key, one_way):
    found, ready_made = (make(design, n_query, n_key, one_way) for make in (build_mask, preset_mask))
    beyond = left_out(design, n_query, n_key)
    assert {*beyond} == {(query, key) for query, key in design.edits if query >= n_query or key >= n_key}
    fitting = design.edits - {*beyond}
    assert all(found[cell] == (cell in design.allowed) for cell in fitting)
    rest = np.ones(found.shape, dtype=bool)
    rest[tuple(np.array(sorted(fitting), dtype=int).reshape(-1, 2).T)] = False
    np.testing.assert_array_equal(found[rest], ready_made[rest])


@given(designs(st.tuples(st.integers(0, 6), st.integers(0, 4)), 9), st.integers(0, 6), st.integers(0, 4), st.booleans())
def test_turning_a_cell_over_changes_that_cell_alone_and_twice_is_as_before(design, query, key, one_way):
    before = build_mask(design, 7, 5, one_way)
    once = turn_over(design, (query, key), 7, 5, one_way)
    changed = build_mask(once, 7, 5, one_way) != before
    assert np.argwhere(changed).tolist() == [[query, key]]
    twice = turn_over(once, (query, key), 7, 5, one_way)
    np.testing.assert_array_equal(build_mask(twice, 7, 5, one_way), before)


def test_a_cell_as_the_preset_has_it_is_no_edit():
    once = turn_over(MaskDesign("causal"), (0, 2), 3, 3)
    assert (once.allowed, once.blocked) == ({(0, 2)}, frozenset())
    assert turn_over(once, (0, 2), 3, 3) == MaskDesign("causal")
    assert turn_over(MaskDesign("causal"), (2, 0), 3, 3).blocked == {(2, 0)}


# The text


@given(designs())
def test_every_design_survives_its_text(design):
    text = write_design(design)
    assert read_design(text) == design
    assert re.fullmatch(r"[A-Za-z0-9._~-]{4,1380}", text), "an address carries it as it is"


@pytest.mark.parametrize("count", [341, 342, 343, 2048, 4096])
def test_many_edits_are_written_one_bit_a_cell(count):
    cells = [(place // 64, place % 64) for place in range(4096)]
    cells = frozenset(cells[place] for place in np.random.default_rng(37).permutation(4096)[:count].tolist())
    text = write_design(MaskDesign("padding", 64, cells))
    assert len(text) == len("padding-64~") + min(2 * count, 684)
    assert read_design(text).allowed == cells


@pytest.mark.parametrize(
    ("design", "text"),
    [
        (MaskDesign("full"), "full"),
        (MaskDesign("window", 3), "window-3"),
        (MaskDesign("prefix", 0), "prefix-0"),
        (MaskDesign("causal", allowed=frozenset({(0, 1)})), "causal~AB"),
        (MaskDesign("causal", blocked=frozenset({(2, 0), (1, 1)})), "causal~~BBCA"),
        (MaskDesign("padding", 64, frozenset({(62, 63)}), frozenset({(26, 25)})), "padding-64~-_~aZ"),
    ],
)
def test_texts_are_short_and_stay_what_they_are(design, text):
    """Links that readers have kept."""
    assert write_design(design) == text
    assert read_design(text) == design


WRONG = [
    "", "Full", "causal ", "causal-1", "window", "window-", "window-65", "window-03", "window--1", "window-٣",
    "diagonal", "full~", "full~~", "full~A", "full~ABAB", "full~BAAB", "full~AB~AB", "full~AB~", "full~AB~CD~EF",
    "full~.", "full~." + "A" * 683, "full~." + "_" * 683, "full~." + "B" * 682, "full\n", "full~AB\n", "full~É0",
    "full~A+",
]  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_another_text_is_refused(text):
    with pytest.raises(ValueError, match="a mask such as causal, window-2 or causal~AB; got "):
        read_design(text)


@given(st.text(max_size=12) | st.from_regex(r"(full|window-\d+)(~[A-D_.~-]{0,6})?", fullmatch=True))
def test_any_text_is_a_design_or_refused(text):
    try:
        design = read_design(text)
    except ValueError:
        return
    assert write_design(design) == text


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("diagonal",), "preset must be one of full, causal, window, prefix, padding; got 'diagonal'"),
        (("full", 1), "size of full must be from 0 to 0; got 1"),
        (("window", 65), "size of window must be from 0 to 64; got 65"),
        (("full", 0, frozenset({(0, 64)})), r"positions must be from 0 to 63; got \[\(0, 64\)\]"),
        (("full", 0, frozenset(), frozenset({(-1, 0)})), r"positions must be from 0 to 63; got \[\(-1, 0\)\]"),
        (("full", 0, frozenset({(1, 2)}), frozenset({(1, 2)})), r"not both; got \[\(1, 2\)\]"),
    ],
)
def test_a_design_that_no_text_could_say_is_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        MaskDesign(*parts)
