"""Why attention: core's numbers in every picture, what a click works out, the controls, the extremes."""

import json

import numpy as np
import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core import torch_reference
from core.attention_jacobian import ask_last, influence_by_head, last_output_influence
from core.examples import draw_example, draw_recurrence
from core.far_back import LENGTHS, at_usual_size, by_length, measured_features, relative
from core.multi_head import multi_head_attention
from core.recurrence import last_state_influence, recurrent_states
from tests.pages.reading import (
    assert_finite,
    change,
    chart,
    check_line,
    numbers,
    open_page,
    said,
    texts,
    value_of,
    worked_tables,
)
from ui.charts.reach import FLOOR, MODELS, exponent_text

OTHER = {"text": "the cat saw the dog", "d": "7", "heads": "3", "seed": "11", "radius": "0.9", "word": "1 cat"}
WORDS = tuple(OTHER["text"].split())
RUNNING = "Meera put the bat in her bag because it was new"


def computed(radius=0.9, as_elsewhere=False):
    """Sizes by word, and of the first and last word by length, of both models."""
    example, network = draw_example(WORDS, 7, 3, 11), draw_recurrence(21, radius, 11)
    layer = example if as_elsewhere else at_usual_size(example)
    found = last_state_influence(recurrent_states(example.x, network), network)
    across = last_output_influence(ask_last(layer.x, layer.w_q, layer.w_k, layer.w_v))
    ends = by_length(layer, network)
    return dict(zip(MODELS, (found.by_word, across), strict=True)), dict(
        zip(MODELS, (ends.recurrent, ends.attention), strict=True)
    )


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found, dtype=float), wanted, rtol=1e-10, atol=0)


def drawn(at, alt):
    """Values of a chart by model."""
    frame = chart(at, alt)
    return {model: frame[frame.series == model].value.to_numpy() for model in MODELS}


def click_word(at, position):
    """As the browser sends a click on a word's column."""
    chart_id = next(element.proto.id for element in at.get("vega_lite_chart") if element.key == "reach_words")
    sent = at._tree.get_widget_states()
    state = {"selection": {"word": [{"position": position}]}}
    sent.widgets.append(WidgetState(id=chart_id, string_value=json.dumps(state)))
    at._run(sent)
    assert not at.exception
    return at


def test_both_pictures_hold_core_s_numbers_as_shares_and_as_they_are():
    at = open_page("why_attention", **OTHER)
    words, lengths = computed()
    for model in MODELS:
        close(drawn(at, "What each of 5 words")[model], words[model] / words[model][-1])
        close(drawn(at, "What the first word")[model], lengths[model][:, 0] / lengths[model][:, 1])
    change(at, relative=False)
    for model in MODELS:
        close(drawn(at, "What each of 5 words")[model], words[model])
        close(drawn(at, "What the first word")[model], lengths[model][:, 0])


def test_the_radius_moves_the_network_and_the_other_projections_attention_alone():
    at = open_page("why_attention", **OTHER)
    before = drawn(at, "What each of 5 words")
    after = drawn(change(at, radius=5), "What each of 5 words")
    close(after[MODELS[0]], relative(computed(1.5)[0][MODELS[0]]))
    assert after[MODELS[1]].tolist() == before[MODELS[1]].tolist()
    last = drawn(change(at, as_elsewhere=True), "What each of 5 words")
    close(last[MODELS[1]], relative(computed(1.5, True)[0][MODELS[1]]))
    assert last[MODELS[0]].tolist() == after[MODELS[0]].tolist()


def test_a_click_on_a_word_works_its_factors_out():
    at = open_page("why_attention", **OTHER)
    for position in (3, 0):
        click_word(at, position)
        assert value_of(at, "word") == position
        sizes = computed()[0]
        chain, heads = worked_tables(at)[:2]
        assert chain[-2][0] == f"into {position} {WORDS[position]}"
        assert chain[-1] == ["size", "", "", exponent_text(sizes[MODELS[0]][position])]
        layer = at_usual_size(draw_example(WORDS, 7, 3, 11))
        asked = ask_last(layer.x, layer.w_q, layer.w_k, layer.w_v)
        by_head = influence_by_head(asked, position)
        assert [row[1] for row in heads[1:-1]] == [exponent_text(weight) for weight in asked.weights[:, position]]
        assert [row[3] for row in heads[1:-1]] == [exponent_text(size) for size in by_head]
        assert heads[-1][3] == exponent_text(sizes[MODELS[1]][position])
        shares = [exponent_text(relative(sizes[model])[position]) for model in MODELS]
        line = " ".join(said(at, "before  dog").split())
        assert f"still moves {shares[0]} in the recurrent network and {shares[1]} by attention" in line
        frame = chart(at, "What each of 5 words")
        assert set(frame[frame.picked].position) == {position}


def test_a_click_beside_the_words_changes_nothing():
    at = open_page("why_attention", **OTHER)
    chart_id = next(element.proto.id for element in at.get("vega_lite_chart") if element.key == "reach_words")
    sent = at._tree.get_widget_states()
    sent.widgets.append(WidgetState(id=chart_id, string_value='{"selection": {"word": []}}'))
    at._run(sent)
    assert not at.exception
    assert value_of(at, "word") == 1
    assert value_of(click_word(at, 5), "word") == 1, "of a longer sentence that was there before"


def test_steps_are_counted_for_the_sentence_and_by_length():
    at = open_page("why_attention", **OTHER)
    steps = drawn(at, "Steps that wait")
    assert steps[MODELS[0]].tolist() == list(LENGTHS)
    assert steps[MODELS[1]].tolist() == [3] * len(LENGTHS)
    table = next(table for table in worked_tables(at) if table[0][0] == "your 5 words")
    assert [row[1] for row in table[1:]] == ["5", "3"]
    assert not any("So short a sentence" in text for text in texts(at))
    change(at, text="two words")
    table = next(table for table in worked_tables(at) if table[0][0] == "your 2 words")
    assert [row[1] for row in table[1:]] == ["2", "3"]
    assert said(at, "So short a sentence")


def test_the_shelf_holds_the_weights_of_the_word_that_asks():
    at = open_page("why_attention", **OTHER, query="2 saw", head="1")
    example = draw_example(WORDS, 7, 3, 11)
    heads = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads
    frame = chart(at, "Each word as a book")
    close(frame.weight, heads.weights[1, 2])
    close(frame.fit, heads.scaled_scores[1, 2])
    assert "what  saw  asks" in " ".join(" | ".join(row) for table in worked_tables(at) for row in table)
    change(at, query=4, head=0)
    close(chart(at, "Each word as a book").weight, heads.weights[0, 4])


def test_the_lesson_s_sentence():
    at = open_page("why_attention", text=RUNNING, word="3 bat", query="8 it")
    shares = drawn(at, "What the first word")
    assert shares[MODELS[0]][-1] < 1e-50
    assert 0.001 < shares[MODELS[1]][-1] < 0.01
    assert "bat  stands 7 words before  new" in said(at, "bat  stands")
    assert "Which word  it  belongs to cannot be read off here" in said(at, "cannot be read off")


def test_the_tables_have_every_number():
    at = open_page("why_attention", **OTHER)
    words, lengths = computed()
    table = numbers(at, "why_numbers", "what each word moves")
    close(table["recurrent network, size"], words[MODELS[0]])
    close(table["attention, share"], relative(words[MODELS[1]]))
    table = numbers(at, "why_numbers", "first and last word by length")
    close(table.to_numpy(), np.hstack([lengths[model] for model in MODELS]))
    network = draw_recurrence(21, 0.9, 11)
    states = recurrent_states(draw_example(WORDS, 7, 3, 11).x, network)
    close(numbers(at, "why_numbers", "states of the recurrent network"), states)
    table = numbers(at, "why_numbers", "back from the last state")
    close(table["size by state"], last_state_influence(states, network).by_state)


def test_without_recurrence_nothing_reaches_over_a_word_and_zero_is_a_value():
    at = open_page("why_attention", **OTHER | {"radius": "0"})
    frame = chart(at, "What each of 5 words")
    part = frame[frame.series == MODELS[0]]
    assert part.value.tolist() == [0, 0, 0, 0, 1]
    assert part.shown.tolist() == [FLOOR] * 4 + [1]
    assert part.small.tolist() == [True] * 4 + [False]
    assert "still moves  0  in the" in said(at, "stands 3 words")
    assert said(at, "0: smaller than the smallest double")
    assert_finite(at)


def test_what_grows_is_said_to_keep_few_digits():
    steady = open_page("why_attention", d="16", heads="4", text=RUNNING, radius="1.1")
    assert not any("rounding moves too" in text for text in texts(steady))
    growing = open_page("why_attention", d="16", heads="4", text=RUNNING, radius="2")
    assert drawn(growing, "What the first word")[MODELS[0]].max() > 1e9
    assert "keep only about" in said(growing, "rounding moves too")
    assert_finite(growing)


GROWS = {"text": " ".join(f"w{number}" for number in range(64)), "d": "33", "radius": "2"}


def test_pytorch_agrees_where_rounding_grows_with_every_word():
    _, text, why = check_line(open_page("why_attention", **GROWS))
    assert text.startswith("✓ NumPy = PyTorch: ")
    assert "sensitive to rounding" in why


@pytest.mark.parametrize("link", [OTHER, GROWS], ids=["steady", "growing"])
def test_a_wrong_jacobian_is_found(link, monkeypatch):
    real = torch_reference.recurrent_jacobians

    def wrong(*args):
        return {name: values * (1 + 1e-3) for name, values in real(*args).items()}

    monkeypatch.setattr(torch_reference, "recurrent_jacobians", wrong)
    _, text, _ = check_line(open_page("why_attention", **link | {"seed": "12"}))
    assert text.startswith("✗ NumPy and PyTorch differ: ")


def test_a_wide_model_says_how_many_features_are_measured():
    narrow, wide = open_page("why_attention", d="16", heads="4"), open_page("why_attention", d="17", heads="4")
    assert "over all features of the last state" in said(narrow, "root mean square")
    assert f"over {len(measured_features(17, 4))} of the 68 features" in said(wide, "root mean square")


@pytest.mark.parametrize("radius", ["0.90", "3", ""])
def test_a_radius_that_is_none_of_those_offered_is_named(radius):
    at = open_page("why_attention", radius=radius)
    assert "The link's radius was ignored: wanted “0” to “2”" in " ".join(texts(at))
    assert value_of(at, "radius") == 3
