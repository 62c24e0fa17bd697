"""What the fuzzer draws: texts, links and actions; valid, at the edge, wrong, and mixed."""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
from hypothesis import assume
from hypothesis import strategies as st

from core.settings import MAX_CHARACTERS, MAX_WORDS, RANGES
from core.tokens import label_words, split_words
from server.limits import LONGEST_QUERY
from tests.fuzz.links import Link
from tests.fuzz.visits import Action, Visit, visit
from ui import view
from ui.controls import SHARED, hideable
from ui.pages import ORDER, named

PAGES = tuple(page.name for page in ORDER)

# Texts

NUMBER_WORDS = ("nan", "NaN", "inf", "-inf", "Infinity", "-0", "1e309", "0x10", "None", "null", "undefined", "True")
NAME_WORDS = ("__proto__", "constructor", "toString", "_settings", "value", "row_name", "datum", "self", "U.S.", "a[0]")
MARKUP_WORDS = (
    "<script>alert(1)</script>",
    "</style>",
    "<!--",
    "&lt;b&gt;",
    "![x](http://127.0.0.1:9/x.png)",
    "[a](javascript:x)",
    "**b**",
    "`c`",
    "```",
    "$x^2$",
    r"$\rule{9em}{9em}$",
    r"\frac{1}{0}",
    "{{x}}",
    "${y}",
    "#",
    ":smile:",
    ":red[x]",
    "=1+1",
    "@SUM(A1)",
    '"quoted"',
    "'",
    "\\",
    "%",
    "%s",
    "%00",
    "{0}",
    "a,b;c",
    "|",
    "~~x~~",
    "1.",
    "->",
)
SIGN_WORDS = (
    "\u202eright",
    "\u2067x\u2069",
    "שלום",
    "مرحبا",
    "\u200b",
    "a\u200db",
    "\ufeff",
    "\u00ad",
    "e" + "\u0301" * 30,
    "\u0301",
    "क्या",
    "ก็",
    "我喜欢",
    "𝕏",
    "👨‍👩‍👧‍👦",
    "👍🏽",
    "🇮🇳",
    "🇮",
    "\ufe0f",
    "\x00",
    "a\x00b",
    "\x1b[0m",
    "\x7f",
    "\u0085x",
    "\u2028",
    "\ufffe",
    "\U0010ffff",
    "ﬁ",
    "İ",
    "ß",
    "ǅ",
)
PLAIN_WORDS = ("the", "cat", "saw", "dog", "it", "Meera", "bought", "a", "new", "bat", "0", "12", "3.5")

_characters = st.characters(exclude_categories=("Cs",))  # half a pair cannot stand in an address or in a message
_huge = st.builds(lambda sign, times: sign * times, st.sampled_from("wW我é\u0301👍"), st.sampled_from((40, 300, 598)))
words = st.one_of(
    st.sampled_from(PLAIN_WORDS),
    st.sampled_from(PLAIN_WORDS),
    st.sampled_from(MARKUP_WORDS),
    st.sampled_from(SIGN_WORDS),
    st.sampled_from((*NUMBER_WORDS, *NAME_WORDS)),
    st.text(_characters, min_size=1, max_size=8),
    _huge,
)
_gaps = st.sampled_from((" ", " ", " ", "  ", "\t", "\u3000", "\n", "\u00a0"))
_counts = st.sampled_from((1, 2, MAX_WORDS - 1, MAX_WORDS, MAX_WORDS + 1, 100))
_lengths = st.sampled_from((MAX_CHARACTERS - 1, MAX_CHARACTERS, MAX_CHARACTERS + 1, 5000))
texts = st.one_of(
    st.builds(lambda some, gap: gap.join(some), st.lists(st.sampled_from(PLAIN_WORDS), min_size=1, max_size=9), _gaps),
    st.builds(lambda some, gap: gap.join(some), st.lists(words, min_size=1, max_size=9), _gaps),
    st.text(_characters, max_size=40),
    st.builds(lambda word, count: " ".join([word] * count), words, _counts),
    st.builds(lambda count: " ".join(f"w{place}" for place in range(count)), _counts),
    st.builds(lambda word, length: (f"{word} " * length)[:length], words, _lengths),
    st.builds(lambda word, length: ((word.strip() or "x") * length)[:length], words, _lengths),
    st.sampled_from(("", " ", "\t\u3000\n", "\x00", "\u200b")),
)


# The controls of every page, as the pages themselves offer them


@dataclass(frozen=True, slots=True)
class Control:
    """What a control can be set to."""

    kind: str
    options: tuple[str, ...] = ()
    bounds: tuple[int, int] = (0, 0)
    most: int = 0
    """Characters of a text."""


def control_of(kind: str, element: Any) -> Control:
    """What an element on the page can be set to."""
    if kind == "number_input":
        return Control(kind, bounds=(int(element.proto.min), int(element.proto.max)))
    if kind == "text_input":
        return Control(kind, most=element.proto.max_chars)
    if kind == "toggle":
        return Control(kind, options=("true", "false"))
    return Control(kind, options=tuple(getattr(element, "options", ())))


@cache
def controls() -> dict[str, dict[str, Control]]:
    """Controls of every page by their name in the link; of one that the page shows only later the lesson's value."""
    found = {}
    for name in PAGES:
        opened = visit(Link(name))
        lesson = {key: Control("other", options=(str(value),)) for key, value in named(name).lesson.items()}
        drawn = {
            key: control_of(kind, element)
            for key, (kind, _, element) in opened.elements().items()
            if key in opened.record.controls and kind != "button"
        }
        found[name] = lesson | drawn
    return found


# Links

WRONG = (
    "",
    " ",
    "-1",
    "0",
    "1",
    "7.5",
    "1e1",
    "07",
    "+4",
    " 4",
    "٣",
    "nan",
    "inf",
    "-inf",
    "-0",
    "1e309",
    "9" * 30,
    "9" * 5000,
    "x" * 10000,
    "abc",
    "true",
    "None",
    "null",
    "[]",
    "{}",
    "__proto__",
    "<i>x</i>",
    "\x00",
    "\u202e",
    "None,None",
    "1;2",
    "%",
    "%ff",
)
MASKS = (
    "full",
    "causal",
    "window-0",
    "window-64",
    "window-65",
    "window",
    "prefix-2",
    "padding-64",
    "causal~AB",
    "causal~A",
    "causal~~AB",
    "causal~AB~AB",
    "window-2~AE~BB",
    "full~" + "__" * 300,
    "full~." + "A" * 683,
    "full~." + "_" * 682 + "8",
    "CAUSAL",
    "window--1",
    "nan-1",
)
ORDERS = ("3 1 2 0", "0 0 0 0", "0 1 2 3", "3,1,2,0", "9 9", "-1 0", "nan 1", "1e3 2", "", "0 " * 200)
UNKNOWN = ("embed", "embed_options", "page", "_link", "_settings", "_view", "_notices", "share_hide", "mask_preset", "")
VIEW = {
    view.PRESENT: ("0", "1", "1", "2", "true", ""),
    view.QUERIES_IN: (*view.SIDES, "Rows", ""),
    "step": tuple(sorted({step for page in ORDER for step in page.steps})),
}


@st.composite
def values(draw: Any, key: str, control: Control, sentence: str) -> tuple[str, ...]:
    """Values of one parameter: one that can be used, mostly."""
    kind = draw(st.sampled_from(("good",) * 6 + ("edge", "edge", "wrong", "many")))
    if kind == "many":
        return tuple(draw(st.lists(st.sampled_from((*control.options[:5], *WRONG[:8])), max_size=4)))
    if kind == "wrong":
        return (draw(st.one_of(st.sampled_from(WRONG), texts)),)
    if key.endswith("_mask"):
        return (draw(st.sampled_from(MASKS)),)
    if key == "order":
        return (draw(st.sampled_from(ORDERS)),)
    if control.kind == "text_input":
        return (draw(texts),)
    if control.kind == "number_input":
        low, high = control.bounds
        edge = st.sampled_from((low - 1, low, low + 1, high - 1, high, high + 1))
        return (str(draw(edge if kind == "edge" else st.integers(low, high))),)
    if control.kind == "multiselect":
        return tuple(draw(st.lists(st.sampled_from((*control.options, "none")), max_size=6)))
    options = control.options or ("",)
    if re.match(r"\d+ ", options[0]):  # names of words, which depend on the sentence
        options = label_words(split_words(sentence)[:MAX_WORDS]) or options
    if kind == "edge":
        return (draw(st.sampled_from((options[0], options[-1], f"{len(options)}", f"{len(options)} x"))),)
    return (draw(st.sampled_from(options)),)


def _number(low: int, high: int) -> st.SearchStrategy[str]:
    # Few are large: those take ten times as long, and most faults need none.
    small = st.integers(low, min(high, low + 8))
    return st.one_of(small, small, st.integers(low, high), st.sampled_from((low, high))).map(str)


@st.composite
def links(draw: Any, page: str | None = None) -> Link:
    """A page, and parameters of which most can be used."""
    name = page or draw(st.sampled_from(PAGES))
    query: dict[str, tuple[str, ...]] = {}
    if draw(st.integers(0, 9)) < 6:
        query["text"] = (draw(texts),)
    for field, key in (("d_head", "d"), ("n_heads", "heads"), ("seed", "seed")):
        if draw(st.integers(0, 9)) < 3:
            query[key] = (draw(_number(*RANGES[field])),)
    sentence = query.get("text", ("Meera bought a new bat",))[0]
    own = {key: control for key, control in controls()[name].items() if key not in ("text", "d", "heads")}
    for key in draw(st.lists(st.sampled_from(sorted(own)), max_size=5, unique=True)):
        query[key] = draw(values(key, own[key], sentence))
    if draw(st.integers(0, 9)) < 2:
        key = draw(st.sampled_from(("text", "d", "heads", "seed")))
        query[key] = draw(st.one_of(st.sampled_from(WRONG).map(lambda text: (text,)), st.just(("1", "2"))))
    if draw(st.integers(0, 9)) < 2:
        key = draw(st.sampled_from(sorted(VIEW)))
        query[key] = (draw(st.sampled_from(VIEW[key])),)
    if draw(st.integers(0, 19)) < 1:
        known = st.sampled_from((*sorted(hideable()), "moon", "", "<b>"))
        query[view.HIDE] = tuple(draw(st.lists(known, min_size=1, max_size=4)))
    if draw(st.integers(0, 9)) < 1:
        other = draw(st.sampled_from(PAGES))
        key = draw(st.sampled_from(sorted(controls()[other])))
        query.setdefault(key, draw(values(key, controls()[other][key], sentence)))
    if draw(st.integers(0, 9)) < 1:
        query.setdefault(draw(st.one_of(st.sampled_from(UNKNOWN), st.text(_characters, max_size=6))), (draw(texts),))
    link = Link(name, tuple((key, given) for key, given in query.items() if given))
    assume(len(str(link).partition("?")[2]) <= LONGEST_QUERY)  # the server refuses longer ones; raw links try them
    return link


# Actions

LEFT_ALONE = ("measure", "measure_again", "train", "train_stop")
"""Buttons that start work of many seconds in a process of its own; their tests press them."""


def _selection(element: Any, draw: Any) -> str:
    """A click on a mark of a chart, or on none: its row of the data by the fields of the selection."""
    spec = json.loads(element.proto.spec)
    names = list(element.proto.selection_mode)
    params = [param for param in _params(spec) if param.get("name") in names and isinstance(param["select"], dict)]
    table = pa.ipc.open_stream(element.proto.data.data).read_all()
    if not params or not table.num_rows or draw(st.integers(0, 9)) == 0:
        return json.dumps({"selection": {name: [] for name in names}})
    row = draw(st.integers(0, table.num_rows - 1))
    picked = {
        field: table.column(field)[row].as_py()
        for field in params[-1]["select"].get("fields", [])
        if field in table.column_names
    }
    return json.dumps({"selection": {params[-1]["name"]: [picked]}}, default=str)


def _params(spec: Any) -> list[dict[str, Any]]:
    if isinstance(spec, dict):
        own = [param for param in spec.get("params", []) if isinstance(param, dict) and "select" in param]
        return own + [param for part in spec.values() for param in _params(part)]
    return [param for part in spec for param in _params(part)] if isinstance(spec, list) else []


@st.composite
def actions(draw: Any, found: Visit) -> Action:
    """Something that the reader can do on the page as it is now."""
    offered = found.elements()
    usable = {
        key: entry
        for key, entry in offered.items()
        if key not in LEFT_ALONE and not (entry[0] == "vega_lite_chart" and not entry[2].proto.selection_mode)
    }
    if not usable or draw(st.integers(0, 9)) == 0:
        return Action(draw(st.sampled_from(PAGES)), None, "page")
    own = [key for key in usable if key not in SHARED]
    key = draw(st.sampled_from(sorted(own if own and draw(st.integers(0, 9)) < 7 else usable)))
    kind, _, element = usable[key]
    return Action(key, draw(new_value(key, kind, element)), kind)


@st.composite
def new_value(draw: Any, key: str, kind: str, element: Any) -> Any:
    """A value that a browser could send for an element; now and then one that only a program would."""
    if kind == "button":
        return True
    if kind in ("toggle", "expander"):
        return draw(st.booleans())
    if kind == "vega_lite_chart":
        return _selection(element, draw)
    if kind == "dataframe":
        return json.dumps({"selection": {"rows": [], "columns": [], "cells": []}})
    control = control_of(kind, element) if kind not in ("slider",) else None
    hostile = draw(st.integers(0, 19)) == 0
    if kind == "text_input":
        if key == "order":
            return draw(st.one_of(st.sampled_from(ORDERS), texts))[: None if hostile else control.most]
        return draw(texts)[: None if hostile else control.most]
    if kind == "number_input":
        low, high = control.bounds
        numbers = (low - 1, high + 1, 2**62)
        return draw(st.sampled_from(numbers)) if hostile else int(draw(_number(low, high)))
    if kind == "slider":
        low, high = element.proto.min, element.proto.max
        number = draw(st.sampled_from((low - 1, high + 1)) if hostile else st.floats(low, high))
        return [float(number)]
    if hostile and kind != "selectbox":
        return [draw(texts)]
    if kind == "selectbox":
        return draw(texts) if hostile else draw(st.sampled_from(control.options))
    if kind == "select_slider" and key in ("d", "heads", "depth"):
        return [draw(_number(1, len(control.options)))]
    if kind == "multiselect":
        return draw(st.lists(st.sampled_from(control.options), max_size=6, unique=True))
    single = kind == "select_slider" or element.proto.click_mode == 0
    return draw(
        st.lists(st.sampled_from(control.options), min_size=int(single), max_size=1 if single else 4, unique=True)
    )
