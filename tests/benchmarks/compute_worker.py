"""A process that times one side at a time when it is asked to; `tests.benchmarks.compute` starts it and asks.

Reads one JSON object a line and answers with one, by what is asked: "times" of a side of a case, in seconds; the
"sides" of a case; the "libraries" that compute. Its argument is the number of threads.
"""

import json
import sys
import time
from functools import lru_cache
from typing import Any

import torch
from threadpoolctl import threadpool_info

from tests.benchmarks.twins import Call, Sizes, sides

MOST_CALLS = 1000


@lru_cache(maxsize=1)
def prepared(case: str, sizes: Sizes) -> tuple[dict[str, Call], set[str]]:
    """Every way of a case, and those that were called already."""
    return sides(case, sizes), set()


def times(case: str, sizes: Sizes, side: str, seconds: float) -> list[float]:
    """How long calls took, for about that long; at least one."""
    ways, warm = prepared(case, sizes)
    call = ways[side]
    if side not in warm and side != "loop":  # the first calls load code and take memory
        begin = time.perf_counter()
        call()
        if time.perf_counter() - begin < seconds:
            call()
    warm.add(side)
    found: list[float] = []
    end = time.perf_counter() + seconds
    while not found or (time.perf_counter() < end and len(found) < MOST_CALLS):
        begin = time.perf_counter()
        result = call()
        found.append(time.perf_counter() - begin)
        del result
    return found


def libraries() -> dict[str, Any]:
    """NumPy's product kernel and the threads of both sides, as they are loaded."""
    blas = next(one for one in threadpool_info() if one["user_api"] == "blas" and "numpy" in one["filepath"])
    products = "MKL" if torch.backends.mkl.is_available() else "no MKL"
    return {
        "numpy": f"{blas['internal_api']} {blas['version']}, kernel {blas.get('architecture')}",
        "numpy threads": blas["num_threads"],
        "torch": f"{products}, {torch.backends.cpu.get_cpu_capability()}",
        "torch threads": torch.get_num_threads(),
    }


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """What one line asks for."""
    if asked["what"] == "libraries":
        return libraries()
    case, sizes = asked["case"], Sizes(**asked["sizes"])
    if asked["what"] == "sides":
        return {"sides": list(prepared(case, sizes)[0])}
    return {"times": times(case, sizes, asked["side"], asked["seconds"])}


def main() -> None:
    """Answer until the input ends."""
    torch.set_num_threads(int(sys.argv[1]))  # after core.torch_reference, which says one
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
