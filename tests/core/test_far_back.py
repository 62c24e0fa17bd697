"""Recurrence against attention by the length of a sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attention_jacobian import ask_last, last_output_influence
from core.examples import draw_example, draw_recurrence
from core.far_back import (
    LENGTHS,
    at_usual_size,
    by_length,
    first_below,
    measured_features,
    relative,
    stretched,
)
from core.recurrence import last_state_influence, recurrent_states

WORDS = ("dog", "bites", "man")


@pytest.mark.parametrize("features", [None, (4, 0)])
@pytest.mark.parametrize("words", [WORDS, ("dog",), (*WORDS, "and", "runs")])
def test_each_length_is_a_sentence_of_its_own(words, features):
    """Against the slow way: every sentence run and looked back through alone."""
    example, network = draw_example(words, 5, 1, 3), draw_recurrence(5, 1.1, 3)
    lengths = (1, 2, 3, 7, 7, 29)
    found = by_length(example, network, lengths, features)
    for row, length in enumerate(lengths):
        x = example.x[stretched(len(words), length)]
        slow = last_state_influence(recurrent_states(x, network), network, features).by_word
        np.testing.assert_allclose(found.recurrent[row], slow[[0, -1]], rtol=1e-12)
        slow = last_output_influence(ask_last(x, example.w_q, example.w_k, example.w_v), features)
        np.testing.assert_allclose(found.attention[row], slow[[0, -1]], rtol=1e-12)


def test_lengths_may_come_in_any_order_or_not_at_all():
    example, network = draw_example(WORDS, 5, 1), draw_recurrence(5, 0.9)
    rising, falling = by_length(example, network, (2, 11)), by_length(example, network, (11, 2))
    np.testing.assert_allclose(rising.recurrent, falling.recurrent[::-1], rtol=1e-12)
    assert by_length(example, network, ()).recurrent.shape == (0, 2)


def test_recurrence_loses_the_first_word_and_attention_shares_it_out():
    """The page's claim at the lesson's values: a factor at every word against 1/n."""
    words = ("Meera", "put", "the", "bat", "in", "her", "bag", "because", "it", "was", "new")
    found = by_length(at_usual_size(draw_example(words)), draw_recurrence(8, 1.0))
    recurrent, attention = relative(found.recurrent)[:, 0], relative(found.attention)[:, 0]
    assert first_below(LENGTHS, recurrent, 0.01) == 32
    assert recurrent[-1] < 1e-50
    assert 0.001 < attention[-1] < 0.01
    np.testing.assert_allclose(attention[-3:-1] / attention[-2:], 2.0, rtol=0.05)
    np.testing.assert_allclose(np.log(recurrent[6:8]) / np.log(recurrent[5:7]), 2.0, rtol=0.15)


def test_a_wide_network_beyond_radius_one_point_five_grows():
    example, network = draw_example(WORDS, 16, 4), draw_recurrence(64, 2.0)
    found = relative(by_length(example, network, (2, 64), (0, 20, 40)).recurrent)[:, 0]
    assert found[1] > 10 * found[0]
    assert np.isfinite(found).all()


@given(n_words=st.integers(1, 64), length=st.integers(2, 512))
def test_first_and_last_word_stay_and_those_between_come_in_their_order(n_words, length):
    places = stretched(n_words, length).tolist()
    assert len(places) == length
    assert places[-1] == n_words - 1
    assert places[:-1] == [place % n_words for place in range(length - 1)]


def test_the_sentence_itself_is_one_of_the_lengths():
    assert stretched(11, 11).tolist() == list(range(11))
    assert stretched(1, 1).tolist() == [0]
    with pytest.raises(ValueError, match="at least 1; got 0 and 5"):
        stretched(0, 5)


@given(d_head=st.integers(1, 64), n_heads=st.integers(1, 12))
def test_measured_features_are_all_of_them_or_as_many_of_every_head(d_head, n_heads):
    features, d_model = measured_features(d_head, n_heads), d_head * n_heads
    assert list(features) == sorted(set(features))
    assert 0 <= features[0] <= features[-1] < d_model
    if d_model <= 64:
        assert len(features) == d_model
    else:
        assert 12 <= len(features) < 12 + n_heads
        counts = np.bincount(np.array(features) // d_head, minlength=n_heads)
        assert len(set(counts.tolist())) == 1


def test_a_dozen_features_tell_what_all_do():
    """The estimate for wide models, against all features of one that is wide but can be done in full."""
    example, network = at_usual_size(draw_example(WORDS * 3, 32, 4)), draw_recurrence(128, 1.0)
    states = recurrent_states(example.x, network)
    whole, part = (last_state_influence(states, network, f).by_word for f in (None, measured_features(32, 4)))
    np.testing.assert_allclose(part, whole, rtol=0.25)
    asked = ask_last(example.x, example.w_q, example.w_k, example.w_v)
    few = last_output_influence(asked, measured_features(32, 4))
    np.testing.assert_allclose(few, last_output_influence(asked), rtol=0.25)
    assert (part != whole).all()


def test_usual_size_keeps_the_spread_of_the_words():
    example = draw_example(tuple(map(str, range(64))), 32, 8)
    layer = at_usual_size(example)
    assert (layer.x == example.x).all()
    for w in (layer.w_q, layer.w_k, layer.w_v):
        assert w.std() == pytest.approx(1 / 16, rel=0.02)
        assert (layer.x @ w).std() == pytest.approx(1.0, rel=0.1)


def test_relative_and_first_below():
    assert relative([[1.0, 4.0], [3.0, 2.0]]).tolist() == [[0.25, 1.0], [1.5, 1.0]]
    assert relative([5.0, 0.0]).tolist() == [0.0, 0.0]
    assert first_below((2, 4, 8, 16), [0.5, 0.001, 0.3, 0.001], 0.01) == 16, "for good"
    assert first_below((2, 4), [0.001, 0.002], 0.01) == 2
    assert first_below((2, 4), [0.5, 0.01], 0.01) is None, "the limit itself is not below"
    assert first_below((), [], 0.01) is None
