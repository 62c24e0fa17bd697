"""Every benchmark in one run: ``python -m tests.benchmarks`` writes ``docs/benchmarks.md`` and ``.json``.

With names after it, only those run, and the report goes to the screen. ``--quick`` tries each one briefly: it shows
that they work, its figures mean nothing. Exits with 1 where a limit does not hold.
"""

import argparse
import importlib
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PARTS: tuple[str, ...] = ("slider", "compute", "lecture_hall", "replicas", "cold_start")
"""Modules of this folder, each with a function `run(thorough)`, in the order in which they run."""


def main(arguments: list[str] | None = None) -> int:
    """Run, print, write."""
    from tests.benchmarks import tables

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="try each one briefly; writes nothing")
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.parts) - set(PARTS))
    if unknown:
        parser.error(f"PART must be one of {', '.join(PARTS)}; got {', '.join(unknown)}")

    conditions = tables.machine() | {"load at the start": round(os.getloadavg()[0], 1)}
    paces = [tables.pace()]
    results: dict[str, tables.Result] = {}
    for name in asked.parts or PARTS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        begin = time.monotonic()
        result = importlib.import_module(f"tests.benchmarks.{name}").run(thorough=not asked.quick)
        results[name] = replace(result, seconds=time.monotonic() - begin)
        print(f"{result.markdown()}\n", flush=True)
        paces.append(tables.pace())
        conditions["a million steps of a loop, ms"] = f"{min(paces)} to {max(paces)}"
        conditions["minutes"] = round(sum(result.seconds for result in results.values()) / 60, 1)
        if not asked.parts and not asked.quick:  # after each part: what was measured stays if a later one fails
            (ROOT / "docs" / "benchmarks.md").write_text(tables.as_markdown(results, conditions), encoding="utf-8")
            (ROOT / "docs" / "benchmarks.json").write_text(tables.as_json(results, conditions), encoding="utf-8")
    verdicts = [verdict for result in results.values() for verdict in result.verdicts]
    print(tables.verdict_table(verdicts))
    return 0 if asked.quick or all(verdict.holds for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
