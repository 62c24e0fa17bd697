"""Parameter count: presets give the published totals, every tensor is listed, and odd sizes are explained."""

import json

import pytest

from core.parameter_count import encoder_block_parameters
from tests.pages.reading import ROOT, change, chart, charts, notices, open_page, press, run, said, texts, values_of

BY_TENSOR = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["pytorch"][
    "encoder_layer"
]
SIZES = ("d_model", "block_heads", "d_ff", "layers", "biases")


def totals(at):
    return {metric.label: metric.value for metric in at.metric}


@pytest.mark.parametrize(
    ("preset", "sizes", "block", "layers", "whole"),
    [
        ("Lesson block", (32, 4, 64, 1), "8,544", {"1 layer": "8,544"}, None),
        ("Transformer base", (512, 8, 2048, 6), "3,152,384", {"6 layers": "18,914,304"}, None),
        ("Transformer big", (1024, 16, 4096, 6), "12,596,224", {"6 layers": "75,577,344"}, None),
        ("BERT base", (768, 12, 3072, 12), "7,087,872", {"12 layers": "85,054,464"}, "109,482,240"),
        ("GPT-2 small", (768, 12, 3072, 12), "7,087,872", {"12 layers": "85,054,464"}, "124,439,808"),
    ],
)
def test_presets_give_the_published_totals(preset, sizes, block, layers, whole):
    at = press(open_page("parameter_count", d_model="8", block_heads="2", d_ff="8", biases="none"), preset)
    assert tuple(values_of(at, SIZES).values()) == (*sizes, "all")
    assert totals(at) == {"One block": block, **layers}
    assert f"✓ {preset}: {block} a block" in said(at, f"{preset}:")
    if whole:
        line = said(at, f"Whole model {whole}")
        assert line.startswith(" ✓")
        assert f"= 12 blocks, {layers['12 layers']}; word embeddings" in line
    assert f"total {block}" in charts(at)[0][0]
    assert not any("✗" in text for text in texts(at))


@pytest.mark.parametrize(
    ("biases", "total"),
    [
        ("all", "3,152,384"),
        ("no attention biases", "3,150,336"),
        ("no linear biases", "3,147,776"),
        ("none", "3,146,752"),
    ],
)
def test_choices_of_biases(biases, total):
    at = open_page("parameter_count", d_model="512", block_heads="8", d_ff="2048", layers="6", biases=biases)
    assert totals(at)["One block"] == total
    tensors = set(chart(at, "Parameters by tensor").tensor)
    assert {name for name in tensors if name.startswith("b_")} == {
        "all": {"b_q", "b_k", "b_v", "b_o", "b_1", "b_2"},
        "no attention biases": {"b_1", "b_2"},
    }.get(biases, set())
    assert ("norm_1_shift" in tensors) == (biases != "none")
    assert any("✓ Transformer base" in text for text in texts(at)) == (biases == "all")


def test_every_tensor_is_drawn_and_listed_with_shape_and_count():
    at = open_page("parameter_count")
    counted = encoder_block_parameters(32, 4, 64)
    drawn = chart(at, "Parameters by tensor")
    assert drawn["count"].tolist() == [row.count for row in counted.rows]
    assert drawn.tensor.tolist() == [row.name for row in counted.rows]
    assert drawn.share.tolist() == pytest.approx([row.count / 8_544 for row in counted.rows])
    at.session_state["tensors_open"] = True
    table = run(at).dataframe[0].value
    assert table["count"].sum() == 8_544
    assert table.set_index("tensor").loc["w_1", ["shape", "count", "in PyTorch"]].tolist() == [
        "32 × 64",
        2048,
        "linear1.weight",
    ]
    by_name = table.groupby("in PyTorch")["count"].sum().to_dict()
    assert by_name == {name: count for name, (_, count) in BY_TENSOR["by_tensor"].items()}


def test_the_boxes_are_counted():
    at = change(open_page("parameter_count"), d_model=48, block_heads=6, d_ff=100, layers=3)
    total = encoder_block_parameters(48, 6, 100).total
    assert totals(at) == {"One block": f"{total:,}", "3 layers": f"{3 * total:,}"}
    assert "6 heads of width 8 learn as much as one head of width 48" in said(at, "6 heads")
    assert not any("✓ " in text and "a block (" in text for text in texts(at))


def test_the_number_of_heads_changes_nothing():
    at = open_page("parameter_count", d_model="512", d_ff="2048", block_heads="8")
    assert totals(at)["One block"] == totals(change(at, block_heads=64))["One block"] == "3,152,384"


def test_shares_of_the_parts_are_said():
    text = said(open_page("parameter_count"), "■ attention")
    assert [part in text for part in ("attention 49.4 %", "feed-forward 49.1 %", "layer norm 1.5 %")] == [True] * 3


def test_the_sidebar_s_sizes_can_be_taken_over():
    at = press(open_page("parameter_count", d="16", heads="3", biases="none"), "From the sidebar")
    assert values_of(at, SIZES) == {"d_model": 48, "block_heads": 3, "d_ff": 192, "layers": 1, "biases": "all"}
    assert totals(at)["One block"] == f"{encoder_block_parameters(48, 3, 192).total:,}"


@pytest.mark.parametrize(
    ("d_model", "heads", "fitting"),
    [
        ("33", "4", "1, 3, 11, 33"),
        ("512", "7", "1, 2, 4, 8, 16, 32, 64, 128, 256"),
        ("3", "200", "1, 3"),
        ("257", "2", "1"),
    ],
)
def test_heads_that_do_not_divide_the_width_are_explained_and_nothing_is_counted(d_model, heads, fitting):
    at = open_page("parameter_count", d_model=d_model, block_heads=heads)
    (line,) = notices(at)
    assert f"given: {d_model} and {heads}. Heads that fit {d_model}: {fitting}." in line
    assert totals(at) == {}
    assert charts(at) == []
    assert totals(change(at, block_heads=1)) != {}


@pytest.mark.parametrize(
    "sizes",
    [
        {"d_model": "1", "block_heads": "1", "d_ff": "1"},
        {"d_model": "16384", "block_heads": "256", "d_ff": "65536", "layers": "200"},
    ],
    ids=["smallest", "largest"],
)
def test_the_ends_of_the_ranges(sizes):
    at = open_page("parameter_count", **sizes)
    total = encoder_block_parameters(*(int(sizes[key]) for key in ("d_model", "block_heads", "d_ff"))).total
    assert totals(at)["One block"] == f"{total:,}"


def test_it_says_that_nothing_is_random():
    assert "no random number" in said(open_page("parameter_count"), "Everything here is")
