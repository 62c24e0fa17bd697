"""Steps that wait for each other: counted beside the very numbers that the layers compute."""

import numpy as np
import pytest

from core.attention import self_attention
from core.examples import draw_example, draw_recurrence
from core.multi_head import multi_head_attention
from core.recurrence import recurrent_states
from core.waiting import Stepped, count_attention, count_recurrence

WORDS = ("one", "two", "three", "four", "five", "six", "seven")


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_a_state_waits_for_all_before_it(n):
    x, network = draw_example(WORDS[:n], 5, 1, 3).x, draw_recurrence(5, 1.2)
    counted = count_recurrence(x, network)
    np.testing.assert_allclose(counted.values, recurrent_states(x, network), rtol=1e-13, atol=1e-15)
    assert counted.steps.tolist() == [[position + 1] * 5 for position in range(n)]


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_attention_waits_three_times_whatever_the_length(n):
    example = draw_example(WORDS[:n], 5, 3, 3)
    one = count_attention(example.x, example.w_q[1], example.w_k[1], example.w_v[1])
    alone = self_attention(example.x, example.w_q[1], example.w_k[1], example.w_v[1]).attention
    np.testing.assert_allclose(one.values, alone.output, rtol=1e-12, atol=1e-14)
    assert one.steps.tolist() == [[3] * 5] * n
    heads = count_attention(example.x, example.w_q, example.w_k, example.w_v)
    run = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads
    np.testing.assert_allclose(heads.values, run.output, rtol=1e-12, atol=1e-14)
    assert np.unique(heads.steps).tolist() == [3], "more heads stand beside each other"


def test_a_product_waits_for_the_later_of_its_factors():
    left = Stepped([[1.0, 2.0], [3.0, 4.0]], [[0, 5], [1, 1]])
    right = Stepped([[1.0, 0.0], [2.0, 1.0]], [[2, 0], [2, 7]])
    product = left @ right
    assert product.values.tolist() == [[5.0, 2.0], [11.0, 4.0]]
    # Entry (i, j): one more than the latest in row i of the left and column j of the right.
    assert product.steps.tolist() == [[6, 8], [3, 8]]
    assert (left @ np.eye(2)).steps.tolist() == [[6, 6], [2, 2]]
    assert (np.eye(2) @ left).steps.tolist() == [[2, 6], [2, 6]]
    assert left.turned.steps.tolist() == [[0, 1], [5, 1]]


def test_what_is_done_entry_by_entry_rides_along():
    numbers = Stepped([[1.0, -2.0, 3.0]], [[2, 0, 4]])
    assert np.tanh(numbers).steps.tolist() == [[2, 0, 4]]
    assert np.tanh(numbers).values.tolist() == np.tanh([[1.0, -2.0, 3.0]]).tolist()
    other = numbers + Stepped([[1.0], [2.0]], [[3], [1]])
    assert other.values.tolist() == [[2.0, -1.0, 4.0], [3.0, 0.0, 5.0]]
    assert other.steps.tolist() == [[3, 3, 4], [2, 1, 4]]
    total = np.add.reduce(numbers, axis=-1, keepdims=True)
    assert (total.values.tolist(), total.steps.tolist()) == ([[2.0]], [[4]])
    assert (3.0 / numbers).steps.tolist() == [[2, 0, 4]]


def test_a_wider_layer_waits_no_longer():
    for d in (1, 11):
        x = draw_example(WORDS, d, 1, 0).x
        assert count_recurrence(x, draw_recurrence(d, 0.5)).steps.max() == len(WORDS)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"at least one position; got \(0, 3\)"):
        count_recurrence(np.ones((0, 3)), draw_recurrence(3, 1.0))
    with pytest.raises(ValueError, match=r"at least one position; got \(3,\)"):
        count_attention(np.ones(3), *[np.ones((3, 2))] * 3)
    with pytest.raises(TypeError, match="must be called or reduce an axis"):
        np.add.accumulate(Stepped([1.0, 2.0]))
