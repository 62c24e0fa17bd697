"""Layer norm against loops and PyTorch, where the usual slips show."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from core.layer_norm import EPSILON, layer_norm
from tests.loops import layer_norm_by_loops


def test_layer_norm_divides_the_variance_by_the_number_of_features():
    expected = [1.73200462, -0.57733487, -0.57733487, -0.57733487]
    np.testing.assert_allclose(layer_norm([1, 0, 0, 0]), expected, atol=5e-9)


def test_layer_norm_equals_a_loop():
    x = np.random.default_rng(0).normal(size=(2, 5, 7), loc=3, scale=2)
    np.testing.assert_allclose(layer_norm(x), layer_norm_by_loops(x, np.ones(7), np.zeros(7)), rtol=1e-11)


@pytest.mark.parametrize("width", [2, 3, 7, 64])
@pytest.mark.parametrize("learned", ["nothing", "gain", "shift", "both"])
@pytest.mark.parametrize("eps", [EPSILON, 0.1])
def test_layer_norm_equals_pytorch(width, learned, eps):
    rng = np.random.default_rng(1)
    x, gain, shift = rng.normal(size=(5, 3, width)), rng.normal(size=width), rng.normal(size=width)
    gain = gain if learned in ("gain", "both") else None
    shift = shift if learned in ("shift", "both") else None
    weight, bias = (None if array is None else torch.from_numpy(array) for array in (gain, shift))
    expected = functional.layer_norm(torch.from_numpy(x), (width,), weight, bias, eps)
    np.testing.assert_allclose(layer_norm(x, gain, shift, eps), expected, rtol=1e-11, atol=1e-13)


def test_layer_norm_gives_mean_zero_and_variance_one():
    normed = layer_norm(np.random.default_rng(2).normal(size=(11, 7), loc=5, scale=100))
    np.testing.assert_allclose(normed.mean(axis=-1), 0, atol=1e-13)
    np.testing.assert_allclose(normed.var(axis=-1), 1, atol=1e-7)


def test_layer_norm_keeps_its_digits_at_a_large_mean():
    x = np.array([0.0, 1.0, 2.0, 4.0])  # whole numbers, so that adding 2**30 rounds nothing
    np.testing.assert_allclose(layer_norm(x + 2.0**30), layer_norm(x), rtol=1e-13)


def test_layer_norm_of_a_constant_row_is_its_shift():
    np.testing.assert_array_equal(layer_norm(np.full((3, 5), 7.0), shift=np.arange(5.0)), [np.arange(5.0)] * 3)


def test_layer_norm_works_on_each_row_alone():
    x = np.random.default_rng(3).normal(size=(5, 7))
    before = layer_norm(x)
    x[2] = 100 * x[2] + 9
    np.testing.assert_array_equal(np.delete(layer_norm(x), 2, axis=0), np.delete(before, 2, axis=0))


def test_layer_norm_ignores_the_unit_and_the_origin_of_a_row():
    x = np.random.default_rng(4).normal(size=(5, 7))
    np.testing.assert_allclose(layer_norm(13 * x + 3, eps=0), layer_norm(x, eps=0), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_layer_norm_refuses_rows_without_a_feature(shape):
    with pytest.raises(ValueError, match=rf"at least one feature .* got shape \({', '.join(map(str, shape))},?\)"):
        layer_norm(np.ones(shape))


@pytest.mark.parametrize("name", ["gain", "shift"])
def test_layer_norm_says_which_learned_array_does_not_fit(name):
    with pytest.raises(ValueError, match=rf"{name} must have shape \(7,\); got \(1,\)"):
        layer_norm(np.ones((5, 7)), **{name: np.ones(1)})
