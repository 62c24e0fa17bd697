"""What is kept of a training: its curves, a film of one sequence's attention, and what was learned at the end."""

import base64
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.softmax import Floats
from core.training.model import Integers, Parameters

FOLDER = Path(__file__).parent / "saved"
SHOWN_SEED = 0
"""Seed of the runs that are saved."""
LEVELS = 255
"""Weights of a film are kept as whole numbers up to this one."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A model in the middle of its training."""

    step: int
    losses: tuple[float, ...]
    """Of the steps since the snapshot before, in nats a target."""
    accuracy: float
    """Share of right answers on fresh sequences."""
    masses: tuple[float, ...]
    """For each picture, the mean weight on the cells that should light up, on fresh sequences."""
    entropy: float
    """Mean entropy of the first picture's rows on fresh sequences, in nats."""
    gradient: float
    """Norm of the loss's gradient at what the first layer's softmax reads, on one batch."""
    pictures: Floats
    """(picture, query, key): weights of the probe."""
    written: Integers
    """(position,): what the model answers to the probe."""
    parameters: Parameters
    """What was learned so far, in single precision."""


@dataclass(frozen=True, slots=True)
class Film:
    """A training from its beginning to where it is."""

    task: str
    seed: int
    steps: Integers
    """(snapshot,): steps done."""
    losses: NDArray[np.float32]
    """(step,)."""
    accuracy: NDArray[np.float32]
    """(snapshot,)."""
    masses: NDArray[np.float32]
    """(snapshot, picture); NaN where no cell should light up."""
    entropy: NDArray[np.float32]
    """(snapshot,)."""
    gradient: NDArray[np.float32]
    """(snapshot,)."""
    pictures: NDArray[np.uint8]
    """(snapshot, picture, query, key): weights of the probe, 255 for 1."""
    written: NDArray[np.uint8]
    """(snapshot, position)."""
    parameters: Mapping[str, NDArray[np.float16]]
    """What was learned at the end; empty before."""
    machine: str = ""
    """On which processor and with which PyTorch it was made."""

    def weights(self, snapshot: int) -> Floats:
        """The probe's attention at a snapshot.

        Parameters
        ----------
        snapshot : int
            Its number.

        Returns
        -------
        ndarray of shape (picture, query, key)
            Within 1 / 510 of what the model computed.
        """
        return np.asarray(self.pictures[snapshot] / LEVELS)

    @property
    def done(self) -> bool:
        """Whether the training came to its end."""
        return bool(self.parameters)


_PREFIX = "learned "


def film(task: str, seed: int, snapshots: Iterable[Snapshot], last: bool, machine: str = "") -> Film:
    """Put snapshots together.

    Parameters
    ----------
    task, seed : str, int
        What was trained.
    snapshots : iterable of Snapshot
        From the first, at least one.
    last : bool
        Whether the training has ended.
    machine : str
        On which it was made.

    Returns
    -------
    Film
        Rounded as it is kept: a run that was just made and a saved one look alike.

    Examples
    --------
    >>> one = Snapshot(0, (), 0.5, (0.1,), 1.0, 0.0, np.ones((1, 1, 1)), np.array([3]), {"w": np.ones(2)})
    >>> film("reverse", 0, [one], last=True).pictures.tolist()
    [[[[255]]]]
    """
    shots = list(snapshots)
    return Film(
        task,
        seed,
        np.array([shot.step for shot in shots]),
        np.array([loss for shot in shots for loss in shot.losses], dtype=np.float32),
        np.array([shot.accuracy for shot in shots], dtype=np.float32),
        np.array([shot.masses for shot in shots], dtype=np.float32),
        np.array([shot.entropy for shot in shots], dtype=np.float32),
        np.array([shot.gradient for shot in shots], dtype=np.float32),
        np.array([np.rint(shot.pictures * LEVELS) for shot in shots]).astype(np.uint8),
        np.array([shot.written for shot in shots]).astype(np.uint8),
        {name: array.astype(np.float16) for name, array in shots[-1].parameters.items()} if last else {},
        machine,
    )


def to_bytes(kept: Film) -> bytes:
    """A film as a file.

    Parameters
    ----------
    kept : Film
        What is to be kept.

    Returns
    -------
    bytes
        NPZ without pickled objects.

    Examples
    --------
    >>> one = Snapshot(0, (), 0.5, (0.1,), 1.0, 0.0, np.ones((1, 1, 1)), np.array([3]), {"w": np.ones(2)})
    >>> from_bytes(to_bytes(film("reverse", 7, [one], last=True))).seed
    7
    """
    arrays = {field.name: np.asarray(getattr(kept, field.name)) for field in fields(kept) if field.name != "parameters"}
    arrays |= {_PREFIX + name: array for name, array in kept.parameters.items()}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # its stub takes any keyword for its own
    return file.getvalue()


def from_bytes(file: bytes) -> Film:
    """A film from its file.

    Parameters
    ----------
    file : bytes
        From `to_bytes`.

    Returns
    -------
    Film
        The same film.

    Examples
    --------
    >>> from_bytes(to_bytes(saved("reverse"))).accuracy[-1] == saved("reverse").accuracy[-1]
    np.True_
    """
    with np.load(io.BytesIO(file), allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    learned = {name.removeprefix(_PREFIX): array for name, array in found.items() if name.startswith(_PREFIX)}
    rest = {name: array for name, array in found.items() if not name.startswith(_PREFIX)}
    texts = {"task": str(rest["task"]), "seed": int(rest["seed"]), "machine": str(rest["machine"])}
    return Film(**{**rest, **texts}, parameters=learned)


def path_of(task: str, seed: int = SHOWN_SEED) -> Path:
    """Where a run is saved.

    Parameters
    ----------
    task, seed : str, int
        What was trained.

    Returns
    -------
    Path
        In the repository.

    Examples
    --------
    >>> path_of("reverse").name
    'reverse-0.npz'
    """
    return FOLDER / f"{task}-{seed}.npz"


def saved(task: str, seed: int = SHOWN_SEED) -> Film:
    """A run of the repository, made by ``python -m core.training.make_saved``.

    Parameters
    ----------
    task, seed : str, int
        What was trained.

    Returns
    -------
    Film
        With what was learned; the same object every time.

    Raises
    ------
    FileNotFoundError
        There is none of this task and seed.

    Examples
    --------
    >>> saved("reverse").steps[-1]
    np.int64(300)
    """
    return _read(task, seed)


@lru_cache(maxsize=32)
def _read(task: str, seed: int) -> Film:
    return from_bytes(path_of(task, seed).read_bytes())


_ARRAYS = ("pictures", "written")


def write_line(shot: Snapshot, last: bool) -> str:
    """A snapshot as one line, from one process to another.

    Parameters
    ----------
    shot : Snapshot
        What is to be told.
    last : bool
        Whether it is the last one, which carries what was learned.

    Returns
    -------
    str
        JSON without a line break.

    Examples
    --------
    >>> one = Snapshot(3, (2.5,), 0.5, (0.1,), 1.0, 0.0, np.ones((1, 1, 1)), np.array([3]), {"w": np.ones(2)})
    >>> read_line(write_line(one, last=True)).parameters["w"].tolist()
    [1.0, 1.0]
    """
    arrays = {"pictures": shot.pictures, "written": shot.written}
    if last:
        arrays |= {_PREFIX + name: array for name, array in shot.parameters.items()}
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]  # its stub takes any keyword for its own
    numbers = {field.name: getattr(shot, field.name) for field in fields(shot) if field.name not in _ARRAYS}
    del numbers["parameters"]
    return json.dumps({**numbers, "arrays": base64.b64encode(file.getvalue()).decode()})


def read_line(line: str) -> Snapshot:
    """A snapshot from its line.

    Parameters
    ----------
    line : str
        From `write_line`.

    Returns
    -------
    Snapshot
        Without parameters, unless it is the last one.

    Raises
    ------
    ValueError
        The line is no snapshot.

    Examples
    --------
    >>> read_line("Warning: something")
    Traceback (most recent call last):
    ...
    ValueError: wanted a snapshot of a training; got 'Warning: something'
    """
    try:
        found = json.loads(line)
        with np.load(io.BytesIO(base64.b64decode(found.pop("arrays"))), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        learned = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
        found |= {"losses": tuple(found["losses"]), "masses": tuple(found["masses"])}
        return Snapshot(**found, pictures=arrays["pictures"], written=arrays["written"], parameters=learned)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"wanted a snapshot of a training; got {line.strip()[:80]!r}") from error
