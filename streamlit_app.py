"""The entry: says where the dashboard lives.

`st.App` and not a plain script, because a script with a folder `pages/` beside it loses its first visitor by deep link.
"""

import runpy
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

MAIN = Path(__file__).resolve().parent / "ui" / "main.py"

app = st.App(MAIN)

if get_script_run_ctx(suppress_warning=True) is not None:
    # A launcher that executes this file as a script, and looks for no app object, shows the dashboard as well.
    runpy.run_path(str(MAIN), run_name="__main__")
