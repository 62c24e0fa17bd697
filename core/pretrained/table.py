"""The measured table of the trained model's heads, as ``core.pretrained.measure`` wrote it."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).parent / "measured.json"


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one head does, on sentences written for it."""

    name: str
    layer: int
    head: int
    cases: int
    distance: float
    """Share of cases that the best fixed distance gets right."""
    other_half: float
    """What heads reach that were chosen on other sentences."""
    mass: float
    """Mean weight on the wanted word, with the rounded weights."""
    hit: float
    """Share of cases in which no other word has more; start, end and the asking word itself do not count as others."""
    rival_mass: float | None
    over_rival: float | None
    full_mass: float
    """Mean weight with the published weights."""
    full_hit: float


@dataclass(frozen=True, slots=True)
class Limit:
    """What no head does: "it" does not follow the last word of a sentence."""

    cases: int
    best_of_all_heads: float
    """Share that the luckiest head gets right; 0.5 is chance."""
    other_half: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All of the table."""

    patterns: tuple[Pattern, ...]
    limit: Limit
    on_start_by_layer: tuple[float, ...]
    """Mean weight on the start of a text."""
    texts: int
    largest_gap: float
    """Largest difference that rounding makes to one weight, over all heads and sentences."""
    mean_gap: float
    same_favourite: float
    """Share of rows whose largest weight stays where it was."""


@functools.lru_cache(maxsize=1)
def measured() -> Measured:
    """The table of this repository.

    Returns
    -------
    Measured
        Read once a process.

    Raises
    ------
    FileNotFoundError
        ``python -m core.pretrained.measure`` has not been run.

    Examples
    --------
    >>> measured().patterns[0].name
    'previous word'
    """
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    patterns = tuple(
        Pattern(
            name,
            *(entry[part] for part in ("layer", "head", "cases", "distance", "other_half")),
            *(entry["rounded"][part] for part in ("mass", "hit", "rival_mass", "over_rival")),
            *(entry["full"][part] for part in ("mass", "hit")),
        )
        for name, entry in table["patterns"].items()
    )
    cost = table["rounding"]
    return Measured(
        patterns,
        Limit(**table["limit"]),
        tuple(table["on_start_by_layer"]),
        *(cost[part] for part in ("texts", "largest", "mean", "same_favourite")),
    )
