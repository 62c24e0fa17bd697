"""Greedy decoding and the KV cache: what each step computed is on the screen, and both ways say the same."""

import re

import numpy as np
import pytest

from core import examples
from core.attention import attend
from core.decoding import generate, movement
from core.examples import draw_decoder
from core.masks import causal_mask
from tests.pages.reading import (
    bodies,
    change,
    chart,
    charts,
    check_line,
    click_cell,
    matrix,
    numbers,
    open_page,
    outlined,
    plain,
    run,
    said,
    value_of,
    worked_tables,
)

OTHER = {"text": "the cat saw the dog", "d": "3", "heads": "7", "seed": "11"}
VOCABULARY = ("the", "cat", "saw", "dog")
PROMPT = (0, 1, 2, 0, 3)
LINK = OTHER | {"new_words": "4", "decoder_layers": "3", "t": "3", "layer": "2", "head": "5", "key": "1 cat"}
SOURCE = ("le", "chat", "voit")
WAYS = ("without a cache", "with a cache")


def computed(source=()):
    decoder = draw_decoder(VOCABULARY, 3, 7, 3, 11, source)
    return decoder, *(generate(decoder, PROMPT, 4, use_cache) for use_cache in (False, True))


@pytest.fixture(scope="module")
def other():
    return open_page("kv_cache", **LINK)


@pytest.fixture(scope="module")
def crossed():
    return open_page("kv_cache", **LINK, cross="true", source=" ".join(SOURCE))


def cells(at, alt, field="note"):
    """What stands in each cell of the picture of a step, by row and column; K, V and Q at its edges."""
    frame = chart(at, alt)
    frame = frame[frame.kind >= 0]  # but for the gap between the edges and the pairs
    return {
        (row, column): value
        for row, column, value in zip(frame.row_position, frame.column_position, frame[field], strict=True)
    }


def step_of(way, series="Step 3"):
    return f"{series} {way}: "


# One step


def test_without_a_cache_every_old_row_is_computed_again(other):
    """Step 3 of a prompt of five words reads seven: rows 3 to 9, columns 2 to 8, below K and V and beside Q."""
    found = cells(other, step_of(WAYS[0]))
    assert len(found) == 2 * 7 + 7 + 49
    for place in range(7):
        expected = "computed now" if place == 6 else "computed again"
        assert found[0, 2 + place] == found[1, 2 + place] == found[3 + place, 0] == expected
        for key in range(7):
            masked = key > place
            assert found[3 + place, 2 + key] == ("computed, then masked" if masked else expected)


def test_with_a_cache_one_row_is_computed(other):
    found = cells(other, step_of(WAYS[1]))
    assert {place for place in found if place[0] > 2 and place[1] > 0} == {(9, 2 + key) for key in range(7)}
    for place in range(7):
        newest = place == 6
        assert found[0, 2 + place] == found[1, 2 + place] == ("computed now" if newest else "from the cache")
        assert found[3 + place, 0] == ("computed now" if newest else "not computed")
        assert found[9, 2 + place] == "computed now"


def test_the_first_step_is_the_same_in_both_ways():
    at = open_page("kv_cache", **LINK | {"t": "1"})
    assert cells(at, step_of(WAYS[0], "Step 1")) == cells(at, step_of(WAYS[1], "Step 1"))
    assert set(cells(at, step_of(WAYS[0], "Step 1")).values()) == {"computed now", "computed, then masked"}


def test_the_weights_in_the_cells_are_those_of_core(other):
    _, plain_way, cached = computed()
    for way, series in ((plain_way, WAYS[0]), (cached, WAYS[1])):
        layer = way.layers[2]
        k, v = layer.keys_and_values.k[5, :7], layer.keys_and_values.v[5, :7]
        weights = attend(layer.q[5, :7], k, v, causal_mask(7)).weights
        shown = cells(other, step_of(series), "weight")
        for (row, column), text in shown.items():
            inside = row > 2 and column > 1
            expected = (weights[row - 3, column - 2] if column - 2 <= row - 3 else None) if inside else ""
            assert text == ("0" if expected is None else f"{expected:.6f}" if inside else "")


def test_the_text_so_far_and_the_words_to_come(other):
    _, _, cached = computed()
    words = [VOCABULARY[token] for token in cached.tokens]
    line = next(body for body in bodies(other) if "text so far" in body)
    assert plain(line).split()[3:] == [*words[:5], "▸", *words[5:8], "·"]
    assert re.search('class="chosen">(.*?)</b>', line)[1] == f'<bdi dir="ltr">{words[7]}</bdi>'


def test_the_counts_of_the_step_are_those_of_its_products(other):
    _, plain_way, cached = computed()
    for way, start in ((plain_way, "Without a cache "), (cached, "With a cache ")):
        step = way.steps[2]
        rows = step.rows("K", 2)
        line = " ".join(said(other, start).split())
        expected = f"{rows} row{'s' if rows > 1 else ''} of K, {step.pairs()} pairs, {step.work:,} multiply-adds"
        assert expected in line
    assert (plain_way.steps[2].pairs(), cached.steps[2].pairs()) == (49, 7)


def test_both_ways_agree_and_the_page_says_by_how_much(other):
    line = " ".join(said(other, "the same words").split())
    gaps = [float(number) for number in re.findall(r"\d\.\de-\d\d|0\.0e\+00", line)]
    assert len(gaps) == 2
    assert all(gap < 1e-12 for gap in gaps)
    assert "all 9 words" in line


def test_the_page_says_when_the_ways_differ(monkeypatch):
    from core import decoding

    def wrong(decoder, prompt, n_new):
        # As if the cache held the keys of another text.
        other = type(decoder)(decoder.embeddings + 1e-6, decoder.layers, decoder.n_heads, decoder.source)
        return decoding.generate(decoder, prompt, n_new, False), decoding.generate(other, prompt, n_new, True)

    monkeypatch.setattr(decoding, "generate_both", wrong)
    at = open_page("kv_cache", **OTHER | {"seed": "4711"})
    assert any("The two ways differ" in plain(body) for body in bodies(at))


def test_the_picked_pair_and_the_choice_are_worked_out(other):
    at = open_page("kv_cache", **LINK)
    at.session_state["work_open"] = True
    _, _, cached = computed()
    layer, step = cached.layers[2], cached.steps[2]
    product, shares, choice = worked_tables(run(at))[:3]
    q, k = layer.q[5, 6], layer.keys_and_values.k[5]
    assert [row[3] for row in product[1:]] == [written(value) for value in (*(q * k[1]), q @ k[1])]
    scaled = k[:7] @ q / np.sqrt(3)
    weights = np.exp(scaled) / np.exp(scaled).sum()
    assert [row[3] for row in shares[1:-1]] == [written(value) for value in weights]
    ranked = sorted(zip(step.logits, VOCABULARY, strict=True), reverse=True)
    assert choice[1:] == [[word, written(logit)] for logit, word in ranked]
    marked = chart(at, step_of(WAYS[1]))
    marked = marked[marked.outline]
    assert sorted(zip(marked.row_position, marked.column_position, strict=True)) == [(0, 3), (1, 3), (9, 3)]


def written(value):
    return f"{value:z.3f}".replace("-", "−")


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_a_click_picks_the_key_and_the_edge_picks_nothing(side):
    at = open_page("kv_cache", **LINK, queries_in=side)
    for cell, expected in (((9, 6), 4), ((0, 2), 0), ((5, 0), 0), ((4, 1), 0)):
        click_cell(at, f"grid_{WAYS[1]}", *(cell if side == "rows" else cell[::-1]))
        assert value_of(at, "key") == expected


def test_queries_in_columns_turn_the_picture(other):
    turned = open_page("kv_cache", **LINK, queries_in="columns")
    for way in WAYS:
        upright = cells(other, step_of(way))
        assert {place[::-1]: note for place, note in upright.items()} == cells(turned, step_of(way))


def test_a_step_that_is_gone_becomes_the_last_one():
    at = change(open_page("kv_cache", **LINK | {"t": "4"}), new_words=2)
    assert value_of(at, "t") == 2
    assert cells(at, "Step 2 with a cache")


# All steps


def test_work_adds_up_to_what_the_products_report(other):
    _, plain_way, cached = computed()
    frame = chart(other, "Multiply-adds added up")
    for series, way in zip(WAYS, (plain_way, cached), strict=True):
        expected = np.cumsum([step.work for step in way.steps]).tolist()
        assert frame[frame.series == series].value.tolist() == expected
    table = next(table for table in worked_tables(other) if table[0][1] == "without")
    shown = {row[0]: row[1:3] for row in table[1:]}
    assert shown["rows of K, one layer"] == [str(5 + 6 + 7 + 8), "8"]
    assert shown["query-key pairs, one head"] == [str(25 + 36 + 49 + 64), str(25 + 6 + 7 + 8)]
    for part in plain_way.steps[0].multiply_adds:
        both = [sum(step.multiply_adds[part] for step in way.steps) for way in (plain_way, cached)]
        assert shown[f"multiply-adds: {part}"] == [f"{count:,}" for count in both]


def test_memory_is_what_the_arrays_take(other):
    assert chart(other, "Memory of the cache").value.tolist() == [2 * 3 * n * 21 * 8 for n in (5, 6, 7, 8)]
    assert "2 × 3 × 7 × 21 × 8 = 7,056 bytes" in " ".join(said(other, "bytes of a number").split())


# Why


@pytest.mark.parametrize("layer", [0, 2])
def test_rows_stay_with_the_mask_and_move_without(layer):
    at = open_page("kv_cache", **LINK | {"layer": str(layer)})
    decoder, _, cached = computed()
    moved = movement(decoder, cached.tokens)
    found = matrix(at, "Movement of the rows of K").astype(float)
    np.testing.assert_allclose(found, np.column_stack([moved.keys[layer], moved.states]), rtol=0, atol=1e-12)
    assert found[:, [0, 2]].max() < 1e-12
    assert found[:, 3].min() > 1e-3
    assert (found[:, 1].max() < 1e-12) == (layer == 0)
    assert outlined(at, "Movement of the rows of K") == ([], [1], [])
    text = said(at, "Without it")
    assert ("not even a missing mask" in text) == (layer == 0)


def test_only_one_corner_is_right_for_one_query(other):
    top, bottom = (
        matrix(other, f"Weights of the newest query with the corner of the mask at the {align}").astype(float)
        for align in ("top-left", "bottom-right")
    )
    assert top.tolist() == [[1, 0, 0, 0, 0, 0, 0]]
    last = [cells(other, step_of(WAYS[0]), "weight")[9, 2 + key] for key in range(7)]
    assert [f"{weight:.6f}" for weight in bottom[0]] == last
    one = open_page("kv_cache", text="word", t="1")
    assert "With one key there is one corner" in said(one, "one corner")


# A second sentence


def test_keys_of_the_second_sentence_are_computed_once(crossed):
    _, plain_way, cached = computed(SOURCE)
    for way, series, state in ((plain_way, WAYS[0], "computed again"), (cached, WAYS[1], "from the cache")):
        name = f"Step 3 {series}, second sentence"
        found, weights = cells(crossed, name), cells(crossed, name, "weight")
        assert {found[row, column] for row in (0, 1) for column in (2, 3, 4)} == {state}
        layer = way.layers[2]
        expected = attend(layer.cross_q[5, :7], layer.source.k[5], layer.source.v[5]).weights
        assert [weights[9, 2 + key] for key in range(3)] == [f"{weight:.6f}" for weight in expected[6]]
        assert ((3, 2) in found) == (series == WAYS[0])
    assert "2 × 3 × (7 + 3) × 21 × 8 = 10,080 bytes" in " ".join(said(crossed, "bytes of a number").split())
    assert cached.steps[2].cache_bytes == 10080


def test_the_second_sentence_changes_the_numbers_and_may_be_empty_or_long():
    at = open_page("kv_cache", **LINK, cross="true", source=" ".join(["mot"] * 13))
    assert "Only the first 12 words" in said(at, "second sentence are used")
    before = numbers(at, "cache_numbers", "logits").to_numpy()
    at = change(at, source="  ")
    assert "Wanted: a second sentence of at least one word. Given: none" in at.info[0].value
    off = numbers(at, "cache_numbers", "logits").to_numpy()
    assert np.abs(off - before).max() > 1e-3
    np.testing.assert_allclose(off, [step.logits for step in computed()[2].steps], rtol=0, atol=1e-12)


def test_slides_have_the_second_sentence_where_there_is_one():
    at = open_page("kv_cache", present="1", step="source", cross="true")
    assert at.session_state["step"] == "source"
    assert cells(at, "Step 3 with a cache, second sentence")
    assert open_page("kv_cache", present="1").session_state["step"] == "one step"


# Limits and questions


def test_wide_models_offer_fewer_layers_and_words():
    at = open_page("kv_cache", d="33", heads="12", decoder_layers="4", new_words="12")
    assert value_of(at, "decoder_layers") == 2
    assert "at most 2 layers and 8 new words are offered" in said(at, "are offered")
    assert change(at, d=32).select_slider(key="decoder_layers").options == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("link", "rows", "pairs"),
    [({}, 5 + 6 + 7 + 8 + 9, 9), ({"text": "word", "new_words": "2"}, 1 + 2, 2), (LINK, 26, 8)],
    ids=["lesson", "one word", "other"],
)
def test_answers(link, rows, pairs):
    at = open_page("kv_cache", **link)
    at.button(key="reveal_rows_of_k").click()
    run(at)
    at.button(key="reveal_pairs_last").click()
    answers = [plain(body) for body in bodies(run(at)) if "answer" in body]
    assert f"The answer: {rows}." in answers[0]
    assert f"The answer: {pairs}." in answers[1]
    options = [group.options for group in at.get("button_group") if group.key and group.key.startswith("guess_")]
    assert str(rows) in str(options[0])
    assert str(pairs) in str(options[1])


def test_a_model_of_one_number_has_nothing_that_could_move():
    at = open_page("kv_cache", text="a b", d="1", heads="1")
    assert matrix(at, "Movement of the rows of K").astype(float).max() < 1e-12
    assert "nothing moves here either" in said(at, "Without it")


def test_a_step_of_many_words_is_a_picture_that_says_its_counts():
    """61 words and 2 new ones: 63 x 63 pairs."""
    words = [f"w{number}" for number in range(61)]
    at = open_page("kv_cache", text=" ".join(words), t="3", key="40 w40")
    assert not [name for name, _ in charts(at) if name.startswith("Step 3")]
    alts = [image.alt for element in at.get("image") for image in element.proto.imgs]
    assert alts[:2] == [
        "Step 3 without a cache: of 63 rows of K and V 1 are computed now, 62 again, 0 come from the cache; 3969 "
        "query-key pairs are computed",
        "Step 3 with a cache: of 63 rows of K and V 1 are computed now, 0 again, 62 come from the cache; 63 query-key "
        "pairs are computed",
    ]
    (caption,) = [plain(body) for body in bodies(at) if "Step 3 with a cache" in body]
    assert (
        " ".join(caption.split())
        == "Step 3 with a cache rows: K and V, then query (n = 63); columns: Q, then key (n = 63)"
    )
    line = next(body for body in bodies(at) if "text so far" in body)
    shown = plain(line).split()
    assert (shown[3], shown[4]) == ("…", "w39")


def test_a_click_in_the_picture_finds_its_key():
    words = [f"w{number}" for number in range(19)]
    at = open_page("kv_cache", text=" ".join(words), t="3")
    found = cells(at, "Step 3 with a cache")
    assert [found[row, 2] for row in range(2)] == ["from the cache"] * 2
    click_cell(at, f"grid_{WAYS[1]}", 3 + 20, 2 + 13)
    assert at.session_state["key"] == "13 w13"


def test_a_decoder_is_drawn_once_for_page_and_check_and_not_at_all_when_another_step_is_looked_at(monkeypatch):
    """At the largest sizes it takes as long as everything else."""
    draw, drawn = examples.draw_decoder, []
    monkeypatch.setattr(examples, "draw_decoder", lambda *sizes: drawn.append(sizes) or draw(*sizes))
    at = open_page("kv_cache", seed="4711")
    assert check_line(at)[1].startswith("✓ NumPy = PyTorch")
    assert len(drawn) == 1
    change(at, t=1)
    assert check_line(at)[1].startswith("✓ NumPy = PyTorch")
    assert len(drawn) == 1
