"""Orders of a sentence: the default, a drawn one, and what the reader writes."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.order import default_order, draw_order, read_order, write_order

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
