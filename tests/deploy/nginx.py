"""nginx for the tests: where it is, how it gets there, and `deploy/nginx.conf` run by it on this computer only.

Run as a program (``python -m tests.deploy.nginx``), this file says which nginx that is, and with ``--install`` it first
installs one where that is a matter of one command: as root, on Debian or a system like it.
"""

import argparse
import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.browser.server import free_port
from tests.debian import install

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = ROOT / "deploy" / "nginx.conf"

HOW_TO = (
    "No nginx was found: install it with your system's package manager (Debian and Ubuntu: apt install nginx; "
    "macOS: brew install nginx), or set NGINX to the path of one."
)

PLACES = ("nginx", "/usr/sbin/nginx", "/usr/local/sbin/nginx", "/opt/homebrew/bin/nginx")
"""By name first; a user's PATH often lacks the folders of a system's servers."""

PORTS = ("8501", "8502")
"""Of the replicas, in the configuration."""


def find_nginx() -> str:
    """Path of the nginx to test with; nothing is started or installed.

    Raises
    ------
    RuntimeError
        If there is none, with one sentence that says how to get one; or if NGINX is set and names no program.
    """
    chosen = os.environ.get("NGINX")
    if chosen and shutil.which(chosen) is None:
        raise RuntimeError(f"NGINX is set to {chosen!r}, where no program is: correct it, or unset it.")
    for name in [chosen] if chosen else PLACES:
        path = shutil.which(name)
        if path is not None:
            return path
    raise RuntimeError(HOW_TO)


def run_here(text: str, port: int, replicas: Sequence[int], folder: Path) -> str:
    """The configuration for this computer only: other ports, and every file in one folder; all else as it is.

    Raises
    ------
    ValueError
        If a line that must be changed is not there.
    """
    changes = {
        "user www-data;": f"user {getpass.getuser()};",  # who may write into the folder
        "listen 80;": f"listen 127.0.0.1:{port};",
        "/var/log/nginx/": f"{folder}/",
        "/var/lib/nginx/": f"{folder}/",
        "/run/nginx.pid": f"{folder}/nginx.pid",
        **{f"127.0.0.1:{given} ": f"127.0.0.1:{here} " for given, here in zip(PORTS, replicas, strict=True)},
        **{f":{given}$": f":{here}$" for given, here in zip(PORTS, replicas, strict=True)},
    }
    lost = [old for old in changes if old not in text]
    if lost:
        raise ValueError(f"{CONFIGURATION.name} must have each of {sorted(changes)}; it lacks {lost}")
    for old, new in changes.items():
        text = text.replace(old, new)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    own = "".join(f"    {kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    return text.replace("\nhttp {\n", f"\nhttp {{\n{own}")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running nginx."""

    address: str
    folder: Path

    def log(self) -> str:
        """What it has noted of requests so far."""
        return (self.folder / "access.log").read_text(encoding="utf-8", errors="replace")

    def complaints(self) -> str:
        """What it has noted of errors so far."""
        return (self.folder / "error.log").read_text(encoding="utf-8", errors="replace")


@contextmanager
def proxying(replicas: Sequence[int]) -> Iterator[Proxy]:
    """Run nginx in front of servers on these ports, wait until it listens, stop it at the end."""
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        configuration = folder / "nginx.conf"
        text = run_here(CONFIGURATION.read_text(encoding="utf-8"), port, replicas, folder)
        configuration.write_text(text, encoding="utf-8")
        command = [find_nginx(), "-p", str(folder), "-c", str(configuration), "-g", "daemon off;"]
        process = subprocess.Popen([*command, "-e", str(folder / "error.log")], stderr=subprocess.PIPE, text=True)
        try:
            _wait_until_it_listens(process, port)
            yield Proxy(f"http://127.0.0.1:{port}", folder)
        finally:
            process.terminate()
            process.communicate(timeout=10)


def _wait_until_it_listens(process: "subprocess.Popen[str]", port: int, patience: float = 20) -> None:
    give_up = time.monotonic() + patience
    while time.monotonic() < give_up:
        if process.poll() is not None:
            said = process.communicate()[1]
            raise RuntimeError(f"nginx ended with {process.returncode} before it listened:\n{said}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError(f"nginx did not listen within {patience} s")


def main() -> int:
    """Print nginx's version and path, or the sentence that says how to get one; 0 if there is one."""
    parser = argparse.ArgumentParser(prog="python -m tests.deploy.nginx", description="Find the nginx of the tests.")
    parser.add_argument("--install", action="store_true", help="install it first if there is none (root, Debian)")
    may_install: bool = parser.parse_args().install
    try:
        try:
            path = find_nginx()
        except RuntimeError:
            if not may_install or os.environ.get("NGINX"):
                raise
            install("nginx (which Debian also starts as a service on port 80)", ("nginx",), HOW_TO)
            path = find_nginx()
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    version = subprocess.run([path, "-v"], text=True, capture_output=True, check=False).stderr.strip()
    print(f"Proxy for the tests: {version.removeprefix('nginx version: ')} ({path})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
