"""Query, key, value: every matrix is core's, the lesson's figures are there, and the picked cell is worked out."""

import json

import numpy as np
import pyarrow as pa
import pytest

from core.attention import self_attention
from core.examples import draw_example
from core.pretrained.model import load, read_text
from tests.pages.reading import (
    ROOT,
    change,
    chart,
    charts,
    check_line,
    click_cell,
    go_to,
    matrix,
    notices,
    numbers,
    open_page,
    outlined,
    row_sums,
    run,
    said,
    values_of,
    worked_tables,
)
from ui.charts.heat_map import read_captions

GOLDEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["query_key_value"]
MATRICES = {
    "Embeddings X": None, "W_q": "0", "W_k": "0", "W_v": "0", "Scores": None, "Scaled scores": None,
    "Attention weights": None, "Output": None,
}  # fmt: skip
TABLES = {"X": "X", "W_q": "W_q", "W_k": "W_k", "W_v": "W_v", "Q": "Q", "K": "K", "V": "V", "scores": "raw_scores",
          "scaled scores": "scaled_scores", "weights": "weights", "output": "output"}  # fmt: skip
OTHER = {"text": "the cat saw the dog", "d": "3", "heads": "3", "seed": "7"}


def run_of(words, d_head, n_heads, seed, head):
    example = draw_example(words, d_head, n_heads, seed)
    projections = example.w_q[head], example.w_k[head], example.w_v[head]
    return example.x, projections, self_attention(example.x, *projections)


def assert_shown(at, words, sizes, head):
    x, projections, run = run_of(words, *sizes, head)
    attention = run.attention
    pictures = {
        ("Embeddings X", None): x,
        ("Scores", None): attention.scores,
        ("Scaled scores", None): attention.scaled_scores,
        ("Attention weights", None): attention.weights,
        ("Output", None): attention.output,
    }
    for name, w, made in zip("qkv", projections, (run.q, run.k, run.v), strict=True):
        pictures[f"W_{name}", "0"] = w
        pictures[f"W_{name}", "1"] = made
    for (alt, part), values in pictures.items():
        np.testing.assert_allclose(matrix(at, alt, part=part).astype(float), values, rtol=0, atol=1e-12, err_msg=alt)


def test_every_picture_holds_the_numbers_of_core():
    assert_shown(open_page("query_key_value"), ("Meera", "bought", "a", "new", "bat"), (4, 2, 0), 0)


def test_every_picture_follows_sentence_sizes_seed_and_head():
    at = open_page("query_key_value", **OTHER)
    words = tuple(OTHER["text"].split())
    assert_shown(at, words, (3, 3, 7), 0)
    assert_shown(change(at, head=2), words, (3, 3, 7), 2)
    assert_shown(change(at, text="dog bites man", d=5, seed=8), ("dog", "bites", "man"), (5, 3, 8), 2)


def test_the_lesson_s_weights_as_printed():
    at = open_page("query_key_value")
    assert matrix(at, "Attention weights", "text").tolist() == [
        [f"{w:.2f}" for w in row] for row in GOLDEN["lesson_prints"]
    ]
    assert row_sums(at, "Attention weights") == ["1.00"] * 5


@pytest.mark.parametrize(("alt", "part", "golden"), [
    ("W_q", "1", "Q"), ("W_k", "1", "K"), ("W_v", "1", "V"), ("Scores", None, "raw_scores"),
    ("Scaled scores", None, "scaled_scores"), ("Attention weights", None, "weights"), ("Output", None, "output"),
])  # fmt: skip
def test_the_lesson_s_figures_rounded(at_lesson, alt, part, golden):
    texts = matrix(at_lesson, alt, "text", part)
    assert [[float(text.replace("−", "-")) for text in row] for row in texts] == np.round(GOLDEN[golden], 2).tolist()


@pytest.mark.parametrize(("alt", "part", "golden"), [
    ("Embeddings X", None, "X"), ("W_q", "0", "W_q"), ("W_k", "0", "W_k"), ("W_v", "0", "W_v"),
])  # fmt: skip
def test_the_lesson_s_figures_in_the_tooltips_of_narrow_cells(at_lesson, alt, part, golden):
    """Their cells are too narrow for numbers, which the tooltip and the table show instead."""
    np.testing.assert_allclose(matrix(at_lesson, alt, "value", part), GOLDEN[golden], rtol=0, atol=1e-12)
    assert set(matrix(at_lesson, alt, "text", part).ravel()) == {""}


@pytest.fixture(scope="module")
def at_lesson():
    return open_page("query_key_value")


def test_the_tables_behind_the_pictures_hold_the_lesson_s_figures():
    at = open_page("query_key_value")
    for name, golden in TABLES.items():
        table = numbers(at, "qkv_numbers", name)
        np.testing.assert_allclose(table.to_numpy(), GOLDEN[golden], rtol=0, atol=1e-12, err_msg=name)
    assert list(numbers(at, "qkv_numbers", "scores").columns) == ["0 Meera", "1 bought", "2 a", "3 new", "4 bat"]


def test_shapes_are_named():
    at = open_page("query_key_value", **OTHER)
    tables = [pa.ipc.open_stream(chart.proto.data.data).read_all() for chart in at.get("vega_lite_chart")]
    titles = {words["title"] for table in tables for words in read_captions(table)}
    for shape in (
        "X (5 × 9)",
        "W_q (9 × 3)",
        "Q (5 × 3)",
        "V (5 × 3)",
        "scores Q Kᵀ (5 × 5)",
        "scaled ÷ √3 (5 × 5)",
        "output (5 × 3)",
    ):
        assert shape in titles


def assert_worked_out(at, words, sizes, head, query, key, feature=0):
    """The arithmetic of one cell has that cell's operands, and the pictures outline them."""
    _, _, run = run_of(words, *sizes, head)
    attention = run.attention
    names = [f"{i} {word}" for i, word in enumerate(words)]
    dot, softmax, mixture = worked_tables(at)
    assert [row[1] for row in dot[1:-1]] == written(run.q[query])
    assert [row[2] for row in dot[1:-1]] == written(run.k[key])
    assert dot[-1][3] == written([attention.scores[query, key]])[0]
    division = said(at, f"÷ √{sizes[0]} =").split()
    assert (division[0], division[4]) == tuple(
        written([attention.scores[query, key], attention.scaled_scores[query, key]])
    )
    assert [row[0] for row in softmax[1:-1]] == names
    assert [row[1] for row in softmax[1:-1]] == written(attention.scaled_scores[query])
    assert [row[3] for row in softmax[1:-1]] == written(attention.weights[query])
    assert [row[0] for row in mixture[1:-1]] == names
    assert [row[1] for row in mixture[1:-1]] == written(attention.weights[query])
    assert [row[2] for row in mixture[1:-1]] == written(run.v[:, feature])
    assert mixture[-1][3] == written([attention.output[query, feature]])[0]
    for alt in ("Scores", "Scaled scores", "Attention weights"):
        assert outlined(at, alt) == ([(query, key)], [], []), alt
    assert outlined(at, "Output") == ([(query, feature)], [], [])
    for alt, rows, columns in (("W_q", [query], []), ("W_k", [key], []), ("W_v", [], [feature])):
        assert outlined(at, alt, "1") == ([], rows, columns), alt
    assert outlined(at, "Embeddings X") == ([], sorted({query, key}), [])


def written(values):
    return [f"{abs(value):.3f}" if abs(value) < 0.0005 else f"{value:.3f}".replace("-", "−") for value in values]


LESSON = ("Meera", "bought", "a", "new", "bat"), (4, 2, 0)


def test_the_cell_of_the_lesson_is_worked_out_at_first():
    at = open_page("query_key_value")
    assert_worked_out(at, *LESSON, 0, 0, 3)
    assert "the chosen cell is 0.51" in next(name for name, _ in charts(at) if name.startswith("Attention weights"))


@pytest.mark.parametrize(("head", "query", "key"), [(0, 4, 4), (1, 2, 0)])
def test_the_cell_of_the_pickers_is_worked_out(head, query, key):
    assert_worked_out(change(open_page("query_key_value"), head=head, query=query, key=key), *LESSON, head, query, key)


def test_equal_words_are_worked_out_each_in_its_own_row():
    at = change(open_page("query_key_value", **OTHER), query=3, key=0)
    assert_worked_out(at, tuple(OTHER["text"].split()), (3, 3, 7), 0, 3, 0)


def test_a_click_moves_the_pickers_and_the_arithmetic():
    at = click_cell(open_page("query_key_value"), "weights", 1, 0)
    assert values_of(at, ("query", "key")) == {"query": 1, "key": 0}
    assert_worked_out(change(at, step="overview"), *LESSON, 0, 1, 0)
    change(at, key=2)
    assert_worked_out(at, *LESSON, 0, 1, 2)


def test_a_click_on_a_row_sum_picks_nothing():
    at = click_cell(open_page("query_key_value"), "weights", 2, 5)
    assert values_of(at, ("query", "key")) == {"query": 0, "key": 3}


STEPS = {
    "project_q": ("project", ("query", "feature"), {"of": "Q"}),
    "project_k": ("project", ("key", "feature"), {"of": "K"}),
    "project_v": ("project", ("key", "feature"), {"of": "V"}),
    "scores": ("score", ("query", "key"), {}),
    "scaled": ("scale", ("query", "key"), {}),
    "weights": ("softmax", ("query", "key"), {}),
    "output": ("mix", ("query", "feature"), {}),
}


@pytest.mark.parametrize("turned", [False, True], ids=["queries in rows", "queries in columns"])
@pytest.mark.parametrize("picture", STEPS)
def test_a_click_on_any_computed_cell_picks_it_and_goes_to_its_step(picture, turned):
    step, (row, column), rest = STEPS[picture]
    link = OTHER | ({"queries_in": "columns"} if turned else {})
    at = click_cell(open_page("query_key_value", **link), picture, *((2, 1) if turned else (1, 2)))
    assert values_of(at, (row, column)) == {row: 1, column: 2}
    assert at.session_state["step"] == step
    assert all(at.session_state[key] == value for key, value in rest.items())
    (table,) = worked_tables(at) if step != "scale" else [None]
    _, projections, run = run_of(tuple(OTHER["text"].split()), 3, 3, 7, 0)
    if step == "project":
        made = dict(zip("QKV", (run.q, run.k, run.v), strict=True))[rest["of"]]
        assert table[-1][3] == written([made[1, 2]])[0]
        w = dict(zip("QKV", projections, strict=True))[rest["of"]]
        assert [line[2] for line in table[1:-1]] == written(w[:, 2])
    elif step == "score":
        assert table[-1][3] == written([run.attention.scores[1, 2]])[0]
    elif step == "scale":
        assert f"= {written([run.attention.scaled_scores[1, 2]])[0]}" in said(at, "÷ √3 =")
    elif step == "softmax":
        assert table[3][3] == written([run.attention.weights[1, 2]])[0]
    else:
        assert table[-1][3] == written([run.attention.output[1, 2]])[0]


def test_the_steps_lead_through_the_derivation_and_end_at_its_ends():
    at = open_page("query_key_value")
    assert at.button(key="step_back").disabled
    seen = [at.session_state["step"]]
    while not at.button(key="step_next").disabled:
        at.button(key="step_next").click()
        seen.append(run(at).session_state["step"])
    assert seen == ["overview", "project", "score", "scale", "softmax", "mix"]
    assert len(charts(at)) == 8  # the overview stays
    at.button(key="step_back").click()
    assert run(at).session_state["step"] == "softmax"


LIT = {
    "project": {("W_q", "0"): ([], [], [2]), ("W_q", "1"): ([(1, 2)], [], []), ("Embeddings X", None): ([], [1], [])},
    "score": {("W_q", "1"): ([], [1], []), ("W_k", "1"): ([], [3], []), ("Scores", None): ([(1, 3)], [], [])},
    "scale": {("Scores", None): ([(1, 3)], [], []), ("Scaled scores", None): ([(1, 3)], [], [])},
    "softmax": {("Scaled scores", None): ([], [1], []), ("Attention weights", None): ([(1, 3)], [], [])},
    "mix": {
        ("Attention weights", None): ([], [1], []),
        ("W_v", "1"): ([], [], [2]),
        ("Output", None): ([(1, 2)], [], []),
    },
}


@pytest.mark.parametrize("step", LIT)
def test_the_operands_of_a_step_light_up_and_nothing_else(step):
    at = open_page("query_key_value", step=step, query="1 bought", key="3 new", feature="2")
    parts = [("Embeddings X", None), *((f"W_{name}", part) for name in "qkv" for part in "01"), ("Scores", None),
             ("Scaled scores", None), ("Attention weights", None), ("Output", None)]  # fmt: skip
    for alt, part in parts:
        assert outlined(at, alt, part) == LIT[step].get((alt, part), ([], [], [])), (alt, part)


@pytest.mark.parametrize(("given", "worked_out"), [("V", "V"), ("Z", "Q")])
def test_the_projection_in_a_link_is_worked_out_in_the_first_run_too(given, worked_out):
    at = open_page("query_key_value", step="project", of=given, query="1 bought", key="3 new", feature="2")
    lit = {name: outlined(at, f"W_{name.lower()}", "0") for name in "QKV"}
    assert lit == {name: ([], [], [2] if name == worked_out else []) for name in "QKV"}


def test_one_word():
    at = open_page("query_key_value", text="word", d="1", heads="1")
    assert matrix(at, "Attention weights").tolist() == [[1.0]]
    assert matrix(at, "Output").tolist() == matrix(at, "W_v", part="1").tolist()


@pytest.mark.parametrize(("n", "pictures"), [(48, 10), (49, 11), (64, 11)])
def test_many_words_become_pictures_and_the_weights_stay_a_chart_up_to_48(n, pictures):
    at = open_page("query_key_value", text=" ".join(f"w{i}" for i in range(n)), d="64", heads="12")
    assert len(at.get("image")) == pictures
    if n == 48:
        assert len(chart(at, "Attention weights")) == 48 * 48 + 48
    assert [len(table) for table in worked_tables(at)] == [64 + 2, n + 2, n + 2]


def test_the_picked_head_follows_to_other_pages():
    at = change(open_page("query_key_value"), head=1)
    assert values_of(go_to(go_to(at, "home"), "query_key_value"), ("head",)) == {"head": 1}


def test_it_says_what_is_random():
    assert "random (seed 7)" in " ".join(said(open_page("query_key_value", **OTHER), "Embeddings and W").split())


def test_a_trained_head_is_followed_with_its_own_numbers():
    """X and W of the model: the weights are those that the whole model computes."""
    text = "Meera bought a new bat"
    at = open_page("query_key_value", text=text, trained="true", of_layer="3", head="1", query="4 a", key="6 bat")
    reading = read_text(load(), text)
    block, d_model = reading.blocks[3], 384
    np.testing.assert_allclose(numbers(at, "qkv_numbers", "X").to_numpy()[:, :d_model], block.attention_input)
    assert (numbers(at, "qkv_numbers", "X").to_numpy()[:, d_model] == 1).all()
    assert numbers(at, "qkv_numbers", "W_q").shape == (d_model + 1, 32)
    for name, values in (
        ("weights", block.heads.weights),
        ("scores", block.heads.scores),
        ("output", block.heads.output),
    ):
        np.testing.assert_allclose(numbers(at, "qkv_numbers", name).to_numpy(), values[1], rtol=0, atol=1e-10)
    assert list(numbers(at, "qkv_numbers", "weights").index) == [f"{i} {p}" for i, p in enumerate(reading.pieces.names)]
    assert "trained" in said(at, "reads of your sentence")
    assert check_line(at)[1].startswith("✓ NumPy = PyTorch: ")
    assert not [button for button in at.button if button.key == "reveal_reversed"]


def test_a_trained_head_shows_what_fits():
    at = open_page("query_key_value", text=" ".join(f"w{i}" for i in range(64)), trained="true")
    assert "at most 64 word pieces, start and end included: the first 31 of 64 words" in notices(at)[0]
    at = open_page("query_key_value", text="!" * 100, trained="true")
    assert "the first word alone has more" in at.info[0].value
