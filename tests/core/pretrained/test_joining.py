"""Pieces joined to words, and attention without the ends."""

import numpy as np
import pytest

from core.pretrained.joining import join_words, leave_out_ends

WORD_OF = [0, 1, 1, 2, 3, 3, 3, 4]


@pytest.fixture
def weights():
    rows = np.random.default_rng(5).random((2, 3, 8, 8))
    return rows / rows.sum(axis=-1, keepdims=True)


def test_columns_are_added_and_rows_averaged(weights):
    joined = join_words(weights, WORD_OF)
    assert joined.shape == (2, 3, 5, 5)
    for query in range(5):
        for key in range(5):
            rows = [place for place, word in enumerate(WORD_OF) if word == query]
            columns = [place for place, word in enumerate(WORD_OF) if word == key]
            total = sum(weights[:, :, row, column] for row in rows for column in columns)
            np.testing.assert_allclose(joined[:, :, query, key], total / len(rows))
    np.testing.assert_allclose(joined.sum(axis=-1), 1.0)


def test_words_of_one_piece_each_stay_as_they_are(weights):
    np.testing.assert_allclose(join_words(weights, range(8)), weights)


def test_another_number_of_pieces_is_refused(weights):
    with pytest.raises(ValueError, match=r"of 3 pieces; got shape \(2, 3, 8, 8\)"):
        join_words(weights, [0, 1, 2])


def test_rows_without_the_ends_sum_to_one_in_the_old_proportions(weights):
    between = leave_out_ends(weights)
    assert between.shape == (2, 3, 6, 6)
    np.testing.assert_allclose(between.sum(axis=-1), 1.0)
    np.testing.assert_allclose(between[0, 1, 2, 3] / between[0, 1, 2, 4], weights[0, 1, 3, 4] / weights[0, 1, 3, 5])


def test_a_row_that_looks_at_the_ends_only_is_zeros():
    assert leave_out_ends(np.eye(4)[[0, 3, 1, 3]]).tolist() == [[0, 0], [1, 0]]


def test_nothing_between_two_ends_is_nothing():
    assert leave_out_ends(np.full((3, 2, 2), 0.5)).shape == (3, 0, 0)


def test_a_single_position_is_refused():
    with pytest.raises(ValueError, match=r"two or more of each; got shape \(1, 1\)"):
        leave_out_ends([[1.0]])
