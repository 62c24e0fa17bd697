"""What one process of the fuzzer does; a module of its own, because a spawned process cannot import `__main__`."""

import logging
import os
import resource
import sys
from typing import NamedTuple


class Outcome(NamedTuple):
    """What a chunk came to."""

    part: str
    done: int
    runs: int
    failures: dict[str, str]
    slowest: list[tuple[float, float, str]]
    process: int
    memory: float


def memory() -> float:
    """The most that this process has held, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def prepare() -> None:
    """What a process needs before its first chunk: PyTorch loaded, as on a server that has been running for a while."""
    import torch
    from streamlit import config

    import core.torch_reference  # noqa: F401  (found ready by ui.torch_check)
    from tests.fuzz import strategies, visits

    torch.set_num_threads(1)
    config.get_config_options()  # it sets the levels of Streamlit's loggers when it is first read
    logging.getLogger("streamlit").setLevel(logging.CRITICAL)
    for name in ("script_run_context", "script_runner"):
        logging.getLogger(f"streamlit.runtime.scriptrunner_utils.{name}").setLevel(logging.CRITICAL)
    visits.watch()
    visits.compile_once()
    strategies.controls()


def work(part: str, count: int, number: int) -> Outcome:
    """One chunk."""
    from tests.fuzz import run_links, run_raw, run_sequences

    run = {"links": run_links.run, "raw links": run_raw.run, "sequences": run_sequences.run}[part]
    found = run(count, number, lambda text: print(f"[{part}] {text}", flush=True))
    return Outcome(part, found.done, found.runs, found.failures, found.slowest, os.getpid(), memory())
