"""What a page says about its numbers: the numbers of core, to the digit printed, with the words as typed."""

import re

import pytest

from core.parameter_count import PRESETS, encoder_block_parameters
from core.scaling import single_draws
from tests.pages.reading import plain, table_rows
from tests.ui.written import assert_written
from ui import formulas
from ui.literal import literal


def test_shares_fall_and_add_up(case):
    words, _, run, (query, _) = case
    labels = [f"{i} {word}" for i, word in enumerate(words)]
    weights = run.attention.weights[query]
    _, *rows, total = table_rows(formulas.shares(labels, weights))
    order = sorted(range(len(words)), key=lambda j: -weights[j])
    assert [row[0] for row in rows] == [labels[j] for j in order]
    assert_written([row[2] for row in rows], weights[order])
    assert total == ["row sum", "", "1.000"]


def test_the_lesson_table_of_single_draws():
    rows = table_rows(formulas.single_draws_table(single_draws((4, 64, 512), 5, 1)))[1:]
    assert rows == [
        ["d = 4", "0.48", "0.29", "0.25"],
        ["d = 64", "5.73", "0.94", "0.38"],
        ["d = 512", "14.71", "0.93", "0.31"],
    ]


@pytest.mark.parametrize(
    ("position", "with_mask", "without", "parts"),
    [
        (
            2,
            [0.0, 0.0, 0.25],
            [0.1, 0.2, 0.3],
            ["the 2 rows before it moved by exactly 0", "3 of 3 rows moved, the least by 0.1"],
        ),
        (
            1,
            [0.0, 0.5, 0.25],
            [0.1, 0.2, 0.3],
            ["the row before it moved by exactly 0", "Rows from 1 on moved by up to 0.500"],
        ),
        (
            0,
            [0.5, 0.5, 0.75],
            [0.0, 0.2, 0.3],
            ["No row stands before it", "moved by up to 0.750", "2 of 3 rows moved"],
        ),
        (2, [0.0, 1e-9, 0.25], [0.1, 0.2, 0.3], ["a row before it moved by 1e-09: that is a leak"]),
    ],
    ids=["last word", "second word", "first word", "a leak"],
)
def test_leak_verdict(position, with_mask, without, parts):
    text = " ".join(plain(formulas.leak_verdict(("a", "b", "c"), position, "d", with_mask, without)).split())
    assert f"{'abc'[position]} (position {position}) became d" in text
    assert all(part in text for part in parts), text


@pytest.mark.parametrize(
    ("title", "largest", "turned", "part"),
    [
        (
            "without positions",
            1e-16,
            False,
            "only moved along with their words; largest difference 1.0e-16, rounding only.",
        ),
        ("with positions (rotary)", 0.0, True, "With d = 1 there is no pair of features to turn"),
        ("without positions", 0.0, True, "rounding only."),
        ("with positions (sinusoidal)", 2.16661, False, "the outputs changed; largest difference 2.167."),
    ],
)
def test_order_verdict(title, largest, turned, part):
    text = plain(formulas.order_verdict(title, largest, turned)).strip()
    assert part in text
    assert text.startswith("With")


def test_published_totals():
    text = plain(formulas.published(PRESETS, 768, 12, 3072, 12, "all", 7_087_872))
    assert "✓ BERT base: 7,087,872 a block" in text
    assert "✓ Whole model 109,482,240 = 12 blocks, 85,054,464" in text
    assert "✓ Whole model 124,439,808 = 12 blocks, 85,054,464" in text
    assert "✗" not in text


def test_published_totals_are_compared():
    text = plain(formulas.published(PRESETS, 32, 4, 64, 1, "all", 8_545))
    assert "✗ Lesson block: 8,544 a block" in text
    assert "✓" not in text


@pytest.mark.parametrize(
    "sizes",
    [(32, 4, 64, 1, "none"), (32, 8, 64, 1, "all"), (33, 3, 64, 1, "all")],
    ids=["no biases", "other heads", "other width"],
)
def test_nothing_is_claimed_where_no_total_was_published(sizes):
    text = plain(formulas.published(PRESETS, *sizes, 8_544))
    assert text.strip()  # Streamlit raises on an empty one
    assert not {"✓", "✗"} & set(text)


def test_shares_of_the_parts():
    text = plain(formulas.parts_legend(encoder_block_parameters(32, 4, 64)))
    assert re.findall(r"■ ([a-z -]+) ([\d.]+) %", text) == [
        ("attention", "49.4"),
        ("feed-forward", "49.1"),
        ("layer norm", "1.5"),
    ]


# Words as typed

WORDS = ("<script>alert(1)</script>", "&lt;", '"quoted"', "it's", "<b>x</b>", "a&b", "</bdi>", "$x$", "**bold**", "\\n")


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "write",
    [
        lambda word: formulas.shares([word], [1.0]),
        lambda word: formulas.leak_verdict((word,), 0, word, [0.5], [0.5]),
        lambda word: formulas.two_sentences((word,), (word,)),
        literal,
    ],
    ids=["shares", "leak", "two sentences", "literal"],
)
def test_words_are_shown_as_typed_and_never_act(write, word):
    html = write(word)
    assert word in plain(html)
    tags = set(re.findall(r"</?([a-zA-Z!]\w*)", html))
    assert tags <= {"div", "table", "thead", "tbody", "tr", "th", "td", "bdi", "p", "b", "br", "span", "sup"}
    assert html.count("<bdi") == html.count("</bdi>")
    assert "<b>x" not in html


def test_two_sentences_keep_their_words_apart():
    first, second = re.findall("<p.*?</p>", formulas.two_sentences(("dog", "bites", "man"), ("man", "bites", "dog")))
    assert plain(first).split() == ["sentence", "dog", "bites", "man"]
    assert plain(second).split() == ["new", "order", "man", "bites", "dog"]
    assert first.count("<bdi") == 3  # each word with a reading direction of its own
