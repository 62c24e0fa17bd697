"""The way back through each part: PyTorch's autograd, finite differences, and what must be exactly zero."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from core.attention import attend
from core.backward import attention_backward, bend_slope, dense_backward, layer_norm_backward, softmax_backward
from core.feed_forward import activate
from core.layer_norm import layer_norm
from core.masks import causal_mask
from core.softmax import softmax


def draw(*shape, seed=0, spread=1.5):
    return np.random.default_rng([seed, *shape]).normal(0.2, spread, size=shape)


def by_autograd(function, *arrays):
    """Gradients of the sum of a function's output times a fixed array; that array is the first result."""
    tensors = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
    output = function(*tensors)
    weight = draw(*output.shape, seed=7)
    (output * torch.from_numpy(weight)).sum().backward()
    return weight, [tensor.grad.numpy() for tensor in tensors]


def by_differences(function, at, gradient, step=1e-6):
    """The same for one array, number by number."""
    found = np.zeros_like(at)
    for place in np.ndindex(*at.shape):
        up, down = at.copy(), at.copy()
        up[place], down[place] = at[place] + step, at[place] - step
        found[place] = ((function(up) - function(down)) * gradient).sum() / (2 * step)
    return found


def test_dense_backward_equals_autograd():
    x, w = draw(5, 7), draw(7, 3)
    gradient, expected = by_autograd(lambda x, w: x @ w, x, w)
    for found, theirs in zip(dense_backward(x, w, gradient), expected, strict=True):
        np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-13)


@pytest.mark.parametrize("with_gain", [True, False])
def test_layer_norm_backward_equals_autograd(with_gain):
    x, gain = draw(2, 5, 7, spread=3), draw(7, seed=1) if with_gain else None
    weight = None if gain is None else torch.from_numpy(gain)
    gradient, (expected,) = by_autograd(lambda x: functional.layer_norm(x, (7,), weight), x)
    np.testing.assert_allclose(layer_norm_backward(x, gradient, gain), expected, rtol=0, atol=1e-13)


def test_layer_norm_backward_equals_finite_differences_with_another_epsilon():
    x, gradient, gain = draw(3, 5), draw(3, 5, seed=1), draw(5, seed=2)
    expected = by_differences(lambda x: layer_norm(x, gain, eps=0.3), x, gradient)
    np.testing.assert_allclose(layer_norm_backward(x, gradient, gain, eps=0.3), expected, rtol=1e-6, atol=1e-8)


def test_layer_norm_passes_nothing_back_that_it_does_not_see():
    x = draw(5, 7)
    back = layer_norm_backward(x, draw(5, 7, seed=1))
    np.testing.assert_allclose(back.sum(axis=-1), 0, atol=1e-13)  # a number added to all features
    np.testing.assert_allclose((layer_norm_backward(x, x - x.mean(axis=-1, keepdims=True))), 0, atol=1e-4)  # more of it


def test_layer_norm_divides_the_gradient_by_the_size_of_what_it_reads():
    x, gradient = draw(5, 7), draw(5, 7, seed=1)
    once, tenfold = (layer_norm_backward(factor * x, gradient, eps=0.0) for factor in (1, 10))
    np.testing.assert_allclose(tenfold, once / 10, rtol=1e-12, atol=1e-15)


def test_softmax_backward_equals_autograd():
    scores = draw(3, 5, 7)
    gradient, (expected,) = by_autograd(lambda s: torch.softmax(s, dim=-1), scores)
    np.testing.assert_allclose(softmax_backward(softmax(scores), gradient), expected, rtol=0, atol=1e-14)


def test_softmax_backward_equals_the_jacobian_written_out():
    weights, gradient = softmax(draw(7)), draw(7, seed=1)
    jacobian = np.diag(weights) - np.outer(weights, weights)
    np.testing.assert_allclose(softmax_backward(weights, gradient), jacobian @ gradient, rtol=0, atol=1e-15)


def test_softmax_backward_keeps_its_digits_where_the_softmax_saturates():
    rest = 1e-20  # 1 - rest is 1 in double precision, and a plain difference would be 0
    back = softmax_backward([1.0, rest], [5.0, 2.0])
    np.testing.assert_allclose(back, [3 * rest, -3 * rest], rtol=1e-12)


def test_softmax_backward_of_a_row_without_any_weight_is_zero():
    np.testing.assert_array_equal(softmax_backward(np.zeros((2, 3)), draw(2, 3)), 0)
    assert softmax_backward(np.zeros((3, 0)), np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention_backward_equals_autograd(scale):
    q, k, v = draw(2, 5, 3), draw(2, 7, 3, seed=1), draw(2, 7, 11, seed=2)
    may_attend = causal_mask(5, 7)

    def attention(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, torch.from_numpy(may_attend), scale=scale)

    gradient, expected = by_autograd(attention, q, k, v)
    weights = attend(q, k, v, may_attend, scale).weights
    for found, theirs in zip(attention_backward(q, k, v, weights, gradient, scale), expected, strict=True):
        np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-13)


def test_attention_passes_nothing_back_to_a_key_that_nobody_may_see():
    q, k, v = draw(5, 3), draw(5, 3, seed=1), draw(5, 2, seed=2)
    seen = np.broadcast_to(np.arange(5) != 3, (5, 5))
    _, to_k, to_v = attention_backward(q, k, v, attend(q, k, v, seen).weights, draw(5, 2, seed=3))
    assert not to_k[3].any()
    assert not to_v[3].any()
    assert np.abs(np.delete(to_k, 3, axis=0)).min() > 0


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_bend_slope_equals_autograd_and_finite_differences(activation):
    x = draw(5, 7, spread=3)
    bend = functional.gelu if activation == "gelu" else functional.relu
    gradient, (expected,) = by_autograd(bend, x)
    np.testing.assert_allclose(bend_slope(x, activation) * gradient, expected, rtol=0, atol=1e-14)
    differences = by_differences(lambda x: activate(x, activation), x, np.ones_like(x))
    np.testing.assert_allclose(bend_slope(x, activation), differences, rtol=1e-7, atol=1e-8)


def test_bend_slope_far_out_is_zero_or_one():
    for activation in ("gelu", "relu"):
        np.testing.assert_array_equal(bend_slope([-1e200, -60.0, 60.0, 1e200], activation), [0, 0, 1, 1])
    assert bend_slope([0.0, -0.0], "relu").tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: dense_backward(draw(5, 7), draw(7, 3), draw(5, 7)), r"shape of x @ w, \(5, 3\); got \(5, 7\)"),
        (lambda: layer_norm_backward(draw(5, 7), draw(5, 3)), r"shape of x, \(5, 7\); got \(5, 3\)"),
        (lambda: softmax_backward(draw(5, 7), draw(5, 3)), r"shape of the weights, \(5, 7\); got \(5, 3\)"),
        (
            lambda: attention_backward(draw(5, 3), draw(7, 3), draw(7, 2), draw(5, 7), draw(5, 7)),
            r"shape of weights @ v, \(5, 2\); got \(5, 7\)",
        ),
        (lambda: bend_slope([1.0], "swish"), "'gelu' or 'relu'; got 'swish'"),
    ],
    ids=["dense", "norm", "softmax", "attention", "bend"],
)
def test_what_does_not_fit_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()
