"""100 readers on two replicas behind nginx, of which one is killed in the middle and started again.

The replicas run what the image has in it, with its own command; the proxy has the configuration that the project ships.
"""

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.benchmarks.lecture_hall import latencies, percentile, processor_seconds, resident_mb, walk
from tests.benchmarks.tables import Cell, Result, Table, Verdict
from tests.deploy.replicas import House, replicated
from tests.load.hall import ROUTES, SPREAD, Hall, Record, Student, difference, seen
from tests.load.reader import Answer, Dropped, Reader

AWAY = 3.0
"""Seconds after which an orchestrator starts a killed replica again."""


@dataclass
class Kill:
    """What the killing of a replica did to its readers."""

    at: float = 0.0
    """On the clock of this process; 0 before it."""
    connected: list[float] = field(default_factory=list)
    """Seconds after it, for each reader who lost the connection, until there was one again."""
    answered: list[float] = field(default_factory=list)
    """Until the other replica had computed the reader's page."""
    lost: list[str] = field(default_factory=list)
    """Readers whose page, controls, sidebar or charts are not what they were."""


@dataclass
class Listener(Student):
    """A reader whose tab comes back by itself as soon as the connection breaks."""

    kill: Kill = field(default_factory=Kill)
    answered_by: Counter[str] = field(default_factory=Counter)
    """How often each replica did what was asked for."""

    async def attend(self, arrival: float) -> None:
        """From coming in to the end."""
        rng, hall = self.rng, self.hall
        await asyncio.sleep(rng.uniform(0, arrival))
        await self._arrive()
        while not hall.over:
            await hall.pause(rng.lognormvariate(0, SPREAD) * hall.median_pause)
            if not self.reader.connected:
                await self._return()
            elif not hall.over:
                await self._act_until_dropped()
        await self.reader.leave()

    async def _act_until_dropped(self) -> None:
        hall, shown = self.hall, len(self.reader.errors)
        hall.record.actions += 1
        try:
            await self._move()
        except Dropped:
            await self._return(interrupted=True)
        except (TimeoutError, RuntimeError) as problem:
            hall.record.failures.append(f"{self.reader.path or 'home'}: {type(problem).__name__}: {problem}")
        hall.record.failures += [f"{self.reader.path or 'home'}: shown: {said}" for said in self.reader.errors[shown:]]

    def _took(self, kind: str, answer: Answer) -> None:
        self.answered_by[self.reader.cookies["replica"]] += answer.received > 0
        super()._took(kind, answer)

    async def _return(self, interrupted: bool = False) -> None:
        """Connect again, as often as it takes, and look.

        Whoever had an answer must see the same again. Whoever waited for one must see what was asked for: the sidebar,
        and for the rest what the link shows to somebody else.
        """
        reader, kill = self.reader, self.kill
        before, sidebar = seen(reader), reader.sidebar()
        try:
            for _ in range(60):
                try:
                    await reader.come_back()
                    break
                except Dropped:
                    await asyncio.sleep(0.5)
            kill.connected.append(time.perf_counter() - kill.at)
            await reader.rerun()
            kill.answered.append(time.perf_counter() - kill.at)
            if interrupted:
                async with Reader(self.hall.address) as other:
                    await other.open_link(reader.address)
                    before = seen(other)
        except (Dropped, TimeoutError, RuntimeError) as problem:
            kill.lost.append(f"reader {self.number} did not come back: {problem!r}")
            return
        said = difference(before, seen(reader))
        if said or reader.sidebar() != sidebar:
            kill.lost.append(f"reader {self.number} at {reader.address}: {said or reader.sidebar()}")


async def lecture(house: House, readers: int, newcomers: int, seconds: float) -> tuple[list[Record], Kill, list[Table]]:
    """The records before and after the kill, the kill, and what the replicas did."""
    first = house.replicas[0]
    for replica in house.replicas:
        await walk(replica.address, ROUTES)
    hall, kill = Hall(house.proxy.address), Kill()
    listeners = [Listener(hall, number, False, kill) for number in range(readers + newcomers)]
    arrival = seconds / 8
    attending = [asyncio.create_task(one.attend(arrival)) for one in listeners[:readers]]
    rows: list[dict[str, Cell]] = []

    def both() -> list[Standing]:
        return [stand(house, listeners, number) for number in range(2)]

    await asyncio.sleep(arrival)
    before = both()
    await asyncio.sleep(seconds / 2 - arrival)
    rows += [row("both", number, *pair) for number, pair in enumerate(zip(before, both(), strict=True), 1)]

    kill.at = time.perf_counter()
    await asyncio.to_thread(first.end, signal.SIGKILL)
    records = [hall.record, Record()]
    hall.record = records[1]
    await asyncio.sleep(0.05)  # until the proxy has closed their connections
    hall.call()
    began = stand(house, listeners, 1)
    await asyncio.sleep(AWAY)
    first.start()
    await asyncio.to_thread(first.wait)
    ready = time.perf_counter() - kill.at
    await asyncio.sleep(max(0.0, kill.at + seconds / 4 - time.perf_counter()))
    rows.append(row("one, for all", 2, began, stand(house, listeners, 1)))

    attending += [asyncio.create_task(one.attend(arrival)) for one in listeners[readers:]]
    await asyncio.sleep(arrival)
    begun = both()
    await asyncio.sleep(max(0.0, kill.at + seconds / 2 - time.perf_counter()))
    when = f"both again, {newcomers} more readers"
    rows += [row(when, number, *pair) for number, pair in enumerate(zip(begun, both(), strict=True), 1)]
    hall.over = True
    hall.call()
    for ended in await asyncio.gather(*attending, return_exceptions=True):
        if isinstance(ended, BaseException):
            hall.record.failures.append(f"a reader of this benchmark failed: {ended!r}")
    about = f"Replica 1 was killed, started again {AWAY:g} s later and ready {ready:.1f} s after the kill."
    return records, kill, [Table("The replicas", rows, about)]


@dataclass(frozen=True, slots=True)
class Standing:
    """A replica at a moment."""

    at: float
    readers: int
    answers: int
    """Of it, so far."""
    processor: float
    resident: float


def stand(house: House, listeners: Sequence[Listener], number: int) -> Standing:
    """A replica as it is now; which one a reader is with stands in the reader's cookie."""
    process = house.replicas[number].process
    assert process is not None
    with_it = sum(one.reader.connected and one.reader.cookies.get("replica") == str(number + 1) for one in listeners)
    answers = sum(one.answered_by[str(number + 1)] for one in listeners)
    return Standing(time.perf_counter(), with_it, answers, processor_seconds(process.pid), resident_mb(process.pid))


def row(when: str, number: int, was: Standing, now: Standing) -> dict[str, Cell]:
    """One line of the table of replicas."""
    length, spent, answers = now.at - was.at, now.processor - was.processor, now.answers - was.answers
    return {
        "replicas": when,
        "replica": number,
        "readers": now.readers,
        "answers a second": answers / length,
        "cores": spent / length,
        "ms of a core, per answer": 1000 * spent / answers if answers else None,
        "MB": now.resident,
    }


def run(thorough: bool = True) -> Result:
    """One lecture."""
    readers, newcomers, seconds = (100, 20, 120.0) if thorough else (6, 2, 16.0)
    with replicated() as house:
        (before, after), kill, tables = asyncio.run(lecture(house, readers, newcomers, seconds))
        said = "".join(replica.log() for replica in house.replicas) + house.proxy.complaints()
    back = [
        {
            "until": what,
            "readers": len(times),
            "p50 in s": percentile(times, 50),
            "longest in s": max(times, default=None),
        }
        for what, times in (("connected again", kill.connected), ("answered by the other replica", kill.answered))
    ]
    shape = f"{readers} readers on two replicas"
    failures = [*before.failures, *after.failures, *([said[-500:]] if "Traceback" in said else [])]
    wrong = [*kill.lost, *before.wrong, *after.wrong]
    return Result(
        "Two replicas behind a proxy, one killed",
        [
            latencies(f"{shape}: before the kill", f"{seconds / 2:.0f} s.", before),
            latencies(f"{shape}: from the kill on", f"{seconds / 2:.0f} s.", after),
            Table(
                "Readers of the killed replica",
                back,
                "From the kill. All of them ask for a new run at once; a browser asks only if one was under way.",
            ),
            *tables,
        ],
        [
            Verdict("killing one of two replicas: readers who lost their state", len(wrong), 0, "", where=shape),
            Verdict("killing one of two replicas: errors", len(failures), 0, "", where=shape),
        ],
        [f"went wrong: {text[:300]}" for text in [*failures, *wrong][:5]],
    )
