"""What happens once a process."""

import base64
import functools
import gc
import math
import sys
import threading
import time

import altair  # noqa: F401  (loaded here so that it is frozen below)
import numpy as np
import pandas  # noqa: F401

from server import memory
from ui.charts.picture import matrix_picture

MANY_MODULES = 50
"""Modules imported since the last look that make another one worth its tenth of a second."""

COLLECT_EVERY = 2.0
"""Seconds after which a run looks for garbage again. What a page has computed, up to 44 MB, is garbage in a ring after
its next run; with ten seconds between two looks three busy readers let the server swing between 600 and 1,000 MB."""

LATER = 0.4
"""Seconds between the end of a run and the collection: by then the browser has the answer. It takes ten milliseconds or
more, in which nothing is sent."""

COLLECT_AFTER = 32 * 2**20
"""Bytes that the process has grown by since the last look that are reason enough for another one, however soon."""

_settled = {"modules": 0.0, "collected": 0.0, "resident": 0.0}


def settle_memory() -> None:
    """Keep the collection of garbage rare and short; called at the end of every run.

    Streamlit would collect after every run; that is switched off (`.streamlit/config.toml` says why). Python alone
    would wait until enough objects have gathered, and counts an array of megabytes as one of them: so a run has garbage
    collected, a moment after its own end, where none has been for some seconds or since the process has grown much.

    What the imports left is taken out of the collector's sight, and again where a run has imported much more, as
    PyTorch does, and every later collection would walk through it. The first time nothing is collected before: to look
    for the little garbage of the imports would take a tenth of a second of the first reader's time.
    """
    now, modules = time.monotonic(), len(sys.modules)
    first, grown = not _settled["modules"], modules > _settled["modules"] + MANY_MODULES
    large = memory.resident() > _settled["resident"] + COLLECT_AFTER
    if not first and (grown or large or now > _settled["collected"] + COLLECT_EVERY):
        _settled["collected"] = now  # before the work: readers who end a run meanwhile need not do it too
        _settled["resident"] = math.inf  # nor because of what is about to be freed
        if grown:
            _collect()
        else:
            later = threading.Timer(LATER, _collect)
            later.daemon = True
            later.start()
    if first:
        _settled["resident"] = memory.resident()
    if grown:
        _settled["modules"] = modules
        gc.freeze()


def _collect() -> None:
    gc.collect()
    memory.give_back()
    _settled["resident"] = memory.resident()


@functools.cache
def page_icon() -> str:
    """A small matrix for the browser's tab, as a data address.

    A named icon would be fetched from another host, and Streamlit would encode a picture anew in every run.
    """
    values = np.array([[0.9, 0.1, 0.2], [0.3, 0.7, 0.1], [0.1, 0.5, 0.8]])
    return "data:image/png;base64," + base64.b64encode(matrix_picture(values, 63, 63, "weights")).decode()
