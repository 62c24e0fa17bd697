"""One block against PyTorch's encoder layer, every intermediate, in all its variants."""

import dataclasses
from itertools import product

import numpy as np
import pytest
import torch

from core.encoder_block import BlockParameters, draw_parameters, encoder_block
from core.layer_norm import layer_norm
from core.masks import causal_mask
from core.torch_reference import block_stages, encoder_layer

VARIANTS = pytest.mark.parametrize(
    ("norm_position", "activation", "bias"),
    [
        pytest.param(
            norm_position, activation, bias, id=f"{norm_position}-{activation}-{'bias' if bias else 'no bias'}"
        )
        for norm_position in ("pre", "post")
        for activation in ("gelu", "relu")
        for bias in (True, False)
    ],
)
NORM_POSITIONS = pytest.mark.parametrize("norm_position", ["pre", "post"])


def draw(d_model=14, n_heads=2, d_ff=17, bias=True):
    return draw_parameters(d_model, n_heads, d_ff, np.random.default_rng(0), bias)


def draw_x(*shape):
    return np.random.default_rng(1).normal(size=shape, loc=0.3, scale=2)


def run_torch(layer, x, may_attend=None):
    """PyTorch's own forward, with what went into and came out of each part caught on the way."""
    caught = {}

    def catch(name):
        def hook(_module, inputs, output):
            caught[f"into {name}"] = inputs[0].detach()
            caught[name] = (output[0] if isinstance(output, tuple) else output).detach()

        return hook

    parts = ("norm1", "norm2", "self_attn", "linear1", "linear2")
    handles = [layer.get_submodule(name).register_forward_hook(catch(name)) for name in parts]
    blocked = None if may_attend is None else torch.from_numpy(~may_attend)  # there True = blocked
    caught["output"] = layer(torch.from_numpy(x), src_mask=blocked).detach()
    for handle in handles:
        handle.remove()
    read = caught["norm1"] if layer.norm_first else torch.from_numpy(x)
    in_proj = torch.nn.functional.linear(read, layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias)
    q, k, v = (part.unflatten(-1, (layer.self_attn.num_heads, -1)).transpose(-3, -2) for part in in_proj.chunk(3, -1))
    caught["scores"] = (q @ k.mT).detach()
    with torch.no_grad():
        caught["weights"] = layer.self_attn(read, read, read, attn_mask=blocked, average_attn_weights=False)[1]
        caught["head outputs"] = caught["weights"] @ v
    return caught


@VARIANTS
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_encoder_block_equals_pytorch_at_every_step(norm_position, activation, bias, causal):
    parameters, x = draw(bias=bias), draw_x(3, 5, 14)
    may_attend = causal_mask(5) if causal else None
    found = encoder_block(x, parameters, 2, norm_position, activation, may_attend)
    caught = run_torch(encoder_layer(parameters, 2, norm_position, activation), x, may_attend)
    pre = norm_position == "pre"
    expected = {
        "attention_input": caught["norm1"] if pre else x,
        "attention_output": caught["self_attn"],
        "after_attention": caught["into norm2"] if pre else caught["norm1"],
        "feed_forward_input": caught["into linear1"],
        "hidden": caught["linear1"],
        "activated": caught["into linear2"],
        "feed_forward_output": caught["linear2"],
        "output": caught["output"],
    }
    for name, theirs in expected.items():
        np.testing.assert_allclose(getattr(found, name), theirs, rtol=1e-10, atol=1e-12, err_msg=name)
    for name, theirs in (("scores", "scores"), ("weights", "weights"), ("output", "head outputs")):
        np.testing.assert_allclose(getattr(found.heads, name), caught[theirs], rtol=1e-10, atol=1e-12, err_msg=name)


@VARIANTS
@pytest.mark.parametrize(("d_model", "n_heads", "d_ff", "seq_len"), [(3, 1, 2, 7), (3, 3, 5, 1), (26, 13, 11, 3)])
def test_encoder_block_equals_pytorch_at_other_sizes(norm_position, activation, bias, d_model, n_heads, d_ff, seq_len):
    parameters, x = draw(d_model, n_heads, d_ff, bias), draw_x(2, seq_len, d_model)
    found = encoder_block(x, parameters, n_heads, norm_position, activation)
    with torch.no_grad():  # takes PyTorch's fused path, the test above its plain one
        theirs = encoder_layer(parameters, n_heads, norm_position, activation)(torch.from_numpy(x))
    np.testing.assert_allclose(found.output, theirs, rtol=1e-10, atol=1e-10)


def random_sizes():
    """Fifty blocks, every size drawn from the primes: d_head, heads, d_ff, words, sentences."""
    rng = np.random.default_rng(20171206)
    return rng.choice([2, 3, 5, 7, 11, 13], size=(50, 5)).tolist()


@pytest.mark.parametrize("sizes", random_sizes(), ids=lambda sizes: "-".join(map(str, sizes)))
def test_encoder_block_equals_pytorch_at_random_sizes(sizes):
    d_head, n_heads, d_ff, seq_len, batch = sizes
    d_model, rng = n_heads * d_head, np.random.default_rng(sizes)
    x = rng.normal(0.3, 2.0, size=(batch, seq_len, d_model))
    for bias, norm_position, activation in product((True, False), ("pre", "post"), ("gelu", "relu")):
        parameters = draw_parameters(d_model, n_heads, d_ff, rng, bias)
        ours = encoder_block(x, parameters, n_heads, norm_position, activation)
        theirs = block_stages(x, parameters, n_heads, norm_position, activation)
        for name, stage in theirs.items():
            said = f"{name} of {norm_position}, {activation}, {'with' if bias else 'without'} biases"
            np.testing.assert_allclose(getattr(ours, name), stage, rtol=0, atol=1e-10, err_msg=said)


def test_encoder_block_joins_heads_before_mixing_them():
    parameters, x = draw(), draw_x(5, 14)
    found = encoder_block(x, parameters, 2)
    np.testing.assert_array_equal(found.joined, np.concatenate(list(found.heads.output), axis=1))
    np.testing.assert_allclose(found.attention_output, found.joined @ parameters.w_o + parameters.b_o, rtol=1e-13)


@pytest.mark.parametrize(
    ("norm_position", "expected"),
    [
        pytest.param("pre", [1, 2, 3, 4], id="pre: the block is the identity"),
        pytest.param("post", [-1.34163408, -0.44721136, 0.44721136, 1.34163408], id="post: normed twice"),
    ],
)
def test_encoder_block_whose_parts_give_nothing(norm_position, expected):
    drawn = dataclasses.asdict(draw(4, 2, 3))
    zeros = {name: np.zeros_like(array) for name, array in drawn.items()}
    parameters = BlockParameters(**zeros | {"norm_1_gain": np.ones(4), "norm_2_gain": np.ones(4)})
    found = encoder_block([[1, 2, 3, 4]], parameters, 2, norm_position)
    np.testing.assert_allclose(found.output, [expected], atol=5e-9)


def test_encoder_block_carries_x_past_the_first_norm_in_pre_norm_only():
    x, parameters = draw_x(5, 14), draw()
    pre, post = (encoder_block(x, parameters, 2, norm_position) for norm_position in ("pre", "post"))
    np.testing.assert_allclose(pre.after_attention - pre.attention_output, x, atol=1e-12)
    expected = layer_norm(x + post.attention_output, parameters.norm_1_gain, parameters.norm_1_shift)
    np.testing.assert_allclose(post.after_attention, expected, rtol=1e-12)
    assert np.abs(pre.output - post.output).max() > 0.1


@NORM_POSITIONS
def test_permuting_words_permutes_rows_of_a_block(norm_position):
    x, parameters, order = draw_x(5, 14), draw(), [3, 0, 4, 1, 2]
    straight, shuffled = (encoder_block(rows, parameters, 2, norm_position).output for rows in (x, x[order]))
    np.testing.assert_allclose(shuffled, straight[order], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(shuffled.mean(axis=0), straight.mean(axis=0), rtol=1e-11, atol=1e-12)
    assert np.abs(shuffled - straight).max() > 0.1


@NORM_POSITIONS
def test_adding_a_word_at_the_end_leaves_earlier_rows_of_a_causal_block(norm_position):
    x, parameters = draw_x(7, 14), draw()
    longer = encoder_block(x, parameters, 2, norm_position, may_attend=causal_mask(7))
    shorter = encoder_block(x[:5], parameters, 2, norm_position, may_attend=causal_mask(5))
    np.testing.assert_allclose(longer.output[:5], shorter.output, rtol=1e-12, atol=1e-13)
    assert np.abs(encoder_block(x, parameters, 2).output[:5] - encoder_block(x[:5], parameters, 2).output).max() > 1e-3


def test_feed_forward_part_reads_each_word_alone():
    x, parameters = draw_x(5, 14), draw()
    nothing = np.zeros((5, 5), dtype=bool)
    before = encoder_block(x, parameters, 2, may_attend=nothing).output
    x[2] += 1
    after = encoder_block(x, parameters, 2, may_attend=nothing).output
    np.testing.assert_allclose(np.delete(after, 2, axis=0), np.delete(before, 2, axis=0), rtol=1e-13)
    assert np.abs(after[2] - before[2]).max() > 0.1


@pytest.mark.parametrize("field", dataclasses.fields(BlockParameters), ids=lambda field: field.name)
@NORM_POSITIONS
def test_every_parameter_moves_the_output(field, norm_position):
    x, parameters = draw_x(5, 14), draw()
    moved = dataclasses.replace(parameters, **{field.name: 1.5 * getattr(parameters, field.name)})
    before, after = (encoder_block(x, drawn, 2, norm_position).output for drawn in (parameters, moved))
    # A bias of the keys adds the same number to a whole row of scores, which the softmax does not see.
    moves = field.name != "b_k"
    assert np.allclose(before, after, rtol=0, atol=1e-4 if moves else 1e-12) != moves


def test_draw_parameters_gives_every_array_its_shape():
    shapes = {field.name: getattr(draw(), field.name).shape for field in dataclasses.fields(BlockParameters)}
    square = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (14, 14))
    rows = ("norm_1_gain", "norm_2_gain", "b_q", "b_k", "b_v", "b_o", "b_2", "norm_1_shift", "norm_2_shift")
    assert shapes == square | dict.fromkeys(rows, (14,)) | {"w_1": (14, 17), "w_2": (17, 14), "b_1": (17,)}


def test_draw_parameters_without_bias_leaves_out_biases_and_shifts_only():
    with_bias, without = draw(bias=True), draw(bias=False)
    for field in dataclasses.fields(BlockParameters):
        if field.name.startswith("b_") or field.name.endswith("shift"):
            assert getattr(without, field.name) is None
        else:
            np.testing.assert_array_equal(getattr(without, field.name), getattr(with_bias, field.name))


def test_draw_parameters_puts_no_array_at_a_special_value():
    arrays = [getattr(draw(), field.name) for field in dataclasses.fields(BlockParameters)]
    numbers = np.concatenate([array.ravel() for array in arrays])
    assert len(np.unique(numbers)) == len(numbers)
    assert not {0.0, 1.0} & set(numbers.tolist())


def test_draw_parameters_spreads_weights_by_their_rows_and_gains_around_one():
    parameters = draw_parameters(101, 1, 307, np.random.default_rng(2))
    for name, rows in (("w_q", 101), ("w_o", 101), ("w_1", 101), ("w_2", 307)):
        np.testing.assert_allclose(getattr(parameters, name).std(), rows**-0.5, rtol=0.03, err_msg=name)
    np.testing.assert_allclose(parameters.norm_1_gain.mean(), 1, atol=0.04)
    np.testing.assert_allclose(parameters.b_1.mean(), 0, atol=0.04)
    np.testing.assert_allclose(parameters.b_1.std(), 0.1, rtol=0.2)


@pytest.mark.parametrize("sizes", [(10, 3, 5), (0, 1, 5), (4, 0, 5), (4, 2, 0)])
def test_draw_parameters_refuses_sizes_that_make_no_block(sizes):
    given = f"{sizes[0]}, {sizes[1]} and {sizes[2]}"
    with pytest.raises(ValueError, match=f"at least 1, d_model a multiple of n_heads; got {given}"):
        draw_parameters(*sizes, np.random.default_rng(0))


def test_encoder_block_refuses_another_norm_position():
    with pytest.raises(ValueError, match="'pre' or 'post'; got 'middle'"):
        encoder_block(draw_x(5, 14), draw(), 2, "middle")


def test_encoder_block_refuses_another_activation():
    with pytest.raises(ValueError, match="'gelu' or 'relu'; got 'swish'"):
        encoder_block(draw_x(5, 14), draw(), 2, activation="swish")


def test_encoder_block_refuses_heads_that_do_not_divide_the_width():
    with pytest.raises(ValueError, match="multiple of n_heads; got 14 and 3"):
        encoder_block(draw_x(5, 14), draw(), 3)


def test_encoder_block_refuses_words_of_another_width():
    with pytest.raises(ValueError, match=r"gain must have shape \(13,\); got \(14,\)"):
        encoder_block(draw_x(5, 13), draw(), 2)


@NORM_POSITIONS
def test_what_is_added_to_the_variance_is_that_of_the_layer(norm_position):
    parameters, x = draw(), draw_x(5, 14)
    layer = encoder_layer(parameters, 2, norm_position)
    layer.norm1.eps = layer.norm2.eps = 0.3
    found = encoder_block(x, parameters, 2, norm_position, eps=0.3)
    np.testing.assert_allclose(found.output, layer(torch.from_numpy(x[None]))[0].detach(), rtol=1e-12, atol=1e-12)
