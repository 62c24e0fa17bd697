"""Long work for readers: one program at a time on this server, each in a process of its own, ended when nobody waits.

Knows nothing of Streamlit. A reader's page shows that somebody waits by looking at the job again and again; a tab that
was closed, another page, a lost connection all look alike from here: nobody has looked for some seconds.
"""

import logging
import subprocess
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

ROOT = Path(__file__).resolve().parents[1]

PATIENCE = 8.0
"""Seconds without a look after which nobody waits any more; pages look twice a second, hidden tabs once a second."""

MOST_WAITING = 3
"""Programs that may wait for the one that runs."""

KEPT = 24
"""Results that are kept for readers who ask for the same."""

Stage = Literal["waiting", "running", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Program:
    """What is to run; programs that ask for the same share a result."""

    asks: Hashable
    """For what; the only part that two programs are compared by."""
    command: tuple[str, ...] = field(compare=False)
    read: Callable[[str], object] = field(compare=False)
    """One line of its standard output to a report; ValueError for a line that is none."""
    seconds: float = field(compare=False)
    """After which it is ended."""
    name: str = field(default="work", compare=False)
    """For sentences: "measurement"."""
    parts: str = field(default="reports", compare=False)
    """What its reports count: "readings"."""
    counts: Callable[[object], bool] = field(default=lambda report: True, compare=False)
    """Which reports are counted in a sentence on how it ended."""
    limit: str = field(default="its time is", compare=False)
    """What is over when it is ended, with its verb."""
    stopped: str = field(default="Stopped.", compare=False)
    """Said when nobody waited any more."""


@dataclass(frozen=True, slots=True)
class Look:
    """How far a program is."""

    stage: Stage
    before: int
    """Programs that come first."""
    reports: tuple[Any, ...]
    said: str
    """One sentence on how it ended, where it did not end well."""

    @property
    def active(self) -> bool:
        """Whether there is more to come."""
        return self.stage in ("waiting", "running")


@dataclass(eq=False)
class Job:
    """One program, and the readers who wait for it."""

    program: Program
    _owner: "Queue"
    _looked: dict[object, float] = field(default_factory=dict)
    _stage: Stage = "waiting"
    _said: str = ""
    _reports: list[Any] = field(default_factory=list)

    def look_at(self, reader: object) -> Look:
        """How far it is; a reader who looks is one who waits.

        Parameters
        ----------
        reader : object
            Who looks; hashable.

        Returns
        -------
        Look
            As of now.
        """
        with self._owner.lock:
            stage, said = self._stage, self._said
            if reader in self._looked:
                self._looked[reader] = time.monotonic()
            elif stage in ("waiting", "running"):  # one who has left does not come back by looking
                stage, said = "stopped", self.program.stopped
            return Look(stage, self._owner.before(self), tuple(self._reports), said)

    def leave(self, reader: object) -> None:
        """Wait no longer; the program ends with its last reader.

        Parameters
        ----------
        reader : object
            As in `look_at`.
        """
        with self._owner.lock:
            self._looked.pop(reader, None)

    def _wanted(self, patience: float) -> bool:
        with self._owner.lock:
            return any(time.monotonic() - looked < patience for looked in self._looked.values())

    def _take(self, line: str) -> None:
        try:
            report = self.program.read(line)
        except ValueError:
            return  # what a library prints is no report
        with self._owner.lock:
            self._reports.append(report)

    def _end(self, stage: Stage, said: str = "") -> None:
        with self._owner.lock:
            self._stage, self._said = stage, said


class Queue:
    """All long work of a server.

    Parameters
    ----------
    patience : float
        As `PATIENCE`.
    most_waiting : int
        As `MOST_WAITING`.
    """

    def __init__(self, patience: float = PATIENCE, most_waiting: int = MOST_WAITING) -> None:
        self.lock = threading.RLock()
        self._patience, self._most_waiting = patience, most_waiting
        self._running: Job | None = None
        self._waiting: list[Job] = []
        self._finished: OrderedDict[Program, Job] = OrderedDict()
        self._worker: threading.Thread | None = None

    def ask(self, program: Program, reader: object, anew: bool = False, kind: type[Job] = Job) -> Job | None:
        """A job for a reader: the finished one of such a program, the one under way, or a new one.

        Parameters
        ----------
        program : Program
            What to run.
        reader : object
            Who asks; hashable.
        anew : bool
            Whether a finished one will not do.
        kind : type
            Of a new job.

        Returns
        -------
        Job or None
            None where too many are waiting already.
        """
        with self.lock:
            if program in self._finished and not anew:
                return self._finished[program]
            for job in (self._running, *self._waiting):
                if job is not None and job.program == program and job._looked:
                    job._looked[reader] = time.monotonic()
                    return job
            self._forget_the_unwanted()
            if len(self._waiting) >= self._most_waiting + (self._running is None):
                return None
            job = kind(program, self)
            job._looked[reader] = time.monotonic()
            self._waiting.append(job)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="background-programs", daemon=True)
                self._worker.start()
            return job

    def finished(self, program: Program) -> Job | None:
        """The job of such a program that came to its end, where it is still kept.

        Parameters
        ----------
        program : Program
            What was run.

        Returns
        -------
        Job or None
            None where there is none.
        """
        with self.lock:
            return self._finished.get(program)

    def before(self, job: Job) -> int:
        """How many programs come before one.

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
        """Run programs until none waits."""
        while True:
            with self.lock:
                self._forget_the_unwanted()
                if not self._waiting:
                    self._worker = None
                    return
                job = self._running = self._waiting.pop(0)
                job._stage = "running"
            done, name = False, job.program.name
            try:
                done = self._run(job)
            except Exception as error:  # the queue behind it must go on
                logging.getLogger(__name__).exception("a %s could not be run", name)
                job._end("failed", f"The {name} could not be run: {type(error).__name__}: {error}.")
            with self.lock:
                self._running = None
                if done:
                    self._finished[job.program] = job
                    self._finished.move_to_end(job.program)
                    while len(self._finished) > KEPT:
                        self._finished.popitem(last=False)

    def _forget_the_unwanted(self) -> None:
        for job in [job for job in self._waiting if not job._wanted(self._patience)]:
            self._waiting.remove(job)
            job._end("stopped", job.program.stopped)

    def _run(self, job: Job) -> bool:
        """Run a program; whether to its end."""
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(
                job.program.command,
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
        logging.getLogger(__name__).error("a %s ended with %s\n%s", job.program.name, process.returncode, told[-2000:])
        job._end("failed", _how_it_ended(process.returncode, told, job))
        return False

    def _watch(self, process: "subprocess.Popen[str]", job: Job) -> bool:
        """Wait for its end; False where it was not waited for."""
        program = job.program
        limit = time.monotonic() + program.seconds
        while True:
            try:
                process.wait(timeout=0.1)
                return True
            except subprocess.TimeoutExpired:
                pass
            if not job._wanted(self._patience):
                job._end("stopped", program.stopped)
                return False
            if time.monotonic() > limit:
                job._end("failed", f"The {program.name} was ended: {program.limit} over.")
                return False


def _listen(lines: IO[str], take: Callable[[str], None]) -> None:
    for line in lines:
        take(line)


def _how_it_ended(code: int, told: str, job: Job) -> str:
    """One sentence on a program that did not end well."""
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    why = told.splitlines()[-1].strip() if told else "it said nothing"
    count = sum(map(job.program.counts, job._reports))
    name, parts = job.program.name, job.program.parts
    return f"The {name} ended before it was done ({how}: {why[:200]}); {parts} until then: {count}."


queue = Queue()
"""That of this server."""
