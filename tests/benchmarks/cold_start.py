"""From the start of the process to the first picture, for the first reader and for later ones; memory; imports."""

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.tables import Cell, Result, Table, Verdict
from tests.browser.chromium import find_chromium
from tests.browser.page_object import LAPTOP, SETTLED, WATCH
from tests.browser.server import Server, serving
from tests.load.reader import Reader
from ui.pages import HOME, ORDER

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 2
NAMES = tuple(page.name for page in ORDER)
LOAD_TORCH = ("query_key_value", "scaling_sweep")
"""Pages that load PyTorch by themselves, once their picture was sent; elsewhere that is behind a button."""

REAL_MODEL = "real_model"
FIRST_PICTURE = 3.5
"""Seconds from the start of the process."""

MEMORY, MEMORY_WITH_TORCH, MEMORY_A_READER = 220.0, 450.0, 1.0
"""In MB."""

# Runs before a page's own scripts. A chart counts from the frame after the one in which its marks are in the document:
# by then the browser has painted them.
PAINTED = """(() => {
  const painted = window.__painted = {};
  const asked = new Set();
  const note = name => {
    if (asked.has(name)) return;
    asked.add(name);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      painted[name] = performance.timeOrigin + performance.now();
    }));
  };
  const look = () => {
    const main = document.querySelector('[data-testid=stMain]');
    if (main?.querySelector('h1')) note('title');
    const marks = 'svg.marks .role-mark > :is(path, text, line, image), canvas.marks';
    if (main?.querySelector(`[data-testid=stVegaLiteChart] :is(${marks})`)) note('picture');
  };
  new MutationObserver(look).observe(document, {subtree: true, childList: true, attributes: true});
})();"""


@dataclass
class Visits:
    """Seconds of the visits to one page."""

    answered: list[float] = field(default_factory=list)
    first_title: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    later_title: list[float] = field(default_factory=list)
    later: list[float] = field(default_factory=list)


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


def path_of(name: str) -> str:
    """Of a page, in the address."""
    return "" if name == HOME.name else name


def visit(browser: Browser, address: str, name: str) -> tuple[float, float, float]:
    """Open a page with an empty cache; when it was asked for, and when title and first picture were painted."""
    context = browser.new_context(viewport=LAPTOP)
    try:
        context.add_init_script(PAINTED)
        tab = context.new_page()
        asked = time.time()
        tab.goto(f"{address}/{path_of(name)}", wait_until="commit")
        tab.wait_for_function("() => window.__painted.picture && window.__painted.title", timeout=60_000)
        painted = tab.evaluate("window.__painted")
        return asked, painted["title"] / 1000, painted["picture"] / 1000
    finally:
        context.close()


def visits(browser: Browser, names: Sequence[str], rounds: int) -> dict[str, Visits]:
    """A server of its own for each page and round: its first reader, then another one."""
    found = {name: Visits() for name in names}
    for _ in range(rounds):
        for name, seen in found.items():
            with serving() as server:
                seen.answered.append(server.answered - server.started)
                _, title, picture = visit(browser, server.address, name)
                seen.first_title.append(title - server.started)
                seen.first.append(picture - server.started)
                asked, title, picture = visit(browser, server.address, name)
                seen.later_title.append(title - asked)
                seen.later.append(picture - asked)
    return found


def memory(pid: int) -> dict[str, float]:
    """Memory of a process in MB: all of it, its share of what is shared, and what is its own."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    own = kilobytes["Private_Clean"] + kilobytes["Private_Dirty"]
    return {"RSS, MB": kilobytes["Rss"] / 1024, "PSS, MB": kilobytes["Pss"] / 1024, "USS, MB": own / 1024}


def open_all(browser: Browser, server: Server, names: Sequence[str], wait_for: str = "") -> None:
    """Visit pages one after the other in one tab, to the end of each."""
    context = browser.new_context(viewport=LAPTOP)
    context.add_init_script(WATCH)
    tab = context.new_page()
    for name in names:
        tab.goto(f"{server.address}/{path_of(name)}")
        tab.wait_for_function(SETTLED, timeout=60_000)
        if wait_for:
            tab.locator(wait_for).first.wait_for(timeout=60_000)
            tab.wait_for_function(SETTLED, timeout=60_000)
    context.close()


def memory_by_use(browser: Browser, thorough: bool) -> list[dict[str, Cell]]:
    """One server, whose readers ask for more and more."""
    light = [name for name in NAMES if name not in (*LOAD_TORCH, REAL_MODEL)]
    rows: list[dict[str, Cell]] = []
    with serving() as server:

        def note(what: str) -> None:
            rows.append({"after": what, **memory(server.pid)})

        note("the first answer")
        time.sleep(3)
        note("what it does by itself at its start")
        open_all(browser, server, [HOME.name])
        note("the first reader, on the home page")
        if thorough:
            open_all(browser, server, light)
            note(f"{len(light)} pages, without the real model and PyTorch")
        open_all(browser, server, [REAL_MODEL])
        note("the page of the real model as well")
        if thorough:
            open_all(browser, server, LOAD_TORCH, ".agree:not(.unchecked)")
            note("all pages, PyTorch loaded")
    return rows


READERS = 40
READ_BY_MANY = (
    ("causal_mask", {}),
    ("encoder_block", {}),
    ("query_key_value", {"text": " ".join(f"word{number}" for number in range(64)), "d": 64, "heads": 12}),
    (REAL_MODEL, {}),
)
"""Pages that readers keep open, two of the usual weight and two heavy ones."""


async def compared(reader: Reader) -> None:
    """Wait until PyTorch is loaded, which takes a hundred megabytes once, and stands beside the title."""
    async with asyncio.timeout(60):
        while not any("NumPy = PyTorch" in text for text in reader.texts()):
            await asyncio.sleep(0.1)


def memory_of_readers(count: int) -> list[dict[str, Cell]]:
    """One server, and more and more readers on it, each of whom opens a page, moves the seed once and stays."""
    rows: list[dict[str, Cell]] = []
    with serving() as server:

        async def come(readers: list[Reader], number: int, name: str, parameters: dict[str, object]) -> None:
            for _ in range(number):
                reader = Reader(server.address)
                readers.append(await reader.__aenter__())
                await reader.open(path_of(name), **parameters)
                await reader.rerun()

        async def measure() -> None:
            readers: list[Reader] = []
            try:
                for name, parameters in READ_BY_MANY:
                    # What the page itself takes, once for all readers, is there before they are counted.
                    await come(readers, 3, name, parameters)
                    if name in LOAD_TORCH:
                        await compared(readers[-1])
                    before = memory(server.pid)["USS, MB"]
                    await come(readers, count, name, parameters)
                    after = memory(server.pid)["USS, MB"]
                    rows.append(
                        {
                            "page": name + (", largest settings" if parameters else ""),
                            "readers": count,
                            "before, MB": before,
                            "with them, MB": after,
                            "MB a reader": (after - before) / count,
                        }
                    )
            finally:
                for reader in readers:
                    await reader.__aexit__(None, None, None)

        asyncio.run(measure())
    return rows


IMPORTS = (
    ("streamlit", ""),
    ("numpy", "streamlit"),
    ("pandas", "streamlit, numpy"),
    ("pyarrow", "streamlit, pandas"),
    ("altair", "streamlit, pandas"),
    ("core and ui, all that pages import", "streamlit, pandas, altair"),
    ("torch", "streamlit, pandas, altair"),
)
"""What is imported, and what was imported before."""

# Runs in a process of its own.
IMPORT = """
import os, sys, time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
size = lambda: int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
{before}
begin, had = time.perf_counter(), size()
{statement}
print(time.perf_counter() - begin, size() - had)
"""


def imports(repetitions: int) -> list[dict[str, Cell]]:
    """Seconds and megabytes of what the server imports, each in fresh processes."""
    rows: list[dict[str, Cell]] = []
    for name, before in IMPORTS:
        statement = f"import {name}" if name.isidentifier() else "from server.warming import load; load()"
        program = IMPORT.format(before=f"import {before}" if before else "", statement=statement)
        found = []
        for _ in range(repetitions):
            done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
            found.append([float(number) for number in done.stdout.split()])
        seconds, megabytes = (statistics.median(column) for column in zip(*found, strict=True))
        rows.append({"import": name, "after": before, "ms": 1000 * seconds, "MB": megabytes})
    return rows


def run(thorough: bool = True) -> Result:
    """Measure all of it."""
    names = NAMES if thorough else (HOME.name, "causal_mask")
    with browsing() as browser:
        seen = visits(browser, names, ROUNDS if thorough else 1)
        used = memory_by_use(browser, thorough)
    readers = memory_of_readers(READERS if thorough else 5)
    middle = statistics.median
    rows: list[dict[str, Cell]] = [
        {
            "page": name,
            "first: title": middle(times.first_title),
            "first: picture": middle(times.first),
            "slowest": max(times.first),
            "later: title": middle(times.later_title),
            "later: picture": middle(times.later),
        }
        for name, times in seen.items()
    ]
    without_torch = {name: middle(times.first) for name, times in seen.items() if name not in LOAD_TORCH}
    slowest = max(without_torch, key=lambda name: without_torch[name])
    answered = [seconds for times in seen.values() for seconds in times.answered]
    verdicts = [
        Verdict(
            "the first reader of a page without PyTorch sees its first picture",
            without_torch[slowest],
            FIRST_PICTURE,
            "s after the start of the process",
            where=slowest,
        ),
        *_memory_verdicts(used, thorough),
        _readers_verdict(readers),
    ]
    tables = [
        Table(
            "Process start to first picture, in s",
            rows,
            "First: the server is started for this visit, and an open browser with an empty cache is sent to the page "
            "as soon as it answers; counted from the start of the process. Later: another reader with an empty cache "
            f"on the same server, counted from asking. Medians of {len(next(iter(seen.values())).first)}; "
            f"the server answers {middle(answered):.2f} s after its start.",
        ),
        Table(
            "Memory of the server",
            used,
            "One server, one reader after the other. RSS counts files that other processes map as well, PSS a share of "
            "them, USS nothing of them. Limits are held against RSS.",
        ),
        Table(
            "Memory of open readers",
            readers,
            "One server; its own memory (USS) before and after readers came who open a page, run it once more and "
            "stay connected. Three others had opened the page before.",
        ),
        Table(
            "Imports",
            imports(3 if thorough else 1),
            "Each in a process of its own, after those named; medians.",
        ),
    ]
    return Result("Cold start", tables, verdicts)


def _readers_verdict(readers: Sequence[dict[str, Cell]]) -> Verdict:
    most = max(readers, key=lambda row: float(row["MB a reader"] or 0))
    found = float(most["MB a reader"] or 0)
    return Verdict("memory of one more open reader", found, MEMORY_A_READER, "MB", where=str(most["page"]))


def _memory_verdicts(used: Sequence[dict[str, Cell]], thorough: bool) -> list[Verdict]:
    rss = {str(row["after"]): float(row["RSS, MB"] or 0) for row in used}
    *_, last = rss
    if not thorough:
        return [Verdict("memory without PyTorch", rss[last], MEMORY, "MB", where=last)]
    *_, light, real_model, torch = rss
    return [
        Verdict("memory without PyTorch, all pages but the real model", rss[light], MEMORY, "MB"),
        Verdict("memory without PyTorch, the real model read", rss[real_model], MEMORY, "MB"),
        Verdict("memory with all pages, the real model and PyTorch", rss[torch], MEMORY_WITH_TORCH, "MB"),
    ]
