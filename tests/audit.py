"""Is a weakness known of anything that is installed here? Asks the advisories of the package index, by pip-audit.

Run by ``make audit`` and by ``make test``. pip-audit calls a package that the index has no answer for "skipped" and
ends well; here that is no pass. One package is asked first, so that a computer without a network asks no more.
"""

import argparse
import importlib.metadata
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLEAN, FOUND, NOT_DONE = 0, 1, 3
"""How the command ends."""

ASKED_FIRST = "streamlit"
PATIENCE = 300
"""Seconds for all packages."""


@dataclass(frozen=True)
class Audit:
    """What is known of some packages."""

    weak: tuple[str, ...]
    """One line a weakness."""
    skipped: tuple[str, ...]
    """Packages of which the index said nothing."""
    n_audited: int


def installed() -> dict[str, str]:
    """Every installed package with its version, without a local part: the index has no advisories of +cpu builds."""
    found = {
        distribution.metadata["Name"]: distribution.version.partition("+")[0]
        for distribution in importlib.metadata.distributions()
    }
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def read(report: str) -> Audit:
    """What a report of pip-audit says."""
    weak, skipped, n_audited = [], [], 0
    dependencies: list[dict[str, Any]] = json.loads(report)["dependencies"]
    for dependency in dependencies:
        if "skip_reason" in dependency:
            skipped.append(dependency["name"])
            continue
        n_audited += 1
        for known in dependency["vulns"]:
            mended = ", ".join(known["fix_versions"]) or "no version yet"
            weak.append(f"{dependency['name']} {dependency['version']}: {known['id']}, mended in {mended}")
    return Audit(tuple(weak), tuple(skipped), n_audited)


def ask(packages: dict[str, str]) -> Audit | None:
    """Ask for these packages; None if there was no answer at all."""
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "requirements.txt"
        pins.write_text("".join(f"{name}=={version}\n" for name, version in packages.items()), encoding="utf-8")
        options = ["--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
        command = [sys.executable, "-m", "pip_audit", "-r", str(pins), *options]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return None
    try:
        return read(done.stdout)
    except (ValueError, KeyError):
        return None


def verdict(first: Audit | None, rest: Audit | None) -> tuple[int, str]:
    """How the command ends, and what it says."""
    if first is None or rest is None or not first.n_audited:
        return NOT_DONE, "NOT AUDITED: the package index gave no advisories; whether a weakness is known is open."
    both = Audit(first.weak + rest.weak, first.skipped + rest.skipped, first.n_audited + rest.n_audited)
    unknown = f" The index knows nothing of: {', '.join(both.skipped)}." if both.skipped else ""
    if both.weak:
        return FOUND, "\n".join(["Known weaknesses:", *both.weak]) + unknown
    return CLEAN, f"{both.n_audited} packages audited, no weakness known.{unknown}"


def main(arguments: Sequence[str]) -> int:
    """Ask, say what was found, and end accordingly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--or-warn", action="store_true", help="end well where the index cannot be asked")
    options = parser.parse_args(arguments)
    packages = installed()
    first = ask({ASKED_FIRST: packages.pop(ASKED_FIRST)})
    rest = ask(packages) if first is not None and first.n_audited else None
    code, said = verdict(first, rest)
    print(said, file=sys.stderr if code else sys.stdout, flush=True)
    return CLEAN if code == NOT_DONE and options.or_warn else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
