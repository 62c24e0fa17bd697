"""The cost formulas against counting one by one and PyTorch's own counter, and the growth that they show."""

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from core.cost import PART_NAMES, SOFTMAX_OPERATIONS, attention_cost, block_cost, crossovers, human
from core.encoder_block import draw_parameters
from core.masks import causal_mask, count_allowed
from core.torch_reference import encoder_layer


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


# The whole block, part by part


def count_by_loops(n, d_model, n_heads, d_ff, batch):
    """Multiply-adds of each part, one product of two numbers at a time."""
    counts = dict.fromkeys(PART_NAMES, 0)
    for _ in range(batch):
        for _ in range(n):
            counts["Q, K, V"] += sum(d_model for _ in range(3 * d_model))
            counts["W_o"] += sum(d_model for _ in range(d_model))
            counts["feed-forward"] += sum(d_model for _ in range(d_ff)) + sum(d_ff for _ in range(d_model))
            for _ in range(n):
                for _ in range(n_heads):
                    counts["q kᵀ"] += d_model // n_heads
                    counts["weights · V"] += d_model // n_heads
    return counts


@given(st.integers(1, 7), st.integers(1, 5), st.integers(1, 3), st.integers(1, 11), st.integers(1, 3))
def test_each_part_equals_a_loop_over_its_products(n, d_head, n_heads, d_ff, batch):
    cost = block_cost(n, n_heads * d_head, n_heads, d_ff, batch)
    assert {part.name: part.multiply_adds for part in cost.parts} == count_by_loops(
        n, n_heads * d_head, n_heads, d_ff, batch
    )
    for part in cost.parts:
        assert part.flops == (
            SOFTMAX_OPERATIONS * batch * n_heads * n**2 if part.name == "softmax" else 2 * part.multiply_adds
        )


def flops_by_torch(n, d_model, n_heads, d_ff, batch, **options):
    """What PyTorch's counter counts of its own encoder layer, with attention written out in products that it knows."""
    parameters = draw_parameters(d_model, n_heads, d_ff, np.random.default_rng(0))
    layer = encoder_layer(parameters, n_heads)
    x = torch.zeros(batch, n, d_model, dtype=torch.float64)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(x, **options)
    return counter.get_total_flops(), counter.get_flop_counts()["Global"]


@pytest.mark.parametrize("sizes", [(7, 24, 3, 96, 1), (11, 10, 5, 13, 2), (1, 3, 1, 5, 1)])
def test_all_but_the_softmax_equals_pytorchs_own_counter(sizes):
    total, by_operation = flops_by_torch(*sizes)
    cost = block_cost(*sizes)
    assert total == cost.flops - cost.part("softmax").flops
    pairs = cost.part("q kᵀ").flops + cost.part("weights · V").flops
    assert by_operation[torch.ops.aten.bmm] == pairs
    assert total - pairs == sum(cost.part(name).flops for name in ("Q, K, V", "W_o", "feed-forward"))


def test_pytorchs_plain_formula_computes_all_pairs_under_a_causal_mask_too():
    sizes = 7, 24, 3, 96, 1
    mask = torch.triu(torch.ones(7, 7, dtype=torch.bool), 1)
    total, _ = flops_by_torch(*sizes, src_mask=mask, is_causal=True)
    cost = block_cost(*sizes, causal=True)
    assert total == cost.flops - cost.part("softmax").flops
    assert cost.needed_flops < cost.flops


def test_pytorchs_counter_does_not_see_its_own_fused_function_on_a_processor():
    q = torch.zeros(1, 1, 5, 3)
    with FlopCounterMode(display=False) as counter:
        torch.nn.functional.scaled_dot_product_attention(q, q, q)
    assert counter.get_total_flops() == 0, "the page says so"


def test_known_totals_of_a_block():
    cost = block_cost(1024, 768, 12, 3072)
    assert cost.part("Q, K, V").flops + cost.part("W_o").flops == 4_831_838_208
    assert cost.part("feed-forward").flops == 9_663_676_416
    assert cost.part("q kᵀ").flops + cost.part("weights · V").flops == 3_221_225_472
    assert cost.flops - cost.part("softmax").flops == 17_716_740_096
    assert cost.part("softmax").result_bytes == 50_331_648


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 4), st.integers(1, 50), st.booleans())
def test_totals_are_sums_and_the_mask_halves_only_what_is_needed_of_the_pairs(n, d_head, n_heads, d_ff, causal):
    cost = block_cost(n, n_heads * d_head, n_heads, d_ff, 2, 8, causal)
    for name in ("flops", "multiply_adds", "needed_flops", "result_bytes"):
        assert getattr(cost, name) == sum(getattr(part, name) for part in cost.parts)
    for part in cost.parts:
        halved = causal and part.quadratic
        assert part.needed_flops * (2 * n if halved else 1) == part.flops * (n + 1 if halved else 1)


def test_bytes_are_those_of_the_arrays_themselves():
    n, d_model, n_heads, d_ff, batch = 7, 6, 3, 11, 2
    x = np.zeros((batch, n, d_model), np.float32)
    weights = np.zeros((batch, n_heads, n, n), np.float32)
    expected = {
        "Q, K, V": 3 * x.nbytes,
        "q kᵀ": weights.nbytes,
        "softmax": weights.nbytes,
        "weights · V": x.nbytes,
        "W_o": x.nbytes,
        "feed-forward": np.zeros((batch, n, d_ff), np.float32).nbytes + x.nbytes,
    }
    assert {part.name: part.result_bytes for part in block_cost(n, d_model, n_heads, d_ff, batch).parts} == expected


def test_twice_the_length_costs_pairs_four_times_and_the_rest_twice():
    once, twice = (block_cost(n, 20, 5, 33, 3) for n in (13, 26))
    for part, double in zip(once.parts, twice.parts, strict=True):
        assert double.flops == (4 if part.quadratic else 2) * part.flops
        assert double.result_bytes == (4 if part.name in ("q kᵀ", "softmax") else 2) * part.result_bytes


@given(st.integers(1, 30), st.integers(1, 90), st.booleans())
def test_the_square_overtakes_exactly_where_it_is_said_to(d_model, d_ff, causal):
    places = crossovers(d_model, d_ff, causal)

    def ahead(n, others):
        cost = block_cost(n, d_model, 1, d_ff, causal=causal)
        pairs = cost.part("q kᵀ").needed_flops + cost.part("weights · V").needed_flops
        return pairs >= sum(cost.part(name).flops for name in others)

    for place, others in (
        (places.projections, ("Q, K, V", "W_o")),
        (places.block, ("Q, K, V", "W_o", "feed-forward")),
    ):
        assert ahead(place, others)
        assert place == 1 or not ahead(place - 1, others)


def test_the_largest_sizes_of_the_page_are_exact_as_floating_point_numbers_too():
    for causal in (False, True):
        cost = block_cost(131072, 12288, 96, 49152, 64, 8, causal)
        for row in cost.rows:
            for value in (row.flops, row.multiply_adds, row.needed_flops, row.result_bytes):
                assert int(float(value)) == value


@pytest.mark.parametrize(
    ("amount", "base", "said"),
    [
        (0, 1000, "0 B"), (999, 1000, "999 B"), (1000, 1000, "1.00 kB"), (1023, 1024, "1023 B"),
        (1024, 1024, "1.00 KiB"), (9_995, 1000, "10.0 kB"), (99_950, 1000, "100 kB"), (999_499, 1000, "999 kB"),
        (999_500, 1000, "1.00 MB"), (480_000_000_000, 1024, "447 GiB"), (480_000_000_000, 1000, "480 GB"),
        (10**21, 1000, "1.00 ZB"),
    ],
)  # fmt: skip
def test_large_numbers_for_people(amount, base, said):
    assert human(amount, "B", base) == said


def test_a_block_without_a_feed_forward_width_is_refused():
    with pytest.raises(ValueError, match="d_ff must be at least 1; got 0"):
        block_cost(3, 4, 2, 0)
    with pytest.raises(ValueError, match="d_model and d_ff must be at least 1; got 0 and 5"):
        crossovers(0, 5)
