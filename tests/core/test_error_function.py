"""The error function against the standard library's, at and between the tabulated points, and far out."""

import math

import numpy as np
import pytest

from core.error_function import erf


def test_erf_equals_the_standard_library_everywhere():
    x = np.concatenate([np.linspace(-7, 7, 30011), np.arange(-7, 7, 1 / 128)])  # the second: points and places between
    expected = [math.erf(number) for number in x]
    np.testing.assert_allclose(erf(x), expected, rtol=0, atol=2.3e-16)


def test_erf_of_small_numbers_keeps_their_digits():
    x = np.array([1e-300, 1e-17, 1e-9, 3e-5, 2e-3])
    np.testing.assert_allclose(erf(x), [math.erf(number) for number in x], rtol=4e-16)
    np.testing.assert_array_equal(erf(-x), -erf(x))


def test_erf_ends_at_one_and_keeps_nan():
    assert erf([-np.inf, -1e300, 0.0, 1e300, np.inf]).tolist() == [-1, -1, 0, 1, 1]
    assert np.isnan(erf([np.nan, 1.0])).tolist() == [True, False]


def test_erf_keeps_the_shape_and_the_input():
    x = np.full((2, 3, 5), -1.0)
    assert erf(x).shape == (2, 3, 5)
    assert erf(np.ones((0, 3))).shape == (0, 3)
    assert erf(0.5).shape == ()
    assert (x == -1).all()


def test_erf_refuses_what_is_no_real_number():
    with pytest.raises(TypeError, match="complex"):
        erf([1j])
