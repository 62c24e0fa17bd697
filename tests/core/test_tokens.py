"""Words of a text and their labels, in any script."""

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from core.tokens import label_words, shorten, split_words, written_without_spaces

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
THUMB = "\U0001f44d\U0001f3fd"
INDIA = "\U0001f1ee\U0001f1f3"

# Letters, white space, signs that combine, emoji parts, Chinese, controls, half a surrogate pair: what breaks words.
TROUBLE = st.text(
    st.sampled_from(
        "abE \t\n\u3000\u00a0\x1c\x00\ud800\u202e\u0301\u200d\ufe0f\u0915\u094d\u093f我日한" + FAMILY + THUMB
    )
    | st.characters(),
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(" dog  bites\tman \n", ("dog", "bites", "man"), id="runs of white space"),
        pytest.param("", (), id="empty"),
        pytest.param(" \t\n\u3000\u00a0", (), id="blank"),
        pytest.param("bat", ("bat",), id="one word"),
        pytest.param("Bat bat, BAT", ("Bat", "bat,", "BAT"), id="capitals and commas kept"),
        pytest.param("क्या आपके पास", ("क्या", "आपके", "पास"), id="Hindi"),
        pytest.param("தமிழ் மொழி", ("தமிழ்", "மொழி"), id="Tamil"),
        pytest.param(f"{FAMILY} family {THUMB} {INDIA}", (FAMILY, "family", THUMB, INDIA), id="emoji"),
        pytest.param("שלום world مرحبا", ("שלום", "world", "مرحبا"), id="right to left"),
        pytest.param("我喜欢机器学习", ("我喜欢机器学习",), id="Chinese"),
        pytest.param("<s> a<b<c &lt; A$B$C __init__", ("<s>", "a<b<c", "&lt;", "A$B$C", "__init__"), id="markup"),
        pytest.param("a\x00b", ("a\ufffdb",), id="zero byte"),
        pytest.param("x\ud800 \udc00", ("x\ufffd", "\ufffd"), id="half a surrogate pair"),
        pytest.param("\u202egnp\u2066 ok", ("\ufffdgnp\ufffd", "ok"), id="direction overrides"),
        pytest.param("a\x1cb\x85c", ("a", "b", "c"), id="controls that are white space"),
    ],
)
def test_split_words_gives_the_words_as_typed(text, words):
    assert split_words(text) == words


def test_split_words_makes_one_word_of_two_encodings():
    composed, decomposed = split_words("caf\u00e9 cafe\u0301")
    assert composed == decomposed == "caf\u00e9"


@given(TROUBLE)
def test_split_words_never_gives_an_empty_word_or_white_space_within_one(text):
    for word in split_words(text):
        assert word
        assert not any(character.isspace() for character in word)


@given(TROUBLE)
def test_split_words_of_its_own_words_changes_nothing(text):
    words = split_words(text)
    assert split_words(" ".join(words)) == words


@given(TROUBLE)
def test_split_words_gives_words_that_a_file_can_carry(text):
    for word in split_words(text):
        assert word.encode("utf-8").decode("utf-8") == word
        assert not {"Cc", "Cs"} & {unicodedata.category(character) for character in word}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param("我喜欢机器学习", True, id="Chinese"),
        pytest.param("ฉันรักคุณ", True, id="Thai"),
        pytest.param("ありがとう", True, id="hiragana"),
        pytest.param("カタカナ", True, id="katakana"),
        pytest.param("ສະບາຍດີ", True, id="Lao"),
        pytest.param("សួស្តី", True, id="Khmer"),
        pytest.param("မင်္ဂလာပါ", True, id="Myanmar"),
        pytest.param("a我b喜", True, id="two among Latin"),
        pytest.param("我", False, id="a single Chinese character"),
        pytest.param("bat", False, id="Latin"),
        pytest.param("क्या", False, id="Hindi"),
        pytest.param("사랑해", False, id="Korean"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_written_without_spaces_tells_the_scripts_apart(word, expected):
    assert written_without_spaces(word) is expected


@pytest.mark.parametrize(
    ("word", "width", "expected"),
    [
        pytest.param("abcdefghij", 10, "abcdefghij", id="just fits"),
        pytest.param("abcdefghijk", 10, "abcdefghi…", id="one too long"),
        pytest.param("ab", 2, "ab", id="smallest width fits"),
        pytest.param("abc", 2, "a…", id="smallest width cuts"),
        pytest.param("我喜欢", 6, "我喜欢", id="Chinese takes two columns"),
        pytest.param("我喜欢", 5, "我喜…", id="Chinese cut"),
        pytest.param("我喜欢", 4, "我…", id="no half Chinese character"),
        pytest.param("我喜", 2, "…", id="nothing fits"),
        pytest.param("a" + FAMILY * 2, 5, "a" + FAMILY * 2, id="emoji sequence takes two columns"),
        pytest.param("a" + FAMILY * 2, 4, "a" + FAMILY + "…", id="emoji sequence cut"),
        pytest.param("cafe\u0301s", 4, "caf…", id="letter with its sign goes whole"),
        pytest.param("", 2, "", id="nothing to cut"),
    ],
)
def test_shorten_cuts_between_visible_characters(word, width, expected):
    assert shorten(word, width) == expected


def test_shorten_counts_a_flag_as_an_emoji():
    assert shorten(INDIA * 3, 5) == INDIA * 2 + "…"


@given(TROUBLE, st.integers(2, 12))
def test_shorten_keeps_as_many_whole_visible_characters_as_fit(word, width):
    clusters = regex.findall(r"\X", word)
    columns = [2 if unicodedata.east_asian_width(cluster[0]) in "WF" else 1 for cluster in clusters]
    short = shorten(word, width)
    if sum(columns) <= width:
        assert short == word
        return
    kept = max(count for count in range(len(clusters)) if sum(columns[:count]) + 1 <= width)
    assert short == "".join(clusters[:kept]) + "…"


@pytest.mark.parametrize("width", [1, 0, -3])
def test_shorten_refuses_a_width_without_room_for_a_letter(width):
    with pytest.raises(ValueError, match=rf"width must be at least 2; got {width}$"):
        shorten("bat", width)


def test_label_words_keeps_equal_words_apart_in_sentence_order():
    words = ("the", "cat", "saw", "the", "cat")
    assert label_words(words) == ("0 the", "1 cat", "2 saw", "3 the", "4 cat")


def test_label_words_shortens_the_word_but_never_the_position():
    words = ("internationalisation",) * 12
    labels = label_words(words, width=5)
    assert labels[11] == "11 inte…"
    assert len(set(labels)) == 12


def test_label_words_refuses_a_width_without_room_for_a_letter():
    with pytest.raises(ValueError, match="width must be at least 2; got 1"):
        label_words(("bat",), width=1)
