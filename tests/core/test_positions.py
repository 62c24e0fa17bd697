"""Sinusoids and rotations against loops and the relations that make them useful."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.positions import rotate, rotation_angles, sinusoidal_encoding
from tests.loops import sinusoidal_encoding_by_loops


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        pytest.param(1, [0.84147098], id="width 1"),
        pytest.param(3, [0.84147098, 0.54030231, 0.00215443], id="width 3"),
        pytest.param(4, [0.84147098, 0.54030231, 0.00999983, 0.99995000], id="width 4, interleaved"),
        pytest.param(5, [0.84147098, 0.54030231, 0.02511622, 0.99968454, 0.00063096], id="width 5"),
    ],
)
def test_sinusoidal_encoding_of_position_one(width, expected):
    np.testing.assert_allclose(sinusoidal_encoding(2, width)[1], expected, atol=6e-9)


@pytest.mark.parametrize("width", [1, 2, 7, 8, 13])
@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_sinusoidal_encoding_equals_a_loop(width, base):
    expected = sinusoidal_encoding_by_loops(11, width, base)
    np.testing.assert_allclose(sinusoidal_encoding(11, width, base), expected, rtol=1e-12, atol=1e-15)


def test_sinusoidal_encoding_starts_with_zeros_and_ones():
    assert sinusoidal_encoding(3, 5)[0].tolist() == [0, 1, 0, 1, 0]


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 13))
def test_sinusoidal_encoding_further_on_is_a_rotation_of_each_pair(position, distance, n_pairs):
    encoding = sinusoidal_encoding(81, 2 * n_pairs)
    for pair in range(n_pairs):
        angle = distance * 10000.0 ** (-2 * pair / (2 * n_pairs))
        turn = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        here, there = (encoding[p, 2 * pair : 2 * pair + 2] for p in (position, position + distance))
        np.testing.assert_allclose(turn @ here, there, atol=1e-12)


def test_sinusoidal_encoding_of_a_longer_sentence_starts_alike():
    np.testing.assert_array_equal(sinusoidal_encoding(13, 7)[:5], sinusoidal_encoding(5, 7))


def test_sinusoidal_encoding_of_nothing_is_empty():
    assert sinusoidal_encoding(0, 5).shape == (0, 5)
    assert sinusoidal_encoding(5, 0).shape == (5, 0)


@pytest.mark.parametrize("sizes", [(-1, 4), (4, -1)])
def test_sinusoidal_encoding_refuses_a_negative_size(sizes):
    with pytest.raises(ValueError, match=f"must not be negative; got {sizes[0]} and {sizes[1]}"):
        sinusoidal_encoding(*sizes)


@pytest.mark.parametrize("base", [0, -1.0, math.nan])
def test_a_base_that_is_not_positive_is_refused(base):
    with pytest.raises(ValueError, match=f"base must be positive; got {base}"):
        sinusoidal_encoding(2, 4, base)
    with pytest.raises(ValueError, match=f"base must be positive; got {base}"):
        rotate(np.ones((2, 4)), base)
    with pytest.raises(ValueError, match=f"base must be positive; got {base}"):
        rotation_angles(2, 4, base)


@pytest.mark.parametrize("width", [1, 2, 7, 10])
@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_rotation_angles_equal_a_loop_over_whole_pairs(width, base):
    expected = [[position / base ** (2 * pair / width) for pair in range(width // 2)] for position in range(5)]
    np.testing.assert_allclose(rotation_angles(5, width, base), np.reshape(expected, (5, width // 2)), rtol=1e-13)


def test_rotation_angles_are_those_by_which_rotate_turns():
    turned = rotate(np.tile([1.0, 0.0], (5, 3)))
    angles = np.arctan2(turned[:, 1::2], turned[:, 0::2])
    np.testing.assert_allclose(angles, (rotation_angles(5, 6) + np.pi) % (2 * np.pi) - np.pi, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(-1, 4), (4, -1)])
def test_rotation_angles_refuse_a_negative_size(sizes):
    with pytest.raises(ValueError, match=f"must not be negative; got {sizes[0]} and {sizes[1]}"):
        rotation_angles(*sizes)


@pytest.mark.parametrize("width", [2, 7, 10])
@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_rotate_equals_multiplication_by_complex_numbers(width, base):
    x = np.random.default_rng(0).normal(size=(2, 3, 5, width))
    expected = x.copy()
    for position in range(5):
        for pair in range(width // 2):
            turn = np.exp(1j * position * base ** (-2 * pair / width))
            number = (x[..., position, 2 * pair] + 1j * x[..., position, 2 * pair + 1]) * turn
            expected[..., position, 2 * pair], expected[..., position, 2 * pair + 1] = number.real, number.imag
    np.testing.assert_allclose(rotate(x, base), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("width", [6, 7])
def test_rotated_scores_depend_on_the_distance_only(width):
    q, k = np.random.default_rng(1).normal(size=(2, width))
    queries, keys = rotate(np.tile(q, (11, 1))), rotate(np.tile(k, (11, 1)))
    scores = queries @ keys.T
    for distance in range(-10, 11):
        same_distance = np.diagonal(scores, distance)
        np.testing.assert_allclose(same_distance, same_distance[0], rtol=1e-12, atol=1e-13)
    assert np.ptp(scores) > 0.1


def test_rotate_keeps_the_first_row_and_every_length():
    x = np.random.default_rng(2).normal(size=(5, 7))
    turned = rotate(x)
    np.testing.assert_array_equal(turned[0], x[0])
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-14)
    assert np.abs(turned[1:, :6] - x[1:, :6]).max() > 0.1


def test_rotate_leaves_the_feature_without_a_partner():
    x = np.random.default_rng(3).normal(size=(5, 7))
    np.testing.assert_array_equal(rotate(x)[:, 6], x[:, 6])
    np.testing.assert_array_equal(rotate(x[:, :1]), x[:, :1])


def test_rotate_does_not_write_into_its_input():
    x = np.ones((3, 4))
    rotate(x)
    assert (x == 1).all()


def test_rotate_refuses_a_single_row():
    with pytest.raises(ValueError, match=r"axes \(position, d_head\); got shape \(4,\)"):
        rotate(np.ones(4))
