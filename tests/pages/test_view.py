"""How a page is looked at: slides, hidden controls, and matrices with their queries in columns."""

import io
import json
import re

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from core.settings import Settings
from tests.pages.reading import (
    PAGES,
    alternatives,
    assert_finite,
    bodies,
    change,
    charts,
    click_cell,
    go_to,
    in_sight,
    notices,
    numbers,
    open_page,
    plain,
    press,
    recorded,
    run,
    said,
    settings_of,
    value_of,
    values_of,
)
from ui import pages
from ui.charts.heat_map import read_captions
from ui.controls import SHARED
from ui.take_home import scripts
from ui.view import View

LESSON = {page.name: page for page in (pages.HOME, *pages.PAGES)}
SENTENCE = {"text": "the cat saw the dog", "d": "7", "heads": "3", "seed": "11"}
SLIDES = [(page.name, step) for page in LESSON.values() for step in page.steps]


@pytest.fixture
def records(monkeypatch):
    return recorded(monkeypatch)


def view_of(at):
    return at.session_state["_view"]


def hidden_keys(at):
    """What the style sheet of the view takes away: keys of controls, and parts of the frame."""
    (sheet,) = [
        body
        for body in (element.proto.body for element in at.get("html"))
        if body.startswith("<style>.st-key") or body.startswith("<style>[data") or body == "<style></style>"
    ]
    rule = sheet.removeprefix("<style>").partition(" {display: none !important;}")[0]
    selectors = set(rule.split(", ")) if rule != "</style>" else set()
    keys = {selector.removeprefix(".st-key-") for selector in selectors if selector.startswith(".st-key-")}
    own = {key for key in keys if not key.startswith("control_")}
    assert keys == own | {f"control_{key}" for key in own}
    return own, {re.search('"(.*)"', selector)[1] for selector in selectors if selector.startswith("[")}


# What a link asks for


@pytest.mark.parametrize("name", PAGES)
def test_a_link_opens_a_page_as_a_slide(name):
    at = open_page(name, present="1")
    assert view_of(at) == View(True)
    assert notices(at) == []
    assert {button.label for button in at.button} >= {"Leave", "Back", "Next"}
    assert not {"Share", "Take home", "Present"} & {button.label for button in at.button}
    assert at.session_state["step"] == LESSON[name].steps[0]
    keys, parts = hidden_keys(at)
    assert keys == set(SHARED) - set(LESSON[name].on_slide)
    assert parts == {"stSidebar", "stExpandSidebarButton"}
    assert not in_sight(at, "page_link"), "the way on is the bar of steps"


@pytest.mark.parametrize("given", [["d", "seed"], "d,seed", ["seed", "d", "d"]], ids=["twice", "comma", "repeated"])
@pytest.mark.parametrize("name", ["home", "causal_mask"])
def test_a_link_hides_controls(name, given):
    at = open_page(name, hide=given, d="7")
    assert view_of(at) == View(False, frozenset({"d", "seed"}))
    assert hidden_keys(at) == ({"d", "seed"}, set())
    assert settings_of(at) == Settings(d_head=7)
    assert notices(at) == []
    go_to(at, "parameter_count")
    assert at.query_params["hide"] == ["d", "seed"], "in the address of the next page too"
    assert hidden_keys(at) == ({"d", "seed"}, set())


def test_the_sidebar_can_be_hidden_as_a_whole():
    assert hidden_keys(open_page("home", hide="sidebar,step")) == ({"step"}, {"stSidebar", "stExpandSidebarButton"})


@pytest.mark.parametrize("name", PAGES)
def test_every_control_stands_in_something_that_its_key_hides(name, records):
    at = open_page(name, step="project") if name == "query_key_value" else open_page(name)
    keys = {element.key for element in in_sight(at) if getattr(element, "key", None)}
    keys |= {element.key for element in at.sidebar if getattr(element, "key", None)}
    keys |= {block.key for block in at.sidebar.children.values() if getattr(block, "key", None)}
    assert {key for key in records[-1].controls if not {key, f"control_{key}"} & keys} == set()


@pytest.mark.parametrize("name", PAGES)
def test_what_a_link_asks_in_vain_is_named_and_the_rest_is_used(name):
    at = open_page(name, present="yes", hide=["moon", "d"], queries_in="diagonal", seed="7")
    assert view_of(at) == View(False, frozenset({"d"}))
    assert at.session_state["queries_in"] == "rows"
    assert settings_of(at) == Settings(seed=7)
    present, hide, side = notices(at)
    assert present == ("The link's present was ignored: wanted 1 or 0, given “yes”. Used instead: 0.")
    assert hide.startswith("The link's hide was ignored: wanted names of controls: ")
    assert hide.endswith("given “moon” and “d”. Used instead: d.")
    assert side == (
        "The link's queries_in was ignored: wanted one of rows, columns, given “diagonal”. Used instead: rows."
    )
    assert len(notices(change(at, queries_in="columns"))) == 2


@pytest.mark.parametrize(
    "link",
    [
        {"present": ["1", "0"]},
        {"present": ""},
        {"present": "01"},
        {"hide": ""},
        {"hide": "d,"},
        {"hide": "D"},
        {"hide": "d {} body"},
        {"queries_in": ""},
        {"queries_in": ["rows", "columns"]},
        {"step": "moon", "present": "1"},
    ],
    ids=str,
)
def test_other_nonsense_gets_one_notice(link):
    at = open_page("query_key_value", **link)
    (line,) = notices(at)
    assert f"link's {next(iter(link))} was ignored" in line
    assert hidden_keys(at)[0] <= {"d", *SHARED}


# Slides

CHARTS = {
    "home": {"links": ["Lines from each word"], "guess": []},
    "why_attention": {
        "reach": ["What each of 5 words still moves"],
        "length": ["What the first word still moves in sentences of 2 to 512 words"],
        "waiting": ["Steps that wait for each other in sentences of 2 to 512 words: 2 to 512"],
        "library": ["Each word as a book"],
        "guess": [],
    },
    "query_key_value": {
        "overview": ["Scores, query times key", "Scaled scores", "Attention weights", "Output, the values mixed"],
        "project": ["X (5 × 21)", "W_q (21 × 7)", "Q (5 × 7)"],
        "score": ["Q (5 × 7)", "K (5 × 7)", "Scores, query times key"],
        "scale": ["Scores, query times key", "Scaled scores"],
        "softmax": ["Scaled scores", "Attention weights"],
        "mix": ["Attention weights", "V (5 × 7)", "Output, the values mixed"],
        "guess": [],
    },
    "scaling_sweep": {
        "sweep": ["spread of the scores over", "largest weight over", "entropy (nats) over", "gradient of the softmax"],
        "one draw": ["Weights of 5 keys for d = 512"],
        "guess": [],
    },
    "causal_mask": {
        "mask": ["Causal mask: each of 5 queries", "scaled scores before", "scaled scores after"],
        "weights": ["Weights: everything above the diagonal", "Weights without a mask, for comparison"],
        "leak": ["Movement of each output row"],
        "corners": ["top-left: 3 of 10 pairs", "bottom-right: 9 of 10 pairs"],
        "guess": [],
    },
    "order_blindness": {
        "without": [
            "output without positions, without positions",
            "output of the new order, without positions",
            "new order − moved rows, without positions",
        ],
        "with": [
            "output with positions, with positions",
            "output of the new order, with positions",
            "new order − moved rows, with positions",
        ],
        "encoding": ["sinusoidal positions", "The first 8 columns"],
        "guess": [],
    },
    "multi_head": {
        "heads": ["Weights of head 0", "Weights of head 1", "Weights of head 2"],
        "join": ["joined of 3 heads", "W_o of 3 heads", "output of 3 heads"],
        "average": ["Weights averaged over the heads", "Weights of head 0, for comparison"],
        "one wide head": ["Weights of one wide head", "Weights of head 0, for comparison"],
        "wrong split": ["Weights after a wrong split", "Weights of head 0, as they should be"],
        "guess": [],
    },
    "encoder_block": {
        "norm 1": ["X of every word", "norm 1 of every word"],
        "attention": ["joined of every word", "attention of every word"],
        "add 1": ["X of every word", "attention of every word", "sum 1 of every word"],
        "norm 2": ["sum 1 of every word", "norm 2 of every word"],
        "expand": ["norm 2 of every word", "hidden of every word"],
        "bend": ["hidden of every word", "activated of every word"],
        "contract": ["activated of every word", "feed-forward of every word"],
        "add 2": ["sum 1 of every word", "feed-forward of every word", "sum 2 of every word"],
        "guess": [],
    },
    "stack": {
        "stream": ["length of a word's vector over layer", "how alike the words are over layer"],
        "gradient": [
            "gradient at the stream over",
            "gradient of w_2 over",
            "gradient of the last w_2 over layers in all",
        ],
        "guess": [],
    },
    "parameter_count": {"count": ["Parameters by tensor"], "guess": []},
    "three_shapes": {
        "masks": ["Mask of the encoder: 25 of 25", "Mask of the decoder: 21 of 36", "Mask of the cross: 30 of 30"],
        "weights": ["Weights of the encoder", "Weights of the decoder", "Weights of the cross"],
        "one weight": ["Query 0 and key 0 of the cross"],
        "reach": ["Words of which query 0", "Reach of the cross after 2 layers"],
        "models": ["Mask of the encoder: 25 of 25", "Mask of the decoder: 21 of 36", "Mask of the cross: 30 of 30"],
        "guess": [],
    },
    "kv_cache": {
        "one step": ["Step 3 without a cache: of 7 rows", "Step 3 with a cache: of 7 rows"],
        "work": ["Multiply-adds added up over 5 steps"],
        "memory": ["Memory of the cache"],
        "mask": ["Movement of the rows of K in layer 1"],
        "corner": ["Weights of the newest query with the corner of the mask at the top-left", "Weights of the newest"],
        "guess": [],
    },
    "cost": {"work": ["Work of each part of a block"], "models": ["Caches of 9 models"], "guess": []},
    "learning": {
        "curves": ["Loss over 300 steps", "Right answers over 300 steps"],
        "film": ["weights at step 300, for “a t t e n t i o n s”"],
        "your own": ["weights of the finished model, for “a t t e n t i o n s”"],
        "not explanation": ["What “it” looks at in the model of seed 2", "What “it” looks at in the model of seed 9"],
        "guess": [],
    },
    "real_model": {
        "all heads": ["Weights of 6 × 12 heads for"],
        "one head": ["Weights of layer 3, head 1"],
        "named heads": ["What 10 named heads find"],
        "limits": ["What “it” looks at when the bat is new"],
        "guess": [],
    },
    "practice": {"exercise": ["weights"]},
    "common_mistakes": {"mistake": ["as it runs, no scale", "done right, no scale"], "guess": []},
}
CONTROLS = {
    ("home", "links"): {"head", "query"},
    ("why_attention", "reach"): {"radius", "relative", "as_elsewhere", "word"},
    ("why_attention", "length"): {"radius", "relative", "as_elsewhere"},
    ("why_attention", "library"): {"query", "head"},
    ("scaling_sweep", "sweep"): {"keys", "draws"},
    ("scaling_sweep", "one draw"): {"dims", "draw", "draw_key"},
    ("causal_mask", "mask"): {"causal", "head", "query", "key"},
    ("causal_mask", "weights"): {"causal", "head", "query", "key"},
    ("causal_mask", "leak"): {"causal", "head", "query", "key", "replace", "by"},
    ("causal_mask", "corners"): {"n_query", "n_key", "corner_query", "corner_key"},
    ("order_blindness", "without"): {"order", "positions", "head", "word", "feature"},
    ("order_blindness", "with"): {"order", "positions", "head", "word", "feature"},
    ("order_blindness", "encoding"): {"positions", "head", "word", "feature", "entry"},
    ("common_mistakes", "mistake"): {"mistake", "made", "head", "query", "key"},
    ("parameter_count", "count"): {"d_model", "block_heads", "d_ff", "layers", "tensor"},
    ("cost", "work"): {"tokens", "model_width", "model_heads", "batch", "bytes", "cost_causal"},
    ("cost", "models"): {
        *("context", "cache_batch", "cache_bytes"),
        *("own_layers", "own_heads", "own_kv_heads", "own_d_head"),
    },
    ("learning", "film"): {"task", "left_out", "snapshot", "pace"},
    ("learning", "curves"): {"task", "left_out", "snapshot", "pace"},
    ("learning", "your own"): {"own"},
    ("learning", "not explanation"): {"ending"},
    ("practice", "exercise"): {"exercise", "number"},
    **{
        ("real_model", step): {"shown_as", "ends", "model_layer", "model_head", "query", "key"}
        for step in ("all heads", "one head")
    },
    **{
        ("multi_head", step): {"head", "query", "key", "entry"}
        for step in ("heads", "join", "average", "one wide head", "wrong split")
    },
    **{
        ("encoder_block", step): {"norm", "activation", "word", "entry", "factor", "unit"}
        for step in (*pages.BLOCK_STEPS, "guess")
    },
    **{
        ("stack", step): {"depth", "stack_width", "stack_heads", "activation", "matrix", *pages.STACK_PARTS}
        for step in ("stream", "gradient")
    },
    **{
        ("three_shapes", step): {"shape", "target", "part", "head", "query", "key"}
        for step in ("masks", "weights", "one weight")
    },
    ("three_shapes", "reach"): {"shape", "target", "part", "head", "query", "key", "reach_layers"},
    **{
        ("kv_cache", step): {"new_words", "decoder_layers", "t", "layer", "head"}
        | ({"key"} if step in ("one step", "mask", "corner") else set())
        for step in ("one step", "work", "memory", "mask", "corner")
    },
    ("query_key_value", "project"): {"head", "query", "key", "feature", "of"},
    **{
        ("query_key_value", step): {"head", "query", "key", "feature"}
        for step in ("overview", "score", "scale", "softmax", "mix", "guess")
    },
}
"""Controls that can be seen on each slide, beside the steps; on the others there are none."""


@pytest.fixture(scope="module")
def whole():
    """Record and charts of each page as it is without slides."""
    with pytest.MonkeyPatch.context() as patch:
        records = recorded(patch)
        return {name: (dict(charts(open_page(name, **SENTENCE))), records[-1]) for name in PAGES}


@pytest.mark.parametrize(("name", "step"), SLIDES)
def test_a_slide_shows_what_belongs_to_its_step_and_nothing_else(name, step, records, whole):
    at = open_page(name, present="1", step=step, **SENTENCE)
    assert at.session_state["step"] == step
    assert notices(at) == []
    shown = [alt for alt, _ in charts(at)]
    assert len(shown) == len(CHARTS[name][step])
    assert [alt for alt, start in zip(shown, CHARTS[name][step], strict=True) if not alt.startswith(start)] == []
    keys = {element.key for element in in_sight(at) if getattr(element, "key", None)}
    own = set(records[-1].controls) - set(SHARED) - {"step"}
    assert keys & own == CONTROLS.get((name, step), set())
    assert any(key.startswith("reveal_") for key in keys) == (step == "guess")
    assert not [element.value for element in in_sight(at, "header")]
    assert_finite(at)
    drawn, page = whole[name]  # the numbers are those of the page, and for the files those of all its steps
    assert records[-1].code == page.code
    assert {key: values[0].tolist() for key, values in records[-1].matrices.items()} == {
        key: values[0].tolist() for key, values in page.matrices.items()
    }
    for alt, frame in charts(at):
        if alt in drawn and "value" in frame:
            assert frame.value.equals(drawn[alt].value), alt


@pytest.mark.parametrize("name", PAGES)
def test_the_first_slide_says_what_the_page_is_about_and_what_is_random(name):
    page = open_page(name)
    about = page.markdown[0].value
    (source,) = [plain(body) for body in bodies(page) if "<b>computed</b>" in body and 'class="quiet"' in body]
    for number, step in enumerate(LESSON[name].steps[:2]):
        at = open_page(name, present="1", step=step)
        assert (about in [element.value for element in in_sight(at, "markdown")]) == (number == 0)
        said_here = [plain(element.proto.body) for element in in_sight(at, "html")]
        assert (source in said_here) == (number == 0)


@pytest.fixture(scope="module")
def walked():
    """From the first slide to the last by 'Next' and back by 'Back': what stood on each, and the pages' controls."""
    at = open_page("home", present="1", hide="seed", **SENTENCE | {"head": "2", "queries_in": "columns"})
    seen = {}
    for way in ("next", "back"):
        seen[way] = []
        for _ in range(2 * len(SLIDES)):
            title = at.title[0].value
            kept = settings_of(at), at.session_state["head"], at.session_state["queries_in"], view_of(at)
            seen[way].append((title, at.session_state["step"], kept, len(at.get("vega_lite_chart"))))
            button = at.button(key=f"step_{way}")
            if button.disabled:
                break
            button.click()
            run(at)
    return at, seen


def test_next_leads_from_the_first_slide_to_the_last_and_back_again(walked):
    _, seen = walked
    slides = [(LESSON[name].title, step) for name, step in SLIDES]
    assert [slide[:2] for slide in seen["next"]] == slides
    assert [slide[:2] for slide in seen["back"]] == slides[::-1]
    assert [slide[3] for slide in seen["next"]] == [len(CHARTS[name][step]) for name, step in SLIDES]


def test_on_the_way_every_value_stays(walked):
    at, seen = walked
    kept = Settings("the cat saw the dog", 7, 3, 11), "2", "columns", View(True, frozenset({"seed"}))
    assert {slide[2] for slide in (*seen["next"], *seen["back"])} == {kept}
    link = SENTENCE | {"head": "2", "queries_in": "columns", "present": "1", "hide": "seed"}
    assert {key: at.query_params[key] for key in link} == link


def test_a_step_that_another_page_does_not_have_becomes_its_first():
    at = open_page("causal_mask", present="1", step="leak")
    assert go_to(at, "home").session_state["step"] == "links"
    assert notices(at) == []
    assert len(charts(at)) == 1


def test_leave_ends_the_presentation_on_the_page_and_with_the_values_of_its_slide():
    at = open_page("causal_mask", present="1", step="corners", hide="seed", **SENTENCE, causal="false", n_key="7")
    press(at, "Leave")
    assert view_of(at) == View(False, frozenset({"seed"}))
    assert "present" not in at.query_params
    assert hidden_keys(at) == ({"seed"}, set())
    assert settings_of(at) == Settings("the cat saw the dog", 7, 3, 11)
    assert values_of(at, ("causal", "n_key")) == {"causal": False, "n_key": 7}
    assert len(charts(at)) == 8
    press(at, "Present")
    assert view_of(at) == View(True, frozenset({"seed"}))
    assert at.session_state["step"] == "corners"
    assert values_of(at, ("causal", "n_key")) == {"causal": False, "n_key": 7}


MOVED = {
    "home": {"head": 1, "query": 3},
    "why_attention": {"radius": 1, "relative": False, "as_elsewhere": True, "word": 2, "query": 3, "head": 1},
    "query_key_value": {"head": 1, "query": 3, "key": 1, "feature": 2, "of": "V"},
    "scaling_sweep": {"keys": 8, "draws": 50, "dims": [64, 4], "draw": 0, "draw_key": 6},
    "causal_mask": {
        "causal": False, "head": 1, "query": 2, "key": 0, "replace": 1, "by": "cat", "n_query": 3, "n_key": 7,
        "corner_query": 2, "corner_key": 6,
    },
    "order_blindness": {"order": "1 0 2 3 4", "positions": "rotary", "head": 1, "word": 2, "feature": 3, "entry": 1},
    "multi_head": {"head": 1, "query": 2, "key": 0, "entry": 5},
    "encoder_block": {"activation": "relu", "word": 2, "entry": 5, "unit": 13, "factor": 2},
    "stack": {
        "depth": 7, "stack_width": 1, "stack_heads": 0, "activation": "relu", "matrix": 1, "keep_skip": False,
        "keep_final_norm": False,
    },
    "common_mistakes": {"mistake": 7, "made": False, "head": 1, "query": 2, "key": 0},
    "kv_cache": {"new_words": 7, "decoder_layers": 3, "t": 6, "layer": 2, "head": 1, "key": 9},
    "parameter_count": {"d_model": 48, "block_heads": 6, "d_ff": 101, "layers": 3, "tensor": 5},
    "three_shapes": {"target": "ek balla", "part": "encoder", "head": 1, "query": 3, "key": 2, "reach_layers": 4},
    "cost": {
        "tokens": 64, "model_width": 256, "model_heads": 4, "batch": 2, "bytes": 8, "cost_causal": True,
        "context": 128, "cache_batch": 8, "cache_bytes": 1, "own_layers": 3, "own_heads": 6, "own_kv_heads": 2,
        "own_d_head": 5,
    },
    "learning": {
        "task": "mask", "left_out": True, "snapshot": 7, "pace": "slow", "own": "the cat sees", "ending": "roomy",
    },
    "real_model": {"shown_as": "pieces", "ends": False, "model_layer": 1, "model_head": 7, "query": 2, "key": 1},
    "practice": {"exercise": 3, "number": 5},
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_what_is_changed_on_one_slide_is_still_so_on_the_others_and_after_leaving(name):
    at = open_page(name, present="1")
    left, pending = {}, dict(MOVED[name])
    for step in LESSON[name].steps:
        if at.session_state["step"] != step:
            at.button(key="step_next").click()
            run(at)
        assert at.session_state["step"] == step
        assert values_of(at, left) == left, step
        visible = {element.key for element in in_sight(at) if getattr(element, "key", None)}
        for key in [key for key in pending if key in visible]:
            change(at, **{key: pending[key]})  # one by one: a picker's choices depend on the controls before it
            left[key] = pending.pop(key)
        left.pop("of", None)  # exists on its own step only; followed below
    assert pending == {}
    press(at, "Leave")
    assert values_of(at, left) == left
    if name == "query_key_value":
        assert value_of(change(at, step="project"), "of") == "V"


# Hidden controls


def test_lesson_values_leave_a_hidden_control_alone():
    at = open_page("order_blindness", hide="seed,head", d="7", seed="11", head="1", positions="rotary")
    press(at, "Lesson values")
    assert settings_of(at) == Settings("dog bites the man", 4, 2, 11)
    assert values_of(at, ("head", "positions", "order")) == {"head": 1, "positions": "sinusoidal", "order": "3 1 2 0"}


def test_a_preset_leaves_a_hidden_control_alone():
    at = press(open_page("parameter_count", hide="d_ff", d_ff="101"), "Transformer base")
    assert values_of(at, ("d_model", "block_heads", "d_ff")) == {"d_model": 512, "block_heads": 8, "d_ff": 101}


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize(
    ("hidden", "expected"),
    [("query", (4, 3, "softmax")), ("key", (1, 0, "softmax")), ("step", (1, 3, "overview")), ("d", (1, 3, "softmax"))],
)
def test_a_click_leaves_a_hidden_control_alone(hidden, expected, side):
    at = open_page("query_key_value", hide=hidden, query="4 bat", key="0 Meera", queries_in=side)
    click_cell(at, "weights", *((1, 3) if side == "rows" else (3, 1)))
    assert (value_of(at, "query"), value_of(at, "key"), at.session_state["step"]) == expected


# Queries in columns

TURNED_TITLES = {
    "scores Q Kᵀ": "scores K Qᵀ",
    "scaled ÷ √7": "scaledᵀ ÷ √7",
    "weights: softmax": "weightsᵀ: softmax",
    "mask: may attend = 1": "maskᵀ: may attend = 1",
    **{f"{part}: may attend = 1": f"{part}ᵀ: may attend = 1" for part in ("encoder", "decoder", "cross")},
    **{f"{part}: weights": f"{part}: weightsᵀ" for part in ("encoder", "decoder", "cross")},
}
STATES = {
    "query_key_value": {"head": "2", "query": "3 the", "key": "1 cat", "feature": "5", "step": "overview"},
    "query_key_value, mixed": {"head": "2", "query": "3 the", "key": "1 cat", "feature": "5", "step": "mix"},
    "query_key_value, projected": {"query": "3 the", "key": "1 cat", "feature": "5", "step": "project", "of": "K"},
    "causal_mask": {"head": "2", "query": "1 cat", "key": "3 the", "replace": "2 saw", "n_query": "3", "n_key": "7",
                    "corner_query": "2", "corner_key": "5"},
    "order_blindness": {"head": "2", "order": "4 2 0 1 3", "word": "3 the", "feature": "5", "entry": "13"},
    "order_blindness, rotary": {"head": "2", "positions": "rotary", "word": "3 the", "feature": "5", "entry": "2"},
    "three_shapes": {"head": "2", "target": "ek balla", "cross_mask": "window-1~AD", "query": "1 balla",
                     "key": "3 the"},
    "three_shapes, decoder": {"shape": "decoder", "decoder_mask": "window-1~AD~CC", "query": "1 cat", "key": "3 the"},
    "home": {"head": "2"},
    "scaling_sweep": {"keys": "8"},
    "real_model": {"model_layer": "1", "model_head": "7", "query": "3 saw", "key": "1 the"},
    "parameter_count": {"d_ff": "101"},
    "cost": {"tokens": "64"},
    "learning": {"task": "pronoun", "snapshot": "20"},
    "practice": {"exercise": "weights", "number": "3"},
}  # fmt: skip
OUTLINED_AS = {"": "", "cell": "cell", "row": "column", "column": "row"}


def titles(drawn):
    """Title, and what a row and a column are, of each matrix in a chart."""
    spec = json.loads(drawn.proto.spec)
    written = read_captions(pa.ipc.open_stream(drawn.proto.data.data).read_all())
    for part, words in zip(spec.get("hconcat", [spec]), written, strict=True):
        said = part["layer"][0]["mark"]["tooltip"]["expr"]
        row, column = re.search(r'"([^"]*)": datum\.row_name, "([^"]*)": datum\.column_name', said).groups()
        yield (
            words["title"],
            row,
            column,
            words["rows"] or None,
            words["columns"] or None,
        )


def turned_title(title):
    name, rows, columns = re.fullmatch(r"(.*) \((\d+) × (\d+)\)", title).groups()
    return f"{TURNED_TITLES.get(name, f'{name}ᵀ')} ({columns} × {rows})"


def cells_of(frame):
    """Everything that is drawn of each cell, by its place; and the sums."""
    cells = frame[frame.step != -2].sort_values(["row_position", "column_position"]).reset_index(drop=True)
    sums = frame[frame.step == -2]
    return cells, sums


@pytest.mark.parametrize("state", STATES)
def test_every_matrix_with_queries_in_columns_is_the_transpose(state):
    name = state.partition(",")[0]
    in_rows = open_page(name, **SENTENCE | STATES[state])
    in_columns = open_page(name, **SENTENCE | STATES[state] | {"queries_in": "columns"})
    heat_maps = 0
    assert alternatives(in_columns) == alternatives(in_rows), "the takeaway names rows and columns as in the code"
    pairs = zip(
        charts(in_rows), charts(in_columns), in_rows.get("vega_lite_chart"), in_columns.get("vega_lite_chart"),
        strict=True,
    )  # fmt: skip
    for (alt, one), (other_alt, other), drawn, redrawn in pairs:
        assert other_alt == alt
        if "row_position" not in one:
            assert one.equals(other), alt
            assert drawn.proto.spec == redrawn.proto.spec
            continue
        before, after = list(titles(drawn)), list(titles(redrawn))
        for (title, *axes), (new_title, *new_axes) in zip(before, after, strict=True):
            assert new_title == turned_title(title)
            assert new_axes[:2] == axes[1::-1]
            for caption, title_of_axis in zip(new_axes[2:], new_axes[:2], strict=True):
                assert caption is None or caption.startswith((title_of_axis, "n = ", "d = ", "d_model = ", "d / 2 = "))
        for part in one.matrix.unique():
            heat_maps += 1
            cells, sums = cells_of(one[one.matrix == part])
            new_cells, new_sums = cells_of(other[other.matrix == part])
            turned = new_cells.sort_values(["column_position", "row_position"]).reset_index(drop=True)
            for of_row, of_column in (
                ("row", "column"),
                ("row_position", "column_position"),
                ("row_name", "column_name"),
            ):
                assert turned[of_row].tolist() == cells[of_column].tolist(), (alt, of_row)
                assert turned[of_column].tolist() == cells[of_row].tolist(), (alt, of_column)
            np.testing.assert_array_equal(turned.value.astype(float), cells.value.astype(float), err_msg=alt)
            for field in ("text", "step", "note"):
                assert turned[field].tolist() == cells[field].tolist(), (alt, field)
            assert turned.outline.tolist() == [OUTLINED_AS[mark] for mark in cells.outline], alt
            assert new_sums.text.tolist() == sums.text.tolist()
            assert new_sums.column_name.tolist() == sums.row_name.tolist()
            if len(sums):
                assert set(new_sums.row_position) == {cells.column_position.max() + 1}, "below, not beside"
                assert set(sums.column_position) == {cells.column_position.max() + 1}
    expected = {
        "home": 0,
        "why_attention": 0,
        "scaling_sweep": 0,
        "parameter_count": 0,
        "stack": 0,
        "cost": 0,
        "learning": 6,
        "real_model": 2,
        "causal_mask": 8,
        "query_key_value": 11,
        "practice": 2,
        "three_shapes": 9,
        "three_shapes, decoder": 5,
    }
    assert heat_maps == expected.get(state, expected.get(name, 7))


TABLES = {
    "learning": ("learning_numbers", "shares of the answers"),
    "real_model": ("real_numbers", "weights as shown"),
    "home": ("home_numbers", "weights of this head"),
    "why_attention": ("why_numbers", "what each word moves"),
    "query_key_value": ("qkv_numbers", "Q"),
    "scaling_sweep": ("scaling_numbers", "entropy (nats), raw scores"),
    "causal_mask": ("mask_numbers", "bottom-right"),
    "order_blindness": ("order_numbers", "output of the new order, with positions"),
    "multi_head": ("heads_numbers", "joined"),
    "encoder_block": ("block_numbers", "hidden"),
    "three_shapes": ("shapes_numbers", "cross: weights"),
    "kv_cache": ("cache_numbers", "logits"),
    "practice": ("practice_numbers", "weights"),
    "common_mistakes": ("mistake_numbers", "measures"),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_table_behind_the_pictures_is_turned_and_the_code_says_so(name, records):
    key, matrix = TABLES[name]
    table = numbers(open_page(name, **SENTENCE), key, matrix)
    assert records[-1].code["queries_in"] == "rows"
    kept = records[-1].matrices[matrix][0]
    turned = numbers(open_page(name, queries_in="columns", **SENTENCE), key, matrix)
    assert np.array_equal(turned.to_numpy(), table.to_numpy().T)
    assert len({*table.shape}) == 2 or name in ("home", "practice", "real_model")
    assert (list(turned.index), list(turned.columns)) == (list(table.columns), list(table.index))
    record = records[-1]
    assert np.array_equal(record.matrices[matrix][0], kept), "the files stay as in the code"
    for torch in (False, True):
        assert 'queries_in = "columns"' in scripts.compose(scripts.read_source(name, torch=torch), record.code)


def test_a_picture_of_many_cells_is_turned_too(records):
    link = {"text": " ".join(f"w{i}" for i in range(61)), "d": "17", "heads": "3", "seed": "11", "query": "7 w7"}
    both = [open_page("query_key_value", **link, queries_in=side) for side in ("rows", "columns")]
    captions = [
        {plain(body).split(" (")[0].strip(): " ".join(plain(body).split()) for body in bodies(at) if " × " in body}
        for at in both
    ]
    assert captions[0]["Q"] == "Q (61 × 17) rows n = 61, columns d = 17"
    assert captions[1]["Qᵀ"] == "Qᵀ (17 × 61) rows d = 17, columns n = 61"
    assert "scores K Qᵀ (61 × 61) rows: key (n = 61), columns: query (n = 61)" in captions[1].values()
    files = [
        next(figure.png for figure in record.figures if figure.name.startswith(("Q (", "Qᵀ ("))) for record in records
    ]
    upright, turned = (np.asarray(Image.open(io.BytesIO(file)).convert("RGB")).astype(int) for file in files)
    away = np.delete(np.arange(61), [6, 7, 8])  # from the frame around the picked query
    assert (middles(upright, 61, 17)[away] == middles(turned, 17, 61).swapaxes(0, 1)[away]).all()
    assert len(np.unique(middles(upright, 61, 17)[away].reshape(-1, 3), axis=0)) > 50


def middles(picture, rows, columns):
    """Colour in the middle of each cell."""
    down = ((np.arange(rows) + 0.5) * picture.shape[0] / rows).astype(int)
    across = ((np.arange(columns) + 0.5) * picture.shape[1] / columns).astype(int)
    return picture[down][:, across]


# Every kind of text, both ways

TEXTS = {
    "one word": "word",
    "Indic": "क्या आपके पास",
    "emoji": "👨‍👩‍👧‍👦 family 👍🏽 🇮🇳",
    "64 words": " ".join(f"w{i}" for i in range(64)),
    "equal words": "la la la",
}
SIZES = {"one word": ("1", "1"), "Indic": ("5", "3"), "64 words": ("16", "3"), "equal words": ("1", "12")}

ON_EVERY_SLIDE = {"one word", "emoji"}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", PAGES)
def test_every_text_on_slides_and_in_columns(name, kind):
    d, heads = SIZES.get(kind, ("3", "2"))
    at = open_page(name, text=TEXTS[kind], d=d, heads=heads, queries_in="columns")
    assert_finite(at)
    assert said(at, "analysed")
    nothing_to_see = name == "order_blindness" and kind in ("one word", "equal words")
    assert (not at.get("vega_lite_chart") and not at.get("image")) == nothing_to_see
    press(at, "Present")
    for step in LESSON[name].steps if kind in ON_EVERY_SLIDE else LESSON[name].steps[:1]:
        change(at, step=step)
        assert at.title[0].value == LESSON[name].title
        assert_finite(at)
        pictures = len(at.get("vega_lite_chart")) + len(at.get("image"))
        wanted = int(heads) if (name, step) == ("multi_head", "heads") else len(CHARTS[name][step])
        wanted -= (name, step, kind) == ("stack", "stream", "one word")  # which has no pair of words to compare
        assert pictures == (0 if nothing_to_see else wanted), step


def test_the_notice_of_a_bad_view_goes_when_another_view_is_taken():
    at = open_page("causal_mask", present="yes")
    assert len(notices(at)) == 1
    assert len(notices(change(at, d=7))) == 1
    assert notices(press(at, "Present")) == []
