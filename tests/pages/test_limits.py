"""What a reader can put in has an end: every box and every number, in the source; and nothing calls another host."""

import ast
import socket

import pytest

from tests.pages.reading import ROOT

SOURCES = [
    path for folder in ("ui", "pages") for path in sorted((ROOT / folder).rglob("*.py")) if "sources" not in path.parts
]
UNBOUNDED = {
    *("text_area", "chat_input", "file_uploader", "camera_input", "audio_input", "data_editor", "date_input"),
    *("time_input", "datetime_input", "login", "color_picker"),
}
"""Widgets without a limit that the test below would see; the dashboard uses none of them."""


def calls(path):
    """Name, number of plain arguments and named arguments of every call of an attribute."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            starred = sum(isinstance(argument, ast.Starred) for argument in node.args)  # a pair of bounds
            yield node.func.attr, len(node.args) + starred, {word.arg for word in node.keywords}


@pytest.mark.parametrize("path", SOURCES, ids=[path.relative_to(ROOT).as_posix() for path in SOURCES])
def test_every_input_is_written_with_its_limits(path):
    for name, plain, named in calls(path):
        assert name not in UNBOUNDED, name
        assert name != "text_input" or "max_chars" in named
        assert name != "number_input" or plain >= 3 or {"min_value", "max_value"} <= named
        assert "accept_new_options" not in named, name


def test_the_guard_of_these_tests_lets_nobody_call_another_host(calls_elsewhere):
    with socket.socket() as caller, pytest.raises(ConnectionRefusedError, match=r"another host; got 192\.0\.2\.1"):
        caller.connect(("192.0.2.1", 80))
    with pytest.raises(ConnectionRefusedError, match=r"another host; got example\.org"):
        socket.create_connection(("example.org", 80))
    assert calls_elsewhere == ["192.0.2.1", "example.org"]
    calls_elsewhere.clear()
