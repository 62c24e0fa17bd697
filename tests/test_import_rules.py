"""Which part of the house may import which, read from the syntax tree."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT_TORCH = (
    "core/torch_reference.py",
    "core/measurement/timing.py",
    *(f"core/training/{name}.py" for name in ("loop", "make_saved", "network")),
)
WITHOUT_STREAMLIT = (
    "charts",
    "far_back",
    "formulas",
    "worked",
    "costs",
    "measurement",
    "background",
    "style",
    "colours",
    "pages",
    "real_model",
    "literal",
    "ways",
)


def imported_names(source, package=""):
    """Full names of everything that a module imports, inside functions too: "from a import b" gives a and a.b."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if function in ("import_module", "__import__"):
                names.add(node.args[0].value)
    return names


def names_at_start(source, package=""):
    """As `imported_names`, without what only a function imports when it is called."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [ast.Pass()]
    return imported_names(ast.unparse(tree), package)


def breaches(names, forbidden):
    """Those of the imported names that are a forbidden module or lie within one."""
    return sorted(name for name in names if any(name == room or name.startswith(f"{room}.") for room in forbidden))


def files(folder):
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / folder).rglob("*.py"))]


def read(path, reader=imported_names):
    return reader((ROOT / path).read_text(encoding="utf-8"), package=path.rpartition("/")[0].replace("/", "."))


CORE = files("core")


def test_there_is_a_core_to_read():
    assert {"core/attention.py", "core/torch_reference.py"} <= set(CORE)


@pytest.mark.parametrize("path", CORE)
def test_core_imports_nothing_that_draws_or_shows(path):
    assert breaches(read(path), ("streamlit", "altair", "ui", "pages")) == []


@pytest.mark.parametrize("path", CORE)
def test_core_imports_torch_only_as_referee_for_training_and_to_time_it(path):
    found = breaches(read(path), ("torch",))
    assert bool(found) <= path.startswith(MAY_IMPORT_TORCH), found


def test_the_referee_is_seen_to_import_torch():
    assert "torch" in read("core/torch_reference.py")


@pytest.mark.parametrize("path", CORE)
def test_core_never_asks_its_referee(path):
    assert breaches(read(path), ("core.torch_reference",)) == []


ASKED_BY_NOBODY = (
    *("core.measurement.timing", "core.measurement.program"),
    *(f"core.training.{name}" for name in ("program", "loop", "make_saved", "network")),
)
"""Programs that the server starts and never imports: they would bring PyTorch into the server."""


@pytest.mark.parametrize("path", [*files("ui"), *files("pages"), *files("server"), "streamlit_app.py"])
def test_the_server_never_imports_the_programs_that_measure_and_train(path):
    assert breaches(read(path), ASKED_BY_NOBODY) == []


def test_only_the_measuring_program_imports_what_it_times_and_only_once_it_runs():
    importers = [path for path in CORE if breaches(read(path), ASKED_BY_NOBODY[:1])]
    assert importers == ["core/measurement/program.py"]
    assert breaches(read(importers[0], names_at_start), ("core.measurement.timing", "torch")) == []


@pytest.mark.parametrize("path", files("pages"))
def test_pages_never_import_each_other(path):
    siblings = [Path(page).stem for page in files("pages")]
    assert breaches(read(path), ("pages", *siblings)) == []


@pytest.mark.parametrize("path", [*files("ui"), *files("core"), *files("server")])
def test_no_page_is_imported_by_what_it_is_built_from(path):
    assert breaches(read(path), ("pages",)) == []


@pytest.mark.parametrize(
    "path", [path for path in files("ui") if path.split("/")[1].split(".")[0] in WITHOUT_STREAMLIT]
)
def test_charts_formulas_and_colours_know_nothing_of_streamlit(path):
    assert breaches(read(path), ("streamlit",)) == []


@pytest.mark.parametrize("path", files("server"))
def test_what_surrounds_the_dashboard_loads_nothing_heavy_before_the_server_answers(path):
    assert breaches(read(path, names_at_start), ("core", "numpy", "pandas", "altair", "torch")) == []


# What a reader takes home is text to the dashboard, which never imports it.
TAKEN_HOME = "ui/take_home/sources/"


@pytest.mark.parametrize("path", [path for path in files("ui") if not path.startswith(TAKEN_HOME)])
def test_ui_does_not_import_torch_when_the_app_starts(path):
    assert (
        breaches(
            read(path, names_at_start),
            ("torch", *(name[:-3].replace("/", ".") for name in MAY_IMPORT_TORCH)),
        )
        == []
    )


def test_importing_core_without_the_referee_loads_neither_torch_nor_streamlit_nor_altair():
    modules = [path[:-3].replace("/", ".") for path in CORE if not path.startswith(MAY_IMPORT_TORCH)]
    code = f"import sys, {', '.join(modules)}; print(sorted({{'torch', 'streamlit', 'altair'}} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ), cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


# The reader of imports itself

SAMPLE = '''
import numpy as np, torch.nn.functional as functional
from core import tokens as t, torch_reference
from core.masks import causal_mask
from . import order
from .softmax import softmax
from .. import ui
"""import altair"""
# import altair
text = "import altair"

def later():
    import streamlit
    import_module("pages.home")
    __import__("regex")

async def much_later():
    from torch import nn
'''


def test_imported_names_finds_every_form_of_import_and_nothing_else():
    expected = {
        *("numpy", "torch.nn.functional", "core", "core.tokens", "core.torch_reference"),
        *("core.masks", "core.masks.causal_mask", "core.training", "core.training.order"),
        *("core.training.softmax", "core.training.softmax.softmax", "core.ui"),
        *("streamlit", "pages.home", "regex", "torch", "torch.nn"),
    }
    assert imported_names(SAMPLE, package="core.training") == expected


def test_names_at_start_leaves_out_what_functions_import():
    found = names_at_start(SAMPLE, package="core.training")
    assert imported_names(SAMPLE, package="core.training") - found == {
        *("streamlit", "pages.home", "regex", "torch", "torch.nn")
    }


@pytest.mark.parametrize(
    ("forbidden", "found"),
    [
        (("streamlit", "altair"), ["streamlit"]),
        (("pages",), ["pages.home"]),
        (("torch",), ["torch", "torch.nn", "torch.nn.functional"]),
        (("core.torch_reference",), ["core.torch_reference"]),
        (("core.mask", "numpy.random", "reg"), []),
    ],
    ids=["whole module", "page within a folder", "submodules", "one room of core", "part of a name only"],
)
def test_breaches_names_what_is_forbidden(forbidden, found):
    assert breaches(imported_names(SAMPLE, package="core.training"), forbidden) == found
