"""The single draw and the sweep over d, against loops, statistics and PyTorch's autograd."""

import math

import numpy as np
import pytest

from core import scaling
from core.scaling import LESSON_DIMS, SWEEP_DIMS, Band, single_draws, sweep, unit_spread
from core.torch_reference import softmax_and_jacobian_norm


def draw_scores(d, n_keys, n_draws, seed):
    """Dot products one by one; each d has a generator of its own, a draw is a query and then its keys."""
    rng = np.random.default_rng([seed, d])
    scores = []
    for _ in range(n_draws):
        q, *keys = rng.normal(size=(n_keys + 1, d))
        scores.append([sum(a * b for a, b in zip(q, key, strict=True)) for key in keys])
    return np.array(scores)


def band(values):
    return Band(float(np.mean(values)), float(np.quantile(values, 0.1)), float(np.quantile(values, 0.9)))


def assert_same_band(found, expected):
    np.testing.assert_allclose(
        [found.mean, found.low, found.high], [expected.mean, expected.low, expected.high], rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("d", [1, 7, 64])
def test_sweep_equals_pytorch_and_its_autograd(d):
    (row,) = sweep([d], n_keys=3, n_draws=53, seed=5)
    raw = draw_scores(d, 3, 53, 5)
    scaled = raw / math.sqrt(d)
    np.testing.assert_allclose(row.pooled_spread, np.std(raw), rtol=1e-12)
    assert_same_band(row.raw_score_spread, band([np.std(scores) for scores in raw]))
    assert_same_band(row.scaled_score_spread, band([np.std(scores) for scores in scaled]))
    for name, scores in (("unscaled", raw), ("scaled", scaled)):
        theirs = softmax_and_jacobian_norm(scores)
        entropies = [-sum(w * math.log(w) for w in weights if w > 0) for weights in theirs["weights"]]
        assert_same_band(getattr(row, f"max_weight_{name}"), band([max(weights) for weights in theirs["weights"]]))
        assert_same_band(getattr(row, f"entropy_{name}"), band(entropies))
        assert_same_band(getattr(row, f"gradient_norm_{name}"), band(theirs["jacobian_norm"]))


def test_sweep_rows_carry_their_sizes_in_the_order_given():
    rows = sweep([11, 2, 5], n_keys=3, n_draws=7)
    assert [(row.d, row.n_keys, row.n_draws) for row in rows] == [(11, 3, 7), (2, 3, 7), (5, 3, 7)]


def test_sweep_row_does_not_depend_on_the_other_sizes():
    assert sweep([64], n_draws=11) == sweep([4, 64, 512], n_draws=11)[1:2]


def test_sweep_depends_on_the_seed_alone():
    assert sweep([7], n_draws=11, seed=3) == sweep([7], n_draws=11, seed=3)
    assert sweep([7], n_draws=11, seed=3) != sweep([7], n_draws=11, seed=4)


def test_sweep_in_portions_equals_one_in_a_single_piece(monkeypatch):
    whole = sweep([7], n_keys=3, n_draws=53)
    monkeypatch.setattr(scaling, "_PORTION", 4 * 7 * 5)  # five draws at a time, three in the last portion
    assert sweep([7], n_keys=3, n_draws=53) == whole


def test_sweep_never_draws_more_than_a_portion_at_once(monkeypatch):
    sizes = []

    class Recorder:
        def __init__(self, seed):
            self.rng = np.random.Generator(np.random.PCG64(seed))

        def standard_normal(self, out):
            sizes.append(out.size)
            return self.rng.standard_normal(out=out)

    monkeypatch.setattr(np.random, "default_rng", Recorder)
    sweep([4096], n_keys=5, n_draws=200)
    assert max(sizes) <= 100_000
    assert sum(sizes) == 200 * 6 * 4096


@pytest.mark.parametrize("d", [1, 64, 512])
def test_raw_scores_spread_like_the_root_of_d_and_scaled_ones_like_one(d):
    n_draws = 4000
    (row,) = sweep([d], n_keys=5, n_draws=n_draws)
    # Keys of one draw share their query, so a draw counts once: variance scatters by about sqrt(2/draws); at d = 1
    # the product of two normals has heavier tails (kurtosis 9 and not 3), hence the wider bound.
    scatter = 4 * math.sqrt((8 if d == 1 else 2) / n_draws)
    np.testing.assert_allclose(row.pooled_spread**2 / d, 1, atol=scatter)
    np.testing.assert_allclose(row.raw_score_spread.mean / math.sqrt(d), row.scaled_score_spread.mean, rtol=1e-12)


def test_raising_d_saturates_the_softmax_only_without_the_division():
    low, high = sweep([4, 1024], n_draws=300)
    assert high.max_weight_unscaled.mean > 0.95 > 0.75 > low.max_weight_unscaled.mean
    assert high.entropy_unscaled.mean < 0.1 * low.entropy_unscaled.mean
    assert high.gradient_norm_unscaled.mean < 0.2 * low.gradient_norm_unscaled.mean
    assert abs(high.max_weight_scaled.mean - low.max_weight_scaled.mean) < 0.1
    assert abs(high.entropy_scaled.mean - low.entropy_scaled.mean) < 0.2
    assert high.gradient_norm_scaled.mean > 0.8 * low.gradient_norm_scaled.mean


def test_one_key_gets_everything_and_nothing_can_change():
    (row,) = sweep([7], n_keys=1, n_draws=5)
    assert row.max_weight_unscaled == row.max_weight_scaled == Band(1, 1, 1)
    assert row.entropy_scaled == row.gradient_norm_scaled == row.raw_score_spread == Band(0, 0, 0)


def test_at_d_one_the_division_changes_nothing():
    (row,) = sweep([1], n_draws=11)
    assert row.max_weight_unscaled == row.max_weight_scaled
    assert row.gradient_norm_unscaled == row.gradient_norm_scaled


def test_default_sweep_covers_powers_of_two_up_to_4096():
    assert SWEEP_DIMS == (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


def test_single_draws_runs_one_generator_on_from_size_to_size():
    rng = np.random.default_rng(3)
    for draw, d in zip(single_draws([5, 2, 7], n_keys=3, seed=3), [5, 2, 7], strict=True):
        q = rng.normal(size=d)
        raw = [float(rng.normal(size=d) @ q) for _ in range(3)]
        np.testing.assert_allclose(draw.raw_scores, raw, rtol=1e-12)
        mean = sum(raw) / 3
        np.testing.assert_allclose(draw.raw_score_spread, math.sqrt(sum((s - mean) ** 2 for s in raw) / 3), rtol=1e-12)
        for weights, factor, largest in (
            (draw.weights_unscaled, 1, draw.max_weight_unscaled),
            (draw.weights_scaled, 1 / math.sqrt(d), draw.max_weight_scaled),
        ):
            exponentials = [math.exp(score * factor) for score in raw]
            expected = [exponential / sum(exponentials) for exponential in exponentials]
            np.testing.assert_allclose(weights, expected, rtol=1e-12)
            np.testing.assert_allclose(largest, max(expected), rtol=1e-12)
        assert draw.d == d


def test_single_draws_are_the_lessons_by_default():
    assert single_draws()[2].raw_score_spread == single_draws((4, 64, 512), n_keys=5, seed=1)[2].raw_score_spread
    assert LESSON_DIMS == (4, 64, 512)


@pytest.mark.parametrize("function", [single_draws, sweep])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        pytest.param({"dims": [4, 0]}, r"dims must be at least 1; got \(4, 0\)", id="no width"),
        pytest.param({"n_keys": 0}, "n_keys must be at least 1; got 0", id="no key"),
        pytest.param({"seed": -1}, "seed must not be negative; got -1", id="negative seed"),
    ],
)
def test_scaling_refuses_what_cannot_be_drawn(function, wrong, message):
    with pytest.raises(ValueError, match=message):
        function(**{"dims": [4]} | wrong)


def test_sweep_refuses_no_draws():
    with pytest.raises(ValueError, match="n_draws must be at least 1; got 0"):
        sweep([4], n_draws=0)


def test_unit_spread_divides_by_the_spread_of_all_numbers():
    x = np.random.default_rng(0).normal(3, 5, (7, 11))
    brought, spread = unit_spread(x)
    assert spread == x.std()
    np.testing.assert_allclose(brought * spread, x, rtol=1e-14)
    assert brought.std() == pytest.approx(1)


@pytest.mark.parametrize(
    "x", [np.full((3, 2), 0.1), np.zeros((2, 2)), np.empty((0, 3)), np.array([[1.0, 1.0 + 2e-16]])]
)
def test_equal_numbers_have_no_spread_to_divide_by(x):
    assert unit_spread(x)[1] == 1
