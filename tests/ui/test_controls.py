"""Settings and page controls from links, their notices, and values that stay while pages change."""

import re

import pytest

from core.settings import Settings
from tests.pages.reading import (
    PAGES,
    change,
    chart,
    go_to,
    notices,
    open_page,
    press,
    run,
    said,
    settings_of,
    texts,
    value_of,
    values_of,
)
from ui.literal import literal

DEFAULTS = {"text": "Meera bought a new bat", "d": 4, "heads": 2, "seed": 0}
BAD_NUMBERS = ("", " ", "abc", "7.5", "1e1", "nan", "inf", "-1", "100000", "٣", "<b>", ["1", "2"])


def assert_ignored(at, key, default):
    """The control holds its default, nothing was raised, and one line says so."""
    assert value_of(at, key) == default
    (line,) = notices(at)
    assert f"link's {key} was ignored: wanted " in line
    assert ", given " in line
    assert "Used instead: " in line


# The sidebar


def test_a_link_sets_every_control():
    at = open_page("causal_mask", text="the cat saw the dog", d="16", heads="3", seed="7")
    assert settings_of(at) == Settings("the cat saw the dog", 16, 3, 7)
    assert notices(at) == []
    assert (at.text_input(key="text").value, at.select_slider(key="d").value) == ("the cat saw the dog", 16)
    assert (at.select_slider(key="heads").value, at.number_input(key="seed").value) == (3, 7)
    assert said(at, "Model width") == " Model width: 3 heads × 16 = 48 "


@pytest.mark.parametrize(("key", "value"), [("d", "1"), ("d", "64"), ("heads", "12"), ("seed", "9999"), ("seed", "0")])
def test_the_ends_of_a_range_are_allowed(key, value):
    at = open_page("home", **{key: value})
    assert at.session_state[key] == int(value)
    assert notices(at) == []


@pytest.mark.parametrize("value", BAD_NUMBERS, ids=repr)
def test_a_wrong_number_leaves_the_default_and_is_named(value):
    """Of the size, the number of heads and the seed alike."""
    at = open_page("home", d=value, heads=value, seed=value)
    assert settings_of(at) == Settings()
    assert values_of(at, DEFAULTS) == DEFAULTS
    for line, key in zip(notices(at), ("d", "heads", "seed"), strict=True):
        assert f"link's {key} was ignored: wanted " in line
        assert f"Used instead: {DEFAULTS[key]}." in line


@pytest.mark.parametrize("value", ["", " \t\n\u3000", ["one text", "another"]], ids=["empty", "blank", "twice"])
def test_a_wrong_text_leaves_the_default_and_is_named(value):
    at = open_page("query_key_value", text=value)
    assert_ignored(at, "text", DEFAULTS["text"])
    assert settings_of(at).words == ("Meera", "bought", "a", "new", "bat")


def test_each_wrong_parameter_has_its_line_and_the_others_are_used():
    at = open_page("home", d="x", heads="99", seed="-1", text="dog bites man")
    assert [next(key for key in DEFAULTS if f"link's {key} " in line) for line in notices(at)] == ["d", "heads", "seed"]
    assert settings_of(at) == Settings("dog bites man", 4, 2, 0)


def test_a_notice_stays_until_its_control_is_changed():
    at = run(open_page("home", d="x", heads="99"))
    assert len(notices(at)) == 2
    go_to(at, "causal_mask")
    assert len(notices(at)) == 2
    for d in (8, 4):  # back at the default, too
        (line,) = notices(change(at, d=d))
        assert "link's heads" in line


def test_a_notice_of_a_number_that_is_typed_stays_as_well():
    at = open_page("encoder_block", d="64", unit="x", step="y")
    assert [next(key for key in ("unit", "step") if f"link's {key} " in line) for line in notices(at)] == [
        "unit",
        "step",
    ]
    for seed in (1, 2):
        assert "link's unit" in notices(change(at, seed=seed))[0]
    for unit in (7, 0):  # back at the default, too
        assert not any("link's unit" in line for line in notices(change(at, unit=unit)))


@pytest.mark.parametrize(
    "link", [{"unknown": "1"}, {"page": "zzz"}, {"embed": "true"}, {"D": "16"}, {"<b>": "<i>"}], ids=str
)
def test_an_unknown_parameter_is_ignored_in_silence(link):
    at = open_page("home", **link)
    assert settings_of(at) == Settings()
    assert notices(at) == []


def test_what_a_link_gave_is_shown_literally():
    at = open_page("home", d="<i>x</i>")
    assert "given “<i>x</i>”" in notices(at)[0]
    assert not any("<i>" in element.proto.body for element in at.get("html"))


def test_a_long_text_is_cut_between_words_and_said():
    text = " ".join(f"word{i:03}" for i in range(100))
    at = open_page("home", text=text)
    kept = at.session_state["text"]
    assert kept == " ".join(f"word{i:03}" for i in range(75))
    assert len(kept) <= 600 < len(kept + " word075")
    assert "wanted at most 600 characters, given 799. Used instead: its first 599" in notices(at)[0]


def test_a_text_of_600_characters_is_kept():
    text = " ".join(["bat"] * 150) + "t"
    at = open_page("home", text=text)
    assert len(text) == 600
    assert at.session_state["text"] == text
    assert notices(at) == []


@pytest.mark.parametrize("text", ["a+b & c#d 100% é 🙂", "one\ntwo", "x=1&d=9 ?y"])
def test_characters_of_a_link_arrive_as_sent(text):
    at = open_page("home", text=text)
    assert at.session_state["text"] == text
    assert settings_of(at).d_head == 4


@pytest.mark.parametrize(
    ("n_words", "said_of_them"),
    [
        (1, "1 word analysed"),
        (64, "64 words analysed"),
        (65, "The first 64 of 65 words are analysed"),
        (71, "The first 64 of 71 words are analysed"),
    ],
)
def test_the_words_that_are_analysed_are_said(n_words, said_of_them):
    at = open_page("home", text=" ".join(f"w{i}" for i in range(n_words)))
    listed = said(at, "analysed")
    assert said_of_them in listed
    assert listed.split(":")[1].replace("·", " ").split() == [f"w{i}" for i in range(min(n_words, 64))]
    assert len(chart(at, "Lines")) == min(n_words, 64) ** 2


def test_a_text_without_spaces_gets_a_hint():
    hint = "put a space between its words or characters to get more"
    assert any(hint in text for text in texts(open_page("home", text="我喜欢机器学习")))
    assert not any(hint in text for text in texts(open_page("home", text="bat")))


@pytest.mark.parametrize("name", PAGES)
def test_an_emptied_sentence_gets_one_friendly_sentence(name):
    at = change(open_page(name), text=" \t\u3000")
    needs_words = name not in ("scaling_sweep", "parameter_count", "cost", "learning", "practice")
    assert any("No word yet" in text for text in texts(at))
    assert [info.value.startswith("This page needs a sentence") for info in at.info] == [True] * needs_words
    assert not any("0 × 0" in text or "nan" in text.lower() for text in texts(at))
    assert (len(at.get("vega_lite_chart")) == 0) == needs_words


@pytest.mark.parametrize(
    ("name", "link"),
    [("order_blindness", {"text": "word"}), ("parameter_count", {"d_model": "33"}), ("cost", {"model_width": "64"})],
    ids=["one word", "indivisible width", "indivisible width of a cost"],
)
def test_notices_are_shown_where_a_page_ends_early_too(name, link):
    assert any("link's seed was ignored" in line for line in notices(open_page(name, seed="x", **link)))


def test_notices_are_shown_without_a_sentence_too():
    (line,) = notices(change(open_page("causal_mask", d="x"), text=""))
    assert "link's d was ignored" in line


# Controls of the pages

PAGE_LINKS = {
    "home": {"head": 0, "query": 0},
    "query_key_value": {"head": 0, "query": 0, "key": 3},
    "scaling_sweep": {"keys": 5, "draws": 200, "dims": [4, 64, 512], "draw": 2},
    "causal_mask": {"causal": True, "head": 0, "replace": 4, "n_query": 2, "n_key": 5},
    "order_blindness": {"positions": "sinusoidal", "head": 0},
    "parameter_count": {"d_model": 32, "block_heads": 4, "d_ff": 64, "layers": 1, "biases": "all"},
    "three_shapes": {
        "shape": "encoder-decoder", "part": "cross", "reach_layers": 2,
        "encoder_mask": "full", "decoder_mask": "causal", "cross_mask": "full",
    },
    "cost": {
        "tokens": 1024, "model_width": 768, "model_heads": 12, "bytes": 4, "cost_causal": False, "context": 4096,
        "own_kv_heads": 8, "seconds": 30,
    },
    "learning": {"task": "reverse", "left_out": False, "snapshot": 50, "pace": "fast", "own": "", "ending": "tight"},
    "real_model": {"shown_as": "words", "ends": True, "model_layer": 3},
    "practice": {"exercise": 0, "number": 1},
}  # fmt: skip
WRONG = {
    "head": ("99", "-1", "7.5", "", ["0", "1"]),
    "query": ("5", "Meera"),
    "key": ("5", "nan"),
    "keys": ("7", "5.0", ""),
    "draws": ("201", "1e2"),
    "dims": ("7", "4.0", "", "abc"),
    "draw": ("3", "-1"),
    "causal": ("maybe", "", "2", ["false", "true"], ["true", "false"]),
    "replace": ("5", "bat"),
    "n_query": ("9", "0", "2.5", " "),
    "n_key": ("9", "nan"),
    "positions": ("foo", "", ["rotary", "sinusoidal"]),
    "d_model": ("7.5", "0", "16385", "1e3", "nan", "inf", "", ["48", "64"]),
    "block_heads": ("0", "2.5"),
    "d_ff": ("65537", "7.5"),
    "layers": ("201", "1.5"),
    "biases": ("foo", ""),
    "shape": ("both", "", ["encoder", "decoder"]),
    "part": ("self", ""),
    "reach_layers": ("9", "0", "1.5"),
    "encoder_mask": ("diagonal", "", "full~ABAB", ["full", "causal"]),
    "decoder_mask": ("window-65", "causal-1"),
    "cross_mask": ("causal", "prefix-2"),
    "tokens": ("1000", "262144", "64.0"),
    "model_width": ("100", ""),
    "model_heads": ("5",),
    "bytes": ("3", "16"),
    "cost_causal": ("maybe",),
    "context": ("64", "1e4"),
    "own_kv_heads": ("0", "1.5", "1025"),
    "seconds": ("3600", "-1"),
    "task": ("copy", "", ["sort", "mask"]),
    "left_out": ("positions",),
    "pace": ("slower", ""),
    "snapshot": ("51", "-1", "2.5"),
    "own": (["a", "b"], "x" * 301),
    "ending": ("new", "7"),
    "shown_as": ("letters", ""),
    "ends": ("maybe",),
    "model_layer": ("6", "-1"),
    "exercise": ("poetry", "0", ["score", "softmax"]),
    "number": ("0", "1000", "2.5", ""),
}
WRONG_LINKS = [
    pytest.param(name, key, value, default, id=f"{name}-{key}={value}")
    for name, controls in PAGE_LINKS.items()
    for key, default in controls.items()
    for value in (WRONG[key] if name != "home" else WRONG[key][:1])
]


@pytest.mark.parametrize(("name", "key", "value", "default"), WRONG_LINKS)
def test_a_wrong_page_parameter_leaves_the_default_and_is_named(name, key, value, default):
    assert_ignored(open_page(name, **{key: value}), key, default)


GOOD_LINKS = [
    (
        "real_model",
        {"shown_as": "pieces", "ends": "false", "model_layer": "0", "query": "1 ##era"},
        {"shown_as": "pieces", "ends": False, "model_layer": 0, "query": 1},
    ),
    ("home", {"head": "1", "query": "2 a"}, {"head": 1, "query": 2}),
    ("query_key_value", {"head": "1", "query": "2 a", "key": "0 Meera"}, {"head": 1, "query": 2, "key": 0}),
    ("scaling_sweep", {"keys": "8", "draws": "50"}, {"keys": 8, "draws": 50}),
    ("scaling_sweep", {"dims": ["512", "4"], "draw": "d = 512"}, {"dims": [512, 4], "draw": 0}),
    ("causal_mask", {"causal": "false", "head": "1"}, {"causal": False, "head": 1}),
    ("causal_mask", {"replace": "1 bought", "by": "cat"}, {"replace": 1, "by": "cat"}),
    ("causal_mask", {"n_query": "3", "n_key": "8"}, {"n_query": 3, "n_key": 8}),
    ("order_blindness", {"positions": "rotary", "order": "1 0 2 3 4"}, {"positions": "rotary", "order": "1 0 2 3 4"}),
    (
        "parameter_count",
        {"d_model": "512", "block_heads": "8", "d_ff": "2048", "layers": "6"},
        {"d_model": 512, "block_heads": 8, "d_ff": 2048, "layers": 6},
    ),
    ("parameter_count", {"biases": "no attention biases"}, {"biases": "no attention biases"}),
    (
        "three_shapes",
        {"shape": "decoder", "decoder_mask": "prefix-2~AD", "query": "1 bought"},
        {"shape": "decoder", "decoder_mask": "prefix-2~AD", "query": 1},
    ),
    (
        "three_shapes",
        {"target": "ek balla", "query": "1 balla", "cross_mask": "window-1~~BB"},
        {"target": "ek balla", "query": 1, "cross_mask": "window-1~~BB"},
    ),
    ("cost", {"tokens": "131072", "model_width": "12288", "model_heads": "96"}, {"tokens": 131072, "model_heads": 96}),
    ("cost", {"own_layers": "61", "own_kv_heads": "1", "seconds": "10"}, {"own_layers": 61, "seconds": 10}),
    ("learning", {"task": "copy 2", "left_out": "true", "snapshot": "7"}, {"left_out": True, "snapshot": 7}),
    ("learning", {"task": "order", "own": "man bites dog", "ending": "roomy"}, {"own": "man bites dog"}),
    ("practice", {"exercise": "causal rows", "number": "999"}, {"exercise": 7, "number": 999}),
]


@pytest.mark.parametrize(
    ("name", "link", "expected"), [pytest.param(*entry, id=f"{entry[0]}-{'&'.join(entry[1])}") for entry in GOOD_LINKS]
)
def test_a_page_parameter_is_used(name, link, expected):
    at = open_page(name, **link)
    assert values_of(at, expected) == expected
    assert notices(at) == []


def test_some_wrong_sizes_leave_the_right_ones():
    at = open_page("scaling_sweep", dims=["64", "7"])
    assert at.session_state["dims"] == [64]
    assert "link's dims was ignored" in notices(at)[0]
    assert "Used instead: 64." in notices(at)[0]


def test_a_value_that_a_list_has_twice_is_used_once_and_told():
    at = open_page("scaling_sweep", dims=["64", "4", "64"])
    assert at.session_state["dims"] == [64, 4]
    assert "each once, given “64” and “4” and “64”. Used instead: 64, 4." in notices(at)[0]


@pytest.mark.parametrize(
    ("order", "part"),
    [
        ("1+1", "wanted each of 0 to 4 once, separated by spaces; given: 1+1. Used instead: 4 1 2 3 0"),
        ("0 0 0 0 0", "wanted each of 0 to 4 once; given: 5 positions, without 1, 2, 3, 4. Used instead: 4 1 2 3 0"),
        ("1 0", "given: 2 positions, without 2, 3, 4"),
        ("0 1 2 3 4", "the sentence reads as before"),
    ],
)
def test_a_wrong_order_is_explained(order, part):
    at = open_page("order_blindness", order=order)
    assert [part in line for line in notices(at)] == [True]


@pytest.mark.parametrize("key", ["by", "order", "target"])
def test_a_text_that_is_given_twice_or_too_long_is_named(key):
    name = {"by": "causal_mask", "order": "order_blindness", "target": "three_shapes"}[key]
    for value in (["1", "2"], "9" * (601 if key == "target" else 301)):
        at = open_page(name, **{key: value})
        assert any(f"link's {key} was ignored" in line for line in notices(at)), (value, notices(at))


@pytest.mark.parametrize(("heads", "expected"), [(4, 2), (2, 1)], ids=["still there", "gone"])
def test_a_head_that_no_longer_exists_falls_back_to_the_last(heads, expected):
    at = change(open_page("causal_mask", heads="3"), head=2)
    assert value_of(change(at, heads=heads), "head") == expected


def test_pickers_follow_the_sentence_by_number():
    at = change(open_page("query_key_value"), query=1, key=4)
    assert values_of(change(at, text="the cat saw"), ("query", "key")) == {"query": 1, "key": 2}
    assert values_of(change(at, text="one"), ("query", "key")) == {"query": 0, "key": 0}


def test_pickers_tell_equal_words_apart():
    at = change(open_page("query_key_value", text="the cat saw the dog"), query=3)
    assert value_of(at, "query") == 3
    assert at.selectbox(key="query").options == ["0 the", "1 cat", "2 saw", "3 the", "4 dog"]


# Values stay


def test_the_sidebar_keeps_its_values_on_every_page_and_back():
    at = change(open_page("query_key_value"), text="my own words", d=32, heads=3, seed=11)
    for name in (*PAGES, "query_key_value"):
        assert settings_of(go_to(at, name)) == Settings("my own words", 32, 3, 11)
        assert at.text_input(key="text").value == "my own words"
        assert at.select_slider(key="d").value == 32


CHANGES = {
    "why_attention": {
        "radius": 4,
        "relative": False,
        "as_elsewhere": True,
        "word": 3,
        "query": 2,
        "head": 1,
    },
    "causal_mask": {"causal": False, "replace": 1, "by": "cat", "n_query": 5, "n_key": 3, "head": 1},
    "order_blindness": {"positions": "rotary", "order": "1 0 2 3 4", "head": 1},
    "scaling_sweep": {"keys": 8, "draws": 50, "dims": [64, 4]},
    "parameter_count": {"d_model": 512, "block_heads": 8, "d_ff": 2048, "layers": 6},
    "cost": {"tokens": 4096, "model_width": 1024, "model_heads": 32, "own_kv_heads": 4, "context": 256, "seconds": 10},
    "learning": {"task": "sort", "left_out": True, "snapshot": 13, "own": "314592", "ending": "roomy"},
    "practice": {"exercise": 4, "number": 7},
    "query_key_value": {"head": 1, "query": 2, "key": 1, "feature": 3, "trained": True},
    "multi_head": {"head": 1, "query": 2, "key": 1, "entry": 5},
    "stack": {"depth": 7, "stack_width": 1, "matrix": 2, "activation": "relu", "keep_skip": False},
    "common_mistakes": {"mistake": 6, "made": False, "head": 1, "query": 2, "key": 1},
    "kv_cache": {"new_words": 7, "decoder_layers": 3, "layer": 0, "head": 1, "key": 5, "cross": True, "source": "er"},
    "real_model": {"shown_as": "pieces", "ends": False, "model_layer": 1, "model_head": 7, "query": 2, "key": 4},
    "encoder_block": {"word": 3, "entry": 5, "unit": 13, "norm": "post", "activation": "relu"},
    "three_shapes": {
        "target": "ek balla",
        "part": "encoder",
        "head": 1,
        "query": 2,
        "key": 1,
        "reach_layers": 5,
        "encoder_mask": "window-2~AE",
        "decoder_mask": "full",
        "cross_mask": "padding-1~~BA",
    },
}


@pytest.mark.parametrize(("name", "changes"), CHANGES.items(), ids=CHANGES)
def test_controls_of_a_page_keep_their_values_over_a_visit_to_another(name, changes):
    at = change(open_page(name), **changes)
    assert values_of(at, changes) == changes
    go_to(go_to(at, "home"), name)
    assert values_of(at, changes) == changes


# Lesson values

LESSON = {
    "home": DEFAULTS,
    "why_attention": DEFAULTS
    | {"text": "Meera put the bat in her bag because it was new", "word": 3, "radius": 3, "relative": True}
    | {"as_elsewhere": False, "query": 8, "head": 0},
    "query_key_value": DEFAULTS | {"head": 0, "query": 0, "key": 3, "trained": False},
    "scaling_sweep": DEFAULTS | {"seed": 1, "dims": [4, 64, 512], "keys": 5},
    "causal_mask": DEFAULTS | {"head": 0, "causal": True},
    "order_blindness": {
        "text": "dog bites the man", "d": 4, "heads": 2, "seed": 3,
        "head": 0, "order": "3 1 2 0", "positions": "sinusoidal",
    },
    "real_model": DEFAULTS
    | {"shown_as": "words", "ends": True, "model_layer": 3, "model_head": 1, "query": 3, "key": 5},
    "multi_head": DEFAULTS | {"head": 0, "query": 0, "key": 3, "entry": 0},
    "encoder_block": DEFAULTS | {"word": 0, "entry": 0, "unit": 0, "norm": "pre", "activation": "gelu", "factor": 1},
    "stack": DEFAULTS | {
        "depth": 12, "stack_width": 2, "stack_heads": 2, "activation": "gelu", "matrix": 0, "keep_skip": True,
    },
    "common_mistakes": DEFAULTS | {"mistake": 0, "made": True, "head": 0, "query": 0, "key": 3},
    "kv_cache": DEFAULTS
    | {"new_words": 5, "decoder_layers": 2, "t": 3, "layer": 1, "head": 0, "key": 1, "cross": False,
       "source": "Meera kaufte einen neuen Schläger"},
    "parameter_count": DEFAULTS | {"d_model": 32, "block_heads": 4, "d_ff": 64, "layers": 1, "biases": "all"},
    "three_shapes": DEFAULTS | {
        "shape": "encoder-decoder", "target": "Meera ne ek naya balla kharida", "part": "cross", "head": 0, "query": 0,
        "key": 0, "reach_layers": 2, "encoder_mask": "full", "decoder_mask": "causal", "cross_mask": "full",
    },
    "cost": DEFAULTS | {
        "tokens": 1024, "model_width": 768, "model_heads": 12, "own_kv_heads": 8, "context": 4096, "seconds": 30,
    },
    "learning": DEFAULTS | {"task": "reverse", "left_out": False, "snapshot": 50, "own": "", "ending": "tight"},
    "practice": DEFAULTS | {"exercise": 0, "number": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_lesson_values_set_everything(name):
    """After every control was changed, and the sentence emptied, too."""
    at = open_page(name, text="la lo lu li le", d="7", heads="5", seed="99")
    change(at, **CHANGES.get(name, {}))
    change(at, text="")
    press(at, "Lesson values")
    assert values_of(at, LESSON[name]) == LESSON[name]
    assert at.text_input(key="text").value == LESSON[name]["text"]
    assert settings_of(at) == Settings(*(LESSON[name][key] for key in ("text", "d", "heads", "seed")))
    assert "words analysed" in said(at, "analysed")


def test_literal_isolates_and_escapes():
    assert re.fullmatch("<bdi[^>]*>&lt;b a=&quot;1&quot;&gt;&amp;</bdi>", literal('<b a="1">&'))
