"""The tiny model in NumPy against the same in PyTorch, and relations that need no expected number."""

from dataclasses import replace

import numpy as np
import pytest

from core.training import network
from core.training.model import Design, first_parameters, run, shapes
from core.training.runs import saved
from core.training.tasks import SAVED, TASKS

DESIGNS = {
    "attention alone": Design(11, 7, d_model=13, d_head=5),
    "two layers, feed-forward, causal": Design(11, 7, d_model=13, d_head=5, n_layers=2, d_ff=17, causal=True),
    "no positions, no scale": Design(11, 7, d_model=13, d_head=5, positions=False, scaled=False, unit_scores=True),
    "pointer": Design(11, 7, d_model=13, d_head=5, readout="pointer", spread=0.15),
}


def drawn(design, seed=0):
    rng = np.random.default_rng(seed)
    first = first_parameters(design, rng)
    # Gains and shifts begin at 1 and 0, where a missing one would not show.
    return {name: array + 0.1 * rng.normal(size=array.shape) for name, array in first.items()}


def largest_gap(design, parameters, tokens):
    ours, theirs = run(design, parameters, tokens), network.forward(design, parameters, tokens)
    gaps = [np.abs(picture.weights - theirs[f"weights {i}"]).max() for i, picture in enumerate(ours.pictures)]
    assert len(gaps) == design.n_pictures == len(theirs) - 1
    finite = np.isfinite(theirs["logits"])
    assert finite.all()
    return max(*gaps, np.abs(ours.logits - theirs["logits"]).max() / max(1.0, np.abs(ours.logits).max()))


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_numpy_and_pytorch_compute_the_same(design):
    tokens = np.random.default_rng(1).integers(11, size=(3, 7))
    assert largest_gap(design, drawn(design), tokens) < 1e-5


@pytest.mark.parametrize(("task", "seed"), SAVED)
def test_numpy_and_pytorch_compute_the_same_with_what_was_learned(task, seed):
    design = TASKS[task].design
    tokens = TASKS[task].fresh(np.random.default_rng(2), 5).tokens
    assert largest_gap(design, saved(task, seed).parameters, tokens) < 1e-5


def test_a_causal_model_does_not_see_what_follows():
    design = DESIGNS["two layers, feed-forward, causal"]
    tokens = np.array([3, 1, 4, 1, 5])
    whole, start = run(design, drawn(design), tokens), run(design, drawn(design), tokens[:3])
    np.testing.assert_allclose(whole.logits[:3], start.logits, rtol=1e-12)


def test_without_positions_the_order_makes_no_difference_to_a_word():
    design, order = DESIGNS["no positions, no scale"], [2, 0, 3, 1]
    tokens = np.array([3, 1, 4, 5])
    straight, mixed = run(design, drawn(design), tokens), run(design, drawn(design), tokens[order])
    np.testing.assert_allclose(mixed.logits, straight.logits[order], rtol=1e-10)
    placed = replace(design, positions=True)
    differs = run(placed, drawn(placed), tokens[order]).logits - run(placed, drawn(placed), tokens).logits[order]
    assert np.abs(differs).max() > 0.01


def test_the_pointer_answers_with_its_own_weights():
    design = DESIGNS["pointer"]
    found = run(design, drawn(design), [1, 2, 3])
    np.testing.assert_array_equal(found.logits, found.pictures[-1].scaled_scores)


def test_first_parameters_have_the_shapes_and_bounds_that_they_should():
    design = DESIGNS["two layers, feed-forward, causal"]
    first = first_parameters(design, np.random.default_rng(0))
    assert {name: array.shape for name, array in first.items()} == shapes(design)
    for name, inputs in (("w_q_0", 13), ("w_o_1", 5), ("b_o_1", 5), ("w_2_0", 17), ("b_2_0", 17), ("readout_bias", 13)):
        assert 0.6 * inputs**-0.5 < np.abs(first[name]).max() <= inputs**-0.5, name


def test_unit_scores_begin_with_queries_of_variance_one():
    design = Design(11, 7, d_model=211, d_head=197, unit_scores=True)
    w = first_parameters(design, np.random.default_rng(0))["w_q_0"]
    assert w.var() * 211 == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("tokens", [[], [0] * 8, [11], [-1]], ids=["none", "too many", "unknown", "negative"])
def test_sequences_that_cannot_be_are_refused(tokens):
    with pytest.raises(ValueError, match="tokens"):
        run(DESIGNS["attention alone"], drawn(DESIGNS["attention alone"]), tokens)
