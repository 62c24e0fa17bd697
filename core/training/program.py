"""A training as a program of its own: ``python -m core.training.program TASK SEED [PAUSE]``.

Snapshots go to the standard output, a line each, as soon as they are there. In a process of its own neither its work
nor its end touches the server: one thread, low priority, gone when it is done, when its standard input closes (whoever
started it has ended), or when it is killed.
"""

import os
import sys
import threading
import time

from core.training.runs import write_line
from core.training.tasks import TASKS


def main(arguments: list[str]) -> int:
    """Train what the arguments ask for.

    Parameters
    ----------
    arguments : list of str
        Name of a task, a seed, and the seconds to rest after each snapshot, so that somebody can watch.

    Returns
    -------
    int
        0 when it is done.
    """
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    if hasattr(os, "nice"):  # Windows has none: there whoever starts the program asks for a low priority
        os.nice(10)
    from core.training.loop import train  # loads PyTorch: seconds of work, at low priority already

    task, seed = TASKS[arguments[0]], int(arguments[1])
    pause = float(arguments[2]) if len(arguments) > 2 else 0.0
    for shot in train(task, seed):
        print(write_line(shot, last=shot.step == task.recipe.steps), flush=True)
        time.sleep(pause)
    return 0


def _end_with_the_server() -> None:
    # Ends when the other end is closed, however that came about. Not through sys.stdin: its lock would be held at exit.
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
