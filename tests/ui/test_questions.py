"""What a question leaves in a reader's session."""

import types
from functools import partial
from types import SimpleNamespace

import pytest

from ui import questions


def held_by(*roots):
    """All functions that closures, arguments and containers lead to; not what their modules hold."""
    found, waiting = set(), list(roots)
    while waiting:
        match waiting.pop():
            case types.FunctionType() as function if function not in found:
                found.add(function)
                waiting += [cell.cell_contents for cell in function.__closure__ or ()]
            case partial() as call:
                waiting += [call.func, *call.args, *call.keywords.values()]
            case tuple() | list() as items:
                waiting += items
    return found


@pytest.mark.parametrize("revealed", [False, True])
def test_a_question_keeps_no_function_of_its_page(revealed, monkeypatch):
    kept = []
    session = {"_revealed_share": ("state",), "_revealed_word": ("state",)} if revealed else {}
    asked = SimpleNamespace(fragment=lambda body: lambda *given: kept.append((body, *given)), session_state=session)
    monkeypatch.setattr(questions, "st", asked)
    pages_own = [lambda: 0.5, lambda true: f"{true}", lambda: "yes", lambda: "because"]
    questions.number("share", "Which?", (0.0, 1.0), pages_own[0], pages_own[1], ("state",))
    questions.choice("word", "Which?", ("yes", "no"), pages_own[2], pages_own[3], ("state",))
    assert len(kept) == 2
    assert held_by(kept).isdisjoint(pages_own)
    assert len(held_by(kept)) > 6
