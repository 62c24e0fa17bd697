"""How far a word is heard: against walks through layers one word at a time, and what a window and a triangle allow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.encoder_block import draw_parameters, encoder_block
from core.masks import causal_mask, local_mask
from core.reach import reach, reach_across


def walk(mask, n_layers):
    """Sets of what each position has heard, layer by layer."""
    heard = [{place} for place in range(len(mask))]
    for _ in range(n_layers):
        heard = [heard[query].union(*(heard[key] for key in np.flatnonzero(row))) for query, row in enumerate(mask)]
        yield heard


@st.composite
def masks(draw, n_rows=None, n_columns=None):
    """Of a shape, or square and of any size."""
    n_rows = n_rows or draw(st.integers(1, 7))
    n_columns = n_columns or n_rows
    cells = draw(st.lists(st.booleans(), min_size=n_rows * n_columns, max_size=n_rows * n_columns))
    return np.array(cells, dtype=bool).reshape(n_rows, n_columns)


@given(masks(), st.integers(1, 5))
def test_equals_a_walk_from_word_to_word(mask, n_layers):
    found = reach(mask, n_layers)
    assert found.shape == (n_layers, *mask.shape)
    for layer, heard in enumerate(walk(mask, n_layers)):
        assert [set(np.flatnonzero(row)) for row in found[layer]] == heard


@given(st.data(), st.integers(1, 4))
def test_across_equals_a_walk_through_encoder_and_decoder(data, n_layers):
    encoder, decoder = data.draw(masks()), data.draw(masks())
    cross = data.draw(masks(len(decoder), len(encoder)))
    *_, of_source = walk(encoder, n_layers)
    heard = [set() for _ in decoder]
    for found in reach_across(encoder, decoder, cross, n_layers):
        after_own = [heard[q].union(*(heard[k] for k in np.flatnonzero(row))) for q, row in enumerate(decoder)]
        heard = [after_own[q].union(*(of_source[k] for k in np.flatnonzero(row))) for q, row in enumerate(cross)]
        assert [set(np.flatnonzero(row)) for row in found] == heard


@pytest.mark.parametrize("width", [0, 1, 2, 3])
def test_a_window_grows_by_its_width_with_every_layer(width):
    found = reach(local_mask(13, 13, width), 5)
    for layer in range(5):
        np.testing.assert_array_equal(found[layer], local_mask(13, 13, width * (layer + 1)))


def test_a_decoder_stays_one_way_however_deep():
    np.testing.assert_array_equal(reach(causal_mask(7), 5), [causal_mask(7)] * 5)


def test_a_word_that_may_look_at_nothing_keeps_itself_by_the_skip_connection():
    np.testing.assert_array_equal(reach(np.zeros((3, 3), dtype=bool), 2), [np.eye(3, dtype=bool)] * 2)


def test_more_layers_never_hear_less():
    mask = np.random.default_rng(29).random((11, 11)) < 0.1
    found = reach(mask, 7)
    assert (found[1:] >= found[:-1]).all()
    assert found[0].sum() < found[-1].sum(), "this mask needs several layers"


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_numbers_move_exactly_where_the_reach_says(n_layers):
    """Real blocks with real numbers: another word at one position changes the rows that can hear it, and no other."""
    rng = np.random.default_rng(31)
    n, d_model = 7, 6
    mask = local_mask(n, n, 1, causal=True)
    mask[5, 0] = True
    parameters = [draw_parameters(d_model, 3, 5, rng) for _ in range(n_layers)]

    def through(x):
        for layer in parameters:
            x = encoder_block(x, layer, 3, may_attend=mask).output
        return x

    x = rng.normal(size=(n, d_model))
    before, allowed = through(x), reach(mask, n_layers)[-1]
    for position in range(n):
        changed = x.copy()
        changed[position] = rng.normal(size=d_model)
        np.testing.assert_array_equal((through(changed) != before).any(axis=1), allowed[:, position])


def test_what_does_not_fit_is_refused():
    square, wide = np.ones((3, 3), dtype=bool), np.ones((2, 3), dtype=bool)
    with pytest.raises(ValueError, match=r"square and boolean; got \(2, 3\) of bool"):
        reach(wide, 1)
    with pytest.raises(ValueError, match=r"square and boolean; got \(3, 3\) of float64"):
        reach(np.ones((3, 3)), 1)
    with pytest.raises(ValueError, match="n_layers must be at least 1; got 0"):
        reach(square, 0)
    with pytest.raises(ValueError, match=r"cross must be boolean of shape \(2, 3\); got \(3, 2\)"):
        reach_across(square, np.ones((2, 2), dtype=bool), wide.T, 1)
