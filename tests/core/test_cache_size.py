"""Caches of keys and values: the formula against arrays of that size, and the published sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cache_size import MODELS, cache_bytes


@given(*[st.integers(1, 5)] * 5, st.sampled_from([np.float16, np.float32, np.float64]))
def test_a_cache_is_as_large_as_its_arrays(n, n_layers, n_kv_heads, d_head, batch, kind):
    keys_and_values = np.zeros((2, n_layers, batch, n_kv_heads, n, d_head), kind)
    found = cache_bytes(n, n_layers, n_kv_heads, d_head, batch, np.dtype(kind).itemsize)
    assert found == keys_and_values.nbytes


@pytest.mark.parametrize(
    ("name", "d_model", "a_token"),
    [
        ("GPT-2 small", 768, 36_864),
        ("GPT-3 175B", 12_288, 4_718_592),
        ("Llama 2 7B", 4_096, 524_288),
        ("Llama 2 70B", 8_192, 327_680),
        ("Llama 3 8B", 4_096, 131_072),
        ("Llama 3 70B", 8_192, 327_680),
        ("Mistral 7B", 4_096, 131_072),
        ("Qwen2.5 7B", 3_584, 57_344),
    ],
)
def test_published_sizes_give_the_width_of_the_model_and_the_bytes_of_a_token(name, d_model, a_token):
    (model,) = [model for model in MODELS if model.name == name]
    assert model.n_heads * model.d_head == d_model
    assert model.n_heads % model.n_kv_heads == 0
    assert cache_bytes(1, model.n_layers, model.n_kv_heads, model.d_head) == a_token


def test_every_model_is_checked_above():
    assert len(MODELS) == 8
    assert all(model.source for model in MODELS)


@pytest.mark.parametrize("place", range(6))
def test_a_size_below_one_is_refused(place):
    sizes = [3, 2, 1, 5, 1, 2]
    sizes[place] = 0
    with pytest.raises(ValueError, match=r"sizes must be at least 1; got .*=0"):
        cache_bytes(*sizes)
