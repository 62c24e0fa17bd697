"""Several servers at once, run from what the image has in it, with the image's own command; each can be killed."""

import os
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.browser.server import free_port
from tests.deploy.image import Image, build, command_here
from tests.deploy.nginx import Proxy, proxying

READY = "/readyz"
"""What the proxies ask."""


@dataclass
class Replica:
    """One server; started, killed and started again on the same port."""

    image: Image
    folder: Path
    port: int
    log_file: Path
    home: Path
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def address(self) -> str:
        """Past the proxy."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin; `wait` says when it answers."""
        variables = os.environ | self.image.variables | {"HOME": str(self.home), "TMPDIR": str(self.home)}
        with self.log_file.open("ab") as log:
            command = command_here(self.image, self.port)
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env=variables)

    def wait(self, path: str = READY, patience: float = 60) -> None:
        """Until it answers with 200."""
        give_up = time.monotonic() + patience
        while time.monotonic() < give_up:
            if self.process is None or self.process.poll() is not None:
                raise RuntimeError(f"the replica ended before it answered:\n{self.log()}")
            try:
                with urllib.request.urlopen(self.address + path, timeout=2) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise RuntimeError(f"the replica did not answer {path} within {patience} s:\n{self.log()}")

    def end(self, how: signal.Signals = signal.SIGTERM) -> float:
        """Send it a signal and wait for its end; seconds that took. SIGKILL leaves it no time for a last word."""
        assert self.process is not None
        begin = time.monotonic()
        self.process.send_signal(how)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return time.monotonic() - begin

    def log(self) -> str:
        """What it has printed, over all its lives."""
        return self.log_file.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class House:
    """Replicas with a proxy in front."""

    proxy: Proxy
    replicas: tuple[Replica, ...]
    folder: Path
    """The image's working folder."""


@contextmanager
def replicated(count: int = 2) -> Iterator[House]:
    """Start replicas and the proxy, wait until all answer, stop them at the end."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        folder = top / "app"
        folder.mkdir()
        image = build(folder)
        replicas = []
        for number in range(count):
            home = top / f"home_{number}"
            home.mkdir()
            replicas.append(Replica(image, folder, free_port(), top / f"replica_{number}.log", home))
        try:
            for replica in replicas:
                replica.start()
            with proxying([replica.port for replica in replicas]) as proxy:
                with ThreadPoolExecutor(count) as pool:
                    list(pool.map(Replica.wait, replicas))
                yield House(proxy, tuple(replicas), folder)
        finally:
            for replica in replicas:
                if replica.process is not None and replica.process.poll() is None:
                    replica.end()
