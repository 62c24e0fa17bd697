"""Largest differences, where they are, and what counts as agreement."""

import math

import numpy as np
import pytest

from core.agreement import (
    SENSITIVE_REASON,
    TOLERANCE,
    TOLERANCE_REASON,
    compare,
    nudged,
    row_differences,
)


def test_compare_names_the_array_with_the_largest_difference():
    ours = {"scores": [[1.0, 2.0], [3.0, 4.0]], "weights": [0.5], "output": [7.0, 8.0]}
    theirs = {"output": [7.0, 8.5], "weights": [0.75], "scores": [[1.0, 2.125], [3.0, 4.0]]}
    found = compare(ours, theirs)
    assert (found.largest_difference, found.where, found.agrees) == (0.5, "output", False)


@pytest.mark.parametrize("sign", [1, -1])
def test_compare_takes_the_size_of_a_difference(sign):
    assert compare({"x": [0.0]}, {"x": [sign * 0.25]}).largest_difference == 0.25


@pytest.mark.parametrize(
    ("gap", "agrees"), [(0.0, True), (2.0**-10, True), (np.nextafter(2.0**-10, 1), False), (math.inf, False)]
)
def test_compare_agrees_up_to_the_tolerance_itself(gap, agrees):
    assert compare({"x": 0.0}, {"x": gap}, tolerance=2.0**-10).agrees is agrees


def test_compare_carries_the_tolerance_and_its_reason():
    found = compare({"x": 1}, {"x": 1})
    assert (found.tolerance, found.reason) == (TOLERANCE, TOLERANCE_REASON) == (1e-12, found.reason)
    own = compare({"x": 1}, {"x": 1.25}, tolerance=0.5, reason="rough")
    assert (own.tolerance, own.reason, own.agrees) == (0.5, "rough", True)


@pytest.mark.parametrize(
    ("scores", "factor"),
    [
        pytest.param([700.0, 3.0], 700, id="large score"),
        pytest.param([3.0, -700.0], 700, id="large negative score"),
        pytest.param([0.25, 0.5], 1, id="all below one"),
        pytest.param([np.inf, -np.inf, 4.0], 4, id="infinities left out"),
        pytest.param([np.nan, 4.0], 4, id="NaN left out"),
        pytest.param([], 1, id="empty"),
    ],
)
def test_compare_lets_the_tolerance_grow_with_the_largest_number_of_ours(scores, factor):
    found = compare({"scores": scores, "weights": [[0.0]]}, {"scores": scores, "weights": [[0.0]]}, tolerance=2.0**-10)
    assert found.tolerance == factor * 2.0**-10


def test_compare_judges_small_weights_by_the_scores_that_they_come_from():
    ours = {"scores": [700.0], "weights": [0.5]}
    assert compare(ours, {"scores": [700.0], "weights": [0.5 + 6e-10]}).agrees
    assert not compare(ours, {"scores": [700.0], "weights": [0.5 + 8e-10]}).agrees


def test_compare_finds_equal_infinities_equal():
    masked = [[1.0, -np.inf]]
    found = compare({"x": masked}, {"x": masked})
    assert (found.largest_difference, found.agrees) == (0.0, True)


@pytest.mark.parametrize("other", [np.inf, 1.0], ids=["opposite infinity", "a number"])
def test_compare_never_agrees_about_an_infinity_on_one_side(other):
    assert not compare({"x": [-np.inf]}, {"x": [other]}).agrees


@pytest.mark.parametrize("theirs", [0.0, math.nan], ids=["one side", "both sides"])
@pytest.mark.parametrize("name", ["a", "z"])
def test_compare_never_agrees_about_nan_and_says_where(theirs, name):
    rest = {"m": [5.0]}
    found = compare({name: [math.nan, 1.0]} | rest, {name: [theirs, 1.0]} | {"m": [9.0]})
    assert math.isnan(found.largest_difference)
    assert (found.where, found.agrees) == (name, False)


def test_compare_finds_nothing_in_empty_arrays():
    assert compare({"x": np.ones((0, 3))}, {"x": np.ones((0, 3))}).largest_difference == 0.0


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        pytest.param({"a": 1}, {"b": 1}, r"same names, at least one; got \['a'\] and \['b'\]", id="other names"),
        pytest.param({"a": 1}, {"a": 1, "b": 1}, r"got \['a'\] and \['a', 'b'\]", id="one name more"),
        pytest.param({}, {}, r"at least one; got \[\] and \[\]", id="nothing"),
        pytest.param(
            {"a": [1.0, 2.0]},
            {"a": [[1.0, 2.0]]},
            r"a must have the same shape .*; got \(2,\) and \(1, 2\)",
            id="shapes",
        ),
        pytest.param({"a": [1.0]}, {"a": 1.0}, r"got \(1,\) and \(\)", id="shapes that would broadcast"),
    ],
)
def test_compare_says_what_cannot_be_compared(ours, theirs, message):
    with pytest.raises(ValueError, match=message):
        compare(ours, theirs)


def test_nudged_is_the_next_number_up_and_down_by_turns():
    numbers = np.array([[1.5, -1.5, 0.0], [1.75, -1.25, 0.0]])
    changed = np.abs(nudged(numbers) - numbers) / np.spacing(1.0)
    assert ((changed >= 1) == (numbers != 0)).all()
    assert (changed <= 2).all()
    assert (np.sign(nudged(numbers) - numbers) == [[-1, -1, 0], [1, 1, 0]]).all()


@pytest.mark.parametrize(
    ("moved_by", "tolerance", "reason"),
    [
        (0.0, TOLERANCE, TOLERANCE_REASON),
        (2.0**-60, TOLERANCE, TOLERANCE_REASON),
        (2.0**-30, 1000 * 2.0**-33, SENSITIVE_REASON),
        (0.5, 1e-4, SENSITIVE_REASON),
        (math.nan, TOLERANCE, TOLERANCE_REASON),
    ],
    ids=["nothing", "less than rounding", "more", "more than is ever excused", "nan"],
)
def test_compare_excuses_what_the_last_digit_of_the_input_moves(moved_by, tolerance, reason):
    ours, moved = {"x": [0.0, 8.0]}, {"x": [moved_by, 8.0]}
    found = compare(ours, ours, ours_nudged=moved)
    assert (found.tolerance, found.reason) == (8 * tolerance, reason)
    for gap, agrees in ((7.9 * tolerance, True), (8.1 * tolerance, False)):
        assert compare(ours, {"x": [gap, 8.0]}, ours_nudged=moved).agrees is agrees


def test_compare_keeps_the_callers_tolerance_and_reason_where_a_nudge_changes_nothing():
    found = compare({"x": 1}, {"x": 1}, 0.5, "rough", {"x": 1})
    assert (found.tolerance, found.reason) == (0.5, "rough")


def test_row_differences_gives_each_rows_largest():
    before = np.zeros((3, 5))
    after = before.copy()
    after[0, [1, 3]], after[2, 4] = (0.25, -0.5), 2
    assert row_differences(before, after).tolist() == [0.5, 0.0, 2.0]


def test_row_differences_sees_the_last_bit():
    found = row_differences([[1.0], [1.0]], [[1.0], [np.nextafter(1.0, 2)]])
    assert found.tolist() == [0.0, 2.0**-52]


def test_row_differences_of_rows_without_columns_is_zero():
    assert row_differences(np.ones((3, 0)), np.ones((3, 0))).tolist() == [0.0, 0.0, 0.0]


def test_row_differences_says_which_shapes_do_not_fit():
    with pytest.raises(ValueError, match=r"same shape on both sides; got \(2, 3\) and \(3, 3\)"):
        row_differences(np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"axes \(row, column\); got shape \(3,\)"):
        row_differences(np.ones(3), np.ones(3))
