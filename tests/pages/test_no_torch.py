"""PyTorch stays unloaded where nobody asked for it, and comes after the pictures where it is shown: fresh processes."""

import json
import subprocess
import sys

import pytest

from tests.pages.reading import ROOT

OPEN = """
import json, sys
from tests.pages.reading import open_page, go_to
"""


def run_fresh(code):
    """The JSON that the code prints last."""
    done = subprocess.run(
        [sys.executable, "-c", OPEN + code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


WITHOUT = (
    "home",
    "why_attention",
    "causal_mask",
    "order_blindness",
    "multi_head",
    "encoder_block",
    "stack",
    "parameter_count",
    "three_shapes",
    "kv_cache",
    "cost",
    "learning",
    "real_model",
    "common_mistakes",
    "practice",
)


def test_pages_without_a_check_of_their_own_load_no_torch():
    found = run_fresh(
        f"names = {WITHOUT}"
        + """
loaded = {}
at = open_page("home")
for name in names:
    go_to(at, name)
    loaded[name] = ["torch" in sys.modules, len(at.get("vega_lite_chart")) > 0]
print(json.dumps(loaded))
"""
    )
    assert found == {name: [False, True] for name in WITHOUT}


@pytest.mark.parametrize(("name", "n_charts"), [("query_key_value", 8), ("scaling_sweep", 5)])
def test_pictures_are_sent_before_torch_is_loaded(name, n_charts):
    found = run_fresh(f"""
import time
import streamlit as st
from ui import torch_check

sent, at_start = [], []
send, start = st.vega_lite_chart, torch_check.start_loading

def count(*arguments, **options):
    sent.append(options["alt"])
    return send(*arguments, **options)

def record():
    at_start.extend([len(sent), "torch" in sys.modules])
    start()

st.vega_lite_chart, torch_check.start_loading = count, record
at = open_page("{name}")
shown = len(at.get("vega_lite_chart"))
end = time.monotonic() + 100
while "ready" not in torch_check._state and time.monotonic() < end:
    time.sleep(0.05)
print(json.dumps([at_start[:2], shown, "core.torch_reference" in sys.modules]))
""")
    assert found == [[n_charts, False], n_charts, True]
