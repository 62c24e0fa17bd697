"""Measurements for readers: programs of `ui.background` that report readings.

Knows nothing of Streamlit.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from core.measurement.plan import METHODS, LeftOut, Plan, Reading, Ready, read_report
from ui.background import MOST_WAITING, PATIENCE, Job, Look, Program, Queue, queue

COMMAND = (sys.executable, "-m", "core.measurement.program")

LOADING = 40.0
"""Seconds that the program may take to load PyTorch, and to end, besides its own budget."""


@dataclass(frozen=True, slots=True)
class Progress(Look):
    """How far a measurement is."""

    @property
    def ready(self) -> Ready | None:
        """Once PyTorch is loaded."""
        return next((report for report in self.reports if isinstance(report, Ready)), None)

    @property
    def readings(self) -> tuple[Reading, ...]:
        """What was measured so far."""
        return tuple(report for report in self.reports if isinstance(report, Reading))

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What was not, and why."""
        return tuple(report for report in self.reports if isinstance(report, LeftOut))


class Measurement(Job):
    """One measurement, and the readers who wait for it."""

    @property
    def plan(self) -> Plan:
        """What is measured."""
        asks = self.program.asks
        assert isinstance(asks, Plan)
        return asks

    @property
    def total(self) -> int:
        """Reports that there will be."""
        return len(self.plan.sizes) * len(METHODS)

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
        seen = self.look_at(reader)
        return Progress(seen.stage, seen.before, seen.reports, seen.said)


class Measurements:
    """All measurements of a server, in the queue of all its long work.

    Parameters
    ----------
    command : sequence of str
        The program; the plan is added as its last argument.
    patience, most_waiting : float, int
        Of a queue of its own, where none is given.
    loading : float
        As `LOADING`.
    among : Queue or None
        The queue to stand in.
    """

    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        patience: float = PATIENCE,
        loading: float = LOADING,
        most_waiting: int = MOST_WAITING,
        among: Queue | None = None,
    ) -> None:
        self._command, self._loading = tuple(command), loading
        self.queue = Queue(patience, most_waiting) if among is None else among

    def ask(self, plan: Plan, reader: object, anew: bool = False) -> Measurement | None:
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
        Measurement or None
            None where too many are waiting already.
        """
        program = Program(
            asks=plan,
            command=(*self._command, plan.written()),
            read=read_report,
            seconds=plan.seconds + self._loading,
            name="measurement",
            parts="readings",
            counts=lambda report: isinstance(report, Reading),
            limit=f"its budget of {plan.seconds:g} s and {self._loading:g} s to load PyTorch are",
            stopped="Stopped: what was measured until then is kept.",
        )
        job = self.queue.ask(program, reader, anew, Measurement)
        assert job is None or isinstance(job, Measurement)
        return job


measurements = Measurements(among=queue)
"""Those of this server."""
