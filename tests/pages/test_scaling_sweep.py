"""Why divide by √d: the lesson's table, the sweep, and the reader's own sentence, all by core's numbers."""

import json
import re

import numpy as np
import pytest

from core.attention import self_attention
from core.examples import draw_example
from core.scaling import SWEEP_DIMS, single_draws, sweep
from core.softmax import softmax
from tests.pages.reading import ROOT, change, chart, numbers, open_page, press, said, texts, values_of, worked_tables

ROWS = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["scaling_sweep"]["rows"]
MEASURES = {
    "spread of the scores": None,
    "largest weight": "max_weight",
    "entropy (nats)": "entropy",
    "gradient of the softmax": "gradient_norm",
}


def lesson_table(at):
    return worked_tables(at)[-1][1:]


def test_lesson_values_give_the_lesson_s_table():
    at = press(open_page("scaling_sweep"), "Lesson values")
    assert at.session_state["seed"] == 1
    assert lesson_table(at) == [
        ["d = 4", "0.48", "0.29", "0.25"],
        ["d = 64", "5.73", "0.94", "0.38"],
        ["d = 512", "14.71", "0.93", "0.31"],
    ]
    for row in ROWS:
        stacked = numbers(at, "scaling_numbers", f"single draw, d = {row['d']}").to_numpy()
        np.testing.assert_allclose(stacked[0], row["raw_scores"], rtol=0, atol=1e-12)
        assert stacked[1].max() == pytest.approx(row["max_weight_unscaled"], abs=1e-12)
        assert stacked[2].max() == pytest.approx(row["max_weight_scaled"], abs=1e-12)


def test_the_sweep_is_core_s():
    at = open_page("scaling_sweep", seed="3", keys="8", draws="50")
    rows = sweep(SWEEP_DIMS, 8, 50, 3)
    for measure, name in MEASURES.items():
        cells = chart(at, f"{measure} over d").pivot(index="d", columns="series")
        assert cells.index.tolist() == list(SWEEP_DIMS)
        for series, end in (("raw scores", "unscaled"), ("divided by √d", "scaled")):
            if name is None:
                bands = [row.raw_score_spread if end == "unscaled" else row.scaled_score_spread for row in rows]
                means = [row.pooled_spread / (1 if end == "unscaled" else row.d**0.5) for row in rows]
            else:
                bands = [getattr(row, f"{name}_{end}") for row in rows]
                means = [band.mean for band in bands]
            assert cells["mean"][series].tolist() == pytest.approx(means, abs=1e-12)
            assert cells["low"][series].tolist() == pytest.approx([band.low for band in bands], abs=1e-12)
            assert cells["high"][series].tolist() == pytest.approx([band.high for band in bands], abs=1e-12)
    spread = chart(at, "spread")
    reference = spread[spread.series == "raw scores"].set_index("d").reference
    assert reference.tolist() == pytest.approx([d**0.5 for d in SWEEP_DIMS])


def test_the_sentence_under_the_sweep_repeats_its_last_row():
    last = sweep(SWEEP_DIMS, 16, 500, 2)[-1]
    at = open_page("scaling_sweep", seed="2", keys="16", draws="500")
    text = said(at, "the raw scores spread by")
    assert f"At d = 4,096 the raw scores spread by {last.pooled_spread:.1f} (√d = 64.0)" in text
    assert f"The largest of 16 weights is {last.max_weight_unscaled.mean:.3f} on average" in text
    assert f"they are {last.max_weight_scaled.mean:.3f} and {last.gradient_norm_scaled.mean:.4f}. 500 draws" in text
    table = numbers(at, "scaling_numbers", "largest weight, divided by √d")
    assert table.loc["4096", "mean"] == pytest.approx(last.max_weight_scaled.mean, abs=1e-12)


def test_sizes_are_drawn_in_the_order_chosen():
    at = change(open_page("scaling_sweep", seed="1"), dims=[512, 4])
    draws = single_draws((512, 4), 5, 1)
    assert [row[0] for row in lesson_table(at)] == ["d = 512", "d = 4"]
    assert [row[1] for row in lesson_table(at)] == [f"{draw.raw_score_spread:.2f}" for draw in draws]


@pytest.mark.parametrize("number", [0, 1])
def test_the_draw_to_drag_is_the_one_picked(number):
    at = change(open_page("scaling_sweep", seed="1"), draw=number)
    draw = single_draws((4, 64, 512), 5, 1)[number]
    shown = chart(at, f"Weights of 5 keys for d = {draw.d}")
    assert shown.raw.tolist() == pytest.approx(draw.raw_scores.tolist(), abs=1e-15)
    assert set(shown.d) == {draw.d}


def test_the_last_draw_is_shown_at_first():
    assert values_of(open_page("scaling_sweep"), ("draw",)) == {"draw": 2}
    assert values_of(open_page("scaling_sweep", dims=["4", "8"]), ("draw",)) == {"draw": 1}


def test_no_size_at_all_is_explained_and_the_rest_stays():
    at = change(open_page("scaling_sweep"), dims=[])
    assert "Choose at least one size of a key." in texts(at)
    assert len(at.get("vega_lite_chart")) == 4
    change(at, dims=[2048])
    assert [row[0] for row in lesson_table(at)] == ["d = 2,048"]


def test_repeated_use_of_the_sweep_draws_it_once(monkeypatch):
    """The slowest thing on the page is kept: a second reader with the same three numbers gets the first one's."""
    from core import scaling

    open_page("scaling_sweep", seed="8", draws="50")
    calls = []
    monkeypatch.setattr(scaling, "sweep", lambda *arguments: calls.append(arguments) or sweep(*arguments))
    open_page("scaling_sweep", seed="8", draws="50", d="9")
    assert calls == []
    open_page("scaling_sweep", seed="9", draws="50")
    assert calls == [(SWEEP_DIMS, 5, 50, 9)]


@pytest.mark.parametrize(("d", "heads"), [(4, 2), (64, 12)])
def test_the_reader_s_sentence_is_measured_too(d, heads):
    at = open_page("scaling_sweep", text="the cat saw the dog", d=str(d), heads=str(heads), seed="7")
    example = draw_example(("the", "cat", "saw", "the", "dog"), d, heads, 7)
    own = self_attention(example.x, example.w_q[0], example.w_k[0], example.w_v[0]).attention
    text = said(at, "Your sentence")
    assert f"at d = {d} (head 0, 5 keys): its scores spread by {own.scores.std():.2f};" in text
    found = re.search(r"is ([\d.]+) on average without the division and ([\d.]+) with it", text).groups()
    assert found == (f"{softmax(own.scores).max(axis=-1).mean():.2f}", f"{own.weights.max(axis=-1).mean():.2f}")


def test_one_word_is_explained():
    assert any(
        "the softmax of a single score is always 1" in info.value
        for info in open_page("scaling_sweep", text="word").info
    )
