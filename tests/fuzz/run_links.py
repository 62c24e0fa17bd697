"""Links under AppTest: each opened in a session of its own, every fault kept with as short a link as shows it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz import oracles, strategies
from tests.fuzz.links import Link, shortest
from tests.fuzz.visits import Visit, visit

BATCH = 500
"""Examples that Hypothesis remembers at a time; all at once would take a hundred megabytes."""

LIMIT = 2.0
"""Seconds of one request."""


@dataclass(slots=True)
class Found:
    """What came of a part of the fuzzing."""

    done: int = 0
    runs: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    """What was wrong, and what shows it."""
    slowest: list[tuple[float, float, str]] = field(default_factory=list)
    """Processor and wall seconds of a run, and what it was."""
    log: str = ""
    """What the server said of it."""

    def note(self, seen: Visit, what: str) -> None:
        """Remember how long a run took."""
        self.runs += 1
        self.slow(seen.processor, seen.wall, what)

    def slow(self, processor: float, wall: float, what: str) -> None:
        """Keep it if it is among the ten slowest."""
        self.slowest.append((processor, wall, what))
        self.slowest.sort(reverse=True)
        del self.slowest[10:]


def kind_of(fault: str) -> str:
    """The fault without the words that differ from link to link."""
    return fault.split(":")[0] + ":" + fault.partition(":")[2].partition("=")[0][:80]


def judged(link: Link) -> tuple[list[str], Visit | None]:
    """All faults of a link."""
    try:
        seen = visit(link)
    except RuntimeError as error:
        return [f"exception outside: {error}"], None
    found = oracles.faults(seen) + oracles.unheard(seen)
    if seen.processor > LIMIT:
        found.append(f"slow: {seen.processor:.1f} s of processor time")
    return found, seen


def run(count: int, number: int, say: Callable[[str], None] = print) -> Found:
    """So many links of a seed."""
    found = Found()

    def one(link: Link) -> None:
        said, seen = judged(link)
        found.done += 1
        if seen is not None:
            found.note(seen, str(link))
        for fault in said:
            kind = f"{link.page}: {kind_of(fault)}"
            if kind in found.failures:
                continue

            def fails(other: Link, kind: str = kind) -> bool:
                return kind in {f"{other.page}: {kind_of(fault)}" for fault in judged(other)[0]}

            small = shortest(link, fails)
            found.failures[kind] = f"{fault}\n      {small}\n      {small!r:.1000}"
            say(f"FAILURE {kind}\n    {found.failures[kind]}")

    each(strategies.links(), one, count, number)
    return found


def each(what: st.SearchStrategy, do: Callable[[object], None], count: int, number: int) -> None:
    """Draw so many and do something with each; the same ones for the same number."""
    done = 0
    while done < count:
        size = min(BATCH, count - done)

        @seed(number * 100_000 + done)
        @settings(
            max_examples=size,
            deadline=None,
            database=None,
            derandomize=False,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(what)
        def batch(drawn: object) -> None:
            do(drawn)

        batch()
        done += size
