"""What is measured: reports between two processes, exponents, and the program itself with small sizes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.cost import attention_cost
from core.measurement import timing
from core.measurement.fit import fit_power
from core.measurement.plan import (
    MEMORY_BUDGET,
    METHODS,
    LeftOut,
    Plan,
    Reading,
    Ready,
    plain_bytes,
    read_plan,
    read_report,
    write_report,
)

ROOT = Path(__file__).parents[2]
SMALL = Plan(d_head=5, n_heads=3, seconds=2.0, sizes=(7, 13, 29))


# Exponents


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 2.5])
def test_the_exponent_of_a_power_law_is_recovered(exponent):
    n = [512, 1024, 2048, 4096]
    fit = fit_power(n, [3e-9 * length**exponent for length in n])
    assert fit.exponent == pytest.approx(exponent, abs=1e-12)
    assert fit.factor == pytest.approx(3e-9, rel=1e-10)
    assert fit.residual == pytest.approx(1, abs=1e-10)
    assert fit.n_points == 4
    if exponent:
        assert fit.r_squared == pytest.approx(1, abs=1e-12)


@given(st.lists(st.floats(1e-6, 1e3), min_size=3, max_size=7))
def test_a_fit_equals_numpys_polynomial_of_the_logarithms(y):
    n = [2.0**power for power in range(len(y))]
    fit = fit_power(n, y)
    slope, start = np.polyfit(np.log(n), np.log(y), 1)
    assert fit.exponent == pytest.approx(slope, abs=1e-9)
    assert np.log(fit.factor) == pytest.approx(start, abs=1e-9)
    assert fit.r_squared <= 1 + 1e-12


def test_points_off_the_line_show_in_the_fit():
    fit = fit_power([1, 2, 4], [1, 8, 16])
    assert fit.exponent == pytest.approx(2)
    assert fit.residual == pytest.approx(2 ** (2 / 3))
    assert fit.r_squared == pytest.approx(12 / 13)


@pytest.mark.parametrize(("n", "y"), [([512], [1.0]), ([5, 5], [1.0, 2.0]), ([1, 2], [0.0, 1.0]), ([0, 2], [1.0, 1.0])])
def test_what_has_no_exponent_is_refused(n, y):
    with pytest.raises(ValueError, match="wanted positive values at two different n or more; got n = "):
        fit_power(n, y)


# Reports


@pytest.mark.parametrize(
    "report",
    [
        Reading(64, "plain formula", 1.25e-5, 200, 32780, 16),
        Reading(64, "fused function", 0.5, 3, None, 0),
        LeftOut(4096, "plain formula", "it would hold 1.50 GiB"),
        Ready("2.13.0", "processor time"),
    ],
)
def test_a_report_survives_its_line(report):
    line = write_report(report)
    assert "\n" not in line
    assert read_report(line) == report


@pytest.mark.parametrize("line", ["", "hello", "{}", "[]", '{"kind": "moon"}', '{"kind": "ready"}', "3", "null"])
def test_what_is_no_report_is_refused(line):
    with pytest.raises(ValueError, match="wanted a report of a measurement; got"):
        read_report(line)


def test_a_plan_survives_its_line():
    assert read_plan(SMALL.written()) == SMALL


# Timing


def measured(plan):
    ready, *reports = timing.measure(plan)
    assert isinstance(ready, Ready)
    assert torch.get_num_threads() == 1
    return reports


def test_every_size_is_measured_by_both_methods():
    reports = measured(SMALL)
    assert [(one.n, one.method) for one in reports] == [(n, method) for n in SMALL.sizes for method in METHODS]
    for one in reports:
        assert isinstance(one, Reading)
        assert 0 < one.seconds < 2
        assert one.runs >= timing.FEWEST_RUNS
        assert one.peak_bytes >= one.n * 15 * 4, "at least the output itself"
        expected = attention_cost(one.n, 15, 3).flops if one.method == "plain formula" else 0
        assert one.flops == expected


def test_both_methods_compute_the_same():
    q, k, v = torch.randn(3, 2, 3, 11, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    plain, fused = (timing.CALLS[method](q, k, v) for method in METHODS)
    torch.testing.assert_close(plain, fused, rtol=0, atol=1e-12)


def test_the_plain_formula_holds_two_matrices_of_pairs_and_the_fused_function_none():
    n = 512
    q = torch.zeros(1, 1, n, 8)
    with torch.inference_mode():
        plain, fused = (timing.peak_bytes(lambda call=timing.CALLS[method]: call(q, q, q)) for method in METHODS)
    assert plain_bytes(n, 1) <= plain <= plain_bytes(n, 1) + 100_000
    assert fused < plain_bytes(n, 1) / 4


def test_memory_that_was_there_before_does_not_count():
    before = torch.zeros(1000, 1000)
    assert timing.peak_bytes(lambda: before[:10, :10].clone()) == 400


def test_what_is_given_back_in_between_counts_while_it_is_held():
    def call():
        large = torch.ones(1000)
        small = large[:5] * 2
        del large
        return small * 2

    assert timing.peak_bytes(call) in range(4000, 4300)


def test_sizes_beyond_the_memory_budget_are_left_out_of_the_plain_formula_only(monkeypatch):
    monkeypatch.setattr(timing, "MEMORY_BUDGET", plain_bytes(13, 3))
    reports = measured(SMALL)
    left_out = [one for one in reports if isinstance(one, LeftOut)]
    assert [(one.n, one.method) for one in left_out] == [(29, "plain formula")]
    assert left_out[0].why == "it would hold 19.7 KiB at once; the budget is 3.96 KiB"
    assert [one.method for one in reports if one.n == 29 and isinstance(one, Reading)] == ["fused function"]


def test_twelve_heads_of_the_longest_size_are_beyond_the_budget_and_one_is_not():
    assert plain_bytes(4096, 1) <= MEMORY_BUDGET < plain_bytes(4096, 12)


def test_when_the_time_is_over_the_rest_is_left_out_and_named():
    reports = measured(Plan(d_head=5, seconds=0.0, sizes=(7, 13)))
    assert [(one.n, one.method) for one in reports] == [(n, method) for n in (7, 13) for method in METHODS]
    assert {one.why for one in reports} == {"it would take about 0.0 s, and 0.0 of 0 s were left"}


@pytest.mark.parametrize(
    ("left", "why"), [(12.5, ""), (11.5, "it would take about 12.0 s, and 11.5 of 30 s were left")]
)
def test_the_next_size_is_expected_to_take_four_times_as_long(left, why):
    assert timing._too_much(Plan(), 128, "fused function", {"fused function": 0.5}, left) == why


def start(plan):
    return subprocess.Popen(
        [sys.executable, "-m", "core.measurement.program", plan.written()],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_program_reports_line_by_line_and_ends_well():
    process = start(Plan(d_head=3, seconds=0.5, sizes=(5, 7)))
    ready, *reports = [read_report(line) for line in process.stdout]
    assert process.wait(timeout=60) == 0, process.stderr.read()
    assert isinstance(ready, Ready)
    assert [(one.n, one.method) for one in reports] == [(n, method) for n in (5, 7) for method in METHODS]
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_the_program_ends_when_whoever_started_it_does():
    process = start(Plan(n_heads=4, seconds=600.0, sizes=(2048,)))
    assert isinstance(read_report(process.stdout.readline()), Ready)
    process.stdin.close()
    assert process.wait(timeout=30) == 1
    process.stdout.close()
    process.stderr.close()
