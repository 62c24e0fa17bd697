"""Every page with every kind of text: content shown, nothing raised, no NaN, each word literally in the data."""

import re

import pytest

from core.pretrained.model import load
from core.pretrained.word_pieces import split_pieces
from core.tokens import split_words
from tests.pages.reading import PAGES, ROOT, assert_finite, assert_limited, bodies, charts, open_page, plain, said

TEXTS = {
    "one word": "word",
    "Indic": "क्या आपके पास",
    "emoji": "👨‍👩‍👧‍👦 family 👍🏽 🇮🇳",
    "two encodings": "café cafe\u0301",
    "right to left": "שלום world مرحبا",
    "no spaces": "我喜欢机器学习",
    "markup": "<script>alert(1)</script> a<b<c <s> &lt;",
    "dollars": "A$B$C price $5$ each",
    "Markdown": "__init__ *hi* :smile: -> a--b 1. # ~~x~~ |",
    "control characters": "a\0b x\x1by",
    "LaTeX": "100% snake_case #1 R&D {x} \\n",
    "repeated": "the cat saw the dog",
    "equal": "la la la",
    "field names": "U.S. GDP[2024] time:now ratio:N a\\b",
    "64 words": " ".join(f"w{i}" for i in range(64)),
    "71 words": " ".join(f"w{i}" for i in range(71)),
}
SIZES = {
    "one word": ("1", "1"),
    "Indic": ("64", "12"),
    "repeated": ("1", "12"),
    "equal": ("64", "1"),
    "64 words": ("64", "12"),
}
USES_WORDS = {
    "home",
    "why_attention",
    "query_key_value",
    "causal_mask",
    "order_blindness",
    "multi_head",
    "encoder_block",
    "three_shapes",
    "kv_cache",
    "common_mistakes",
}


def words_of(text):
    return split_words(text)[:64]


def names_shown(at):
    """Every name of a row, column or word in the data of charts, and in the pickers that stand beside a picture."""
    columns = ("row_name", "column_name", "query_name", "key_name")
    names = {name for _, frame in charts(at) for column in columns if column in frame for name in frame[column]}
    return names | {option for box in at.selectbox for option in box.options}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", PAGES)
def test_every_text_on_every_page(name, kind):
    d, heads = SIZES.get(kind, ("4", "2"))
    at = open_page(name, text=TEXTS[kind], d=d, heads=heads)
    words = words_of(TEXTS[kind])
    assert at.title[0].value
    assert said(at, "analysed")
    assert_finite(at)
    assert_limited(at)
    if name == "real_model":
        spelled = split_pieces(" ".join(words), load().vocabulary).spelled
        spelled = spelled if len(spelled) < 60 else spelled[:40]  # of too many pieces only the first are read
        assert {f"{i} {word}" for i, word in enumerate(spelled)} <= names_shown(at)
    elif name not in USES_WORDS:
        pictures = {"scaling_sweep": 5, "cost": 2, "learning": 6, "stack": 5 - (len(words) == 1)}
        assert len(at.get("vega_lite_chart")) == pictures.get(name, 1)
    elif name == "order_blindness" and len(set(words)) == 1:
        assert "Nothing to see with this sentence" in at.info[0].value
    elif name == "order_blindness" and not charts(at)[:-1]:  # all pictures: the words stand above them
        assert said(at, "  sentence ").split("new order")[0].split()[1:] == list(words)
    else:
        assert {f"{i} {word}" for i, word in enumerate(words)} <= names_shown(at)
    listed = next(plain(body) for body in bodies(at) if 'aria-label="words analysed"' in body)
    assert all(word in listed for word in words if len(word) < 12)
    assert not any(re.search(r"<(script>alert|s>)", body) for body in bodies(at))


MARKED = "qz1. qz2[0] qz3:N 'qz4' ${qz5} qz6\\ <qz7> $qz8$"


@pytest.mark.parametrize("name", sorted(USES_WORDS))
def test_words_are_in_the_data_and_never_in_a_specification(name):
    """The specifications of two sentences of equal length are the same, the room for their numbers apart."""
    marked, plain_words = open_page(name, text=MARKED), open_page(name, text="a b c d e f g h")
    room = re.compile(r'"name": "digits\d", "value": \d+')  # of the longest number in a cell
    specs = [
        [room.sub("", element.proto.spec) for element in at.get("vega_lite_chart")] for at in (marked, plain_words)
    ]
    assert specs[0] == specs[1]
    assert len(specs[0]) >= 1
    assert not any("qz" in spec for spec in specs[0])


@pytest.mark.parametrize("name", sorted(USES_WORDS))
def test_words_are_never_markdown(name):
    """Nothing of the reader's goes where Markdown or LaTeX is read."""
    at = open_page(name, text=MARKED)
    for kind in ("markdown", "latex", "info", "title", "header"):
        assert not any("qz" in element.value for element in at.get(kind)), kind


def test_equal_words_have_equal_weights():
    at = open_page("query_key_value", text="la la la")
    weights = next(frame for alt, frame in charts(at) if alt.startswith("Attention weights"))
    cells = weights[weights.step >= 0]
    assert cells.value.tolist() == pytest.approx([1 / 3] * 9)
    assert set(cells.step) == {33}


def test_the_same_word_in_two_encodings_has_equal_rows():
    at = open_page("query_key_value", text="café cafe\u0301")
    x = next(frame for alt, frame in charts(at) if alt.startswith("Embeddings"))
    first, second = (x[x.row_position == i].value.tolist() for i in (0, 1))
    assert first == second


def test_the_pages_under_test_are_all_there_are():
    assert set(PAGES) == {path.stem for path in (ROOT / "pages").glob("*.py")}
