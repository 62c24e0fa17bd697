"""Attention step by step against loops, PyTorch, and relations that need no expected number."""

import math
import re

import numpy as np
import pytest
import torch
from torch.nn import functional

from core import torch_reference
from core.agreement import compare
from core.attention import attend, self_attention
from core.masks import causal_mask
from core.positions import rotate, sinusoidal_encoding
from tests.loops import attend_by_loops

BATCH, HEAD, QUERY, KEY, D_HEAD, D_VALUE = 2, 3, 5, 11, 7, 13


@pytest.fixture
def qkv():
    rng = np.random.default_rng(0)
    shapes = ((QUERY, D_HEAD), (KEY, D_HEAD), (KEY, D_VALUE))
    return tuple(rng.normal(size=(BATCH, HEAD, *shape)) for shape in shapes)


def random_mask(*shape):
    """About half allowed; query 1 may attend to nothing, query 2 to everything."""
    may_attend = np.random.default_rng(1).random(shape) < 0.5
    may_attend[..., 1, :], may_attend[..., 2, :] = False, True
    return may_attend


@pytest.mark.parametrize("scale", [None, 0.3])
def test_attend_equals_loops_over_batch_head_query_key(qkv, scale):
    q, k, v = qkv
    may_attend = random_mask(BATCH, HEAD, QUERY, KEY)
    found = attend(q, k, v, may_attend, scale)
    factor = D_HEAD**-0.5 if scale is None else scale
    for at in np.ndindex(BATCH, HEAD):
        scores, weights, output = attend_by_loops(q[at], k[at], v[at], may_attend[at], factor)
        np.testing.assert_allclose(found.scores[at], scores, rtol=1e-12)
        np.testing.assert_allclose(found.weights[at], weights, rtol=1e-12)
        np.testing.assert_allclose(found.output[at], output, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(found.scaled_scores == -np.inf, ~may_attend)
    np.testing.assert_allclose(found.scaled_scores[may_attend], (found.scores * factor)[may_attend], rtol=1e-15)


@pytest.mark.parametrize(
    "may_attend",
    [
        pytest.param(None, id="no mask"),
        pytest.param(causal_mask(QUERY, KEY), id="causal, top-left"),
        pytest.param(causal_mask(QUERY, KEY, align="bottom-right"), id="causal, bottom-right"),
        pytest.param(random_mask(QUERY, KEY), id="one row blocked"),
        pytest.param(random_mask(BATCH, HEAD, QUERY, KEY), id="a mask for every head"),
        pytest.param(random_mask(BATCH, 1, QUERY, KEY), id="a mask for every sentence"),
    ],
)
@pytest.mark.parametrize("scale", [None, 0.5], ids=["1/sqrt(d)", "own scale"])
def test_attend_equals_scaled_dot_product_attention(qkv, may_attend, scale):
    # The reference reads True as "may attend", as we do, and gives a query without any key zeros.
    mask = None if may_attend is None else torch.from_numpy(may_attend)
    expected = functional.scaled_dot_product_attention(*map(torch.from_numpy, qkv), attn_mask=mask, scale=scale)
    np.testing.assert_allclose(attend(*qkv, may_attend, scale).output, expected, rtol=1e-12, atol=1e-14)


def test_attend_equals_pytorch_at_every_step(qkv):
    q, k, v = map(torch.from_numpy, qkv)
    may_attend = causal_mask(QUERY, KEY)
    scores = q @ k.mT
    scaled = (scores / math.sqrt(D_HEAD)).masked_fill(~torch.from_numpy(may_attend), -torch.inf)
    weights = scaled.softmax(dim=-1)
    theirs = {"scores": scores, "scaled_scores": scaled, "weights": weights, "output": weights @ v}
    found = attend(*qkv, may_attend)
    assert compare({name: getattr(found, name) for name in theirs}, theirs).agrees


def test_attend_is_causal_like_pytorchs_own_flag(qkv):
    expected = functional.scaled_dot_product_attention(*map(torch.from_numpy, qkv), is_causal=True)
    np.testing.assert_allclose(attend(*qkv, causal_mask(QUERY, KEY)).output, expected, rtol=1e-12, atol=1e-14)


def test_attend_differs_from_single_precision_by_rounding_only():
    x = np.random.default_rng(2).normal(size=(12, 64))
    found = attend(x, x, x).output
    single, double = (torch.from_numpy(x.astype(kind)) for kind in (np.float32, np.float64))
    in_double = functional.scaled_dot_product_attention(double, double, double).numpy()
    in_single = functional.scaled_dot_product_attention(single, single, single).numpy()
    assert np.abs(found - in_double).max() <= 1e-12
    assert 1e-9 < np.abs(found - in_single).max() <= 1e-5


# Cases with numbers that one can check by hand


def test_attend_puts_queries_in_rows_and_keys_in_columns():
    found = attend([[2, 0], [0, 0]], [[0, 0], [1, 0]], [[1, 0], [0, 1]])
    expected = [[0.19557032, 0.80442968], [0.5, 0.5]]
    np.testing.assert_allclose(found.weights, expected, atol=1e-8)
    np.testing.assert_allclose(found.output, expected, atol=1e-8)


def test_attend_takes_whole_numbers_and_a_mask():
    identity = [[1, 0], [0, 1]]
    found = attend(identity, identity, identity, causal_mask(2))
    np.testing.assert_allclose(found.weights, [[1, 0], [0.3302384507, 0.6697615493]], atol=1e-10)


def test_attend_scales_by_the_width_of_the_key():
    found = attend([[4, 0, 0, 0]], [[1, 0, 0, 0], [0, 0, 0, 0]], [[1.0], [0.0]])
    np.testing.assert_allclose(found.weights, [[0.88079708, 0.11920292]], atol=1e-8)


def test_attend_follows_the_worked_example():
    x = np.array([[1, 0], [0, 2], [1, 1]])
    found = attend(x, x @ [[1, 1], [0, 1]], x)
    np.testing.assert_array_equal(found.scores, [[1, 0, 1], [2, 4, 4], [2, 2, 3]])
    expected = [
        [0.40111209, 0.19777581, 0.40111209],
        [0.10838345, 0.44580827, 0.44580827],
        [0.24825508, 0.24825508, 0.50348984],
    ]
    np.testing.assert_allclose(found.weights, expected, atol=1e-8)
    expected = [[0.80222419, 0.79666372], [0.55419173, 1.33742482], [0.75174492, 1]]
    np.testing.assert_allclose(found.output, expected, atol=1e-8)


def test_attend_to_equal_words_tells_them_apart_by_position_only():
    x = np.array([[1.0, 0, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(attend(x, x, x).weights, [[0.5, 0.5], [0.5, 0.5]])
    placed = x + sinusoidal_encoding(2, 4)
    expected = [[0.45242891, 0.54757109], [0.34285224, 0.65714776]]
    np.testing.assert_allclose(attend(placed, placed, x).weights, expected, atol=1e-8)


def test_attend_to_one_word_gives_its_own_value():
    found = attend([[3.0, -1.0]], [[2.0, 5.0]], [[7.0, 8.0, 9.0]], causal_mask(1))
    assert found.weights.tolist() == [[1.0]]
    assert found.output.tolist() == [[7.0, 8.0, 9.0]]


# Masks


def test_attend_masks_before_the_softmax_so_that_rows_sum_to_one():
    zeros = np.zeros((3, 2))
    found = attend(zeros, zeros, zeros, causal_mask(3))
    np.testing.assert_allclose(found.weights, [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]], rtol=1e-15)


def test_attend_gives_a_query_without_any_key_zeros_and_leaves_the_other_row():
    v = np.arange(12.0).reshape(3, 4)
    found = attend(np.zeros((2, 2)), np.zeros((3, 2)), v, np.array([[True, True, False], [False] * 3]))
    np.testing.assert_array_equal(found.weights, [[0.5, 0.5, 0], [0, 0, 0]])
    np.testing.assert_array_equal(found.output, [[2, 3, 4, 5], [0, 0, 0, 0]])


def test_attend_never_leaks_to_a_masked_key_however_low_the_allowed_score():
    found = attend([[1.0]], [[-30000.0], [-20000.0]], [[1.0], [2.0]], np.array([[True, False]]), scale=1.0)
    assert found.weights.tolist() == [[1.0, 0.0]]
    assert found.scores.tolist() == [[-30000.0, -20000.0]]


def test_masking_keys_equals_removing_them(qkv):
    q, k, v = qkv
    kept = np.broadcast_to(np.arange(KEY) < 8, (QUERY, KEY))
    masked, removed = attend(q, k, v, kept), attend(q, k[..., :8, :], v[..., :8, :])
    np.testing.assert_allclose(masked.weights[..., :8], removed.weights, rtol=1e-13)
    np.testing.assert_array_equal(masked.weights[..., 8:], 0)
    np.testing.assert_allclose(masked.output, removed.output, rtol=1e-12)


def test_masked_keys_may_hold_any_value(qkv):
    q, k, v = qkv
    kept = np.broadcast_to(np.arange(KEY) < 8, (QUERY, KEY))
    before = attend(q, k, v, kept)
    k[..., 8:, :], v[..., 8:, :] = 1e6, -1e6
    np.testing.assert_array_equal(attend(q, k, v, kept).output, before.output)


def test_allowing_everything_equals_no_mask(qkv):
    everything = np.ones((QUERY, KEY), dtype=bool)
    np.testing.assert_array_equal(attend(*qkv, everything).output, attend(*qkv).output)


# Relations


def test_permuting_keys_with_their_values_changes_no_output(qkv):
    q, k, v = qkv
    order = np.random.default_rng(3).permutation(KEY)
    shuffled = attend(q, k[..., order, :], v[..., order, :])
    np.testing.assert_allclose(shuffled.output, attend(q, k, v).output, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(shuffled.weights, attend(q, k, v).weights[..., order], rtol=1e-13)


def test_permuting_queries_permutes_rows(qkv):
    q, k, v = qkv
    order = [3, 0, 4, 1, 2]
    np.testing.assert_allclose(attend(q[..., order, :], k, v).output, attend(q, k, v).output[..., order, :], rtol=1e-13)


def test_moving_all_keys_alike_changes_no_weight(qkv):
    q, k, v = qkv
    moved = attend(q, k + np.linspace(-1, 1, D_HEAD), v)  # adds q · shift to the whole row of a query
    np.testing.assert_allclose(moved.weights, attend(q, k, v).weights, rtol=1e-12)
    assert np.abs(moved.scores - attend(q, k, v).scores).max() > 1


def test_each_sentence_and_head_computes_alone(qkv):
    q, k, v = qkv
    together = attend(q, k, v)
    for at in np.ndindex(BATCH, HEAD):
        np.testing.assert_allclose(attend(q[at], k[at], v[at]).output, together.output[at], rtol=1e-13)


def test_leading_axes_broadcast(qkv):
    q, k, v = qkv
    found = attend(q[0, 0], k, v)
    np.testing.assert_allclose(found.output[1, 2], attend(q[0, 0], k[1, 2], v[1, 2]).output, rtol=1e-13)


def test_no_query_and_no_key_give_empty_results():
    assert attend(np.ones((0, 2)), np.ones((3, 2)), np.ones((3, 5))).output.shape == (0, 5)
    np.testing.assert_array_equal(attend(np.ones((3, 2)), np.ones((0, 2)), np.ones((0, 5))).output, np.zeros((3, 5)))


def test_attend_does_not_write_into_its_inputs(qkv):
    before = [array.copy() for array in qkv]
    attend(*qkv, random_mask(QUERY, KEY))
    for array, copy in zip(qkv, before, strict=True):
        np.testing.assert_array_equal(array, copy)


# Errors


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        pytest.param(
            [(3,), (5, 3), (5, 2)], r"two axes or more; got shapes \(3,\), \(5, 3\) and \(5, 2\)", id="one axis"
        ),
        pytest.param([(5, 3), (7, 2), (7, 2)], r"share a d_head of at least 1; got 3 and 2", id="widths differ"),
        pytest.param([(5, 0), (7, 0), (7, 2)], r"share a d_head of at least 1; got 0 and 0", id="no width"),
        pytest.param([(5, 3), (7, 3), (11, 2)], r"as many rows as each other; got 7 and 11", id="values missing"),
        pytest.param(
            [(2, 5, 3), (3, 7, 3), (3, 7, 2)], r"must fit each other; got \(2,\), \(3,\), \(3,\)", id="leading axes"
        ),
    ],
)
def test_attend_says_which_shapes_do_not_fit(shapes, message):
    with pytest.raises(ValueError, match=message):
        attend(*(np.ones(shape) for shape in shapes))


@pytest.mark.parametrize(
    ("may_attend", "message"),
    [
        pytest.param(np.ones((5, 7)), "boolean, True = may attend; got float64", id="numbers"),
        pytest.param(np.ones((7, 5), bool), r"\(\.\.\., query, key\) = \(5, 7\); got \(7, 5\)", id="transposed"),
        pytest.param(np.ones((2, 5, 7), bool), r"= \(5, 7\); got \(2, 5, 7\)", id="more axes than the inputs"),
    ],
)
def test_attend_says_which_mask_does_not_fit(may_attend, message):
    with pytest.raises(ValueError, match=message):
        attend(np.ones((5, 3)), np.ones((7, 3)), np.ones((7, 2)), may_attend)


# Self-attention, its projections included


@pytest.fixture
def head():
    """x, w_q, w_k, w_v."""
    rng = np.random.default_rng(4)
    return rng.normal(size=(BATCH, QUERY, KEY)), *rng.normal(size=(3, KEY, D_HEAD), scale=0.4)


def test_self_attention_equals_pytorchs_linear_layers_and_attention(head):
    may_attend = causal_mask(QUERY)
    run = self_attention(*head, may_attend)
    x, *projections = map(torch.from_numpy, head)
    q, k, v = (functional.linear(x, w.mT) for w in projections)
    for name, theirs in (("q", q), ("k", k), ("v", v)):
        np.testing.assert_allclose(getattr(run, name), theirs, rtol=1e-12, atol=1e-14, err_msg=name)
    expected = functional.scaled_dot_product_attention(q, k, v, attn_mask=torch.from_numpy(may_attend))
    np.testing.assert_allclose(run.attention.output, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(run.attention.weights > 0, np.broadcast_to(may_attend, (BATCH, QUERY, QUERY)))


def test_self_attention_turns_queries_and_keys_but_not_values(head):
    x, w_q, w_k, w_v = head
    run = self_attention(*head, turn=rotate)
    np.testing.assert_array_equal(run.q, rotate(x @ w_q))
    np.testing.assert_array_equal(run.k, rotate(x @ w_k))
    np.testing.assert_array_equal(run.v, x @ w_v)
    np.testing.assert_array_equal(run.attention.output, attend(run.q, run.k, run.v).output)


def test_self_attention_takes_whole_numbers_and_multiplies_from_the_left():
    run = self_attention([[1, 0], [0, 1]], [[1, 2], [0, 1]], [[1, 0], [3, 1]], [[0, 5], [7, 0]])
    assert [array.tolist() for array in (run.q, run.k, run.v)] == [[[1, 2], [0, 1]], [[1, 0], [3, 1]], [[0, 5], [7, 0]]]


@pytest.mark.parametrize("number", [1, 2, 3], ids=["w_q", "w_k", "w_v"])
@pytest.mark.parametrize("shape", [(7, 11), (11,), (3, 11, 7)], ids=["turned", "one axis", "several heads"])
def test_self_attention_says_which_projections_do_not_fit(head, number, shape):
    given = [*head[:number], np.ones(shape), *head[number + 1 :]]
    shapes = ", ".join(str(array.shape) for array in given[1:])
    with pytest.raises(ValueError, match=re.escape(f"must have shape (11, d_head); got {shapes}")):
        self_attention(*given)


def test_attend_agrees_with_the_referee_that_pages_show(qkv):
    may_attend = causal_mask(QUERY, KEY)
    found = attend(*qkv, may_attend)
    theirs = torch_reference.attention(*qkv, may_attend)
    assert set(theirs) == {"scaled_scores", "weights", "output"}
    assert compare({name: getattr(found, name) for name in theirs}, theirs).agrees
