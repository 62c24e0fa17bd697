"""The lesson's own figures, every one of them, come out of core."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from core.attention import attend, self_attention
from core.examples import ATTENTION_WORDS, ORDER_WORDS, draw_example
from core.masks import causal_mask
from core.multi_head import multi_head_attention
from core.order import run_two_orders
from core.parameter_count import encoder_block_parameters
from core.positions import sinusoidal_encoding
from core.scaling import single_draws
from core.torch_reference import attention, count_parameters

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "golden.json").read_text(encoding="utf-8"))
LESSON = GOLDEN["query_key_value"]
ORDER = GOLDEN["order_blindness"]


def assert_golden(found, golden):
    """Within 1e-12: both sides are double precision, only the order of sums may differ."""
    np.testing.assert_allclose(found, golden, rtol=0, atol=1e-12)


def attend_with_first_head(x, example, may_attend=None):
    return attend(x @ example.w_q[0], x @ example.w_k[0], x @ example.w_v[0], may_attend)


@pytest.fixture
def example():
    return draw_example(tuple(LESSON["tokens"]), LESSON["d_k"], 2, LESSON["seed"])


@pytest.fixture
def order_example():
    return draw_example(ORDER_WORDS, seed=3, lesson_words=ORDER_WORDS)


def test_lesson_sentence_and_sizes_are_the_defaults():
    assert tuple(LESSON["tokens"]) == ATTENTION_WORDS
    assert draw_example(ATTENTION_WORDS).w_q.shape == (2, LESSON["d_model"], LESSON["d_k"])


def test_embeddings_and_projections(example):
    assert_golden(example.x, LESSON["X"])
    for ours, theirs in (("w_q", "W_q"), ("w_k", "W_k"), ("w_v", "W_v")):
        assert_golden(getattr(example, ours)[0], LESSON[theirs])


def test_queries_keys_and_values(example):
    for ours, theirs in (("w_q", "Q"), ("w_k", "K"), ("w_v", "V")):
        assert_golden(example.x @ getattr(example, ours)[0], LESSON[theirs])


def test_attention_at_every_step(example):
    run = self_attention(example.x, example.w_q[0], example.w_k[0], example.w_v[0])
    found = run.attention
    assert_golden([run.q, run.k, run.v], [LESSON["Q"], LESSON["K"], LESSON["V"]])
    assert_golden(found.scores, LESSON["raw_scores"])
    assert_golden(found.scaled_scores, LESSON["scaled_scores"])
    assert_golden(found.weights, LESSON["weights"])
    assert_golden(found.output, LESSON["output"])
    assert found.weights.round(2).tolist() == LESSON["lesson_prints"]


def test_attention_from_the_written_queries_keys_and_values():
    assert_golden(attend(LESSON["Q"], LESSON["K"], LESSON["V"]).output, LESSON["output"])


def test_causal_attention(example):
    golden = GOLDEN["causal_mask"]
    may_attend = causal_mask(5)
    assert may_attend.astype(int).tolist() == golden["mask"]
    found = attend_with_first_head(example.x, example, may_attend)
    assert_golden(found.weights, golden["weights"])
    assert_golden(found.output, golden["output"])
    assert found.weights.round(2).tolist() == golden["lesson_prints"]


@pytest.mark.parametrize("row", range(3), ids=lambda row: f"d={GOLDEN['scaling_sweep']['rows'][row]['d']}")
def test_scaling_rows(row):
    golden = GOLDEN["scaling_sweep"]["rows"][row]
    found = single_draws()[row]
    assert found.d == golden["d"]
    assert_golden(found.raw_scores, golden["raw_scores"])
    figures = (found.raw_score_spread, found.max_weight_unscaled, found.max_weight_scaled)
    names = ("raw_score_spread", "max_weight_unscaled", "max_weight_scaled")
    assert_golden(figures, [golden[name] for name in names])
    assert [round(figure, 2) for figure in figures] == golden["lesson_prints"]


def test_order_blindness_without_positions(order_example):
    order = ORDER["order"]
    plain = attend_with_first_head(order_example.x, order_example).output
    shuffled = attend_with_first_head(order_example.x[order], order_example).output
    assert_golden(plain, ORDER["plain_output"])
    assert_golden(shuffled, ORDER["shuffled_output"])
    assert_golden(np.abs(plain[order] - shuffled).max(), ORDER["max_abs_difference_without_positions"])
    assert np.allclose(plain[order], shuffled) is ORDER["lesson_prints"]["without"]


def test_order_blindness_with_positions(order_example):
    order = ORDER["order"]
    encoding = sinusoidal_encoding(4, 8)
    plain = attend_with_first_head(order_example.x + encoding, order_example).output
    shuffled = attend_with_first_head(order_example.x[order] + encoding, order_example).output
    assert_golden(plain, ORDER["with_positions_output"])
    assert_golden(shuffled, ORDER["shuffled_with_positions_output"])
    assert_golden(np.abs(plain[order] - shuffled).max(), ORDER["max_abs_difference_with_positions"])
    assert (not np.allclose(plain[order], shuffled)) is ORDER["lesson_prints"]["with_"]


def test_order_blindness_as_the_page_runs_it(order_example):
    head = (order_example.x, order_example.w_q[0], order_example.w_k[0], order_example.w_v[0])
    without = run_two_orders(*head, tuple(ORDER["order"]))
    assert_golden(without.shuffled_output, ORDER["shuffled_output"])
    assert_golden(without.largest_difference, ORDER["max_abs_difference_without_positions"])
    placed = run_two_orders(*head, tuple(ORDER["order"]), added=sinusoidal_encoding(4, 8))
    assert_golden(placed.shuffled_output, ORDER["shuffled_with_positions_output"])
    assert_golden(placed.largest_difference, ORDER["max_abs_difference_with_positions"])


def test_shuffled_sentence_has_the_shuffled_rows(order_example):
    words = tuple(ORDER_WORDS[position] for position in ORDER["order"])
    shuffled = draw_example(words, seed=3, lesson_words=ORDER_WORDS)
    np.testing.assert_array_equal(shuffled.x, order_example.x[ORDER["order"]])


def test_positional_encoding():
    encoding = sinusoidal_encoding(4, 8)
    assert_golden(encoding, ORDER["positional_encoding"])
    assert encoding[1].round(3).tolist() == ORDER["lesson_prints"]["pe1"]


def test_multi_head(example):
    golden = GOLDEN["multi_head"]
    found = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v)
    assert_golden(found.heads.weights, golden["head_weights"])
    assert_golden(found.output, golden["combined_output"])
    assert list(found.output.shape) == golden["combined_shape"]
    assert found.heads.weights[:, 0].round(2).tolist() == golden["lesson_prints_token0"]


def test_encoder_layer_counts_tensor_by_tensor():
    golden = GOLDEN["pytorch"]["encoder_layer"]
    sizes = golden["d_model"], golden["nhead"], golden["dim_feedforward"]
    table = encoder_block_parameters(*sizes)
    counts = {}
    for row in table.rows:
        counts[row.torch_name] = counts.get(row.torch_name, 0) + row.count
    assert counts == {name: count for name, (_, count) in golden["by_tensor"].items()}
    assert table.total == count_parameters(*sizes) == golden["parameters"] == 8544


def test_encoder_layer_shapes_are_ours_turned():
    by_tensor = GOLDEN["pytorch"]["encoder_layer"]["by_tensor"]
    for row in encoder_block_parameters(32, 4, 64).rows:
        shape = list(row.shape[::-1])
        if "in_proj" in row.torch_name:  # q, k and v on top of each other
            shape[0] *= 3
        assert shape == by_tensor[row.torch_name][0]


def test_pytorchs_attention_equals_ours_on_the_lessons_tensors():
    golden = GOLDEN["pytorch"]
    torch.random.manual_seed(0)
    q, k, v = (torch.randn(5, 4).double().numpy() for _ in range(3))
    agrees = np.allclose(attend(q, k, v).output, attention(q, k, v)["output"], rtol=0, atol=1e-6)
    assert agrees is golden["manual_equals_builtin_atol_1e_6"]
    causal = attend(q, k, v, causal_mask(5)).output
    assert np.allclose(causal[0], v[0], rtol=0, atol=1e-12) is golden["causal_first_row_equals_V0"]
