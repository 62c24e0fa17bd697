"""The part of the learning page that trains: start, what is seen while it runs, stop, and the run that is shown."""

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass

import streamlit as st

from core.training.runs import SHOWN_SEED, Film, saved
from core.training.tasks import TASKS
from ui import controls, shown
from ui.background import MOST_WAITING, Job, Look, Queue, queue
from ui.trainings import COMMAND, filmed, n_snapshots, program, shown_run

_JOB, _READER, _REFUSED = "_training", "_training_reader", "_training_refused"

_FAR = 1000
"""Sections of a fragment are counted from here, so that none has the number of one on the page."""

command: tuple[str, ...] = COMMAND
"""How a training is started."""
trainings: Queue = queue
"""The queue that trainings stand in: that of all long work of this server."""


@dataclass(frozen=True, slots=True)
class Showing:
    """The run on the page, and what is said of it."""

    film: Film
    said: str
    """Where it comes from, in HTML of our own words."""
    live: bool
    """Whether it is still being trained: then `watch` shows it."""


def showing(task: str, seed: int) -> Showing:
    """The run to show for a task and a seed: under way, stopped, finished on this server, or saved.

    Parameters
    ----------
    task, seed : str, int
        What the controls say.

    Returns
    -------
    Showing
        Always something.
    """
    job: Job | None = st.session_state.get(_JOB)
    if job is not None and job.program == program(task, seed):
        look = job.look_at(_reader())
        if look.active:
            return Showing(shown_run(task, seed, trainings), "", live=True)
        if look.stage != "done" and look.reports:
            film = filmed(task, seed, look.reports)
            return Showing(film, f"Stopped at step {film.steps[-1]} of {TASKS[task].recipe.steps}.", live=False)
    trained_here = trainings.finished(program(task, seed)) is not None
    film = shown_run(task, seed, trainings)
    if film.seed != seed:
        return Showing(film, f"No run of seed {seed} yet; shown is the saved one of seed {film.seed}.", live=False)
    if not trained_here:
        return Showing(film, f"A saved run, seed {seed}.", live=False)
    same = ""
    if seed == SHOWN_SEED:
        gap = float(abs(film.losses - saved(task).losses).max())
        same = (
            " Every loss is the saved run’s." if gap == 0 else f" Its losses are within {gap:.0e} of the saved run’s."
        )
    return Showing(film, f"Trained on this server, seed {seed}.{same}", live=False)


def button(task: str, seed: int, pause: float) -> None:
    """The button that starts a training; and why one could not start or did not end.

    Parameters
    ----------
    task, seed : str, int
        What the controls say.
    pause : float
        Seconds to rest after each snapshot.
    """
    job: Job | None = st.session_state.get(_JOB)
    look = job.look_at(_reader()) if job is not None else None
    if look is not None and look.active:
        return
    st.button(f"Train, seed {seed}", on_click=_ask, args=(task, seed, pause), key="train", type="primary")
    if st.session_state.pop(_REFUSED, False):
        controls.notice(
            f"This server trains or measures one thing at a time, and {MOST_WAITING} are waiting already: try again in "
            "a minute."
        )
    if look is not None and look.said and job is not None and job.program == program(task, seed):
        controls.notice(look.said)


def watch(paint: Callable[[Film], None]) -> None:
    """A training of this session that is under way: how far it is, and its pictures so far.

    Parameters
    ----------
    paint : callable
        Draws a film to its last snapshot; called again and again.
    """
    job: Job | None = st.session_state.get(_JOB)
    if job is None or shown.now().out_of_sight or not job.look_at(_reader()).active:
        return
    # Looked at again and again: that is also how the server knows that somebody still waits.
    st.fragment(_live, run_every=0.6)(job, paint, shown.now())


def _reader() -> object:
    reader: object = st.session_state.setdefault(_READER, object())
    return reader


def _ask(task: str, seed: int, pause: float) -> None:
    before: Job | None = st.session_state.get(_JOB)
    if before is not None:
        before.leave(_reader())
    job = trainings.ask(program(task, seed, command, pause), _reader())
    st.session_state[_REFUSED] = job is None
    if job is not None:
        st.session_state[_JOB] = job
        controls.take({"snapshot": n_snapshots(task) - 1})  # the end of the film, when it is there


def _live(job: Job, paint: Callable[[Film], None], record: shown.Shown) -> None:
    """What a training under way shows; runs by itself, without the page."""
    look = job.look_at(_reader())
    if not look.active:
        st.rerun()  # the whole page, so that the timer of this fragment ends
    _, task, seed = _asked(job)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Stop training", key="train_stop", on_click=job.leave, args=(_reader(),))
        done, said = _progress(look, TASKS[task].recipe.steps)
        st.progress(done, f"{task}, seed {seed}. {said}")
    if look.reports:
        film = filmed(task, seed, look.reports)

        def apart() -> None:
            # The record of what is shown belongs to a run of the whole page; here is one to be thrown away.
            own = shown.begin(record.page)
            own.told = True  # this is drawn again long after the frame told the alternatives of the page
            own.step, own.first, own.sections = record.step, record.first, _FAR
            paint(film)

        copy_context().run(apart)


def _asked(job: Job) -> tuple[str, str, int]:
    match job.program.asks:
        case (str(kind), str(task), int(seed)):
            return kind, task, seed
    raise ValueError("wanted the job of a training")


def _progress(look: Look, steps: int) -> tuple[float, str]:
    if look.stage == "waiting":
        return 0.0, f"Waiting for this server’s other trainings and measurements: {look.before} before this one"
    if not look.reports:
        return 0.0, "Loading PyTorch in a process of its own …"
    last = look.reports[-1]
    return last.step / steps, f"Step {last.step} of {steps}, {last.accuracy:.2f} right"
