"""Encoder block: every intermediate is core's, the steps follow the computation, and any cell is worked out."""

import re

import numpy as np
import pytest

from core.encoder_block import encoder_block
from core.examples import draw_block
from core.layer_norm import layer_norm
from tests.pages.reading import (
    alternatives,
    bodies,
    change,
    chart,
    click,
    click_cell,
    matrix,
    open_page,
    outlined,
    plain,
    run,
    worked_tables,
)
from ui.charts.block import PICK

PRE = ["X", "norm 1", "joined", "attention", "sum 1", "norm 2", "hidden", "activated", "feed-forward", "sum 2"]
POST = ["X", "joined", "attention", "sum 1", "norm 1", "hidden", "activated", "feed-forward", "sum 2", "norm 2"]
OTHER = {"text": "the cat saw the dog", "d": "3", "heads": "7", "seed": "11"}


def block_of(norm_position, activation, factor=2):
    words = tuple(OTHER["text"].split())
    x, parameters = draw_block(words, 3, 7, factor * 21, 11)
    return x, parameters, encoder_block(x, parameters, 7, norm_position, activation)


def stages(norm_position, activation, factor=2):
    """Every intermediate by the name of its picture, from core."""
    x, parameters, block = block_of(norm_position, activation, factor)
    sum_1 = x + block.attention_output
    found = {
        "X": x,
        "joined": block.joined,
        "attention": block.attention_output,
        "sum 1": sum_1,
        "hidden": block.hidden,
        "activated": block.activated,
        "feed-forward": block.feed_forward_output,
        "sum 2": block.after_attention + block.feed_forward_output,
    }
    if norm_position == "pre":
        found |= {"norm 1": block.attention_input, "norm 2": block.feed_forward_input}
        np.testing.assert_array_equal(found["sum 2"], block.output)
    else:
        found |= {"norm 1": block.after_attention, "norm 2": block.output}
        np.testing.assert_allclose(layer_norm(sum_1, parameters.norm_1_gain, parameters.norm_1_shift), found["norm 1"])
    return parameters, found


def alt(name):
    return f"{name} of every word"


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_every_picture_holds_the_numbers_of_core(norm, activation):
    at = open_page("encoder_block", **OTHER, norm=norm, activation=activation, factor="4")
    _, wanted = stages(norm, activation, 4)
    parts, *names = [alt.partition(" of every word")[0] for alt in alternatives(at)]
    assert parts.startswith("Parts of the block")
    assert names == (PRE if norm == "pre" else POST)
    for name, values in wanted.items():
        np.testing.assert_allclose(matrix(at, alt(name)).astype(float), values, rtol=0, atol=1e-12, err_msg=name)


def written(value, digits):
    return f"{value:z.{digits}f}".replace("-", "−")


def said_beside(at):
    """The arithmetic of the step: its lines, or its table's last number."""
    tables = worked_tables(at)
    if tables:
        return tables[0][-1][-1]
    lines = [plain(body) for body in bodies(at) if "<b>" in body and re.search(r"= <b>[−\d.]+</b>", body)]
    return re.search(r"=\s+(\S+)\s*", " ".join(lines[0].split()).rpartition("= ")[1] + lines[0].rpartition("=")[2])[1]


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(
    ("step", "made", "column"),
    [
        ("norm 1", "norm 1", 5),
        ("attention", "attention", 5),
        ("add 1", "sum 1", 5),
        ("norm 2", "norm 2", 5),
        ("expand", "hidden", 41),
        ("bend", "activated", 41),
        ("contract", "feed-forward", 5),
        ("add 2", "sum 2", 5),
    ],
)
def test_the_picked_cell_of_every_step_is_worked_out(norm, step, made, column):
    at = open_page("encoder_block", **OTHER, norm=norm, step=step, word="3 the", entry="5", unit="41")
    _, wanted = stages(norm, "gelu")
    value = wanted[made][3, column]
    digits = 3 if worked_tables(at) else 6
    assert said_beside(at) == written(value, digits)
    assert outlined(at, alt(made)) == ([(3, column)], [], [])


def test_a_layer_norm_is_worked_out_from_its_row():
    at = open_page("encoder_block", **OTHER, step="norm 1", word="1 cat", entry="13")
    parameters, wanted = stages("pre", "gelu")
    row = wanted["X"][1]
    text = next(plain(body) for body in bodies(at) if "mean of the word" in body)
    for value in (row.mean(), row.var(), row[13], parameters.norm_1_gain[13], abs(parameters.norm_1_shift[13])):
        assert written(value, 6) in text
    assert outlined(at, alt("X")) == ([], [1], [])


def test_a_dense_layer_is_worked_out_with_its_bias():
    at = open_page("encoder_block", **OTHER, step="expand", word="1 cat", unit="13")
    parameters, wanted = stages("pre", "gelu")
    table = worked_tables(at)[0]
    assert [row[1] for row in table[1:-2]] == [written(value, 3) for value in wanted["norm 2"][1]]
    assert [row[2] for row in table[1:-2]] == [written(value, 3) for value in parameters.w_1[:, 13]]
    assert table[-2] == ["bias", "", "", written(parameters.b_1[13], 3)]


STEPS = {"norm_1": "norm 1", "joined": "attention", "attention": "attention", "sum_1": "add 1", "norm_2": "norm 2",
         "hidden": "expand", "activated": "bend", "feed-forward": "contract", "sum_2": "add 2"}  # fmt: skip


@pytest.mark.parametrize("picture", STEPS)
def test_a_click_picks_the_cell_and_goes_to_the_step_that_makes_it(picture):
    at = click_cell(open_page("encoder_block", **OTHER), f"stage_{picture}", 2, 17)
    assert at.session_state["step"] == STEPS[picture]
    assert at.session_state["word"] == "2 saw"
    assert at.session_state["unit" if picture in ("hidden", "activated") else "entry"] == "17"


def parts_of(at):
    table = chart(at, "Parts of the block")
    return table[table.kind == "part"], table[table.kind == "skip"]


@pytest.mark.parametrize(
    ("norm", "order", "around"),
    [
        (
            "pre",
            ["X", "norm 1", "attention", "add 1", "norm 2", "expand", "bend", "contract", "add 2"],
            [(0, 3), (3, 8)],
        ),
        (
            "post",
            ["X", "attention", "add 1", "norm 1", "expand", "bend", "contract", "add 2", "norm 2"],
            [(0, 2), (3, 7)],
        ),
    ],
)
def test_the_block_as_a_picture_shows_what_leaves_each_part(norm, order, around):
    at = open_page("encoder_block", **OTHER, norm=norm, word="2 saw", step="bend")
    parts, skips = parts_of(at)
    assert parts.part.tolist() == order
    assert list(zip(skips.place, skips.end, strict=True)) == around
    _, wanted = stages(norm, "gelu")
    made = {"X": "X", "add 1": "sum 1", "add 2": "sum 2", "expand": "hidden", "bend": "activated"}
    made |= {"contract": "feed-forward"}
    lengths = [float(np.linalg.norm(wanted[made.get(part, part)][2])) for part in order]
    np.testing.assert_allclose(parts.length, lengths, rtol=1e-12)
    assert parts.said.tolist() == [f"{length:.2f}" if length < 10 else f"{length:.1f}" for length in lengths]
    assert parts.label.tolist() == ["+" if part.startswith("add") else part for part in order]
    assert parts.part[parts.picked].tolist() == ["bend"]
    alt = alternatives(at)[0]
    assert f"expand {lengths[order.index('expand')]:.2f}" in alt
    assert f"a skip connection from {order[around[1][0]]} to add 2" in alt


@pytest.mark.parametrize("part", ["attention", "add 2", "contract"])
def test_a_click_on_a_part_goes_to_its_step(part):
    at = click(open_page("encoder_block", **OTHER), "block_parts", PICK, [{"part": part}])
    assert at.session_state["step"] == part
    parts, _ = parts_of(at)
    assert parts.part[parts.picked].tolist() == [part]


@pytest.mark.parametrize("picked", [[], [{"part": "X"}]], ids=["nothing", "the input"])
def test_a_click_on_what_is_no_step_leaves_the_step(picked):
    at = click(open_page("encoder_block", **OTHER, step="bend"), "block_parts", PICK, picked)
    assert at.session_state["step"] == "bend"


@pytest.mark.parametrize(
    ("norm", "order"),
    [
        ("pre", ["norm 1", "attention", "add 1", "norm 2", "expand", "bend", "contract", "add 2"]),
        ("post", ["attention", "add 1", "norm 1", "expand", "bend", "contract", "add 2", "norm 2"]),
    ],
)
def test_the_steps_follow_the_computation(norm, order):
    at = open_page("encoder_block", norm=norm)
    seen = [at.session_state["step"]]
    while not at.button(key="step_next").disabled:
        at.button(key="step_next").click()
        seen.append(run(at).session_state["step"])
    assert seen == order


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_what_another_word_reaches(norm):
    at = open_page("encoder_block", norm=norm)
    at.button(key="reveal_touched").click()
    answer = next(plain(body) for body in bodies(run(at)) if "answer" in body)
    assert "The answer: from the attention on." in answer


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_how_long_the_output_is(norm):
    at = open_page("encoder_block", **OTHER, norm=norm, word="4 dog")
    x, _, block = block_of(norm, "gelu")
    at.button(key="reveal_length_kept").click()
    answer = next(plain(body) for body in bodies(run(at)) if "answer" in body)
    assert f"It is {np.linalg.norm(block.output[4]) / np.linalg.norm(x[4]):.2f}." in answer
    assert f"{np.linalg.norm(x[4]):.2f} became {np.linalg.norm(block.output[4]):.2f}" in answer


def test_a_smaller_width_keeps_the_number_of_what_was_picked():
    at = open_page("encoder_block", **OTHER, entry="20", unit="41", step="bend")
    assert change(at, d=1).session_state["entry"] == "6"
    assert at.session_state["unit"] == "13"


@pytest.mark.parametrize(("norm", "first", "other"), [("pre", "norm 1", "attention"), ("post", "attention", "norm 1")])
def test_the_first_slide_in_the_order_of_the_norm_says_what_is_random(norm, first, other):
    for step in (first, other):
        at = open_page("encoder_block", present="1", norm=norm, step=step)
        assert any("nothing is trained" in body for body in bodies(at)) == (step == first)
        assert any("Words exchange" in element.value for element in at.markdown) == (step == first)


def test_of_many_numbers_one_is_typed_and_stays_when_the_box_becomes_a_list():
    """12 heads of 9 make 108 features and 432 units, 12 of 8 make 96 features."""
    at = open_page("encoder_block", heads="12", d="9", factor="4", entry="101", unit="431")
    assert at.session_state["entry"] == 101
    assert {box.key for box in at.number_input} == {"entry", "unit", "seed"}
    at = change(at, d=8)
    assert at.session_state["entry"] == "95"
    assert at.session_state["unit"] == 383
    at = change(at, d=9)
    assert at.session_state["entry"] == 95
    at = click_cell(at, "stage_X", 2, 103)
    assert at.session_state["entry"] == 103
    assert at.query_params["entry"] == "103"
