"""Programs that tests need and pip does not have: installed with apt where that is a matter of one command."""

import os
import shutil
import subprocess
from collections.abc import Sequence


def install(what: str, packages: Sequence[str], how_to: str) -> None:
    """Install Debian's packages, with apt, as root.

    Raises
    ------
    RuntimeError
        If this user or this system cannot, or if apt fails; with the sentence that says how to get it otherwise.
    """
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not root or shutil.which("apt-get") is None:
        raise RuntimeError(how_to)
    print(f"Installing {what} with apt", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(["apt-get", "-q", *command], env=quiet, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"apt-get {command[0]} failed:\n{done.stdout}{done.stderr}\n{how_to}")
