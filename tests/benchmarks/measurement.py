"""A slider move of one reader while another measures: the same moves with and without a running measurement.

Run from the project's folder: ``.venv/bin/python tests/benchmarks/measurement.py``. Starts the server, opens two tabs,
moves a slider on the causal-mask page in one of them, in turns of some moves without and some with a measurement that
the other tab has started on the cost page. Prints the medians, their ratio and whether it is at most 2; then one
undisturbed measurement with its exponents. Exits with 1 where the ratio is above 2.
"""

import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, sync_playwright  # noqa: E402

from tests.browser.chromium import find_chromium  # noqa: E402
from tests.browser.server import serving  # noqa: E402

TURNS, MOVES = 3, 12
LIMIT = 2.0

# From the key press to the last change of a chart: what a reader waits for.
MOVE = """slider => new Promise(done => {
  const begin = performance.now();
  let last = null;
  const watch = new MutationObserver(() => { last = performance.now(); });
  for (const chart of document.querySelectorAll('[data-testid=stVegaLiteChart]'))
    watch.observe(chart, {subtree: true, childList: true, attributes: true, characterData: true});
  const end = () => {
    if (last !== null && performance.now() - last > 400) { watch.disconnect(); done(last - begin); }
    else if (performance.now() - begin > 20000) { watch.disconnect(); done(-1); }
    else setTimeout(end, 20);
  };
  end();
})"""


def move(page: Page, number: int) -> float:
    """Milliseconds from an arrow key on the slider to the last change of a picture."""
    slider = page.locator(".st-key-d input[type=range]").first
    slider.focus()
    waiting = page.evaluate_handle(f"slider => ({{promise: ({MOVE})(slider)}})", slider.element_handle())
    page.keyboard.press("ArrowRight" if number % 2 == 0 else "ArrowLeft")
    took: float = waiting.evaluate("holder => holder.promise")
    if took < 0:
        raise RuntimeError("no picture changed within 20 s of a slider move")
    return took


def is_measuring(page: Page) -> bool:
    return page.get_by_role("button", name="Stop measuring", exact=True).count() > 0


def start(page: Page) -> None:
    """Begin a measurement and wait until it measures."""
    page.locator(".st-key-measure button").click()
    page.get_by_text("measured; last").wait_for(timeout=90_000)


def stop(page: Page) -> None:
    page.get_by_role("button", name="Stop measuring", exact=True).click()
    page.locator(".st-key-measure button").wait_for(timeout=30_000)


def main() -> int:
    """Measure by turns, so that other load on the machine meets both alike."""
    times: dict[bool, list[float]] = {False: [], True: []}
    with serving() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        mover, measurer = (browser.new_context().new_page() for _ in range(2))
        mover.goto(f"{server.address}/causal_mask")
        measurer.goto(f"{server.address}/cost?seconds=60&measured_heads=4")
        measurer.get_by_role("button", name="Measure", exact=True).wait_for(timeout=90_000)
        mover.locator("[data-testid=stVegaLiteChart] .marks").first.wait_for(timeout=90_000)
        time.sleep(3)
        for number in range(6):
            move(mover, number)
        for _ in range(TURNS):
            for measuring in (False, True):
                if measuring:
                    start(measurer)
                for number in range(MOVES):
                    took = move(mover, number)
                    if measuring and not is_measuring(measurer):
                        break
                    times[measuring].append(took)
                if measuring and is_measuring(measurer):
                    stop(measurer)
        alone, beside = (statistics.median(times[measuring]) for measuring in (False, True))
        print(f"slider move on the causal-mask page, medians; load {os.getloadavg()[0]:.1f}")
        print(f"  nobody measures    {alone:6.0f} ms   ({len(times[False])} moves)")
        print(f"  another measures   {beside:6.0f} ms   ({len(times[True])} moves)")
        ratio = beside / alone
        print(f"  ratio {ratio:.2f}, {'within' if ratio <= LIMIT else 'ABOVE'} {LIMIT:g}")
        mover.close()
        measurer.goto(f"{server.address}/cost?seconds=60")
        measurer.get_by_role("button", name="Measure", exact=True).click(timeout=90_000)
        measurer.get_by_role("button", name="Measure again").first.wait_for(timeout=150_000)
        print("one measurement by itself, n = 512 to 4096:")
        for line in measurer.locator(".worked").last.inner_text().splitlines():
            print(f"  {line.expandtabs(20)}")
        browser.close()
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
