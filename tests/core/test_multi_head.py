"""Several heads against loops and PyTorch's own module, head by head."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from core.attention import attend
from core.masks import causal_mask
from core.multi_head import head_contributions, merge_heads, multi_head_attention, split_heads

BATCH, HEAD, POSITION, D_HEAD = 2, 3, 5, 7
D_MODEL = HEAD * D_HEAD


@pytest.fixture
def parts():
    """x, w_q, w_k, w_v, w_o."""
    rng = np.random.default_rng(0)
    projections = rng.normal(size=(3, HEAD, D_MODEL, D_HEAD), scale=D_MODEL**-0.5)
    return rng.normal(size=(BATCH, POSITION, D_MODEL)), *projections, rng.normal(size=(D_MODEL, D_MODEL))


def torch_module(w_q, w_k, w_v, w_o, dropout=0.0):
    """PyTorch's module with our projections: heads side by side, each matrix turned."""
    module = nn.MultiheadAttention(D_MODEL, HEAD, dropout, bias=False, batch_first=True, dtype=torch.float64)
    stacked = np.concatenate([np.concatenate(list(w), axis=1).T for w in (w_q, w_k, w_v)])
    state = {"in_proj_weight": stacked, "out_proj.weight": w_o.T.copy()}
    module.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()})
    return module.eval()


def test_split_heads_cuts_the_width_not_the_positions():
    assert split_heads([[0, 1, 2, 3], [4, 5, 6, 7]], 2).tolist() == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


def test_split_heads_equals_a_loop():
    x = np.random.default_rng(1).normal(size=(BATCH, POSITION, D_MODEL))
    shares = split_heads(x, HEAD)
    for batch, head, position, feature in np.ndindex(BATCH, HEAD, POSITION, D_HEAD):
        assert shares[batch, head, position, feature] == x[batch, position, head * D_HEAD + feature]


def test_merge_heads_equals_joining_them_side_by_side():
    heads = np.random.default_rng(2).normal(size=(BATCH, HEAD, POSITION, D_HEAD))
    for batch in range(BATCH):
        np.testing.assert_array_equal(merge_heads(heads)[batch], np.concatenate(list(heads[batch]), axis=1))


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6])
def test_merge_heads_undoes_split_heads(n_heads):
    x = np.random.default_rng(3).normal(size=(2, 5, 6))
    np.testing.assert_array_equal(merge_heads(split_heads(x, n_heads)), x)


@pytest.mark.parametrize("n_heads", [3, 0, -2])
def test_split_heads_refuses_heads_that_do_not_divide_the_width(n_heads):
    with pytest.raises(ValueError, match=rf"d_model must be a multiple of n_heads; got 10 and {n_heads}$"):
        split_heads(np.ones((2, 10)), n_heads)


def test_split_heads_and_merge_heads_refuse_too_few_axes():
    with pytest.raises(ValueError, match=r"axes \(position, d_model\); got shape \(4,\)"):
        split_heads(np.ones(4), 2)
    with pytest.raises(ValueError, match=r"axes \(head, position, d_head\); got shape \(2, 4\)"):
        merge_heads(np.ones((2, 4)))


def test_multi_head_attention_equals_a_loop_over_heads(parts):
    x, w_q, w_k, w_v, w_o = parts
    found = multi_head_attention(*parts)
    for batch in range(BATCH):
        outputs = []
        for head in range(HEAD):
            alone = attend(x[batch] @ w_q[head], x[batch] @ w_k[head], x[batch] @ w_v[head])
            np.testing.assert_allclose(found.heads.scores[batch, head], alone.scores, rtol=1e-12)
            np.testing.assert_allclose(found.heads.weights[batch, head], alone.weights, rtol=1e-12)
            outputs.append(alone.output)
        joined = np.concatenate(outputs, axis=1)
        np.testing.assert_allclose(found.joined[batch], joined, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found.output[batch], joined @ w_o, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_multi_head_attention_equals_pytorch_head_by_head(parts, causal):
    # The reference reads True as blocked, averages the heads unless told not to, and drops weights unless in eval mode.
    may_attend = causal_mask(POSITION) if causal else None
    blocked = torch.from_numpy(~may_attend) if causal else None
    x = torch.from_numpy(parts[0])
    with torch.no_grad():
        output, weights = torch_module(*parts[1:])(x, x, x, attn_mask=blocked, average_attn_weights=False)
    assert weights.shape == (BATCH, HEAD, POSITION, POSITION)
    found = multi_head_attention(*parts, may_attend=may_attend)
    for head in range(HEAD):
        np.testing.assert_allclose(found.heads.weights[:, head], weights[:, head], rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(found.output, output, rtol=1e-11, atol=1e-13)


def test_comparison_needs_the_reference_in_evaluation_mode(parts):
    module = torch_module(*parts[1:], dropout=0.2)
    word = torch.ones((1, 1, D_MODEL), dtype=torch.float64)
    with torch.no_grad():
        assert module(word, word, word)[1].item() == 1
        torch.manual_seed(0)
        in_training = {round(module.train()(word, word, word)[1].item() * HEAD, 9) for _ in range(40)}
    assert in_training <= {0, 1.25, 2.5, 3.75}  # each head's weight of 1 dropped, or divided by 0.8
    assert len(in_training) > 1


def test_a_sentence_is_never_taken_for_a_batch(parts):
    three_words = parts[0][:1, :3]
    weights = multi_head_attention(three_words, *parts[1:]).heads.weights
    assert weights.shape == (1, HEAD, 3, 3)
    assert weights[0][:, ~np.eye(3, dtype=bool)].min() > 0


def test_heads_that_disagree_are_not_averaged():
    x = np.eye(2) * 30
    itself, other = np.eye(2), np.eye(2)[::-1]
    found = multi_head_attention(x, [itself, itself], [itself, other], [itself, itself])
    np.testing.assert_allclose(found.heads.weights, [[[1, 0], [0, 1]], [[0, 1], [1, 0]]], atol=1e-12)


def test_each_head_scales_by_its_own_width():
    x, pick = np.array([[4.0, 0], [1, 0], [0, 0]]), np.eye(2, 4)
    found = multi_head_attention(x, [pick] * 2, [pick] * 2, [pick] * 2)
    expected = np.exp([8, 2, 0]) / np.exp([8, 2, 0]).sum()  # products 16, 4, 0 divided by sqrt(4)
    np.testing.assert_allclose(found.heads.weights[:, 0], [expected] * 2, rtol=1e-13)


def test_without_w_o_the_output_is_the_joined_heads(parts):
    found = multi_head_attention(*parts[:4])
    np.testing.assert_array_equal(found.output, found.joined)


def test_a_mask_for_one_head_leaves_the_others_alone(parts):
    may_attend = np.ones((HEAD, POSITION, POSITION), dtype=bool)
    may_attend[1] = causal_mask(POSITION)
    masked, full = (multi_head_attention(*parts, may_attend=mask).heads.weights for mask in (may_attend, None))
    np.testing.assert_array_equal(masked[:, [0, 2]], full[:, [0, 2]])
    np.testing.assert_array_equal(masked[:, 1, 0, 1:], 0)


def test_permuting_words_permutes_rows(parts):
    order = [3, 0, 4, 1, 2]
    shuffled = multi_head_attention(parts[0][:, order], *parts[1:])
    np.testing.assert_allclose(shuffled.output, multi_head_attention(*parts).output[:, order], rtol=1e-11, atol=1e-13)


def test_values_may_have_a_width_of_their_own(parts):
    x, w_q, w_k, _, _ = parts
    w_v = np.random.default_rng(4).normal(size=(HEAD, D_MODEL, 2))
    found = multi_head_attention(x, w_q, w_k, w_v)
    np.testing.assert_allclose(found.joined[0, :, 2:4], found.heads.weights[0, 1] @ (x[0] @ w_v[1]), rtol=1e-12)


@pytest.mark.parametrize(
    ("number", "name", "shape"),
    [(1, "w_q", (3, 20, 7)), (2, "w_k", (2, 21, 7)), (3, "w_v", (3, 21))],
    ids=["w_q of another width", "w_k of fewer heads", "w_v without d_head"],
)
def test_multi_head_attention_names_the_projection_that_does_not_fit(parts, number, name, shape):
    given = [*parts[:number], np.ones(shape), *parts[number + 1 :]]
    wanted = f"{name} must have shape (head, d_model, d_head) = (3, 21, d_head); got {shape}"
    with pytest.raises(ValueError, match=re.escape(wanted)):
        multi_head_attention(*given)


def test_multi_head_attention_refuses_a_single_row(parts):
    with pytest.raises(ValueError, match="got"):
        multi_head_attention(np.ones(D_MODEL), *parts[1:])


def test_what_the_heads_add_sums_to_the_output():
    rng = np.random.default_rng(5)
    outputs, w_o = rng.normal(size=(2, 3, 5, 7)), rng.normal(size=(21, 11))
    parts = head_contributions(outputs, w_o)
    assert parts.shape == (2, 3, 5, 11)
    np.testing.assert_allclose(parts.sum(axis=-3), merge_heads(outputs) @ w_o, rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts[1, 2, 4], outputs[1, 2, 4] @ w_o[14:21], rtol=0, atol=1e-13)


@pytest.mark.parametrize(("outputs", "w_o"), [((3, 5, 7), (20, 11)), ((5, 7), (7, 11))])
def test_contributions_of_other_shapes_are_refused(outputs, w_o):
    with pytest.raises(ValueError, match=r"w_o must have shape|head_outputs needs the axes"):
        head_contributions(np.zeros(outputs), np.zeros(w_o))
