"""What is installed is what is pinned; what an audit says; and no audit is taken for a pass that was none."""

import importlib.metadata
import json
import re
import sys
from pathlib import Path

import pytest

from tests import audit

ROOT = Path(__file__).resolve().parents[1]

CLEAN = '{"dependencies": [{"name": "streamlit", "version": "1.67.0", "vulns": []}], "fixes": []}'
SKIPPED = '{"dependencies": [{"name": "streamlit", "skip_reason": "not found"}], "fixes": []}'
WEAK = json.dumps(
    {"dependencies": [{"name": "x", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2", "3"]}]}]}
)


@pytest.mark.parametrize(
    ("first", "rest", "code", "said"),
    [
        (CLEAN, CLEAN, audit.CLEAN, "2 packages audited, no weakness known."),
        (CLEAN, SKIPPED, audit.CLEAN, "1 packages audited, no weakness known. The index knows nothing of: streamlit."),
        (CLEAN, WEAK, audit.FOUND, "Known weaknesses:\nx 1: PYSEC-1, mended in 2, 3"),
        (SKIPPED, CLEAN, audit.NOT_DONE, "NOT AUDITED: the package index gave no advisories"),
        (None, None, audit.NOT_DONE, "NOT AUDITED"),
        (CLEAN, None, audit.NOT_DONE, "NOT AUDITED"),
    ],
)
def test_verdict_of_an_audit(first: str | None, rest: str | None, code: int, said: str) -> None:
    found = audit.verdict(*(None if report is None else audit.read(report) for report in (first, rest)))
    assert found[0] == code
    assert found[1].startswith(said)


@pytest.mark.parametrize(("options", "code"), [([], audit.NOT_DONE), (["--or-warn"], 0)])
def test_without_an_answer_only_one_package_is_asked_for(
    options: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []
    monkeypatch.setattr(audit, "ask", lambda packages: asked.append(packages))
    assert audit.main(options) == code
    assert [list(packages) for packages in asked] == [["streamlit"]]
    assert capsys.readouterr().err.startswith("NOT AUDITED")


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_what_is_installed_is_what_is_pinned(file: str) -> None:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith(("#", "-"))]
    assert len(pins) >= 8
    for pin in pins:
        name, version, condition = re.fullmatch(
            r"([A-Za-z0-9-]+)==([^\s;]+)(?:; sys_platform != \"(\w+)\")?", pin
        ).groups()
        if condition == sys.platform:
            continue
        assert importlib.metadata.version(name).partition("+")[0] == version, name
