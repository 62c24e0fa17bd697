"""Train every run that the repository keeps and save it: ``python -m core.training.make_saved [TASK ...]``.

One file a run in ``core/training/saved``; half a minute for all of them on one core.
"""

import platform
import sys
from pathlib import Path

import torch

from core.training.loop import train
from core.training.runs import FOLDER, Film, film, path_of, to_bytes
from core.training.tasks import SAVED, TASKS


def machine() -> str:
    """The processor and the PyTorch of this machine: where both are the same, so are the numbers.

    Returns
    -------
    str
        One line.
    """
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text(encoding="utf-8").splitlines() if cpu.exists() else []
    name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{name}, {torch.backends.cpu.get_cpu_capability()}, PyTorch {torch.__version__}"


def make(task: str, seed: int) -> Film:
    """Train one run to its end.

    Parameters
    ----------
    task, seed : str, int
        What is to be trained.

    Returns
    -------
    Film
        As it is saved.
    """
    return film(task, seed, train(TASKS[task], seed), last=True, machine=machine())


def main(names: list[str]) -> int:
    """Make the files of these tasks, or of all.

    Parameters
    ----------
    names : list of str
        Names of tasks.

    Returns
    -------
    int
        0 when they are there.
    """
    FOLDER.mkdir(exist_ok=True)
    for task, seed in SAVED:
        if not names or task in names:
            made = make(task, seed)
            path_of(task, seed).write_bytes(to_bytes(made))
            size = path_of(task, seed).stat().st_size
            print(f"{task}, seed {seed}: accuracy {made.accuracy[-1]:.3f}, {size:,} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
