"""What the heads of the trained model do: the table of the repository, counted again."""

import numpy as np
import pytest

from core.pretrained.measure import rounding
from core.pretrained.named_heads import (
    LIMIT,
    NAMED,
    best_distance,
    best_head,
    cases,
    highest_share,
    on_the_other_half,
    score,
)
from core.pretrained.sentences import Case
from core.pretrained.table import measured

CASES = cases()
PATTERNS = {pattern.name: pattern for pattern in measured().patterns}
# A case on the brink may fall the other way on another machine, so a share may be off by one of its cases.


@pytest.mark.parametrize("name", NAMED)
def test_a_named_head_does_what_the_table_says(measured_attention, name):
    pattern, of_pattern = PATTERNS[name], CASES[name]
    found = score(of_pattern, measured_attention, *NAMED[name])
    assert (pattern.layer, pattern.head, pattern.cases) == (*NAMED[name], len(of_pattern))
    assert found.mass == pytest.approx(pattern.mass, abs=1e-5)
    assert found.hit == pytest.approx(pattern.hit, abs=1.01 / len(of_pattern))
    assert best_distance(of_pattern) == pytest.approx(pattern.distance, abs=1e-6)
    assert on_the_other_half(of_pattern, measured_attention) == pytest.approx(pattern.other_half, abs=0.05)
    if pattern.over_rival is not None:
        assert found.over_rival == pytest.approx(pattern.over_rival, abs=1.01 / len(of_pattern))
        assert found.rival_mass == pytest.approx(pattern.rival_mass, abs=1e-5)


@pytest.mark.parametrize("name", NAMED)
def test_a_named_head_is_the_best_one(measured_attention, name):
    assert best_head(CASES[name], measured_attention) == NAMED[name]


@pytest.mark.parametrize("name", NAMED)
def test_rounding_moves_no_score_by_more_than_two_hundredths(name):
    assert PATTERNS[name].mass == pytest.approx(PATTERNS[name].full_mass, abs=0.02)
    assert PATTERNS[name].hit == pytest.approx(PATTERNS[name].full_hit, abs=0.02)


@pytest.mark.parametrize("name", sorted(set(NAMED) - {"previous word", "next word"}))
def test_a_named_head_beats_the_best_fixed_distance(name):
    assert PATTERNS[name].hit > PATTERNS[name].distance + 0.2


def test_no_head_knows_what_the_last_word_decides(measured_attention):
    limit = measured().limit
    assert limit.cases == len(CASES[LIMIT]) == 24
    assert highest_share(CASES[LIMIT], measured_attention) == pytest.approx(limit.best_of_all_heads, abs=0.05)
    assert on_the_other_half(CASES[LIMIT], measured_attention) == pytest.approx(limit.other_half, abs=0.09)
    assert limit.best_of_all_heads < 0.7


def test_the_start_takes_what_the_table_says(measured_attention):
    rows = [weights[:, :, 1:-1, 0] for weights in measured_attention.values()]
    by_layer = np.concatenate(rows, axis=-1).mean(axis=(1, 2))
    np.testing.assert_allclose(by_layer, measured().on_start_by_layer, atol=1e-5)
    assert len(measured_attention) == measured().texts


def test_pronouns_are_balanced():
    """The nearer person is meant as often as the farther one, and so are she and he."""
    of_pattern = CASES["pronoun to the one meant"]
    assert np.mean([case.key > case.rival for case in of_pattern]) == 0.5
    pronouns = [case.text.split()[case.query - 1] for case in of_pattern]
    assert pronouns.count("she") == pronouns.count("he") == 42


@pytest.mark.parametrize("name", [*NAMED, LIMIT])
def test_every_case_names_places_of_its_sentence(name):
    for case in CASES[name]:
        n = len(case.text.split())
        places = [case.query, case.key, *([] if case.rival is None else [case.rival])]
        assert 1 <= case.query <= n
        assert len(set(places)) == len(places)
        assert all(0 <= place <= n for place in places)


def test_scores_of_a_matrix_that_can_be_counted_by_hand():
    rows = np.array([[0.0] * 4, [0.5, 0.1, 0.3, 0.1], [0.0, 0.6, 0.4, 0.0], [0.0] * 4])
    found = score([Case("a b", 1, 2, 1), Case("a b", 2, 1, 2)], {"a b": rows[None, None]}, 0, 0)
    assert (found.mass, found.hit, found.over_rival) == (pytest.approx(0.45), 1.0, 1.0)
    assert found.rival_mass == pytest.approx(0.25)
    assert score([Case("a b", 1, 0), Case("a b", 1, 3)], {"a b": rows[None, None]}, 0, 0).hit == 0.5


def test_what_rounding_costs_is_counted_by_hand():
    full = {"a": np.array([[[[0.6, 0.4], [0.2, 0.8]]]])}
    rounded = {"a": np.array([[[[0.4, 0.6], [0.2, 0.8]]]])}
    cost = rounding(full, rounded)
    assert (cost.texts, cost.same_favourite) == (1, 0.5)
    assert (cost.largest, cost.mean) == (pytest.approx(0.2), pytest.approx(0.1))
