"""Take home: every kind of file is downloaded, is what it says it is, and holds what is on the screen."""

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from playwright.sync_api import Browser, Locator, expect

from core.attention import SelfAttention, self_attention
from core.examples import ATTENTION_WORDS, draw_example
from tests.browser.page_object import Dashboard, open_tab
from tests.browser.server import Server

pytestmark = pytest.mark.browser


def computed(d_head: int) -> dict[str, np.ndarray]:
    """What core makes of the page's matrices."""
    example = draw_example(ATTENTION_WORDS, d_head)
    w = example.w_q[0], example.w_k[0], example.w_v[0]
    run: SelfAttention = self_attention(example.x, *w)
    found = dict(zip(("X", "W_q", "W_k", "W_v", "Q", "K", "V"), (example.x, *w, run.q, run.k, run.v), strict=True))
    attention = run.attention
    return found | {
        "scores": attention.scores,
        "scaled_scores": attention.scaled_scores,
        "weights": attention.weights,
        "output": attention.output,
    }


def save(tab: Dashboard, dialog: Locator, button: str, folder: Path) -> Path:
    """Press a button and keep the file that comes, under the name that it has."""
    with tab.page.expect_download(timeout=60_000) as download:
        dialog.get_by_role("tabpanel").get_by_role("button", name=button, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def choose(tab: Dashboard, dialog: Locator, label: str, option: str) -> None:
    dialog.get_by_role("combobox", name=label).focus()
    tab.type_choice(tab.picker(label), option)
    tab.settle()


@dataclass(frozen=True, slots=True)
class Taken:
    """The files of two states of one page: with keys of size 4, and of size 5."""

    script: Path
    notebook: Path
    csv: Path
    csvs: Path
    npz: Path
    svg: Path
    png: Path
    figures: Path
    later_npz: Path
    later_script: Path
    titles: list[str]
    """Of the charts on the page, without the shapes."""


@pytest.fixture(scope="module")
def taken(browser: Browser, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Taken:
    folder, later = tmp_path_factory.mktemp("taken"), tmp_path_factory.mktemp("later")
    with open_tab(browser, server.address) as tab:
        tab.open("query_key_value")
        tab.agreed()
        titles = tab.page.locator(".role-title-text text").all_text_contents()
        dialog = tab.open_dialog("Take home")
        script, notebook = (save(tab, dialog, name, folder) for name in ("Script (.py)", "Notebook (.ipynb)"))

        dialog.get_by_role("tab", name="Numbers").click()
        choose(tab, dialog, "One matrix", "weights")
        csv = save(tab, dialog, "This matrix (.csv)", folder)
        csvs = save(tab, dialog, "All matrices as CSV (.zip)", folder)
        npz = save(tab, dialog, "All arrays for NumPy (.npz)", folder)

        dialog.get_by_role("tab", name="Pictures").click()
        choose(tab, dialog, "Figure", "weights: softmax (5 × 5)")
        svg, png = (save(tab, dialog, name, folder) for name in ("SVG", "PNG for print"))
        figures = save(tab, dialog, "All figures (.zip)", folder)
        tab.close_dialog()

        tab.slider("d: size of each key").press("ArrowRight")
        expect(tab.chart("Q (5 × 5)")).to_be_visible()
        tab.settle()
        dialog = tab.open_dialog("Take home")
        later_script = save(tab, dialog, "Script (.py)", later)
        dialog.get_by_role("tab", name="Numbers").click()
        later_npz = save(tab, dialog, "All arrays for NumPy (.npz)", later)
    return Taken(
        *(script, notebook, csv, csvs, npz, svg, png, figures, later_npz, later_script),
        titles=[title.rpartition(" (")[0] for title in titles],
    )


def test_arrays_are_those_on_the_screen(taken: Taken) -> None:
    for file, d_head in ((taken.npz, 4), (taken.later_npz, 5)):
        expected = computed(d_head)
        with np.load(file, allow_pickle=False) as arrays:
            assert {name for name in arrays.files if "." not in name} == set(expected)
            for name, values in expected.items():
                assert_array_equal(arrays[name], values)
            assert arrays["weights.rows"].tolist() == [f"{i} {word}" for i, word in enumerate(ATTENTION_WORDS)]
    assert taken.npz.read_bytes() != taken.later_npz.read_bytes()


def test_tables_hold_every_digit(taken: Taken) -> None:
    expected = computed(4)
    words = [f"{i} {word}" for i, word in enumerate(ATTENTION_WORDS)]
    weights = pd.read_csv(taken.csv, index_col=0)
    assert taken.csv.name == "query_key_value_weights.csv"
    assert [weights.index.name, list(weights.index), list(weights.columns)] == ["query \\ key", words, words]
    assert_array_equal(weights.to_numpy(), expected["weights"])

    with zipfile.ZipFile(taken.csvs) as archive:
        assert set(archive.namelist()) == {f"{name}.csv" for name in expected}
        for name, values in expected.items():
            table = pd.read_csv(archive.open(f"{name}.csv"), index_col=0)
            assert_array_equal(table.to_numpy(), values)


def test_notebook_is_valid_and_has_its_figures(taken: Taken) -> None:
    notebook = nbformat.read(taken.notebook, as_version=4)
    nbformat.validate(notebook)
    assert {cell.cell_type for cell in notebook.cells} == {"markdown", "code"}
    assert "image/png" in taken.notebook.read_text(encoding="utf-8")


def printed(script: Path, name: str) -> list[list[str]]:
    """The numbers that a script prints under a name, in a process that knows nothing of the dashboard."""
    done = subprocess.run(
        [sys.executable, "-I", script], cwd=script.parent, capture_output=True, text=True, encoding="utf-8", timeout=60
    )
    assert done.returncode == 0, done.stderr
    (block,) = re.findall(rf"^{name} \(.*\n.*\n((?:.+\n)+)", done.stdout, re.MULTILINE)
    return [line.split("\t")[1:] for line in block.splitlines()]


def test_script_prints_the_weights_of_the_page(taken: Taken) -> None:
    for script, d_head in ((taken.script, 4), (taken.later_script, 5)):
        weights = computed(d_head)["weights"]
        assert printed(script, "weights") == [[f"{weight:.6f}" for weight in row] for row in weights]


def test_figures_open(taken: Taken) -> None:
    with Image.open(taken.png) as picture:
        picture.verify()
        assert picture.format == "PNG"
        assert picture.width >= 1900  # the chart stretches
    with zipfile.ZipFile(taken.figures) as archive:
        names = archive.namelist()
        pictures = [name for name in names if name.endswith(".png")]
        drawings = [name for name in names if name.endswith(".svg")]
        assert len(names) == len(pictures) + len(drawings)
        assert {name[:-4] for name in pictures} == {name[:-4] for name in drawings}
        for name in pictures:
            with Image.open(io.BytesIO(archive.read(name))) as picture:
                picture.verify()
        read = " ".join(" ".join(ET.fromstring(archive.read(name)).itertext()) for name in drawings)
    assert [title for title in taken.titles if title not in read] == []


def test_drawing_opens_from_disk_without_a_network(taken: Taken, browser: Browser) -> None:
    text = taken.svg.read_text(encoding="utf-8")
    ET.fromstring(text)
    hosts = set(re.findall(r"""[a-z]+://([^/"'\s>]+)""", text))
    assert hosts <= {"www.w3.org"}
    assert "url(" not in re.sub(r"url\(['\"]?#", "", text)

    context = browser.new_context(offline=True)
    asked: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(taken.svg.as_uri())
    words = page.locator("text").all_text_contents()
    weights = computed(4)["weights"]
    assert {f"{weight:.2f}" for weight in weights.ravel()} <= set(words)
    where = page.locator("svg").first.bounding_box()
    assert where is not None
    assert min(where["width"], where["height"]) > 100
    assert asked == [taken.svg.as_uri()]
    context.close()
