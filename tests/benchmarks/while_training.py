"""How fast a slider answers while two other readers train, beside its usual time, on the real server.

Run from the project's folder: ``.venv/bin/python tests/benchmarks/while_training.py``. Prints the medians, and exits
with 1 where the answers take more than twice as long.
"""

import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.browser.chromium import find_chromium  # noqa: E402
from tests.browser.page_object import Dashboard, open_tab  # noqa: E402
from tests.browser.server import serving  # noqa: E402

MOVES = 24


def moves(tab: Dashboard) -> list[float]:
    """Milliseconds from a key press on the slider to the server's answer under it."""
    slider, times = tab.slider("d: size of each key"), []
    for number in range(MOVES):
        d = 5 if number % 2 == 0 else 4
        begin = time.perf_counter()
        slider.press("ArrowRight" if d == 5 else "ArrowLeft")
        tab.page.get_by_text(f"2 heads × {d} = {2 * d}").wait_for()
        times.append(1000 * (time.perf_counter() - begin))
        tab.settle()
    return times


def main() -> int:
    """Measure without and with trainings."""
    with sync_playwright() as playwright, serving() as server:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        with open_tab(browser, server.address) as mover:
            mover.open("multi_head")
            moves(mover)
            usual = statistics.median(moves(mover))
            with open_tab(browser, server.address) as one, open_tab(browser, server.address) as other:
                for tab, seed in ((one, 11), (other, 12)):
                    tab.open("learning", task="induction", seed=seed)
                    tab.page.get_by_role("button", name=f"Train, seed {seed}").click()
                busy = statistics.median(moves(mover))
                training = [tab.page.get_by_role("button", name="Stop training").count() for tab in (one, other)]
        browser.close()
    print(f"usual: {usual:.0f} ms; while two readers train: {busy:.0f} ms ({busy / usual:.2f} times as long)")
    print(f"still under way at the end of the measurement: {sum(training)} of 2")
    return int(busy > 2 * usual)


if __name__ == "__main__":
    sys.exit(main())
