"""A lecture hall: readers with human habits, what the lecturer asks of them, and a record of all they waited for."""

import asyncio
import contextlib
import itertools
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.load.elements import Control
from tests.load.reader import Answer, Dropped, Reader
from ui.pages import HOME, PAGES

NOUNS = ("cat", "dog", "bird", "teacher", "student", "river", "book", "letter", "song", "machine", "bat", "bag")
OTHERS = ("the", "a", "my", "every", "no", "old", "new", "red", "quick", "sees", "reads", "writes", "near", "because")
MOVED = ("slider", "selectbox", "button_group", "checkbox", "number_input")
ROUTES = ("", *(page.name for page in PAGES))

PAUSE = 7.0
"""Median of the seconds between two actions of a reader."""

SPREAD = 0.5
"""Of their logarithm: two thirds of the pauses are between 4 and 12 seconds, their mean is 8."""


@dataclass(slots=True)
class Record:
    """What a hall lived through."""

    answers: dict[str, list[Answer]] = field(default_factory=lambda: defaultdict(list))
    """By the kind of action."""
    failures: list[str] = field(default_factory=list)
    """Exceptions shown, connections lost, answers that did not come."""
    wrong: list[str] = field(default_factory=list)
    """Answers that show another state than the one asked for, and returns to another state than the one left."""
    returned: int = 0
    """Readers who came back to what they had left after the restart."""
    actions: int = 0


@dataclass
class Hall:
    """What all readers hear: the lecturer, the end, and whether the server is away."""

    address: str
    median_pause: float = PAUSE
    """Seconds between two actions of a reader."""
    record: Record = field(default_factory=Record)
    over: bool = False
    link: str = ""
    asked: int = 0
    """How often the lecturer has said: open this link."""
    away: bool = False
    parked: int = 0
    back: asyncio.Event = field(default_factory=asyncio.Event)
    _called: asyncio.Event = field(default_factory=asyncio.Event)

    def call(self) -> None:
        """Wake everybody from their pause."""
        self._called.set()
        self._called.clear()

    def ask(self, link: str) -> None:
        """The lecturer asks everybody to open a link."""
        self.link, self.asked = link, self.asked + 1
        self.call()

    async def pause(self, seconds: float) -> None:
        """Look at the screen, unless called."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._called.wait(), seconds)


def seen(reader: Reader) -> dict[str, Any]:
    """What a link must bring back: the page, every control that is in links, the numbers of all charts."""
    state = reader.state()
    linked = {control.parameter: reader.value(control.parameter) for control in reader.controls if control.parameter}
    return {"path": state["path"], "controls": linked, "charts": state["charts"]}


def difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What differs, in a few words; empty where nothing does."""
    parts = []
    for name in before:
        if before[name] != after[name]:
            if isinstance(before[name], dict):
                keys = sorted(
                    str(key) for key in {*before[name], *after[name]} if before[name].get(key) != after[name].get(key)
                )
                parts.append(f"{name}: {', '.join(key[:60] for key in keys[:3])}")
            else:
                parts.append(f"{name}: {before[name]!r} became {after[name]!r}")
    return "; ".join(parts)


def sentence(rng: random.Random) -> str:
    """4 to 12 words, hardly ever the same twice."""
    return " ".join(rng.choice(NOUNS if rng.random() < 0.4 else OTHERS) for _ in range(rng.randint(4, 12)))


@dataclass
class Student:
    """One reader in the hall."""

    hall: Hall
    number: int
    first_visit: bool = True
    """Fetches the scripts and fonts as well."""

    def __post_init__(self) -> None:
        self.rng = random.Random(self.number)
        self.reader = Reader(self.hall.address, static=self.first_visit)
        self.heard = 0

    async def attend(self, arrival: float) -> None:
        """From coming in, within so many seconds, to the end of the lecture."""
        rng, hall = self.rng, self.hall
        await asyncio.sleep(rng.uniform(0, arrival))
        await self._safely(self._arrive)
        while not hall.over:
            await hall.pause(rng.lognormvariate(0, SPREAD) * hall.median_pause)
            if hall.over:
                break
            if hall.away:
                await self._wait_for_the_server()
            elif hall.asked > self.heard:
                self.heard = hall.asked
                await asyncio.sleep(rng.uniform(0, 10))
                await self._safely(self._follow)
            else:
                await self._safely(self._act)
        await self.reader.leave()

    async def _safely(self, action: Callable[[], Any]) -> None:
        record = self.hall.record
        record.actions += 1
        shown = len(self.reader.errors)
        try:
            await action()
        except (Dropped, TimeoutError, RuntimeError) as problem:
            record.failures.append(f"{self.reader.path or 'home'}: {type(problem).__name__}: {problem}")
            if not self.hall.away and not self.hall.over:
                with contextlib.suppress(Dropped, TimeoutError, RuntimeError):
                    await self.reader.reload()
        record.failures += [f"{self.reader.path or 'home'}: shown: {said}" for said in self.reader.errors[shown:]]

    def _took(self, kind: str, answer: Answer) -> None:
        self.hall.record.answers[kind].append(answer)

    async def _arrive(self) -> None:
        rng = self.rng
        settings: dict[str, object] = {"text": sentence(rng), "seed": rng.randint(0, 9999)}
        if rng.random() < 0.5:
            settings |= {"d": rng.choice((2, 8, 12, 16, 32)), "heads": rng.choice((1, 2, 3, 4, 8))}
        answer = await self.reader.open(rng.choice(ROUTES), **settings)
        self.reader.static = False
        self._took("first visit", answer)
        self._check({key: str(value) for key, value in settings.items()})

    async def _follow(self) -> None:
        answer = await self.reader.open_link(self.hall.link)
        self._took("the lecturer's link", answer)

    async def _act(self) -> None:
        dice = self.rng.random()
        if dice < 0.75:
            await self._move()
        elif dice < 0.90:
            page = self.rng.choice([route for route in ROUTES if route != self.reader.path])
            before = self.reader.sidebar()
            self._took("change of page", await self.reader.go_to(page))
            if self.reader.path != page or self.reader.sidebar() != before:
                self._wrong(f"asked for page {page or HOME.name}, got {self.reader.path}, {self.reader.sidebar()}")
        elif dice < 0.95:
            before = seen(self.reader)
            self._took("reload", await self.reader.reload())
            self._compare(before)
        else:
            before = seen(self.reader)
            await self.reader.leave()
            await self.hall.pause(self.rng.uniform(1, 10))
            if self.hall.away:
                return
            self._took("back after leaving", await self.reader.open_link(self.reader.address))
            self._compare(before)

    async def _move(self) -> None:
        rng, reader = self.rng, self.reader
        movable = [c for c in reader.controls if c.kind in MOVED and c.parameter and not c.disabled and not c.form]
        shared = [control for control in movable if control.in_sidebar]
        own = [control for control in movable if not control.in_sidebar and _choices(control, reader)]
        if rng.random() < 0.12:
            answer = await reader.move("text", sentence(rng))
            self._took("new sentence", answer)
            return
        control = rng.choice(own) if own and rng.random() < 0.5 else rng.choice(shared)
        near = _choices(control, reader)
        if not near:
            return
        chosen = rng.choice(near)
        answer = await reader.move(control.parameter, chosen)
        self._took("slider move" if control.kind == "slider" else "other control", answer)
        if control.in_sidebar:
            self._check({control.parameter: str(chosen)})

    def _check(self, asked: dict[str, str]) -> None:
        """The sidebar stands where it was set to, and the page was computed with it."""
        sidebar = self.reader.sidebar()
        if any(sidebar.get(key) != value for key, value in asked.items()):
            self._wrong(f"asked for {asked}, got {sidebar}")
            return
        width = f"{sidebar['heads']} heads × {sidebar['d']} = {int(sidebar['heads']) * int(sidebar['d'])}"
        if not any(width in text for text in self.reader.texts()):
            self._wrong(f"no “{width}” is shown")

    def _compare(self, before: dict[str, Any]) -> bool:
        said = difference(before, seen(self.reader))
        if said:
            self._wrong(f"came back to another state at {self.reader.address}: {said}")
        return not said

    def _wrong(self, said: str) -> None:
        self.hall.record.wrong.append(f"reader {self.number} on {self.reader.path or 'home'}: {said}")

    async def _wait_for_the_server(self) -> None:
        """The server goes and comes again: half of the readers reload, for the others the tab does it by itself."""
        if not self.reader.connected:
            await self._safely(self.reader.reload)
        before = seen(self.reader)
        self.hall.parked += 1
        await self.hall.back.wait()
        await asyncio.sleep(self.rng.uniform(0, 10))  # tabs try again after growing pauses
        by_link = self.number % 2 == 0

        async def come_back() -> None:
            if by_link:
                answer = await self.reader.reload()
            else:
                await self.reader.come_back()
                answer = await self.reader.rerun()
            self._took("back after the restart", answer)
            self.hall.record.returned += self._compare(before)

        await self._safely(come_back)


def _choices(control: Control, reader: Reader) -> list[object]:
    """Where a hand moves it to: not far on a slider, anywhere among named options."""
    now = reader.value(control.parameter)
    if control.kind == "checkbox":
        return [not now]
    if control.kind == "number_input":
        low, high, _ = control.bounds or (0, 0, 0)
        assert isinstance(now, int | float)
        return [
            number
            for number in (int(now) + 1, int(now) - 1, int(now) * 7 % 10_000)
            if low <= number <= high and number != now
        ]
    if not control.options:
        assert isinstance(now, list)
        low, high, step = control.bounds or (0, 0, 0)
        around = (float(now[0]) + jump * step for jump in (-5, -2, -1, 1, 2, 5))
        return [number for number in around if low <= number <= high]
    current = now[0] if isinstance(now, list) and now else now
    others = [option for option in control.options if option != current]
    if control.kind == "slider" and current in control.options:
        place = control.options.index(str(current))
        return [option for option in others if abs(control.options.index(option) - place) <= 6]
    return list(others)


async def churn(address: str, readers: int, reruns: int, at: Callable[[int], None], every: int) -> Record:
    """Rerun after rerun without pauses, over all pages and ever other settings; tells after every so many."""
    hall = Hall(address)
    done = itertools.count(1)

    async def one(number: int) -> None:
        student = Student(hall, 1000 + number, first_visit=False)
        await student._safely(student._arrive)
        routes = itertools.cycle(student.rng.sample(ROUTES, len(ROUTES)))
        while True:
            for step in range(6):
                count = next(done)
                if count > reruns:
                    await student.reader.leave()
                    return
                if step == 0:
                    route = next(routes)
                    await student._safely(lambda route=route: student.reader.go_to(route))  # type: ignore[misc]
                else:
                    await student._safely(student._move)
                if count % every == 0:
                    at(count)

    await asyncio.gather(*(one(number) for number in range(readers)))
    return hall.record
