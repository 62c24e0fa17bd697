"""Softmax against loops, laws and PyTorch; entropy; the size of the derivative."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.softmax import entropy, jacobian_norm, softmax
from core.torch_reference import softmax_and_jacobian_norm

SCORES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=7), elements=st.floats(-1e4, 1e4))


def softmax_of_list(row):
    exponentials = [math.exp(score) for score in row]
    return [exponential / sum(exponentials) for exponential in exponentials]


@pytest.mark.parametrize(
    ("scores", "weights"),
    [
        pytest.param([1, -10, 1000], [0, 0, 1], id="large score"),
        pytest.param([-1000, -1001], [0.7310585786300049, 0.2689414213699951], id="very negative scores"),
        pytest.param(
            [0, 10, 0, 0], [4.539374714e-5, 0.99986381876, 4.539374714e-5, 4.539374714e-5], id="nearly one-hot"
        ),
        pytest.param([0, 1, 2], [0.0900305731703805, 0.2447284710547977, 0.6652409557748219], id="whole numbers"),
        pytest.param([-np.inf, 3.0], [0, 1], id="one masked"),
        pytest.param([-np.inf, -np.inf], [0, 0], id="all masked"),
        pytest.param([-20000.0, -np.inf], [1, 0], id="below any finite fill"),
        pytest.param([7.0], [1], id="one entry"),
        pytest.param([], [], id="no entry"),
        pytest.param([5e-324, 0.0], [0.5, 0.5], id="smallest number"),
    ],
)
def test_softmax_gives_known_weights(scores, weights):
    np.testing.assert_allclose(softmax(scores), weights, rtol=1e-9, atol=0)


def test_softmax_of_scores_at_both_ends_of_the_number_range_needs_no_warning():
    assert softmax([1e308, -1e308]).tolist() == [1.0, 0.0]


def test_softmax_shares_out_along_rows_not_columns():
    scores = [[0, math.log(3)], [0, 0]]
    np.testing.assert_allclose(softmax(scores), [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)
    np.testing.assert_allclose(softmax(scores, axis=0), [[0.5, 0.75], [0.5, 0.25]], rtol=1e-15)


def test_softmax_equals_a_loop_over_rows():
    scores = np.random.default_rng(1).normal(size=(2, 3, 5, 11), scale=3)
    expected = [[[softmax_of_list(row) for row in head] for head in sentence] for sentence in scores]
    np.testing.assert_allclose(softmax(scores), expected, rtol=1e-13)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_softmax_equals_pytorch_along_each_axis(axis):
    scores = np.random.default_rng(2).normal(size=(3, 5, 7), scale=20)
    expected = torch.softmax(torch.from_numpy(scores), dim=axis)
    np.testing.assert_allclose(softmax(scores, axis=axis), expected, rtol=1e-13)


def test_softmax_leaves_rows_beside_an_empty_one_alone():
    scores = np.random.default_rng(3).normal(size=(3, 5))
    expected = softmax(scores)
    scores[1], expected[1] = -np.inf, 0
    np.testing.assert_array_equal(softmax(scores), expected)


def test_softmax_does_not_write_into_its_input():
    scores = np.array([[1.0, -np.inf], [2.0, 3.0]])
    before = scores.copy()
    softmax(scores)
    np.testing.assert_array_equal(scores, before)


@given(SCORES, st.data())
def test_softmax_shares_out_among_chosen_entries_as_if_the_others_had_no_score(scores, data):
    shape = data.draw(hnp.broadcastable_shapes(scores.shape, min_dims=1, max_dims=scores.ndim, max_side=7))
    shape = tuple(n if n == 1 else m for n, m in zip(shape, scores.shape[-len(shape) :], strict=True))
    chosen = data.draw(hnp.arrays(np.bool_, shape))
    axis = data.draw(st.integers(-scores.ndim, -1))
    expected = softmax(np.where(chosen, scores, -np.inf), axis=axis)
    np.testing.assert_array_equal(softmax(scores, axis=axis, where=chosen), expected)
    np.testing.assert_array_equal(softmax(np.where(chosen, scores, np.nan), axis=axis, where=chosen), expected)


@given(SCORES, st.booleans(), st.booleans(), st.data())
def test_softmax_leaves_the_shares_where_it_is_told_to(scores, in_place, some_chosen, data):
    """Also in the scores themselves."""
    chosen = data.draw(hnp.arrays(np.bool_, scores.shape)) if some_chosen else True
    expected = softmax(scores, where=chosen)
    given_scores = scores.copy()
    room = given_scores if in_place else np.full(scores.shape, 7.0)
    assert softmax(given_scores, where=chosen, out=room) is room
    np.testing.assert_array_equal(room, expected)


def test_softmax_refuses_a_score_without_meaning_only_among_the_chosen():
    scores, chosen = [[np.nan, 1.0, np.inf]], np.array([False, True, False])
    assert softmax(scores, where=chosen).tolist() == [[0.0, 1.0, 0.0]]
    with pytest.raises(ValueError, match=r"finite or -inf; got NaN or \+inf"):
        softmax(scores, where=~chosen)


@given(SCORES)
def test_softmax_rows_are_shares_of_one(scores):
    weights = softmax(scores)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-12)


@given(SCORES, st.integers(-1000, 1000))
def test_softmax_ignores_a_constant_added_to_a_row(scores, constant):
    rounding = 8 * np.spacing(np.abs(scores).max() + abs(constant))  # of the shifted scores themselves
    np.testing.assert_allclose(softmax(scores + constant), softmax(scores), rtol=2 * rounding + 1e-13, atol=1e-300)


@given(SCORES)
def test_softmax_keeps_the_order_of_the_scores(scores):
    weights = softmax(scores)
    larger = scores[..., :, None] >= scores[..., None, :]
    assert (weights[..., :, None] >= weights[..., None, :])[larger].all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_softmax_refuses_a_score_without_meaning(bad):
    with pytest.raises(ValueError, match=r"finite or -inf; got NaN or \+inf"):
        softmax([[0.0, 1.0], [0.0, bad]])


@pytest.mark.parametrize(
    ("weights", "nats"),
    [
        pytest.param([0.25] * 4, 1.3862943611198906, id="equal shares"),
        pytest.param([1, 0], 0, id="one takes all"),
        pytest.param([0, 0, 0], 0, id="no allowed key"),
        pytest.param([0.5, 0.25, 0.25], 1.5 * math.log(2), id="uneven"),
        pytest.param([1], 0, id="one word"),
    ],
)
def test_entropy_gives_known_nats(weights, nats):
    np.testing.assert_allclose(entropy(weights), nats, rtol=1e-15, atol=0)


def test_entropy_of_a_certain_row_is_not_minus_zero():
    assert not np.signbit(entropy([[1.0, 0.0], [0.0, 0.0]])).any()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_entropy_equals_a_loop_along_each_axis(axis):
    weights = softmax(np.random.default_rng(4).normal(size=(3, 5, 7)), axis=axis)
    lines = np.moveaxis(weights, axis, -1)
    expected = [[-sum(w * math.log(w) for w in line) for line in matrix] for matrix in lines]
    np.testing.assert_allclose(entropy(weights, axis=axis), expected, rtol=1e-13)


@given(SCORES)
def test_entropy_lies_between_zero_and_that_of_equal_shares(scores):
    found = entropy(softmax(scores))
    assert (found >= 0).all()
    assert (found <= math.log(scores.shape[-1]) + 1e-12).all()


def test_entropy_refuses_a_negative_weight():
    with pytest.raises(ValueError, match=r"must not be negative; got -0\.5"):
        entropy([1.5, -0.5])


def test_jacobian_norm_equals_the_written_out_matrix():
    weights = softmax(np.random.default_rng(5).normal(size=(3, 5, 7)))
    for index in np.ndindex(3, 5):
        w = weights[index]
        matrix = [[w[i] * ((i == j) - w[j]) for j in range(7)] for i in range(7)]
        np.testing.assert_allclose(jacobian_norm(weights)[index], np.linalg.norm(matrix), rtol=1e-13)


@pytest.mark.parametrize("scale", [0.01, 1, 5])
def test_jacobian_norm_equals_autograd(scale):
    scores = np.random.default_rng(6).normal(size=(13, 7), scale=scale)
    expected = softmax_and_jacobian_norm(scores)
    np.testing.assert_allclose(jacobian_norm(softmax(scores)), expected["jacobian_norm"], rtol=1e-11)


def test_jacobian_norm_keeps_its_digits_where_the_softmax_saturates():
    # Two shares e and 1 - e: all four derivatives are ±e(1 - e), so the norm is 2e(1 - e).
    np.testing.assert_allclose(jacobian_norm([1.0, 1e-20]), 2e-20, rtol=1e-15)


@pytest.mark.parametrize(
    ("weights", "norm"), [([1.0], 0), ([1.0, 0.0, 0.0], 0), ([0.0, 0.0], 0), ([0.25] * 4, math.sqrt(3) / 4)]
)
def test_jacobian_norm_of_special_rows(weights, norm):
    np.testing.assert_allclose(jacobian_norm(weights), norm, rtol=1e-15)


def test_jacobian_norm_refuses_a_single_number():
    with pytest.raises(ValueError, match="at least one axis; got a single number"):
        jacobian_norm(1.0)
