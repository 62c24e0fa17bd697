"""Cross-attention against loops, PyTorch's module and its fused function, and self-attention as its special case."""

import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from core import torch_reference
from core.attention import attend
from core.cross_attention import cross_attention
from core.masks import causal_mask
from core.multi_head import multi_head_attention

BATCH, HEAD, QUERY, KEY, D_HEAD = 2, 3, 5, 11, 7
D_MODEL = HEAD * D_HEAD


@pytest.fixture
def parts():
    """x, source, w_q, w_k, w_v, w_o: another number of queries than of keys."""
    rng = np.random.default_rng(17)
    projections = rng.normal(size=(3, HEAD, D_MODEL, D_HEAD), scale=D_MODEL**-0.5)
    sentences = rng.normal(size=(BATCH, QUERY, D_MODEL)), rng.normal(size=(BATCH, KEY, D_MODEL))
    return *sentences, *projections, rng.normal(size=(D_MODEL, D_MODEL))


@pytest.fixture
def mask():
    """Some keys of each query, no query without any, and no two rows alike."""
    allowed = np.random.default_rng(19).random((QUERY, KEY)) < 0.5
    allowed[:, 3] = True
    return allowed


def assert_near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
def test_equals_loops_over_heads_queries_and_keys(parts, mask, masked):
    x, source, w_q, w_k, w_v, w_o = parts
    allowed = mask if masked else np.ones_like(mask)
    found = cross_attention(*parts, may_attend=mask if masked else None)
    joined = np.zeros((BATCH, QUERY, D_MODEL))
    for batch, head, query in np.ndindex(BATCH, HEAD, QUERY):
        asked = x[batch, query] @ w_q[head]
        scores = [asked @ (source[batch, key] @ w_k[head]) / np.sqrt(D_HEAD) for key in range(KEY)]
        powers = [np.exp(score) * ok for score, ok in zip(scores, allowed[query], strict=True)]
        shares = np.array(powers) / sum(powers)
        assert_near(found.heads.weights[batch, head, query], shares)
        mixed = sum(share * (row @ w_v[head]) for share, row in zip(shares, source[batch], strict=True))
        joined[batch, query, head * D_HEAD : (head + 1) * D_HEAD] = mixed
    assert_near(found.joined, joined)
    assert_near(found.output, joined @ w_o)


@pytest.mark.parametrize("masked", [False, True])
def test_equals_pytorchs_module_with_query_key_and_value(parts, mask, masked):
    """True blocks in the module's mask, True allows in ours."""
    x, source, w_q, w_k, w_v, w_o = parts
    module = nn.MultiheadAttention(D_MODEL, HEAD, bias=False, batch_first=True, dtype=torch.float64)
    stacked = np.concatenate([np.concatenate(list(w), axis=1).T for w in (w_q, w_k, w_v)])
    state = {"in_proj_weight": stacked, "out_proj.weight": w_o.T.copy()}
    module.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()})
    query, value = torch.from_numpy(x), torch.from_numpy(source)
    blocked = torch.from_numpy(~mask) if masked else None
    with torch.no_grad():
        output, weights = module.eval()(query, value, value, attn_mask=blocked, average_attn_weights=False)
    found = cross_attention(*parts, may_attend=mask if masked else None)
    assert_near(found.heads.weights, weights.numpy())
    assert_near(found.output, output.numpy())


@pytest.mark.parametrize("masked", [False, True])
def test_equals_pytorchs_fused_function_on_its_own_projections(parts, mask, masked):
    x, source, w_q, w_k, w_v, _ = (torch.from_numpy(array) for array in parts)
    q, k, v = x[:, None] @ w_q, source[:, None] @ w_k, source[:, None] @ w_v
    allowed = torch.from_numpy(mask) if masked else None
    expected = functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    found = cross_attention(*parts, may_attend=mask if masked else None)
    assert_near(found.heads.output, expected.numpy())
    for ours, theirs in ((found.q, q), (found.k, k), (found.v, v)):
        assert_near(ours, theirs.numpy())


def test_the_referee_asks_the_module_with_the_mask_turned(parts, mask):
    x, source, *rest = parts
    theirs = torch_reference.cross_attention(x[1], source[1], *rest, may_attend=mask)
    found = cross_attention(x[1], source[1], *rest, may_attend=mask)
    assert_near(theirs["weights"], found.heads.weights)
    assert_near(theirs["output"], found.output)


def test_a_query_without_any_key_gets_zeros_where_the_module_has_nan(parts, mask):
    x, source, *rest = parts
    mask[2] = False
    theirs = torch_reference.cross_attention(x[0], source[0], *rest, may_attend=mask)
    found = cross_attention(x[0], source[0], *rest, may_attend=mask)
    assert not found.heads.weights[:, 2].any()
    assert not found.output[2].any()
    assert np.isnan(theirs["weights"][:, 2]).all()
    others = np.delete(np.arange(QUERY), 2)
    assert_near(found.output[others], theirs["output"][others])


def test_a_sentence_that_looks_at_itself_is_self_attention(parts):
    x, _, *rest = parts
    mask = causal_mask(QUERY)
    found, expected = cross_attention(x, x, *rest, may_attend=mask), multi_head_attention(x, *rest, may_attend=mask)
    np.testing.assert_array_equal(found.heads.weights, expected.heads.weights)
    np.testing.assert_array_equal(found.joined, expected.joined)
    np.testing.assert_array_equal(found.output, expected.output)


def test_without_w_o_the_heads_stay_side_by_side(parts):
    found = cross_attention(*parts[:-1])
    assert found.output is found.joined
    assert_near(found.output @ parts[-1], cross_attention(*parts).output)


def test_order_of_the_source_does_not_matter_and_that_of_the_asking_sentence_orders_the_output(parts, mask):
    x, source, *rest = parts
    rng = np.random.default_rng(23)
    keys, queries = rng.permutation(KEY), rng.permutation(QUERY)
    found = cross_attention(x, source, *rest, may_attend=mask)
    moved = cross_attention(x[:, queries], source[:, keys], *rest, may_attend=mask[np.ix_(queries, keys)])
    assert_near(moved.output, found.output[:, queries])
    assert_near(moved.heads.weights, found.heads.weights[:, :, queries][..., keys])


def test_masked_source_words_count_as_little_as_absent_ones(parts):
    x, source, *rest = parts
    kept = np.broadcast_to(np.arange(KEY) < 8, (QUERY, KEY))
    masked = cross_attention(x, source, *rest, may_attend=kept)
    assert_near(masked.output, cross_attention(x, source[:, :8], *rest).output)


def test_each_projection_reads_its_own_sentence(parts):
    """Doubling the source doubles k and v and leaves q alone."""
    x, source, *rest = parts
    found, doubled = cross_attention(x, source, *rest), cross_attention(x, 2 * source, *rest)
    np.testing.assert_array_equal(doubled.q, found.q)
    assert_near(doubled.k, 2 * found.k)
    again = attend(found.q, 2 * found.k, 2 * found.v)
    assert_near(doubled.heads.output, again.output)


def test_other_shapes_are_refused_with_what_was_wanted(parts):
    x, source, w_q, w_k, w_v, w_o = parts
    with pytest.raises(ValueError, match=re.escape("with one d_model; got (2, 5, 21) and (2, 11, 20)")):
        cross_attention(x, source[..., :-1], w_q, w_k, w_v)
    with pytest.raises(ValueError, match=re.escape("got (21,) and (2, 11, 21)")):
        cross_attention(x[0, 0], source, w_q, w_k, w_v)
    with pytest.raises(ValueError, match=re.escape("w_k must have shape (head, d_model, d_head) = (3, 21, d_head)")):
        cross_attention(x, source, w_q, w_k[:2], w_v)
    with pytest.raises(ValueError, match=re.escape("w_o must have shape (21, d_model); got (20, 21)")):
        cross_attention(x, source, w_q, w_k, w_v, w_o[:-1])
    with pytest.raises(ValueError, match=re.escape("may_attend must fit (..., query, key) = (2, 3, 5, 11)")):
        cross_attention(x, source, w_q, w_k, w_v, may_attend=np.ones((11, 5), dtype=bool))
