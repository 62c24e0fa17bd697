"""Share and take home: a link restores a page to the last number, and both dialogs hold what is on the screen."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from tests.pages.reading import PAGES, bodies, change, notices, open_page, press, recorded, run, texts, values_of
from ui.controls import hideable
from ui.pages import STACK_PARTS
from ui.take_home import links, scripts
from ui.view import View

URL = "http://localhost:8501/lecture/causal_mask"
SIDEBAR = {"text": "the cat saw the dog", "d": 7, "heads": 3, "seed": 11, "queries_in": "columns"}
CHANGED = {
    "home": [{"head": 2, "query": 3}],
    "why_attention": [{"radius": 5, "relative": False, "as_elsewhere": True, "word": 2, "query": 1, "head": 2}],
    "query_key_value": [
        {"head": 2, "query": 3, "key": 1, "feature": 5, "step": "project", "trained": True},
        {"of": "V", "of_layer": 2},
    ],
    "scaling_sweep": [{"keys": 8, "draws": 50, "dims": [512, 2, 64]}, {"draw": 1, "draw_key": 6}],
    "causal_mask": [
        {"causal": False, "head": 2, "query": 3, "key": 1, "replace": 2, "by": "a+b", "n_query": 3, "n_key": 7},
        {"corner_query": 2, "corner_key": 5},
    ],
    "order_blindness": [
        {"order": "4 2 0 1 3", "positions": "rotary", "head": 2, "word": 3, "feature": 5},
        {"entry": 2},
    ],
    "multi_head": [{"head": 2, "query": 3, "key": 1, "entry": 17}],
    "encoder_block": [
        {"norm": "post", "activation": "relu", "word": 3, "entry": 17, "factor": 2, "step": "bend"},
        {"unit": 41},
    ],
    "stack": [
        {"depth": 7, "stack_width": 1, "stack_heads": 0, "activation": "relu", "matrix": 1}
        | dict.fromkeys(STACK_PARTS, False)
    ],
    "common_mistakes": [{"mistake": 8, "made": False, "head": 2, "query": 3, "key": 1}],
    "kv_cache": [
        {"new_words": 7, "decoder_layers": 3, "head": 2, "cross": True},
        {"t": 6, "layer": 2, "source": "der Hund & er"},
        {"key": 9},
    ],
    "parameter_count": [
        {"d_model": 55, "block_heads": 5, "d_ff": 101, "layers": 3, "biases": "no attention biases"},
        {"tensor": 7},
    ],
    "three_shapes": [
        {"shape": "decoder", "decoder_mask": "window-2~AE~CC", "head": 2, "query": 3, "key": 1, "reach_layers": 5},
    ],
    "cost": [
        {
            "tokens": 4096,
            "model_width": 1024,
            "model_heads": 32,
            "batch": 8,
            "bytes": 2,
            "cost_causal": True,
            "context": 16384,
            "cache_batch": 2,
            "cache_bytes": 4,
            "own_layers": 24,
            "own_heads": 12,
            "own_kv_heads": 3,
            "own_d_head": 96,
            "measured_heads": 4,
            "measured_d": 16,
            "seconds": 10,
        },
    ],
    "learning": [
        {"task": "pronoun", "left_out": True, "snapshot": 13, "pace": "slow", "ending": "roomy"},
        {"own": "Omar took the cat from his garden because it was hungry"},
    ],
    "real_model": [
        {"shown_as": "pieces", "ends": False, "model_layer": 1, "model_head": 7},
        {"query": 2, "key": 1},
    ],
    "practice": [{"exercise": 4, "number": 7}],
}
"""Every control of every page at a value that is not its default; what appears only then in a second part."""
TEXTS = {
    "signs of addresses": "a+b & c#d 100% é 🙂",
    "quotes": "“x” 'y' \"z\" `w`",
    "backslashes": "a\\b \\n \\\\",
    "Devanagari": "क्या आपके पास",
    "60 words": " ".join(f"w{i}" for i in range(60)),
    "equal in two encodings": "café cafe\u0301 x",
}


@pytest.fixture
def records(monkeypatch):
    return recorded(monkeypatch)


def link_of(record, **rest):
    return links.link_to(URL, record.page, links.query_of(record.link, **rest))


def parameters(link):
    return parse_qs(urlsplit(link).query, keep_blank_values=True, strict_parsing=bool(urlsplit(link).query))


def follow(link, name):
    """The page as whoever gets the link sees it."""
    return open_page(name, **parameters(link))


def own_controls(record):
    """Keys of the controls that hold a value."""
    return set(record.controls) - {"lesson_values"}


def assert_same(found, expected):
    """Two runs show the same numbers with the same names, and are written as the same program."""
    assert found.link == expected.link
    assert found.controls == expected.controls
    assert found.code == expected.code
    assert list(found.matrices) == list(expected.matrices)
    for name, (values, rows, columns) in expected.matrices.items():
        assert np.array_equal(found.matrices[name][0], values), name
        assert found.matrices[name][1:] == (rows, columns), name
    assert [(figure.name, figure.alt) for figure in found.figures] == [
        (figure.name, figure.alt) for figure in expected.figures
    ]


# The link


@pytest.mark.parametrize("name", PAGES)
def test_a_link_restores_every_control_and_every_number(name, records):
    at = change(open_page(name), **SIDEBAR)
    for values in CHANGED[name]:
        change(at, **values)
    record = records[-1]
    controls = own_controls(record)
    assert set(record.link) == controls, "every control of the page has left its default"
    other = follow(link_of(record), name)
    assert notices(other) == []
    assert values_of(other, controls) == values_of(at, controls)
    expected = SIDEBAR | {key: value for values in CHANGED[name] for key, value in values.items()}
    assert values_of(other, controls) == expected
    assert_same(records[-1], record)


def test_a_link_carries_a_list_from_which_nothing_is_chosen(records):
    at = change(open_page("scaling_sweep"), dims=[])
    record = records[-1]
    assert record.link == {"dims": ["none"]}
    other = follow(link_of(record), "scaling_sweep")
    assert other.session_state["dims"] == at.session_state["dims"] == []
    assert notices(other) == []
    assert_same(records[-1], record)
    assert change(other, dims=[64]).session_state["dims"] == [64]


@pytest.mark.parametrize("kind", TEXTS)
def test_a_link_carries_any_text(kind, records):
    """And the words in the names of pickers, and a text of the page's own."""
    at = change(open_page("causal_mask"), text=TEXTS[kind])
    change(at, query=1, key=2, replace=0, by=TEXTS[kind].split()[1])
    record, link = records[-1], link_of(records[-1])
    assert re.fullmatch(r"[!-~]+", link)
    other = follow(link, "causal_mask")
    assert other.session_state["text"] == TEXTS[kind]
    assert other.session_state["query"] == f"1 {record.code['words'][1]}"
    assert notices(other) == []
    assert_same(records[-1], record)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_at_its_defaults_has_a_link_without_parameters(name, records):
    at = open_page(name)
    assert records[-1].link == {}
    assert link_of(records[-1]) == "http://localhost:8501/lecture/" + ("" if name == "home" else name)
    change(at, d=7, queries_in="columns")
    assert records[-1].link == {"d": ["7"], "queries_in": ["columns"]}
    change(at, d=4, queries_in="rows")
    assert records[-1].link == {}


@pytest.mark.parametrize("name", PAGES)
def test_every_control_of_a_page_can_be_hidden_by_a_link(name, records):
    open_page(name)
    assert own_controls(records[-1]) - hideable() == set()


@pytest.mark.parametrize("name", PAGES)
def test_lesson_values_set_every_control_of_a_page(name, records):
    fresh = press(open_page(name), "Lesson values")
    controls = own_controls(records[-1]) - {"queries_in"}  # which is a matter of taste
    at = change(open_page(name), **SIDEBAR)
    for values in CHANGED[name]:
        change(at, **values)
    assert values_of(press(at, "Lesson values"), controls) == values_of(fresh, controls)


# Share


def share(at, **changes):
    """The dialog, opened and with its own controls changed."""
    at.context = {"url": URL}
    at.button(key="share").click()
    run(at)
    if changes:
        at.button(key="share").click()
        change(at, **changes)
    return at


def qr_codes(at):
    alts = [image.alt for element in at.get("image") for image in element.proto.imgs]
    return [alt for alt in alts if alt.startswith("QR code")]


@pytest.mark.parametrize("name", PAGES)
def test_the_dialog_shows_the_link_of_what_is_on_the_screen(name, records):
    at = share(change(open_page(name), text="a+b & ü", d=7))
    link = at.code[0].value
    assert link == link_of(records[-1])
    assert parameters(link) == {"text": ["a+b & ü"], "d": ["7"]}
    assert qr_codes(at) == [f"QR code of the link {link}"]
    copied = [re.search('data-copy="(.*?)"', body) for body in bodies(at)]
    assert [html.unescape(found[1]) for found in copied if found] == [link]
    run(at)
    assert at.code[0].value == link, "open until it is dismissed, also when the page runs again by itself"


def test_the_link_can_open_as_a_presentation_and_hide_controls(records):
    at = share(open_page("causal_mask", d="7"), share_present=True, share_hide=["seed", "replace", "sidebar"])
    link = at.code[0].value
    assert link == link_of(records[-1], present=True, hide=["replace", "seed", "sidebar"])
    assert parameters(link) == {"d": ["7"], "present": ["1"], "hide": ["replace", "seed", "sidebar"]}
    other = follow(link, "causal_mask")
    assert other.session_state["_view"] == View(True, frozenset({"replace", "seed", "sidebar"}))
    assert notices(other) == []
    assert parameters(share(at, share_present=False, share_hide=["d"]).code[0].value) == {"d": ["7"], "hide": ["d"]}


def test_what_is_hidden_now_is_offered_to_be_hidden_again(records):
    at = share(open_page("home", hide=["d", "head"]))
    assert at.multiselect(key="share_hide").value == ["d", "head"]
    assert parameters(at.code[0].value) == {"hide": ["d", "head"]}
    assert at.multiselect(key="share_hide").options == ["the whole sidebar", *records[-1].controls.values()]


def test_a_link_too_long_for_a_qr_code_is_still_a_link(records):
    at = share(open_page("home", text=" ".join(["नमस्तेन"] * 64)))
    link = at.code[0].value
    assert link == link_of(records[-1])
    assert [f"This link has {len(link):,} characters: too many for a QR code" in info.value for info in at.info] == [
        True
    ]
    assert qr_codes(at) == []
    assert follow(link, "home").session_state["text"] == " ".join(["नमस्तेन"] * 64)


# Take home


@pytest.mark.parametrize("name", PAGES)
def test_code_of_what_is_on_the_screen_can_be_taken_home(name, records):
    at = change(open_page(name), **SIDEBAR)
    for values in CHANGED[name]:
        change(at, **values)
    press(at, "Take home")
    record = records[-1]
    own, twin = (scripts.compose(scripts.read_source(name, torch=torch), record.code) for torch in (False, True))
    assert [block.value for block in at.code] == [own.strip(), twin.strip()]
    assert ('words = ["the", "cat", "saw", "the", "dog"]' in own) == (
        name not in ("parameter_count", "cost", "learning", "real_model", "practice")
    )
    assert at.selectbox(key="take_matrix").options == list(record.matrices)
    assert at.selectbox(key="take_figure").options == [figure.name for figure in record.figures]
    assert len(at.get("download_button")) == 9 + (4 if name == "practice" else 0), "the exercises have their own"


def test_a_matrix_and_a_figure_can_be_chosen(records):
    at = press(open_page("query_key_value"), "Take home")
    names = at.selectbox(key="take_matrix").options, at.selectbox(key="take_figure").options
    at.button(key="take_home").click()
    change(at, take_matrix=len(names[0]) - 1, take_figure=len(names[1]) - 1)
    assert values_of(at, ("take_matrix", "take_figure")) == {"take_matrix": 10, "take_figure": 7}


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("order_blindness", {"text": "word"}),
        ("parameter_count", {"d_model": "33"}),
        ("cost", {"model_width": "64"}),
        ("home", {"text": "x"}),
    ],
    ids=["one word has one order", "indivisible width", "indivisible width of a cost", "no word"],
)
def test_a_page_that_shows_no_numbers_has_nothing_to_take_home(name, link, records):
    at = open_page(name, **link)
    if name == "home":
        change(at, text=" ")
    press(at, "Take home")
    assert any("there is nothing to take home" in text for text in texts(at))
    assert not at.code
    assert parameters(share(at).code[0].value) == records[-1].link
