"""A click on any cell moves the controls, and the arithmetic beside the pictures is core's for the cell they name."""

import math

import numpy as np
import pytest

from core.attention import self_attention
from core.examples import ORDER_WORDS, draw_example, draw_position_embedding
from core.masks import causal_mask
from core.parameter_count import encoder_block_parameters
from core.positions import rotate, sinusoidal_encoding
from core.scaling import single_draws
from tests.pages.reading import (
    bodies,
    change,
    charts,
    click_cell,
    open_page,
    outlined,
    plain,
    press,
    run,
    said,
    values_of,
    worked_tables,
)
from ui.worked import three

WORDS = ("the", "cat", "saw", "the", "dog")
SENTENCE = {"text": " ".join(WORDS), "d": "7", "heads": "3", "seed": "11", "head": "2"}
SIDES = pytest.mark.parametrize("side", ["rows", "columns"])
NAMES = [f"{place} {word}" for place, word in enumerate(WORDS)]


def opened(name, side="rows", **link):
    return open_page(name, **SENTENCE | link | {"queries_in": side})


def click(at, picture, row, column):
    """On a cell by its row and column in the code, wherever it is drawn."""
    return click_cell(at, picture, *((row, column) if at.session_state["queries_in"] == "rows" else (column, row)))


def squeezed(at):
    """What the page says, each piece on one line."""
    return [" ".join(plain(body).split()) for body in bodies(at)]


def written(values):
    return [three(value) for value in values]


def run_of(x, mask=None, turn=None, lesson_words=None):
    example = draw_example(WORDS, 7, 3, 11, *((lesson_words,) if lesson_words else ()))
    x = example.x if x is None else x
    return self_attention(x, example.w_q[2], example.w_k[2], example.w_v[2], mask, turn=turn)


# Causal mask

SQUARE = ("mask", "scores_False", "scores_True", "weights_used", "weights_free")
PICTURES = {
    "mask": "Causal mask",
    "scores_False": "scaled scores before",
    "scores_True": "scaled scores after",
    "weights_used": "Weights: everything above",
    "weights_free": "Weights without a mask, for comparison",
}


def assert_masked_cell(at, query, key):
    free, used = run_of(None).attention, run_of(None, causal_mask(5)).attention
    score, scaled = free.scores[query, key], free.scaled_scores[query, key]
    line = next(text for text in squeezed(at) if "÷ √7 =" in text)
    hidden = " masked: replaced by −∞" if key > query else ""
    assert line.startswith(f"{three(score)} ÷ √7 = {three(scaled)}{hidden} √7 = 2.646")
    table = worked_tables(at)[0]
    assert [row[0] for row in table[1:-1]] == NAMES
    assert [row[1] for row in table[1:-1]] == written(used.scaled_scores[query])
    assert [row[3] for row in table[1:-1]] == written(used.weights[query])
    assert [row[1] for row in table[1:-1]].count("−∞") == 4 - query
    assert table[-1][3] == "1.000"
    turned = at.session_state["queries_in"] == "columns"
    for alt in PICTURES.values():
        assert outlined(at, alt) == ([(key, query) if turned else (query, key)], [], []), alt


@SIDES
@pytest.mark.parametrize("picture", SQUARE)
def test_a_click_on_any_matrix_of_the_mask_page_works_its_cell_out(picture, side):
    at = opened("causal_mask", side)
    for query, key in ((1, 3), (4, 2)):
        click(at, picture, query, key)
        assert values_of(at, ("query", "key")) == {"query": query, "key": key}
        assert_masked_cell(at, query, key)


def test_with_the_mask_off_no_cell_is_replaced():
    at = click(opened("causal_mask", causal="false"), "weights_used", 1, 3)
    free = run_of(None).attention
    assert not any("masked: replaced by" in text for text in squeezed(at))
    assert [row[3] for row in worked_tables(at)[0][1:-1]] == written(free.weights[1])


@SIDES
@pytest.mark.parametrize(("query", "column"), [(1, 0), (3, 1)])
def test_a_click_on_a_moved_row_shows_that_row_before_and_after(query, column, side):
    at = click(opened("causal_mask", side, replace="2 saw", by="ate", key="0 the"), "moved", query, column)
    assert values_of(at, ("query", "key")) == {"query": query, "key": 0}
    example = draw_example(("the", "cat", "ate", "the", "dog"), 7, 3, 11)
    before, after = run_of(None).attention.output[query], run_of(example.x).attention.output[query]
    table = next(table for table in worked_tables(at) if table[0][1] == "before")
    assert [row[0] for row in table[1:-1]] == [str(feature) for feature in range(7)]
    assert [row[1:] for row in table[1:-1]] == [
        written([old, new, abs(new - old)]) for old, new in zip(before, after, strict=True)
    ]
    assert table[-1] == ["largest", "", "", three(np.abs(after - before).max())]


@SIDES
@pytest.mark.parametrize("align", ["top-left", "bottom-right"])
@pytest.mark.parametrize(("query", "key"), [(0, 0), (2, 1)])
def test_a_click_on_either_corner_works_both_out(query, key, align, side):
    at = click(opened("causal_mask", side, n_query="3", n_key="2"), f"shape_{align}", query, key)
    assert values_of(at, ("corner_query", "corner_key")) == {"corner_query": query, "corner_key": key}
    rows = {"top-left": query, "bottom-right": query - 1}
    tables = [table for table in worked_tables(at) if table[0][0] == "key" and table[1][0] == "0"]
    expected = []
    for last in rows.values():  # the last key that the query may attend to
        allowed = [place <= last for place in range(2)]
        if any(allowed):
            each = three(1 / sum(allowed))
            expected.append([[str(place), *(["0.000", "1.000", each] if may else ["−∞", "0.000", "0.000"])]
                             for place, may in enumerate(allowed)])  # fmt: skip
    assert [table[1:-1] for table in tables] == expected
    nothing = [text for text in squeezed(at) if text.startswith("No allowed key: there is nothing to share out")]
    assert len(nothing) == (query == 0)


# Order-blindness

ORDER = (4, 2, 0, 1, 3)
ORDERED = {"order": "4 2 0 1 3"}
HALVES = {
    "without": ("without positions", "output without positions"),
    "with po": ("with positions", "output with positions"),
}


def order_runs(kind, half):
    """The sentence and its order, without positions or with them."""
    example = draw_example(WORDS, 7, 3, 11, ORDER_WORDS)
    added, turn = {
        "sinusoidal": (sinusoidal_encoding(5, 21), None),
        "learned table": (draw_position_embedding(5, 21, 11), None),
        "rotary": (0.0, rotate),
    }[kind]
    if half == "without":
        added, turn = 0.0, None
    rows = example.x, example.x[list(ORDER)]
    return [run_of(x + added, turn=turn, lesson_words=ORDER_WORDS) for x in rows]


def assert_both_orders(at, kind, word, feature):
    """The chosen word's output feature in the sentence, in the new order, and their difference; in both halves."""
    place = ORDER.index(word)
    new_names = [f"{i} {WORDS[old]}" for i, old in enumerate(ORDER)]
    tables = worked_tables(at)
    lines = [text for text in squeezed(at) if text.startswith("difference = new order − moved row")]
    assert (len(tables), len(lines)) == (4, 2)
    for number, half in enumerate(HALVES):
        own, other = order_runs(kind, half)
        for table, one, at_row, names in (
            (tables[2 * number], own, word, NAMES),
            (tables[2 * number + 1], other, place, new_names),
        ):
            assert [row[0] for row in table[1:-1]] == names
            assert [row[1] for row in table[1:-1]] == written(one.attention.weights[at_row])
            assert [row[2] for row in table[1:-1]] == written(one.v[:, feature])
            assert table[-1][3] == three(one.attention.output[at_row, feature])
        new, moved = other.attention.output[place, feature], own.attention.output[word, feature]
        numbers = lines[number].split("= ")[-2:]
        taken = f"{moved:.6f}" if moved >= 0 else f"({moved:.6f})"
        assert numbers[0].strip() == f"{new:.6f} − {taken}".replace("-", "−")
        if half != "without":
            assert numbers[1] == f"{new - moved:.6f}".replace("-", "−")
            assert abs(new - moved) > 0.001
        else:
            assert abs(float(numbers[1].replace("−", "-"))) < 1e-14


@SIDES
@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("picture", ["output", "output of the new order", "new order − moved rows"])
def test_a_click_on_any_output_of_the_order_page_works_both_orders_out(picture, half, side):
    name = HALVES[half][1] if picture == "output" else picture
    at = opened("order_blindness", side, **ORDERED)
    assert worked_tables(at) == []
    click(at, f"{name}_{half}", 1, 5)
    word = 1 if picture == "output" else ORDER[1]
    assert values_of(at, ("word", "feature")) == {"word": word, "feature": 5}
    assert_both_orders(at, "sinusoidal", word, 5)
    place = ORDER.index(word)
    for alt, _ in charts(at)[:6]:
        row = place if "new order" in alt else word
        assert outlined(at, alt) == ([(5, row) if side == "columns" else (row, 5)], [], []), alt


@pytest.mark.parametrize("kind", ["learned table", "rotary"])
def test_both_orders_are_worked_out_with_other_positions_too(kind):
    at = opened("order_blindness", positions=kind, word="3 the", feature="6", **ORDERED)
    at.session_state["work_open"] = True
    assert_both_orders(run(at), kind, 3, 6)


@SIDES
@pytest.mark.parametrize(("word", "entry"), [(3, 4), (4, 13)])
def test_a_click_on_the_sinusoid_works_its_entry_out(word, entry, side):
    at = click(opened("order_blindness", side), "encoding", word, entry)
    assert values_of(at, ("word", "entry")) == {"word": word, "entry": entry}
    angle = word / 10000 ** (2 * (entry // 2) / 21)
    value = math.cos(angle) if entry % 2 else math.sin(angle)
    assert (
        f"position {word} , pair {entry // 2}: angle = {word} ÷ 10,000 2·{entry // 2}/21 = {angle:.6f}"
        in squeezed_text(at)
    )
    sign = ("odd: cos" if entry % 2 else "even: sin") + f"({angle:.6f}) = {value:.6f}"
    assert f"feature {entry} is {sign}".replace("-", "−") in squeezed_text(at)


def squeezed_text(at):
    return " | ".join(squeezed(at))


@SIDES
def test_a_click_on_the_rotation_works_its_angle_out(side):
    at = click(opened("order_blindness", side, positions="rotary"), "encoding", 4, 2)
    assert values_of(at, ("word", "entry")) == {"word": 4, "entry": 2}
    angle = 4 / 10000 ** (2 * 2 / 7)
    assert f"position 4 , pair 2: angle = 4 ÷ 10,000 2·2/7 = {angle:.6f}" in squeezed_text(at)
    assert f"features 4 and 5 of q and k are turned by it; cos({angle:.6f}) = {math.cos(angle):.6f}" in squeezed_text(
        at
    )


@SIDES
def test_a_click_on_the_learned_table_shows_its_entry(side):
    at = click(opened("order_blindness", side, positions="learned table"), "encoding", 2, 16)
    value = draw_position_embedding(5, 21, 11)[2, 16]
    assert f"Entry 16 of position 2: drawn at random, {value:.6f} ;" in squeezed_text(at)


# What is no cell


@SIDES
@pytest.mark.parametrize(
    ("name", "picture", "cell", "controls"),
    [
        ("causal_mask", "weights_used", (2, 5), ("query", "key")),
        ("causal_mask", "weights_free", (4, 5), ("query", "key")),
        ("causal_mask", "shape_top-left", (1, 5), ("corner_query", "corner_key")),
        ("causal_mask", "shape_bottom-right", (0, 5), ("corner_query", "corner_key")),
        ("query_key_value", "weights", (2, 5), ("query", "key")),
    ],
)
def test_a_click_on_a_sum_picks_nothing(name, picture, cell, controls, side):
    at = opened(name, side, query="3 the", key="1 cat", corner_query="0", corner_key="3")
    before, shown = values_of(at, controls), squeezed(at)
    click(at, picture, *cell)
    assert values_of(at, controls) == before
    assert squeezed(at) == shown


def test_a_click_that_takes_the_selection_back_picks_nothing():
    at = click(opened("causal_mask", query="3 the", key="1 cat"), "mask", 0, 4)
    shown = squeezed(at)
    click_cell(at, "mask")
    assert values_of(at, ("query", "key")) == {"query": 0, "key": 4}
    assert squeezed(at) == shown


# Why divide by √d


def key_tables(at):
    """Dot product, softmax of the raw scores and of the divided ones; the division."""
    product, raw, divided = [table for table in worked_tables(at) if table[0][0] in ("feature", "key")]
    return product, raw, divided, next(text for text in squeezed(at) if "÷ √" in text and "d = size" in text)


@pytest.mark.parametrize(
    ("link", "dims", "number", "n_keys", "key"),
    [
        ({}, (4, 64, 512), 2, 5, 0),
        ({"keys": "8", "dims": ["512", "2", "64"], "draw": "d = 512", "draw_key": "6"}, (512, 2, 64), 0, 8, 6),
        ({"keys": "3", "draw": "d = 64", "draw_key": "2"}, (4, 64, 512), 1, 3, 2),
        ({"keys": "2", "dims": ["1"], "draw_key": "1"}, (1,), 0, 2, 1),
    ],
    ids=["d = 512", "drawn first", "d = 64", "d = 1"],
)
def test_one_key_of_a_draw_is_worked_out(link, dims, number, n_keys, key):
    at = open_page("scaling_sweep", seed="11", **link)
    assert not any(table[0][0] == "feature" for table in worked_tables(at)), "closed at first"
    at.session_state["work_open"] = True
    draw = single_draws(dims, n_keys, 11)[number]
    product, raw, divided, division = key_tables(run(at))
    d, each = draw.d, draw.q * draw.keys[key]
    shown = min(d, 64)
    assert [row[:3] for row in product[1 : shown + 1]] == [
        [str(j), three(draw.q[j]), three(draw.keys[key, j])] for j in range(shown)
    ]
    assert [row[3] for row in product[1 : shown + 1]] == written(each[:shown])
    rest = [["448 more", "", "", three(each[64:].sum())]] if d == 512 else []
    assert product[shown + 1 : -1] == rest
    assert product[-1] == ["score", "", "", three(draw.raw_scores[key])]
    root = math.sqrt(d)
    assert division == (
        f"{three(draw.raw_scores[key])} ÷ √{d} = {three(draw.raw_scores[key] / root)} √{d} = {three(root)}, "
        "d = size of each key"
    )
    for table, scores, weights in (
        (raw, draw.raw_scores, draw.weights_unscaled),
        (divided, draw.raw_scores / root, draw.weights_scaled),
    ):
        assert [row[0] for row in table[1:-1]] == [str(place) for place in range(n_keys)]
        assert [row[1] for row in table[1:-1]] == written(scores)
        assert [row[2] for row in table[1:-1]] == written(np.exp(scores - scores.max()))
        assert [row[3] for row in table[1:-1]] == written(weights)
        assert table[-1] == ["row sum", "", three(np.exp(scores - scores.max()).sum()), "1.000"]


# Parameter count


def test_any_tensor_is_worked_out():
    at = open_page("parameter_count", d_model="55", block_heads="5", d_ff="101")
    rows = encoder_block_parameters(55, 5, 101).rows
    assert at.selectbox(key="tensor").options == [row.name for row in rows]
    for number, row in enumerate(rows):
        change(at, tensor=number)
        names = " × ".join({55: "d_model", 101: "d_ff"}[size] for size in row.shape)
        assert f"{names} = {' × '.join(map(str, row.shape))} = {math.prod(row.shape):,}" in squeezed(at)
        assert said(at, "In PyTorch:").split() == ["In", "PyTorch:", row.torch_name]


# Home


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize("query", [0, 3])
def test_work_this_out_leads_to_the_cell_that_was_read(query, side):
    at = press(opened("home", side, query=NAMES[query]), "Work this out")
    weights = run_of(None).attention.weights[query]
    key = int(weights.argmax())
    assert at.title[0].value == "Query, key, value"
    assert values_of(at, ("head", "query", "key", "step")) == {
        "head": 2, "query": query, "key": key, "step": "softmax",
    }  # fmt: skip
    assert at.session_state["queries_in"] == side
    (table,) = worked_tables(at)
    assert table[key + 1][0] == NAMES[key]
    assert [row[3] for row in table[1:-1]] == written(weights)
    assert {key: at.query_params[key] for key in ("text", "d", "heads", "seed")} == {
        key: SENTENCE[key] for key in ("text", "d", "heads", "seed")
    }
