"""The two bends against their formulas and PyTorch."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from core.feed_forward import activate, gelu, relu

LINE = np.linspace(-9, 9, 3607).reshape(1, -1)


def test_gelu_of_one_differs_between_its_two_forms():
    np.testing.assert_allclose(gelu(1.0), 0.84134475, atol=5e-9)
    np.testing.assert_allclose(gelu(1.0, approximate=True), 0.84119199, atol=5e-9)


@pytest.mark.parametrize(("approximate", "theirs"), [(False, "none"), (True, "tanh")], ids=["exact", "tanh"])
def test_gelu_equals_pytorch(approximate, theirs):
    expected = functional.gelu(torch.from_numpy(LINE), approximate=theirs)
    np.testing.assert_allclose(gelu(LINE, approximate), expected, rtol=1e-13, atol=1e-14)


def test_gelu_equals_x_times_the_share_of_a_normal_below_x():
    step = 1e-3
    grid = np.arange(-12, 1.7, step) + step / 2  # midpoint rule up to 1.7
    below = (np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)).sum() * step
    np.testing.assert_allclose(gelu(1.7), 1.7 * below, rtol=1e-6)


def test_gelu_forms_differ_by_at_most_what_the_page_says():
    gap = np.abs(gelu(LINE) - gelu(LINE, approximate=True))
    assert 4.73e-4 < gap.max() < 4.74e-4
    np.testing.assert_allclose(abs(LINE[0, gap.argmax()]), 2.699, atol=0.01)


@pytest.mark.parametrize("approximate", [False, True], ids=["exact", "tanh"])
def test_gelu_goes_to_zero_on_the_left_and_to_x_on_the_right(approximate):
    np.testing.assert_allclose(gelu([-40.0, 0.0, 40.0], approximate), [0, 0, 40])


def test_relu_cuts_at_zero():
    assert relu([[-2, 0, 3]]).tolist() == [[0, 0, 3]]
    np.testing.assert_array_equal(relu(LINE), functional.relu(torch.from_numpy(LINE)))


@pytest.mark.parametrize(("activation", "bend"), [("gelu", gelu), ("relu", relu)])
def test_activate_takes_the_bend_of_that_name(activation, bend):
    np.testing.assert_array_equal(activate(LINE, activation), bend(LINE))


def test_activate_refuses_another_name():
    with pytest.raises(ValueError, match="'gelu' or 'relu'; got 'swish'"):
        activate([1.0], "swish")


@pytest.mark.parametrize("bend", [gelu, relu])
def test_a_bend_refuses_what_is_no_real_number(bend):
    with pytest.raises(TypeError, match="complex"):
        bend([1j])


@pytest.mark.parametrize("bend", [gelu, relu])
def test_a_bend_keeps_the_shape_and_the_input(bend):
    x = np.full((2, 3, 5), -1.0)
    assert bend(x).shape == (2, 3, 5)
    assert bend(np.ones((0, 3))).shape == (0, 3)
    assert (x == -1).all()
