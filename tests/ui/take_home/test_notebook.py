"""Notebooks: their form, their figures, and what stands in which cell. What they print is tested with the scripts."""

import base64
import io
import json

import nbformat
import pytest
from PIL import Image

from tests.ui.take_home.reading import cells_of, code_of
from ui.take_home import notebook, scripts

WORDS = ("<b>bold</b>", "*stars*", "# %% [markdown]", "क्या", '"""', "$x$")


def png(colour):
    file = io.BytesIO()
    Image.new("RGB", (2, 2), colour).save(file, "PNG")
    return file.getvalue()


FIGURES = [("weights (5 × 5)", png("red")), ("a*b_[c] `d` $e$\n# <f>", png("blue"))]


def built(page, torch=False, figures=FIGURES, **values):
    return notebook.build(scripts.compose(scripts.read_source(page, torch), values, notebook=True), figures)


PAGES = pytest.mark.parametrize("page", scripts.PAGES)


@PAGES
@pytest.mark.parametrize("torch", [False, True])
def test_notebook_is_valid_and_the_same_each_time(page, torch):
    file = built(page, torch)
    found = nbformat.reads(file.decode(), as_version=4)
    nbformat.validate(found)
    assert (found.nbformat, found.nbformat_minor) == (4, 5)
    assert found.metadata.kernelspec.name == "python3"
    assert [cell.id for cell in found.cells] == [f"cell-{number}" for number in range(len(found.cells))]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in found.cells if cell.cell_type == "code")
    assert built(page, torch) == file


@PAGES
def test_figures_are_seen_before_anything_is_run(page):
    cells = nbformat.reads(built(page).decode(), as_version=4).cells
    assert [cell.cell_type for cell in cells[:4]] == ["markdown", "markdown", "markdown", "code"]
    for number, (cell, (_, file)) in enumerate(zip(cells[1:3], FIGURES, strict=True)):
        assert f"](attachment:figure-{number}.png)" in cell.source
        assert base64.b64decode(cell.attachments[f"figure-{number}.png"]["image/png"]) == file


def test_title_of_a_figure_is_literal():
    escaped = r"a\*b\_\[c\] \`d\` \$e\$ \# \<f\>"
    assert cells_of(built("home"), "markdown")[2] == f"**{escaped}**\n\n![{escaped}](attachment:figure-1.png)"


@pytest.mark.parametrize(
    "page",
    [page for page in scripts.PAGES if page not in ("parameter_count", "cost", "learning", "real_model", "practice")],
)
def test_words_of_the_reader_stand_in_code_only(page):
    file = built(page, words=WORDS)
    assert cells_of(file, "markdown") == cells_of(built(page), "markdown")
    assert scripts.write_literal(WORDS) in code_of(file)
    changed = [a != b for a, b in zip(cells_of(file, "code"), cells_of(built(page), "code"), strict=True)]
    assert sum(changed) == 1


@PAGES
def test_explanation_is_markdown_and_code_is_the_program(page):
    program = scripts.compose(scripts.read_source(page), {}, notebook=True)
    file = notebook.build(program)
    first, *others = cells_of(file, "markdown")
    about, *rest = program.removeprefix('"""').split('"""')[0].strip().split("\n")
    assert first == "\n".join([f"# {about.removesuffix('.')}", *rest])
    assert others[0].startswith("## Settings")
    assert all(text.startswith(("## ", "$$")) for text in others)
    # The last cell draws; only there Matplotlib is needed.
    *code, last = cells_of(file, "code")
    assert "import matplotlib.pyplot as plt" in last
    assert last.endswith("plt.show()")
    assert "matplotlib" not in "".join(code)
    body = program[program.index('"""', 3) + 3 :]
    assert code_lines(code_of(file)) == code_lines(body)


def code_lines(program):
    return [line for line in program.splitlines() if line and not line.startswith("# ")]


@PAGES
def test_plain_script_draws_nothing(page):
    assert "matplotlib" not in scripts.compose(scripts.read_source(page), {})


def test_file_is_text_that_any_reader_of_json_takes():
    held = json.loads(built("home", words=["क्या", "\ud800"]))
    assert any('"क्या", "\\ud800"' in "".join(cell["source"]) for cell in held["cells"])
