"""Three shapes: the masks of each and the weights under them, edits by click, box and link, reach, what is refused."""

import json
import re

import numpy as np
import pytest

from core.examples import draw_decoder_projections, draw_example
from core.masks import causal_mask
from tests.pages.reading import (
    ROOT,
    assert_finite,
    bodies,
    change,
    chart,
    check_line,
    click_cell,
    go_to,
    matrix,
    notices,
    numbers,
    open_page,
    outlined,
    plain,
    press,
    recorded,
    row_sums,
    run,
    said,
    texts,
    value_of,
    values_of,
    worked_tables,
)
from ui.take_home import links

GOLDEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))
OTHER = {"text": "the cat saw the dog", "target": "ek kutta dekha", "d": "7", "heads": "3", "seed": "11", "head": "2"}
SOURCE, TARGET = tuple(OTHER["text"].split()), tuple(OTHER["target"].split())


def masks(at):
    return {part: matrix(at, f"Mask of the {part}").astype(bool) for part in ("encoder", "decoder", "cross")}


def mask(at, part="decoder"):
    return matrix(at, f"Mask of the {part}").astype(bool)


def rules(at):
    """What is said of each mask."""
    (body,) = [body for body in bodies(at) if re.match(r'<p class="quiet"><b>(en|de)coder:</b>', body)]
    return " ".join(plain(body).split())


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


# Shapes


def test_the_encoder_has_the_weights_of_the_lesson_and_the_decoder_those_of_its_causal_mask():
    at = open_page("three_shapes", shape="encoder")
    np.testing.assert_allclose(matrix(at, "Weights of the encoder"), GOLDEN["query_key_value"]["weights"], atol=1e-12)
    assert mask(at, "encoder").all()
    change(at, shape="decoder")
    np.testing.assert_allclose(matrix(at, "Weights of the decoder"), GOLDEN["causal_mask"]["weights"], atol=1e-12)
    np.testing.assert_array_equal(mask(at), causal_mask(5))


def test_both_show_three_masks_over_the_words_of_two_sentences():
    at = open_page("three_shapes", **OTHER)
    found = masks(at)
    assert [found[part].shape for part in found] == [(5, 5), (3, 3), (3, 5)]
    assert found["encoder"].all()
    assert found["cross"].all()
    np.testing.assert_array_equal(found["decoder"], np.tri(3, dtype=bool))
    across = chart(at, "Mask of the cross")
    assert sorted(set(across.row_name)) == ["0 ek", "1 kutta", "2 dekha"]
    assert sorted(set(across.column_name)) == ["0 the", "1 cat", "2 saw", "3 the", "4 dog"]
    assert row_sums(at, "Weights of the cross") == ["1.00"] * 3


def test_cross_attention_asks_with_the_target_and_looks_at_the_source():
    at = open_page("three_shapes", **OTHER, query="1 kutta", key="4 dog")
    x, y = (draw_example(words, 7, 3, 11).x for words in (SOURCE, TARGET))
    own, across = draw_decoder_projections(7, 3, 11)
    q, k = y @ across.w_q[2], x @ across.w_k[2]
    scores = q @ k.T
    np.testing.assert_allclose(matrix(at, "Weights of the cross"), softmax(scores / 7**0.5), atol=1e-12)
    decoder = np.where(np.tri(3, dtype=bool), y @ own.w_q[2] @ (y @ own.w_k[2]).T / 7**0.5, -np.inf)
    np.testing.assert_allclose(matrix(at, "Weights of the decoder"), softmax(decoder), atol=1e-12)
    output = numbers(at, "shapes_numbers", "cross: output")
    np.testing.assert_allclose(output, softmax(scores / 7**0.5) @ (x @ across.w_v[2]), atol=1e-12)
    # The picked cell, with its operands.
    assert outlined(at, "Weights of the cross") == ([(1, 4)], [], [])
    assert outlined(at, "Weights of the encoder") == ([], [], [])
    np.testing.assert_allclose(matrix(at, "Query 1 and key 4 of the cross"), [q[1], k[4]], atol=1e-12)
    by_feature, by_key = worked_tables(at)
    assert [[float(cell.replace("−", "-")) for cell in row[1:3]] for row in by_feature[1:-1]] == [
        [round(a, 3), round(b, 3)] for a, b in zip(q[1].tolist(), k[4].tolist(), strict=True)
    ]
    assert float(by_feature[-1][-1].replace("−", "-")) == pytest.approx(scores[1, 4], abs=5e-3)
    assert [row[0] for row in by_key[1:-1]] == ["0 the", "1 cat", "2 saw", "3 the", "4 dog"]
    assert float(by_key[5][-1]) == pytest.approx(softmax(scores / 7**0.5)[1, 4], abs=5e-4)


def test_numpy_is_pytorch_with_edited_masks_and_queries_without_keys():
    for link in (
        OTHER | {"cross_mask": "window-1~AE~BB", "decoder_mask": "causal~AC", "encoder_mask": "padding-2"},
        OTHER | {"cross_mask": "padding-64", "encoder_mask": "full~~AAABACADAE"},
    ):
        assert check_line(open_page("three_shapes", **link))[1].startswith("✓ NumPy = PyTorch: ")


# Edits


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_a_click_turns_a_cell_over_and_a_second_one_turns_it_back(side):
    at = open_page("three_shapes", **OTHER, queries_in=side)
    cell = (0, 2) if side == "rows" else (2, 0)
    assert matrix(at, "Weights of the decoder")[cell] == 0
    click_cell(at, "mask_decoder", *cell)
    assert at.session_state["decoder_mask"] == "causal~AC"
    assert at.query_params["decoder_mask"] == "causal~AC"
    assert (at.session_state["part"], at.session_state["query"], at.session_state["key"]) == (
        "decoder", "0 ek", "2 dekha",
    )  # fmt: skip
    assert mask(at)[cell]
    assert matrix(at, "Weights of the decoder")[cell] > 0
    click_cell(at, "mask_decoder", *cell, matrix=chart(at, "Mask of the decoder").matrix.iloc[0])
    assert at.session_state["decoder_mask"] == "causal"
    assert "decoder_mask" not in at.query_params
    assert not mask(at)[cell]


def test_a_click_on_what_has_changed_since_does_nothing():
    """The browser keeps a selection; when the page is drawn anew it must not turn the cell over once more."""
    at = open_page("three_shapes", **OTHER)
    shown = set(chart(at, "Mask of the decoder").matrix)
    click_cell(at, "mask_decoder", 0, 2, matrix=shown.pop())
    assert at.session_state["decoder_mask"] == "causal~AC"
    now = chart(at, "Mask of the decoder").matrix.iloc[0]
    click_cell(at, "mask_decoder", 1, 2, matrix=str(int(now) - 1))
    assert at.session_state["decoder_mask"] == "causal~AC"
    click_cell(at, "mask_decoder", 1, 2, matrix=now)
    assert at.session_state["decoder_mask"] == "causal~ACBC"


def test_a_click_on_a_weight_picks_it_and_changes_no_mask():
    at = click_cell(open_page("three_shapes", **OTHER), "weights_encoder", 3, 1)
    assert values_of(at, ("part", "query", "key")) == {"part": "encoder", "query": 3, "key": 1}
    assert at.session_state["encoder_mask"] == "full"
    assert outlined(at, "Weights of the encoder") == ([(3, 1)], [], [])
    click_cell(at, "weights_encoder", 3, 5)
    assert values_of(at, ("part", "query", "key")) == {"part": "encoder", "query": 3, "key": 1}, "a sum is no cell"


def test_the_boxes_and_the_switch_do_what_a_click_does():
    at = open_page("three_shapes", **OTHER, part="decoder", query="2 dekha", key="0 ek")
    assert at.toggle(key="mask_cell").value is True
    change(at, mask_cell=False)
    assert at.session_state["decoder_mask"] == "causal~~CA"
    assert not mask(at)[2, 0]
    change(at, query=0, key=1)
    assert at.toggle(key="mask_cell").value is False, "the switch shows the picked cell"
    change(at, mask_cell=True)
    assert at.session_state["decoder_mask"] == "causal~AB~CA"
    listed = rules(at)
    assert "decoder: every word sees itself and what stands before it. By hand: 0 ek → 1 kutta allowed" in listed
    assert "2 dekha → 0 ek blocked" in listed


def test_reset_takes_back_what_was_changed_by_hand_and_keeps_the_preset():
    at = open_page("three_shapes", **OTHER, part="encoder", encoder_mask="window-2~AE~BB", cross_mask="full~~AA")
    assert not at.button(key="mask_reset").disabled
    press(at, "Reset mask")
    assert at.session_state["encoder_mask"] == "window-2"
    assert at.session_state["cross_mask"] == "full~~AA", "of one attention only"
    assert at.button(key="mask_reset").disabled
    np.testing.assert_array_equal(mask(at, "encoder"), abs(np.subtract.outer(range(5), range(5))) <= 2)


PRESET_MASKS = {
    ("encoder", "full"): ["11111", "11111", "11111", "11111", "11111"],
    ("encoder", "causal"): ["10000", "11000", "11100", "11110", "11111"],
    ("encoder", "window"): ["11000", "11100", "01110", "00111", "00011"],
    ("encoder", "prefix"): ["11000", "11000", "11100", "11110", "11111"],
    ("encoder", "padding"): ["11110"] * 5,
    ("decoder", "full"): ["111", "111", "111"],
    ("decoder", "window"): ["100", "110", "011"],
    ("decoder", "prefix"): ["110", "110", "111"],
    ("decoder", "padding"): ["100", "110", "110"],
    ("cross", "window"): ["11000", "11100", "01110"],
    ("cross", "padding"): ["11110"] * 3,
}


@pytest.mark.parametrize(("part", "preset"), PRESET_MASKS)
def test_presets_with_their_first_sizes(part, preset):
    at = open_page("three_shapes", **OTHER, part=part)
    if at.session_state["mask_preset"] != preset:
        change(at, mask_preset=preset)
    assert ["".join("01"[int(cell)] for cell in row) for row in mask(at, part)] == PRESET_MASKS[part, preset]
    assert at.session_state[f"{part}_mask"].partition("-")[0] == preset


def test_cross_attention_has_no_before_and_after_among_its_presets():
    at = open_page("three_shapes")
    assert at.segmented_control(key="mask_preset").options == ["full", "window", "padding"]


def test_a_size_changes_the_preset_and_leaves_the_edits():
    at = open_page("three_shapes", **OTHER, part="encoder", encoder_mask="window-1~AE~BB")
    change(at, mask_size=3)
    assert at.session_state["encoder_mask"] == "window-3~AE~BB"
    change(at, mask_preset="causal")
    assert at.session_state["encoder_mask"] == "causal~AE~BB", "what was set by hand stays as it was set"
    found = mask(at, "encoder")
    expected = causal_mask(5)
    expected[0, 4], expected[1, 1] = True, False
    np.testing.assert_array_equal(found, expected)


def test_a_decoder_that_looks_ahead_is_named():
    ahead = "look ahead: a generator trained so has seen the word that it is to guess"
    assert f"3 pairs {ahead}" in rules(open_page("three_shapes", **OTHER, decoder_mask="full"))
    assert "1 pair looks ahead" in rules(open_page("three_shapes", **OTHER, decoder_mask="causal~AC"))
    for text in ("causal", "prefix-3", "window-2"):
        assert "ahead" not in rules(open_page("three_shapes", **OTHER, decoder_mask=text))


# The link


def test_a_link_carries_all_three_masks_and_everything_else(monkeypatch):
    records = recorded(monkeypatch)
    at = change(open_page("three_shapes"), target="ek balla", part="encoder", reach_layers=3)
    click_cell(at, "mask_encoder", 1, 4)
    click_cell(at, "mask_decoder", 0, 1)
    click_cell(at, "mask_cross", 1, 0)
    change(at, mask_preset="padding")
    record = records[-1]
    assert {key: record.link[key] for key in ("encoder_mask", "decoder_mask", "cross_mask")} == {
        "encoder_mask": ["full~~BE"], "decoder_mask": ["causal~AB"], "cross_mask": ["padding-1~~BA"],
    }  # fmt: skip
    link = links.link_to("http://h/home", "three_shapes", links.query_of(record.link))
    assert "encoder_mask=full~~BE" in link, "nothing has to be escaped"
    other = open_page("three_shapes", **record.link)
    assert notices(other) == []
    for part, found in masks(at).items():
        np.testing.assert_array_equal(mask(other, part), found)
    assert records[-1].link == record.link
    assert records[-1].code == record.code
    assert record.code["cross_mask"] == ["padding", 1, [], [[1, 0]]]


def test_edits_of_a_long_sentence_reach_its_last_cell():
    words = " ".join(f"w{i}" for i in range(64))
    at = open_page("three_shapes", shape="encoder", text=words, encoder_mask="window-0~A___~-9", d="2", heads="1")
    found = mask(at, "encoder")
    expected = np.eye(64, dtype=bool)
    expected[0, 63] = True
    np.testing.assert_array_equal(found, expected)
    assert notices(at) == []
    click_cell(at, "mask_encoder", 63, 0)
    assert at.session_state["encoder_mask"] == "window-0~A__A__~-9"


def test_an_edit_that_does_not_fit_any_more_is_named_in_one_line_and_comes_back():
    at = open_page("three_shapes", shape="encoder", text="one two three", encoder_mask="full~~ABBFCCDA")
    (line,) = notices(at)
    assert line == (
        "Left out of the encoder mask, because the sentence has no such cell any more (3 queries, 3 keys): "
        "query 1 → key 5, query 3 → key 0."
    )
    assert mask(at, "encoder").sum() == 7
    change(at, text="one two three four five six")
    assert notices(at) == []
    assert np.argwhere(~mask(at, "encoder")).tolist() == [[0, 1], [1, 5], [2, 2], [3, 0]]


def test_values_stay_over_a_visit_to_another_page_and_in_the_address():
    at = click_cell(open_page("three_shapes"), "mask_decoder", 0, 5)
    go_to(at, "causal_mask")
    go_to(at, "three_shapes")
    assert at.session_state["decoder_mask"] == "causal~AF"
    assert at.query_params["decoder_mask"] == "causal~AF"
    assert mask(at)[0, 5]


def test_a_hidden_mask_cannot_be_changed():
    at = open_page("three_shapes", **OTHER, hide="decoder_mask", part="decoder")
    click_cell(at, "mask_decoder", 0, 2)
    change(at, mask_preset="full")
    assert at.session_state["decoder_mask"] == "causal"
    np.testing.assert_array_equal(mask(at), np.tri(3, dtype=bool))
    click_cell(at, "mask_encoder", 0, 2)
    assert at.session_state["encoder_mask"] == "full~~AC"


# Edges


def test_a_query_without_a_key_has_zeros_and_is_named():
    at = open_page("three_shapes", **OTHER, cross_mask="full~~BABBBCBDBE", query="1 kutta", key="0 the")
    weights = matrix(at, "Weights of the cross")
    assert not weights[1].any()
    assert weights[[0, 2]].sum(axis=1) == pytest.approx(1)
    (line,) = notices(at)
    assert line.startswith("cross: no allowed key for 1 kutta. Weights and output are 0, as in PyTorch")
    assert any("No allowed key: there is nothing to share out" in text for text in texts(at))
    assert_finite(at)
    assert not numbers(at, "shapes_numbers", "cross: output").to_numpy()[1].any()


def test_many_queries_without_a_key_are_told_by_their_number():
    at = open_page("three_shapes", shape="encoder", text="a b c d e f g", encoder_mask="padding-64")
    (line,) = notices(at)
    assert "no allowed key for 0 a, 1 b, 2 c, 3 d, 4 e and 2 more." in line
    assert "all words are padding" in rules(at)


@pytest.mark.parametrize("target", ["", " \t\u3000"])
def test_an_emptied_target_gets_one_sentence(target):
    at = change(open_page("three_shapes"), target=target)
    assert [info.value for info in at.info] == [
        "This shape needs a second sentence, the target: type at least one word and press Enter."
    ]
    assert not at.get("vega_lite_chart")
    change(at, shape="decoder")
    assert not at.info
    assert len(at.get("vega_lite_chart")) == 5


def test_a_target_of_too_many_words_is_cut_and_said():
    at = open_page("three_shapes", target=" ".join(f"t{i}" for i in range(71)), d="2", heads="1")
    assert notices(at) == ["The first 64 of 71 words of the target are analysed."]
    assert len(at.selectbox(key="query").options) == 64


def test_a_word_has_one_vector_in_both_sentences():
    """With the same words and the masks of an encoder nothing tells the sentences apart but the projections."""
    at = open_page("three_shapes", text="la la", target="la la", decoder_mask="full")
    for part in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(matrix(at, f"Weights of the {part}"), np.full((2, 2), 0.5), atol=1e-12)


def test_words_of_a_reader_stay_words():
    at = open_page("three_shapes", target="<b>x</b> $y$", cross_mask="full~~AAABACADAE")
    assert "no allowed key for 0 <b>x</b>." in notices(at)[0]
    assert not any("<b>x</b>" in body for body in bodies(at))


# Reach


def test_a_window_is_heard_farther_with_every_layer():
    at = open_page("three_shapes", shape="encoder", text="a b c d e f g", encoder_mask="window-1", reach_layers="3",
                   query="0 a")  # fmt: skip
    heard = matrix(at, "Words of which query 0")
    assert ["".join(str(int(cell)) for cell in row) for row in heard] == ["1100000", "1110000", "1111000"]
    found = matrix(at, "Reach of the encoder after 3 layers: 37 of 49 pairs")
    np.testing.assert_array_equal(found, abs(np.subtract.outer(range(7), range(7))) <= 3)
    assert "0 a can hold something of 2, then 3, then 4 of 7 words" in " ".join(said(at, "can hold").split())
    assert not any("first layer was enough" in text for text in texts(at))


def test_a_decoder_stays_one_way_however_many_layers():
    at = open_page("three_shapes", shape="decoder", reach_layers="8", query="4 bat")
    np.testing.assert_array_equal(matrix(at, "Reach of the decoder after 8 layers"), causal_mask(5))
    assert any("first layer was enough" in text for text in texts(at))


def test_across_sentences_the_masks_of_all_three_count():
    """The source's words meet in the encoder, the target's in the decoder; only one pair looks across."""
    link = {"text": "a b c d", "target": "x y z", "encoder_mask": "window-1", "decoder_mask": "window-1"}
    at = open_page("three_shapes", **link, cross_mask="padding-64~AA", reach_layers="2")
    found = matrix(at, "Reach of the cross after 2 layers")
    assert ["".join(str(int(cell)) for cell in row) for row in found] == ["1110", "1110", "0000"]
    kept = numbers(at, "shapes_numbers", "cross: reach")
    np.testing.assert_array_equal(kept, found)


def test_one_word_and_one_layer():
    at = open_page("three_shapes", text="word", target="shabd", reach_layers="1")
    assert matrix(at, "Reach of the cross after 1 layer").tolist() == [[1]]
    assert_finite(at)


# What is said


def test_the_three_kinds_of_models_are_named_and_the_shown_one_is_set_apart():
    at = open_page("three_shapes", shape="decoder")
    (models,) = [body for body in bodies(at) if "BERT" in body]
    assert re.findall("<b>(.*?)</b>", models) == ["Decoder only: GPT."]
    assert plain(models).count("so this shape is for") == 3
    (link,) = [link for link in at.get("page_link") if "mistake" in link.proto.label]
    assert link.proto.page.endswith("causal_mask")
    assert value_of(run(at), "head") == 0
