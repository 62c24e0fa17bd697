"""Does every pin have a wheel for every Python and system that the README promises? A maintainer's question.

Run it before a pin moves, with ``make check-pins``; it asks the package index, so it is no test. For each Python
and system it lets a new pip resolve the requirements, dependencies included, with nothing built and nothing
installed. Of a wheel only the description is fetched, so PyTorch costs kilobytes.

pip can be told for which system it picks wheels, but it judges the markers of dependencies
(``; platform_system == "Linux"``) by the machine it runs on. `PIP_ELSEWHERE` tells it otherwise.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PYTHONS = ("3.11", "3.12", "3.13", "3.14")  # as in the Makefile

# pip, with markers judged by the variables of another system, given as JSON in the first argument.
PIP_ELSEWHERE = """
import json, sys
from pip._vendor.packaging import markers
elsewhere = json.loads(sys.argv.pop(1))
variables = {**markers.default_environment(), **elsewhere}
markers.default_environment = lambda: dict(variables)
if not all(markers.Marker(f'{name} == "{value}"').evaluate() for name, value in elsewhere.items()):
    sys.exit("This pip judges markers in another way than tests/check_pins.py knows.")
from pip._internal.cli.main import main
sys.exit(main())
"""


@dataclass(frozen=True)
class System:
    """An operating system and processor, in the words of wheels and of markers."""

    name: str
    tags: tuple[str, ...]  # of `pip --platform`
    markers: dict[str, str]


SYSTEMS = (
    System(
        "Linux x86_64, glibc 2.28",
        ("manylinux2014_x86_64", *(f"manylinux_2_{minor}_x86_64" for minor in range(28, 16, -1))),
        {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"},
    ),
    System(
        "macOS 14 arm64",
        ("macosx_14_0_arm64",),  # pip adds the older ones
        {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"},
    ),
    System(
        "Windows amd64",
        ("win_amd64",),
        {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"},
    ),
)


def make_pip(folder: Path) -> Path:
    """Python of a new virtual environment with the newest pip.

    Parameters
    ----------
    folder : Path
        Where the environment is made.

    Returns
    -------
    Path
        The environment's interpreter.
    """
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    subprocess.run([python, "-m", "pip", "install", "-qq", "--upgrade", "pip"], check=True)
    return python


def resolve(pip_python: Path, requirements: Path, version: str, system: System) -> tuple[list[str], str]:
    """Wheels that pip would install for one Python on one system.

    Parameters
    ----------
    pip_python : Path
        An interpreter with a new pip.
    requirements : Path
        The file of pins.
    version : str
        A Python version such as ``"3.12"``.
    system : System
        The system to install for.

    Returns
    -------
    wheels : list of str
        File names of the wheels of the file's own pins; empty if pip found no way.
    trouble : str
        pip's error, or ``""``.
    """
    variables = {**system.markers, "python_version": version, "python_full_version": f"{version}.0"}
    platforms = [word for tag in system.tags for word in ("--platform", tag)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        # fast-deps: read the description out of a wheel in place, where the index does not offer it apart.
        command = [
            *(str(pip_python), "-c", PIP_ELSEWHERE, json.dumps(variables)),
            *("install", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--use-feature", "fast-deps"),
            *("--retries", "1", "--python-version", version, *platforms, "--target", folder),
            *("--report", str(report), "-r", str(requirements)),
        ]
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
            return [], "\n".join(errors) or done.stderr.strip() or f"pip ended with status {done.returncode}"
        chosen = json.loads(report.read_text(encoding="utf-8"))["install"]
    return sorted(item["download_info"]["url"].rpartition("/")[2] for item in chosen if item["requested"]), ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line for each Python and system; 0 only if the pins can be installed on all of them."""
    parser = argparse.ArgumentParser(description="Check that the pins have wheels for every Python and system.")
    parser.add_argument("requirements", nargs="?", type=Path, default=ROOT / "requirements.txt")
    parser.add_argument("--python", nargs="+", default=PYTHONS, metavar="VERSION", help="default: 3.11 to 3.14")
    parser.add_argument("--wheels", action="store_true", help="name the wheels of the pins")
    options = parser.parse_args(arguments)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        pip_python = make_pip(Path(folder))
        for version in options.python:
            for system in SYSTEMS:
                wheels, trouble = resolve(pip_python, options.requirements, version, system)
                failures += bool(trouble)
                print(f"{'FAILS' if trouble else 'ok':5}  Python {version}  {system.name}", flush=True)
                for line in trouble.splitlines() if trouble else wheels if options.wheels else []:
                    print(f"       {line}", flush=True)
    print(f"{failures} of {len(options.python) * len(SYSTEMS)} combinations fail" if failures else "All pins resolve.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
