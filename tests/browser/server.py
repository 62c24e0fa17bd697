"""The real server: the command that a developer types, on a free port, with its log at hand."""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Server:
    """A running dashboard."""

    address: str
    log_file: Path
    pid: int
    started: float
    """When its process was started, in seconds of `time.time`."""
    answered: float
    """When it first answered."""

    def log(self) -> str:
        """What it has printed so far, errors too."""
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def complaints(self) -> str:
        """All of the log if there is a traceback, an error or a warning in it; else nothing."""
        return complaints_in(self.log())


def complaints_in(log: str) -> str:
    """All of what a server has printed if there is a traceback, an error or a warning in it; else nothing."""
    # A tab that is closed while the server speaks to it is no error of ours.
    lines = [line for line in log.splitlines() if "WebSocketClosedError" not in line]
    return log if re.search(r"Traceback|Error\b|[Ww]arning|exception=", "\n".join(lines)) else ""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(
    root: Path = ROOT,
    patience: float = 60,
    script: str = "streamlit_app.py",
    environment: Mapping[str, str] | None = None,
    port: int | None = None,
) -> Iterator[Server]:
    """Start the dashboard, wait until it answers, stop it at the end."""
    port = free_port() if port is None else port
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.address", "127.0.0.1"]
    # A file that is edited while the tests run must not change the process that is tested.
    options = ["--server.port", str(port), "--server.headless", "true", "--server.fileWatcherType", "none"]
    with tempfile.TemporaryDirectory() as folder:
        log_file = Path(folder) / "server.log"
        with log_file.open("wb") as log:
            started = time.time()
            process = subprocess.Popen(
                [*command, *options],
                cwd=root,
                stdout=log,
                stderr=log,
                env=os.environ | {"PYTHONUNBUFFERED": "1"} | dict(environment or {}),
            )
            try:
                _wait_until_healthy(process, address, log_file, patience)
                yield Server(address, log_file, process.pid, started, time.time())
            finally:
                _stop(process)


def _wait_until_healthy(process: subprocess.Popen[bytes], address: str, log_file: Path, patience: float) -> None:
    give_up = time.monotonic() + patience
    while time.monotonic() < give_up:
        if process.poll() is not None:
            log = log_file.read_text(encoding="utf-8", errors="replace")
            raise RuntimeError(f"the server ended with {process.returncode} before it answered:\n{log}")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
    log = log_file.read_text(encoding="utf-8", errors="replace")
    raise RuntimeError(f"the server did not answer within {patience} s:\n{log}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
