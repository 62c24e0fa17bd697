"""What is timed against each other computes the same numbers."""

import numpy as np
import pytest
import torch

from core import scaling
from core.agreement import TOLERANCE, compare
from tests.benchmarks import twins
from tests.benchmarks.twins import CASES, Sizes, sides

SIZES = Sizes(n=7, n_heads=3, d=5)


def arrays(found):
    """One array or several, as NumPy's, by their place."""
    several = found if isinstance(found, tuple) else (found,)
    return {str(place): np.asarray(one) for place, one in enumerate(several)}


@pytest.mark.parametrize("case", CASES)
def test_twins_and_loop_compute_the_same_numbers(case):
    ways = {name: arrays(call()) for name, call in sides(case, SIZES).items()}
    ours = ways.pop("ours")
    assert "torch" in ways
    assert any(np.ptp(array) > 0.01 for array in ours.values()), "equal numbers would agree with anything"
    for name, theirs in ways.items():
        agreement = compare(ours, theirs)
        assert agreement.agrees, f"{name}: {agreement.largest_difference} at {agreement.where}"


def test_a_case_may_be_called_again_and_gives_the_same():
    for case in CASES:
        for name, call in sides(case, SIZES).items():
            first, second = arrays(call()), arrays(call())
            assert compare(first, second).largest_difference <= TOLERANCE, (case, name)


def test_sweep_by_torch_sums_up_the_same_draws_alike():
    vectors = np.random.default_rng([0, 11]).normal(size=(53, 4, 11))
    (row,) = scaling.sweep((11,), n_keys=3, n_draws=53)
    measures = ("score_spread", "max_weight", "entropy", "gradient_norm")
    bands = [row.raw_score_spread, *(getattr(row, f"{name}_unscaled") for name in measures[1:])]
    bands += [row.scaled_score_spread, *(getattr(row, f"{name}_scaled") for name in measures[1:])]
    ours = [row.pooled_spread, *(number for band in bands for number in (band.mean, band.low, band.high))]
    theirs = twins.sweep_by_torch(torch.from_numpy(vectors))
    np.testing.assert_allclose(np.array(theirs), ours, rtol=1e-10)
    np.testing.assert_allclose(twins.Sweep(11, 3, 53).loop().shape, (53, 3))
