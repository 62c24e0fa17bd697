"""Script time of a slider move on the query-key-value page, beside an empty page in the same process.

Run from the project's folder: ``.venv/bin/python tests/benchmarks/script_time.py``. Prints the medians and whether
the page stays below three times the empty page plus 25 ms; exits with 1 where its processor time does not (other load
on the machine lengthens the wall time of a long script more than that of a short one).
"""

import functools
import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from streamlit.runtime.scriptrunner.script_cache import ScriptCache  # noqa: E402
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner  # noqa: E402
from streamlit.testing.v1 import AppTest  # noqa: E402

import core.torch_reference  # noqa: E402, F401  (torch loaded, as after the first check)

WARM_UP, RUNS = 20, 100


def time_scripts() -> list[tuple[float, float]]:
    """Record how long every script run takes, garbage collection after it included: wall and processor time, in ms."""
    times: list[tuple[float, float]] = []
    run_script = ScriptRunner._run_script

    @functools.wraps(run_script)
    def timed(self: ScriptRunner, *args: object, **options: object) -> None:
        wall, processor = time.perf_counter(), time.thread_time()
        run_script(self, *args, **options)  # type: ignore[arg-type]
        times.append((1000 * (time.perf_counter() - wall), 1000 * (time.thread_time() - processor)))

    ScriptRunner._run_script = timed  # type: ignore[method-assign]
    return times


def keep_compiled_scripts() -> None:
    """Compile each script once, as the server does; AppTest would compile it anew for every run."""
    read = ScriptCache.get_bytecode
    fresh = ScriptCache()
    kept = functools.cache(lambda path: read(fresh, path))
    ScriptCache.get_bytecode = lambda self, path: kept(path)  # type: ignore[method-assign]


def main() -> int:
    """Measure both pages by turns of one run each, so that other load on the machine meets both alike."""
    times = time_scripts()
    keep_compiled_scripts()
    page = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    page.switch_page(str(ROOT / "pages" / "query_key_value.py")).run()
    empty = AppTest.from_string("import streamlit as st\nst.slider('d', 1, 64, 4, key='d')").run()
    found: dict[str, list[tuple[float, float]]] = {"empty page": [], "query_key_value": []}

    for number in range(WARM_UP + RUNS):
        d = 3 + number % 5
        empty.slider(key="d").set_value(d).run()
        found["empty page"].append(times[-1])
        page.select_slider(key="d").set_value(d).run()
        found["query_key_value"].append(times[-1])
    if page.exception:
        print(page.exception[0].message)
        return 1
    print(f"script time of a slider move, torch loaded, medians of {RUNS} runs; load {os.getloadavg()[0]:.1f}")
    for column, clock in enumerate(("wall", "processor")):
        floor, own = (statistics.median(pair[column] for pair in pairs[-RUNS:]) for pairs in found.values())
        limit = 3 * floor + 25
        verdict = "within" if own <= limit else "ABOVE"
        print(f"  {clock:9s}  empty page {floor:5.1f} ms   query_key_value {own:5.1f} ms   {verdict} {limit:.1f} ms")
    return int(own > limit)


if __name__ == "__main__":
    sys.exit(main())
