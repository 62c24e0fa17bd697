"""The cost formula against counting pair by pair, and the growth that it is there to show."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cost import attention_cost
from core.masks import causal_mask, count_allowed


def count_pair_by_pair(seq_len, d_head, n_heads, batch, causal):
    """Multiply-adds of q kᵀ and of weights · v, one at a time for each pair."""
    multiply_adds = 0
    for _ in range(batch * n_heads):
        for query in range(seq_len):
            for key in range(seq_len):
                if key <= query or not causal:
                    multiply_adds += d_head + d_head
    return multiply_adds


@given(st.integers(1, 13), st.integers(1, 11), st.integers(1, 5), st.integers(1, 3), st.booleans())
def test_cost_equals_a_loop_over_pairs(seq_len, d_head, n_heads, batch, causal):
    cost = attention_cost(seq_len, n_heads * d_head, n_heads, batch, causal=causal)
    assert cost.multiply_adds == count_pair_by_pair(seq_len, d_head, n_heads, batch, causal)
    assert cost.flops == 2 * cost.multiply_adds


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 3), st.sampled_from([1, 2, 4, 8]), st.booleans())
def test_weights_fill_a_number_for_every_pair_of_every_head(seq_len, n_heads, batch, bytes_per_number, causal):
    cost = attention_cost(seq_len, n_heads * 7, n_heads, batch, bytes_per_number, causal)
    pairs = sum(1 for _ in range(batch * n_heads) for _ in range(seq_len) for _ in range(seq_len))
    assert cost.weight_bytes == pairs * bytes_per_number


@pytest.mark.parametrize(
    ("sizes", "flops"),
    [
        pytest.param((1024, 16 * 64, 16, 64), 274_877_906_944, id="published, 16 heads and batch 64"),
        pytest.param((1024, 768, 12, 1), 3_221_225_472, id="GPT-2 small"),
        pytest.param((512, 768, 12, 1), 805_306_368, id="a tenth of a whole block"),
        pytest.param((1, 1, 1, 1), 4, id="one word"),
    ],
)
def test_flops_equal_known_counts(sizes, flops):
    cost = attention_cost(*sizes)
    assert cost.flops == flops == 2 * cost.multiply_adds


@pytest.mark.parametrize(("seq_len", "pairs"), [(1, 1), (5, 15), (100, 5050)])
def test_causal_work_counts_the_diagonal(seq_len, pairs):
    assert attention_cost(seq_len, 1, 1, causal=True).multiply_adds == 2 * pairs
    assert count_allowed(causal_mask(seq_len)) == pairs


def test_causal_mask_saves_work_but_no_memory():
    full, causal = (attention_cost(7, 6, 3, causal=causal) for causal in (False, True))
    assert (causal.flops, full.flops) == (4 * 28 * 6, 4 * 49 * 6)
    assert causal.weight_bytes == full.weight_bytes


def test_twice_the_words_cost_four_times_as_much():
    short, long = (attention_cost(seq_len, 768, 12) for seq_len in (1024, 2048))
    assert long.flops == 4 * short.flops
    assert (short.weight_bytes, long.weight_bytes) == (50_331_648, 201_326_592)


def test_twice_the_width_costs_twice_the_work_and_the_same_memory():
    narrow, wide = (attention_cost(1024, d_model, 12) for d_model in (768, 1536))
    assert wide.flops == 2 * narrow.flops
    assert wide.weight_bytes == narrow.weight_bytes


def test_more_heads_cost_the_same_work_and_more_memory():
    few, many = (attention_cost(11, 12, n_heads) for n_heads in (2, 6))
    assert many.flops == few.flops
    assert many.weight_bytes == 3 * few.weight_bytes


def test_cost_of_a_book_is_computed_and_not_allocated():
    tracemalloc.start()
    cost = attention_cost(100_000, 768, 12)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert cost.weight_bytes == 480_000_000_000
    assert peak < 100_000


@pytest.mark.parametrize("name", ["seq_len", "d_model", "n_heads", "batch", "bytes_per_number"])
def test_a_size_below_one_is_refused_by_name(name):
    sizes = {"seq_len": 5, "d_model": 4, "n_heads": 2, "batch": 1, "bytes_per_number": 4} | {name: 0}
    with pytest.raises(ValueError, match=f"sizes must be at least 1; got .*{name}=0"):
        attention_cost(**sizes)


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match="d_model must be a multiple of n_heads; got 10 and 3"):
        attention_cost(5, 10, 3)
