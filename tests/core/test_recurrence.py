"""The recurrent network: by hand, by differences, by PyTorch, and by what must hold for all numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import torch_reference
from core.examples import draw_recurrence
from core.recurrence import (
    RecurrentParameters,
    draw_parameters,
    last_state_influence,
    last_state_jacobians,
    recurrent_states,
    size,
)

D, N = 5, 7


@pytest.fixture
def x():
    return np.random.default_rng(3).normal(size=(N, D))


def last_state(x, parameters):
    return recurrent_states(x, parameters)[-1]


def differences(x, parameters, step=1e-6):
    """Central differences of the last state by every number of every word: (position, d_model, feature)."""
    found = np.empty((*x.shape, parameters.b.size))
    for place in np.ndindex(x.shape):
        more, less = x.copy(), x.copy()
        more[place] += step
        less[place] -= step
        found[place] = (last_state(more, parameters) - last_state(less, parameters)) / (2 * step)
    return found


def test_two_steps_by_hand():
    parameters = RecurrentParameters(
        np.array([[2.0, 0.0]]), np.array([[0.5, -1.0], [0.0, 0.25]]), np.array([0.1, -0.2])
    )
    first = np.tanh([2 * 0.3 + 0.1, -0.2])
    second = np.tanh([2 * -0.4 + 0.5 * first[0] + 0.1, -first[0] + 0.25 * first[1] - 0.2])
    states = recurrent_states([[0.3], [-0.4]], parameters)
    np.testing.assert_allclose(states, [first, second], rtol=1e-15)

    # d h_2 / d x_1: x_1 reaches the first feature only, which reaches both.
    slope, (upper, lower) = 1 - first[0] ** 2, 1 - second**2
    by_first = [[2 * slope * 0.5 * upper, 2 * slope * -1.0 * lower]]
    by_second = [[2 * upper, 0.0]]
    np.testing.assert_allclose(last_state_jacobians(states, parameters), [by_first, by_second], rtol=1e-14)
    found = last_state_influence(states, parameters)
    np.testing.assert_allclose(found.by_word, [np.hypot(*by_first[0]) / 2**0.5, abs(2 * upper) / 2**0.5], rtol=1e-14)
    passed = [[0.5 * upper, -1.0 * lower], [0.0, 0.25 * lower]]
    np.testing.assert_allclose(found.by_state, [np.sqrt(np.square(passed).sum() / 2), 1.0], rtol=1e-14)


@pytest.mark.parametrize("radius", [0.0, 0.9, 1.7])
def test_jacobians_are_those_of_differences_and_of_autograd(x, radius):
    parameters = draw_recurrence(D, radius, 11)
    states = recurrent_states(x, parameters)
    jacobians = last_state_jacobians(states, parameters)
    np.testing.assert_allclose(jacobians, differences(x, parameters), rtol=0, atol=1e-9)
    theirs = torch_reference.recurrent_jacobians(x, parameters, range(D))
    np.testing.assert_allclose(states, theirs["states"], rtol=0, atol=1e-14)
    np.testing.assert_allclose(jacobians, theirs["jacobians"], rtol=0, atol=1e-10)


def test_autograd_agrees_where_the_state_is_wider_than_the_words(x):
    rng = np.random.default_rng(0)
    parameters = RecurrentParameters(rng.normal(size=(D, 11)), 0.3 * rng.normal(size=(11, 11)), rng.normal(size=11))
    states = recurrent_states(x, parameters)
    theirs = torch_reference.recurrent_jacobians(x, parameters, (10, 2))
    np.testing.assert_allclose(last_state_jacobians(states, parameters, (10, 2)), theirs["jacobians"], atol=1e-10)
    assert last_state_jacobians(states, parameters, (10, 2)).shape == (N, D, 2)


def test_influence_is_the_size_of_the_jacobian_of_the_features_asked_for(x):
    parameters = draw_recurrence(D, 1.1)
    states = recurrent_states(x, parameters)
    whole = last_state_jacobians(states, parameters)
    for features in (None, (1,), (4, 0, 3)):
        kept = whole if features is None else whole[..., list(features)]
        by_hand = [np.sqrt((one**2).sum() / one.shape[1]) for one in kept]
        np.testing.assert_allclose(last_state_influence(states, parameters, features).by_word, by_hand, rtol=1e-13)


def test_influence_by_state_is_that_of_a_network_started_there(x):
    """Behind a state, its own history no longer matters: the last state is a function of it and of the later words."""
    parameters = draw_recurrence(D, 1.3)
    states = recurrent_states(x, parameters)
    step, at = 1e-6, 3
    jacobian = np.empty((D, D))
    for feature in range(D):
        ends = []
        for sign in (1, -1):
            state = states[at] + sign * step * np.eye(D)[feature]
            for word in x[at + 1 :]:
                state = np.tanh(word @ parameters.w_x + state @ parameters.w_h + parameters.b)
            ends.append(state)
        jacobian[feature] = (ends[0] - ends[1]) / (2 * step)
    assert last_state_influence(states, parameters).by_state[at] == pytest.approx(size(jacobian), abs=1e-9)


def test_without_recurrence_only_the_last_word_moves_the_state(x):
    parameters = draw_recurrence(D, 0.0)
    found = last_state_influence(recurrent_states(x, parameters), parameters)
    assert not found.by_word[:-1].any()
    assert not found.by_state[:-1].any()
    assert found.by_word[-1] > 0.1
    alone = recurrent_states(x[-1:], parameters)
    np.testing.assert_allclose(recurrent_states(x, parameters)[-1], alone[0], rtol=1e-12)


def test_one_word_is_its_own_last():
    parameters = draw_recurrence(D, 1.5)
    states = recurrent_states(np.ones((1, D)), parameters)
    found = last_state_influence(states, parameters)
    assert found.by_state.tolist() == [1.0]
    by_hand = size(parameters.w_x * (1 - states[0] ** 2))
    assert found.by_word[0] == pytest.approx(by_hand, rel=1e-14)


def test_a_long_way_back_underflows_to_zero_and_never_to_nan():
    parameters = draw_recurrence(3, 0.1)
    states = recurrent_states(np.ones((400, 3)), parameters)
    found = last_state_influence(states, parameters)
    assert found.by_word[0] == found.by_state[0] == 0.0
    assert np.isfinite([found.by_word, found.by_state]).all()
    assert found.by_word[-1] > 0


@given(
    radius=st.floats(0.0, 3.0),
    seed=st.integers(0, 99),
    d_model=st.integers(1, 7),
    n_words=st.integers(1, 9),
)
def test_no_step_multiplies_by_more_than_the_radius(radius, seed, d_model, n_words):
    """All singular values of w_h are the radius, and slopes of tanh are at most 1."""
    parameters = draw_recurrence(d_model, radius, seed)
    x = np.random.default_rng(seed).normal(size=(n_words, d_model))
    found = last_state_influence(recurrent_states(x, parameters), parameters)
    back = np.arange(n_words)[::-1]
    assert (found.by_state <= radius**back * (1 + 1e-9)).all()
    assert (found.by_word <= np.linalg.norm(parameters.w_x, 2) * found.by_state * (1 + 1e-9)).all()


@given(seed=st.integers(0, 99), d_model=st.integers(1, 13), radius=st.floats(0.0, 3.0))
def test_spectral_radius_and_every_singular_value_are_the_radius(seed, d_model, radius):
    w_h = draw_parameters(d_model, radius, np.random.default_rng(seed)).w_h
    np.testing.assert_allclose(np.abs(np.linalg.eigvals(w_h)), radius, rtol=0, atol=1e-12 * max(radius, 1))
    np.testing.assert_allclose(np.linalg.svd(w_h, compute_uv=False), radius, rtol=0, atol=1e-12 * max(radius, 1))


def test_drawn_numbers_have_the_spreads_they_should_and_differ_by_seed():
    parameters = draw_recurrence(401, 1.0, 5)
    assert parameters.w_x.std() * np.sqrt(401) == pytest.approx(0.5, rel=0.01)
    assert parameters.b.std() == pytest.approx(0.1, rel=0.1)
    assert abs(np.trace(parameters.w_h)) < 6, "as many turns one way as the other: the trace stays near 0"
    assert not (draw_recurrence(401, 1.0, 6).w_x == parameters.w_x).any()


def test_golden():
    """Values as first computed, to notice a change of the random stream: links would show other numbers."""
    parameters = draw_recurrence(8, 1.0)
    np.testing.assert_allclose(parameters.w_x[0, :2], [0.00021746244524383182, 0.05281124885536478], rtol=1e-12)
    np.testing.assert_allclose(parameters.w_h[0, :2], [-0.24639297481531797, -0.06923596114477708], rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: draw_recurrence(0, 1.0), "d_model must be at least 1; got 0"),
        (lambda: draw_recurrence(3, -0.5), "radius must be a finite number of at least 0; got -0.5"),
        (lambda: draw_recurrence(3, np.nan), "radius must be a finite number of at least 0; got nan"),
        (lambda: draw_recurrence(3, 1.0, -1), "seed must not be negative; got -1"),
        (lambda: recurrent_states(np.ones((2, 4)), draw_recurrence(3, 1.0)), r"\(position, 3\); got \(2, 4\)"),
        (
            lambda: recurrent_states(
                np.ones((2, 3)), RecurrentParameters(np.ones((3, 2)), np.ones((2, 3)), np.ones(2))
            ),
            r"must have shapes \(2, 2\) and \(2,\); got \(2, 3\) and \(2,\)",
        ),
        (lambda: last_state_influence(np.ones((0, 3)), draw_recurrence(3, 1.0)), r"at least one; got \(0, 3\)"),
        (lambda: last_state_jacobians(np.ones((2, 3)), draw_recurrence(3, 1.0), (3,)), r"from 0 to 2; got \[3\]"),
        (lambda: last_state_influence(np.ones((2, 3)), draw_recurrence(3, 1.0), (-1,)), r"from 0 to 2; got \[-1\]"),
    ],
)
def test_bad_input_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
