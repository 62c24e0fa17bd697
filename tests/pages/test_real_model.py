"""Inside a real model: core's numbers in the pictures, what a text does to it, figures of the measured table only."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from core.pretrained.joining import join_words, leave_out_ends
from core.pretrained.model import MAX_PIECES, load, read_text
from core.pretrained.table import measured
from tests.pages.reading import (
    bodies,
    change,
    chart,
    charts,
    click_cell,
    matrix,
    notices,
    numbers,
    open_page,
    outlined,
    plain,
    press,
    said,
    values_of,
)
from ui import real_model
from ui.charts.heads import heads_picture
from ui.colours import PAGE, WEIGHTS

SENTENCE = "Mary called internationalisation when she arrived."
PLACE = {"model_layer": "1", "model_head": "3"}
LARGE = "Weights of layer 1, head 3"


@pytest.fixture(scope="module")
def reading():
    return read_text(load(), SENTENCE)


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found, dtype=float), wanted, rtol=0, atol=1e-12)


def names(at):
    frame = chart(at, LARGE)
    return list(dict.fromkeys(frame.row_name[frame.step != -2]))


def test_word_pieces_with_their_ends_are_the_models_own_weights(reading):
    at = open_page("real_model", text=SENTENCE, shown_as="pieces", **PLACE)
    close(matrix(at, LARGE), reading.weights[1, 3])
    assert names(at) == [f"{place} {name}" for place, name in enumerate(reading.pieces.names)]
    assert any(name.startswith("##") for name in reading.pieces.names)


def test_whole_words_add_columns_and_average_rows(reading):
    at = open_page("real_model", text=SENTENCE, **PLACE)
    close(matrix(at, LARGE), join_words(reading.weights[1, 3], reading.pieces.word_of))
    assert "3 internationalisation" in names(at)


def test_without_the_ends_each_row_is_brought_back_to_one(reading):
    at = open_page("real_model", text=SENTENCE, ends="false", **PLACE)
    wanted = leave_out_ends(join_words(reading.weights[1, 3], reading.pieces.word_of))
    close(matrix(at, LARGE), wanted)
    close(matrix(at, LARGE).sum(axis=1), 1.0)
    assert names(at)[0] == "0 mary"
    close(numbers(at, "real_numbers", "weights as shown"), wanted)


def test_a_click_on_a_head_shows_it_large_and_one_on_a_cell_picks_it():
    at = open_page("real_model")
    box = at.session_state
    assert values_of(at, ("model_layer", "model_head")) == {"model_layer": 3, "model_head": 1}
    click_cell(at, "one_head", 4, 5)
    assert (box["query"], box["key"]) == ("4 new", "5 bat")
    assert outlined(at, "Weights of layer 3, head 1")[0] == [(4, 5)]
    at = open_page("real_model", model_layer="0", model_head="2")
    assert "previous word" in said(at, "Measured as")
    picked = chart(at, "Weights of 6 × 12 heads")
    assert picked[picked.picked][["layer", "head", "name"]].to_numpy().tolist() == [[0, 2, "previous word"]]


def test_the_picture_holds_every_head_in_its_place():
    weights = np.zeros((2, 3, 5, 5))
    weights[1, 2, 4, 0] = 1.0
    image = Image.open(io.BytesIO(heads_picture(weights))).convert("RGB")
    side = image.width // 3
    assert image.size == (3 * side, 2 * side)
    pixels = np.asarray(image)
    hexes = np.array(["#{:02X}{:02X}{:02X}".format(*pixel) for pixel in pixels.reshape(-1, 3)]).reshape(
        pixels.shape[:2]
    )
    rows, columns = np.nonzero(hexes == WEIGHTS.light[100])
    assert rows.size == 8 * 8
    assert rows.min() > 1.7 * side
    assert side * 2 < columns.min() < columns.max() < side * 2.3
    assert set(hexes.ravel()) == {WEIGHTS.light[100], WEIGHTS.light[0], PAGE.light}


def test_the_picture_of_the_page_is_that_of_its_weights(reading):
    at = open_page("real_model", text=SENTENCE, shown_as="pieces", **PLACE)
    (address,) = [url for url in chart(at, "Weights of 6 × 12 heads").url if url]
    assert base64.b64decode(address.partition(",")[2]) == heads_picture(reading.weights)


def test_all_heads_of_the_longest_text_take_less_than_a_megabyte():
    longest = " ".join(["The", "committee's", "unbelievably", "small", "boat,"] * 12)
    at = open_page("real_model", text=longest, shown_as="pieces")
    n = int(said(at, "word pieces:").split()[0])
    assert 100 < n <= MAX_PIECES
    sent = [len(element.proto.data.data) + len(element.proto.spec) for element in at.get("vega_lite_chart")]
    sent += [len(body) for body in bodies(at)]
    assert sum(sent) < 1_000_000


def test_a_text_that_is_too_long_is_read_as_far_as_it_fits():
    at = open_page("real_model", text=" ".join(f"w{i}" for i in range(64)))
    (line,) = notices(at)
    assert f"at most {MAX_PIECES} word pieces" in line
    assert "the first 62 of 64 words are read" in line


def test_a_word_that_is_too_long_by_itself_ends_the_page_in_a_sentence():
    at = open_page("real_model", text="!" * 200)
    assert "the first word alone has more" in at.info[0].value
    assert charts(at) == []


def test_a_text_of_which_nothing_is_left_ends_the_page_in_a_sentence():
    at = open_page("real_model", text="\u200d")
    assert "Nothing of this sentence is left for the model" in at.info[0].value
    assert charts(at) == []


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "the क्या bat",
            "trained on English. It knows other scripts by single letters at most, so what it makes of “क्या”",
        ),
        ("a 👍 b", "no pieces for “👍”: it reads [UNK] in its place"),
        ("я ты он мы вы", "“я”, “ты”, “он” and 2 more"),
    ],
)
def test_what_it_cannot_read_is_told(text, part):
    (line,) = notices(open_page("real_model", text=text))
    assert part in line


def test_an_english_text_has_nothing_to_be_told():
    assert notices(open_page("real_model", text="Zoë's naïve café costs $5.")) == []


@pytest.mark.parametrize("label", real_model.SENTENCES)
def test_an_offered_sentence_is_set_with_its_head(label):
    sentence, (layer, head) = real_model.SENTENCES[label]
    at = press(open_page("real_model"), label)
    assert at.session_state["text"] == sentence
    assert values_of(at, ("model_layer", "model_head")) == {"model_layer": layer, "model_head": head}
    chart(at, f"Weights of layer {layer}, head {head}")


def row(sentence, layer, head, word):
    found = read_text(load(), sentence)
    weights = join_words(found.weights[layer, head], found.pieces.word_of)
    at = found.pieces.spelled.index(word)
    return dict(zip(found.pieces.spelled, weights[at], strict=True))


def test_the_offered_sentences_show_what_they_are_offered_for():
    offered = {label: sentence for label, (sentence, _) in real_model.SENTENCES.items()}
    she, he = row(offered["Mary … she"], 1, 3, "she"), row(offered["Mary … he"], 1, 3, "he")
    assert she["mary"] > 0.4 > 3 * she["john"]
    assert he["john"] / he["mary"] > 5 * she["john"] / she["mary"]
    for label in ("… new", "… empty"):
        it = row(offered[label], 3, 1, "it")
        assert it["bat"] > 0.6 > 3 * it["bag"], "it does not flip, and the page says so"
    the = row(offered["the … fence"], 3, 1, "the")
    assert the["fence"] > 0.7, "over two adjectives"
    dogs = read_text(load(), offered["two dogs"]).weights[2, 9]
    assert dogs[2].argmax() == 5, "each dog at the other one"
    assert dogs[5].argmax() == 2


def test_every_figure_of_the_table_is_the_measured_one():
    at, table = open_page("real_model"), measured()
    body = next(body for body in bodies(at) if 'aria-label="named heads"' in body)
    for pattern in table.patterns:
        line = f"{pattern.name} {pattern.layer}.{pattern.head} {pattern.cases} {pattern.mass:.2f} {pattern.hit:.2f}"
        assert line in " ".join(plain(body.replace("</td>", " </td>").replace("</th>", " </th>")).split())
    limits = said(at, "Grammar, not knowledge")
    assert f"heads is right in {table.limit.best_of_all_heads:.2f} , and" in " ".join(limits.split())
    assert f"by {table.largest_gap:.3f} at most" in said(at, "Rounded.")


def test_the_bat_stays_the_bat():
    rows = matrix(open_page("real_model", text="dog"), "What “it” looks at")
    for found, sentence in zip(rows, real_model.PAIR, strict=True):
        it = row(sentence, 3, 1, "it")
        assert found[3] == pytest.approx(it["bat"] / (1 - it["[CLS]"] - it["[SEP]"]))
        assert found.argmax() == 3


def test_the_chart_of_named_heads_holds_the_table():
    frame = chart(open_page("real_model", model_layer="1", model_head="3"), "What 10 named heads find")
    patterns = measured().patterns
    assert frame.found.tolist() == [pattern.hit for pattern in patterns]
    assert frame.distance.tolist() == [pattern.distance for pattern in patterns]
    assert frame.pattern[frame.picked].tolist() == ["pronoun to the one meant, 1.3"]


def test_words_of_the_reader_stay_words():
    at = change(open_page("real_model"), text="<b>x</b> *y* $z$")
    assert any("&lt;" in body for body in bodies(at) if "word pieces:" in body)
    assert not any("<b>x" in body for body in bodies(at))


@pytest.mark.parametrize(("n_words", "marked"), [(46, True), (47, False)])  # and the two tokens at the ends
def test_a_matrix_has_a_mark_for_every_cell_up_to_48_tokens(n_words, marked):
    at = open_page(
        "real_model", text=" ".join(["dog", "man", "cat", "tree"] * 12).rsplit(" ", 48 - n_words)[0], **PLACE
    )
    pictures = [image.alt for element in at.get("image") for image in element.proto.imgs]
    assert [alt for alt in pictures if alt.startswith(LARGE)] == ([] if marked else [LARGE])
    if marked:
        assert len(set(names(at))) == len(names(at)) == n_words + 2
