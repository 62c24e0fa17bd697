"""Stacked blocks: every curve is PyTorch's, what is said follows from the numbers, and no part is missed in silence."""

import re

import numpy as np
import pytest

from core import torch_reference
from core.examples import draw_stack
from core.stack import Parts, StackCurves
from tests.pages.reading import (
    assert_finite,
    bodies,
    change,
    chart,
    charts,
    check_line,
    notices,
    numbers,
    open_page,
    plain,
    recorded,
)
from ui import depth_words
from ui.charts.depth import SERIES

OTHER = {"text": "the cat saw the dog", "seed": "11", "depth": "7", "stack_width": "16", "stack_heads": "2"}


def curves_of(norm_position, activation="gelu", parts=None, n_layers=7):
    x, layers, reading = draw_stack(tuple(OTHER["text"].split()), 16, 64, n_layers, 11)
    return torch_reference.stack_curves(x, layers, 2, reading, norm_position, activation, parts)


def drawn(at, alt):
    """Layers and values of each line of a picture."""
    table = chart(at, alt)
    return {name: (part.layer.tolist(), part.value.to_numpy()) for name, part in table.groupby("series")}


PICTURES = {
    "size": "length of a word's vector over layer",
    "alike": "how alike the words are over layer",
    "gradient at the stream": "gradient at the stream over layer",
    "gradient of w_v": "gradient of w_v over layer",
    "gradient of the last w_v": "gradient of the last w_v over layers in all",
}
WITHOUT = {
    "all parts": ({}, Parts()),
    "no skip connections": ({"keep_skip": "false"}, Parts(skip=False)),
    "no norms": ({"keep_norm": "false"}, Parts(norm=False)),
    "no feed-forward part": ({"keep_feed_forward": "false"}, Parts(feed_forward=False)),
    "no final norm": ({"keep_final_norm": "false"}, Parts(final_norm=False)),
}


def said_of_the_words(at):
    return " ".join(" ".join(plain(body) for body in bodies(at)).split())


@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("kept", WITHOUT)
def test_every_curve_is_pytorchs(kept, activation):
    link, parts = WITHOUT[kept]
    at = open_page("stack", **OTHER, matrix="w_v", activation=activation, **link)
    assert notices(at) == []
    for norm_position, name in SERIES.items():
        theirs = curves_of(norm_position, activation, parts)
        for measure, alt in PICTURES.items():
            layers, values = drawn(at, alt)[name]
            first = 0 if measure in ("size", "alike", "gradient at the stream") else 1
            assert layers == list(range(first, 8))
            np.testing.assert_allclose(values, theirs[measure], rtol=1e-8, atol=1e-10, err_msg=f"{measure}, {name}")


def test_without_attention_there_is_no_w_v_and_the_page_says_so():
    at = open_page("stack", **OTHER, matrix="w_v", keep_attention="false")
    (said,) = re.findall(r"Without their attention.*? instead\.", said_of_the_words(at))
    assert said == "Without their attention the blocks have no w_v: the gradient of w_2 is shown instead."
    expected = curves_of("pre", parts=Parts(attention=False))["gradient of w_2"]
    np.testing.assert_allclose(drawn(at, "gradient of w_2 over layer")["pre-norm"][1], expected, rtol=1e-10)


def test_blocks_without_parts_do_nothing_and_the_page_says_so():
    at = open_page("stack", **OTHER, keep_attention="false", keep_feed_forward="false")
    assert "a block does nothing, and has no matrix to learn" in said_of_the_words(at)
    for name in SERIES.values():
        assert len(set(drawn(at, PICTURES["size"])[name][1])) == 1
    assert len(charts(at)) == 3
    assert not [button for button in at.button if (button.key or "").startswith("reveal_")]


def test_one_word_has_nobody_to_be_like():
    at = open_page("stack", **OTHER | {"text": "word"})
    assert [info.value for info in at.info] == ["How alike the words become needs at least two words."]
    assert len(charts(at)) == 4
    assert_finite(at)
    assert [button.key for button in at.button if (button.key or "").startswith("reveal_")] == ["reveal_deeper"]


def test_sentences_under_the_pictures_hold_their_numbers():
    at = open_page("stack", **OTHER)
    text = said_of_the_words(at)
    pre, post = (curves_of(norm_position) for norm_position in ("pre", "post"))
    lengths = [depth_words.digits(value) for value in (pre["size"][0], pre["size"][-1], post["size"][-1])]
    assert f"Mean length: {lengths[0]} at first, {lengths[1]} after 7 layers of pre-norm, {lengths[2]} after" in text
    assert f"then {pre['alike'][-1]:.2f} (pre) and {post['alike'][-1]:.2f} (post)" in text
    last = [depth_words.digits(found["gradient of the last w_2"][-1]) for found in (pre, post)]
    assert (
        f"The gradient of w_2 in the last of 7 layers is {last[0]} with pre-norm and {last[1]} with post-norm" in text
    )


def test_what_the_sidebar_says_of_d_and_heads_changes_nothing(monkeypatch):
    records = recorded(monkeypatch)
    at = open_page("stack", **OTHER)
    before = {name: values[0].tolist() for name, values in records[-1].matrices.items()}
    change(at, d=7, heads=3)
    assert {name: values[0].tolist() for name, values in records[-1].matrices.items()} == before
    change(at, seed=12)
    assert {name: values[0].tolist() for name, values in records[-1].matrices.items()} != before


def test_one_more_layer_leaves_the_curves_of_the_way_up():
    at = open_page("stack", **OTHER)
    before = drawn(at, PICTURES["size"])
    after = drawn(change(at, depth=8), PICTURES["size"])
    for name in SERIES.values():
        np.testing.assert_array_equal(after[name][1][:8], before[name][1])


def test_zeros_stay_in_the_data_and_are_named():
    at = open_page("stack", depth="24", matrix="w_q", keep_norm="false")
    layers, values = drawn(at, "gradient of w_q over layer")["pre-norm"]
    assert layers == list(range(1, 25))
    none = int((values == 0).sum())
    assert none > 3
    assert f"With either the gradient of w_q is exactly 0 in {none} of 24 layers" in said_of_the_words(at)


def test_numbers_that_leave_the_range_end_the_curves_and_are_named(monkeypatch):
    """No setting of the page gets there: ten thousand stands in for what a stream may be at most."""
    monkeypatch.setattr("core.stack.LARGEST", 1e4)
    at = open_page("stack", depth="23", stack_width="16", keep_norm="false", seed="4321")
    layers, values = drawn(at, PICTURES["size"])["pre-norm"]
    assert values.max() < 1e5
    done = layers[-1]
    assert 3 < done < 23
    text = said_of_the_words(at)
    for name in SERIES.values():
        assert f"With {name} the numbers leave the range of double precision after layer {done} of 23" in text
    assert len(charts(at)) == 2
    assert_finite(at)
    assert len(numbers(at, "stack_numbers", "stream, pre-norm")) == done + 1


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"depth": "49"}, "depth was ignored: wanted a whole number from 1 to 48, given “49”. Used instead: 12."),
        ({"stack_heads": "3"}, "stack_heads was ignored: wanted “1” to “8”, given “3”. Used instead: 4."),
        ({"keep_skip": "no"}, "keep_skip was ignored: wanted true or false, given “no”. Used instead: True."),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_link_out_of_range_is_named(link, said):
    (notice,) = notices(open_page("stack", **link))
    assert notice == f"The link's {said}"


@pytest.mark.parametrize(
    ("link", "compared"),
    [
        ({"keep_norm": "false", "depth": "48"}, "and autograd's gradients"),
        ({"keep_norm": "false", "depth": "48", "text": "la la la lu la"}, "lengths and angles alone"),
        ({"text": "la la la lu la"}, "and autograd's gradients"),
        ({"keep_norm": "false", "keep_skip": "false", "depth": "30", "text": "word"}, "and autograd's gradients"),
        ({"keep_norm": "false", "seed": "9999"}, "sensitive to rounding"),
    ],
    ids=["no norms", "no norms and equal words", "equal words", "one word", "sensitive"],
)
def test_pytorch_agrees_at_the_ends_and_what_is_compared_is_said(link, compared):
    _, text, why = check_line(open_page("stack", **link))
    assert text.startswith("✓ NumPy = PyTorch: ")
    assert compared in why


def test_where_rounding_matters_a_wrong_curve_is_found_all_the_same(monkeypatch):
    real = torch_reference.stack_curves

    def wrong(*args):
        found = real(*args)
        return {name: np.asarray(values) * (1 + 1e-3) for name, values in found.items()}

    monkeypatch.setattr(torch_reference, "stack_curves", wrong)
    _, text, _ = check_line(open_page("stack", keep_norm="false", seed="9999"))
    assert text.startswith("✗ NumPy and PyTorch differ: ")


def fake(last_pre, last_post, n_words=2):
    def one(last):
        alike = np.array([0.1, 0.2]) if n_words > 1 else np.array([])
        return StackCurves(np.array([2.0, 3.0]), alike, np.array([2.0, 1.0]), {"w_2": last}, {"w_2": last})

    return {"pre": one(np.array(last_pre)), "post": one(np.array(last_post))}


@pytest.mark.parametrize(
    ("pre", "post", "said"),
    [
        ([4.0, 1.0], [4.0, 4.0], "gentler with pre-norm, and much less so with post-norm"),
        ([4.0, 4.0], [4.0, 1.0], "it is post-norm whose last layer is pulled less and less"),
        ([4.0, 2.0], [4.0, 2.0], "depth does not set them apart here"),
        ([0.0, 2.0], [4.0, 2.0], "Where it is 0, there is nothing to compare"),
        ([4.0], [4.0], "Add layers"),
    ],
)
def test_the_verdict_follows_the_numbers(pre, post, said):
    assert said in depth_words.backward(fake(pre, post), "w_2")


@pytest.mark.parametrize(
    ("pre", "post", "said"),
    [
        (0.999, 0.995, "in both all words"),
        (0.5, 0.995, "with post-norm all words"),
        (0.995, 0.5, "with pre-norm all words"),
        (0.5, 0.52, "about the same"),
        (0.2, 0.6, "post-norm makes them more alike"),
        (0.6, 0.2, "pre-norm makes them more alike"),
    ],
)
def test_what_is_said_of_likeness_follows_the_numbers(pre, post, said):
    curves = {
        position: StackCurves(np.ones(2), np.array([0.1, alike]), np.array([]), {}, {})
        for position, alike in (("pre", pre), ("post", post))
    }
    assert said in depth_words.forward(curves, Parts())


def test_notes_tell_gradients_that_left_the_range():
    curves = fake([1.0], [1.0])
    curves["post"] = StackCurves(np.array([1.0, 2.0]), np.array([]), np.array([]), {}, {})
    (said,) = depth_words.notes(curves, 1, "w_2", "w_2", Parts())
    assert said == "With post-norm the gradients leave the range of double precision, so none are shown."


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (Parts(), "warm-up"),
        (Parts(skip=False), "lose what tells them apart"),
        (Parts(norm=False), "multiplies its length by about 1.50"),
        (Parts(attention=False), "never meet"),
        (Parts(feed_forward=False), "only mixes words"),
        (Parts(final_norm=False), "Without the final norm nothing divides"),
    ],
)
def test_the_notice_follows_the_parts(parts, said):
    notice = depth_words.notice(fake([1.0], [1.0]), parts)
    assert said in notice
    assert ("warm-up" in notice) == (parts == Parts())
    assert len(re.findall("Without", notice)) == (parts != Parts())
