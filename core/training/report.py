"""Figures of the saved runs, counted on fresh sequences without PyTorch: ``python -m core.training.report [SEED]``."""

import sys

from core.training import figures
from core.training.runs import saved
from core.training.tasks import SAVED, TASKS


def lines(seed: int = 1) -> list[str]:
    """The figures of every saved run.

    Parameters
    ----------
    seed : int
        Of the fresh sequences.

    Returns
    -------
    list of str
        One line a run.
    """
    return [
        f"{task}, seed {run_seed}: "
        + ", ".join(
            f"{name} {value:.3f}"
            for name, value in figures.of(TASKS[task], saved(task, run_seed).parameters, seed).items()
        )
        for task, run_seed in SAVED
    ]


if __name__ == "__main__":
    print("\n".join(lines(*(int(argument) for argument in sys.argv[1:2]))))
