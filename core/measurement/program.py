"""The measurement as a program of its own: ``python -m core.measurement.program PLAN``.

Reports go to the standard output, a line each, as soon as they are there. In a process of its own neither its work nor
its memory nor its end touches the server: one thread, low priority, gone when it is done, when its standard input
closes (whoever started it has ended), or when it is killed.
"""

import os
import sys
import threading

from core.measurement.plan import read_plan, write_report


def main(arguments: list[str]) -> int:
    """Measure what a plan asks for.

    Parameters
    ----------
    arguments : list of str
        The plan, as `Plan.written`.

    Returns
    -------
    int
        0 when it is done.
    """
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    if hasattr(os, "nice"):  # Windows has none: there whoever starts the program asks for a low priority
        os.nice(10)
    from core.measurement.timing import measure  # loads PyTorch: seconds of work, at low priority already

    for report in measure(read_plan(arguments[0])):
        print(write_report(report), flush=True)
    return 0


def _end_with_the_server() -> None:
    # Ends when the other end is closed, however that came about. Not through sys.stdin: its lock would be held at exit.
    while os.read(0, 4096):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
