"""What happens once a process."""

import base64
import functools
import gc
import sys

import altair  # noqa: F401  (loaded here so that it is frozen below)
import numpy as np
import pandas  # noqa: F401

from ui.charts.picture import matrix_picture

MANY_MODULES = 50
"""Modules imported since the last look that make another one worth its tenth of a second."""

_settled = {"modules": 0}


def settle_memory() -> None:
    """Take what the imports left out of the garbage collector's sight, and again where a run has imported much more.

    Streamlit collects all garbage after every run, and its cost grows with everything that was imported: most of the
    answer time of a light page. Later garbage is collected as before. PyTorch brings 800 modules more when a check
    first differentiates, long after it was loaded itself: every later run on the server would walk through them. The
    first time nothing is collected before: to look for the little garbage of the imports would take a tenth of a
    second of the first reader's time.
    """
    modules = len(sys.modules)
    if modules <= _settled["modules"] + MANY_MODULES:
        return
    if _settled["modules"]:
        gc.collect()
    _settled["modules"] = modules
    gc.freeze()


@functools.cache
def page_icon() -> str:
    """A small matrix for the browser's tab, as a data address.

    A named icon would be fetched from another host, and Streamlit would encode a picture anew in every run.
    """
    values = np.array([[0.9, 0.1, 0.2], [0.3, 0.7, 0.1], [0.1, 0.5, 0.8]])
    return "data:image/png;base64," + base64.b64encode(matrix_picture(values, 63, 63, "weights")).decode()
