"""Functions of core against PyTorch and against the obvious loop, in float64, and how their time grows."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core.measurement.fit import fit_power
from core.scaling import SWEEP_DIMS
from tests.benchmarks.tables import Cell, Result, Table, Verdict
from tests.benchmarks.twins import CASES, Sizes

ROOT = Path(__file__).resolve().parents[2]

LIMIT = 1.5
"""How many times as long as PyTorch's plain formula our attention may take."""

DEFAULT, MIDDLE, LARGE = Sizes(5, 2, 4), Sizes(64, 12, 64), Sizes(512, 12, 64)
"""What a page opens with, the largest that the sidebar offers, and a sentence eight times as long."""

LENGTHS = (64, 128, 256, 512, 1024)
WIDTHS = (16, 64, 256, 1024, 4096)
BLOCK = 0.04
"""Seconds of one turn of one side; a call that takes longer makes its turn longer."""

FEWEST_ROUNDS = 3
ENOUGH = 3.0
"""Seconds after which a case has no more than `FEWEST_ROUNDS` rounds."""

SLOWEST_LOOP = 1.5
"""Seconds; a loop that would take longer is left out, as told from the size before."""

SETTINGS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Variables that make NumPy take another kernel than it would choose; the processes measured here run without them."""


@dataclass
class Worker:
    """One process with its own number of threads."""

    process: subprocess.Popen[str]

    def ask(self, **asked: object) -> dict[str, Any]:
        """One question and its answer."""
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("a worker has an input and an output")
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker ended when it was asked for {asked}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def working(threads: int) -> Iterator[Worker]:
    """A worker for as long as it is needed."""
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    environment |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.compute_worker", str(threads)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Worker(process)
    finally:
        process.stdin.close()  # type: ignore[union-attr]
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass
class Pair:
    """One process for us and the loop, one for PyTorch: the threads of one library wait actively for a while."""

    ours: Worker
    torch: Worker

    def turn(self, case: str, sizes: Sizes, side: str, seconds: float = BLOCK) -> float:
        """Median of one turn of one side, in seconds."""
        worker = self.torch if side in ("torch", "fused") else self.ours
        answer = worker.ask(what="times", case=case, sizes=asdict(sizes), side=side, seconds=seconds)
        return statistics.median(answer["times"])

    def sides(self, case: str, sizes: Sizes) -> list[str]:
        """Names of the ways that a case has."""
        found: list[str] = self.ours.ask(what="sides", case=case, sizes=asdict(sizes))["sides"]
        return found


@dataclass
class Found:
    """Medians of every turn of each side."""

    turns: dict[str, list[float]] = field(default_factory=dict)

    def seconds(self, side: str) -> float | None:
        """The median over the turns; None where the side was left out."""
        return statistics.median(self.turns[side]) if side in self.turns else None

    def milliseconds(self, side: str) -> float | None:
        """The same in milliseconds."""
        seconds = self.seconds(side)
        return None if seconds is None else 1000 * seconds

    def ratio(self, side: str, other: str) -> float | None:
        """The median over the rounds of the turns' ratios: what disturbs the machine meets both alike."""
        if side not in self.turns or other not in self.turns:
            return None
        return statistics.median(a / b for a, b in zip(self.turns[side], self.turns[other], strict=False))


def measured(
    pair: Pair,
    case: str,
    sizes: Sizes,
    sides: Sequence[str],
    rounds: int,
    loop: bool = False,
    enough: float = ENOUGH,
) -> Found:
    """Turn by turn, our side first; the loop has one turn, since one call of it is long."""
    found, begin = Found(), time.monotonic()
    for done in range(rounds):
        if done >= FEWEST_ROUNDS and time.monotonic() - begin > enough:
            break
        for side in sides:
            found.turns.setdefault(side, []).append(pair.turn(case, sizes, side))
    if loop:
        found.turns["loop"] = [pair.turn(case, sizes, "loop", 0.0)]
    return found


def run(thorough: bool = True) -> Result:
    """Every case at three sizes; attention on one and on all threads; exponents; the sweep."""
    rounds = 7 if thorough else 1
    every = os.cpu_count() or 1
    with ExitStack() as stack:
        one = Pair(*(stack.enter_context(working(1)) for _ in range(2)))
        libraries = one.ours.ask(what="libraries")
        cases = case_table(one, rounds, (DEFAULT, MIDDLE, LARGE) if thorough else (DEFAULT, Sizes(7, 2, 3)))
        growth, exponents = growth_tables(one, rounds, thorough)
        sweep = sweep_table(one, rounds, SWEEP_DIMS if thorough else (1, 4, 16))
        attention = [attention_row(one, 1, 3 * rounds, causal) for causal in (False, True)]
    if every > 1:
        with ExitStack() as stack:
            both = Pair(*(stack.enter_context(working(every)) for _ in range(2)))
            attention += [attention_row(both, every, 3 * rounds, causal) for causal in (False, True)]
    worst = max(attention, key=lambda row: float(row["ours / plain formula"] or 0))
    verdict = Verdict(
        "attention of core takes no longer than PyTorch's plain formula in float64 on the same threads",
        float(worst["ours / plain formula"] or float("nan")),
        LIMIT,
        "times its time",
        where=f"{worst['mask']}, {worst['threads']} threads",
    )
    about = "12 heads of 512 positions, d = 64, float64; each side in a process of its own, by turns."
    set_here = [name for name in SETTINGS if name in os.environ]
    notes = [
        f"NumPy multiplies by {libraries['numpy']}, PyTorch by {libraries['torch']}.",
        "Times are wall-clock medians; ratios are medians of the ratios of neighbouring turns.",
    ]
    if set_here:
        notes.append(f"{' and '.join(set_here)} were set here and taken away for the processes that were measured.")
    return Result(
        "Compute: core, PyTorch and the obvious loop",
        (Table("Attention of core and PyTorch", attention, about), exponents, growth, sweep, cases),
        (verdict,),
        notes,
    )


def attention_row(pair: Pair, threads: int, rounds: int, causal: bool) -> dict[str, Cell]:
    """Ours, the plain formula, the fused function."""
    case = "attention, causal" if causal else "attention"
    found = measured(pair, case, LARGE, ("ours", "torch", "fused"), rounds, enough=10 * ENOUGH)
    return {
        "mask": "causal" if causal else "none",
        "threads": threads,
        "ours, ms": found.milliseconds("ours"),
        "plain formula, ms": found.milliseconds("torch"),
        "fused function, ms": found.milliseconds("fused"),
        "ours / plain formula": found.ratio("ours", "torch"),
        "ours / fused function": found.ratio("ours", "fused"),
    }


def case_table(pair: Pair, rounds: int, all_sizes: Sequence[Sizes]) -> Table:
    """Every case at every size on one thread."""
    rows: list[dict[str, Cell]] = []
    for case in CASES:
        took: float | None = None
        for number, sizes in enumerate(all_sizes):
            has_loop = took is not None or number == 0
            if has_loop and took is not None:
                before = all_sizes[number - 1]
                # A loop's time grows at least like the numbers that it reads, here like the pairs or the matrices.
                work = max(
                    sizes.n_heads * sizes.n**2 / (before.n_heads * before.n**2),
                    sizes.n * sizes.d_model / (before.n * before.d_model),
                )
                has_loop = took * work <= SLOWEST_LOOP
            has_loop = has_loop and "loop" in pair.sides(case, sizes)
            found = measured(pair, case, sizes, ("ours", "torch"), rounds, has_loop)
            took = found.seconds("loop")
            rows.append(
                {
                    "function": case,
                    "n": sizes.n,
                    "heads": sizes.n_heads,
                    "d": sizes.d,
                    "ours, ms": found.milliseconds("ours"),
                    "PyTorch, ms": found.milliseconds("torch"),
                    "loop, ms": found.milliseconds("loop"),
                    "ours / PyTorch": found.ratio("ours", "torch"),
                    "loop / ours": _quotient(found.seconds("loop"), found.seconds("ours")),
                }
            )
    about = (
        "float64, one thread each. The loop has no cell where it would take longer than "
        f"{SLOWEST_LOOP:g} s, or where the case has none. PyTorch's stack builds its modules in the time shown."
    )
    return Table("Every function with a twin", rows, about)


def growth_tables(pair: Pair, rounds: int, thorough: bool) -> tuple[Table, Table]:
    """Attention against n and against d, and the exponents fitted to it."""
    lengths, widths = (LENGTHS, WIDTHS) if thorough else (LENGTHS[:2], WIDTHS[:2])
    plans = [("n", [Sizes(n, 12, 64) for n in lengths]), ("d", [Sizes(256, 1, d) for d in widths])]
    points: list[dict[str, Cell]] = []
    fits: list[dict[str, Cell]] = []
    for grows, all_sizes in plans:
        by_side: dict[str, list[float]] = {"ours": [], "torch": []}
        for sizes in all_sizes:
            found = measured(pair, "attention", sizes, tuple(by_side), rounds)
            for side, seconds in by_side.items():
                seconds.append(found.seconds(side) or float("nan"))
            points.append(
                {
                    "grows": grows,
                    "n": sizes.n,
                    "heads": sizes.n_heads,
                    "d": sizes.d,
                    "ours, ms": found.milliseconds("ours"),
                    "PyTorch, ms": found.milliseconds("torch"),
                    "ours / PyTorch": found.ratio("ours", "torch"),
                }
            )
        across = [getattr(sizes, grows) for sizes in all_sizes]
        for side, name in (("ours", "core"), ("torch", "PyTorch's plain formula")):
            fit = fit_power(across, by_side[side])
            ends = f"{across[0]} to {across[-1]}"
            last = fit_power(across[-2:], by_side[side][-2:])
            fits.append(
                {
                    "attention of": name,
                    "grows with": grows,
                    "fitted over": ends,
                    "exponent": fit.exponent,
                    "R²": fit.r_squared,
                    "exponent of the last step": last.exponent,
                }
            )
    one = "Least squares of log time on log size; the scores cost n² d, the softmax n², the projections are not in it."
    return Table("Growth of attention, points", points), Table("Growth of attention, exponents", fits, one)


def sweep_table(pair: Pair, rounds: int, dims: Sequence[int]) -> Table:
    """The page's sweep, one d at a time."""
    rows: list[dict[str, Cell]] = []
    for d in dims:
        found = measured(pair, "sweep", Sizes(5, 1, d), ("ours", "torch"), rounds, loop=True)
        rows.append(
            {
                "d": d,
                "ours, ms": found.milliseconds("ours"),
                "PyTorch, ms": found.milliseconds("torch"),
                "loop, ms": found.milliseconds("loop"),
                "ours / PyTorch": found.ratio("ours", "torch"),
            }
        )
    total = {name: sum(float(row[name] or 0) for row in rows) for name in ("ours, ms", "PyTorch, ms", "loop, ms")}
    last = {"d": "all", **total, "ours / PyTorch": total["ours, ms"] / total["PyTorch, ms"]}
    about = (
        "200 draws of a query and 5 keys, the page's own sizes. Both sides draw with their own generator, which is "
        "most of the time at large d; the loop sums up nothing, it only draws and multiplies vector by vector."
    )
    return Table("The sweep over d", [*rows, last], about)


def _quotient(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a / b
