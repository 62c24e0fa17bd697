"""A plain recurrent network: one state, written over at every word, and what is left of each word at the end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.softmax import Floats

INPUT_SPREAD = 0.5
"""Standard deviation of what a word adds to one feature of the state, for words of standard normal features."""

BIAS_SPREAD = 0.1


@dataclass(frozen=True, slots=True)
class RecurrentParameters:
    """What a recurrent layer learns; here it is drawn."""

    w_x: Floats
    """(d_model, d_state): from a word to the state, used as x @ w_x."""
    w_h: Floats
    """(d_state, d_state): from the state before, used as h @ w_h."""
    b: Floats
    """(d_state,)."""


def draw_parameters(d_model: int, radius: float, rng: np.random.Generator) -> RecurrentParameters:
    """Random parameters whose recurrent matrix has a spectral radius of one's choice.

    Parameters
    ----------
    d_model : int
        Width of a word and of the state.
    radius : float
        Spectral radius of w_h, not negative; 0 cuts every state off from the one before.
    rng : numpy.random.Generator
        Draws the same numbers whatever the radius.

    Returns
    -------
    RecurrentParameters
        w_h is an orthogonal matrix times the radius, so that all its singular values are the radius too: no
        direction of the state is favoured or lost by w_h alone, which is the kindest a fixed size allows.

    Raises
    ------
    ValueError
        d_model is below 1, or the radius is negative or not finite.

    Notes
    -----
    Orthogonal matrices by QR of a normal one with the signs of R's diagonal taken out (Mezzadri 2007), the initial
    values of Saxe et al. 2014. w_x is normal(0, 0.5 / sqrt(d_model)), b normal(0, 0.1).

    Examples
    --------
    >>> w_h = draw_parameters(3, 0.5, np.random.default_rng(0)).w_h
    >>> bool(np.allclose(w_h @ w_h.T, 0.25 * np.eye(3))), np.abs(np.linalg.eigvals(w_h)).round(12).tolist()
    (True, [0.5, 0.5, 0.5])
    """
    if d_model < 1:
        raise ValueError(f"d_model must be at least 1; got {d_model}")
    if not 0 <= radius < np.inf:
        raise ValueError(f"radius must be a finite number of at least 0; got {radius}")
    w_x = rng.normal(0.0, INPUT_SPREAD / np.sqrt(d_model), (d_model, d_model))
    orthogonal, upper = np.linalg.qr(rng.normal(size=(d_model, d_model)))
    b = rng.normal(0.0, BIAS_SPREAD, d_model)
    return RecurrentParameters(w_x, radius * orthogonal * np.sign(np.diag(upper)), b)


def recurrent_states(x: ArrayLike, parameters: RecurrentParameters) -> Floats:
    """The state after each word.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        One row a word.
    parameters : RecurrentParameters
        Of the layer.

    Returns
    -------
    ndarray of shape (position, d_state)
        From -1 to 1, no unit.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    h_t = tanh(x_t w_x + h_(t-1) w_h + b) with h_0 = 0 (Elman 1990), as in PyTorch's ``nn.RNN``. A loop on purpose:
    no state can be computed before the one in front of it.

    Examples
    --------
    >>> one = RecurrentParameters(np.ones((1, 1)), np.ones((1, 1)), np.zeros(1))
    >>> recurrent_states([[0.5], [0.0]], one).round(4).ravel().tolist()
    [0.4621, 0.4318]
    """
    rows, w_h = np.asarray(x, dtype=np.float64), parameters.w_h
    d_model, d_state = parameters.w_x.shape
    if rows.ndim != 2 or rows.shape[1] != d_model:
        raise ValueError(f"x must have shape (position, {d_model}); got {rows.shape}")
    if w_h.shape != (d_state, d_state) or parameters.b.shape != (d_state,):
        wanted = f"({d_state}, {d_state}) and ({d_state},)"
        raise ValueError(f"w_h and b must have shapes {wanted}; got {w_h.shape} and {parameters.b.shape}")
    from_words = rows @ parameters.w_x + parameters.b
    states = np.empty_like(from_words)
    state = np.zeros(d_state)
    for position, given in enumerate(from_words):
        state = np.tanh(given + state @ w_h)
        states[position] = state
    return states


def size(jacobian: Floats) -> float:
    """Size of a Jacobian: how far one feature of its result moves, whatever the number of features.

    Parameters
    ----------
    jacobian : ndarray of shape (d_in, feature)
        Derivative of each feature by each number it depends on.

    Returns
    -------
    float
        Root mean square, over the features, of the length of each one's gradient: the Frobenius norm divided by the
        root of the number of features. 1 for an identity.

    Examples
    --------
    >>> size(np.eye(5)), size(np.array([[3.0], [4.0]]))
    (1.0, 5.0)
    """
    return float(np.linalg.norm(jacobian) / np.sqrt(jacobian.shape[1]))


@dataclass(frozen=True, slots=True)
class LastState:
    """How much the last state still depends on what came before it; sizes as in `size`."""

    by_state: Floats
    """(position,): by each state. The last entry is 1, the derivative of the last state by itself."""
    by_word: Floats
    """(position,): by each word; 0 where the product is smaller than the smallest double, or a factor is 0."""


def last_state_influence(
    states: Floats, parameters: RecurrentParameters, features: Sequence[int] | None = None
) -> LastState:
    """How much each word and each state still moves the last state.

    Parameters
    ----------
    states : ndarray of shape (position, d_state)
        From `recurrent_states`; at least one.
    parameters : RecurrentParameters
        The same.
    features : sequence of int or None
        Features of the last state that are looked at; None for all.

    Returns
    -------
    LastState
        Sizes of the exact Jacobians, positions in the order of the sentence.

    Raises
    ------
    ValueError
        There is no state, or a feature does not exist.

    Examples
    --------
    >>> one = RecurrentParameters(np.full((1, 1), 3.0), np.full((1, 1), 0.5), np.zeros(1))
    >>> found = last_state_influence(recurrent_states([[0.0], [0.0], [0.0]], one), one)
    >>> found.by_state.tolist(), found.by_word.tolist()
    ([0.25, 0.5, 1.0], [0.75, 1.5, 3.0])
    """
    by_state, by_word = np.zeros(len(states)), np.zeros(len(states))
    for position, slopes, carried in _carried_back(states, parameters.w_h, features):
        by_state[position], by_word[position] = size(carried), size(parameters.w_x @ (slopes * carried))
    return LastState(by_state, by_word)


def last_state_jacobians(
    states: Floats, parameters: RecurrentParameters, features: Sequence[int] | None = None
) -> Floats:
    """Derivative of the last state by every word.

    Parameters
    ----------
    states, parameters, features
        As in `last_state_influence`.

    Returns
    -------
    ndarray of shape (position, d_model, feature)
        Entry (t, i, j): how feature j of the last state moves with feature i of word t.

    Raises
    ------
    ValueError
        As in `last_state_influence`.

    Notes
    -----
    dh_n/dx_t = w_x D_t w_h D_(t+1) ... w_h D_n with D_t = diag(1 - h_t²), the slopes of tanh: one more factor for
    every word between (Pascanu, Mikolov, Bengio 2013, equation 5). Taken from the last state back, so that each
    costs one more product and not a chain of its own.

    Examples
    --------
    >>> one = RecurrentParameters(np.full((1, 1), 3.0), np.full((1, 1), 0.5), np.zeros(1))
    >>> last_state_jacobians(recurrent_states([[0.0], [0.0]], one), one).ravel().tolist()
    [1.5, 3.0]
    """
    back = [
        parameters.w_x @ (slopes * carried) for _, slopes, carried in _carried_back(states, parameters.w_h, features)
    ]
    return np.stack(back[::-1])


def _carried_back(states: Floats, w_h: Floats, features: Sequence[int] | None) -> Iterator[tuple[int, Floats, Floats]]:
    """From the last state to the first: position, slopes of tanh as a column, derivative of the last state by this."""
    if states.ndim != 2 or not len(states):
        raise ValueError(f"states must have shape (position, d_state) with at least one; got {states.shape}")
    d_state = states.shape[1]
    chosen = list(range(d_state)) if features is None else list(features)
    if any(not 0 <= feature < d_state for feature in chosen):
        raise ValueError(f"features must be from 0 to {d_state - 1}; got {chosen}")
    carried = np.eye(d_state)[:, chosen]
    for position in range(len(states) - 1, -1, -1):
        slopes = (1.0 - states[position] ** 2)[:, None]
        yield position, slopes, carried
        carried = w_h @ (slopes * carried)
