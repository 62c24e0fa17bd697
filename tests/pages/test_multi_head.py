"""Multi-head attention: the lesson's exercise to the last digit, core's numbers in every picture, a wrong split."""

import json

import numpy as np
import pyarrow as pa
import pytest

from core.attention import attend, self_attention
from core.examples import draw_block, draw_example
from core.mistakes import split_heads_by_reshape_alone
from core.multi_head import multi_head_attention
from core.softmax import entropy
from tests.pages.reading import (
    ROOT,
    as_frame,
    as_matrix,
    bodies,
    click_cell,
    matrix,
    numbers,
    open_page,
    outlined,
    plain,
    run,
    said,
    values_of,
    worked_tables,
)

GOLDEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["multi_head"]
OTHER = {"text": "the cat saw the dog", "d": "3", "heads": "7", "seed": "11"}
WORDS = tuple(OTHER["text"].split())


def computed():
    example = draw_example(WORDS, 3, 7, 11)
    w_o = draw_block(WORDS, 3, 7, 1, 11)[1].w_o
    return example, w_o, multi_head_attention(example.x, example.w_q, example.w_k, example.w_v, w_o)


@pytest.fixture(scope="module")
def other():
    return open_page("multi_head", **OTHER, head="5", query="3 the", key="1 cat", entry="13")


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found, dtype=float), wanted, rtol=0, atol=1e-12)


def test_the_lesson_s_exercise():
    at = open_page("multi_head")
    for head in range(2):
        close(head_weights(at, head), GOLDEN["head_weights"][head])
        first = matrix_of_head(at, head, "text")[0].tolist()
        assert first == [f"{number:.2f}" for number in GOLDEN["lesson_prints_token0"][head]]
    close(numbers(at, "heads_numbers", "joined").to_numpy(), GOLDEN["combined_output"])
    assert list(numbers(at, "heads_numbers", "joined").shape) == GOLDEN["combined_shape"]


def matrix_of_head(at, head, field="value"):
    element = next(element for element in at.get("vega_lite_chart") if element.key == f"head_{head}")
    return as_matrix(as_frame(pa.ipc.open_stream(element.proto.data.data).read_all()), field)


def head_weights(at, head):
    return matrix_of_head(at, head).astype(float)


def test_every_picture_holds_the_numbers_of_core(other):
    example, w_o, found = computed()
    for head in range(7):
        close(head_weights(other, head), found.heads.weights[head])
    close(matrix(other, "joined of 7 heads"), found.joined)
    close(matrix(other, "W_o of 7 heads"), w_o)
    close(matrix(other, "output of 7 heads"), found.output)
    close(matrix(other, "Weights averaged over the heads"), found.heads.weights.mean(axis=0))
    wide = draw_example(WORDS, 21, 1, 11)
    close(
        matrix(other, "Weights of one wide head"),
        self_attention(wide.x, wide.w_q[0], wide.w_k[0], wide.w_v[0]).attention.weights,
    )
    q, k, v = (np.hstack(list(example.x @ w)) for w in (example.w_q, example.w_k, example.w_v))
    wrong = attend(*(split_heads_by_reshape_alone(array, 7) for array in (q, k, v))).weights
    close(matrix(other, "Weights after a wrong split"), wrong[5])
    assert f"weight: {np.abs(wrong - found.heads.weights).max():.4f}" in " ".join(said(other, "reshape(").split())


def test_what_each_head_adds_sums_to_the_output(other):
    _, w_o, found = computed()
    table = worked_tables(other)[-1]
    added = [found.joined[3, 3 * head : 3 * head + 3] @ w_o[3 * head : 3 * head + 3] for head in range(7)]
    assert [row[1] for row in table[1:-1]] == [f"{part[13]:z.3f}".replace("-", "−") for part in added]
    assert [row[3] for row in table[1:-1]] == [f"{np.linalg.norm(part):.3f}" for part in added]
    assert table[-1][1] == f"{found.output[3, 13]:.3f}".replace("-", "−")
    assert outlined(other, "joined of 7 heads") == ([], [3], [])
    assert outlined(other, "W_o of 7 heads") == ([], [], [13])
    assert outlined(other, "output of 7 heads") == ([(3, 13)], [], [])


def test_an_average_is_never_sharper(other):
    weights = computed()[2].heads.weights[:, 3]
    own, mean = float(entropy(weights).mean()), float(entropy(weights.mean(axis=0)))
    assert own < mean
    text = " ".join(said(other, "never sharper").split())
    assert f"entropy of {own:.3f} nats on average, their average has {mean:.3f}" in text


def test_parameters_of_many_heads_and_of_one_are_equal(other):
    assert "4 × 21² = 1,764 numbers" in " ".join(said(other, "one head of width 21 gives one").split())


def test_a_click_on_a_head_picks_the_cell_and_the_head():
    at = click_cell(open_page("multi_head", **OTHER), "head_6", 2, 4)
    assert values_of(at, ("head", "query", "key")) == {"head": 6, "query": 2, "key": 4}
    at.session_state["work_open"] = True
    found = computed()[2].heads
    table = worked_tables(run(at))[0]
    assert [row[3] for row in table[1:-1]] == [f"{weight:.3f}" for weight in found.weights[6, 2]]


def test_clicks_on_the_mixing_matrix_and_the_output_pick_word_and_feature():
    at = click_cell(open_page("multi_head", **OTHER), "join_W_o", 2, 17)
    assert values_of(at, ("query", "entry")) == {"query": 0, "entry": 17}
    assert values_of(click_cell(at, "join_output", 4, 2), ("query", "entry")) == {"query": 4, "entry": 2}


@pytest.mark.parametrize("link", [OTHER, {}, {"text": "la la la", "heads": "12", "d": "64"}])
def test_answers_are_those_of_the_screen(link):
    at = open_page("multi_head", **link)
    words = tuple(link.get("text", "Meera bought a new bat").split())
    example = draw_example(words, int(link.get("d", 4)), int(link.get("heads", 2)), int(link.get("seed", 0)))
    weights = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads.weights[:, 0]
    at.button(key="reveal_targets").click()
    run(at)
    at.button(key="reveal_sharpest").click()
    answers = [plain(body) for body in bodies(run(at)) if "answer" in body]
    assert f"The answer: {len(set(weights.argmax(axis=-1).tolist()))}." in answers[0]
    assert f"It is {weights.mean(axis=0).max():.2f}." in answers[1]


def test_one_head_or_one_word_makes_no_mistake():
    for link in ({"heads": "1"}, {"text": "word"}):
        assert "because there is one head or one word" in said(open_page("multi_head", **link), "reshape(")
