"""Ten mistakes on a reader's sentence: the symptom by value, the test that finds it, and where there is none."""

import numpy as np
import pytest

from core import torch_reference
from core.attention import attend
from core.common_mistakes import MISTAKES, batch_of, make
from core.cost import attention_cost
from core.examples import draw_example
from core.multi_head import split_heads
from core.positions import sinusoidal_encoding
from core.softmax import softmax

WORDS = ("the", "cat", "saw", "the", "dog")
ASKED = {"words": WORDS, "d_head": 7, "n_heads": 3, "seed": 11, "head": 2, "query": 3}
EXAMPLE = draw_example(WORDS, 7, 3, 11)
Q, K, V = (EXAMPLE.x @ w[2] for w in (EXAMPLE.w_q, EXAMPLE.w_k, EXAMPLE.w_v))
CAUSAL = np.tri(5, dtype=bool)


def close(found, wanted, atol=1e-12):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=atol)


def numbers_of(mistake, **changes):
    found = make(mistake, **ASKED | changes)
    return found, {measure.name: (measure.wrong, measure.right) for measure in (*found.measures, found.test)}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_test_finds_the_mistake_and_lets_the_fix_pass(mistake):
    found = make(mistake, **ASKED)
    assert found.found == (True, False)
    assert found.largest_difference > 1e-3
    assert found.matrix_of_measures(True)[-1].tolist() == [found.test.wrong, found.test.right]
    assert found.matrix_of_measures(False)[:, 0].tolist() == found.matrix_of_measures(False)[:, 1].tolist()


def test_only_two_of_ten_break_the_row_sums():
    assert [one for one in MISTAKES if not make(one, **ASKED).rows_sum_to_one] == ["inverted mask", "softmax axis"]


def test_no_scale():
    found, numbers = numbers_of("no scale")
    q, k = Q / Q.std(), K / K.std()
    wrong, right = softmax(q @ k.T), softmax(q @ k.T / np.sqrt(7))
    close(found.wrong.values, wrong)
    close(found.right.values, right)
    close(numbers["largest weight"], [wrong.max(axis=1).mean(), right.max(axis=1).mean()])
    jacobians = [[np.linalg.norm(np.diag(row) - np.outer(row, row)) for row in weights] for weights in (wrong, right)]
    close(numbers["gradient"], np.mean(jacobians, axis=1))
    close(numbers["spread of what enters the softmax"], [(q @ k.T).std(), (q @ k.T).std() / np.sqrt(7)])
    assert numbers["largest weight, d = 64"][0] > 0.9
    assert numbers["gradient, d = 64"][0] < 0.15 < numbers["gradient, d = 64"][1]


@pytest.mark.parametrize("seed", range(5))
def test_the_spread_without_scale_grows_like_the_root_of_d(seed):
    words = tuple(f"w{i}" for i in range(23))
    spreads = [make("no scale", words, d, 1, seed).test for d in (16, 64)]
    for d, spread in zip((16, 64), spreads, strict=True):
        assert 0.7 < spread.wrong / d**0.5 < 1.4
        assert 0.7 < spread.right < 1.4


def test_no_causal_mask():
    found, numbers = numbers_of("no causal mask")
    assert (found.right.values[~CAUSAL] == 0).all()
    close(numbers["share of later words"], [np.where(CAUSAL, 0, found.wrong.values).sum(axis=1).mean(), 0])
    assert numbers["named right, in training"][1] == numbers["named right, when generating"][1]
    assert numbers["named right, in training"][0] > numbers["named right, when generating"][0]
    flipped = EXAMPLE.x * np.array([1, 1, 1, 1, -1])[:, None]
    q, k, v = (flipped @ w[2] for w in (EXAMPLE.w_q, EXAMPLE.w_k, EXAMPLE.w_v))
    moved = np.abs(attend(q, k, v).output - attend(Q, K, V).output)[:-1].max()
    close(numbers["earlier rows move by"], [moved, 0])
    assert numbers["earlier rows move by"][1] == 0


def test_no_positions():
    found, numbers = numbers_of("no positions")
    order = [4, 1, 2, 3, 0]
    outputs = []
    for rows in (EXAMPLE.x, EXAMPLE.x[order]):
        rows = rows + sinusoidal_encoding(5, 21)
        outputs.append(attend(*(rows @ w[2] for w in (EXAMPLE.w_q, EXAMPLE.w_k, EXAMPLE.w_v))).output)
    close(found.right.values, outputs[1] - outputs[0][order])
    assert np.abs(found.wrong.values).max() < 1e-12
    assert numbers["largest difference"][0] < 1e-12 < numbers["largest difference"][1]


def test_batch_first_is_what_pytorchs_module_does_by_default():
    found, numbers = numbers_of("batch first")
    batch = batch_of(EXAMPLE.x)
    module = torch_reference.batch_as_tokens(batch, EXAMPLE.w_q, EXAMPLE.w_k, EXAMPLE.w_v)
    close(found.weights[0], module["weights"][:, 2])
    close(found.wrong.values, module["weights"][3, 2])
    close(found.right.values, attend(Q, K, V).weights)
    close(numbers["output off by"], [np.abs(module["output"][0, :, 14:21] - attend(Q, K, V).output).max(), 0])
    assert module["output"].shape == batch.shape, "the shape says nothing"


def test_quadratic_cost():
    found, numbers = numbers_of("quadratic cost")
    for row, n in zip(found.right.values, (5, 1024, 32768, 131072), strict=True):
        cost = attention_cost(n, 21, 3)
        assert row.tolist() == [cost.flops, cost.weight_bytes]
    close(found.wrong.values[:, 1], [300 * n / 5 for n in (5, 1024, 32768, 131072)], atol=1e-3)
    assert numbers["bytes at 131,072 tokens"][1] == 4 * 3 * 131072**2
    assert numbers["work multiplied by"] == (2.0, 4.0)


def test_transposed_weights():
    found, numbers = numbers_of("transposed weights")
    whole = np.hstack(list(EXAMPLE.w_q))
    close(found.right.values, Q)
    close(found.wrong.values, split_heads(EXAMPLE.x @ whole.T, 3)[2])
    close(numbers["the row is off by"], [np.abs(whole[:, 0] - whole[0]).max(), 0])
    close(torch_reference.projection(EXAMPLE.x, whole)[:, 14:21], found.right.values)


def test_inverted_mask():
    found, numbers = numbers_of("inverted mask")
    close(found.wrong.values[0], [0, *softmax(Q[0] @ K[1:].T / np.sqrt(7))])
    assert (found.wrong.values[4] == 0).all()
    assert numbers["queries without a key"] == (1, 0)
    assert numbers["weight of the first word on itself"] == (0, 1)
    close(numbers["share of later words"], [0.8, 0])  # all of four rows, none of the fifth
    assert numbers["earlier rows move by"][1] == 0


def test_softmax_axis():
    found, numbers = numbers_of("softmax axis")
    close(found.wrong.values.sum(axis=0), np.ones(5))
    assert (found.wrong.values[~CAUSAL] == 0).all(), "no weight above the diagonal, and a leak all the same"
    assert numbers["earlier rows move by"][0] > 1e-3
    assert numbers["earlier rows move by"][1] == 0
    close(numbers["row sums off by"], [np.abs(found.wrong.values.sum(axis=1) - 1).max(), 0])


def test_no_allowed_key():
    found, numbers = numbers_of("no allowed key")
    close(found.wrong.values[3], [0.2] * 5)
    assert (found.right.values[3] == 0).all()
    kept = [0, 1, 2, 4]
    close(found.wrong.values[kept], attend(Q, K, V).weights[kept])
    close(numbers["its output, largest entry"], [np.abs(V.mean(axis=0)).max(), 0])
    assert [outcome.rule for outcome in found.outcomes] == ["zeros", "plain softmax", "replaced", "added"]


def test_split_heads():
    found, numbers = numbers_of("split heads")
    cut = [np.hstack(list(EXAMPLE.x @ w)).reshape(3, 5, 7)[2] for w in (EXAMPLE.w_q, EXAMPLE.w_k, EXAMPLE.w_v)]
    close(found.wrong.values, attend(*cut).weights)
    close(found.right.values, attend(Q, K, V).weights)
    strangers = np.repeat(np.arange(5), 21).reshape(3, 5, 7) != np.arange(5)[:, None]
    close(numbers["share from other words"], [strangers.mean(), 0])


INVISIBLE = [
    ("no scale", {"d_head": 1}),
    ("no scale", {"words": ("word",), "query": 0}),
    ("no scale", {"words": ("la",) * 5}),
    ("no positions", {"words": ("la",) * 5}),
    ("transposed weights", {"d_head": 1, "n_heads": 1, "head": 0}),
    ("softmax axis", {"words": ("word",), "query": 0}),
    ("split heads", {"n_heads": 1, "head": 0}),
    ("split heads", {"words": ("word",), "query": 0}),
]


@pytest.mark.parametrize(("mistake", "changes"), INVISIBLE)
def test_where_a_mistake_cannot_be_seen_both_sides_are_equal(mistake, changes):
    found = make(mistake, **ASKED | changes)
    assert found.largest_difference <= (1e-12 if mistake != "no positions" else 1.0)
    if mistake != "no positions":
        assert found.found[0] is False


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"words": ()}, "a word or more"), ({"head": 3}, "a head below 3"), ({"query": 5}, "a position below 5")],
)
def test_what_cannot_be_made_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        make("no scale", **ASKED | changes)
    with pytest.raises(ValueError, match="mistake must be one of"):
        make("typo", WORDS)
