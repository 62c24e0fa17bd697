"""The parameter table against PyTorch, drawn parameters and published totals."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from core.encoder_block import draw_parameters
from core.parameter_count import BIASES, PARTS, PRESETS, encoder_block_parameters
from core.torch_reference import count_parameters


def test_choices_and_parts_are_those_of_the_page():
    assert BIASES == ("all", "no attention biases", "no linear biases", "none")
    assert PARTS == ("attention", "feed-forward", "layer norm")


def torch_tensors(d_model, n_heads, d_ff, bias):
    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, batch_first=True, bias=bias)
    return {name: parameter.numel() for name, parameter in layer.named_parameters()}


@given(st.integers(1, 13), st.integers(1, 17), st.integers(1, 101), st.sampled_from(BIASES))
def test_total_equals_pytorch_for_any_size(n_heads, d_head, d_ff, biases):
    table = encoder_block_parameters(n_heads * d_head, n_heads, d_ff, biases=biases)
    assert table.total == count_parameters(n_heads * d_head, n_heads, d_ff, biases)


@given(st.integers(1, 128), st.integers(1, 512), st.integers(1, 2**20), st.booleans())
def test_total_is_the_sum_over_the_tensors_of_pytorchs_layer(n_heads, d_head, d_ff, bias):
    d_model = n_heads * d_head
    assert encoder_block_parameters(d_model, n_heads, d_ff, bias).total == sum(
        torch_tensors(d_model, n_heads, d_ff, bias).values()
    )


@pytest.mark.parametrize("bias", [True, False])
def test_rows_add_up_to_pytorchs_tensors_by_name(bias):
    found = {}
    for row in encoder_block_parameters(21, 3, 13, bias).rows:
        found[row.torch_name] = found.get(row.torch_name, 0) + row.count
    assert found == torch_tensors(21, 3, 13, bias)


@pytest.mark.parametrize("bias", [True, False])
def test_rows_name_the_arrays_of_a_block_with_their_shapes(bias):
    drawn = dataclasses.asdict(draw_parameters(21, 3, 13, np.random.default_rng(0), bias))
    expected = {name: array.shape for name, array in drawn.items() if array is not None}
    rows = encoder_block_parameters(21, 3, 13, bias).rows
    assert {row.name: row.shape for row in rows} == expected
    assert {row.name: row.count for row in rows} == {name: drawn[name].size for name in expected}


def test_rows_come_in_the_order_of_the_computation():
    names = [row.name for row in encoder_block_parameters(6, 3, 5).rows]
    assert names[:8] == ["w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o"]
    assert names[8:12] == ["w_1", "b_1", "w_2", "b_2"]
    assert names[12:] == ["norm_1_gain", "norm_1_shift", "norm_2_gain", "norm_2_shift"]


@pytest.mark.parametrize("biases", BIASES)
def test_parts_add_up_to_the_total(biases):
    table = encoder_block_parameters(21, 3, 13, biases=biases)
    assert sum(table.part_total(part) for part in PARTS) == table.total
    assert min(table.part_total(part) for part in PARTS) > 0


@pytest.mark.parametrize(
    ("sizes", "attention", "feed_forward", "norms"),
    [
        pytest.param((768, 12, 3072), 2_362_368, 4_722_432, 3_072, id="BERT base"),
        pytest.param((128, 4, 256), 66_048, 33_024 + 32_896, 512, id="what hooks miss"),
        pytest.param((512, 8, 2048), 1_050_624, 2_099_712, 2_048, id="Transformer base"),
    ],
)
def test_parts_equal_published_counts(sizes, attention, feed_forward, norms):
    table = encoder_block_parameters(*sizes)
    assert [table.part_total(part) for part in PARTS] == [attention, feed_forward, norms]
    assert table.total == attention + feed_forward + norms


@pytest.mark.parametrize(
    ("biases", "total"),
    [
        ("all", 3_152_384),
        ("no attention biases", 3_150_336),
        ("no linear biases", 3_147_776),
        ("none", 3_146_752),
    ],
)
def test_total_follows_the_choice_of_biases(biases, total):
    assert encoder_block_parameters(512, 8, 2048, biases=biases).total == total


def test_bias_is_the_short_form_of_biases():
    assert encoder_block_parameters(6, 3, 5) == encoder_block_parameters(6, 3, 5, biases="all")
    assert encoder_block_parameters(6, 3, 5, bias=False) == encoder_block_parameters(6, 3, 5, biases="none")
    assert encoder_block_parameters(6, 3, 5, False, biases="all") == encoder_block_parameters(6, 3, 5)


@pytest.mark.parametrize("n_heads", [1, 2, 8, 64, 512])
def test_number_of_heads_changes_no_count(n_heads):
    table = encoder_block_parameters(512, n_heads, 2048)
    assert table.part_total("attention") == 1_050_624
    assert table == encoder_block_parameters(512, 4, 2048)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_preset_blocks_have_their_published_count(preset):
    assert encoder_block_parameters(preset.d_model, preset.n_heads, preset.d_ff).total == preset.published_block
    assert preset.source


@pytest.mark.parametrize(
    ("name", "published"), [("BERT base", 109_482_240), ("GPT-2 small", 124_439_808)], ids=["BERT base", "GPT-2 small"]
)
def test_preset_models_have_their_published_total(name, published):
    (preset,) = (preset for preset in PRESETS if preset.name == name)
    assert preset.n_layers * preset.published_block == 85_054_464
    assert 85_054_464 + sum(count for _, count in preset.rest) == published == preset.published_total


def test_presets_without_a_published_total_list_no_rest():
    assert {preset.name for preset in PRESETS if preset.published_total is None} == {
        "Lesson block",
        "Transformer base",
        "Transformer big",
    }
    assert all((preset.published_total is None) == (preset.rest == ()) for preset in PRESETS)


def test_transformer_big_has_twelve_million_a_block():
    assert encoder_block_parameters(1024, 16, 4096).total == 12_596_224


@pytest.mark.parametrize("sizes", [(0, 1, 5), (4, 0, 5), (4, 2, 0)])
def test_sizes_below_one_are_refused(sizes):
    given = f"{sizes[0]}, {sizes[1]} and {sizes[2]}"
    with pytest.raises(ValueError, match=f"d_model, n_heads and d_ff must be at least 1; got {given}"):
        encoder_block_parameters(*sizes)


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match="d_model must be a multiple of n_heads; got 10 and 3"):
        encoder_block_parameters(10, 3, 5)


def test_another_choice_of_biases_is_refused():
    with pytest.raises(ValueError, match=r"biases must be one of .*'no linear biases'.*; got 'some'"):
        encoder_block_parameters(6, 3, 5, biases="some")
