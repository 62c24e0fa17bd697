"""The frame: navigation, sidebar, notices, then the chosen page. Runs on every visit and every change."""

import contextlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # this script's own folder is on the path, the project's is not under every launcher
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

from ui import accessibility, controls, frame, navigation, shown, startup, style, toolbar, view  # noqa: E402

st.set_page_config(
    page_title="Attention, computed live", page_icon=startup.page_icon(), layout="wide", initial_sidebar_state=290
)
st.html(style.STYLE)

sections, by_title = navigation.pages()
chosen = st.navigation(sections, position="top")
page = by_title[chosen.title]
record = shown.begin(page.name)
controls.sidebar(page.lesson, page.on_slide)
view.keep_in_link()
notices = st.container()
with contextlib.suppress(controls.PageEnds):  # it has said why; what follows belongs to the frame
    chosen.run()
with notices:
    controls.show_notices()
toolbar.open_asked(record)
record.told = True
accessibility.mend(record.alternatives)
frame.start_at_the_top(page.name)
startup.settle_memory()
