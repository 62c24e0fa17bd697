"""Script time of a slider move on the query-key-value page, beside an empty page in the same process.

Run from the project's folder: ``.venv/bin/python tests/benchmarks/script_time.py``. Prints the medians and whether
the page stays below three times the empty page plus 25 ms; exits with 1 where it does not.
"""

import functools
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from streamlit.runtime.scriptrunner.script_cache import ScriptCache  # noqa: E402
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner  # noqa: E402
from streamlit.testing.v1 import AppTest  # noqa: E402

import core.torch_reference  # noqa: E402, F401  (torch loaded, as after the first check)

WARM_UP, RUNS = 5, 40


def time_scripts() -> list[float]:
    """Record how long every script run takes, garbage collection after it included, in milliseconds."""
    times: list[float] = []
    run_script = ScriptRunner._run_script

    @functools.wraps(run_script)
    def timed(self: ScriptRunner, *args: object, **options: object) -> None:
        start = time.perf_counter()
        run_script(self, *args, **options)  # type: ignore[arg-type]
        times.append(1000 * (time.perf_counter() - start))

    ScriptRunner._run_script = timed  # type: ignore[method-assign]
    return times


def keep_compiled_scripts() -> None:
    """Compile each script once, as the server does; AppTest would compile it anew for every run."""
    read = ScriptCache.get_bytecode
    fresh = ScriptCache()
    kept = functools.cache(lambda path: read(fresh, path))
    ScriptCache.get_bytecode = lambda self, path: kept(path)  # type: ignore[method-assign]


def measure(times: list[float], step: Callable[[int], None]) -> list[float]:
    """Times of `RUNS` runs after a few that warm up the caches."""
    for number in range(WARM_UP + RUNS):
        step(number)
    return times[-RUNS:]


def main() -> int:
    """Measure both pages by turns of one run each, so that other load on the machine meets both alike."""
    times = time_scripts()
    keep_compiled_scripts()
    page = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    page.switch_page(str(ROOT / "pages" / "query_key_value.py")).run()
    empty = AppTest.from_string("import streamlit as st\nst.slider('d', 1, 64, 4, key='d')").run()
    found: dict[str, list[float]] = {"empty page": [], "query_key_value": []}

    def both(number: int) -> None:
        d = 3 + number % 5
        empty.slider(key="d").set_value(d).run()
        found["empty page"].append(times[-1])
        page.select_slider(key="d").set_value(d).run()
        found["query_key_value"].append(times[-1])

    measure(times, both)
    if page.exception:
        print(page.exception[0].message)
        return 1
    floor, own = (statistics.median(values[-RUNS:]) for values in found.values())
    limit = 3 * floor + 25
    print(f"script time of a slider move, torch loaded, medians of {RUNS} runs")
    print(f"  empty page          {floor:7.1f} ms")
    print(f"  query_key_value     {own:7.1f} ms   (limit 3 x empty + 25 ms = {limit:.1f} ms)")
    return int(own > limit)


if __name__ == "__main__":
    sys.exit(main())
