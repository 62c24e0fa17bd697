"""The script that the benchmarks' server runs: the floor, the picture, or the dashboard's own main script."""

from pathlib import Path

import streamlit as st

DASHBOARD = Path(__file__).resolve().parents[3] / "ui" / "main.py"


def _floor() -> None:
    """A page with nothing on it but a slider and what it says."""
    st.title("Floor")
    st.write(st.slider("d: size of each key", 1, 64, 4, key="d"))


def _picture() -> None:
    """The same with a matrix of 64 x 64 cells as a picture, the fastest way Streamlit has to show one."""
    import numpy as np

    st.title("Picture")
    d = st.slider("d: size of each key", 1, 64, 4, key="d")
    st.image(np.random.default_rng(d).random((64, 64)), width=512)


def _main() -> None:
    if "floor" in st.query_params:
        _floor()
    elif "picture" in st.query_params:
        _picture()
    else:
        exec(compiled(), {"__name__": "__main__", "__file__": str(DASHBOARD)})


@st.cache_resource
def compiled() -> object:
    """The dashboard's main script, compiled once, as Streamlit itself would keep it."""
    return compile(DASHBOARD.read_bytes(), str(DASHBOARD), "exec")


_main()
