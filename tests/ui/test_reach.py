"""What the page of recurrence against attention draws and says: tables of its charts, worked arithmetic."""

import numpy as np
import pytest

from core.attention_jacobian import ask_last, influence_by_head, last_output_influence
from core.examples import draw_example, draw_recurrence
from core.recurrence import last_state_influence, recurrent_states
from tests.pages.reading import as_frame, plain, table_rows
from ui import far_back
from ui.charts.heat_map import word_axis
from ui.charts.reach import FLOOR, MODELS, exponent_text, lengths_table, words_chart, words_table
from ui.charts.shelf import shelf_table

WORDS = ("the", "cat", "saw", "<b>", "dog")
NAMES = word_axis("word", WORDS).names


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.5272, "0.527"),
        (0.00376, "0.00376"),
        (0.000376, "3.76 × 10⁻⁴"),
        (1e-16, "10⁻¹⁶"),
        (3.814e-62, "3.81 × 10⁻⁶²"),
        (5e-324, "4.94 × 10⁻³²⁴"),
        (1234.5, "1234"),
        (2.5e23, "2.50 × 10²³"),
    ],
)
def test_sizes_of_any_magnitude_are_short(value, said):
    assert " ".join(exponent_text(value).split()) == said
    assert " " not in exponent_text(value), "no line ends inside a number"


def test_a_table_of_words_holds_every_size_and_a_place_for_each_on_the_axis():
    sizes = {MODELS[0]: np.array([0.0, 1e-20, 1e-16, 0.5, 1.0]), MODELS[1]: np.array([0.3, 0.2, 0.1, 0.4, 1.0])}
    frame = as_frame(words_table(word_axis("word", WORDS), sizes, 3))
    first, second = (frame[frame.series == model] for model in MODELS)
    assert first.value.tolist() == sizes[MODELS[0]].tolist()
    assert first.shown.tolist() == [FLOOR, FLOOR, FLOOR, 0.5, 1.0]
    assert first.small.tolist() == [True, True, False, False, False]
    assert first.said.tolist()[0] == "0"
    assert second.value.tolist() == second.shown.tolist() == sizes[MODELS[1]].tolist()
    for part in (first, second):
        assert part.row_name.tolist() == list(NAMES)
        assert part.back.tolist() == [4, 3, 2, 1, 0]
        assert part.picked.tolist() == [False, False, False, True, False]
    assert np.isfinite(frame.shown).all()


def test_a_table_of_lengths_holds_every_size():
    frame = as_frame(lengths_table((2, 8), {MODELS[0]: np.array([0.5, 0.0]), MODELS[1]: np.array([0.25, 0.125])}))
    assert frame.length.tolist() == [2, 8, 2, 8]
    assert frame.shown.tolist() == [0.5, FLOOR, 0.25, 0.125]


def test_one_percent_is_marked_where_sizes_are_shares():
    def marks(spec):
        return [layer["mark"].get("text") for layer in spec["layer"]]

    assert "1 %" in marks(words_chart(False, True, "share"))
    assert "1 %" not in marks(words_chart(False, False, "size"))


def test_a_shelf_holds_every_word():
    frame = as_frame(shelf_table(word_axis("key", WORDS), np.arange(5.0), np.array([0.1, 0.2, 0.3, 0.4, 0.0])))
    assert frame.key_name.tolist() == list(NAMES)
    assert frame.rounded.tolist() == ["0.10", "0.20", "0.30", "0.40", "0.00"]
    assert frame.fit.tolist() == [0, 1, 2, 3, 4]


@pytest.fixture(scope="module")
def run():
    example, network = draw_example(WORDS, 7, 3, 11), draw_recurrence(21, 0.9, 11)
    states = recurrent_states(example.x, network)
    return states, last_state_influence(states, network)


@pytest.mark.parametrize("position", [0, 2, 4])
def test_the_factors_of_the_chain_multiply_to_the_size(run, position):
    states, found = run
    table = table_rows(far_back.chain(NAMES, states, found, position))
    assert [row[0] for row in table[2:-1]] == [
        *(f"over {NAMES[at]}" for at in range(4, position, -1)),
        f"into {NAMES[position]}",
    ]
    slopes = (1 - states[::-1] ** 2).mean(axis=-1)
    assert [row[1] for row in table[2:-1]] == [f"{slope:.3f}" for slope in slopes[: 5 - position]]
    factors = [float(row[2].removeprefix("× ")) for row in table[2:-1]]
    assert np.prod(factors) == pytest.approx(found.by_word[position], rel=0.01)
    products = [float(row[3]) for row in table[1:]]
    np.testing.assert_allclose(np.cumprod([1.0, *factors]), products[:-1], rtol=0.01)
    assert products[-1] == pytest.approx(found.by_word[position], rel=0.01)


def test_a_chain_cut_off_says_no_factor_behind_the_zero():
    network = draw_recurrence(3, 0.0)
    states = recurrent_states(np.ones((3, 3)), network)
    table = table_rows(far_back.chain(("0 a", "1 b", "2 c"), states, last_state_influence(states, network), 0))
    assert [row[2] for row in table[1:]] == ["", "× 0", "–", "–", ""]
    assert [row[3] for row in table[1:]] == ["1", "0", "0", "0", "0"]


def test_on_a_slide_the_middle_of_a_long_table_is_left_out(run):
    states, found = run
    long, short = (table_rows(far_back.chain(NAMES, states, found, 0, one)) for one in (False, True))
    assert [*short[:3], *short[4:]] == [*long[:3], *long[-3:]]
    assert short[3][0] == "… 2 more"
    whole = far_back.chain(NAMES, states, found, 1)
    assert far_back.chain(NAMES, states, found, 1, True) == whole or len(table_rows(whole)) > 7


def test_the_heads_give_the_size_by_attention():
    example = draw_example(WORDS, 7, 3, 11)
    asked = ask_last(example.x, example.w_q, example.w_k, example.w_v)
    whole = last_output_influence(asked)[1]
    table = table_rows(far_back.through_heads(asked.weights[:, 1], influence_by_head(asked, 1), float(whole)))
    assert [row[0] for row in table[1:-1]] == ["0", "1", "2"]
    assert [row[1] for row in table[1:-1]] == [plain(exponent_text(weight)) for weight in asked.weights[:, 1]]
    products = np.array([number(row[3]) for row in table[1:-1]])
    assert np.sqrt(np.mean(products**2)) == pytest.approx(whole, rel=0.01)
    for row in table[1:-1]:
        assert number(row[1]) * number(row[2].removeprefix("× ")) == pytest.approx(number(row[3]), rel=0.02)


def number(said):
    """A size as it was said, back as a number."""
    digits, _, power = "".join(said.split()).partition("×10")
    return float(digits) * 10.0 ** int((power or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


def test_the_reading_counts_words_and_escapes_them():
    said = far_back.reading(WORDS, 3, (0.25, 0.5))
    assert "&lt;b&gt;" in said
    assert " ".join(plain(said).split()) == (
        "<b> stands 1 word before dog . Of what the last word moves it still moves 0.25 in the recurrent network and "
        "0.5 by attention ."
    )
    assert "4 words before" in plain(far_back.reading(WORDS, 0, (0.25, 0.5)))
    assert "is the last word itself" in plain(far_back.reading(WORDS, 4, (1.0, 1.0)))


def test_steps_and_library_name_what_they_hold():
    assert table_rows(far_back.steps_table(1, 1, 3)) == [
        ["your 1 word", "steps one after another"], ["recurrent network", "1"], ["attention", "3"],
    ]  # fmt: skip
    rows = table_rows(far_back.library("<i>"))
    assert [row[0] for row in rows] == ["", "query", "key", "value"]
    assert " ".join(rows[1][2].split()) == "what <i> asks"
