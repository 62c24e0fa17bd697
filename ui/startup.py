"""What happens once a process."""

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
    answer time of a light page. Later garbage is collected as before.
    """
    gc.collect()
    gc.freeze()


@st.cache_resource
def page_icon() -> bytes:
    """A small matrix for the browser's tab; a named icon would be fetched from another host."""
    return matrix_picture(np.array([[0.9, 0.1, 0.2], [0.3, 0.7, 0.1], [0.1, 0.5, 0.8]]), 63, 63, "weights")
