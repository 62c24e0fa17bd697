"""Orders of a sentence: the default, a drawn one, and what the reader writes."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.attention import attend
from core.order import default_order, draw_order, read_order, run_two_orders, write_order
from core.positions import rotate, sinusoidal_encoding

SENTENCES = st.lists(st.sampled_from(["dog", "bites", "man", "the"]), max_size=7).map(tuple)


@pytest.mark.parametrize(
    ("words", "order"),
    [
        pytest.param("dog bites the man", (3, 1, 2, 0), id="the lesson's"),
        pytest.param("the cat saw the", (2, 1, 0, 3), id="last word like the first"),
        pytest.param("a b", (1, 0), id="two words"),
        pytest.param("la la land", (2, 1, 0), id="only the last differs"),
        pytest.param("land la la la", (3, 1, 2, 0), id="only the first differs"),
        pytest.param("la la la", None, id="equal words"),
        pytest.param("bat", None, id="one word"),
        pytest.param("", None, id="no word"),
    ],
)
def test_default_order_swaps_the_first_word_with_the_last_that_differs(words, order):
    assert default_order(tuple(words.split())) == order


@given(SENTENCES)
def test_an_order_exists_unless_all_orders_read_the_same(words):
    readings = set(itertools.permutations(words))
    assert (default_order(words) is None) == (len(readings) == 1)
    assert (draw_order(words, np.random.default_rng(0)) is None) == (len(readings) == 1)


@given(SENTENCES, st.integers(0, 9999))
def test_an_order_never_reads_like_the_sentence(words, seed):
    assume(len(set(words)) > 1)
    for order in (default_order(words), draw_order(words, np.random.default_rng(seed))):
        assert sorted(order) == list(range(len(words)))
        assert tuple(words[position] for position in order) != words


def test_draw_order_reaches_every_order_that_reads_differently():
    words, rng = ("a", "b", "a"), np.random.default_rng(0)
    drawn = {draw_order(words, rng) for _ in range(200)}
    expected = {order for order in itertools.permutations(range(3)) if tuple(words[i] for i in order) != words}
    assert drawn == expected


def test_draw_order_follows_its_generator():
    words = tuple("abcdefg")
    same = [draw_order(words, np.random.default_rng(5)) for _ in range(2)]
    assert same[0] == same[1] != draw_order(words, np.random.default_rng(6))
    assert all(type(position) is int for position in same[0])


@given(st.integers(0, 64).flatmap(lambda n: st.permutations(range(n))).map(tuple))
def test_an_order_written_is_read_back(order):
    assert read_order(write_order(order), len(order)) == order


@pytest.mark.parametrize(
    "text",
    ["3 1 2 0", "3,1,2,0", " 3, 1 ,2 ,0 ", "3\t1\n2 0", "03 1 2 0000"],
    ids=["spaces", "commas", "both", "lines", "zeros"],
)
def test_read_order_takes_spaces_and_commas(text):
    assert read_order(text, 4) == (3, 1, 2, 0)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        pytest.param("3 1 2", "3 positions, without 0", id="missing"),
        pytest.param("3 1 2 2", "4 positions, without 0", id="repeated"),
        pytest.param("3 1 2 4", "4 positions, without 0", id="too large"),
        pytest.param("3 1 2 0 0", "5 positions", id="one too many"),
        pytest.param("", "0 positions, without 0, 1, 2, 3", id="nothing"),
        pytest.param("man the 1 0", "man the 1 0", id="words"),
        pytest.param("3 1 2 -0", "3 1 2 -0", id="minus"),
        pytest.param("3 1 2 0.0", "3 1 2 0.0", id="fraction"),
        pytest.param("3 1 2 ٠", "3 1 2 ٠", id="digit of another script"),
        pytest.param("3 1 2 00000", "3 1 2 00000", id="long number"),
    ],
)
def test_read_order_says_what_was_wanted_and_given(text, given):
    with pytest.raises(ValueError, match=rf"wanted each of 0 to 3 once.*; given: {given}$"):
        read_order(text, 4)


def test_read_order_lists_at_most_five_missing_positions():
    with pytest.raises(ValueError, match=r"given: 1 positions, without 1, 2, 3, 4, 5$"):
        read_order("0", 64)


def test_write_order_puts_spaces_between():
    assert write_order((3, 1, 2, 0)) == "3 1 2 0"
    assert write_order(()) == ""


# What attention makes of two orders

ORDER = (3, 1, 4, 2, 0)


@pytest.fixture
def head():
    """x, w_q, w_k, w_v."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(5, 11)), *rng.normal(size=(3, 11, 7), scale=0.5)


def test_run_two_orders_moves_rows_with_their_words(head):
    x, w_q, w_k, w_v = head
    runs = run_two_orders(*head, ORDER)
    np.testing.assert_allclose(runs.output, attend(x @ w_q, x @ w_k, x @ w_v).output, rtol=1e-13)
    for new, old in enumerate(ORDER):
        np.testing.assert_array_equal(runs.moved_output[new], runs.output[old])
    np.testing.assert_allclose(runs.shuffled_output, runs.moved_output, rtol=0, atol=1e-12)
    assert np.abs(runs.shuffled_output - runs.output).max() > 0.1


def test_run_two_orders_adds_positions_by_where_a_word_stands(head):
    x, w_q, w_k, w_v = head
    encoding = sinusoidal_encoding(5, 11)
    runs = run_two_orders(*head, ORDER, added=encoding)
    for rows, found in ((x, runs.output), (x[list(ORDER)], runs.shuffled_output)):
        placed = rows + encoding
        np.testing.assert_allclose(found, attend(placed @ w_q, placed @ w_k, placed @ w_v).output, rtol=1e-13)
    assert runs.largest_difference > 0.1


def test_run_two_orders_turns_by_where_a_word_stands(head):
    x, w_q, w_k, w_v = head
    runs = run_two_orders(*head, ORDER, turn=rotate)
    rows = x[list(ORDER)]
    expected = attend(rotate(rows @ w_q), rotate(rows @ w_k), rows @ w_v).output
    np.testing.assert_allclose(runs.shuffled_output, expected, rtol=1e-13)
    assert runs.largest_difference > 0.01


def test_run_two_orders_measures_the_largest_difference_of_either_sign(head):
    runs = run_two_orders(*head, ORDER, added=sinusoidal_encoding(5, 11))
    np.testing.assert_array_equal(runs.difference, runs.shuffled_output - runs.moved_output)
    assert runs.largest_difference == max(abs(number) for number in runs.difference.ravel().tolist())
    assert run_two_orders(np.ones((0, 11)), *head[1:], ()).largest_difference == 0


def test_run_two_orders_of_an_unchanged_order_differs_nowhere(head):
    assert run_two_orders(*head, tuple(range(5)), added=sinusoidal_encoding(5, 11)).largest_difference == 0


@pytest.mark.parametrize(
    "order", [(0, 1, 2, 3), (0, 1, 2, 3, 3), (1, 2, 3, 4, 5)], ids=["short", "repeated", "from one"]
)
def test_run_two_orders_refuses_an_order_without_every_position(head, order):
    with pytest.raises(ValueError, match=re.escape(f"order must hold each of 0 to 4 once; got {order}")):
        run_two_orders(*head, order)
