"""The entry: says where the dashboard lives.

`st.App` and not a plain script, because a script with a folder `pages/` beside it loses its first visitor by deep link.
"""

import os
import runpy
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from server.lifespan import lifespan
from server.memory import hold_little
from server.middleware import MIDDLEWARE
from server.routes import ROUTES

# Read when NumPy is first imported, by the pages. Small products gain nothing from more threads: where another reader's
# session has the other cores, they wait for each other ten times as long as they compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
hold_little()

MAIN = Path(__file__).resolve().parent / "ui" / "main.py"

app = st.App(MAIN, middleware=MIDDLEWARE, routes=ROUTES, lifespan=lifespan)

if get_script_run_ctx(suppress_warning=True) is not None:
    # A launcher that executes this file as a script, and looks for no app object, shows the dashboard as well.
    runpy.run_path(str(MAIN), run_name="__main__")
