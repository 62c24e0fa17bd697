"""The view of a link: what it asks for, what cannot be used, and the style sheet that it becomes."""

import re

import pytest

from tests.pages.reading import PAGES
from ui.controls import SHARED, hideable
from ui.pages import HOME
from ui.pages import PAGES as LESSON
from ui.view import View, from_link, style

KNOWN = ("d", "seed", "sidebar", "step")
WRONG_NAMES = {"hide": "names of controls: d, seed, sidebar, step"}


@pytest.mark.parametrize(
    ("link", "view", "wrong"),
    [
        ({}, View(), {}),
        ({"d": ["7"], "text": ["present=1"]}, View(), {}),
        ({"present": ["1"]}, View(True), {}),
        ({"present": ["0"]}, View(), {}),
        ({"present": ["yes"]}, View(), {"present": "1 or 0"}),
        ({"present": [""]}, View(), {"present": "1 or 0"}),
        ({"present": ["1", "1"]}, View(), {"present": "1 or 0"}),
        ({"present": ["true"]}, View(), {"present": "1 or 0"}),
        ({"hide": ["d", "seed"]}, View(hidden=frozenset({"d", "seed"})), {}),
        ({"hide": ["seed,d"]}, View(hidden=frozenset({"d", "seed"})), {}),
        ({"hide": ["seed,step", "d", "d"]}, View(hidden=frozenset({"d", "seed", "step"})), {}),
        ({"hide": ["moon"]}, View(), WRONG_NAMES),
        ({"hide": ["moon,d"]}, View(hidden=frozenset({"d"})), WRONG_NAMES),
        ({"hide": [""]}, View(), WRONG_NAMES),
        ({"hide": ["d,"]}, View(hidden=frozenset({"d"})), WRONG_NAMES),
        ({"hide": ["D", " seed"]}, View(), WRONG_NAMES),
        ({"hide": ["d", "x{}</style>"], "present": ["1"]}, View(True, frozenset({"d"})), WRONG_NAMES),
        ({"hide": ["moon"], "present": ["2"]}, View(), {"present": "1 or 0"} | WRONG_NAMES),
    ],
)  # fmt: skip
def test_what_a_link_asks_for(link, view, wrong):
    assert from_link(link, KNOWN) == (view, wrong)


def selectors(sheet):
    """What is not displayed, as written in a style sheet without a slide's own rules."""
    rules = re.fullmatch(r"<style>(.*)</style>", sheet)[1]
    return set(re.fullmatch(r"(.*) \{display: none !important;\}", rules)[1].split(", ")) if rules else set()


SIDEBAR = {'[data-testid="stSidebar"]', '[data-testid="stExpandSidebarButton"]'}


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        ((), set()),
        (("d",), {".st-key-d", ".st-key-control_d"}),
        (("n_key", "step"), {".st-key-n_key", ".st-key-control_n_key", ".st-key-step", ".st-key-control_step"}),
        (("sidebar",), SIDEBAR),
        (("sidebar", "seed"), {".st-key-seed", ".st-key-control_seed"} | SIDEBAR),
    ],
)
def test_what_is_hidden_is_not_displayed_and_nothing_else(hidden, expected):
    assert selectors(style(View(hidden=frozenset(hidden)), ("d",), ("d", "seed", "text"))) == expected


def test_a_slide_keeps_the_shared_controls_that_the_page_names():
    sheet = style(View(True, frozenset({"query", "d"})), ("d", "text"), ("d", "seed", "text", "heads"))
    rule = sheet.removeprefix("<style>").partition(" {")[0]
    keys = ("d", "heads", "query", "seed")  # d is hidden although the page keeps it
    assert set(rule.split(", ")) == {f".st-key-{part}{key}" for key in keys for part in ("", "control_")} | SIDEBAR
    assert "22px" in sheet
    assert "away_" in sheet


def test_without_a_presentation_there_is_no_large_type():
    assert style(View(), ("d",), SHARED) == "<style></style>"
    assert "px" not in style(View(hidden=frozenset({"d"})))


@pytest.mark.parametrize("key", ["d {} body", "d,body", "D", "a-b", "</style>", "", "d\n", "ü", ".d", "*"])
@pytest.mark.parametrize("presenting", [False, True])
def test_a_key_that_is_no_plain_name_never_reaches_a_style_sheet(key, presenting):
    with pytest.raises(ValueError, match="a control's key must be of a to z, 0 to 9 and _"):
        style(View(presenting, frozenset({key})))
    if presenting:
        with pytest.raises(ValueError, match="key must be"):
            style(View(True), (), (key,))


def test_every_key_that_a_link_may_hide_can_stand_in_a_style_sheet():
    sheet = style(View(hidden=frozenset(hideable())))
    assert selectors(sheet) == SIDEBAR | {
        f".st-key-{part}{key}" for key in hideable() - {"sidebar"} for part in ("", "control_")
    }


def test_every_page_has_steps_of_different_names_that_end_with_what_the_reader_does():
    pages = (HOME, *LESSON)
    assert tuple(page.name for page in pages) == PAGES
    for page in pages:
        assert len(set(page.steps)) == len(page.steps)
        if page.name == "practice":
            assert page.steps == ("exercise",)  # all of it is guessing
        else:
            assert len(page.steps) >= 2
            assert page.steps[-1] == "guess"
        assert set(page.on_slide) <= set(SHARED)
