"""What is to be measured, and what a measurement reports: one line of JSON each, between two processes."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from core.cost import powers_of_two

Method = Literal["plain formula", "fused function"]
METHODS: tuple[Method, ...] = get_args(Method)
"""softmax(q kᵀ / √d) v written out in PyTorch, and its ``scaled_dot_product_attention``."""

SIZES = powers_of_two(64, 4096)

MEMORY_BUDGET = 512 * 1024**2
"""Bytes that a measurement may ask for in one call: a small public server has 690 MB for everything."""

BYTES = 4
"""Of a number in single precision."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one measurement does; equal plans share a result."""

    d_head: int = 64
    n_heads: int = 1
    seconds: float = 30.0
    """Time budget, once PyTorch is loaded."""
    sizes: tuple[int, ...] = SIZES

    def written(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Reading:
    """One size by one method."""

    n: int
    method: Method
    seconds: float
    """The fastest of all runs: whatever else a machine does makes a run slower, never faster."""
    runs: int
    peak_bytes: int | None
    """Largest memory held at once by one call, q, k and v not included; None where it cannot be measured."""
    flops: int
    """What PyTorch's own counter counts of this call."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One size that a method did not get to, and why."""

    n: int
    method: Method
    why: str


@dataclass(frozen=True, slots=True)
class Ready:
    """PyTorch is loaded and the budget begins."""

    version: str
    clock: str
    """What the seconds are of: "processor time" or "time on the clock"."""


Report = Reading | LeftOut | Ready
_KINDS: dict[str, type[Reading] | type[LeftOut] | type[Ready]] = {
    "reading": Reading,
    "left out": LeftOut,
    "ready": Ready,
}


def write_report(report: Report) -> str:
    """A report as one line.

    Parameters
    ----------
    report : Reading, LeftOut or Ready
        What is to be told.

    Returns
    -------
    str
        JSON without a line break.

    Examples
    --------
    >>> write_report(LeftOut(64, "plain formula", "no time"))
    '{"kind": "left out", "n": 64, "method": "plain formula", "why": "no time"}'
    """
    kind = next(kind for kind, cls in _KINDS.items() if isinstance(report, cls))
    return json.dumps({"kind": kind} | asdict(report))


def read_report(line: str) -> Report:
    """A report from its line.

    Parameters
    ----------
    line : str
        From `write_report`.

    Returns
    -------
    Reading, LeftOut or Ready
        What was told.

    Raises
    ------
    ValueError
        The line is no report.

    Examples
    --------
    >>> read_report(write_report(Ready("2.0", "processor time"))).version
    '2.0'
    """
    try:
        found = json.loads(line)
        return _KINDS[found.pop("kind")](**found)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"wanted a report of a measurement; got {line.strip()[:80]!r}") from error


def read_plan(line: str) -> Plan:
    """A plan from its line.

    Parameters
    ----------
    line : str
        From `Plan.written`.

    Returns
    -------
    Plan
        The same plan.

    Examples
    --------
    >>> read_plan(Plan(d_head=8).written()) == Plan(d_head=8)
    True
    """
    found: Mapping[str, object] = json.loads(line)
    return Plan(**{**found, "sizes": tuple(found["sizes"])})  # type: ignore[arg-type]


def plain_bytes(n: int, n_heads: int) -> int:
    """Memory that the plain formula holds at its largest: two matrices of all pairs, one made from the other.

    Parameters
    ----------
    n, n_heads : int
        Tokens, heads.

    Returns
    -------
    int
        In single precision; the output, which is small beside it, not included.

    Examples
    --------
    >>> plain_bytes(4096, 1)
    134217728
    """
    return 2 * n_heads * n**2 * BYTES
