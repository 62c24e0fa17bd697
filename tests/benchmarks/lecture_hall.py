"""A full lecture hall on two cores: 100 readers for 15 minutes with a restart, 300 readers, 5,000 reruns.

The 100 readers who are judged, and the 300, are on what `deploy/` sets up for a lecture hall: two processes behind
nginx on one machine. The same 100 on one process, for a shorter time, stand beside them; memory and the reruns are
those of one process.

The readers of `tests.load` speak to the server as browsers do and draw nothing; they live in this process, the servers
in their own, so that the share of each is seen.
"""

import asyncio
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.tables import Cell, Result, Table, Verdict
from tests.browser.server import Server, complaints_in, free_port, serving
from tests.deploy.replicas import House, Replica, replicated
from tests.load.hall import PAUSE, ROUTES, Hall, Record, Student, churn
from tests.load.reader import Reader

TICKS = os.sysconf("SC_CLK_TCK")

LINKS = (
    "causal_mask?d=8&text=the+old+teacher+reads+a+letter+near+the+river",
    "query_key_value?query=1+cat&text=the+cat+sees+the+small+dog",
    "multi_head?heads=4&seed=7&text=every+student+writes+a+song",
    "encoder_block?text=Meera+bought+a+new+bat",
)
"""What the lecturer asks everybody to open."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much of it there is."""

    readers: int
    seconds: float
    links: int
    """How often everybody is asked to open the same link."""
    alone: float
    """Seconds for as many readers on one process."""
    many: int
    short: float
    reruns: int
    pause: float
    """Median of the seconds between two actions of a reader."""
    look: float
    """Seconds between two looks at the server."""
    routes: tuple[str, ...]
    """Pages that are loaded before the readers come."""


LECTURE = Size(100, 900.0, 5, 240.0, 300, 120.0, 5000, PAUSE, 1.0, ROUTES)
SKETCH = Size(4, 8.0, 1, 4.0, 6, 4.0, 20, 0.5, 0.2, ROUTES[:1])

LAST_ANSWERS = 60.0
"""Seconds after the end in which what was asked before is still answered."""

SLIDER_LIMIT = 1.0
GROWTH_LIMIT = 25.0
"""MB between 1,500 and 5,000 reruns, of what stays. Freed memory is not given back in whole, and which pages ran last
differs; a leak of 10 kB a rerun, one small array, would be 35 MB."""
READER_LIMIT = 1.0


@dataclass(slots=True)
class Sample:
    """One look at the server."""

    at: float
    readers: int
    resident: float
    """MB, of all processes of the dashboard together."""
    server: float
    """Processor seconds that they have used."""
    own: float


@dataclass(slots=True)
class Watch:
    """Memory and processor time of the dashboard, seen from outside, and whether this process keeps up."""

    pids: tuple[int, ...]
    samples: list[Sample] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    """How much later than asked this process woke up, in seconds."""

    def look(self, readers: int = 0) -> Sample:
        """Once."""
        sample = Sample(
            time.monotonic(),
            readers,
            sum(map(resident_mb, self.pids)),
            sum(map(processor_seconds, self.pids)),
            time.process_time(),
        )
        self.samples.append(sample)
        return sample

    async def keep_looking(self, students: Sequence[Student], interval: float) -> None:
        """Until cancelled."""
        while True:
            self.look(sum(student.reader.connected for student in students))
            begin = time.perf_counter()
            await asyncio.sleep(interval)
            self.late.append(time.perf_counter() - begin - interval)


def resident_mb(pid: int) -> float:
    """Resident memory of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    if found is None:
        raise RuntimeError(f"process {pid} must be running; its status has no VmRSS")
    return int(found[1]) / 1024


def processor_seconds(pid: int) -> float:
    """Processor time of a process, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@dataclass
class Alone:
    """One process, as `make run` starts it."""

    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self._stack = ExitStack()
        self._said: list[str] = []
        self.server: Server | None = None

    @property
    def address(self) -> str:
        """Where the readers find it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def doors(self) -> tuple[str, ...]:
        """Addresses of its processes: this one."""
        return (self.address,)

    @property
    def pids(self) -> tuple[int, ...]:
        """Numbers of the processes that run now."""
        return () if self.server is None else (self.server.pid,)

    def stop(self) -> None:
        """SIGTERM, as an operator or an orchestrator sends it."""
        self._said, self.server = self.complaints(), None
        self._stack.close()

    def start(self) -> None:
        """The first time or again, at the same address; until it answers."""
        self.server = self._stack.enter_context(serving(port=self.port))

    def complaints(self) -> list[str]:
        """What was printed, if an error or a warning is in it."""
        said = "" if self.server is None else self.server.complaints()
        return [*self._said, said] if said else self._said


@dataclass
class BehindNginx:
    """Two processes from what the image has in it, behind nginx with the configuration of `deploy/`."""

    house: House

    @property
    def address(self) -> str:
        """Where the readers find it."""
        return self.house.proxy.address

    @property
    def doors(self) -> tuple[str, ...]:
        """Addresses of its processes, past the proxy."""
        return tuple(replica.address for replica in self.house.replicas)

    @property
    def pids(self) -> tuple[int, ...]:
        """Numbers of the processes that run now."""
        return tuple(replica.process.pid for replica in self.house.replicas if replica.process is not None)

    def stop(self) -> None:
        """SIGTERM to both at once."""
        with ThreadPoolExecutor(len(self.house.replicas)) as pool:
            list(pool.map(Replica.end, self.house.replicas))

    def start(self) -> None:
        """Both again, until they answer."""
        for replica in self.house.replicas:
            replica.start()
        for replica in self.house.replicas:
            replica.wait()

    def complaints(self) -> list[str]:
        """The same of both and of nginx."""
        said = [*(complaints_in(replica.log()) for replica in self.house.replicas), self.house.proxy.complaints()]
        return [one for one in said if one]


Place = Alone | BehindNginx
"""Where the readers go."""


@contextmanager
def one_process() -> Iterator[Place]:
    """A started server; stopped at the end."""
    here = Alone()
    here.start()
    try:
        yield here
    finally:
        here.stop()


@contextmanager
def two_processes() -> Iterator[Place]:
    """Two of them and nginx; all stopped at the end."""
    with replicated() as house:
        yield BehindNginx(house)


async def walk(address: str, routes: Sequence[str]) -> None:
    """One reader on every page, so that what the first visit of a page loads is loaded."""
    async with Reader(address) as reader:
        for route in routes:
            await reader.open(route)


async def lecture(
    here: Place,
    size: Size,
    readers: int,
    seconds: float,
    arrival: float,
    links: int,
    restart: bool,
    first_visit: bool,
) -> tuple[Record, list[Watch], list[int]]:
    """So many readers for so long; the lecturer asks for so many links at even times; the restart is in the middle.

    The last of what it returns is how many of them each process had at the end.
    """
    for door in here.doors:
        await walk(door, size.routes)
    hall = Hall(here.address, size.pause)
    students = [Student(hall, number, first_visit) for number in range(readers)]
    watches = [Watch(here.pids)]
    watches[0].look()
    begin = time.monotonic()
    attending = [asyncio.create_task(student.attend(arrival)) for student in students]
    looking = asyncio.create_task(watches[-1].keep_looking(students, size.look))

    events: list[tuple[float, str]] = [
        (arrival + (seconds - arrival) * (number + 0.5) / links, f"{here.address}/{LINKS[number % len(LINKS)]}")
        for number in range(links)
    ]
    if restart:
        events.append((seconds / 2, "restart"))
    for moment, event in sorted(events):
        await asyncio.sleep(max(0.0, begin + moment - time.monotonic()))
        if event != "restart":
            hall.ask(event)
            continue
        hall.away = True
        hall.call()
        patience = time.monotonic() + 120
        while hall.parked + sum(task.done() for task in attending) < readers and time.monotonic() < patience:
            await asyncio.sleep(0.1)
        looking.cancel()
        await asyncio.to_thread(here.stop)
        await asyncio.to_thread(here.start)
        watches.append(Watch(here.pids))
        hall.away = False
        hall.back.set()
        looking = asyncio.create_task(watches[-1].keep_looking(students, size.look))
    await asyncio.sleep(max(0.0, begin + seconds - time.monotonic()))
    watches[-1].look(sum(student.reader.connected for student in students))
    looking.cancel()
    hall.over = True
    hall.call()
    _, late = await asyncio.wait(attending, timeout=LAST_ANSWERS)
    for task in late:
        task.cancel()
        hall.record.failures.append(f"a reader still waited {LAST_ANSWERS:g} s after the end")
    for ended in await asyncio.gather(*attending, return_exceptions=True):
        if isinstance(ended, Exception):
            hall.record.failures.append(f"a reader of this benchmark failed: {ended!r}")
    at_process = Counter(student.reader.cookies.get("replica", "") for student in students)
    return hall.record, watches, [count for _, count in sorted(at_process.items())]


def latencies(title: str, about: str, record: Record) -> Table:
    """Percentiles of the waiting, by what was done."""
    rows: list[dict[str, Cell]] = []
    for kind, answers in sorted(record.answers.items(), key=lambda pair: -len(pair[1])):
        times = [answer.seconds for answer in answers if answer.received]
        if times:
            rows.append(
                {
                    "action": kind,
                    "number": len(times),
                    **{f"p{share} in s": percentile(times, share) for share in (50, 95, 99)},
                    "longest in s": max(times),
                    "median kB": statistics.median(answer.received for answer in answers) / 1000,
                }
            )
    return Table(title, rows, about)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so many percent are not above; NaN of none."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))]


def over_time(title: str, about: str, watches: Sequence[Watch], rows: int) -> Table:
    """Memory and processor shares in some equal stretches of time."""
    found: list[dict[str, Cell]] = []
    begin = watches[0].samples[0].at
    for watch in watches:
        samples = watch.samples
        size = max(1, -(-len(samples) * len(watches) // rows))
        for low in range(0, len(samples) - 1, size):
            first, last = samples[low], samples[min(low + size, len(samples) - 1)]
            length = last.at - first.at
            if length <= 0:
                continue
            found.append(
                {
                    "until minute": (last.at - begin) / 60,
                    "readers connected": last.readers,
                    "server MB": last.resident,
                    "server, cores": (last.server - first.server) / length,
                    "readers' process, cores": (last.own - first.own) / length,
                }
            )
    return Table(title, found, about)


def moves(record: Record) -> list[float]:
    """Seconds of all moves of sliders."""
    return [answer.seconds for answer in record.answers.get("slider move", ()) if answer.received]


def complaints(record: Record, here: Place) -> list[str]:
    """The first few of all that went wrong."""
    return [f"Went wrong: {text[:300]}" for text in [*record.failures, *record.wrong, *here.complaints()][:5]]


@dataclass(frozen=True, slots=True)
class Found:
    """What one part brings."""

    tables: list[Table]
    verdicts: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    row: dict[str, Cell] | None = None
    """Of the table that compares the set-ups."""
    memory: float | None = None
    """MB of one process: with all readers of a lecture, or with three and warm caches."""


def run(thorough: bool = True) -> Result:
    """All four parts, each on processes of its own."""
    return measured(LECTURE if thorough else SKETCH)


def measured(size: Size) -> Result:
    """The same with so much of it."""
    found: list[Found] = []
    for place, part in PARTS:
        with place() as here:
            found.append(part(here, size))
    about = (
        "Judged is what `deploy/` sets up for a lecture hall: two processes behind nginx, on the cores that the "
        "readers use too. One process is for a laptop or a small seminar."
    )
    compared = Table("Readers and processes", [one.row for one in found if one.row is not None], about)
    full, few = (one.memory for one in found if one.memory is not None)
    # The caches do not grow with the readers, so both have filled them.
    after = f"one process: {few:.0f} MB with 3 readers after {size.reruns // 5:,} reruns"
    where = f"{after}, {full:.0f} MB with {size.readers} at most"
    each = (full - few) / max(1, size.readers - 3)
    return Result(
        "A lecture hall",
        [compared, *(table for one in found for table in one.tables)],
        [
            *(verdict for one in found for verdict in one.verdicts),
            Verdict("memory of one more open reader, in use", each, READER_LIMIT, "MB", where=where),
        ],
        [note for one in found for note in one.notes],
    )


def summary(set_up: str, readers: int, seconds: float, record: Record, watches: Sequence[Watch]) -> dict[str, Cell]:
    """One row of the table that compares the set-ups."""
    times = moves(record)
    spent = sum(watch.samples[-1].server - watch.samples[0].server for watch in watches)
    return {
        "set-up": set_up,
        "readers": readers,
        "minutes": seconds / 60,
        "slider moves": len(times),
        **{f"p{share} in s": percentile(times, share) for share in (50, 95, 99)},
        "errors": len(record.failures),
        "wrong states": len(record.wrong),
        "cores": spent / sum(watch.samples[-1].at - watch.samples[0].at for watch in watches),
    }


TWO, ONE = "two processes behind nginx", "one process"


def hundred_readers(here: Place, size: Size) -> Found:
    """The lecture with its links, reloads, leavings, and the restart in the middle; on two processes, and judged."""
    readers, seconds = size.readers, size.seconds
    record, watches, at_process = asyncio.run(
        lecture(here, size, readers, seconds, arrival=seconds / 30, links=size.links, restart=True, first_visit=True)
    )
    shape = f"{readers} readers, {TWO}, {seconds / 60:.3g} minutes"
    done = f"Pauses are log-normal with a median of {size.pause:g} s; {record.actions:,} actions in all."
    about = "Both are stopped and started again in the middle, at the same time, while every reader has a page open."
    slow = percentile(moves(record), 95)
    errors = len(record.failures) + len(here.complaints())
    verdicts = [
        Verdict(f"errors that {readers} readers met", errors, 0, "", where=shape),
        Verdict(f"wrong states that {readers} readers saw", len(record.wrong), 0, "", where=shape),
        Verdict(f"p95 of a slider move of {readers} readers", slow, SLIDER_LIMIT, "s", where=shape),
        Verdict("readers back at their state after the restart", record.returned, readers, "readers", True, shape),
    ]
    late = percentile([seconds for watch in watches for seconds in watch.late], 99)
    notes = [
        f"The process of the {readers} readers woke up {1000 * late:.0f} ms late (p99); that is in the times.",
        f"At the end {' and '.join(map(str, at_process))} of the {readers} readers were at each of the two processes.",
    ]
    tables = [
        latencies(f"{shape}: what they waited for", done, record),
        over_time(f"{shape}: both processes together", about, watches, 10),
    ]
    row = summary(TWO, readers, seconds, record, watches)
    return Found(tables, verdicts, notes + complaints(record, here), row)


def alone(here: Place, size: Size) -> Found:
    """As many readers on one process, to compare, and for their memory."""
    readers, seconds = size.readers, size.alone
    record, watches, _ = asyncio.run(
        lecture(here, size, readers, seconds, arrival=seconds / 8, links=1, restart=False, first_visit=False)
    )
    shape = f"{readers} readers, {ONE}, {seconds / 60:.3g} minutes"
    tables = [
        latencies(f"{shape}: what they waited for", "The same habits, to compare.", record),
        over_time(f"{shape}: the process", "", watches, 4),
    ]
    peak = max(sample.resident for sample in watches[0].samples)
    return Found(tables, [], complaints(record, here), summary(ONE, readers, seconds, record, watches), peak)


def limit(here: Place, size: Size) -> Found:
    """More readers than two processes are meant for."""
    readers, seconds = size.many, size.short
    record, watches, _ = asyncio.run(
        lecture(here, size, readers, seconds, arrival=seconds / 4, links=1, restart=False, first_visit=False)
    )
    shape = f"{readers} readers, {TWO}, {seconds / 60:.3g} minutes"
    longest = max((a.seconds for answers in record.answers.values() for a in answers), default=float("nan"))
    wrong = f"{len(record.failures)} errors and {len(record.wrong)} wrong states"
    tables = [
        latencies(f"{shape}: what they waited for", "The same habits, for the limit.", record),
        over_time(f"{shape}: both processes together", "", watches, 4),
    ]
    notes = [f"{readers} readers: {wrong} in {record.actions:,} actions; the longest wait was {longest:.1f} s."]
    return Found(tables, [], notes + complaints(record, here), summary(TWO, readers, seconds, record, watches))


def many_reruns(here: Place, size: Size) -> Found:
    """Whether the memory of a process ends somewhere.

    What a page has computed is garbage after its next run and stays until it is collected, so that one look finds
    sometimes 50 MB more than the next. The least of many looks is what stays.
    """
    watch, every = Watch(here.pids), size.reruns // 10
    rows: list[dict[str, Cell]] = []
    least: list[float] = []
    seen = 0

    def at(count: int) -> None:
        nonlocal seen
        watch.look()
        memory = [sample.resident for sample in watch.samples[seen:]]
        seen = len(watch.samples)
        least.append(min(memory))
        rows.append(
            {"reruns": count, "least MB": least[-1], "median MB": statistics.median(memory), "most MB": max(memory)}
        )

    async def watched() -> Record:
        looking = asyncio.create_task(watch.keep_looking([], size.look / 4))
        try:
            return await churn(here.address, 3, size.reruns, at, every)
        finally:
            looking.cancel()

    asyncio.run(walk(here.address, size.routes))
    first = watch.look()
    record = asyncio.run(watched())
    processor = (watch.look().server - first.server) / size.reruns
    about = (
        f"3 readers without pauses, ever other settings; {1000 * processor:.0f} ms of processor time a rerun; memory "
        f"of the {every:,} reruns before, looked at {4 / size.look:.0f} times a second."
    )
    growth = statistics.median(least[-3:]) - least[2]
    verdicts = [
        Verdict(
            f"growth from {3 * every:,} to {size.reruns:,} reruns",
            growth,
            GROWTH_LIMIT,
            "MB",
            where=f"{least[2]:.0f} to {least[2] + growth:.0f} MB",
        ),
        Verdict(f"errors in {size.reruns:,} reruns", len(record.failures) + len(here.complaints()), 0, ""),
    ]
    table = Table(f"{size.reruns:,} reruns over all pages", rows, about)
    return Found([table], verdicts, complaints(record, here), memory=float(rows[1]["median MB"] or 0))


PARTS: tuple[tuple[Callable[[], AbstractContextManager[Place]], Callable[[Place, Size], Found]], ...] = (
    (two_processes, hundred_readers),
    (one_process, alone),
    (two_processes, limit),
    (one_process, many_reruns),
)
"""Each with where it is measured, in the order in which they run."""
