"""Greedy decoding with and without a cache: equal to the last digits, counted by hand, refereed by PyTorch."""

from dataclasses import asdict, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import torch_reference
from core.cross_attention import cross_attention
from core.decoder_block import (
    DecoderLayer,
    KeysAndValues,
    decoder_block,
    draw_layer,
    source_keys_and_values,
)
from core.decoding import (
    AGAIN,
    KEPT,
    NOT_COMPUTED,
    NOW,
    PARTS,
    Generation,
    compare_ways,
    generate,
    generate_both,
    movement,
    origins,
    run_once,
)
from core.encoder_block import encoder_block
from core.examples import draw_decoder, draw_example
from core.layer_norm import layer_norm
from core.masks import causal_mask
from core.multi_head import merge_heads
from core.positions import sinusoidal_encoding

VOCABULARY = ("dog", "bites", "the", "man", "twice")
SOURCE = ("Hund", "beißt", "den", "Mann", "zwei", "Mal", "heute")


@cache
def both(prompt=(2, 0, 1), n_new=7, n_layers=3, source=(), d_head=5, n_heads=3, seed=1):
    decoder = draw_decoder(VOCABULARY, d_head, n_heads, n_layers, seed, source)
    return decoder, generate(decoder, prompt, n_new, False), generate(decoder, prompt, n_new, True)


def total(way: Generation, what):
    return sum(what(step) for step in way.steps)


# The same either way


@pytest.mark.parametrize("source", [(), SOURCE[:1], SOURCE], ids=["alone", "one word", "source"])
@pytest.mark.parametrize("n_layers", [1, 2, 4])
@pytest.mark.parametrize("prompt", [(0,), (2, 0, 1, 2, 3)])
def test_states_logits_words_keys_and_values_agree(prompt, n_layers, source):
    for seed in (1, 2, 3):
        _, plain, cached = both(prompt, 7, n_layers, source, seed=seed)
        assert plain.tokens == cached.tokens
        assert compare_ways(plain, cached).largest_difference < 1e-12
        for one, other in zip(plain.steps, cached.steps, strict=True):
            np.testing.assert_allclose(one.state, other.state, rtol=0, atol=1e-12)
            np.testing.assert_allclose(one.logits, other.logits, rtol=0, atol=1e-12)
        for one, other in zip(plain.layers, cached.layers, strict=True):
            np.testing.assert_allclose(one.q, other.q, rtol=0, atol=1e-12)
            np.testing.assert_allclose(one.keys_and_values.k, other.keys_and_values.k, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=25)
@given(
    prompt=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    n_new=st.integers(1, 6),
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3)),
    n_source=st.integers(0, 3),
    seed=st.integers(0, 9999),
)
def test_they_agree_for_any_prompt_and_sizes(prompt, n_new, sizes, n_source, seed):
    decoder = draw_decoder(VOCABULARY, *sizes, seed, SOURCE[:n_source])
    assert compare_ways(*(generate(decoder, prompt, n_new, use_cache) for use_cache in (False, True))).agrees


@pytest.mark.parametrize("source", [(), SOURCE], ids=["alone", "source"])
def test_one_causal_run_over_the_final_text_gives_every_step(source):
    decoder, plain, cached = both(source=source)
    states = run_once(decoder, cached.tokens)[-1].output
    assert len(states) == 3 + 7
    for way in (plain, cached):
        for step in way.steps:
            np.testing.assert_allclose(step.state, states[step.length - 1], rtol=0, atol=1e-12)
            np.testing.assert_allclose(step.logits, decoder.embeddings @ states[step.length - 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("source", [(), SOURCE], ids=["alone", "source"])
def test_pytorch_gives_the_same_states(source):
    decoder, _, cached = both(source=source)
    x = decoder.embeddings[list(cached.tokens)] + sinusoidal_encoding(10, 15)
    theirs = torch_reference.decoder_states(x, decoder.layers, 3, decoder.source)["states"]
    np.testing.assert_allclose(run_once(decoder, cached.tokens)[-1].output, theirs, rtol=0, atol=1e-12)
    for step in cached.steps:
        np.testing.assert_allclose(step.state, theirs[step.length - 1], rtol=0, atol=1e-12)


def test_without_a_source_a_block_is_an_encoder_block_with_a_causal_mask():
    layer, x = draw_layer(15, 3, 7, np.random.default_rng(0)), np.random.default_rng(1).normal(size=(11, 15))
    found = decoder_block(x, layer, 3)
    expected = encoder_block(x, layer.block, 3, may_attend=causal_mask(11))
    np.testing.assert_array_equal(found.output, expected.output)
    np.testing.assert_array_equal(found.attention.weights, expected.heads.weights)
    free = decoder_block(x, layer, 3, causal=False)
    np.testing.assert_array_equal(free.output, encoder_block(x, layer.block, 3).output)
    assert found.cross_attention is None
    assert found.cross_q is None


@pytest.mark.parametrize("split", [1, 4, 10])
def test_a_block_goes_on_after_any_number_of_cached_rows(split):
    rng = np.random.default_rng(2)
    layer, x, source = draw_layer(15, 3, 7, rng, cross=True), rng.normal(size=(11, 15)), rng.normal(size=(5, 15))
    given_by_source = source_keys_and_values(source, layer.cross, 3)
    whole = decoder_block(x, layer, 3, None, given_by_source)
    first = decoder_block(x[:split], layer, 3, None, given_by_source)
    rest = decoder_block(x[split:], layer, 3, first.keys_and_values, given_by_source)
    np.testing.assert_allclose(np.concatenate([first.output, rest.output]), whole.output, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rest.attention.weights, whole.attention.weights[:, split:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(rest.cross_q, whole.cross_q[:, split:], rtol=0, atol=1e-12)
    assert rest.attention.weights.shape == (3, 11 - split, 11)


def test_cross_attention_looks_at_every_word_of_the_source_and_only_there():
    rng = np.random.default_rng(2)
    layer, x, source = draw_layer(15, 3, 7, rng, cross=True), rng.normal(size=(11, 15)), rng.normal(size=(5, 15))
    found = decoder_block(x, layer, 3, None, source_keys_and_values(source, layer.cross, 3))
    np.testing.assert_allclose(found.cross_attention.weights.sum(axis=-1), 1, rtol=0, atol=1e-12)
    assert (found.cross_attention.weights > 0).all()
    turned = decoder_block(x, layer, 3, None, source_keys_and_values(source[::-1], layer.cross, 3))
    np.testing.assert_allclose(turned.output, found.output, rtol=0, atol=1e-12)
    values = source_keys_and_values(source, layer.cross, 3).v
    mixed = merge_heads(found.cross_attention.weights @ values)
    np.testing.assert_allclose(merge_heads(found.cross_attention.output), mixed, rtol=0, atol=1e-12)


# What is chosen


def test_the_largest_logit_is_chosen_and_of_equal_ones_the_first():
    decoder, plain, _ = both()
    for step in plain.steps:
        np.testing.assert_allclose(step.logits, step.state @ decoder.embeddings.T, rtol=0, atol=1e-12)
        assert step.logits[step.chosen] == step.logits.max()
    twins = type(decoder)(np.tile(decoder.embeddings[1], (4, 1)), decoder.layers, decoder.n_heads)
    assert {step.chosen for step in generate(twins, (3,), 4, True).steps} == {0}


def test_a_vocabulary_of_one_word_has_one_thing_to_say():
    decoder = draw_decoder(("la",), 2, 1, 1, 0)
    assert generate(decoder, (0, 0), 4, True).tokens == (0,) * 6


def test_words_are_those_of_the_other_pages_and_one_more_layer_changes_no_other():
    small, large = (draw_decoder(VOCABULARY, 4, 2, n_layers, 7, SOURCE) for n_layers in (1, 3))
    np.testing.assert_array_equal(small.embeddings, draw_example(VOCABULARY, 4, 2, 7).x)
    np.testing.assert_array_equal(small.layers[0].cross.w_v, large.layers[0].cross.w_v)
    np.testing.assert_array_equal(small.layers[0].block.w_1, large.layers[0].block.w_1)
    assert not np.array_equal(large.layers[1].block.w_1, large.layers[2].block.w_1)
    without = draw_decoder(VOCABULARY, 4, 2, 3, 7)
    np.testing.assert_array_equal(without.layers[2].block.w_2, large.layers[2].block.w_2)
    assert without.source is None
    assert without.layers[0].cross is None
    gains = [layer.cross.norm_gain for layer in large.layers]
    assert all((gain != 1).all() for gain in gains)


# What is computed, counted by hand


def test_five_words_from_one_by_hand():
    _, plain, cached = both((3,), 5, 2)
    assert [step.rows("K") for step in plain.steps] == [1, 2, 3, 4, 5]
    assert [step.rows("V", 1) for step in cached.steps] == [1, 1, 1, 1, 1]
    assert total(plain, lambda step: step.rows("K")) == 1 + 2 + 3 + 4 + 5 == 15
    assert total(cached, lambda step: step.rows("K")) == 5
    assert [step.pairs() for step in plain.steps] == [1, 4, 9, 16, 25]
    assert [step.pairs() for step in cached.steps] == [1, 2, 3, 4, 5]
    assert total(plain, lambda step: step.pairs()) == 55
    assert total(cached, lambda step: step.pairs()) == 15
    assert [(step.first, step.length) for step in cached.steps] == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert [step.first for step in plain.steps] == [0] * 5


def test_a_prompt_of_three_and_two_words_by_hand():
    """Widths of d_model = 15, feed-forward 30, 2 layers, 5 words in the vocabulary."""
    _, plain, cached = both((2, 0, 1), 2, 2)
    assert [step.rows("K") for step in plain.steps] == [3, 4]
    assert [step.rows("K") for step in cached.steps] == [3, 1]
    assert [step.pairs() for step in plain.steps] == [9, 16]
    assert [step.pairs() for step in cached.steps] == [9, 4]
    assert [step.multiply_adds for step in plain.steps] == [
        {"projections": 2 * 4 * rows * 225, "scores": 2 * rows**2 * 15, "mixing": 2 * rows**2 * 15,
         "feed-forward": 2 * 2 * rows * 450, "logits": 75}
        for rows in (3, 4)
    ]  # fmt: skip
    assert cached.steps[0].multiply_adds == plain.steps[0].multiply_adds
    assert cached.steps[1].multiply_adds == {
        "projections": 1800, "scores": 120, "mixing": 120, "feed-forward": 1800, "logits": 75,
    }  # fmt: skip
    assert [step.cache_bytes for step in cached.steps] == [2 * 2 * n * 15 * 8 for n in (3, 4)]
    assert [step.cache_bytes for step in plain.steps] == [0, 0]


@settings(deadline=None, max_examples=30)
@given(
    n_prompt=st.integers(1, 9),
    n_new=st.integers(1, 12),
    n_layers=st.integers(1, 3),
    n_source=st.sampled_from((0, 1, 3)),
)
def test_closed_forms(n_prompt, n_new, n_layers, n_source):
    """Rows n (n + 1) / 2 and pairs n (n + 1) (2 n + 1) / 6, less those of the shorter texts that the prompt skips."""
    decoder = draw_decoder(("a", "b"), 1, 2, n_layers, 3, SOURCE[:n_source])
    plain, cached = (generate(decoder, [0] * n_prompt, n_new, use_cache) for use_cache in (False, True))
    last, before = n_prompt + n_new - 1, n_prompt - 1

    def triangle(n):
        return n * (n + 1) // 2

    def pyramid(n):
        return n * (n + 1) * (2 * n + 1) // 6

    for layer in range(n_layers):
        for name in ("Q", "K", "V", "W_o", "expand", "contract"):
            assert total(plain, lambda step, name=name, layer=layer: step.rows(name, layer)) == (
                triangle(last) - triangle(before)
            )
            assert total(cached, lambda step, name=name, layer=layer: step.rows(name, layer)) == last
        pairs = [total(way, lambda step, layer=layer: step.pairs("scores", layer)) for way in (plain, cached)]
        assert pairs == [pyramid(last) - pyramid(before), triangle(last) - triangle(n_prompt) + n_prompt**2]
        for name in ("source K", "source V"):
            rows = [total(way, lambda step, name=name, layer=layer: step.rows(name, layer)) for way in (plain, cached)]
            assert rows == [n_source * n_new, n_source]
        crossed = [total(way, lambda step, layer=layer: step.pairs("cross scores", layer)) for way in (plain, cached)]
        assert crossed == [n_source * (triangle(last) - triangle(before)), n_source * last]
    kept = [step.cache_bytes for step in cached.steps]
    assert kept == [2 * n_layers * (n + n_source) * 2 * 8 for n in range(n_prompt, last + 1)]


@pytest.mark.parametrize("source", [(), SOURCE], ids=["alone", "source"])
def test_every_product_belongs_to_one_part(source):
    _, plain, cached = both(source=source)
    names = [name for part in PARTS.values() for name in part]
    assert len(names) == len(set(names))
    for step in (*plain.steps, *cached.steps):
        assert {product.name for product in step.products} <= set(names)
        assert sum(step.multiply_adds.values()) == sum(product.multiply_adds for product in step.products)
    made = {product.name for product in plain.steps[0].products}
    assert made == ({*names} if source else {name for name in names if not name.startswith(("cross", "source"))})


# Why a cache needs the mask


def test_with_the_mask_a_new_word_changes_no_earlier_row_and_without_it_does():
    decoder, _, cached = both()
    tokens = cached.tokens[:6]
    moved = movement(decoder, tokens)
    for side, causal in enumerate((True, False)):
        before, after = (run_once(decoder, some, causal) for some in (tokens[:5], tokens))
        states = np.abs(after[-1].output[:5] - before[-1].output).max(axis=-1)
        np.testing.assert_array_equal(moved.states[:, side], states)
        for layer in range(3):
            rows = [merge_heads(blocks[layer].keys_and_values.k)[:5] for blocks in (before, after)]
            np.testing.assert_array_equal(moved.keys[layer, :, side], np.abs(rows[1] - rows[0]).max(axis=-1))
    assert moved.states[:, 0].max() < 1e-12
    assert moved.keys[:, :, 0].max() < 1e-12
    assert moved.states[:, 1].min() > 1e-3
    assert moved.keys[0, :, 1].max() < 1e-12, "the first layer's keys depend on their own word alone"
    assert moved.keys[1:, :, 1].min() > 1e-3


@pytest.mark.parametrize("n_new", [1, 4])
@pytest.mark.parametrize("source", [(), SOURCE])
def test_both_ways_at_once_are_each_way_by_itself_to_the_last_bit(n_new, source):
    decoder = draw_decoder(("dog", "bites", "man"), 3, 2, 2, 1, source)
    together = generate_both(decoder, (0, 2, 1), n_new)
    for found, use_cache in zip(together, (False, True), strict=True):
        alone = generate(decoder, (0, 2, 1), n_new, use_cache)
        np.testing.assert_equal(asdict(found), asdict(alone))
    with pytest.raises(ValueError, match="at least 1 new word"):
        generate_both(decoder, (0,), 0)


def test_a_run_that_is_there_already_is_not_made_again():
    decoder, _, cached = both()
    whole = run_once(decoder, cached.tokens)
    np.testing.assert_equal(asdict(movement(decoder, cached.tokens, whole)), asdict(movement(decoder, cached.tokens)))
    other = run_once(decoder, cached.tokens[::-1])
    assert (movement(decoder, cached.tokens, other).states[:, 0] > 1e-3).all(), "the run that was given is used"


def test_where_things_come_from_is_what_was_computed():
    """By hand: a prompt of two words, then a third and a fourth."""
    _, plain, cached = both((2, 0), 3, 1, SOURCE[:2])
    now, again, kept, nothing = NOW, AGAIN, KEPT, NOT_COMPUTED
    for way in (plain, cached):
        first = origins(way, 0)
        assert first.queries.tolist() == first.keys.tolist() == [now, now]
        assert first.pairs.tolist() == [[now, now], [now, now]]
        assert first.source.tolist() == [now, now]
    third = origins(plain, 1)
    assert third.queries.tolist() == third.keys.tolist() == [again, again, now]
    # The old queries meet the new key for the first time: masked, but computed.
    assert third.pairs.tolist() == [[again, again, now], [again, again, now], [now, now, now]]
    assert third.source.tolist() == [again, again]
    assert third.source_pairs.tolist() == [[again, again], [again, again], [now, now]]
    fourth = origins(cached, 2)
    assert fourth.queries.tolist() == [nothing, nothing, nothing, now]
    assert fourth.keys.tolist() == [kept, kept, kept, now]
    assert fourth.pairs.tolist() == [*[[nothing] * 4] * 3, [now] * 4]
    assert fourth.source.tolist() == [kept, kept]
    assert fourth.source_pairs.tolist() == [*[[nothing] * 2] * 3, [now] * 2]


@settings(deadline=None, max_examples=20)
@given(n_prompt=st.integers(1, 5), n_new=st.integers(1, 6), n_source=st.integers(0, 2))
def test_what_is_said_to_be_computed_is_what_was_counted(n_prompt, n_new, n_source):
    decoder = draw_decoder(("a", "b"), 1, 1, 1, 3, SOURCE[:n_source])
    for use_cache in (False, True):
        way = generate(decoder, [0] * n_prompt, n_new, use_cache)
        for number, step in enumerate(way.steps):
            found = origins(way, number)

            def made(places):
                return int(np.isin(places, (NOW, AGAIN)).sum())

            assert made(found.queries) == step.rows("Q")
            assert made(found.keys) == step.rows("K") == step.rows("V")
            assert made(found.pairs) == step.pairs()
            assert made(found.source) == step.rows("source K")
            assert made(found.source_pairs) == step.pairs("cross scores")
            assert not use_cache or AGAIN not in [*found.keys, *found.pairs.ravel(), *found.source]


def test_cross_attention_is_that_of_the_page_about_it():
    """Without biases, by the function that computes keys and values of the source on the way."""
    rng = np.random.default_rng(4)
    layer, x, source = draw_layer(15, 3, 7, rng, cross=True), rng.normal(size=(4, 15)), rng.normal(size=(5, 15))
    zero = np.zeros(15)
    cross = replace(layer.cross, b_q=zero, b_k=zero, b_v=zero, b_o=zero)
    found = decoder_block(x, DecoderLayer(layer.block, cross), 3, None, source_keys_and_values(source, cross, 3))
    before = decoder_block(x, DecoderLayer(layer.block), 3)
    rows = x + merge_heads(before.attention.output) @ layer.block.w_o + layer.block.b_o
    by_head = (np.stack(np.hsplit(w, 3)) for w in (cross.w_q, cross.w_k, cross.w_v))
    other = cross_attention(layer_norm(rows, cross.norm_gain, cross.norm_shift), source, *by_head, cross.w_o)
    np.testing.assert_allclose(found.cross_attention.weights, other.heads.weights, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.cross_q, other.q, rtol=0, atol=1e-12)


def test_the_cache_of_one_layer_grows_by_rows():
    a, b = (KeysAndValues(np.full((3, n, 2), n), np.full((3, n, 2), -n)) for n in (4, 1))
    both_together = a.followed_by(b)
    assert len(both_together) == 5
    assert both_together.k[0, :, 0].tolist() == [4, 4, 4, 4, 1]
    assert both_together.v[2, :, 1].tolist() == [-4, -4, -4, -4, -1]
    assert both_together.nbytes == both_together.k.nbytes + both_together.v.nbytes == 2 * 3 * 5 * 2 * 8


# Comparing


def test_a_difference_is_found_and_named():
    decoder, plain, cached = both()
    other = generate(decoder, (2, 0, 3), 7, True)
    assert not compare_ways(plain, other).agrees
    layers = list(cached.layers)
    moved = layers[1].keys_and_values.k.copy()
    moved[1, 4, 2] += 1e-6
    kept = KeysAndValues(moved, layers[1].keys_and_values.v)
    layers[1] = type(layers[1])(layers[1].q, kept, layers[1].cross_q, layers[1].source)
    found = compare_ways(plain, Generation(cached.prompt, cached.steps, tuple(layers)))
    assert (found.where, found.agrees) == ("K of layer 1", False)
    assert found.largest_difference == pytest.approx(1e-6, rel=1e-4)


# Bad input


def test_bad_input_is_refused_in_one_sentence():
    decoder, *_ = both()
    for prompt, n_new in (((), 3), ((0,), 0), ((5,), 2), ((-1,), 2)):
        with pytest.raises(ValueError, match="wanted a prompt of places from 0 to 4 and at least 1 new word; got"):
            generate(decoder, prompt, n_new, True)
    with pytest.raises(ValueError, match="a text and its next word; got 1 words"):
        movement(decoder, (0,))
    with pytest.raises(ValueError, match="at least one word"):
        run_once(decoder, ())
    with pytest.raises(ValueError, match="needs a source"):
        decoder_block(np.ones((2, 6)), draw_layer(6, 3, 5, np.random.default_rng(0), cross=True), 3)
    with pytest.raises(ValueError, match="always looks at a source"):
        torch_reference.decoder_layer(draw_layer(6, 3, 5, np.random.default_rng(0)), 3)
    for vocabulary in ((), ("a", "a")):
        with pytest.raises(ValueError, match="vocabulary must hold"):
            draw_decoder(vocabulary)
    for sizes in ({"n_layers": 0}, {"d_head": 0}, {"n_heads": 0}, {"seed": -1}):
        with pytest.raises(ValueError, match="must"):
            draw_decoder(VOCABULARY, **sizes)
