"""Exercises: right answers are right, each mistake is told by its numbers and only by them, variants are fair."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.practice import kinds
from core.practice.exercise import Exercise, Mistake, judge, read_number
from core.practice.kinds import KINDS, draw

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
PLACES = st.tuples(st.integers(0, 9999), st.integers(1, 999))


def as_typed(exercise, values):
    """An answer as a reader writes it, with the decimals that are wanted; whole numbers are exact."""
    return values.round(exercise.decimals) if exercise.decimals else values


@EVERY_KIND
@settings(max_examples=40)
@given(place=PLACES)
def test_the_right_answer_is_right_and_every_mistake_is_named_as_what_it_is(kind, place):
    exercise = draw(kind, *place)
    assert judge(exercise, exercise.answer).is_right
    assert judge(exercise, as_typed(exercise, exercise.answer)).is_right
    assert len(exercise.mistakes) >= 3
    assert len({mistake.name for mistake in exercise.mistakes}) == len(exercise.mistakes)
    for mistake in exercise.mistakes:
        for values in (mistake.answer, as_typed(exercise, mistake.answer)):
            verdict = judge(exercise, values)
            assert not verdict.is_right
            assert [name for name in verdict.named if name != "rounded too coarsely"] == [mistake.name]
            assert verdict.says[0] == mistake.says
            assert verdict.wrong


@EVERY_KIND
@settings(max_examples=25)
@given(place=PLACES, slip=st.floats(-1, 1))
def test_whatever_counts_as_right_is_no_mistake(kind, place, slip):
    """At the edge of the tolerance too, in every cell at once."""
    exercise = draw(kind, *place)
    verdict = judge(exercise, exercise.answer + slip * exercise.tolerance)
    assert verdict.is_right
    assert verdict.says == verdict.named == verdict.wrong == ()


@EVERY_KIND
@settings(max_examples=25)
@given(place=PLACES)
def test_operands_can_be_worked_with_on_paper(kind, place):
    exercise = draw(kind, *place)
    for operand in exercise.operands:
        assert operand.values.ndim == 2
        assert np.array_equal(operand.values, operand.values.round(operand.decimals)), "what is shown is exact"
        assert np.abs(operand.values).max() <= 128
        for names, size in zip((operand.row_names, operand.column_names), operand.values.shape, strict=True):
            assert len(names) in (0, size)
    assert exercise.answer.shape == (len(exercise.rows), len(exercise.columns))
    assert all(mistake.answer.shape == exercise.answer.shape for mistake in exercise.mistakes)
    if exercise.sums_to_one:
        assert exercise.answer.sum(axis=1) == pytest.approx(np.ones(len(exercise.rows)))
    if exercise.form == "choice":
        assert len(set(exercise.options)) == len(exercise.options) == len(exercise.mistakes) + 1
        assert exercise.why


@EVERY_KIND
def test_a_variant_is_the_same_each_time_and_the_next_one_another(kind):
    def numbers(exercise):
        return [operand.values.tolist() for operand in exercise.operands], exercise.asks, exercise.answer.tolist()

    variants = [numbers(draw(kind, 3, number)) for number in range(1, 25)]
    assert numbers(draw(kind, 3, 1)) == variants[0]
    # Of the few sizes of a mask there are only so many.
    assert len({str(variant) for variant in variants}) >= 10
    assert numbers(draw(kind, 4, 1)) != variants[0] or numbers(draw(kind, 5, 1)) != variants[0]


def test_a_new_kind_changes_no_other(monkeypatch):
    before = draw("softmax", 0, 1)
    monkeypatch.setattr(kinds, "KINDS", {"new": KINDS["score"]} | KINDS)
    assert np.array_equal(draw("softmax", 0, 1).answer, before.answer)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"kind must be one of reading, .*; got 'poetry'"):
        draw("poetry", 0, 1)


def test_a_kind_without_a_fair_variant_is_told(monkeypatch):
    unfair = Exercise("unfair", "?", np.ones((1, 1)), (Mistake("none", "Nothing.", np.ones((1, 1))),))
    monkeypatch.setitem(KINDS, "unfair", lambda rng: unfair)
    with pytest.raises(RuntimeError, match="no fair variant of 'unfair'"):
        draw("unfair", 0, 1)


# The row of weights, every mistake made once more with loops


def exponential(score):
    return 0.0 if score == -math.inf else math.exp(score)


def loop_weights(q, k, sees, scale=0.5, hidden=-math.inf, axis="row"):
    """Weights of all queries, one number after the other."""
    n = len(q)
    score = [[scale * sum(a * b for a, b in zip(q[i], k[j], strict=True)) for j in range(n)] for i in range(n)]
    masked = [[score[i][j] if sees(i, j) else hidden for j in range(n)] for i in range(n)]
    powers = [[exponential(masked[i][j]) for j in range(n)] for i in range(n)]
    sums = [sum(powers[i]) for i in range(n)]
    if axis == "column":
        columns = [sum(powers[i][j] for i in range(n)) for j in range(n)]
        return [[powers[i][j] / columns[j] for j in range(n)] for i in range(n)]
    if axis == "none":
        return powers
    return [[powers[i][j] / sums[i] if sums[i] else 0.0 for j in range(n)] for i in range(n)]


def causal(i, j):
    return j <= i


@pytest.mark.parametrize("number", [1, 2, 5])
def test_every_mistake_in_a_row_of_weights_is_what_its_name_says(number):
    exercise = draw("weights", 7, number)
    q, k = (operand.values.tolist() for operand in exercise.operands)
    query, n = exercise.given["query"], len(q)
    free = loop_weights(q, k, lambda i, j: True)
    expected = {
        "no scale": loop_weights(q, k, causal, scale=1.0),
        "divided by d": loop_weights(q, k, causal, scale=0.25),
        "wrong axis": loop_weights(q, k, causal, axis="column"),
        "exp without normalising": loop_weights(q, k, causal, axis="none"),
        "mask forgotten": free,
        "mask after the softmax": [[free[i][j] if j <= i else 0.0 for j in range(n)] for i in range(n)],
        "masked with 0": loop_weights(q, k, causal, hidden=0.0),
        "inverted polarity": loop_weights(q, k, lambda i, j: j > i),
        "transposed scores": loop_weights(k, q, causal),
        "off by one, itself hidden": loop_weights(q, k, lambda i, j: j < i),
        "off by one, next seen": loop_weights(q, k, lambda i, j: j <= i + 1),
    }
    assert exercise.answer[0] == pytest.approx(loop_weights(q, k, causal)[query])
    assert {mistake.name: mistake.answer[0].tolist() for mistake in exercise.mistakes} == {
        name: pytest.approx(rows[query]) for name, rows in expected.items()
    }


def answer_of(exercise, name):
    return next(mistake.answer for mistake in exercise.mistakes if mistake.name == name)


def test_some_mistakes_of_other_kinds_by_hand():
    exercise = draw("softmax", 0, 1)
    row, scaled = exercise.given["query"], exercise.operands[0].values
    columns = [[math.exp(value) for value in column] for column in scaled.T]
    by_hand = [column[row] / sum(column) for column in columns]
    assert answer_of(exercise, "wrong axis")[0] == pytest.approx(by_hand)
    exercise = draw("projection", 0, 1)
    x, w_q, w_k = (operand.values.tolist() for operand in exercise.operands)
    assert exercise.answer[0].tolist() == [sum(x[0][i] * w_q[i][j] for i in range(3)) for j in range(3)]
    assert answer_of(exercise, "W_q transposed")[0].tolist() == [
        sum(x[0][j] * w_q[i][j] for j in range(3)) for i in range(3)
    ]
    assert answer_of(exercise, "W_k used")[0].tolist() == [sum(x[0][i] * w_k[i][j] for i in range(3)) for j in range(3)]
    exercise = draw("order", 0, 1)
    old, order = exercise.operands[0].values[:, 0], exercise.operands[1].values[0].astype(int)
    assert exercise.answer[:, 0].tolist() == [old[place] for place in order]
    moved = np.empty(4)
    for place, target in enumerate(order):
        moved[target] = old[place]
    assert answer_of(exercise, "moved the other way")[:, 0].tolist() == moved.tolist()
    exercise = draw("layer norm", 0, 1)
    x = exercise.operands[0].values[exercise.given["word"]].tolist()
    mean = sum(x) / 4
    spread = math.sqrt(sum((value - mean) ** 2 for value in x) / 4)
    sample = math.sqrt(sum((value - mean) ** 2 for value in x) / 3)
    assert exercise.answer[0] == pytest.approx([(value - mean) / spread for value in x])
    assert answer_of(exercise, "n − 1")[0] == pytest.approx([(value - mean) / sample for value in x])


# What is said of an answer


ASKED = Exercise(
    "three",
    "?",
    np.array([[0.267, 0.5, 0.233]]),
    (Mistake("halved", "You halved it.", np.array([[0.134, 0.25, 0.117]])),),
    columns=("key 0", "key 1", "key 2"),
    decimals=2,
    tolerance=0.01,
    sums_to_one=True,
)


def test_right_with_fewer_decimals_is_told_so():
    verdict = judge(ASKED, [[0.3, 0.5, 0.2]])
    assert verdict.named == ("rounded too coarsely",)
    assert "1 decimal where 2 are wanted" in verdict.says[0]
    assert "no decimals where 2" in judge(ASKED, [[0.0, 0.0, 0.0]]).says[0]


def test_rows_that_do_not_sum_to_1_are_told_so():
    verdict = judge(ASKED, [[0.4, 0.5, 0.4]])
    assert verdict.named == ("rows do not sum to 1",)
    assert "sum to 1.30" in verdict.says[0]


def test_a_slip_is_placed_but_the_answer_is_not_given_away():
    verdict = judge(ASKED, [[0.37, 0.4, 0.23]])
    assert (verdict.named, verdict.wrong) == ((), ((0, 0), (0, 1)))
    assert verdict.says == ("1 of 3 are right. Not right are: key 0 and key 1.",)
    assert judge(replace(ASKED, sums_to_one=False), [[0.27, 0.4, 0.23]]).says == (
        "2 of 3 are right. Not right is: key 1.",
    )


def test_two_mistakes_with_the_same_numbers_are_both_named():
    other = Mistake("by two", "You divided by two.", ASKED.mistakes[0].answer)
    both = replace(ASKED, mistakes=(*ASKED.mistakes, other))
    assert not both.is_fair, "draw would not offer it"
    assert judge(both, [[0.13, 0.25, 0.12]]).named == ("halved", "by two")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0.1, 0.2, 0.7], r"given must have shape \(1, 3\); got \(3,\)"),
        ([[0.1, math.nan, 0.2]], "given must be finite"),
    ],
)
def test_what_cannot_be_judged_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        judge(ASKED, given)


@pytest.mark.parametrize(
    ("text", "whole", "number"),
    [
        ("0.25", False, 0.25),
        (" 0,25 ", False, 0.25),
        ("−3", False, -3.0),
        ("–.5", False, -0.5),
        ("+7.", False, 7.0),
        ("8,544", True, 8544.0),
        ("8 544", True, 8544.0),
        ("−1,234,567", True, -1234567.0),
        ("2,5", True, 2.5),
        ("8,544", False, 8.544),
    ],
)
def test_numbers_as_they_are_typed(text, whole, number):
    assert read_number(text, whole) == number


@pytest.mark.parametrize(
    "text",
    ["", "  ", "x", "1e3", "nan", "inf", "1/3", "0.2.5", "٣", "1 2", "--1", "<b>", "9" * 40, "1_000", "0x1", "−", "."],
)
def test_what_is_no_number_is_told_in_one_sentence(text):
    with pytest.raises(ValueError, match=r"^a number (such as 0.25 or −3 )?is wanted; ") as error:
        read_number(text)
    assert len(str(error.value)) < 90
