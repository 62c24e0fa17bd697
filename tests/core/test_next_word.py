"""A generator that learns a sentence by heart: with the mask training tells the truth, without it training cheats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention import attend
from core.examples import draw_example
from core.masks import causal_mask
from core.next_word import learn_by_heart
from core.positions import sinusoidal_encoding

LESSON = ("Meera", "bought", "a", "new", "bat")


def recital(words, masked, d=4, heads=2, seed=0, head=0):
    example = draw_example(words, d, heads, seed)
    return learn_by_heart(words, example.x, example.w_q[head], example.w_k[head], example.w_v[head], masked, seed)


def test_the_lessons_sentence_is_recited_with_the_mask_and_not_without():
    right, wrong = recital(LESSON, True), recital(LESSON, False)
    assert right.vocabulary == LESSON
    assert right.wanted == right.in_training == right.in_generation == right.recited == (1, 2, 3, 4)
    assert wrong.in_training == (1, 2, 3, 4), "it has seen the answers"
    assert (wrong.training_accuracy, wrong.generation_accuracy) == (1.0, 0.25)
    assert wrong.recited != wrong.wanted


def test_the_weights_are_those_of_words_with_positions_at_a_spread_of_one():
    example = draw_example(LESSON, 4, 2, 0)
    rows = example.x + sinusoidal_encoding(5, 8)
    q, k, v = (rows @ w[1] / (rows @ w[1]).std() for w in (example.w_q, example.w_k, example.w_v))
    for masked, mask in ((False, None), (True, causal_mask(5))):
        found = recital(LESSON, masked, head=1)
        np.testing.assert_allclose(found.weights, attend(q, k, v, mask).weights, rtol=0, atol=1e-13)


def test_longer_sentences_over_many_seeds_fall_when_the_answer_is_not_there():
    words = ("Meera", "put", "the", "bat", "in", "her", "bag", "because", "it", "was", "new")
    found = [recital(words, False, seed=seed) for seed in range(20)]
    training = np.mean([one.training_accuracy for one in found])
    generating = np.mean([one.generation_accuracy for one in found])
    assert training > 0.95
    assert generating < 0.6


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1, max_size=9),
    st.integers(1, 9),
    st.integers(1, 3),
    st.integers(0, 9999),
)
def test_with_the_mask_training_and_generation_always_agree(words, d, heads, seed):
    found = recital(tuple(words), True, d, heads, seed)
    assert found.in_training == found.in_generation
    assert len(found.recited) == len(words) - 1
    if found.training_accuracy == 1:
        assert found.recited == found.wanted, "what is named right word by word is recited as a whole"


def test_what_follows_is_never_looked_at_while_generating():
    """Generation sees prefixes: another last word changes nothing that is named before it."""
    first, second = recital((*LESSON[:4], "bat"), False), recital((*LESSON[:4], "bat"), False)
    assert first.in_generation == second.in_generation
    example = draw_example(LESSON, 4, 2, 0)
    weights = (example.w_q[0], example.w_k[0], example.w_v[0])
    for length in range(2, 6):
        prefix = learn_by_heart(LESSON[:length], example.x[:length], *weights, True)
        assert prefix.wanted == prefix.in_generation


def test_one_word_has_nothing_to_name_and_equal_words_are_always_right():
    for masked in (True, False):
        assert recital(("one",), masked).wanted == ()
        assert recital(("one",), masked).training_accuracy == 0
        assert recital(("la", "la", "la"), masked).generation_accuracy == 1


def test_rows_must_belong_to_words():
    with pytest.raises(ValueError, match="one row a word, 2; got 3"):
        learn_by_heart(("a", "b"), np.zeros((3, 2)), np.eye(2), np.eye(2), np.eye(2), True)
