"""Practice: right answers are accepted, wrong ones told which mistake they are, and nothing is given away before."""

import html
import re
from itertools import chain

import pytest

from core.practice.kinds import KINDS, draw
from tests.pages.reading import (
    bodies,
    change,
    charts,
    go_to,
    in_sight,
    matrix,
    notices,
    numbers,
    open_page,
    plain,
    press,
    recorded,
    run,
    said,
    value_of,
    worked_tables,
)

SEED, NUMBER = 5, 2


@pytest.fixture
def records(monkeypatch):
    return recorded(monkeypatch)


def exercise_of(kind):
    return draw(kind, SEED, NUMBER)


def opened(kind, **link):
    return open_page("practice", exercise=kind, seed=str(SEED), number=str(NUMBER), **link)


def key_of(kind, row, column=0, number=NUMBER):
    return f"cell_{SEED}_{kind.replace(' ', '_')}_{number}_{row}_{column}"


def fill(at, exercise, values):
    """Type or mark an answer, as many decimals as are wanted, and press Check."""
    for row, line in enumerate(values):
        if exercise.form == "numbers":
            for column, value in enumerate(line):
                text = f"{value:.{exercise.decimals}f}" if exercise.decimals else f"{value:.10g}"
                at.text_input(key=key_of(exercise.kind, row, column)).set_value(text)
        else:
            found = [column for column, value in enumerate(line) if value]
            marked = int(line[0]) if exercise.form == "choice" else found
            at._tree.get_by_key(key_of(exercise.kind, row)).set_value(marked)
    return press(at, "Check")


def verdict(at):
    """What is said of the answer; empty before it is checked."""
    found = [" ".join(plain(body).split()) for body in bodies(at) if "verdict" in body]
    assert len(found) <= 1
    return found[0] if found else ""


def score(at):
    words = said(at, "This session").split()
    return int(words[2]), int(words[5])


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_answer_is_accepted_and_mistakes_are_named(kind):
    exercise, at = exercise_of(kind), opened(kind)
    assert exercise.asks in said(at, exercise.asks)
    assert verdict(at) == ""
    for mistake in exercise.mistakes[:3]:
        fill(at, exercise, mistake.answer)
        assert verdict(at).startswith("✗ Not yet. "), mistake.name
        assert mistake.says in verdict(at)
        assert score(at) == (0, 1)
    assert verdict(fill(at, exercise, exercise.answer)) == "✓ Right."
    assert score(at) == (1, 1)
    assert notices(at) == []
    assert score(fill(at, exercise, exercise.mistakes[0].answer)) == (1, 1), "once right, it has been done"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_drawn_is_what_is_asked_and_the_way_leads_to_the_answer(kind, records):
    exercise, at = exercise_of(kind), opened(kind)
    assert [name for name, _ in charts(at)] == [operand.name for operand in exercise.operands]
    for operand in exercise.operands:
        assert matrix(at, operand.name).tolist() == operand.values.tolist()
    assert list(records[-1].matrices) == [operand.name for operand in exercise.operands]
    assert records[-1].code["revealed"] is False
    assert not any("Answer:" in body for body in bodies(at))
    press(at, "Show the way")
    assert records[-1].matrices["answer"][0].tolist() == exercise.answer.tolist()
    assert records[-1].code["revealed"] is True
    way = said(at, "Answer:")
    if exercise.form == "choice":
        assert exercise.options[int(exercise.answer[0, 0])] in way
        assert exercise.why in way
    elif exercise.form == "numbers":
        for value in exercise.answer.ravel():
            assert f"{value:,.{exercise.decimals}f}".replace("-", "−") in way
    else:
        for row, name in zip(exercise.answer, exercise.rows, strict=True):
            marked = ", ".join(column for column, value in zip(exercise.columns, row, strict=True) if value)
            assert f"{name}: {marked or 'none'}" in " ".join(way.split()).replace(" ·", "")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if exercise_of(kind).form == "numbers" and kind != "reading"])
def test_the_way_is_worked_out_to_the_answer(kind):
    tables = worked_tables(press(opened(kind), "Show the way"))
    # Small whole numbers stand in many cells; a sum stands in the last row.
    rows = (
        [table[-1] for table in tables]
        if kind in ("score", "projection", "mixture", "parameters")
        else [*chain(*tables)]
    )
    cells = [cell for row in rows for cell in row]
    written = {float(plain(cell).replace("−", "-").replace(",", "")) for cell in cells if is_number(cell)}
    answer = exercise_of(kind).answer
    for value in answer[-1:].ravel() if kind == "causal rows" else answer.ravel():  # its first row is told in words
        assert any(abs(value - number) <= 6e-4 for number in written), (value, written)


def is_number(cell):
    return re.fullmatch(r"−?[0-9][0-9,]*(\.[0-9]+)?", cell) is not None


def test_no_table_gives_the_answer_away_before_it_is_shown():
    at = opened("softmax")
    numbers(at, "practice_numbers", "scaled scores")
    assert at.selectbox(key="practice_numbers_matrix").options == ["scaled scores"]
    press(at, "Show the way")
    table = numbers(at, "practice_numbers", "answer")
    assert table.to_numpy().tolist() == exercise_of("softmax").answer.tolist()


def test_what_is_no_number_gets_one_sentence_and_is_not_counted():
    exercise = exercise_of("scaling")
    at = press(opened("scaling"), "Check")
    assert notices(at) == ["Key 0: a number is wanted; the box is empty."]
    fill(at, exercise, exercise.answer)
    at.text_input(key=key_of("scaling", 0, 1)).set_value("<b>one</b>")
    assert notices(press(at, "Check")) == ["Key 1: a number such as 0.25 or −3 is wanted; given: “<b>one</b>”."]
    assert not any("<b>one" in body for body in bodies(at))
    assert verdict(at) == ""
    at = press(opened("shapes"), "Check")
    assert notices(at) == ["Choose one of the answers first."]
    at = press(opened("mask"), "Check")
    assert notices(at) == ["Mark at least one cell first."]
    assert score(at) == (0, 0)


def test_a_coarse_answer_and_weights_that_are_no_shares_are_told_so():
    exercise, at = exercise_of("softmax"), opened("softmax")
    for column, value in enumerate(exercise.answer[0]):
        at.text_input(key=key_of("softmax", 0, column)).set_value(f"{value:.1f}")
    assert "rounded too coarsely" in verdict(press(at, "Check"))
    for column in range(3):
        at.text_input(key=key_of("softmax", 0, column)).set_value("0,7")
    assert "sum to 2.10" in verdict(press(at, "Check"))


def test_a_sentence_of_feedback_stays_while_something_else_changes():
    exercise = exercise_of("weights")
    at = fill(opened("weights"), exercise, exercise.mistakes[0].answer)
    before = verdict(at)
    assert verdict(change(at, queries_in="columns")) == before != ""
    assert verdict(change(at, text="other words", d=9)) == before


def test_another_one_and_the_next_kind():
    at = opened("softmax")
    fill(at, exercise_of("softmax"), exercise_of("softmax").answer)
    press(at, "Another one")
    assert (value_of(at, "exercise"), value_of(at, "number")) == (4, NUMBER + 1)
    assert verdict(at) == ""
    assert at.text_input(key=key_of("softmax", 0, 0, NUMBER + 1)).value == ""
    assert matrix(at, "scaled scores").tolist() == draw("softmax", SEED, NUMBER + 1).operands[0].values.tolist()
    assert value_of(press(at, "Another kind"), "exercise") == 5
    assert score(at) == (1, 1)
    at = open_page("practice", exercise="which mistake", number="999")
    assert value_of(press(at, "Another one"), "number") == 1
    assert value_of(press(at, "Another kind"), "exercise") == 0


def test_an_exercise_depends_on_the_seed_and_on_nothing_else_in_the_sidebar(records):
    at = opened("score")
    asked = records[-1].code["operands"]
    change(at, text="other words", d=9, heads=3)
    assert records[-1].code["operands"] == asked
    change(at, seed=SEED + 1)
    assert records[-1].code["operands"] != asked


def test_who_has_seen_the_way_cannot_try_it_any_more_and_another_one_counts():
    exercise, at = exercise_of("score"), press(opened("score"), "Show the way")
    assert verdict(fill(at, exercise, exercise.answer)) == "✓ Right."
    assert score(at) == (0, 0)
    press(at, "Another one")
    assert not any("Answer:" in body for body in bodies(at))
    other = draw("score", SEED, NUMBER + 1)
    at.text_input(key=key_of("score", 0, 0, NUMBER + 1)).set_value(f"{other.answer[0, 0]:.0f}")
    assert score(press(at, "Check")) == (1, 1)


def test_score_and_boxes_survive_a_visit_to_another_page():
    exercise = exercise_of("scaling")
    at = fill(opened("scaling"), exercise, exercise.mistakes[0].answer)
    before = verdict(at)
    go_to(go_to(at, "home"), "practice")
    assert score(at) == (0, 1)
    assert verdict(at) == before


def test_hidden_controls_keep_everybody_at_the_same_exercise():
    at = opened("score", hide="number,exercise")
    buttons = {button.label: button.disabled for button in at.button}
    assert buttons["Another one"]
    assert buttons["Another kind"]


def test_on_a_slide_the_way_takes_the_place_of_the_boxes():
    at = opened("weights", present="1")
    assert len(in_sight(at, "text_input")) == len(exercise_of("weights").columns)
    assert not any("Answer:" in body for body in bodies(at))
    press(at, "Show the way")
    assert in_sight(at, "text_input") == []
    assert said(at, "Answer:")
    assert not in_sight(at, "download_button")


def test_the_exercises_to_build_are_offered_as_one_file_and_one_by_one():
    labels = [button.proto.label for button in open_page("practice").get("download_button")]
    assert labels == ["All of it (.zip)", "build_attention.ipynb", "check_attention.py", "read_me.txt"]


def test_questions_are_shown_literally():
    """Nothing of an exercise is read as Markdown or HTML."""
    at = run(opened("projection"))
    assert html.escape(exercise_of("projection").asks) in next(body for body in bodies(at) if "asks" in body)
