"""Trainings for readers: programs of `ui.background` that report snapshots, and the run that a page shows.

Knows nothing of Streamlit.
"""

import sys
from collections.abc import Sequence
from functools import lru_cache

from core.training.runs import SHOWN_SEED, Film, Snapshot, film, path_of, read_line, saved
from core.training.tasks import TASKS
from ui.background import Job, Program, Queue, queue

COMMAND = (sys.executable, "-m", "core.training.program")

LONGEST = 180.0
"""Seconds that a training may take, PyTorch loaded; on an idle core it takes five at most."""


PACES = {"fast": 0.0, "slow": 0.25}
"""Seconds that a training rests after each snapshot, by what a reader chooses; the numbers are the same."""


def program(task: str, seed: int, command: Sequence[str] = COMMAND, pause: float = 0.0) -> Program:
    """The program that trains one model.

    Parameters
    ----------
    task : str
        One of `core.training.tasks.TASKS`.
    seed : int
        Of the training.
    command : sequence of str
        How it is started; task, seed and pause are added.
    pause : float
        Seconds to rest after each snapshot.

    Returns
    -------
    Program
        Equal for the same task and seed.

    Examples
    --------
    >>> program("order", 3) == program("order", 3, ("other",)), program("order", 3) == program("order", 4)
    (True, False)
    """
    return Program(
        asks=("training", task, seed),
        command=(*command, task, str(seed), str(pause)),
        read=read_line,
        seconds=LONGEST,
        name="training",
        parts="snapshots",
        limit=f"{LONGEST:g} s are",
        stopped="Stopped: what was learned until then is kept on this page.",
    )


def filmed(task: str, seed: int, reports: Sequence[Snapshot]) -> Film:
    """What a program has reported so far, as a film.

    Parameters
    ----------
    task, seed : str, int
        What is trained.
    reports : sequence of Snapshot
        At least one.

    Returns
    -------
    Film
        With what was learned, once that is reported.
    """
    return film(task, seed, reports, last=bool(reports[-1].parameters))


@lru_cache(maxsize=24)
def of_job(job: Job) -> Film:
    """The film of a job that came to its end.

    Parameters
    ----------
    job : Job
        Of a `program`, done.

    Returns
    -------
    Film
        The same object every time.

    Raises
    ------
    ValueError
        It is the job of something else.
    """
    match job.program.asks:
        case ("training", str(task), int(seed)):
            return filmed(task, seed, job.look_at(None).reports)
    raise ValueError(f"wanted the job of a training; got one of {job.program.name}")


def run_of(task: str, seed: int, among: Queue = queue) -> Film | None:
    """A finished run, if there is one: trained on this server, or saved.

    Parameters
    ----------
    task, seed : str, int
        What was trained.
    among : Queue
        Where it may have been trained.

    Returns
    -------
    Film or None
        None where it would have to be trained first.

    Examples
    --------
    >>> run_of("order", 0).seed, run_of("order", 9999)
    (0, None)
    """
    job = among.finished(program(task, seed))
    if job is not None:
        return of_job(job)
    return saved(task, seed) if path_of(task, seed).exists() else None


def shown_run(task: str, seed: int, among: Queue = queue) -> Film:
    """A finished run of a seed, or the saved one where there is none.

    Parameters
    ----------
    task, seed, among
        As in `run_of`.

    Returns
    -------
    Film
        Its seed says which.

    Examples
    --------
    >>> shown_run("order", 9999).seed
    0
    """
    return run_of(task, seed, among) or saved(task, SHOWN_SEED)


def n_snapshots(task: str) -> int:
    """Snapshots of a whole training.

    Parameters
    ----------
    task : str
        Its name.

    Returns
    -------
    int
        The one before the first step included.

    Examples
    --------
    >>> {n_snapshots(task) for task in TASKS}
    {51}
    """
    recipe = TASKS[task].recipe
    return recipe.steps // recipe.every + 1
