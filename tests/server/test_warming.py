"""What the process loads by itself at its start, and a reader who comes before that has ended."""

import subprocess
import sys
from pathlib import Path

import altair as alt
import pytest
import streamlit as st
from altair.utils import schemapi
from streamlit import delta_generator, env_util

from server.warming import _know_how_it_was_started, imports_of
from ui.charts.specifications import as_dictionary

ROOT = Path(__file__).parents[2]

# In a process of its own: what is loaded here depends on the tests before.
EARLY_READER = """
import gc, sys, threading
from streamlit.testing.v1 import AppTest
from altair.utils import schemapi
from server.warming import warm

warming = threading.Thread(target=warm)
warming.start()
page = AppTest.from_file(f"{sys.argv[1]}/ui/main.py", default_timeout=60)
page.switch_page(f"{sys.argv[1]}/pages/causal_mask.py").run()
assert not page.exception, page.exception
assert [title.value for title in page.title] == ["Causal mask"]
warming.join()
assert gc.isenabled() and gc.get_freeze_count() > 100_000 and not schemapi.DEBUG_MODE
print(*sys.modules)
"""


def test_a_reader_before_the_end_of_warming_sees_the_page_and_nothing_needless_is_loaded():
    done = subprocess.run(
        [sys.executable, "-c", EARLY_READER, str(ROOT)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    wanted = {name for page in (ROOT / "pages").glob("*.py") for name in imports_of(page.read_text(encoding="utf-8"))}
    assert len(wanted) > 50
    assert wanted <= loaded
    needless = {"torch", "core.torch_reference", "core.training.program", "core.training.loop", "core.training.network"}
    assert loaded.isdisjoint(needless | {"core.measurement.program", "nbformat", "vl_convert", "matplotlib"})


def test_a_chart_is_the_same_without_the_check_that_a_server_leaves_out():
    def chart():
        cells = alt.Chart().mark_rect().encode(x=alt.X(field="x", type="ordinal"), tooltip=[alt.Tooltip(field="x")])
        return alt.layer(cells, cells.mark_text()).properties(width=alt.Step(3)).configure_view(stroke=None)

    checked = as_dictionary(chart())
    with schemapi.debug_mode(False):
        assert as_dictionary(chart()) == checked


def test_streamlit_does_not_look_for_how_it_was_started(monkeypatch):
    def looks():
        raise LookupError("it looks")

    monkeypatch.setattr(env_util, "is_repl", looks)
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    with pytest.raises(LookupError):
        st.html("<p>first</p>")
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    _know_how_it_was_started()
    st.html("<p>first</p>")
