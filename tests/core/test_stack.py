"""Stacked blocks: streams and gradients against PyTorch's autograd and finite differences; what depth does."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from core import torch_reference
from core.encoder_block import draw_parameters, encoder_block
from core.examples import draw_stack
from core.layer_norm import layer_norm
from core.stack import LARGEST, Parts, Stack, mean_cosine, run_stack, stack_curves

VARIANTS = [Parts(*kept) for kept in product((True, False), repeat=5)]
BOTH = pytest.mark.parametrize("norm_position", ["pre", "post"])


def left_out(parts):
    names = ("attention", "feed_forward", "skip", "norm", "final_norm")
    return " ".join(name for name in names if not getattr(parts, name)) or "all parts"


def draw(n_words=5, n_heads=2, d_head=7, d_ff=17, n_layers=3, seed=0):
    """Nothing at a special value: gains are not 1."""
    rng = np.random.default_rng(seed)
    d_model = n_heads * d_head
    x, reading = rng.normal(0.3, 1.5, size=(2, n_words, d_model))
    return x, [draw_parameters(d_model, n_heads, d_ff, rng, bias=False) for _ in range(n_layers)], n_heads, reading


def stack_of(words="Meera bought a new bat", d_model=32, n_layers=12, seed=0):
    x, layers, reading = draw_stack(tuple(words.split()), d_model, 4 * d_model, n_layers, seed)
    return x, layers, 4, reading


def assert_same(ours, theirs, within):
    found = {"streams": ours.streams, "stream gradients": ours.stream_gradients}
    wanted = {"streams": theirs.streams, "stream gradients": theirs.stream_gradients}
    for kind in ("gradients", "last_gradients"):
        assert getattr(ours, kind).keys() == getattr(theirs, kind).keys()
        found |= {f"{kind} {name}": array for name, array in getattr(ours, kind).items()}
        wanted |= {f"{kind} {name}": array for name, array in getattr(theirs, kind).items()}
    for name, array in found.items():
        np.testing.assert_allclose(array, wanted[name], rtol=0, atol=within, err_msg=name)


@pytest.mark.parametrize("parts", VARIANTS, ids=left_out)
def test_every_stream_and_gradient_equals_autograd(parts):
    for norm_position, activation in product(("pre", "post"), ("gelu", "relu")):
        given = draw()
        ours = run_stack(*given, norm_position, activation, parts)
        theirs = torch_reference.stack(*given, norm_position, activation, parts)
        assert set(ours.gradients) == set(parts.parameters)
        assert_same(ours, theirs, 1e-10)


@pytest.mark.parametrize(
    ("n_words", "n_heads", "d_head", "d_ff", "n_layers"), [(1, 3, 5, 2, 2), (11, 5, 3, 7, 5), (2, 1, 13, 3, 1)]
)
def test_stack_equals_autograd_at_other_sizes(n_words, n_heads, d_head, d_ff, n_layers):
    for norm_position, activation in product(("pre", "post"), ("gelu", "relu")):
        given = draw(n_words, n_heads, d_head, d_ff, n_layers)
        theirs = torch_reference.stack(*given, norm_position, activation)
        assert_same(run_stack(*given, norm_position, activation), theirs, 1e-10)


@BOTH
def test_a_deep_stack_equals_autograd(norm_position):
    given = stack_of(n_layers=48)
    assert_same(run_stack(*given, norm_position), torch_reference.stack(*given, norm_position), 1e-10)


@BOTH
def test_a_deep_stack_without_norms_equals_autograd(norm_position):
    """Scores of 1e20: PyTorch's fused attention, which computes its weights anew on the way back, is off by 1e29."""
    given, parts = stack_of(n_layers=48), Parts(norm=False)
    ours = stack_curves(run_stack(*given, norm_position, parts=parts)).named()
    theirs = torch_reference.stack_curves(*given, norm_position, parts=parts)
    assert ours["size"][-1] > 1e10
    for name, curve in ours.items():
        np.testing.assert_allclose(curve, theirs[name], rtol=0, atol=1e-10 * max(1.0, curve.max()), err_msg=name)


@BOTH
def test_the_referees_own_way_through_parts_is_its_whole_layer(norm_position):
    x, layers, n_heads, reading = draw()
    expected = torch_reference.stack(x, layers, n_heads, reading, norm_position).streams
    stream = torch.from_numpy(x)[None]
    for layer, after in zip(layers, expected[1:], strict=True):
        module = torch_reference.encoder_layer(layer, n_heads, norm_position)
        stream = torch_reference._run_parts(module, stream, Parts())
        np.testing.assert_allclose(stream[0].detach().numpy(), after, rtol=0, atol=1e-12)


@BOTH
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_gradients_equal_finite_differences(norm_position, activation):
    x, layers, n_heads, reading = draw(n_words=3, n_heads=2, d_head=3, d_ff=5, n_layers=2)
    run = run_stack(x, layers, n_heads, reading, norm_position, activation)

    def loss(x, layers):
        stream = run_stack(x, layers, n_heads, reading, norm_position, activation).streams[-1]
        return (reading * (layer_norm(stream) if norm_position == "pre" else stream)).sum()

    def difference(changed):
        return (loss(*changed(1e-6)) - loss(*changed(-1e-6))) / 2e-6

    for place in ((0, 1), (2, 5)):

        def moved_x(step, place=place):
            other = x.copy()
            other[place] += step
            return other, layers

        np.testing.assert_allclose(run.stream_gradients[0][place], difference(moved_x), rtol=1e-6, atol=1e-8)
    for number, name in product((0, 1), run.gradients):

        def moved_matrix(step, number=number, name=name):
            matrix = getattr(layers[number], name).copy()
            matrix[1, 2] += step
            changed = [*layers]
            changed[number] = replace(layers[number], **{name: matrix})
            return x, changed

        found = run.gradients[name][number][1, 2]
        np.testing.assert_allclose(found, difference(moved_matrix), rtol=1e-6, atol=1e-8, err_msg=name)


@BOTH
def test_with_all_parts_a_stack_is_one_block_after_the_other(norm_position):
    x, layers, n_heads, reading = draw()
    run = run_stack(x, layers, n_heads, reading, norm_position)
    for number, layer in enumerate(layers):
        after = encoder_block(run.streams[number], layer, n_heads, norm_position).output
        np.testing.assert_allclose(run.streams[number + 1], after, rtol=0, atol=1e-13)


@BOTH
def test_one_more_layer_changes_no_earlier_stream(norm_position):
    short, long = (stack_of(n_layers=n_layers) for n_layers in (3, 5))
    runs = [run_stack(*given, norm_position) for given in (short, long)]
    np.testing.assert_array_equal(runs[1].streams[:4], runs[0].streams)
    for name, array in runs[0].last_gradients.items():
        np.testing.assert_array_equal(runs[1].last_gradients[name][:3], array)


@BOTH
def test_last_gradients_are_those_of_shorter_stacks(norm_position):
    x, layers, n_heads, reading = draw(n_layers=3)
    run = run_stack(x, layers, n_heads, reading, norm_position)
    for n_layers in (1, 2, 3):
        shorter = run_stack(x, layers[:n_layers], n_heads, reading, norm_position)
        for name, array in run.last_gradients.items():
            np.testing.assert_allclose(array[n_layers - 1], shorter.gradients[name][-1], rtol=0, atol=1e-13)


def test_a_stack_without_both_parts_does_nothing():
    x, layers, n_heads, reading = draw()
    run = run_stack(x, layers, n_heads, reading, "post", parts=Parts(attention=False, feed_forward=False))
    for stream in run.streams:
        np.testing.assert_array_equal(stream, x)
    np.testing.assert_array_equal(run.stream_gradients[0], reading)
    assert run.gradients == run.last_gradients == {}


def test_final_norm_belongs_to_a_pre_norm_stack_with_norms():
    kept = {
        (norm, final_norm, norm_position): Parts(norm=norm, final_norm=final_norm).ends_with_norm(norm_position)
        for norm, final_norm, norm_position in product((True, False), (True, False), ("pre", "post"))
    }
    assert [key for key, ends in kept.items() if ends] == [(True, True, "pre")]


# What depth does


def test_post_norm_holds_the_length_of_the_stream_and_pre_norm_lets_it_grow():
    given = stack_of(n_layers=48)
    pre, post = (stack_curves(run_stack(*given, norm_position)) for norm_position in ("pre", "post"))
    np.testing.assert_allclose(post.size[1:], 32**0.5, rtol=1e-3)
    assert pre.size[48] > 1.5 * pre.size[12] > 2 * pre.size[1]


def test_gradient_at_the_last_layer_shrinks_with_depth_in_pre_norm_only():
    """Xiong et al. 2020, theorem 1; means over seeds, since each stack is one draw."""
    ends = {"pre": [], "post": []}
    for seed, (norm_position, found) in product(range(5), ends.items()):
        curves = stack_curves(run_stack(*stack_of(n_layers=40, seed=seed), norm_position))
        last = curves.last_gradient["w_2"]
        found.append((last[:2].mean(), last[8:12].mean(), last[36:].mean()))
    (pre_1, pre_10, pre_40), (post_1, post_10, post_40) = (np.mean(found, axis=0) for found in ends.values())
    assert pre_1 > 1.5 * pre_10 > 2 * pre_40
    assert 0.6 < post_40 / post_10 < 1.6
    assert 0.6 < post_10 / post_1 < 1.6
    assert post_40 > 3 * pre_40


def test_words_become_alike_without_skip_connections():
    """Rank collapse, Dong et al. 2021."""
    given = stack_of(n_layers=8)
    with_skip, without = (
        stack_curves(run_stack(*given, "pre", parts=Parts(skip=skip))).alike for skip in (True, False)
    )
    assert without[0] == with_skip[0] < 0.1
    assert without[8] > 0.999 > 0.8 > with_skip[8]


def test_without_attention_no_word_hears_of_another():
    x, layers, n_heads, reading = draw()
    parts = Parts(attention=False)
    run = run_stack(x, layers, n_heads, reading, parts=parts)
    changed = x.copy()
    changed[2] += 1
    other = run_stack(changed, layers, n_heads, reading, parts=parts)
    assert (run.streams != other.streams).any(axis=(0, 2)).tolist() == [False, False, True, False, False]


def test_without_norms_the_stream_grows_by_a_factor_a_layer():
    curves = stack_curves(run_stack(*stack_of(n_layers=24), parts=Parts(norm=False)))
    growth = curves.size[1:] / curves.size[:-1]
    assert growth[4:].mean() > 1.3
    assert curves.size[24] > 1e4 * curves.size[0]


def test_without_norms_pre_and_post_are_the_same():
    given = draw()
    pre, post = (run_stack(*given, norm_position, parts=Parts(norm=False)) for norm_position in ("pre", "post"))
    assert_same(pre, post, 0)


# The ends of the range


@BOTH
def test_a_stream_that_leaves_the_range_ends_before_it(norm_position):
    x, layers, n_heads, reading = draw(n_layers=5)
    loud = [replace(layer, w_2=1e70 * layer.w_2) for layer in layers]
    run = run_stack(x, loud, n_heads, reading, norm_position, parts=Parts(norm=False))
    assert len(run.streams) == 3
    assert 1e130 < np.abs(run.streams).max() <= LARGEST
    assert run.stream_gradients is None
    assert run.gradients == run.last_gradients == {}
    curves = stack_curves(run)
    assert np.isfinite(curves.size).all()
    assert np.isfinite(curves.alike).all()
    assert curves.stream_gradient.size == 0


def test_a_gradient_that_leaves_the_range_is_not_given():
    x, layers, n_heads, reading = draw()
    run = run_stack(x, layers, n_heads, 1e300 * reading, parts=Parts(norm=False))
    assert len(run.streams) == 4
    assert run.stream_gradients is not None
    loud = [replace(layer, w_2=1e20 * layer.w_2) for layer in layers]
    run = run_stack(x, loud, n_heads, 1e300 * reading, parts=Parts(norm=False))
    assert len(run.streams) == 4
    assert run.stream_gradients is None


def test_curves_of_numbers_whose_squares_leave_the_range():
    streams = np.array([[[3e-200, 4e-200], [0.0, 0.0]], [[3e140, 4e140], [6e140, 8e140]]])
    curves = stack_curves(Stack(streams, streams * 1e160, {"w_2": streams * 1e-100}, {}))
    np.testing.assert_allclose(curves.size, [2.5e-200, 7.5e140], rtol=1e-14)
    np.testing.assert_allclose(curves.alike, [0, 1], atol=1e-15)
    np.testing.assert_allclose(curves.stream_gradient, [5e-40, 125**0.5 * 1e300], rtol=1e-14)
    np.testing.assert_allclose(curves.gradient["w_2"], [5e-300, 125**0.5 * 1e40], rtol=1e-14)


def test_curves_of_one_word_have_no_pair_of_words():
    curves = stack_curves(run_stack(*draw(n_words=1)))
    assert curves.alike.size == 0
    assert curves.size.shape == (4,)


def test_curves_are_the_norms_of_the_arrays():
    run = run_stack(*draw())
    curves = stack_curves(run)
    np.testing.assert_allclose(curves.size, np.linalg.norm(run.streams, axis=-1).mean(axis=-1), rtol=1e-13)
    np.testing.assert_allclose(curves.stream_gradient, np.linalg.norm(run.stream_gradients, axis=(1, 2)), rtol=1e-13)
    for kind, arrays in ((curves.gradient, run.gradients), (curves.last_gradient, run.last_gradients)):
        assert list(kind) == list(arrays)
        for name, array in arrays.items():
            np.testing.assert_allclose(kind[name], np.linalg.norm(array, axis=(1, 2)), rtol=1e-13)


def test_mean_cosine_equals_a_loop_over_pairs():
    x = draw(n_words=5)[0]
    pairs = [
        x[i] @ x[j] / (np.linalg.norm(x[i]) * np.linalg.norm(x[j])) for i, j in product(range(5), range(5)) if i != j
    ]
    np.testing.assert_allclose(mean_cosine(x), np.mean(pairs), rtol=1e-13)
    assert mean_cosine([[1, 2], [-2, -4]]) == pytest.approx(-1)
    assert mean_cosine([[0, 0], [3, 4], [3, 4]]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"norm_position": "middle"}, "'pre' or 'post'; got 'middle'"),
        ({"activation": "swish"}, "'gelu' or 'relu'; got 'swish'"),
        ({"layers": []}, "at least one block; got none"),
        ({"reading": np.ones((5, 3))}, r"\(position, d_model\); got \(5, 14\) and \(5, 3\)"),
        ({"n_heads": 3}, "multiple of n_heads; got 14 and 3"),
        ({"layers": [draw_parameters(14, 2, 17, np.random.default_rng(0))]}, "no biases and shifts; got some"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_what_makes_no_stack_is_refused(change, said):
    names = ("x", "layers", "n_heads", "reading")
    with pytest.raises(ValueError, match=said):
        run_stack(**dict(zip(names, draw(), strict=True)) | change)


@pytest.mark.parametrize("x", [[[1, 2]], [1, 2, 3]])
def test_mean_cosine_refuses_what_has_no_pair(x):
    with pytest.raises(ValueError, match="two rows or more"):
        mean_cosine(x)


# What is drawn


def test_draw_stack_depends_on_its_layer_and_on_nothing_else():
    x, layers, reading = draw_stack(("dog", "bites"), 6, 10, 5, seed=3)
    more_x, more_layers, more_reading = draw_stack(("dog", "bites", "man"), 6, 10, 7, seed=3)
    np.testing.assert_array_equal(more_x[:2], x)
    for layer, same in zip(layers, more_layers, strict=False):
        for name in ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2"):
            np.testing.assert_array_equal(getattr(layer, name), getattr(same, name))
    np.testing.assert_allclose(more_reading[:2] * 18**0.5, reading * 12**0.5, rtol=1e-13)
    flat = np.concatenate([layer.w_1.ravel() for layer in layers])
    assert len(np.unique(flat)) == flat.size, "every layer has numbers of its own"


def test_draw_stack_spreads_matrices_by_their_rows_and_leaves_norms_plain():
    _, layers, reading = draw_stack(tuple(f"w{i}" for i in range(31)), 101, 307, 2)
    for layer, (name, rows) in product(layers, (("w_q", 101), ("w_o", 101), ("w_1", 101), ("w_2", 307))):
        np.testing.assert_allclose(getattr(layer, name).std(), rows**-0.5, rtol=0.03, err_msg=name)
    assert all((layer.norm_1_gain == 1).all() and (layer.norm_2_gain == 1).all() for layer in layers)
    assert layers[0].b_1 is layers[0].norm_2_shift is None
    np.testing.assert_allclose(np.linalg.norm(reading), 1, rtol=0.1)


@pytest.mark.parametrize(
    ("sizes", "said"), [((8, 0, 3), "d_ff and n_layers"), ((8, 5, 0), "d_ff and n_layers"), ((0, 5, 3), "at least 1")]
)
def test_draw_stack_refuses_sizes_below_one(sizes, said):
    with pytest.raises(ValueError, match=said):
        draw_stack(("dog",), *sizes)
