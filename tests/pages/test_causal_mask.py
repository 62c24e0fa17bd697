"""Causal mask: the pictures, the leak test, and masks that are not square."""

import json

import numpy as np
import pytest

from core.attention import self_attention
from core.examples import draw_example
from core.masks import causal_mask
from tests.pages.reading import (
    ROOT,
    as_matrix,
    change,
    chart,
    charts,
    matrix,
    notices,
    numbers,
    open_page,
    outlined,
    row_sums,
    said,
    texts,
)

GOLDEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["causal_mask"]
LESSON = ("Meera", "bought", "a", "new", "bat")
SENTENCE = {"text": "the cat saw the dog", "d": "6", "heads": "3", "seed": "7", "head": "1"}


def run_of(words, d_head, n_heads, seed, head, mask):
    example = draw_example(words, d_head, n_heads, seed)
    return self_attention(example.x, example.w_q[head], example.w_k[head], example.w_v[head], mask)


def weights_used(at, field="value"):
    """The larger picture of weights: the one that the switch acts on."""
    (frame,) = (data for name, data in charts(at) if name in (
        "Weights: everything above the diagonal is exactly 0", "Weights without a mask"
    ))  # fmt: skip
    return as_matrix(frame, field)


def assert_close(found, expected):
    np.testing.assert_allclose(found.astype(float), expected, rtol=0, atol=1e-12)


def test_the_lesson_s_weights_as_printed():
    at = open_page("causal_mask")
    shown = [[float(text) for text in row] for row in weights_used(at, "text")]
    assert shown == GOLDEN["lesson_prints"]
    assert row_sums(at, "Weights: everything") == ["1.00"] * 5
    assert_close(weights_used(at), GOLDEN["weights"])
    assert_close(numbers(at, "mask_numbers", "weights").to_numpy(), GOLDEN["weights"])
    assert_close(numbers(at, "mask_numbers", "output").to_numpy(), GOLDEN["output"])
    assert numbers(at, "mask_numbers", "mask").to_numpy().tolist() == GOLDEN["mask"]


def test_every_picture_holds_the_numbers_of_core():
    at = open_page("causal_mask", **SENTENCE)
    allowed = causal_mask(5)
    free = run_of(tuple(SENTENCE["text"].split()), 6, 3, 7, 1, None).attention
    masked = run_of(tuple(SENTENCE["text"].split()), 6, 3, 7, 1, allowed).attention
    assert_close(matrix(at, "Causal mask"), allowed)
    assert_close(matrix(at, "scaled scores before"), free.scaled_scores)
    after = matrix(at, "scaled scores after").astype(float)
    assert_close(after[allowed], free.scaled_scores[allowed])
    assert np.isnan(after[~allowed]).all()
    assert set(matrix(at, "scaled scores after", "text")[~allowed]) == {"−∞"}
    assert_close(weights_used(at), masked.weights)
    assert_close(matrix(at, "Weights without a mask, for comparison"), free.weights)
    assert "15 of 25 pairs" in said(at, "pairs are allowed by the mask")


def test_masked_cells_are_marked_and_their_weights_exactly_0():
    at = open_page("causal_mask", **SENTENCE)
    allowed = causal_mask(5)
    for steps in (
        matrix(at, "Causal mask", "step"),
        matrix(at, "scaled scores after", "step"),
        weights_used(at, "step"),
    ):
        assert (steps[~allowed] == -1).all()
        assert (steps[allowed] >= 0).all()
    assert set(weights_used(at)[~allowed]) == {0.0}
    assert (matrix(at, "scaled scores before", "step") >= 0).all()


def test_scores_before_and_after_share_their_colours():
    at = open_page("causal_mask", **SENTENCE)
    allowed = causal_mask(5)
    before, after = matrix(at, "scaled scores before", "step"), matrix(at, "scaled scores after", "step")
    assert (before[allowed] == after[allowed]).all()


def test_the_switch_takes_the_mask_off():
    at = change(open_page("causal_mask", **SENTENCE), causal=False)
    free = run_of(tuple(SENTENCE["text"].split()), 6, 3, 7, 1, None).attention
    assert_close(weights_used(at), free.weights)
    assert_close(matrix(at, "scaled scores after"), free.scaled_scores)
    assert (weights_used(at, "step") >= 0).all()
    assert_close(
        weights_used(change(at, causal=True)),
        run_of(tuple(SENTENCE["text"].split()), 6, 3, 7, 1, causal_mask(5)).attention.weights,
    )


def test_one_more_word_changes_no_earlier_weight():
    at = open_page("causal_mask", text="the cat saw the")
    before = weights_used(at)
    after = weights_used(change(at, text="the cat saw the dog"))
    assert after.shape == (5, 5)
    assert after[:4, :4].tolist() == before.tolist()


# The leak test


def moved(at):
    """How far each output row moved: with the mask, without."""
    return matrix(at, "Movement of each output row").astype(float)


@pytest.mark.parametrize("position", range(5))
def test_with_the_mask_nothing_before_the_replaced_word_moves(position):
    at = change(open_page("causal_mask"), replace=position, by="ball")
    found = moved(at)
    words = (*LESSON[:position], "ball", *LESSON[position + 1 :])
    for column, mask in enumerate((causal_mask(5), None)):
        outputs = [run_of(sentence, 4, 2, 0, 0, mask).attention.output for sentence in (LESSON, words)]
        np.testing.assert_allclose(found[:, column], row_sizes(outputs[1] - outputs[0]), rtol=0, atol=1e-12)
    assert (found[:position, 0] == 0).all()
    assert (found[position:, 0] > 0).all()
    assert (found[:, 1] > 0).all()
    verdict = " ".join(said(at, "became").split())
    assert f"{LESSON[position]} (position {position}) became ball." in verdict
    assert "5 of 5 rows moved" in verdict
    assert ("No row stands before it" in verdict) == (position == 0)
    assert ("moved by exactly 0" in verdict) == (position > 0)


def row_sizes(difference):
    """Largest absolute entry of each row, as `core.agreement.row_differences`."""
    return np.abs(difference).max(axis=-1)


def test_the_leak_test_does_not_depend_on_the_switch():
    at = open_page("causal_mask")
    found = moved(at)
    assert moved(change(at, causal=False)).tolist() == found.tolist()


def test_the_replaced_row_is_outlined():
    assert outlined(change(open_page("causal_mask"), replace=2), "Movement") == ([(0, 1)], [2], [])


@pytest.mark.parametrize(
    ("by", "part"),
    [
        ("bat", "That is the word which already stands there"),
        ("two words", "Given: 2 words"),
        (" ", "Given: 0 words"),
        ("", "Given: 0 words"),
    ],
    ids=["same", "two", "blank", "none"],
)
def test_a_replacement_that_shows_nothing_is_explained(by, part):
    at = change(open_page("causal_mask"), replace=4, by=by)
    assert [part in info.value for info in at.info] == [True]
    assert (moved(at) == 0).all()
    assert not any("became" in text for text in texts(at))


def test_the_same_word_in_another_encoding_is_the_same_word():
    at = change(open_page("causal_mask", text="un café"), replace=1, by="cafe\u0301")
    assert any("already stands there" in info.value for info in at.info)


def test_a_replacement_is_shown_literally():
    at = change(open_page("causal_mask"), by="<b>$x$</b>")
    assert "became <b>$x$</b>." in said(at, "became")
    assert not any("<b>$x$" in element.proto.body for element in at.get("html"))


# Masks that are not square


@pytest.mark.parametrize(
    ("n_query", "n_key", "top_left", "bottom_right"),
    [
        (2, 5, [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]], [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]),
        (3, 3, [[1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        (3, 1, [[1], [1], [1]], [[0], [0], [1]]),
        (1, 3, [[1, 0, 0]], [[1, 1, 1]]),
    ],
)  # fmt: skip
def test_both_alignments(n_query, n_key, top_left, bottom_right):
    at = change(open_page("causal_mask"), n_query=n_query, n_key=n_key)
    for align, allowed in (("top-left", top_left), ("bottom-right", bottom_right)):
        mask = np.array(allowed, dtype=bool)
        cells = chart(at, f"{align}: {mask.sum()} of {mask.size} pairs allowed")
        assert ((as_matrix(cells, "step") >= 0) == mask).all()
        counts = mask.sum(axis=1, keepdims=True)
        assert_close(as_matrix(cells), mask / np.maximum(counts, 1))
        assert row_sums(at, align) == ["1.00" if count else "0" for count in counts.ravel()]
        assert_close(numbers(at, "mask_numbers", align).to_numpy(), mask / np.maximum(counts, 1))
    blocked = np.flatnonzero(~np.array(bottom_right, dtype=bool).any(axis=1))
    lines = [line for line in notices(at) if line.startswith("No allowed key")]
    assert [line.split(":")[0] for line in lines] == (
        [f"No allowed key for query {', '.join(map(str, blocked))}"] if blocked.size else []
    )


def test_one_word_is_explained():
    at = open_page("causal_mask", text="word")
    assert any("One word has nothing before or after it" in info.value for info in at.info)
    assert weights_used(at).tolist() == [[1.0]]


def test_many_words_become_pictures_and_the_weights_stay_a_chart_up_to_48():
    at = open_page("causal_mask", text=" ".join(f"w{i}" for i in range(48)))
    assert weights_used(at).shape == (48, 48)
    assert (weights_used(at)[~causal_mask(48)] == 0).all()
    assert len(at.get("image")) == 4
    at = change(at, text=" ".join(f"w{i}" for i in range(64)))
    assert len(at.get("image")) == 5
    assert moved(at).shape == (64, 2)


def test_it_says_what_is_random():
    assert "random (seed 7)" in " ".join(
        said(open_page("causal_mask", **SENTENCE), "Embeddings and projections").split()
    )
