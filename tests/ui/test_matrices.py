"""A matrix as it is to be seen: its takeaway in words, its transpose, and what remains of one with too many cells."""

import numpy as np
import pytest

from ui.charts.heat_map import Axis, named_axis, position_axis, word_axis
from ui.matrices import Matrix, _scale, _thin, takeaway

WORDS = ("the", "cat", "the")
QUERIES, KEYS, FEATURES = word_axis("query", WORDS), word_axis("key", WORDS), position_axis("feature", 2, "d")
HIDDEN = -np.inf


def said(values, rows=QUERIES, columns=KEYS):
    return takeaway(Matrix("M", np.array(values, dtype=float), rows, columns))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[0.5, 2, -1], [0, 7.125, 3], [1, 1, 1]], "from −1.00 to 7.12, largest at query 1 cat and key 1 cat"),
        ([[1, 2, 3], [4, 5, 6], [9, 8, 7]], "from 1.00 to 9.00, largest at query 2 the and key 0 the"),
        ([[-3, -2, -5], [-4, -2.5, -9], [-6, -7, -8]], "from −9.00 to −2.00, largest at query 0 the and key 1 cat"),
        ([[0, 0, 0], [0, 3, 0], [0, 3, 0]], "from 0.00 to 3.00, largest at query 1 cat and key 1 cat"),
    ],
    ids=["mixed", "positive", "negative", "the first of two largest"],
)
def test_range_and_largest_entry(values, expected):
    assert said(values) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(0.5, "all 0.50"), (0.0, "all 0.00"), (-2.0, "all −2.00"), (-0.001, "all 0.00")]
)
def test_equal_cells_have_one_value_and_no_largest(value, expected):
    assert said(np.full((3, 3), value)) == expected


def test_cells_that_only_round_to_one_value_count_as_equal():
    assert said([[0.501, 0.502, 0.5]] * 3) == "all 0.50"


def test_masked_cells_are_counted_and_are_neither_smallest_nor_largest():
    values = [[5, HIDDEN, HIDDEN], [-2, 7, HIDDEN], [1, 2, 3]]
    assert said(values) == "from −2.00 to 7.00, largest at query 1 cat and key 1 cat, 3 masked"
    assert said([[1, HIDDEN, HIDDEN], [1, 1, HIDDEN], [1, 1, 1]]) == "all 1.00, 3 masked"


def test_nothing_but_masked_cells():
    assert said(np.full((3, 3), HIDDEN)) == "every cell is masked"


def test_axes_without_words():
    values = [[0.25, 1, 2], [4, 3, 1]]
    axes = named_axis("side", ("with", "without")), position_axis("key", 3)
    assert said(values, *axes) == "from 0.25 to 4.00, largest at side without and key 0"
    assert said([[1.0, 2.0]], Axis("", ("a",), ("a",)), FEATURES) == "from 1.00 to 2.00, largest at  a and feature 1"


def test_the_transpose_turns_all_that_belongs_to_a_cell():
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    allowed = np.array([[True, False], [True, True], [False, True]])
    matrix = Matrix(
        "Q", values, QUERIES, FEATURES, limit=6.0, may_attend=allowed, picked=[(2, 1), (0, None), (None, 1)]
    )
    turned = matrix.transposed()
    assert turned.values.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert turned.may_attend.tolist() == [[True, True, False], [False, True, True]]
    assert (turned.rows, turned.columns) == (FEATURES, QUERIES)
    assert turned.picked == [(1, 2), (None, 0), (1, None)]
    assert (matrix.title, turned.title) == ("Q (3 × 2)", "Qᵀ (2 × 3)")
    assert (turned.limit, turned.ramp, turned.decimals) == (6.0, "signed", 2)


def test_the_transpose_of_a_product_has_a_name_of_its_own():
    matrix = Matrix("scores Q Kᵀ", np.zeros((3, 3)), QUERIES, KEYS, "scores K Qᵀ")
    assert matrix.transposed().title == "scores K Qᵀ (3 × 3)"
    assert matrix.transposed().may_attend is None


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (5, 3, [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14]]),
        (9, 2, [[2.5, 3.5, 4.5, 5.5, 6.5], [10, 11, 12, 13, 14]]),
        (3, 3, [[0.5, 2.5, 4], [5.5, 7.5, 9], [10.5, 12.5, 14]]),
        (2, 1, [[6, 8.5]]),
    ],
    ids=["fits", "too high", "too wide", "both"],
)
def test_more_cells_than_pixels_become_means_of_neighbours(width, height, expected):
    assert _thin(np.arange(15.0).reshape(3, 5), width, height).tolist() == expected


def test_what_is_picked_stays_where_it_was_when_cells_are_thinned():
    values = np.arange(35.0).reshape(5, 7)
    shown = _thin(values, 4, 3)
    assert shown.shape == (3, 4)
    assert _scale([(4, 6), (3, None), (None, 2)], values, shown) == [(2, 3), (1, None), (None, 1)]
    assert _scale([(4, 6)], values, values) == [(4, 6)]
