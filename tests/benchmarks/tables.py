"""What a benchmark finds: tables, verdicts on the limits, the machine; written as Markdown and as JSON."""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of named cells; a column's name says its unit."""

    title: str
    rows: Sequence[Mapping[str, Cell]]
    about: str = ""
    """How it was measured, in one or two sentences."""

    def markdown(self) -> str:
        """As a table of GitHub's Markdown, numbers to the right."""
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        numeric = {c for c in columns if all(_is_number(row.get(c)) or row.get(c) is None for row in self.rows)}
        lines = [f"### {self.title}", ""]
        if self.about:
            lines += [self.about, ""]
        lines.append("| " + " | ".join(columns) + " |")
        lines.append("|" + "|".join("--:" if column in numeric else "---" for column in columns) + "|")
        lines += ["| " + " | ".join(shown(row.get(column)) for column in columns) + " |" for row in self.rows]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One limit, the worst figure that it was held against, and where that was seen."""

    claim: str
    """What must hold, as a sentence: "a slider move is painted within 3 times the floor"."""
    found: float
    limit: float
    unit: str
    at_least: bool = False
    """The limit is a lower one."""
    where: str = ""

    @property
    def holds(self) -> bool:
        """Whether the figure is within the limit; NaN is not."""
        return self.found >= self.limit if self.at_least else self.found <= self.limit


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that one benchmark found."""

    title: str
    tables: Sequence[Table]
    verdicts: Sequence[Verdict] = ()
    notes: Sequence[str] = ()
    seconds: float = field(default=0.0)

    def markdown(self) -> str:
        """A section of the report."""
        parts = [f"## {self.title}"]
        if self.verdicts:
            parts.append(verdict_table(self.verdicts))
        parts += [table.markdown() for table in self.tables]
        parts += [f"- {note}" for note in self.notes]
        return "\n\n".join(parts)


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """All limits beside the figures held against them."""
    lines = ["| limit | found | where | holds |", "|---|--:|---|---|"]
    for verdict in verdicts:
        bound = "at least" if verdict.at_least else "at most"
        lines.append(
            f"| {verdict.claim}: {bound} {shown(verdict.limit)} {verdict.unit} | {shown(verdict.found)} "
            f"| {verdict.where} | {'yes' if verdict.holds else '**no**'} |"
        )
    return "\n".join(lines)


def shown(cell: Cell) -> str:
    """A cell as the Markdown shows it: three significant digits, whole numbers whole."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        if cell != cell or abs(cell) == float("inf"):
            return str(cell)
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell.replace("|", "\\|")


def machine() -> dict[str, Cell]:
    """What the figures depend on, without names that are nobody's business."""
    processor = platform.processor() or platform.machine()
    memory = None
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
        memory = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    packages = ("streamlit", "numpy", "torch", "altair", "pandas")
    return {
        "when (UTC)": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        "commit": commit or "not in a repository",
        "processor": processor,
        "cores": os.cpu_count(),
        "memory in GiB": memory,
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def pace() -> float:
    """Milliseconds of processor time for a loop of a million steps, the best of five.

    A host of the same name may work half as fast on another day: only this tells of two reports what their times in
    milliseconds are worth beside each other.
    """
    took = []
    for _ in range(5):
        begin, total = time.process_time(), 0
        for step in range(1_000_000):
            total += step * step
        took.append(1000 * (time.process_time() - begin))
    return round(min(took), 1)


def as_json(results: Mapping[str, Result], conditions: Mapping[str, Cell]) -> str:
    """The same figures for programs, in full precision."""
    found = {
        name: asdict(result) | {"verdicts": [asdict(v) | {"holds": v.holds} for v in result.verdicts]}
        for name, result in results.items()
    }
    return json.dumps({"machine": conditions, "results": found}, indent=1, ensure_ascii=False) + "\n"


def as_markdown(results: Mapping[str, Result], conditions: Mapping[str, Cell]) -> str:
    """The report: machine, limits, then a section for each benchmark."""
    verdicts = [verdict for result in results.values() for verdict in result.verdicts]
    conditions_rows = [f"| {name} | {shown(cell)} |" for name, cell in conditions.items()]
    parts = [
        "# Benchmarks",
        "Written by `make bench`, which measures all of it anew; `make bench PARTS='slider compute'` measures only "
        "some parts and prints them. Times on a shared machine are noisy: compare the ratios, which come from one run.",
        "\n".join(["| machine | |", "|---|---|", *conditions_rows]),
        f"## Limits: {sum(v.holds for v in verdicts)} of {len(verdicts)} hold",
        verdict_table(verdicts),
        *(result.markdown() for result in results.values()),
    ]
    return "\n\n".join(parts) + "\n"


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)
