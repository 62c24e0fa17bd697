"""Mistakes on purpose: the shape is right, the numbers are wrong, and how wrong they are is known."""

import numpy as np
import pytest

from core.mistakes import split_heads_by_reshape_alone
from core.multi_head import split_heads


def test_a_bare_reshape_deals_pieces_of_several_words_to_one_head():
    x = np.arange(3 * 10.0).reshape(3, 10)
    wrong = split_heads_by_reshape_alone(x, 5)
    assert wrong.shape == split_heads(x, 5).shape == (5, 3, 2)
    assert wrong[0].tolist() == [[0, 1], [2, 3], [4, 5]]  # all of word 0, where each word's first pair belongs
    assert split_heads(x, 5)[0].tolist() == [[0, 1], [10, 11], [20, 21]]


@pytest.mark.parametrize(("shape", "n_heads"), [((7, 5), 1), ((1, 15), 3)])
def test_it_is_no_mistake_with_one_head_or_one_word(shape, n_heads):
    x = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(split_heads_by_reshape_alone(x, n_heads), split_heads(x, n_heads))


@pytest.mark.parametrize(
    ("shape", "n_heads", "said"), [((3, 10), 4, "multiple of n_heads; got 10 and 4"), ((10,), 2, r"got shape \(10,\)")]
)
def test_what_cannot_be_split_is_refused(shape, n_heads, said):
    with pytest.raises(ValueError, match=said):
        split_heads_by_reshape_alone(np.zeros(shape), n_heads)
