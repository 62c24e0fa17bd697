"""What the last word takes by attention and what moves it: by PyTorch, by differences, and by relations."""

import numpy as np
import pytest

from core import torch_reference
from core.attention_jacobian import ask_last, influence_by_head, last_output_influence, last_output_jacobian
from core.examples import draw_example
from core.multi_head import multi_head_attention
from core.recurrence import size

N, D_HEAD, N_HEADS = 7, 5, 3
D_MODEL = D_HEAD * N_HEADS


@pytest.fixture
def example():
    return draw_example(("one", "two", "three", "four", "five", "six", "seven"), D_HEAD, N_HEADS, 11)


def ask(example):
    return ask_last(example.x, example.w_q, example.w_k, example.w_v)


def jacobians(asked, features=None):
    return np.stack([last_output_jacobian(asked, position, features) for position in range(asked.k.shape[1])])


def test_it_is_the_last_row_of_multi_head_attention(example):
    run = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v)
    asked = ask(example)
    np.testing.assert_allclose(asked.output.ravel(), run.joined[-1], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(asked.weights, run.heads.weights[:, -1], rtol=1e-13)


def test_jacobians_are_those_of_autograd(example):
    theirs = torch_reference.attention_jacobians(example.x, example.w_q, example.w_k, example.w_v, range(D_MODEL))
    np.testing.assert_allclose(ask(example).output.ravel(), theirs["output"], rtol=0, atol=1e-13)
    np.testing.assert_allclose(jacobians(ask(example)), theirs["jacobians"], rtol=0, atol=1e-10)


def test_jacobians_are_those_of_differences(example):
    found, step = jacobians(ask(example)), 1e-6
    for position, feature in ((0, 4), (3, 14), (N - 1, 0)):
        ends = []
        for sign in (1, -1):
            x = example.x.copy()
            x[position, feature] += sign * step
            ends.append(ask_last(x, example.w_q, example.w_k, example.w_v).output.ravel())
        np.testing.assert_allclose(found[position, feature], (ends[0] - ends[1]) / (2 * step), rtol=0, atol=1e-8)


def test_features_are_chosen_across_the_heads(example):
    asked, chosen = ask(example), (14, 0, 6)
    np.testing.assert_allclose(jacobians(asked, chosen), jacobians(asked)[..., list(chosen)], rtol=0, atol=1e-14)
    by_hand = [size(one) for one in jacobians(asked, chosen)]
    np.testing.assert_allclose(last_output_influence(asked, chosen), by_hand, rtol=1e-14)
    only = last_output_influence(asked, chosen, (2,))
    np.testing.assert_allclose(only, np.where(np.arange(N) == 2, by_hand, 0), rtol=1e-14)


def test_by_head_is_what_is_left_of_the_whole_when_the_others_are_left_out(example):
    asked = ask(example)
    for position in (0, N - 1):
        by_head = influence_by_head(asked, position)
        alone = [
            size(last_output_jacobian(asked, position, range(head * D_HEAD, (head + 1) * D_HEAD)))
            for head in range(N_HEADS)
        ]
        np.testing.assert_allclose(by_head, alone, rtol=1e-14)
        whole = last_output_influence(asked)[position]
        assert np.sqrt(np.mean(by_head**2)) == pytest.approx(whole, rel=1e-13)


def test_earlier_words_may_stand_in_any_order(example):
    """Distance is nothing to attention: with the words, their influences change places, and nothing else happens."""
    order = np.array([4, 0, 5, 2, 1, 3, 6])
    moved = ask_last(example.x[order], example.w_q, example.w_k, example.w_v)
    np.testing.assert_allclose(moved.output, ask(example).output, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(last_output_influence(moved), last_output_influence(ask(example))[order], rtol=1e-11)
    assert np.ptp(last_output_influence(moved)) > 0.01


def test_one_word_moves_only_its_own_value(example):
    asked = ask_last(example.x[:1], example.w_q, example.w_k, example.w_v)
    np.testing.assert_allclose(last_output_jacobian(asked, 0), np.hstack(list(example.w_v)), rtol=1e-14)


def test_equal_words_share_alike_and_each_less_the_more_there_are(example):
    """A query of zeros: every weight is 1/n, and every word but the last moves the output by w_v/n."""
    for n in (2, 5, 11):
        x = np.tile(example.x[0], (n, 1))
        asked = ask_last(x, 0 * example.w_q, example.w_k, example.w_v)
        np.testing.assert_allclose(last_output_jacobian(asked, 0), np.hstack(list(example.w_v)) / n, rtol=1e-12)


def test_a_hard_softmax_leaves_nothing_of_the_other_words(example):
    asked = ask_last(example.x, 1e4 * example.w_q, example.w_k, example.w_v)
    found = last_output_influence(asked)
    assert np.isfinite(found).all()
    assert (found == 0).sum() >= 3, "underflow is 0, not NaN"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda asked: ask_last(np.ones((0, 2)), *[np.ones((1, 2, 1))] * 3), r"at least one position; got \(0, 2\)"),
        (lambda asked: ask_last(np.ones((3, 2)), *[np.ones((2, 1))] * 3), r"\(head, 2, d_head\); got \(2, 1\)"),
        (lambda asked: last_output_jacobian(asked, N), f"position must be from 0 to 6; got {N}"),
        (lambda asked: last_output_jacobian(asked, -1), "position must be from 0 to 6; got -1"),
        (lambda asked: last_output_jacobian(asked, 0, (0, 15)), r"features must be from 0 to 14; got \[0, 15\]"),
        (lambda asked: influence_by_head(asked, 0, (0, 1, 5)), r"as many of each head; got \[2, 1, 0\]"),
    ],
)
def test_bad_input_is_named(example, call, said):
    with pytest.raises(ValueError, match=said):
        call(ask(example))
