"""The reader's settings and their way through a link: every value survives, no text breaks it."""

import dataclasses
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.settings import (
    LINK_KEYS,
    MAX_CHARACTERS,
    MAX_WORDS,
    RANGES,
    Ignored,
    Settings,
    from_query,
    quote,
    read_sentence,
    read_whole_number,
    to_query,
)

TEXT = st.text(max_size=MAX_CHARACTERS)
SETTINGS = st.builds(
    Settings,
    sentence=TEXT.filter(lambda text: text.strip()),
    **{name: st.integers(*bounds) for name, bounds in RANGES.items()},
)
# Mostly our own keys, and values near what is allowed: numbers around the bounds, long texts, several at once.
LONG = st.builds(str.__mul__, st.text("ab \n\u3000é🙂", min_size=1, max_size=11), st.integers(50, 90))
VALUES = st.text() | st.integers(-2, 10_002).map(str) | LONG
QUERIES = st.dictionaries(st.sampled_from(list(LINK_KEYS.values())) | st.text(), st.lists(VALUES, max_size=3))


def test_defaults_are_the_lessons():
    assert dataclasses.asdict(Settings()) == {
        "sentence": "Meera bought a new bat",
        "d_head": 4,
        "n_heads": 2,
        "seed": 0,
    }
    assert Settings().words == ("Meera", "bought", "a", "new", "bat")


def test_ranges_are_those_of_the_design():
    assert RANGES == {"d_head": (1, 64), "n_heads": (1, 12), "seed": (0, 9999)}
    assert (MAX_WORDS, MAX_CHARACTERS) == (64, 600)


@pytest.mark.parametrize("name", RANGES)
def test_settings_take_both_bounds_and_refuse_one_beyond(name):
    low, high = RANGES[name]
    for allowed in (low, high):
        assert getattr(Settings(**{name: allowed}), name) == allowed
    for beyond in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"{name} must be from {low} to {high}; got {beyond}$"):
            Settings(**{name: beyond})


def test_settings_refuse_a_longer_sentence():
    assert Settings("x" * 600).sentence == "x" * 600
    with pytest.raises(ValueError, match="sentence must have at most 600 characters; got 601"):
        Settings("x" * 601)


def test_settings_are_frozen_and_can_key_a_cache():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 1
    assert {Settings(seed=3): "found"}[Settings(seed=3)] == "found"


def test_d_model_is_all_heads_together():
    assert Settings(d_head=7, n_heads=3).d_model == 21


@pytest.mark.parametrize("n_words", [63, 64, 65, 100])
def test_words_are_the_first_sixty_four(n_words):
    words = tuple(str(number) for number in range(n_words))
    assert Settings(" ".join(words)).words == words[:64]


def test_a_blank_sentence_has_no_words():
    assert Settings(" \t\n\u3000").words == ()


# The way through a link


@given(SETTINGS)
def test_any_settings_survive_a_link(settings):
    assert from_query(to_query(settings)) == (settings, ())


@given(SETTINGS.filter(lambda settings: settings.sentence.isprintable()))
def test_any_settings_survive_the_encoding_of_an_address(settings):
    address = urlencode(to_query(settings), doseq=True)
    assert from_query(parse_qs(address, keep_blank_values=True)) == (settings, ())


@pytest.mark.parametrize(
    "text", ["a+b & c#d 100% é 🙂", "first line\nsecond line", "  spaces  kept ", "d=7&seed=3", "שלום world"]
)
def test_a_text_is_exactly_the_same_after_a_link(text):
    address = urlencode(to_query(Settings(text)), doseq=True)
    assert from_query(parse_qs(address)) == (Settings(text), ())


@given(QUERIES)
def test_any_link_gives_valid_settings_and_says_what_it_ignored(query):
    settings, ignored = from_query(query)
    assert Settings(**dataclasses.asdict(settings)) == settings
    for name, key in LINK_KEYS.items():
        if key not in query:
            assert getattr(settings, name) == getattr(Settings(), name)
    assert {notice.key for notice in ignored} <= set(query) & set(LINK_KEYS.values())
    assert len({notice.key for notice in ignored}) == len(ignored)


@given(QUERIES)
def test_what_a_link_gave_is_used_or_reported(query):
    settings, ignored = from_query(query)
    for name in RANGES:
        key = LINK_KEYS[name]
        if key in query and key not in {notice.key for notice in ignored}:
            (text,) = query[key]
            assert getattr(settings, name) == int(text)


def test_defaults_stay_out_of_a_link():
    assert to_query(Settings()) == {}
    assert to_query(Settings(d_head=7, n_heads=3, seed=5)) == {"d": ["7"], "heads": ["3"], "seed": ["5"]}
    assert to_query(Settings("dog bites man")) == {"text": ["dog bites man"]}


def test_a_link_sets_all_four():
    query = {"text": ["dog bites man"], "d": ["64"], "heads": ["12"], "seed": ["9999"]}
    assert from_query(query) == (Settings("dog bites man", 64, 12, 9999), ())


def test_parameters_of_other_names_are_none_of_ours():
    assert from_query({"unknown": ["1"], "page": ["zzz"], "d_head": ["7"], "D": ["7"]}) == (Settings(), ())


@pytest.mark.parametrize("text", ["abc", "", "7.5", "nan", "inf", "1e1", " 7", "7\n", "+7", "٣", "0x10", "7 7", "--7"])
@pytest.mark.parametrize("key", ["d", "heads", "seed"])
def test_a_value_that_is_no_whole_number_is_ignored_with_a_notice(key, text):
    settings, (notice,) = from_query({key: [text]})
    assert settings == Settings()
    assert (notice.key, notice.wanted.startswith("a whole number from ")) == (key, True)


@pytest.mark.parametrize(
    ("key", "text", "wanted", "used"),
    [
        ("d", "100000", "a whole number from 1 to 64", "4"),
        ("d", "-4", "a whole number from 1 to 64", "4"),
        ("d", "65", "a whole number from 1 to 64", "4"),
        ("d", "0", "a whole number from 1 to 64", "4"),
        ("heads", "13", "a whole number from 1 to 12", "2"),
        ("seed", "-1", "a whole number from 0 to 9999", "0"),
        ("seed", "10000", "a whole number from 0 to 9999", "0"),
        ("seed", "4294967296", "a whole number from 0 to 9999", "0"),
        ("seed", "18446744073709551616", "a whole number from 0 to 9999", "0"),
        ("seed", "9" * 5000, "a whole number from 0 to 9999", "0"),
    ],
    ids=lambda value: value[:24],
)
def test_a_value_out_of_range_is_ignored_and_named(key, text, wanted, used):
    settings, (notice,) = from_query({key: [text]})
    assert settings == Settings()
    given = f"“{text}”" if len(text) <= 20 else f"“{text[:19]}…”"
    assert notice == Ignored(key, wanted, given, used)


def test_a_wrong_parameter_leaves_the_right_ones():
    settings, ignored = from_query({"d": ["abc"], "heads": ["3"], "seed": ["7"], "text": ["dog"]})
    assert settings == Settings("dog", n_heads=3, seed=7)
    assert [notice.key for notice in ignored] == ["d"]


@pytest.mark.parametrize("values", [["3", "5"], ["3", "3"], []], ids=["two", "twice the same", "none"])
@pytest.mark.parametrize("key", ["text", "d"])
def test_a_parameter_must_be_given_once(key, values):
    settings, (notice,) = from_query({key: values})
    assert settings == Settings()
    assert (notice.key, notice.wanted) == (key, "one value")


@pytest.mark.parametrize("text", ["", " ", "\t\n\u3000"])
def test_a_blank_text_is_ignored_with_a_notice(text):
    settings, (notice,) = from_query({"text": [text]})
    assert settings == Settings()
    assert (notice.key, notice.wanted, notice.used) == ("text", "at least one word", "Meera bought a new bat")


def test_a_notice_is_one_sentence_that_names_the_parameter():
    _, (notice,) = from_query({"d": ["abc"]})
    wanted = "The link's d was ignored: wanted a whole number from 1 to 64, given “abc”. Used instead: 4."
    assert str(notice) == wanted


@pytest.mark.parametrize("text", ["a\x00b", "x\ud800y"], ids=["zero byte", "half a surrogate pair"])
def test_a_character_that_no_page_carries_is_replaced_in_words_and_notices(text):
    settings, ignored = from_query({"text": [text], "d": [text]})
    assert settings.words[0].count("\ufffd") == 1
    assert "\ufffd" in str(ignored[0])
    str(ignored[0]).encode("utf-8")


def test_a_seed_written_as_text_is_the_number():
    assert from_query({"seed": ["7"]}) == (Settings(seed=7), ())


# A text that is too long


def test_a_long_text_is_cut_between_words_with_a_notice():
    words = ["abcdefgh"] * 80  # 80 × 9 - 1 = 719 characters; 66 words take 593, the 67th would end at 602
    settings, (notice,) = from_query({"text": [" ".join(words)]})
    assert settings.words == ("abcdefgh",) * 64
    assert settings.sentence == " ".join(words[:66])
    assert notice == Ignored("text", "at most 600 characters", "719", "its first 593")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("x" * 600, "x" * 600, id="just fits"),
        pytest.param(f"dog {'x' * 596} man", f"dog {'x' * 596}", id="a word ends where the cut falls"),
        pytest.param(f"dog {'x' * 597}", "dog", id="the cut falls inside the last word"),
        pytest.param("x" * 601, "x" * 600, id="one long word"),
        pytest.param(f"dog{' ' * 600}man", "dog", id="white space from the first word on"),
    ],
)
def test_read_sentence_keeps_the_words_that_fit(text, kept):
    assert read_sentence(text) == kept


@pytest.mark.parametrize("gap", [1, 2])
def test_read_sentence_keeps_a_last_word_that_ends_before_the_cut(gap):
    start = "dog " + "x" * (596 - 4 - gap) + " bat"
    assert read_sentence(start + " " * gap + "man") == start  # character 600 is the last space after "bat"


def test_read_sentence_never_gives_a_blank_text():
    assert read_sentence(" " * 600 + "dog bites man").split() == ["dog", "bites", "man"]


def test_read_sentence_cuts_one_long_word_between_visible_characters():
    flag = "\U0001f1ee\U0001f1f3"
    assert read_sentence("x" + flag * 300) == "x" + flag * 299


@pytest.mark.parametrize("text", ["", " \u3000\n"])
def test_read_sentence_refuses_a_blank_text(text):
    with pytest.raises(ValueError, match="at least one word"):
        read_sentence(text)


@given(st.integers(-100, 100), st.integers(0, 20))
def test_read_whole_number_reads_what_lies_within_its_bounds(number, high):
    if 0 <= number <= high:
        assert read_whole_number(str(number), 0, high) == number
    else:
        with pytest.raises(ValueError, match=f"a whole number from 0 to {high}"):
            read_whole_number(str(number), 0, high)


@pytest.mark.parametrize(
    ("values", "quoted"),
    [
        (["abc"], "“abc”"),
        ([], "nothing"),
        (["", ""], "nothing"),
        ([" ", "\n\u3000"], "only white space"),
        ([" ", "7"], "“” and “7”"),
        (["1", "2"], "“1” and “2”"),
        (["x" * 20], f"“{'x' * 20}”"),
        (["x" * 21], f"“{'x' * 19}…”"),
        (["a\nb\x00"], "“a b\ufffd”"),
    ],
    ids=[
        "text",
        "no value",
        "empty values",
        "blank values",
        "one blank",
        "two",
        "twenty characters",
        "twenty-one",
        "line break and zero byte",
    ],
)
def test_quote_repeats_what_was_given(values, quoted):
    assert quote(values) == quoted
