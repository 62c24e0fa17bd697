"""Sequences of actions under AppTest: from a link on, whatever the page offers, and the link that it would share."""

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from tests.fuzz import oracles, strategies
from tests.fuzz.links import Link
from tests.fuzz.run_links import LIMIT, Found, each, kind_of
from tests.fuzz.visits import Action, Visit, visit

STEPS = (3, 8)
"""Fewest and most actions of a sequence."""


def after(seen: Visit) -> list[str]:
    """All faults of the page as it is now."""
    said = oracles.faults(seen)
    if seen.processor > LIMIT:
        said.append(f"slow: {seen.processor:.1f} s of processor time")
    return said


def shared(seen: Visit) -> list[str]:
    """Faults of the link that the page would share: it has to show the same numbers."""
    if seen.record is None:
        return []
    other = visit(seen.link_now())
    return oracles.faults(other) + oracles.differences(seen, other)


def judged(link: Link, actions: Sequence[Action]) -> list[str]:
    """All faults of a sequence, at whichever step; it ends at the first one."""
    try:
        seen = visit(link)
        said = oracles.unheard(seen) + after(seen)
        for action in actions:
            if said:
                return said
            seen.do(action)
            said = after(seen)
        return said or shared(seen)
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        return [f"exception outside: {type(error).__name__}: {error}"]


def shortest(
    link: Link, actions: Sequence[Action], fails: Callable[[Link, Sequence[Action]], bool], tries: int = 40
) -> tuple[Link, list[Action]]:
    """A sequence that still fails and from which no action and no parameter can be left out."""
    kept = list(actions)
    for place in range(len(kept) - 1, -1, -1):
        without = kept[:place] + kept[place + 1 :]
        tries -= 1
        if fails(link, without):
            kept = without
    for key, _ in link.query:
        smaller = Link(link.page, tuple(entry for entry in link.query if entry[0] != key))
        tries -= 1
        if tries > 0 and fails(smaller, kept):
            link = smaller
    return link, kept


def run(count: int, number: int, say: Callable[[str], None] = print) -> Found:
    """So many sequences of a seed."""
    found = Found()

    def one(data: st.DataObject) -> None:
        link = data.draw(strategies.links())
        steps = data.draw(st.integers(*STEPS))
        done: list[Action] = []
        found.done += 1
        try:
            seen = visit(link)
            said = after(seen)
            found.note(seen, str(link))
            for _ in range(steps):
                if said:
                    break
                action = data.draw(strategies.actions(seen))
                done.append(action)
                seen.do(action)
                found.note(seen, f"{link} then {'; '.join(map(str, done))}")
                said = after(seen)
            said = said or shared(seen)
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            said = [f"exception outside: {type(error).__name__}: {error}"]
        for fault in said:
            kind = kind_of(fault)
            if kind in found.failures:
                continue

            def fails(link: Link, actions: Sequence[Action], kind: str = kind) -> bool:
                return kind in {kind_of(other) for other in judged(link, actions)}

            small = shortest(link, done, fails)
            steps_said = "".join(f"\n      {action}" for action in small[1])
            found.failures[kind] = f"{fault}\n      {small[0]}{steps_said}\n      {small!r:.1500}"
            say(f"FAILURE {kind}\n    {found.failures[kind]}")

    each(st.data(), one, count, number)
    return found
