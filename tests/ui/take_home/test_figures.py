"""Figures: what is on screen, in files that a printer and a word processor take."""

import base64
import copy
import io
import json
import re
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from core.parameter_count import encoder_block_parameters
from core.positions import sinusoidal_encoding
from core.scaling import single_draws, sweep
from ui.charts.bars import parameters_chart, parameters_table
from ui.charts.block import block_chart, block_table
from ui.charts.depth import depth_chart, depth_table
from ui.charts.heat_map import (
    Panel,
    captioned,
    join,
    matrix_table,
    number_text,
    position_axis,
    specification,
    word_axis,
)
from ui.charts.lines import (
    MEASURES,
    curves_chart,
    curves_table,
    drag_chart,
    drag_table,
    sweep_chart,
    sweep_table,
)
from ui.charts.links import links_chart, links_table
from ui.charts.picture import matrix_picture
from ui.charts.reach import MODELS, lengths_chart, lengths_table, words_chart, words_table
from ui.charts.shelf import shelf_chart, shelf_table
from ui.colours import SIGNED, WEIGHTS
from ui.take_home import figures
from ui.take_home.figures import (
    DEPTH_KEY,
    DOTS,
    PARTS_KEY,
    REACH_KEY,
    SPREAD_KEY,
    WIDTH,
    Figure,
    Files,
    PictureFigure,
    Swatch,
    figures_zip,
    files_of,
    png_of,
    svg_of,
)
from ui.take_home.render import _choose_typefaces

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ("मीरा", "مرحبا", "😀🇮🇳", "<b>&\"'", "=1+1")


def weights_of(seed):
    return np.random.default_rng(seed).dirichlet(np.ones(len(WORDS)), len(WORDS))


def heat_map(weights, words=WORDS, name="weights"):
    queries, keys = word_axis("query", words), word_axis("key", words)
    panel = Panel(title="softmax", row_title="query", column_title="key", n_rows=len(words), pick="cell")
    table = matrix_table(weights, queries, keys, "weights", picked=[(0, 1)])
    table = captioned(table, panel)
    return Figure(name, specification(panel, ramp="weights"), table, f"Weights, <largest> {weights.max():.2f}")


def joined():
    queries, features = word_axis("query", WORDS), position_axis("feature", 3)
    values = np.linspace(-1, 1, 15).reshape(5, 3)
    table = join(
        matrix_table(values, queries, features, matrix="w", decimals=None),
        matrix_table(values, queries, features, matrix="made"),
    )
    size = {"n_rows": 5, "n_columns": 3}
    panels = Panel(title="W_q", width=11, matrix="w", **size), Panel(title="Q", width=34, matrix="made", **size)
    return Figure("W_q and Q", specification(*panels), captioned(table, *panels), "two matrices")


REACHED = dict(zip(MODELS, (10.0 ** -np.arange(0, 30, 6), np.full(5, 0.2)), strict=True))

CHARTS = {
    "weights": lambda: heat_map(weights_of(0)),
    "joined": joined,
    "links": lambda: Figure(
        "links", links_chart(5), links_table(weights_of(0), word_axis("query", WORDS), word_axis("key", WORDS)), "lines"
    ),
    "sweep": lambda: Figure(
        "spread", sweep_chart(MEASURES[0]), sweep_table(sweep([1, 16, 64], n_draws=5)), "curves", None, SPREAD_KEY
    ),
    "reach": lambda: Figure(
        "reach",
        words_chart(False, True, "share"),
        words_table(word_axis("word", WORDS), REACHED, 1),
        "curves",
        None,
        REACH_KEY,
    ),
    "lengths": lambda: Figure("lengths", lengths_chart(True, "share"), lengths_table(range(2, 7), REACHED), "curves"),
    "shelf": lambda: Figure(
        "shelf", shelf_chart(False), shelf_table(word_axis("key", WORDS), np.zeros(5), np.full(5, 0.2)), "books"
    ),
    "drag": lambda: Figure("drag", drag_chart(), drag_table(single_draws()[1]), "bars"),
    "curves": lambda: Figure("encoding", curves_chart("feature"), curves_table(sinusoidal_encoding(12, 4)), "curves"),
    "block": lambda: Figure(
        "parts", block_chart(3), block_table(("X", "norm 1", "add 1"), (3.0, 2.5, 4.0), {"X": "add 1"}), "parts"
    ),
    "depth": lambda: Figure(
        "length",
        depth_chart("length"),
        depth_table({"pre": np.array([2.0, 8.0, 0.0]), "post": np.array([2.0, 3.0, 3.0])}, 0),
        "curves",
        None,
        DEPTH_KEY,
    ),
    "parameters": lambda: Figure(
        "parameters",
        parameters_chart(16),
        parameters_table(encoder_block_parameters(32, 4, 64)),
        "bars",
        None,
        PARTS_KEY,
    ),
}


@pytest.fixture(scope="module")
def made():
    """Every kind of chart in one go, as a page's download makes them."""
    charts = {name: make() for name, make in CHARTS.items()}
    return dict(zip(charts, files_of(list(charts.values())), strict=True))


def texts(svg):
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter(f"{SVG}text")]


def picture(png):
    return Image.open(io.BytesIO(png)).convert("RGB")


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_becomes_a_figure_that_needs_nothing_else(made, name):
    svg = made[name].svg.decode()
    root = ET.fromstring(svg)
    assert set(re.findall(r"\w+://[^\"'\s<]*", svg)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "href" not in svg
    assert "url(" not in svg.replace("url(#", "")
    assert "<script" not in svg
    assert "NaN" not in svg
    assert "undefined" not in svg
    assert len(texts(svg)) > 3
    assert root.attrib["role"] == "img"
    assert [root[0].tag, root[0].text] == [f"{SVG}title", CHARTS[name]().name]
    assert [root[1].tag, root[1].text] == [f"{SVG}desc", CHARTS[name]().alt]
    assert {node.get("opacity") for node in root.iter()} <= {None, "1"}  # a slow detour for the converter


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_white_paper_and_of_print_size(made, name):
    image = Image.open(io.BytesIO(made[name].png))
    root = ET.fromstring(made[name].svg)
    assert max(image.size) >= DOTS
    assert picture(made[name].png).getpixel((2, image.height - 3)) == (255, 255, 255)
    # Printed at the size that the file states, the type has the same size in all figures: 640 pixels are 16 cm.
    assert image.width / image.info["dpi"][0] * 2.54 == pytest.approx(float(root.attrib["width"]) / 40, rel=0.01)
    stretched = CHARTS[name]().spec.get("width") == "container"
    assert (float(root.attrib["width"]) == WIDTH) is stretched
    if stretched:
        assert image.width >= 1900
        assert image.info["dpi"][0] == pytest.approx(304.8, abs=0.1)


def test_a_heat_map_says_every_word_and_every_number(made):
    said = texts(made["weights"].svg)
    for cell in weights_of(0).ravel():
        assert number_text(cell) in said
    for label in word_axis("query", WORDS).labels:
        assert said.count(label) == 2
    assert "softmax" in said


def test_the_other_charts_say_their_numbers(made):
    assert {"1,024  (12.0 %)", "2,048  (24.0 %)", "norm_2_shift"} <= set(texts(made["parameters"].svg))
    raw = single_draws()[1].raw_scores / np.sqrt(single_draws()[1].d)
    weights = np.exp(raw - raw.max()) / np.exp(raw - raw.max()).sum()
    assert {f"{weight:.2f}" for weight in weights} <= set(texts(made["drag"].svg))
    assert set(word_axis("query", WORDS).labels) <= set(texts(made["links"].svg))
    assert MEASURES[0] in texts(made["sweep"].svg)


def test_a_key_says_what_the_colours_mean(made):
    assert texts(made["parameters"].svg)[:3] == ["attention", "feed-forward", "layer norm"]
    assert texts(made["sweep"].svg)[:3] == ["raw scores", "divided by √d", "√d"]
    svg = svg_of(replace(CHARTS["drag"](), key=(Swatch("<a & b>", PARTS_KEY[0].hue),)))
    assert texts(svg)[0] == "<a & b>"


def test_the_numbers_are_those_of_the_table_given():
    first, second = files_of([heat_map(weights_of(1)), heat_map(weights_of(2))])
    assert texts(first.svg) != texts(second.svg)
    for seed, file in ((1, first), (2, second)):
        assert sorted(t for t in texts(file.svg) if re.fullmatch(r"\d\.\d\d", t)) == sorted(
            map(number_text, weights_of(seed).ravel())
        )
    assert first.png != second.png


def test_a_cell_has_the_colour_of_its_value(made):
    weights = weights_of(0)
    cells = []
    image = picture(made["weights"].png)
    scale = image.width / WIDTH

    def visit(node, x, y):
        moved = re.match(r"translate\(([\d.-]+)[, ]+([\d.-]+)\)", node.get("transform", ""))
        x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        box = re.fullmatch(r"M([\d.]+),([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+Z", node.get("d", ""))
        if box and node.get("fill", "").lower() in ramp:
            left, top, width, height = map(float, box.groups())
            cells.append((node.get("fill"), (x + left + width * 0.1) * scale, (y + top + height * 0.15) * scale))
        for child in node:
            visit(child, x, y)

    ramp = {colour.lower() for colour in WEIGHTS.light}
    visit(ET.fromstring(made["weights"].svg), 0, 0)
    expected = WEIGHTS.light[WEIGHTS.steps(weights.ravel())]
    assert len(cells) == weights.size
    for colour, (fill, x, y) in zip(expected, cells, strict=True):
        assert fill.lower() == colour.lower()
        assert "#{:02X}{:02X}{:02X}".format(*image.getpixel((round(x), round(y)))) == colour


def test_masked_cells_and_negative_numbers_are_there():
    axis = word_axis("query", ("a", "b"))
    values = np.array([[-1.25, -np.inf], [0.5, 2.0]])
    table = matrix_table(values, axis, axis, limit=2.0, may_attend=np.isfinite(values))
    panel = Panel(title="scaled", n_rows=2)
    svg = svg_of(Figure("scaled", specification(panel), captioned(table, panel), ""))
    assert {"−1.25", "−∞", "0.50", "2.00"} <= set(texts(svg))
    fills = {node.get("fill") for node in ET.fromstring(svg).iter()}
    assert SIGNED.light[SIGNED.steps([-1.25], 2.0)][0] in fills


@pytest.mark.parametrize("short", [True, False])
def test_labels_lie_level_where_there_is_room(short):
    words = ("a", "cat") if short else tuple(f"longishword{i}" for i in range(10))
    n = len(words)
    turned = re.findall(r"rotate\((-?\d+)\)", svg_of(heat_map(np.full((n, n), 1 / n), words)).decode())
    assert turned.count("-40") + turned.count("320") == (0 if short else n)


def test_specifications_and_tables_are_left_as_they_were():
    chart = CHARTS["parameters"]()
    before = copy.deepcopy(chart.spec), chart.table.copy()
    svg_of(chart)
    assert chart.spec == before[0]
    pd.testing.assert_frame_equal(chart.table, before[1])


@pytest.mark.parametrize("word", ["a\x00b", "\ud800", "\x1b[1m", "\ufffe", "தமிழ்", "don’t❤️x", "👩‍👩‍👧‍👦", "a\nb", "﷽"])
def test_no_word_stops_the_converter(word):
    # Some of them would end its process: it panics on a text that XML cannot hold, and where it must mix typefaces.
    words = pd.Series([word], dtype=object)  # the newer type of texts holds no half of a surrogate pair
    table = pd.DataFrame({"tensor": words, "order": 0, "share": 1.0, "part": "attention", "said": words})
    made = files_of([Figure(word, parameters_chart(1), table, word)])[0]
    expected = re.sub("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe]", "�", word)
    assert expected in texts(made.svg)
    assert max(picture(made.png).size) >= DOTS


@pytest.mark.parametrize(
    ("said", "anchor", "typefaces", "shifts"),
    [
        ("0 bat √d −1 שלום", "end", [None], [None]),
        ("0 你好", "end", ["Noto Sans CJK SC"], [None]),
        ("0 ไทย", "end", ["Noto Sans Thai"], [None]),
        # A vowel sign of 0.26 em moves what follows; what ends at a point begins earlier by all of them.
        ("0 मीरा", "start", ["Noto Sans Devanagari"], ["0.00 0.00 0.00 0.00 2.60 0.00"]),
        ("0 मीरा", "middle", ["Noto Sans Devanagari"], ["-2.60 0.00 0.00 0.00 2.60 0.00"]),
        ("0 मीरा", "end", ["Noto Sans Devanagari"], ["-5.20 0.00 0.00 0.00 2.60 0.00"]),
        # A digit takes 0.556 em, a space 0.278, a picture 1.245.
        ("3 🇮🇳", "start", [None, "Noto Color Emoji"], ["0.00", "8.34"]),
        ("3 👍🏽👍", "end", [None, "Noto Color Emoji"], ["-27.68", "0.00"]),
        ("3 👩‍👧", "middle", [None, "Noto Color Emoji"], ["-7.62", "4.17"]),
        ("👩‍👧", "middle", [None], [None]),
    ],
)
def test_the_converter_is_told_a_typeface_for_each_script(said, anchor, typefaces, shifts):
    root = ET.fromstring(
        f'<svg xmlns="{SVG[1:-1]}"><g><text text-anchor="{anchor}" font-size="10px">{said}</text></g></svg>'
    )
    _choose_typefaces(root)
    held = list(root.iter(f"{SVG}text"))
    assert [(node.get("font-family") or "").split(",")[0] or None for node in held] == typefaces
    assert [node.get("dx") for node in held] == shifts
    assert " ".join(node.text for node in held) == said


def test_a_width_of_ones_own():
    svg = svg_of(replace(CHARTS["parameters"](), width=400))
    assert ET.fromstring(svg).attrib["width"] == "400"


def test_a_picture_is_passed_through_and_embedded():
    png = matrix_picture(np.eye(3), 30, 30)
    shown = PictureFigure("large", png, "a 'diagonal'")
    assert png_of(shown) == png
    root = ET.fromstring(svg_of(shown))
    (image,) = root.iter(f"{SVG}image")
    content = image.attrib["{http://www.w3.org/1999/xlink}href"]
    assert base64.b64decode(content.removeprefix("data:image/png;base64,")) == png
    assert (root.attrib["viewBox"], root[1].text) == ("0 0 30 30", "a 'diagonal'")


def test_all_figures_of_a_page_come_as_one_archive_that_depends_on_them_alone():
    page = [heat_map(weights_of(0), name="largest weight, raw"), PictureFigure("W", matrix_picture([[1.0]], 9, 9), "")]
    archive = figures_zip(page)
    assert figures_zip(page) == archive
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        assert files.namelist() == ["largest_weight_raw.svg", "largest_weight_raw.png", "W.svg", "W.png"]
        assert files.read("W.png") == page[1].png
        assert "softmax" in texts(files.read("largest_weight_raw.svg"))
    assert files_of([]) == []
    assert isinstance(files_of(page[1:])[0], Files)


def test_it_runs_the_same_from_any_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    assert "softmax" in texts(svg_of(heat_map(weights_of(0))))


def test_the_converter_imports_nothing_of_the_app():
    code = Path(figures.__file__).with_name("render.py")
    said = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", str(code)], input=b"[]", capture_output=True, check=True
    )
    assert said.stdout == b"[]"
    assert not re.search(rb"\| +(ui|core|numpy|pandas|streamlit|altair|vl_convert)\b", said.stderr)


def in_place_of_the_converter(monkeypatch, run):
    monkeypatch.setattr(figures.subprocess, "run", run)


def test_a_failure_is_one_sentence_and_the_details_a_note(monkeypatch):
    bad = Figure("bad", {"mark": "no such mark", "encoding": {}}, pd.DataFrame({"a": [1]}), "")
    with pytest.raises(RuntimeError, match="could not be made") as caught:
        svg_of(bad)
    assert str(caught.value) == "The figures could not be made from this page's charts."
    assert "Traceback" in caught.value.__notes__[0]
    # The converter is free again.
    in_place_of_the_converter(
        monkeypatch, lambda *_, **__: subprocess.CompletedProcess([], 0, json.dumps([{"svg": "<svg/>"}]).encode(), b"")
    )
    assert svg_of(CHARTS["drag"]()) == b"<svg/>"


def test_a_conversion_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(figures, "SECONDS", 0.01)
    with pytest.raises(RuntimeError, match=r"took longer than 0\.01 seconds"):
        svg_of(CHARTS["drag"]())


def test_a_converter_that_cannot_start_is_named(monkeypatch):
    monkeypatch.setattr(figures.sys, "executable", "/no/such/python")
    with pytest.raises(RuntimeError, match="could not be started"):
        svg_of(CHARTS["drag"]())


def test_one_conversion_at_a_time_and_no_endless_wait(monkeypatch):
    running, most = [], []

    def slow(*_, **__):
        running.append(1)
        most.append(len(running))
        time.sleep(0.02)
        running.pop()
        return subprocess.CompletedProcess([], 0, b'[{"svg": "<svg/>"}]', b"")

    in_place_of_the_converter(monkeypatch, slow)
    chart = CHARTS["drag"]()
    threads = [threading.Thread(target=svg_of, args=(chart,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]
    monkeypatch.setattr(figures, "WAIT", 0.01)
    with figures._ONE_AT_A_TIME, pytest.raises(RuntimeError, match="figures of others"):
        svg_of(chart)


def test_no_address_is_fetched():
    # A specification that names data elsewhere is stripped of it: neither the network nor a file of the server is read.
    spec = parameters_chart(1) | {"data": {"url": "file:///etc/passwd"}}
    svg = svg_of(replace(CHARTS["parameters"](), spec=spec)).decode()
    assert "root" not in svg
    assert "norm_2_shift" in svg
