"""Measurements for readers: one at a time on this server, each in a process of its own, ended when nobody waits for it.

Knows nothing of Streamlit. A reader's page shows that somebody waits by looking at the job again and again; a tab that
was closed, another page, a lost connection all look alike from here: nobody has looked for some seconds.
"""

import logging
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

from core.measurement.plan import METHODS, LeftOut, Plan, Reading, Ready, read_report

ROOT = Path(__file__).resolve().parents[1]

COMMAND = (sys.executable, "-m", "core.measurement.program")

PATIENCE = 8.0
"""Seconds without a look after which nobody waits any more; pages look twice a second, hidden tabs once a second."""

LOADING = 40.0
"""Seconds that the program may take to load PyTorch, and to end, besides its own budget."""

MOST_WAITING = 3
"""Measurements that may wait for the one that runs."""

KEPT = 16
"""Results that are kept for readers who ask for the same."""

_STOPPED = "Stopped: what was measured until then is kept."

Stage = Literal["waiting", "running", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a measurement is."""

    stage: Stage
    before: int
    """Measurements that come first."""
    ready: Ready | None
    """Once PyTorch is loaded."""
    readings: tuple[Reading, ...]
    left_out: tuple[LeftOut, ...]
    said: str
    """One sentence on how it ended, where it did not end well."""

    @property
    def active(self) -> bool:
        """Whether there is more to come."""
        return self.stage in ("waiting", "running")


@dataclass(eq=False)
class Job:
    """One measurement, and the readers who wait for it."""

    plan: Plan
    _owner: "Measurements"
    _looked: dict[object, float] = field(default_factory=dict)
    _stage: Stage = "waiting"
    _said: str = ""
    _ready: Ready | None = None
    _readings: list[Reading] = field(default_factory=list)
    _left_out: list[LeftOut] = field(default_factory=list)

    def look(self, reader: object) -> Progress:
        """How far it is; a reader who looks is one who waits.

        Parameters
        ----------
        reader : object
            Who looks; hashable.

        Returns
        -------
        Progress
            As of now.
        """
        with self._owner.lock:
            stage, said = self._stage, self._said
            if reader in self._looked:
                self._looked[reader] = time.monotonic()
            elif stage in ("waiting", "running"):  # one who has left does not come back by looking
                stage, said = "stopped", _STOPPED
            before = self._owner.before(self)
            return Progress(stage, before, self._ready, tuple(self._readings), tuple(self._left_out), said)

    def leave(self, reader: object) -> None:
        """Wait no longer; the measurement ends with its last reader.

        Parameters
        ----------
        reader : object
            As in `look`.
        """
        with self._owner.lock:
            self._looked.pop(reader, None)

    @property
    def total(self) -> int:
        """Reports that there will be."""
        return len(self.plan.sizes) * len(METHODS)

    def _wanted(self, patience: float) -> bool:
        with self._owner.lock:
            return any(time.monotonic() - looked < patience for looked in self._looked.values())

    def _take(self, line: str) -> None:
        try:
            report = read_report(line)
        except ValueError:
            return  # what a library prints is no report
        with self._owner.lock:
            if isinstance(report, Ready):
                self._ready = report
            elif isinstance(report, Reading):
                self._readings.append(report)
            else:
                self._left_out.append(report)

    def _end(self, stage: Stage, said: str = "") -> None:
        with self._owner.lock:
            self._stage, self._said = stage, said


class Measurements:
    """All measurements of a server.

    Parameters
    ----------
    command : sequence of str
        The program; the plan is added as its last argument.
    patience, loading : float
        As `PATIENCE` and `LOADING`.
    most_waiting : int
        As `MOST_WAITING`.
    """

    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        patience: float = PATIENCE,
        loading: float = LOADING,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self.lock = threading.RLock()
        self._command, self._patience, self._loading, self._most_waiting = command, patience, loading, most_waiting
        self._running: Job | None = None
        self._waiting: list[Job] = []
        self._finished: OrderedDict[Plan, Job] = OrderedDict()
        self._worker: threading.Thread | None = None

    def ask(self, plan: Plan, reader: object, anew: bool = False) -> Job | None:
        """A measurement for a reader: the finished one of this plan, the one under way, or a new one.

        Parameters
        ----------
        plan : Plan
            What to measure.
        reader : object
            Who asks; hashable.
        anew : bool
            Whether a finished one will not do.

        Returns
        -------
        Job or None
            None where too many are waiting already.
        """
        with self.lock:
            if plan in self._finished and not anew:
                return self._finished[plan]
            for job in (self._running, *self._waiting):
                if job is not None and job.plan == plan and job._looked:
                    job._looked[reader] = time.monotonic()
                    return job
            self._forget_the_unwanted()
            if len(self._waiting) >= self._most_waiting + (self._running is None):
                return None
            job = Job(plan, self)
            job._looked[reader] = time.monotonic()
            self._waiting.append(job)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="measurements", daemon=True)
                self._worker.start()
            return job

    def before(self, job: Job) -> int:
        """How many measurements come before one.

        Parameters
        ----------
        job : Job
            Waiting, or not.

        Returns
        -------
        int
            0 for one that does not wait.
        """
        if job not in self._waiting:
            return 0
        return self._waiting.index(job) + (self._running is not None)

    def _work(self) -> None:
        """Measure until nothing waits."""
        while True:
            with self.lock:
                self._forget_the_unwanted()
                if not self._waiting:
                    self._worker = None
                    return
                job = self._running = self._waiting.pop(0)
                job._stage = "running"
            done = False
            try:
                done = self._run(job)
            except Exception as error:  # the queue behind it must go on
                logging.getLogger(__name__).exception("a measurement could not be run")
                job._end("failed", f"The measurement could not be run: {type(error).__name__}: {error}.")
            with self.lock:
                self._running = None
                if done:
                    self._finished[job.plan] = job
                    self._finished.move_to_end(job.plan)
                    while len(self._finished) > KEPT:
                        self._finished.popitem(last=False)

    def _forget_the_unwanted(self) -> None:
        for job in [job for job in self._waiting if not job._wanted(self._patience)]:
            self._waiting.remove(job)
            job._end("stopped", _STOPPED)

    def _run(self, job: Job) -> bool:
        """Measure; whether to the end."""
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(
                [*self._command, job.plan.written()],
                cwd=ROOT,
                stdin=subprocess.PIPE,  # closes with this process, and tells the program so
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                encoding="utf-8",
                errors="replace",
                creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),  # of Windows
            )
            assert process.stdout is not None
            assert process.stdin is not None
            listener = threading.Thread(target=_listen, args=(process.stdout, job._take), daemon=True)
            listener.start()
            try:
                ended = self._watch(process, job)
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
                listener.join(timeout=5)
                process.stdin.close()
                process.stdout.close()
            if not ended:
                return False
            if process.returncode == 0:
                job._end("done")
                return True
            complaints.seek(0)
            told = complaints.read().decode("utf-8", "replace").strip()
        logging.getLogger(__name__).error("a measurement ended with %s\n%s", process.returncode, told[-2000:])
        job._end("failed", _how_it_ended(process.returncode, told, len(job._readings)))
        return False

    def _watch(self, process: "subprocess.Popen[str]", job: Job) -> bool:
        """Wait for its end; False where it was not waited for."""
        limit = time.monotonic() + job.plan.seconds + self._loading
        while True:
            try:
                process.wait(timeout=0.1)
                return True
            except subprocess.TimeoutExpired:
                pass
            if not job._wanted(self._patience):
                job._end("stopped", _STOPPED)
                return False
            if time.monotonic() > limit:
                budget = f"its budget of {job.plan.seconds:g} s and {self._loading:g} s to load PyTorch"
                job._end("failed", f"The measurement was ended: {budget} are over.")
                return False


def _listen(lines: IO[str], take: Callable[[str], None]) -> None:
    for line in lines:
        take(line)


def _how_it_ended(code: int, told: str, n_readings: int) -> str:
    """One sentence on a program that did not end well."""
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    why = told.splitlines()[-1].strip() if told else "it said nothing"
    return f"The measurement ended before it was done ({how}: {why[:200]}); readings until then: {n_readings}."


measurements = Measurements()
"""Those of this server."""
