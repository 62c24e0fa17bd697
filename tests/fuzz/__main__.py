"""Fuzz the dashboard: ``python -m tests.fuzz --links 10000 --sequences 1000 --seed 1``.

Seven tenths of the links are opened under AppTest, the others as raw addresses at the real server; the sequences run
under AppTest. Two processes share the work. Prints what was wrong with as short a link or sequence as shows it, the
slowest runs and the memory; ends with 1 where anything was wrong.
"""

import os

# Before NumPy is imported: small products wait for each other's threads longer than they compute, as on the server.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.fuzz.work import prepare, work

RAW_SHARE = 0.3
"""Of the links: those that go to the real server."""

CHUNKS = {"links": 500, "sequences": 50}
"""How many a process does at a time."""

GROWTH = 400.0
"""Megabytes that a process under AppTest may grow by after its first chunk: the caches of all pages, once full."""


def chunks(links: int, sequences: int, seed: int) -> Iterator[tuple[str, int, int]]:
    """Part, count and seed of each; the server's own process has the longest, so it begins."""
    raw = round(RAW_SHARE * links)
    if raw:
        yield "raw links", raw, seed
    for part, count in (("sequences", sequences), ("links", links - raw)):
        for place, start in enumerate(range(0, count, CHUNKS[part])):
            yield part, min(CHUNKS[part], count - start), 1000 * seed + place


def main() -> int:
    """Share the work out, print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz the dashboard.")
    parser.add_argument("--links", type=int, default=10_000)
    parser.add_argument("--sequences", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    begin, found, failures = time.perf_counter(), [], {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.processes, context, prepare) as pool:
        jobs = [pool.submit(work, *chunk) for chunk in chunks(asked.links, asked.sequences, asked.seed)]
        for job in as_completed(jobs):
            found.append(job.result())
            done = sum(one.done for one in found if one.part == found[-1].part)
            print(f"[{time.perf_counter() - begin:5.0f} s] {done} {found[-1].part} done", flush=True)
            failures |= {f"{found[-1].part}: {kind}": said for kind, said in found[-1].failures.items()}
    for process in {one.process for one in found}:
        held = [one.memory for one in found if one.process == process]
        print(f"memory of process {process}: {held[0]:.0f} MB after its first chunk, {held[-1]:.0f} MB at the end")
        if held[-1] - held[0] > GROWTH:
            failures[f"memory of process {process}"] = f"it grew by {held[-1] - held[0]:.0f} MB"
    for part in dict.fromkeys(one.part for one in found):
        of_part = [one for one in found if one.part == part]
        print(f"\n{sum(one.done for one in of_part)} {part}, {sum(one.runs for one in of_part)} runs; the slowest:")
        for computed, seconds, what in sorted({slow for one in of_part for slow in one.slowest}, reverse=True)[:10]:
            print(f"  {computed:5.2f} s computed, {seconds:5.2f} s in all  {what[:300]}")
    print(f"\n{len(failures)} kinds of failures, seed {asked.seed}, {time.perf_counter() - begin:.0f} s")
    for kind, said in failures.items():
        print(f"\n{kind}\n    {said}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
