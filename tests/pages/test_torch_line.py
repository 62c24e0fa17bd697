"""The line that compares NumPy with PyTorch: agreement on every page, a difference, and a check that could not run."""

import re

import numpy as np
import pytest
import streamlit as st

from core import torch_reference
from tests.pages.reading import check_line, open_page, press, texts
from ui import torch_check


@pytest.fixture(autouse=True)
def nothing_kept():
    """An outcome that a page keeps is found anew by every test, and no false one is left for others."""
    st.cache_data.clear()
    yield
    st.cache_data.clear()


COMPARED = {
    "why_attention": "recurrent_jacobians",
    "query_key_value": "attention",
    "scaling_sweep": "softmax_and_jacobian_norm",
    "causal_mask": "attention",
    "order_blindness": "attention",
    "multi_head": "multi_head",
    "encoder_block": "block_stages",
    "stack": "stack_curves",
    "parameter_count": "count_parameters",
    "three_shapes": "cross_attention",
    "kv_cache": "decoder_states",
    "learning": "trained_model",
    "real_model": "trained_encoder",
    "common_mistakes": "attention",
}
"""Page to the function of `core.torch_reference` that it asks."""

LINKS = {
    "lesson": {},
    "large": {"text": "the cat saw the dog", "d": "64", "heads": "12", "seed": "7"},
    "one word": {"text": "word", "d": "1", "heads": "1"},
}


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS.keys())
@pytest.mark.parametrize("name", COMPARED)
def test_it_agrees(name, link):
    if name == "order_blindness" and link.get("text") == "word":
        link = link | {"text": "two words", "positions": "rotary"}
    kind, text, why = check_line(open_page(name, **link))
    assert text.startswith("✓ NumPy = PyTorch: ")
    assert kind == ""
    assert re.search("Compared: .+ tolerance: .+", why)
    if name == "parameter_count":
        assert text.endswith("exactly equal")
    else:
        assert "largest difference" in text
        assert re.match("Found in .+, tolerance .+", why)


def test_it_agrees_with_the_mask_off_and_with_other_positions_and_biases():
    for name, link in (
        ("causal_mask", {"causal": "false"}),
        ("three_shapes", {"shape": "decoder", "decoder_mask": "window-1~~AABABB"}),
        ("three_shapes", {"cross_mask": "padding-64", "encoder_mask": "causal~AD"}),
        ("order_blindness", {"positions": "learned table"}),
        ("order_blindness", {"positions": "rotary"}),
        ("parameter_count", {"d_model": "512", "block_heads": "8", "d_ff": "2048", "biases": "none"}),
        ("parameter_count", {"biases": "no attention biases"}),
        ("parameter_count", {"biases": "no linear biases"}),
    ):
        assert check_line(open_page(name, **link))[1].startswith("✓ NumPy = PyTorch: "), link


def off_by(amount, function):
    """The function with every result a little wrong."""

    def wrong(*arguments, **options):
        found = function(*arguments, **options)
        if isinstance(found, dict):
            return {key: np.asarray(value) + amount for key, value in found.items()}
        return found + 1

    return wrong


@pytest.mark.parametrize("name", COMPARED)
def test_it_says_when_the_numbers_differ(name, monkeypatch):
    function = COMPARED[name]
    monkeypatch.setattr(torch_reference, function, off_by(1e-6, getattr(torch_reference, function)))
    kind, text, _ = check_line(open_page(name))
    assert kind == "differ"
    assert text.startswith("✗ NumPy and PyTorch differ: ")
    assert ("differ by 1" if name == "parameter_count" else "1.0e-06") in text


@pytest.mark.parametrize("name", COMPARED)
def test_it_says_when_it_could_not_check(name, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no <b>kernel</b> for this")

    monkeypatch.setattr(torch_reference, COMPARED[name], broken)
    at = open_page(name)
    kind, text, _ = check_line(at)
    assert kind == "unchecked"
    assert text == "Not checked against PyTorch: RuntimeError: no <b>kernel</b> for this"
    assert at.get("vega_lite_chart")


KEPT_FOR = {
    "encoder_block": {
        "d": "5", "heads": "3", "seed": "1", "text": "another sentence", "norm": "post", "activation": "relu",
        "factor": "4",
    },
    "multi_head": {"d": "5", "heads": "3", "seed": "1", "text": "another sentence"},
    "stack": {
        "depth": "3", "stack_width": "8", "stack_heads": "1", "seed": "1", "text": "another sentence",
        "activation": "relu", "keep_attention": "false",
    },
    "kv_cache": {"new_words": "4", "decoder_layers": "1", "cross": "true", "d": "5", "heads": "3", "seed": "1"},
    "why_attention": {"radius": "0.5", "as_elsewhere": "true", "d": "5", "heads": "3", "seed": "1", "text": "a b"},
    "three_shapes": {"head": "1", "shape": "decoder", "target": "a b", "d": "5", "heads": "3", "seed": "1"},
    "real_model": {"text": "another sentence"},
}  # fmt: skip
"""Parameters of a link that the numbers of a page depend on, each with another value than the first visit's."""


@pytest.mark.parametrize("name", KEPT_FOR)
def test_a_comparison_is_made_again_for_other_settings_and_only_then(name, monkeypatch):
    calls = []
    compared = torch_check._compared

    def counted(what, state, check):
        return compared(what, state, lambda: calls.append(state) or check())

    monkeypatch.setattr(torch_check, "_compared", counted)
    assert check_line(open_page(name)) == check_line(open_page(name))
    assert len(calls) == 1
    for number, (key, value) in enumerate(KEPT_FOR[name].items(), 2):
        open_page(name, **{key: value})
        assert len(calls) == number, key


def test_nan_on_the_other_side_is_a_difference(monkeypatch):
    monkeypatch.setattr(torch_reference, "attention", off_by(np.nan, torch_reference.attention))
    assert check_line(open_page("query_key_value"))[0] == "differ"


@pytest.fixture
def not_loaded(monkeypatch):
    """As if nobody had loaded PyTorch yet; what is started is recorded instead."""
    started = []
    monkeypatch.setattr(torch_check, "_ready", lambda: False)
    monkeypatch.setattr(torch_check, "start_loading", lambda: started.append(True))
    return started


@pytest.mark.parametrize("name", ["query_key_value", "scaling_sweep"])
def test_it_says_that_it_is_waiting(name, not_loaded):
    kind, text, _ = check_line(open_page(name))
    assert (kind, text) == ("unchecked", "Not checked yet: PyTorch is being loaded …")
    assert not_loaded == [True]


@pytest.mark.parametrize("name", ["causal_mask", "order_blindness", "parameter_count"])
def test_it_waits_for_the_reader_where_pytorch_is_not_loaded(name, not_loaded):
    at = open_page(name)
    assert not any("PyTorch is being loaded" in text for text in texts(at))
    assert not_loaded == []
    press(at, "Check against PyTorch")
    assert check_line(at)[1] == "Not checked yet: PyTorch is being loaded …"
    assert not_loaded == [True]


def test_it_says_why_pytorch_could_not_be_loaded(monkeypatch, not_loaded):
    monkeypatch.setitem(torch_check._state, "failed", ImportError("libtorch.so: no such file"))
    at = open_page("query_key_value")
    kind, text, _ = check_line(at)
    assert kind == "unchecked"
    assert text == "Not checked against PyTorch: it could not be loaded (libtorch.so: no such file)."
    assert not_loaded == []
    assert len(at.get("vega_lite_chart")) == 8


def test_home_shows_no_check():
    assert not any("PyTorch" in text for text in texts(open_page("home")))
