"""A query without any allowed key, by each rule; PyTorch says what it does itself."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from core.missing_key import RULES, by_every_rule, rows_lost_next, weights_by_rule
from core.softmax import softmax

SCORES = np.random.default_rng(0).normal(0, 5, (5, 7))
ALLOWED = np.ones((5, 7), dtype=bool)
ALLOWED[3] = False
ALLOWED[0, 2:] = False


@pytest.mark.parametrize("rule", RULES)
def test_rows_with_a_key_are_the_same_under_every_rule(rule):
    found = weights_by_rule(SCORES, ALLOWED, rule)
    kept = [0, 1, 2, 4]
    expected = softmax(np.where(ALLOWED, SCORES, -np.inf))[kept]
    np.testing.assert_allclose(found[kept], expected, rtol=0, atol=1e-6 if rule == "added" else 1e-15)
    assert (found[0, 2:] == 0).all(), "a forbidden key gets nothing beside an allowed one"


def test_the_row_without_any_key():
    rows = {rule: weights_by_rule(SCORES, ALLOWED, rule)[3] for rule in RULES}
    assert (rows["zeros"] == 0).all()
    assert np.isnan(rows["plain softmax"]).all()
    for rule in ("replaced", "added"):
        np.testing.assert_allclose(rows[rule], 1 / 7, rtol=0, atol=1e-15)


def test_pytorch_gives_zeros_or_nan():
    q, k, v = (torch.from_numpy(array) for array in np.random.default_rng(1).normal(size=(3, 5, 3)))
    allowed = torch.ones(5, 5, dtype=torch.bool)
    allowed[3] = False
    assert (functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)[3] == 0).all()
    assert torch.softmax((q @ k.T).masked_fill(~allowed, -torch.inf), dim=-1)[3].isnan().all()
    module = nn.MultiheadAttention(3, 1, batch_first=True, dtype=torch.float64).eval()
    output, weights = module(q[None], k[None], v[None], attn_mask=~allowed)
    assert weights[0, 3].isnan().all()
    assert output[0, 3].isnan().all()
    assert not output[0, [0, 1, 2, 4]].isnan().any()


def test_added_in_single_precision_loses_the_scores():
    """As Hugging Face's eager mask: next to the lowest float32 no score is large enough to be seen."""
    lowest = np.finfo(np.float32).min
    assert (SCORES[3].astype(np.float32) + lowest == lowest).all()


def test_one_layer_on_every_row_is_lost():
    v = np.random.default_rng(2).normal(size=(7, 3))
    lost = {outcome.rule: outcome.rows_lost for outcome in by_every_rule(SCORES, ALLOWED, v, 3)}
    assert lost == {"zeros": 0, "plain softmax": 5, "replaced": 0, "added": 0}
    assert rows_lost_next(weights_by_rule(SCORES, np.ones((5, 7), bool), "plain softmax"), v) == 0


@pytest.mark.parametrize(
    ("allowed", "rule", "said"),
    [
        (ALLOWED, "hope", "rule must be one of"),
        (ALLOWED.astype(float), "zeros", "must be boolean"),
        (ALLOWED[:2], "zeros", r"with the shape \(5, 7\)"),
    ],
)
def test_what_cannot_be_computed_is_refused(allowed, rule, said):
    with pytest.raises(ValueError, match=said):
        weights_by_rule(SCORES, allowed, rule)
