"""The reader's random numbers: a word keeps its vector whatever else changes."""

import dataclasses
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attention import attend
from core.encoder_block import draw_parameters, encoder_block
from core.examples import (
    ATTENTION_WORDS,
    ORDER_WORDS,
    _MarkedStream,
    draw_block,
    draw_decoder_projections,
    draw_example,
    draw_joining,
    draw_position_embedding,
)
from core.masks import causal_mask
from core.multi_head import multi_head_attention

ROOT = Path(__file__).parents[2]
PROJECTIONS = ("w_q", "w_k", "w_v")


def assert_same_projections(a, b):
    for name in PROJECTIONS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_lesson_words_stand_in_the_lessons_order():
    assert ATTENTION_WORDS == ("Meera", "bought", "a", "new", "bat")
    assert ORDER_WORDS == ("dog", "bites", "the", "man")


@pytest.mark.parametrize("lesson_words", [ATTENTION_WORDS, ORDER_WORDS], ids=["attention", "order"])
@pytest.mark.parametrize("seed", [0, 3, 9999])
def test_draw_example_draws_the_lessons_words_and_then_each_heads_projections(lesson_words, seed):
    example = draw_example(lesson_words, d_head=7, n_heads=3, seed=seed, lesson_words=lesson_words)
    rng = np.random.default_rng(seed)
    np.testing.assert_array_equal(example.x, rng.normal(size=(len(lesson_words), 21)))
    for head in range(3):
        for name in PROJECTIONS:
            np.testing.assert_array_equal(getattr(example, name)[head], rng.normal(0, 0.5, (21, 7)), err_msg=name)


def test_draw_example_gives_any_other_word_a_stream_of_its_own():
    digest = int.from_bytes(hashlib.sha256("गेंद".encode()).digest()[:16], "big")
    expected = np.random.default_rng([1, 5, digest]).normal(size=14)
    np.testing.assert_array_equal(draw_example(("a", "गेंद"), 7, 2, seed=5).x[1], expected)


@given(st.lists(st.sampled_from(["Meera", "bat", "dog", "गेंद", "🙂", "meera"]), min_size=1, max_size=7).map(tuple))
def test_a_word_has_the_same_vector_wherever_it_stands(words):
    example = draw_example(words)
    alone = {word: draw_example((word,)).x[0] for word in words}
    np.testing.assert_array_equal(example.x, [alone[word] for word in words])
    assert_same_projections(example, draw_example(()))


@pytest.mark.parametrize("new", ["ball", "a", "Bought"], ids=["another word", "a lesson word", "a capital"])
def test_replacing_a_word_changes_its_row_only(new):
    before = draw_example(("Meera", "bought", "one", "bat"))
    after = draw_example(("Meera", new, "one", "bat"))
    moved = np.abs(before.x - after.x).max(axis=1)
    assert moved[[0, 2, 3]].tolist() == [0, 0, 0]
    assert moved[1] > 0.1
    assert_same_projections(before, after)


def test_adding_a_word_at_the_end_leaves_earlier_rows_of_causal_attention_exactly():
    words = ("dog", "bites", "the", "man", "again")
    outputs = []
    for n in (4, 5):
        example = draw_example(words[:n])
        q, k, v = (example.x @ getattr(example, name)[1] for name in PROJECTIONS)
        outputs.append(attend(q, k, v, causal_mask(n)))
    np.testing.assert_array_equal(outputs[1].weights[:4, :4], outputs[0].weights)
    np.testing.assert_array_equal(outputs[1].weights[:4, 4], 0)
    np.testing.assert_allclose(outputs[1].output[:4], outputs[0].output, rtol=1e-14)


def test_man_bites_dog_has_the_vectors_of_dog_bites_man_in_another_order():
    one = draw_example(("dog", "bites", "man"), seed=3, lesson_words=ORDER_WORDS)
    other = draw_example(("man", "bites", "dog"), seed=3, lesson_words=ORDER_WORDS)
    np.testing.assert_array_equal(other.x, one.x[::-1])
    outputs = [multi_head_attention(e.x, e.w_q, e.w_k, e.w_v).output for e in (one, other)]
    np.testing.assert_allclose(outputs[1], outputs[0][::-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(outputs[1].mean(axis=0), outputs[0].mean(axis=0), rtol=0, atol=1e-12)
    assert np.abs(outputs[1] - outputs[0]).max() > 0.1


def test_one_word_typed_in_two_encodings_has_one_vector():
    x = draw_example(("caf\u00e9", "cafe\u0301")).x
    np.testing.assert_array_equal(x[0], x[1])


def test_different_words_have_different_vectors():
    words = ("bat", "Bat", "BAT", "bat.", "tab", "ball", "क", "की", "\ufffd")
    x = draw_example(words).x
    assert len(np.unique(x.round(9), axis=0)) == len(words)


def test_half_a_surrogate_pair_is_a_word_like_any_other():
    assert np.isfinite(draw_example(("\ud800",)).x).all()


@pytest.mark.parametrize("word", ["Meera", "ball"], ids=["lesson word", "other word"])
def test_another_seed_changes_words_and_projections(word):
    one, other = (draw_example((word,), seed=seed) for seed in (1, 2))
    for name in ("x", *PROJECTIONS):
        assert np.abs(getattr(one, name) - getattr(other, name)).max() > 0.1


def test_two_readers_in_turn_get_what_each_gets_alone():
    alone = {seed: draw_example(("dog", "Meera"), seed=seed).x for seed in (1, 2)}
    for seed in (1, 2, 2, 1):
        np.testing.assert_array_equal(draw_example(("dog", "Meera"), seed=seed).x, alone[seed])


def test_numbers_of_a_wide_model_that_are_kept_are_those_that_would_be_drawn():
    readers = [((64, 2), 0), ((64, 2), 0), ((128, 1), 0), ((64, 2), 1), ((64, 3), 0), ((64, 2), 0)]
    for (d_head, n_heads), seed in readers:
        found = draw_example(("bat",), d_head, n_heads, seed)
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(5, d_head * n_heads))
        drawn = rng.normal(0.0, 0.5, (n_heads, 3, d_head * n_heads, d_head))
        assert (found.x[0] == rows[4]).all()
        for place, name in enumerate(("w_q", "w_k", "w_v")):
            assert (getattr(found, name) == drawn[:, place]).all(), (d_head, n_heads, seed, name)
            assert not getattr(found, name).flags.writeable


def test_lesson_words_of_another_page_change_the_vectors():
    attention, order = (draw_example(("bites",), lesson_words=words).x for words in (ATTENTION_WORDS, ORDER_WORDS))
    assert np.abs(attention - order).max() > 0.1


def test_words_and_projections_have_the_spread_that_the_page_states():
    example = draw_example(tuple(f"word{number}" for number in range(64)), d_head=64, n_heads=3)
    np.testing.assert_allclose([example.x.mean(), example.x.std()], [0, 1], atol=0.03)
    for name in PROJECTIONS:
        np.testing.assert_allclose(getattr(example, name).std(), 0.5, rtol=0.02)


def test_no_word_and_the_smallest_sizes_give_empty_and_one_by_one():
    assert draw_example(()).x.shape == (0, 8)
    smallest = draw_example(("a",), d_head=1, n_heads=1)
    assert (smallest.x.shape, smallest.w_q.shape) == ((1, 1), (1, 1, 1))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        pytest.param({"d_head": 0}, "d_head and n_heads must be at least 1; got 0 and 2", id="no width"),
        pytest.param({"n_heads": 0}, "d_head and n_heads must be at least 1; got 4 and 0", id="no head"),
        pytest.param({"seed": -1}, "seed must not be negative; got -1", id="negative seed"),
    ],
)
def test_draw_example_refuses_what_cannot_be_drawn(wrong, message):
    with pytest.raises(ValueError, match=message):
        draw_example(("a",), **wrong)


def digest_in_a_fresh_process(hash_seed):
    code = (
        "import hashlib; from core.examples import draw_example, draw_position_embedding;"
        "e = draw_example(('Meera', 'dog', 'गेंद', '🙂'), 7, 3, 5);"
        "arrays = (e.x, e.w_q, e.w_k, e.w_v, draw_position_embedding(3, 5));"
        "print(hashlib.sha256(b''.join(a.tobytes() for a in arrays)).hexdigest(), hash('dog'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONUTF8": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split()


def test_vectors_are_the_same_to_the_last_bit_in_every_process():
    (one, hash_one), (other, hash_other) = (digest_in_a_fresh_process(seed) for seed in ("1", "2"))
    assert hash_one != hash_other  # the two processes do differ in what must not matter
    assert one == other


def test_position_embedding_of_a_longer_sentence_starts_alike():
    np.testing.assert_array_equal(draw_position_embedding(11, 7, 3)[:5], draw_position_embedding(5, 7, 3))


def test_position_embedding_has_a_stream_of_its_own_for_each_seed():
    tables = [draw_position_embedding(5, 8, seed) for seed in (0, 1)]
    np.testing.assert_array_equal(tables[1], np.random.default_rng([2, 1]).normal(size=(5, 8)))
    assert np.abs(tables[0] - tables[1]).max() > 0.1
    assert np.abs(tables[0] - draw_example(ATTENTION_WORDS).x).max() > 0.1


@pytest.mark.parametrize("sizes", [(-1, 4, 0), (4, -1, 0), (4, 4, -1)])
def test_position_embedding_refuses_a_negative_number(sizes):
    given = f"{sizes[0]}, {sizes[1]} and {sizes[2]}"
    with pytest.raises(ValueError, match=f"must not be negative; got {given}"):
        draw_position_embedding(*sizes)


def test_a_block_holds_the_heads_of_the_other_pages_and_parameters_that_no_word_changes():
    words = ("dog", "bites", "man")
    x, parameters = draw_block(words, 3, 5, 7, seed=11)
    example = draw_example(words, 3, 5, seed=11)
    np.testing.assert_array_equal(x, example.x)
    for name in ("w_q", "w_k", "w_v"):
        for head in range(5):
            np.testing.assert_array_equal(
                getattr(parameters, name)[:, 3 * head : 3 * head + 3], getattr(example, name)[head]
            )
    assert parameters.w_1.shape == (15, 7)
    assert not parameters.b_q.any()
    assert parameters.b_1.all()
    _, others = draw_block(("man",), 3, 5, 7, seed=11)
    for field in dataclasses.fields(parameters):
        np.testing.assert_array_equal(getattr(others, field.name), getattr(parameters, field.name))
    assert (draw_block(words, 3, 5, 7, seed=12)[1].w_1 != parameters.w_1).all()


def test_the_heads_of_a_post_norm_block_are_those_of_multi_head_attention():
    words = ("the", "cat", "saw", "the", "dog")
    x, parameters = draw_block(words, 3, 7, 11, seed=2)
    example = draw_example(words, 3, 7, seed=2)
    heads = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v)
    np.testing.assert_allclose(encoder_block(x, parameters, 7, "post").joined, heads.joined, rtol=0, atol=1e-12)


def test_a_decoders_projections_have_a_stream_of_their_own():
    drawn = np.random.default_rng([17, 5]).normal(0.0, 0.5, (2, 3, 3, 21, 7))
    for attention, expected in zip(draw_decoder_projections(7, 3, 5), drawn, strict=True):
        for number, name in enumerate(PROJECTIONS):
            np.testing.assert_array_equal(getattr(attention, name), expected[:, number])
    with pytest.raises(ValueError, match="at least 1; got 0 and 3"):
        draw_decoder_projections(0, 3)
    with pytest.raises(ValueError, match="seed must not be negative; got -1"):
        draw_decoder_projections(1, 1, -1)


def test_what_stands_behind_a_place_of_a_stream_is_the_same_whatever_was_asked_before():
    every = _MarkedStream.EVERY
    whole = np.random.default_rng([3, 5]).standard_normal(4 * every)
    stream = _MarkedStream(3, 5)
    for place in (0, 7, 3 * every, every - 1, every, 2 * every + 1, 0):
        np.testing.assert_array_equal(stream.after(place).standard_normal(9), whole[place : place + 9])


@pytest.mark.parametrize("d_head", [3, 50, 64, 47])
def test_a_block_has_the_matrices_of_the_example_and_all_else_from_its_own_stream(d_head):
    _, found = draw_block(("bat",), d_head, 3, 10, seed=4)
    example, d_model = draw_example(("bat",), d_head, 3, seed=4), 3 * d_head
    stream = draw_parameters(d_model, 3, 10, np.random.default_rng([3, 4]))
    for name in PROJECTIONS:
        np.testing.assert_array_equal(getattr(found, name), np.hstack(list(getattr(example, name))))
    for name in ("w_o", "w_1", "w_2", "norm_1_gain", "norm_2_gain", "b_o", "b_1", "b_2", "norm_1_shift"):
        np.testing.assert_array_equal(getattr(found, name), getattr(stream, name))
    assert not any(getattr(found, name).any() for name in ("b_q", "b_k", "b_v"))


@pytest.mark.parametrize(("d_head", "seed"), [(50, 0), (64, 0), (47, 0), (64, 1), (2, 0), (60, 0)])
def test_projections_of_a_decoder_are_those_that_would_be_drawn(d_head, seed):
    drawn = np.random.default_rng([17, seed]).normal(0.0, 0.5, (2, 3, 3, 3 * d_head, d_head))
    for found, wanted in zip(draw_decoder_projections(d_head, 3, seed), drawn, strict=True):
        for place, name in enumerate(PROJECTIONS):
            np.testing.assert_array_equal(getattr(found, name), wanted[:, place])


@pytest.mark.parametrize(("d_head", "n_heads", "seed"), [(3, 5, 7), (29, 11, 2)])  # narrow, and as wide as is kept
def test_the_joining_matrix_alone_is_that_of_the_block(d_head, n_heads, seed):
    joining = draw_joining(d_head, n_heads, seed)
    assert (joining == draw_block(("dog",), d_head, n_heads, 13, seed)[1].w_o).all()
    assert joining.std() == pytest.approx((d_head * n_heads) ** -0.5, rel=0.1)
    with pytest.raises(ValueError, match="d_head and n_heads must be at least 1; got 0 and 5"):
        draw_joining(0, 5)
