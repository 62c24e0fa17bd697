"""The dashboard with a floor beside it, for the benchmarks: ``streamlit run`` finds `app` here.

The link parameter `floor` shows an empty page with one slider, `picture` the same with a matrix by `st.image`; without
them it is the dashboard itself. The variable `SCRIPT_TIMES` names a file that every run of a script adds a line to:
wall and processor milliseconds, garbage collection after it included.
"""

import functools
import json
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner  # noqa: E402

import streamlit_app  # noqa: E402

MAIN = Path(__file__).with_name("main.py")
LOG = Path(os.environ["SCRIPT_TIMES"])

app = st.App(MAIN)
for part in ("_user_lifespan", "_user_routes", "_user_middleware", "_on_script_error", "_exception_handlers"):
    setattr(app, part, getattr(streamlit_app.app, part))  # all but the script as the dashboard has it

_run_script = ScriptRunner._run_script


@functools.wraps(_run_script)
def _timed(self: ScriptRunner, *args: object, **options: object) -> None:
    wall, processor = time.perf_counter(), time.thread_time()
    _run_script(self, *args, **options)  # type: ignore[arg-type]
    took = {"wall": 1000 * (time.perf_counter() - wall), "processor": 1000 * (time.thread_time() - processor)}
    with LOG.open("a") as log:
        log.write(json.dumps(took) + "\n")


ScriptRunner._run_script = _timed  # type: ignore[method-assign]
