"""Two addresses for machines: is the process alive, and should it be sent readers."""

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from server.readiness import PROCESS, State

ALIVE, READY = "healthz", "readyz"
"""Paths, without the slash; no page may be called so."""


async def alive(request: Request) -> JSONResponse:
    """Answer as long as the process can answer at all.

    Parameters
    ----------
    request : Request
        Nothing of it is read.

    Returns
    -------
    JSONResponse
        Always 200.
    """
    return _state("alive", 200)


async def ready(request: Request) -> JSONResponse:
    """Say whether a proxy should send readers here.

    Parameters
    ----------
    request : Request
        Nothing of it is read.

    Returns
    -------
    JSONResponse
        200 when ready, else 503; the state by name in both cases.
    """
    state = PROCESS.state
    return _state(state.value, 200 if state is State.READY else 503)


def _state(name: str, status: int) -> JSONResponse:
    return JSONResponse({"state": name}, status, {"Cache-Control": "no-store"})


ROUTES = [Route(f"/{ALIVE}", alive), Route(f"/{READY}", ready)]
"""For `st.App`."""
