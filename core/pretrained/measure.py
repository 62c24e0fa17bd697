"""Measure what the heads do and what rounding costs: ``python -m core.pretrained.measure PACKAGE`` writes the table.

PACKAGE is the downloaded file that ``core.pretrained.build`` reads, for the weights before rounding. Without it the
table of the repository is printed.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.pretrained.build import read_package
from core.pretrained.model import from_full, load, read_safetensors, read_vocabulary, tables
from core.pretrained.named_heads import (
    LIMIT,
    NAMED,
    Attentions,
    attentions,
    best_distance,
    cases,
    highest_share,
    on_the_other_half,
    score,
)
from core.pretrained.table import TABLE


@dataclass(frozen=True, slots=True)
class Rounding:
    """What rounding the weights does to attention, over all heads and all measured sentences."""

    texts: int
    largest: float
    """Largest difference of one weight."""
    mean: float
    """Mean difference of a weight."""
    same_favourite: float
    """Share of rows whose largest weight stays at the same word."""


def rounding(full: Attentions, rounded: Attentions) -> Rounding:
    """What rounding costs.

    Parameters
    ----------
    full, rounded : mapping of str to ndarray
        From `core.pretrained.named_heads.attentions`, the same texts.

    Returns
    -------
    Rounding
        Counted over every row of every head.
    """
    gaps = np.concatenate([np.abs(full[text] - rounded[text]).ravel() for text in full])
    same = np.concatenate([(full[text].argmax(-1) == rounded[text].argmax(-1)).ravel() for text in full])
    return Rounding(len(full), float(gaps.max()), float(gaps.mean()), float(same.mean()))


def measure(full: Attentions, rounded: Attentions) -> dict[str, Any]:
    """The table that the page shows.

    Parameters
    ----------
    full, rounded : mapping of str to ndarray
        Attention with the published and with the rounded weights.

    Returns
    -------
    dict of str to object
        Plain numbers.
    """
    every = cases()
    patterns = {
        name: {
            "cases": len(every[name]),
            "layer": layer,
            "head": head,
            "distance": best_distance(every[name]),
            "other_half": on_the_other_half(every[name], rounded),
            "full": asdict(score(every[name], full, layer, head)),
            "rounded": asdict(score(every[name], rounded, layer, head)),
        }
        for name, (layer, head) in NAMED.items()
    }
    limit = {
        "cases": len(every[LIMIT]),
        "best_of_all_heads": highest_share(every[LIMIT], rounded),
        "other_half": on_the_other_half(every[LIMIT], rounded),
    }
    on_start = np.concatenate([weights[:, :, 1:-1, 0] for weights in rounded.values()], axis=-1)
    return {
        "patterns": patterns,
        "limit": limit,
        "on_start_by_layer": on_start.mean(axis=(1, 2)).tolist(),
        "rounding": asdict(rounding(full, rounded)),
    }


def _numbers(value: Any) -> Any:
    """Six decimals, so that the file does not change with the last bit of a machine."""
    if isinstance(value, Mapping):
        return {name: _numbers(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_numbers(entry) for entry in value]
    return round(value, 6) if isinstance(value, float) else value


def main(arguments: list[str]) -> int:
    """Measure, or print what was measured.

    Parameters
    ----------
    arguments : list of str
        A path, or none.

    Returns
    -------
    int
        0 when that went well.
    """
    if arguments:
        package = read_package(Path(arguments[0]))
        vocabulary = read_vocabulary(package["vocab.txt"].decode())
        full = from_full(tables(read_safetensors(package["model.safetensors"])), vocabulary)
        texts = list(dict.fromkeys(case.text for of_pattern in cases().values() for case in of_pattern))
        table = measure(attentions(full, texts), attentions(load(), texts))
        TABLE.write_text(json.dumps(_numbers(table), indent=1) + "\n", encoding="utf-8")
    print(TABLE.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
