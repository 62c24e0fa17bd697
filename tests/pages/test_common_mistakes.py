"""Common mistakes: every state by its link, core's numbers in pictures and tables, honest words where nothing shows."""

import re

import numpy as np
import pytest

from core.common_mistakes import MISTAKES, make
from tests.pages.reading import (
    assert_finite,
    bodies,
    change,
    charts,
    check_line,
    click_cell,
    in_sight,
    matrix,
    numbers,
    open_page,
    outlined,
    plain,
    run,
    said,
    table_rows,
    texts,
    value_of,
    worked_tables,
)
from ui.mistakes import TOLD, amount
from ui.pages import ORDER

WORDS = ("the", "cat", "saw", "the", "dog")
OTHER = {"text": " ".join(WORDS), "d": "7", "heads": "3", "seed": "11", "head": "2", "query": "3 the", "key": "1 cat"}
STATES = [(mistake, made) for mistake in MISTAKES for made in (True, False)]


def opened(mistake, made=True, **link):
    return open_page("common_mistakes", **OTHER | {"mistake": mistake, "made": str(made).lower()} | link)


def squeezed(at):
    return [" ".join(plain(body).split()) for body in bodies(at)]


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found, dtype=float), wanted, rtol=0, atol=1e-12)


def shown(values):
    return np.where(np.isfinite(values), values, np.nan)


@pytest.mark.parametrize(("mistake", "made"), STATES)
def test_each_state_has_a_link_and_shows_core_s_matrices_numbers_and_verdict(mistake, made):
    at = opened(mistake, made)
    found = make(mistake, WORDS, 7, 3, 11, 2, 3)
    runs = found.wrong if made else found.right
    if mistake == "quadratic cost":
        for column, name in enumerate(("operations", "bytes of weights")):
            (frame,) = (frame for alt, frame in charts(at) if alt.startswith(name))
            drawn = frame[frame.series.str.startswith("counted")].cost
            close(drawn, found.right.values[:, column])
            assert frame.series.nunique() == (2 if made else 1)
    else:
        close(matrix(at, "as it runs"), shown(runs.values))
        close(matrix(at, "done right"), shown(found.right.values))
    (table,) = (table_rows(body) for body in bodies(at) if ">symptom<" in body)
    assert [row[0] for row in table[1:]] == [measure.name for measure in found.measures]
    for row, measure in zip(table[1:], found.measures, strict=True):
        assert row[1:] == [amount(measure.wrong if made else measure.right), amount(measure.right)]
    (verdict,) = (text for text in squeezed(at) if text.count("(right: "))
    assert ("The test finds it." in verdict) == made
    assert ("The test finds nothing." in verdict) == (not made)
    told = TOLD[mistake]
    lines = [plain(line).strip() for body in bodies(at) for line in re.findall('<p class="code .*?</p>', body)]
    assert lines == [f"as it runs {told.wrong if made else told.right}", f"done right {told.right}"]
    links = [link.proto.label for link in at.main.get("page_link")]
    titles = [page.title for page in ORDER if page.name == told.page]
    assert [link for link in links if link.startswith("How")] == [f"How it is done right: {title}" for title in titles]
    if mistake != "no allowed key":
        assert_finite(at)


def test_the_numbers_behind_the_pictures_are_those_of_the_state():
    found = make("softmax axis", WORDS, 7, 3, 11, 2, 3)
    at = opened("softmax axis")
    close(numbers(at, "mistake_numbers", "as it runs"), found.wrong.values)
    close(numbers(at, "mistake_numbers", "done right"), found.right.values)
    close(numbers(at, "mistake_numbers", "measures"), found.matrix_of_measures(True))


def test_the_switch_makes_and_unmakes_it():
    at = opened("inverted mask")
    wrong = matrix(at, "as it runs")
    right = matrix(change(at, made=False), "as it runs")
    assert wrong[0, 0] == 0
    assert right[0, 0] == 1
    assert (matrix(at, "done right") == right).all()


def test_the_generator_recites_the_sentence_with_the_mask_only():
    at = open_page("common_mistakes", mistake="no causal mask")
    (lines,) = (body for body in bodies(at) if 'aria-label="what is recited"' in body)
    sentence, runs, right = re.findall(r'<p class="line">.*?</p>', lines)
    assert plain(sentence).split() == ["sentence", "Meera", "bought", "a", "new", "bat"]
    assert plain(right).split()[2:] == plain(sentence).split()[1:]
    assert "<s>" not in sentence + right
    found = make("no causal mask", ("Meera", "bought", "a", "new", "bat"))
    named = [found.recital[0].vocabulary[number] for number in found.recital[0].recited]
    assert plain(runs).split()[3:] == ["Meera", *named]
    struck = sum(name != true for name, true in zip(named, ("bought", "a", "new", "bat"), strict=True))
    assert runs.count("<s>") == struck > 0


def test_four_rules_for_a_query_without_any_key():
    at = opened("no allowed key")
    (table,) = (table_rows(body) for body in bodies(at) if "who does so" in body)
    assert [row[2:] for row in table[1:]] == [
        ["zeros", "0 of 5"],
        ["NaN: not a number", "5 of 5"],
        ["0.200 each", "0 of 5"],
        ["0.200 each", "0 of 5"],
    ]
    assert table[0][2] == "weights of 3 the"
    assert not any("nan" in frame.text.str.cat().lower() for _, frame in charts(at))


def test_which_way_round_masks_are_and_the_shapes_of_a_batch():
    masks = said(opened("inverted mask"), "key_padding_mask")
    assert "nn.MultiheadAttention, attn_mask" in masks
    assert "may not attend" in masks
    shapes = " ".join(said(opened("batch first"), "within the sentences").split())
    assert "weights of a head 5 × 3 × 3 3 × 5 × 5" in shapes


@pytest.mark.parametrize(
    ("mistake", "link", "sentence"),
    [
        ("no scale", {"d": "1"}, "With d = 1 the divisor is √1 = 1"),
        ("no scale", {"text": "word"}, "One word has one key"),
        ("no scale", {"text": "la la"}, "All words are equal, so all scores of a row are"),
        ("no scale", {"d": "4", "seed": "0"}, "At d = 4 the symptom is small"),
        ("no causal mask", {"text": "word"}, "One word has no next word"),
        ("no causal mask", {"text": "two words"}, "Two words have one next word to name"),
        ("no causal mask", {"text": "la la la"}, "All words are equal, so whatever is named"),
        ("no positions", {"text": "word"}, "One word has no second order"),
        ("no positions", {"text": "la la la"}, "Equal words have no second order"),
        ("batch first", {"text": "la la"}, "the output is right by luck"),
        ("transposed weights", {"d": "1", "heads": "1", "head": "0"}, "With d_model = 1 every W is a single number"),
        ("softmax axis", {"text": "word"}, "One word: a single row is a single column too"),
        ("split heads", {"heads": "1", "head": "0"}, "One head gets everything however it is cut"),
        ("split heads", {"text": "word"}, "One word: there is no other word"),
    ],
)
def test_where_it_cannot_be_seen_the_page_says_so(mistake, link, sentence):
    rest = {key: value for key, value in OTHER.items() if key not in ("head", "query", "key")}
    at = open_page("common_mistakes", **rest | {"mistake": mistake} | link)
    (remark,) = (plain(body) for body in bodies(at) if 'class="remark"' in body)
    assert sentence in remark


@pytest.mark.parametrize("mistake", MISTAKES)
def test_nothing_is_excused_where_all_of_it_shows(mistake):
    at = opened(mistake, d="32")
    assert not [body for body in bodies(at) if 'class="remark"' in body]


@pytest.mark.parametrize("mistake", [mistake for mistake in MISTAKES if mistake != "quadratic cost"])
@pytest.mark.parametrize("made", [True, False])
def test_pytorch_makes_the_same_mistake(mistake, made):
    kind, line, _ = check_line(opened(mistake, made))
    assert (kind, line[:18]) == ("", "✓ NumPy = PyTorch:")


def test_a_cost_is_not_compared():
    assert not any("PyTorch" in text and "NumPy" in text for text in texts(opened("quadratic cost")))


def test_the_picked_weight_is_worked_out_both_ways():
    at = opened("softmax axis")
    at.session_state["work_open"] = True
    found = make("softmax axis", WORDS, 7, 3, 11, 2, 3)
    tables = [table for table in worked_tables(run(at)) if table[0][0] == "key"]
    assert [row[3] for row in tables[0][1:-1]] == [f"{weight:.3f}" for weight in found.wrong.values[:, 1]]
    assert [row[3] for row in tables[1][1:-1]] == [f"{weight:.3f}" for weight in found.right.values[3]]
    assert outlined(at, "as it runs") == ([(3, 1)], [], [])


def test_every_mistake_has_its_arithmetic():
    for mistake in MISTAKES:
        at = opened(mistake)
        at.session_state["work_open"] = True
        shown_now = squeezed(run(at))
        assert any(text.startswith("As it runs: ") for text in shown_now)
        assert any(text.startswith("Done right: ") for text in shown_now)


def test_a_click_picks_query_and_key():
    at = click_cell(opened("split heads"), "done_right", 4, 0)
    assert (value_of(at, "query"), value_of(at, "key")) == (4, 0)
    at = click_cell(opened("transposed weights"), "as_it_runs", 1, 5)
    assert (value_of(at, "query"), value_of(at, "key")) == (1, 1)


def test_answers_are_those_of_the_state():
    at = opened("softmax axis")
    at.button(key="reveal_rows").click()
    run(at)
    at.button(key="reveal_survive").click()
    rows, survive = (plain(body) for body in bodies(run(at)) if "answer" in body)
    sums = make("softmax axis", WORDS, 7, 3, 11, 2, 3).weights[0].sum(axis=1)
    assert "The answer: no." in rows
    assert f"from {amount(sums.min())} to {amount(sums.max())}" in rows
    assert "The answer: 8." in survive
    assert "It finds only: inverted mask, softmax axis." in survive
    assert "The answer: no." not in " ".join(squeezed(change(at, mistake=0)))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_slide_holds_the_mistake_and_its_verdict(mistake):
    at = opened(mistake, present="1")
    html = " ".join(plain(element.proto.body) for element in in_sight(at, "html"))
    assert "The test finds it." in html
    assert len(at.get("vega_lite_chart")) == 2


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize(
    "link", [{"text": "w " * 64, "d": "64", "heads": "12"}, {"text": "word", "d": "1", "heads": "1"}], ids=["64", "1"]
)
def test_extremes(mistake, link):
    at = open_page("common_mistakes", mistake=mistake, **link)
    assert any("The test finds" in text for text in squeezed(at))
    if mistake != "no allowed key":
        assert_finite(at)


def test_an_empty_sentence_is_asked_for():
    assert "needs a sentence" in change(opened("split heads"), text="").info[0].value
