"""Whether this process should be sent readers: it is starting, ready, stopping, or could not get ready."""

import threading
from collections.abc import Callable
from enum import Enum


class State(Enum):
    """Where a process is between its start and its end."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPING = "stopping"


class Readiness:
    """State of one process, read by the readiness route; safe to change from any thread.

    Examples
    --------
    >>> readiness = Readiness()
    >>> readiness.state.value
    'starting'
    >>> readiness.prepare(lambda: None)
    >>> readiness.state.value
    'ready'
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may come while its own thread holds it
        self._state = State.STARTING

    @property
    def state(self) -> State:
        """The present state."""
        return self._state

    def prepare(self, work: Callable[[], None]) -> None:
        """Do what must be done before the first reader comes, then be ready.

        Parameters
        ----------
        work : callable
            Whatever it raises is raised again, and the process will never be ready: a build that cannot even
            prepare itself must not be sent readers.
        """
        try:
            work()
        except BaseException:
            self._become(State.FAILED)
            raise
        self._become(State.READY)

    def stop(self) -> None:
        """Be ready no more: the process ends soon."""
        self._become(State.STOPPING)

    def _become(self, state: State) -> None:
        with self._lock:
            if self._state is not State.STOPPING:  # whoever stops stays stopping, though its preparation ends meanwhile
                self._state = state


PROCESS = Readiness()
"""That of this process."""
