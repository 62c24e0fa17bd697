"""Mistakes on purpose: the shape is right, the numbers are wrong, and how wrong they are is known."""

import numpy as np
import pytest

from core.attention import self_attention
from core.masks import causal_mask
from core.mistakes import (
    attend_across_the_batch,
    attend_over_the_wrong_axis,
    project_by_the_transpose,
    split_heads_by_reshape_alone,
)
from core.multi_head import split_heads


def test_a_bare_reshape_deals_pieces_of_several_words_to_one_head():
    x = np.arange(3 * 10.0).reshape(3, 10)
    wrong = split_heads_by_reshape_alone(x, 5)
    assert wrong.shape == split_heads(x, 5).shape == (5, 3, 2)
    assert wrong[0].tolist() == [[0, 1], [2, 3], [4, 5]]  # all of word 0, where each word's first pair belongs
    assert split_heads(x, 5)[0].tolist() == [[0, 1], [10, 11], [20, 21]]


@pytest.mark.parametrize(("shape", "n_heads"), [((7, 5), 1), ((1, 15), 3)])
def test_it_is_no_mistake_with_one_head_or_one_word(shape, n_heads):
    x = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(split_heads_by_reshape_alone(x, n_heads), split_heads(x, n_heads))


@pytest.mark.parametrize(
    ("shape", "n_heads", "said"), [((3, 10), 4, "multiple of n_heads; got 10 and 4"), ((10,), 2, r"got shape \(10,\)")]
)
def test_what_cannot_be_split_is_refused(shape, n_heads, said):
    with pytest.raises(ValueError, match=said):
        split_heads_by_reshape_alone(np.zeros(shape), n_heads)


def qkv(n=5, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(3, n, d))


def test_over_the_wrong_axis_columns_sum_to_one_and_a_later_word_reaches_an_earlier_row():
    q, k, v = qkv()
    mask = causal_mask(5)
    found = attend_over_the_wrong_axis(q, k, v, mask)
    expected = np.zeros((5, 5))
    for j in range(5):
        shares = {i: np.exp(q[i] @ k[j] / np.sqrt(3)) for i in range(j, 5)}
        for i, share in shares.items():
            expected[i, j] = share / sum(shares.values())
    np.testing.assert_allclose(found.weights, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.output, expected @ v, rtol=0, atol=1e-14)
    q[4] += 1.0  # only the last query: no earlier row may see it, and each one does
    moved = np.abs(attend_over_the_wrong_axis(q, k, v, mask).output - found.output).max(axis=1)
    assert (moved[:4] > 1e-6).all()


def test_across_the_batch_is_attention_of_each_position_over_the_sentences():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(3, 7, 11)), rng.normal(size=(3, 11, 5))
    found = attend_across_the_batch(x, *w)
    assert found.attention.weights.shape == (7, 3, 3)
    for position in range(7):
        alone = self_attention(x[:, position], *w).attention
        np.testing.assert_allclose(found.attention.output[position], alone.output, rtol=0, atol=1e-13)
    one = attend_across_the_batch(x[:1], *w)
    assert (one.attention.weights == 1).all(), "a batch of one: each word attends to itself alone"
    np.testing.assert_array_equal(one.attention.output[:, 0], one.v[:, 0])


def test_by_the_transpose_symmetric_weights_hide_the_mistake():
    w = np.array([[1.0, 2.0], [0.0, 1.0]])
    assert project_by_the_transpose([[1, 0]], w).tolist() == [[1, 0]]
    x = np.random.default_rng(2).normal(size=(7, 2))
    np.testing.assert_array_equal(project_by_the_transpose(x, w + w.T), x @ (w + w.T))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: project_by_the_transpose(np.zeros((3, 2)), np.zeros((2, 5))),
            r"w must be square.*\(2, 5\) and \(3, 2\)",
        ),
        (lambda: attend_across_the_batch(np.zeros((3, 2)), *np.zeros((3, 2, 2))), r"got shape \(3, 2\)"),
    ],
)
def test_what_cannot_be_done_wrong_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()
