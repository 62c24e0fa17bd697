"""A small part of `make fuzz`, the same in every run; and that its oracles see what they are for."""

import logging

import numpy as np
import pytest
import streamlit as st
from streamlit.runtime.scriptrunner.script_cache import ScriptCache

from tests.fuzz import oracles, run_links, run_raw, run_sequences, strategies
from tests.fuzz.links import Link, shortest
from tests.fuzz.visits import Action, compile_once, do_all, visit


@pytest.fixture(autouse=True)
def quiet():
    """A fault is told by the test and not by Streamlit's log as well; scripts are compiled once, as on the server."""
    logger, read = logging.getLogger("streamlit"), ScriptCache.get_bytecode
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    compile_once()
    yield
    logger.setLevel(before)
    ScriptCache.get_bytecode = read


def test_links():
    found = run_links.run(30, 1)
    assert found.failures == {}
    assert found.done >= 30


def test_sequences():
    found = run_sequences.run(6, 1)
    assert found.failures == {}
    assert found.runs >= 16


def test_a_number_that_is_none_is_seen(monkeypatch):
    """In a page's prose and in its matrices; a reader's own word of that name is none."""
    named = visit(Link("query_key_value", (("text", ("nan inf dog",)),)))
    assert oracles.faults(named) == []
    name, (values, *axes) = next(iter(named.record.matrices.items()))
    named.record.matrices = dict(named.record.matrices) | {name: (np.full_like(values, np.nan), *axes)}
    assert oracles.faults(named) == [f"not a number in the matrix {name!r}"]
    monkeypatch.setattr("ui.frame.provenance", lambda text: st.html("<p>The mean is nan.</p>"))
    assert oracles.faults(visit(Link("scaling_sweep"))) == ["not a number in 'The mean is nan.'"]


def test_a_parameter_that_was_dropped_in_silence_is_seen(monkeypatch):
    link = Link("causal_mask", (("d", ("65",)), ("n_key", ("nan",))))
    assert oracles.unheard(visit(link)) == []
    monkeypatch.setattr("ui.controls.show_notices", lambda: None)
    assert [fault.split("=")[0] for fault in oracles.unheard(visit(link))] == [
        "neither used nor named: d",
        "neither used nor named: n_key",
    ]


def test_a_link_that_shows_other_numbers_is_seen():
    seen = do_all(Link("causal_mask"), [Action("d", ["5"], "select_slider"), Action("causal", False, "toggle")])
    assert run_sequences.shared(seen) == []
    del seen.record.link["causal"]
    assert any("differs after the link" in fault for fault in run_sequences.shared(seen))


def test_the_shortest_link_keeps_what_fails():
    link = Link("home", (("a", ("x",)), ("text", ("some words and more",)), ("d", ("1", "2"))))
    assert shortest(link, lambda one: "w" in "".join(one.parameters.get("text", []))).query == (("text", ("w",)),)


def test_every_control_of_the_lessons_is_drawn_from():
    for name, controls in strategies.controls().items():
        assert {"text", "d", "heads", "seed", "queries_in"} <= set(controls), name


def test_a_slow_answer_of_a_busy_machine_is_no_fault_of_the_server(monkeypatch):
    load = {"busy": (9.0, 0.0, 0.0), "quiet": (0.5, 0.0, 0.0)}
    for seconds, computed, told in (
        (1.9, 1.9, []),
        (5.0, 0.3, ["quiet"]),  # it waited for a processor, or for something of its own
        (5.0, 2.1, ["busy", "quiet"]),
    ):
        found = []
        for name, averages in load.items():
            monkeypatch.setattr(run_raw.os, "getloadavg", lambda averages=averages: averages)
            found += [name] if run_raw.too_long(seconds, computed) else []
        assert found == told, (seconds, computed)
    assert not run_raw.too_long(5.0, 5.0, limit=8.0)
