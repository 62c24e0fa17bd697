"""Time and memory of attention in PyTorch, written out and fused; only `core.measurement.program` imports this."""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from core.cost import human
from core.measurement.plan import MEMORY_BUDGET, METHODS, LeftOut, Method, Plan, Reading, Ready, Report, plain_bytes

Attention = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]

FEWEST_RUNS, MOST_RUNS = 3, 200
"""Timed runs of one size by one method."""

_OTHER_RUNS = 3
"""To warm up, for the memory and for the operations."""


def plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Attention as the formula says it.

    Parameters
    ----------
    q, k, v : torch.Tensor of shape (..., position, d_head)
        Queries, keys and values.

    Returns
    -------
    torch.Tensor
        softmax(q kᵀ / √d) v, of the same shape.

    Examples
    --------
    >>> plain(*torch.ones(3, 2, 1)).tolist()
    [[1.0], [1.0]]
    """
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1) @ v


CALLS: dict[Method, Attention] = {
    "plain formula": plain,
    "fused function": functional.scaled_dot_product_attention,
}


def measure(plan: Plan) -> Iterator[Report]:
    """Readings of a plan, size by size, as far as its budgets of time and memory go.

    Parameters
    ----------
    plan : Plan
        What to measure.

    Yields
    ------
    Ready, Reading or LeftOut
        First that the budget begins; then one report for each size and method.
    """
    torch.set_num_threads(1)
    with torch.inference_mode():
        for method in METHODS:  # the first call of anything loads libraries
            peak_bytes(partial(CALLS[method], *_inputs(64, plan)))
        yield Ready(torch.__version__.partition("+")[0], "time on the clock" if _CLOCK_OF_ALL else "processor time")
        begin = time.perf_counter()
        # Seconds that one run of the last size took on the clock; a size that was left out leaves out all larger ones.
        took: dict[Method, float] = {}
        for n in plan.sizes:
            for method in METHODS:
                left = plan.seconds - (time.perf_counter() - begin)
                why = _too_much(plan, n, method, took, left)
                if why:
                    yield LeftOut(n, method, why)
                    continue
                reading, took[method] = _read(n, method, plan)
                yield reading


# The processor's time leaves out what other programs take; that of Windows ticks only 64 times a second.
_CLOCK_OF_ALL = sys.platform == "win32"
_clock = time.perf_counter if _CLOCK_OF_ALL else time.process_time


def _inputs(n: int, plan: Plan) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, plan.n_heads, n, plan.d_head, generator=random)
    return q, k, v


def _too_much(plan: Plan, n: int, method: Method, took: dict[Method, float], left: float) -> str:
    """Why a size is left out; empty where it is not."""
    need = plain_bytes(n, plan.n_heads)
    if method == "plain formula" and need > MEMORY_BUDGET:
        return f"it would hold {human(need, 'B', 1024)} at once; the budget is {human(MEMORY_BUDGET, 'B', 1024)}"
    # Four times the work for twice the length, if it is as bad as it can be.
    expected = 4 * took.get(method, 0.0) * (FEWEST_RUNS + _OTHER_RUNS)
    if expected > left:
        return f"it would take about {expected:.1f} s, and {max(left, 0):.1f} of {plan.seconds:g} s were left"
    return ""


def _read(n: int, method: Method, plan: Plan) -> tuple[Reading, float]:
    """The reading, and how long one run takes on the clock."""
    call = partial(CALLS[method], *_inputs(n, plan))
    memory = peak_bytes(call)
    flops = count_flops(call)
    call()
    share = plan.seconds / (3 * len(plan.sizes))  # so that the last size, the slowest, finds time left
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < FEWEST_RUNS or (len(times) < MOST_RUNS and time.perf_counter() - begin < share):
        start = _clock()
        call()
        times.append(_clock() - start)
    return Reading(n, method, min(times), len(times), memory, flops), (time.perf_counter() - begin) / len(times)


def count_flops(call: Callable[[], object]) -> int:
    """Operations of a call, counted by PyTorch.

    Parameters
    ----------
    call : callable
        Without arguments.

    Returns
    -------
    int
        Matrix products only, a multiply-add as two; its counter does not know the fused function of processors: 0.

    Examples
    --------
    >>> count_flops(lambda: torch.ones(2, 3) @ torch.ones(3, 5))
    60
    """
    with FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())


def peak_bytes(call: Callable[[], object]) -> int | None:
    """Largest memory that a call holds at once, by PyTorch's own record of what it takes and gives back.

    Parameters
    ----------
    call : callable
        Without arguments; its result counts, what was there before does not.

    Returns
    -------
    int or None
        None where this build of PyTorch keeps no such record.

    Notes
    -----
    The operating systems' own figures (VmHWM, ru_maxrss, the peak working set of Windows) differ in meaning and unit,
    never fall, and hold whatever the process did before. PyTorch's profiler writes down each allocation with its size
    alike on all of them, the buffers inside the fused function included.

    Examples
    --------
    >>> peak_bytes(lambda: torch.ones(5, 7))
    140
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        result = call()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        record.export_chrome_trace(str(file))
        events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    del result
    changes = [(event["ts"], event["args"]["Bytes"]) for event in events if event.get("name") == "[memory]"]
    if not changes:
        return None
    held = peak = 0
    for _, change in sorted(changes, key=lambda entry: entry[0]):
        held += change
        peak = max(peak, held)
    return peak
