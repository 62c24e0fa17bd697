"""Order-blindness: outputs only move along, positions change them, and what cannot be shown is explained."""

import json
import re

import numpy as np
import pytest

from core.examples import ORDER_WORDS, draw_example, draw_position_embedding
from core.order import run_two_orders
from core.positions import rotate, rotation_angles, sinusoidal_encoding
from tests.pages.reading import ROOT, change, chart, matrix, notices, numbers, open_page, press, said, texts

GOLDEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["order_blindness"]
PARTS = ("without positions", "with positions")
PICTURES = {"output": "output", "new": "shuffled_output", "difference": "difference"}
SENTENCE = {"text": "the cat saw the dog", "d": "5", "heads": "3", "seed": "7", "head": "2", "order": "4 2 0 1 3"}


def pictures(at, part, field="value"):
    """The three matrices of one half: output, output of the new order, their difference."""
    starts = {
        "output": f"output {part}",
        "new": f"output of the new order, {part}",
        "difference": f"new order − moved rows, {part}",
    }
    return {name: matrix(at, start, field) for name, start in starts.items()}


def runs_of(words, d_head, n_heads, seed, head, order, kind):
    example = draw_example(words, d_head, n_heads, seed, ORDER_WORDS)
    projections = example.w_q[head], example.w_k[head], example.w_v[head]
    added = {
        "sinusoidal": sinusoidal_encoding(len(words), n_heads * d_head),
        "learned table": draw_position_embedding(len(words), n_heads * d_head, seed),
        "rotary": None,
    }[kind]
    turn = rotate if kind == "rotary" else None
    return run_two_orders(example.x, *projections, order), run_two_orders(example.x, *projections, order, added, turn)


def shown_order(at):
    """The words of the new order as the page lists them."""
    return said(at, "new order ").split("new order")[1].split()


def assert_close(found, expected):
    np.testing.assert_allclose(found.astype(float), expected, rtol=0, atol=1e-12)


# The lesson


@pytest.fixture(scope="module")
def lesson():
    return press(open_page("order_blindness"), "Lesson values")


@pytest.mark.parametrize(
    ("part", "name", "golden"),
    [
        ("without positions", "output", "plain_output"),
        ("without positions", "new", "shuffled_output"),
        ("with positions", "output", "with_positions_output"),
        ("with positions", "new", "shuffled_with_positions_output"),
    ],
)
def test_the_lesson_s_outputs(lesson, part, name, golden):
    assert_close(pictures(lesson, part)[name], GOLDEN[golden])
    shown = [[float(text.replace("−", "-")) for text in row] for row in pictures(lesson, part, "text")[name]]
    assert shown == np.round(GOLDEN[golden], 2).tolist()


def test_the_lesson_s_verdicts(lesson):
    assert shown_order(lesson) == ["man", "bites", "the", "dog"]
    without, with_positions = said(lesson, "Without positions:"), said(lesson, "With positions (sinusoidal):")
    assert "the outputs only moved along with their words" in without
    assert "the outputs changed; largest difference 2.167." in with_positions
    found = float(re.search(r"largest difference ([\d.e-]+),", without)[1])
    assert found <= 1e-15


def test_the_lesson_s_encoding(lesson):
    assert_close(matrix(lesson, "sinusoidal positions"), GOLDEN["positional_encoding"])
    first = matrix(lesson, "sinusoidal positions")[1].astype(float)
    assert first.round(3).tolist() == GOLDEN["lesson_prints"]["pe1"]


# Any sentence


@pytest.mark.parametrize("kind", ["sinusoidal", "learned table", "rotary"])
def test_every_picture_holds_the_numbers_of_core(kind):
    at = open_page("order_blindness", **SENTENCE, positions=kind)
    words = tuple(SENTENCE["text"].split())
    assert shown_order(at) == ["dog", "saw", "the", "cat", "the"]
    for part, run in zip(PARTS, runs_of(words, 5, 3, 7, 2, (4, 2, 0, 1, 3), kind), strict=True):
        for name, attribute in PICTURES.items():
            assert_close(pictures(at, part)[name], getattr(run, attribute))
    table = numbers(at, "order_numbers", "difference with positions").to_numpy()
    assert np.abs(table).max() > 0.01
    assert_close(table, run.difference)
    assert f"the outputs changed; largest difference {run.largest_difference:.4g}." in said(
        at, f"With positions ({kind}):"
    )
    assert "the outputs only moved along" in said(at, "Without positions:")


def test_rows_of_the_new_order_carry_their_words():
    at = open_page("order_blindness", **SENTENCE)
    new = chart(at, "output of the new order, without positions")
    assert list(dict.fromkeys(new.row_name)) == ["0 dog", "1 saw", "2 the", "3 cat", "4 the"]


@pytest.mark.parametrize(
    ("kind", "encoding"),
    [
        ("sinusoidal", sinusoidal_encoding(5, 15)),
        ("learned table", draw_position_embedding(5, 15, 7)),
        ("rotary", np.cos(rotation_angles(5, 5))),
    ],
)
def test_positions_as_a_picture_and_as_curves(kind, encoding):
    at = open_page("order_blindness", **SENTENCE, positions=kind)
    assert_close(matrix(at, f"{kind} positions"), encoding)
    curves = chart(at, "The first").pivot(index="position", columns="feature", values="value").to_numpy()
    assert curves.shape == (32, min(8, encoding.shape[1]))
    assert_close(curves[:5], encoding[:, :8])


def test_positions_can_be_changed_and_the_outputs_follow():
    at = open_page("order_blindness")
    sinusoidal = pictures(at, "with positions")["output"]
    rotary = pictures(change(at, positions="rotary"), "with positions")["output"]
    assert np.abs((rotary - sinusoidal).astype(float)).max() > 0.01
    without = pictures(at, "without positions")["output"]
    assert (pictures(change(at, positions="learned table"), "without positions")["output"] == without).all()


# Orders


def test_at_first_the_ends_change_places():
    at = open_page("order_blindness", text="dog bites man")
    assert shown_order(at) == ["man", "bites", "dog"]
    words = numbers(at, "order_numbers", "output of the new order, without positions")
    assert list(words.index) == ["0 man", "1 bites", "2 dog"]


def test_the_same_words_in_another_order_have_the_same_vectors():
    """Of `man bites dog` the output is that of `dog bites man`, moved along."""
    one, other = (open_page("order_blindness", text=text) for text in ("dog bites man", "man bites dog"))
    assert_close(pictures(other, PARTS[0])["output"], pictures(one, PARTS[0])["output"][::-1])


def test_shuffle_draws_a_new_order_each_time_and_never_the_sentence():
    at = open_page("order_blindness", text="a b a")
    orders = []
    for _ in range(6):
        press(at, "Shuffle")
        order = [int(position) for position in at.session_state["order"].split()]
        assert sorted(order) == [0, 1, 2]
        assert shown_order(at) == ["aba"[position] for position in order]
        assert shown_order(at) != ["a", "b", "a"]
        orders.append(tuple(order))
    assert len(set(orders)) > 1
    assert notices(at) == []


def test_shuffle_follows_the_seed():
    first, second = (
        press(open_page("order_blindness", seed=seed), "Shuffle").session_state["order"] for seed in ("1", "1")
    )
    assert first == second
    assert first != press(open_page("order_blindness", seed="2"), "Shuffle").session_state["order"]


def test_reverse():
    at = press(open_page("order_blindness"), "Reverse")
    assert shown_order(at) == ["bat", "new", "a", "bought", "Meera"]
    assert at.session_state["order"] == "4 3 2 1 0"


def test_a_palindrome_cannot_be_reversed():
    at = open_page("order_blindness", text="a b a")
    assert [button.disabled for button in at.button if button.label == "Reverse"] == [True]


@pytest.mark.parametrize("written", ["3 1 2 0", "3, 1, 2, 0", " 3,1,2,0 "])
def test_an_order_can_be_typed(written):
    at = change(open_page("order_blindness", text="dog bites the man"), order=written)
    assert shown_order(at) == ["man", "bites", "the", "dog"]
    assert notices(at) == []


@pytest.mark.parametrize("written", ["0 1 2", "0 0 1 2 3", "5 1 2 3 4", "x", "1+1", "-1 0 1 2 3", "٠ ١ ٢ ٣ ٤"])
def test_an_order_that_does_not_fit_gets_one_sentence_and_the_page_goes_on(written):
    at = change(open_page("order_blindness"), order=written)
    (line,) = notices(at)
    assert line.startswith("The order does not fit this sentence: wanted each of 0 to 4 once")
    assert line.endswith("Used instead: 4 1 2 3 0.")
    assert shown_order(at) == ["bat", "bought", "a", "new", "Meera"]


@pytest.mark.parametrize(
    ("text", "order"), [("a b c", "0 1 2"), ("la lu la", "2 1 0")], ids=["identity", "equal words"]
)
def test_an_order_that_reads_the_same_is_refused(text, order):
    at = change(open_page("order_blindness", text=text), order=order)
    assert ["the sentence reads as before" in line for line in notices(at)] == [True]
    assert shown_order(at) != text.split()


def test_an_order_of_an_earlier_sentence_is_explained():
    at = change(open_page("order_blindness"), order="4 3 2 1 0")
    assert len(notices(change(at, text="dog bites man"))) == 1
    assert shown_order(at) == ["man", "bites", "dog"]


# What cannot be shown


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("word", "one word has only one order"),
        ("la la la", "all words are equal"),
        ("café cafe\u0301", "all words are equal"),
    ],
    ids=["one word", "equal words", "equal in two encodings"],
)
def test_sentences_without_another_order_are_explained(text, part):
    at = open_page("order_blindness", text=text)
    assert [part in info.value for info in at.info] == [True]
    assert not at.get("vega_lite_chart")
    assert not any("only moved along" in said_here or "changed" in said_here for said_here in texts(at))


def test_rotary_positions_turn_nothing_at_d_1():
    at = open_page("order_blindness", d="1", heads="2", positions="rotary")
    assert "With d = 1 there is no pair of features to turn" in said(at, "With positions (rotary):")
    assert any("rotary positions change nothing" in info.value for info in at.info)
    assert (pictures(at, "with positions")["output"] == pictures(at, "without positions")["output"]).all()
    assert len(at.get("vega_lite_chart")) == 6


def test_the_odd_feature_without_a_partner_is_said():
    assert any("has no partner" in text for text in texts(open_page("order_blindness", d="5", positions="rotary")))
    assert not any("has no partner" in text for text in texts(open_page("order_blindness", d="4", positions="rotary")))


def test_it_says_that_the_property_does_not_hold_under_a_mask():
    said(open_page("order_blindness"), "No mask on this page")
