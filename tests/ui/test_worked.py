"""One cell worked out: the numbers of core, to the digit printed, in sums that add up, with the words as typed."""

import math
import re

import numpy as np
import pytest

from core.feed_forward import gelu
from core.layer_norm import layer_norm
from core.masks import causal_mask
from core.positions import rotation_angles, sinusoidal_encoding
from tests.pages.reading import plain, table_rows
from tests.ui.written import assert_written
from ui import worked


def test_dot_product(case):
    _, d_head, run, (query, key) = case
    q, k = run.q[query], run.k[key]
    header, *rows, total = table_rows(worked.products(worked.FEATURE, (worked.Q, worked.K), (q, k), "score"))
    assert " ".join(header).split() == ["feature", "q", "k", "q", "×", "k"]
    assert [row[0] for row in rows] == [str(j) for j in range(d_head)]
    for column, values in ((1, q), (2, k), (3, q * k)):
        assert_written([row[column] for row in rows], values)
    assert total[:3] == ["score", "", ""]
    assert_written(total[3:], [run.attention.scores[query, key]])


def test_division_by_the_root(case):
    _, d_head, run, cell = case
    score, scaled, _ = worked.cell_of(run.attention, *cell)
    text = plain(worked.scaled(score, scaled, d_head))
    raw, root, result = re.match(r" (\S+) ÷ √(\d+) = (\S+) ", text).groups()
    assert root == str(d_head)
    assert_written([raw, result], [run.attention.scores[cell], run.attention.scaled_scores[cell]])
    assert_written(re.findall(r"√\d+ = ([\d.]+),", text), [math.sqrt(d_head)])
    assert "masked" not in text


def test_division_under_a_mask_says_what_replaced_the_result(case):
    _, d_head, run, cell = case
    score = float(run.attention.scores[cell])
    text = plain(worked.scaled(score, -math.inf, d_head, masked=True))
    assert_written([re.match(r" (?:\S+) ÷ √\d+ = (\S+) ", text)[1]], [score / math.sqrt(d_head)])
    assert "replaced by −∞" in text


def test_softmax_of_a_row(case):
    words, _, run, (query, key) = case
    labels = [f"{i} {word}" for i, word in enumerate(words)]
    scores, weights = run.attention.scaled_scores[query], run.attention.weights[query]
    html = worked.softmax_row(labels, scores, weights, key)
    header, *rows, total = table_rows(html)
    assert [row[0] for row in rows] == labels
    exponentials = np.exp(scores - scores.max())
    for column, values in ((1, scores), (2, exponentials), (3, weights)):
        assert_written([row[column] for row in rows], values)
    sign, largest = re.match(r"e s ([−+]) (\S+)", header[2]).groups()
    assert_written([largest], [scores.max() if sign == "−" else -scores.max()])
    assert_written(total[2:], [exponentials.sum(), 1.0])
    picked = re.findall(r'<tr class="picked">(.*?)</tr>', html)
    assert [plain(row).split()[0] for row in picked] == [str(key)]


def test_softmax_of_a_masked_row(case):
    words, _, run, (query, _) = case
    scores = np.where(causal_mask(len(words))[query], run.attention.scaled_scores[query], -np.inf)
    weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    rows = table_rows(worked.softmax_row(list(words), scores, weights, 0))[1:-1]
    assert [row[1:] for row in rows[query + 1 :]] == [["−∞", "0.000", "0.000"]] * (len(words) - query - 1)


def test_softmax_of_a_row_without_any_key():
    assert "No allowed key" in worked.softmax_row(["0 a"], [-np.inf], [0.0], 0)


def test_an_output_is_the_sum_of_the_values_by_their_weights(case):
    words, _, run, (query, key) = case
    weights, feature = run.attention.weights[query], run.v.shape[1] - 1
    labels = [f"{i} {word}" for i, word in enumerate(words)]
    html = worked.mixture(labels, weights, run.v[:, feature], key)
    _, *rows, total = table_rows(html)
    assert [row[0] for row in rows] == labels
    for column, values in ((1, weights), (2, run.v[:, feature]), (3, weights * run.v[:, feature])):
        assert_written([row[column] for row in rows], values)
    assert_written(total[3:], [run.attention.output[query, feature]])
    assert [plain(row).split()[0] for row in re.findall(r'<tr class="picked">(.*?)</tr>', html)] == [str(key)]


def test_a_long_sum_tells_its_rest_in_one_line():
    left, right = np.arange(71.0), np.linspace(-1, 1, 71)
    _, *rows, total = table_rows(worked.products(worked.WIDTH, ("x", "w"), (left, right), "q"))
    assert len(rows) == 65
    assert rows[-1][0] == "7 more"
    assert_written([row[3] for row in rows], [*(left * right)[:64], (left * right)[64:].sum()])
    assert_written(total[3:], [left @ right])


@pytest.mark.parametrize(("position", "feature", "width"), [(0, 0, 8), (3, 4, 7), (5, 5, 8), (61, 6, 7)])
def test_a_sinusoid_is_worked_out(position, feature, width):
    value = sinusoidal_encoding(position + 1, width)[position, feature]
    text = plain(worked.sinusoid(position, feature, width, value))
    angle = position / 10000 ** (2 * (feature // 2) / width)
    name = "cos" if feature % 2 else "sin"
    assert_written([re.findall(r"= ([\d.]+)", text)[1]], [angle])
    written_angle, written_value = re.search(rf"{name}\(([\d.]+)\) =\s+(\S+)", text).groups()
    assert_written([written_angle, written_value], [angle, value])
    assert f"÷ 10,000 2·{feature // 2}/{width}" in " ".join(text.split())


@pytest.mark.parametrize(("gain", "shift"), [(1.25, 0.5), (0.75, -0.5)])
def test_a_layer_norm_is_worked_out(gain, shift):
    row = np.array([0.5, -2.0, 3.0, 1.5, -0.25])
    text = " ".join(plain(worked.normed(row, 3, gain, shift, 1e-5)).split())
    unit = (row[3] - row.mean()) / np.sqrt(row.var() + 1e-5)
    assert "mean of the word's 5 numbers = 0.550000" in text
    assert_written([re.search(r"variance = (\S+)", text)[1]], [row.var()])
    assert_written([re.search(r"1e-05\) = (\S+)", text)[1]], [unit])
    assert_written([text.split()[-1]], [layer_norm(row, np.full(5, gain), np.full(5, shift))[3]])


def test_an_addition_shows_the_sign_of_what_is_added():
    text = " ".join(plain(worked.addition(("X", "attention", "sum 1"), (1.5, -0.25))).split())
    assert text == "sum 1 = X + attention = 1.500000 − 0.250000 = 1.250000"


@pytest.mark.parametrize("value", [-1.5, 0.0, 2.0])
def test_a_bend_is_worked_out(value):
    text = " ".join(plain(worked.bent(value, "gelu", float(gelu(value)))).split())
    product = re.search(r"= (\S+) × (\S+) = (\S+)", text).groups()
    assert_written(product, [value, (1 + math.erf(value / math.sqrt(2))) / 2, gelu(value)])
    assert f"= {max(value, 0):.6f}" in " ".join(plain(worked.bent(value, "relu", max(value, 0.0))).split())


def test_a_sum_with_a_bias_tells_it():
    _, *rows, total = table_rows(worked.products("c", ("x", "w"), ([1.0, 2.0], [3.0, 5.0]), "h", bias=-0.5))
    assert rows[-1] == ["bias", "", "", "−0.500"]
    assert total[3] == "12.500"


@pytest.mark.parametrize(("position", "pair", "width"), [(0, 0, 2), (3, 1, 5), (13, 2, 7)])
def test_a_rotation_is_worked_out(position, pair, width):
    angle = rotation_angles(position + 1, width)[position, pair]
    text = plain(worked.rotation(position, pair, width, np.cos(angle)))
    assert f"features {2 * pair} and {2 * pair + 1}" in text
    assert_written(re.search(r"cos\(([\d.]+)\) =\s+(\S+)", text).groups(), [angle, np.cos(angle)])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((3.0, 2.25), "3.000000 − 2.250000 = 0.750000"),
        ((0.25, 0.25), "= 0.000000"),
        ((1.0, 1.0 + 4e-16), "= −4.4e−16"),
        ((-1.0, 1.0), "−1.000000 − 1.000000 = −2.000000"),
    ],
)
def test_a_difference_is_never_rounded_to_nothing(values, said):
    text = " ".join(plain(worked.subtraction(("new", "old", "moved by"), values)).split())
    assert text.startswith("moved by = new − old = ")
    assert text.endswith(said)


def test_how_far_a_row_moved_is_its_largest_difference():
    before, after = [0.5, -1.0, 2.0], [0.25, 1.5, 2.0]
    html = worked.movement(before, after)
    _, *rows, total = table_rows(html)
    assert [row[1:] for row in rows] == [
        ["0.500", "0.250", "0.250"], ["−1.000", "1.500", "2.500"], ["2.000", "2.000", "0.000"],
    ]  # fmt: skip
    assert total[3] == "2.500"
    assert [plain(row).split()[0] for row in re.findall(r'<tr class="picked">(.*?)</tr>', html)] == ["1"]


def test_a_count_is_the_product_of_its_shape():
    names = worked.size_names((768, 3072), 768, 3072)
    text = " ".join(plain(worked.count((768, 3072), names, 768 * 3072)).split())
    assert text == "d_model × d_ff = 768 × 3,072 = 2,359,296"


def test_a_dimension_has_one_colour_in_formula_and_picture():
    from ui.charts.heat_map import position_axis, word_axis
    from ui.colours import FEATURE, KEY, QUERY, WIDTH
    from ui.style import STYLE

    axes = {
        "query": (word_axis("query", ("a",)), QUERY),
        "key": (word_axis("key", ("a",)), KEY),
        "feature": (position_axis("feature", 3, "d"), FEATURE),
        "width": (position_axis("input feature", 5, "d_model"), WIDTH),
    }
    for name, (axis, hue) in axes.items():
        assert axis.hue == hue, name
        assert f".{name} {{color: light-dark({hue.light}, {hue.dark});}}" in STYLE


WORDS = ("<script>alert(1)</script>", "&lt;", '"quoted"', "it's", "a&b", "</bdi>", "$x$", "**bold**", "\\n")


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "write",
    [
        lambda word: worked.softmax_row([word], [0.0], [1.0], 0),
        lambda word: worked.mixture([word], [1.0], [2.0], 0),
    ],
    ids=["softmax", "mixture"],
)
def test_words_are_shown_as_typed_and_never_act(write, word):
    html = write(word)
    assert word in plain(html)
    assert set(re.findall(r"</?([a-zA-Z!]\w*)", html)) <= {
        "div", "table", "thead", "tbody", "tr", "th", "td", "bdi", "span", "sup",
    }  # fmt: skip
