"""The referee itself: our orientation turned, evaluation mode, double precision, nothing shared with our arrays."""

import dataclasses
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from core.encoder_block import draw_parameters, encoder_block
from core.masks import causal_mask
from core.multi_head import multi_head_attention
from core.torch_reference import (
    attention,
    block_stages,
    causal_output,
    count_parameters,
    encoder_layer,
    multi_head,
    projection,
    softmax_and_jacobian_norm,
)


def draw(bias=True):
    return draw_parameters(14, 2, 17, np.random.default_rng(0), bias)


def test_projection_multiplies_rows_from_the_left():
    assert projection([[1, 0]], [[1, 2], [0, 1]]).tolist() == [[1.0, 2.0]]


def test_projection_equals_ours_for_a_matrix_that_is_not_square():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 5, 7)), rng.normal(size=(7, 3))
    np.testing.assert_allclose(projection(x, w), x @ w, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention_equals_a_loop(scale):
    rng = np.random.default_rng(2)
    q, k, v = rng.normal(size=(5, 3)), rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    may_attend = causal_mask(5, 7)
    found = attention(q, k, v, may_attend, scale)
    factor = 1 / math.sqrt(3) if scale is None else scale
    for query in range(5):
        shares = [math.exp(factor * (q[query] @ k[key])) * (key <= query) for key in range(7)]
        weights = np.array(shares) / sum(shares)
        seen = slice(0, query + 1)
        np.testing.assert_allclose(found["scaled_scores"][query, seen], factor * k[seen] @ q[query], rtol=1e-12)
        np.testing.assert_array_equal(found["scaled_scores"][query, query + 1 :], -np.inf)
        np.testing.assert_allclose(found["weights"][query], weights, rtol=1e-12)
        np.testing.assert_allclose(found["output"][query], weights @ v, rtol=1e-12)


def test_attention_of_a_query_without_any_key_is_nan_in_weights_and_zero_in_output():
    found = attention(np.ones((2, 3)), np.ones((5, 3)), np.ones((5, 7)), np.array([[True] * 5, [False] * 5]))
    assert np.isnan(found["weights"]).all(axis=1).tolist() == [False, True]
    np.testing.assert_array_equal(found["output"], [[1.0] * 7, [0.0] * 7])


@pytest.mark.parametrize(("n_query", "n_key"), [(5, 5), (2, 7), (7, 2)])
def test_causal_output_mixes_the_keys_up_to_each_query(n_query, n_key):
    rng = np.random.default_rng(5)
    q, k, v = rng.normal(size=(n_query, 3)), rng.normal(size=(n_key, 3)), rng.normal(size=(n_key, 11))
    for query, found in enumerate(causal_output(q, k, v)):
        seen = slice(0, query + 1)
        shares = np.exp(k[seen] @ q[query] / math.sqrt(3))
        np.testing.assert_allclose(found, shares / shares.sum() @ v[seen], rtol=1e-12)


def test_softmax_and_jacobian_norm_equals_finite_differences():
    scores = np.random.default_rng(3).normal(size=(5, 7))
    found = softmax_and_jacobian_norm(scores)
    for row, score in enumerate(scores):
        jacobian = np.zeros((7, 7))
        for j in range(7):
            up, down = score.copy(), score.copy()
            up[j], down[j] = score[j] + 1e-6, score[j] - 1e-6
            jacobian[:, j] = (np.exp(up) / np.exp(up).sum() - np.exp(down) / np.exp(down).sum()) / 2e-6
        np.testing.assert_allclose(found["weights"][row], np.exp(score) / np.exp(score).sum(), rtol=1e-13)
        np.testing.assert_allclose(found["jacobian_norm"][row], np.sqrt((jacobian**2).sum()), rtol=1e-7)


def test_the_jacobian_brings_no_compiler_into_the_server():
    program = """
import sys
from core.torch_reference import softmax_and_jacobian_norm
before = set(sys.modules)
softmax_and_jacobian_norm([[0.0, 1.0]])
print(len(set(sys.modules) - before))
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20  # 801 with torch.func.jacrev


def test_referee_takes_arrays_that_are_read_only_or_run_backwards():
    backwards = np.arange(6.0).reshape(3, 2)[::-1]
    read_only = np.broadcast_to([1.0, 0.0], (3, 2))  # torch warns of either: here a warning is an error
    blocked_last = np.broadcast_to([True, True, False], (3, 3))
    found = attention(read_only, backwards, backwards, blocked_last)
    np.testing.assert_allclose(found["weights"].sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(projection(read_only, np.eye(2)[::-1]), [[0, 1]] * 3)


def test_encoder_layer_is_in_evaluation_mode_without_dropout_and_in_double_precision():
    layer = encoder_layer(draw(), 2)
    assert not any(module.training for module in layer.modules())
    dropouts = [module.p for module in layer.modules() if isinstance(module, torch.nn.Dropout)]
    assert dropouts == [0.0] * 3
    assert layer.self_attn.dropout == 0.0
    assert {parameter.dtype for parameter in layer.parameters()} == {torch.float64}
    assert (layer.norm1.eps, layer.norm2.eps) == (1e-5, 1e-5)


@pytest.mark.parametrize(("norm_position", "norm_first"), [("pre", True), ("post", False)])
def test_encoder_layer_takes_the_norm_position(norm_position, norm_first):
    assert encoder_layer(draw(), 2, norm_position).norm_first is norm_first


def test_encoder_layer_holds_every_array_turned_where_it_belongs():
    p = draw()
    held = {name: parameter.detach().numpy() for name, parameter in encoder_layer(p, 2).named_parameters()}
    for third, (w, b) in enumerate([(p.w_q, p.b_q), (p.w_k, p.b_k), (p.w_v, p.b_v)]):
        rows = slice(14 * third, 14 * (third + 1))
        np.testing.assert_array_equal(held["self_attn.in_proj_weight"][rows], w.T)
        np.testing.assert_array_equal(held["self_attn.in_proj_bias"][rows], b)
    expected = {
        "self_attn.out_proj.weight": p.w_o.T,
        "self_attn.out_proj.bias": p.b_o,
        "linear1.weight": p.w_1.T,
        "linear1.bias": p.b_1,
        "linear2.weight": p.w_2.T,
        "linear2.bias": p.b_2,
        "norm1.weight": p.norm_1_gain,
        "norm1.bias": p.norm_1_shift,
        "norm2.weight": p.norm_2_gain,
        "norm2.bias": p.norm_2_shift,
    }
    assert set(held) - set(expected) == {"self_attn.in_proj_weight", "self_attn.in_proj_bias"}
    for name, array in expected.items():
        np.testing.assert_array_equal(held[name], array, err_msg=name)


def test_encoder_layer_without_bias_has_none():
    names = [name for name, _ in encoder_layer(draw(bias=False), 2).named_parameters()]
    assert len(names) == 6
    assert not [name for name in names if "bias" in name]


def test_encoder_layer_shares_no_memory_with_ours():
    p = draw()
    before = {name: None if array is None else array.copy() for name, array in dataclasses.asdict(p).items()}
    with torch.no_grad():
        for parameter in encoder_layer(p, 2).parameters():
            parameter.zero_()
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(p, name), array, err_msg=name)


@pytest.mark.parametrize("name", ["b_q", "b_o", "b_1", "norm_2_shift"])
def test_encoder_layer_refuses_some_biases(name):
    with pytest.raises(ValueError, match="all biases or none; got some of them"):
        encoder_layer(dataclasses.replace(draw(), **{name: None}), 2)


@pytest.mark.parametrize(
    ("biases", "total"),
    [
        ("all", 3_152_384),
        ("no attention biases", 3_150_336),
        ("no linear biases", 3_147_776),
        ("none", 3_146_752),
    ],
)
def test_count_parameters_gives_published_totals(biases, total):
    assert count_parameters(512, 8, 2048, biases) == total


def test_count_parameters_counts_what_a_real_layer_holds():
    real = encoder_layer(draw(), 2)
    assert count_parameters(14, 2, 17) == sum(parameter.numel() for parameter in real.parameters())


def test_count_parameters_of_a_huge_block_allocates_nothing():
    assert count_parameters(2**17, 1, 2**19) == 4 * 2**34 + 2 * 2**36 + 9 * 2**17 + 2**19


@pytest.mark.parametrize("norm_position", ["pre", "post"])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_every_stage_that_pytorch_lets_out_is_named_as_ours_and_equals_it(norm_position, activation):
    x, parameters = np.random.default_rng(3).normal(size=(5, 14)), draw()
    found = block_stages(x, parameters, 2, norm_position, activation)
    ours = encoder_block(x, parameters, 2, norm_position, activation)
    of_norm = {"pre": {"attention_input", "feed_forward_input"}, "post": {"feed_forward_input"}}[norm_position]
    common = {"attention_output", "after_attention", "hidden", "activated", "feed_forward_output", "output"}
    assert set(found) == common | of_norm
    for name, array in found.items():
        np.testing.assert_allclose(array, getattr(ours, name), rtol=0, atol=1e-12, err_msg=name)


def test_stages_of_a_batch_are_those_of_its_sentences():
    x, parameters = np.random.default_rng(3).normal(size=(3, 5, 14)), draw()
    whole = block_stages(x, parameters, 2)
    for number, sentence in enumerate(x):
        for name, array in block_stages(sentence, parameters, 2).items():
            np.testing.assert_allclose(whole[name][number], array, rtol=0, atol=1e-13, err_msg=name)


def test_multi_head_gives_every_head_on_its_own():
    rng = np.random.default_rng(4)
    x, w_q, w_k, w_v = rng.normal(size=(5, 21)), *rng.normal(size=(3, 7, 21, 3))
    w_o = rng.normal(size=(21, 21))
    found, ours = multi_head(x, w_q, w_k, w_v, w_o), multi_head_attention(x, w_q, w_k, w_v, w_o)
    np.testing.assert_allclose(found["weights"], ours.heads.weights, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["output"], ours.output, rtol=0, atol=1e-11)
