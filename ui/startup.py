"""What happens once a process."""

import base64
import functools
import gc

import altair  # noqa: F401  (loaded here so that it is frozen below)
import numpy as np
import pandas  # noqa: F401
import streamlit as st

from ui.charts.picture import matrix_picture


@st.cache_resource
def settle_memory() -> None:
    """Take what the imports left out of the garbage collector's sight.

    Streamlit collects all garbage after every run, and its cost grows with everything that was imported: most of the
    answer time of a light page. Later garbage is collected as before. What little of the imports is garbage stays: to
    look for it first would take a tenth of a second of the first reader's time.
    """
    gc.freeze()


@functools.cache
def page_icon() -> str:
    """A small matrix for the browser's tab, as a data address.

    A named icon would be fetched from another host, and Streamlit would encode a picture anew in every run.
    """
    values = np.array([[0.9, 0.1, 0.2], [0.3, 0.7, 0.1], [0.1, 0.5, 0.8]])
    return "data:image/png;base64," + base64.b64encode(matrix_picture(values, 63, 63, "weights")).decode()
