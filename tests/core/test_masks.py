"""Masks: True = may attend, the diagonal included, either corner."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention.bias import causal_lower_right, causal_upper_left

from core.attention import attend
from core.masks import causal_mask, count_allowed, local_mask, padding_mask, prefix_mask

SIZES = [(1, 1), (3, 3), (2, 5), (5, 2), (7, 11)]


def test_causal_mask_allows_each_word_itself_and_what_came_before():
    allowed = {(int(query), int(key)) for query, key in np.argwhere(causal_mask(3))}
    assert allowed == {(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)}
    assert causal_mask(3).dtype == np.bool_


@pytest.mark.parametrize(("n_query", "n_key"), SIZES)
@pytest.mark.parametrize("align", ["top-left", "bottom-right"])
def test_causal_mask_equals_a_loop(n_query, n_key, align):
    ahead = 0 if align == "top-left" else n_key - n_query
    expected = [[key <= query + ahead for key in range(n_key)] for query in range(n_query)]
    np.testing.assert_array_equal(causal_mask(n_query, n_key, align), expected)


@pytest.mark.parametrize(
    ("align", "expected"),
    [
        pytest.param("top-left", [[1, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0]], id="top-left"),
        pytest.param("bottom-right", [[0.25, 0.25, 0.25, 0.25, 0], [0.2] * 5], id="bottom-right"),
    ],
)
def test_causal_mask_of_two_queries_and_five_keys_gives_known_weights(align, expected):
    found = attend(np.zeros((2, 3)), np.zeros((5, 3)), np.eye(5), causal_mask(2, 5, align))
    np.testing.assert_allclose(found.weights, expected, rtol=1e-15)


@pytest.mark.parametrize(("n_query", "n_key"), [(2, 5), (7, 11), (3, 3)])
@pytest.mark.parametrize(
    ("align", "theirs"),
    [("top-left", causal_upper_left), ("bottom-right", causal_lower_right)],
    ids=["top-left", "bottom-right"],
)
def test_causal_mask_equals_pytorchs_of_the_same_corner(n_query, n_key, align, theirs):
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(n_query, 3)), rng.normal(size=(n_key, 3)), np.eye(n_key)  # output = weights
    expected = functional.scaled_dot_product_attention(
        *(torch.from_numpy(array)[None, None] for array in (q, k, v)), attn_mask=theirs(n_query, n_key)
    )
    np.testing.assert_allclose(attend(q, k, v, causal_mask(n_query, n_key, align)).weights, expected[0, 0], atol=1e-14)


def test_causal_mask_must_be_turned_round_for_multihead_attention():
    module = nn.MultiheadAttention(4, 1, dropout=0.0, batch_first=True, dtype=torch.float64).eval()
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(1, 3, 4)))
    may_attend = torch.from_numpy(causal_mask(3))
    turned = module(x, x, x, attn_mask=~may_attend)[1].detach()[0]
    np.testing.assert_array_equal(turned.numpy() > 0, causal_mask(3))
    as_it_is = module(x, x, x, attn_mask=may_attend)[1].detach()[0]  # there True = blocked
    assert as_it_is[2].isnan().all()


def test_causal_mask_of_more_queries_than_keys_leaves_the_first_queries_nothing():
    found = attend(np.zeros((3, 2)), np.zeros((2, 2)), np.ones((2, 2)), causal_mask(3, 2, "bottom-right"))
    np.testing.assert_array_equal(found.weights, [[0, 0], [1, 0], [0.5, 0.5]])


def test_causal_mask_of_nothing_is_empty():
    assert causal_mask(0).shape == (0, 0)
    assert causal_mask(0, 3).shape == (0, 3)
    assert causal_mask(3, 0).shape == (3, 0)


@pytest.mark.parametrize("sizes", [(-1, 2), (2, -1)])
def test_causal_mask_refuses_a_negative_number(sizes):
    with pytest.raises(ValueError, match=f"must not be negative; got {sizes[0]} and {sizes[1]}"):
        causal_mask(*sizes)


def test_causal_mask_refuses_another_corner():
    with pytest.raises(ValueError, match="'top-left' or 'bottom-right'; got 'middle'"):
        causal_mask(2, 3, "middle")


@pytest.mark.parametrize(("n", "pairs"), [(1, 1), (5, 15), (100, 5050)])
def test_count_allowed_counts_the_diagonal(n, pairs):
    assert count_allowed(causal_mask(n)) == pairs == n * (n + 1) // 2


def test_count_allowed_counts_all_leading_axes():
    assert count_allowed(np.broadcast_to(causal_mask(3), (2, 5, 3, 3))) == 60


def test_count_allowed_refuses_numbers():
    with pytest.raises(ValueError, match="must be boolean; got int64"):
        count_allowed(np.ones((2, 2), dtype=np.int64))


@pytest.mark.parametrize(
    ("make", "sizes"),
    [(local_mask, "n_query, n_key and width"), (padding_mask, "n_query, n_key and n_padding")],
)
def test_negative_sizes_of_a_window_or_of_padding_are_refused(make, sizes):
    for given in ((-1, 2, 3), (2, -1, 3), (2, 3, -1)):
        with pytest.raises(
            ValueError, match=f"{sizes} must not be negative; got {given[0]}, {given[1]} and {given[2]}"
        ):
            make(*given)


def test_a_negative_prefix_is_refused():
    with pytest.raises(ValueError, match="n_prefix must not be negative; got -1"):
        prefix_mask(3, 3, -1)


def test_padded_words_count_as_little_as_absent_ones():
    rng = np.random.default_rng(41)
    q, k, v = rng.normal(size=(5, 3)), rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    padded = attend(q, k, v, padding_mask(5, 7, 2)).output
    np.testing.assert_allclose(padded, attend(q, k[:5], v[:5]).output, rtol=1e-12)
