"""Pictures go to the screen here, and into the record of what is shown."""

import contextlib
from collections.abc import Callable
from typing import Literal

import pandas as pd
import pyarrow as pa
import streamlit as st

from ui import accessibility, shown, view
from ui.charts.specifications import Spec, enlarged
from ui.take_home.figures import Figure, PictureFigure, Swatch

LARGE = 1.5
"""Factor on the type of a chart in a presentation."""


def chart(
    table: pa.Table | pd.DataFrame,
    spec: Spec,
    *,
    name: str,
    key: str,
    alt: str,
    width: Literal["stretch", "content"] = "stretch",
    on_pick: Callable[[], None] | None = None,
    picks: str = "",
    grow: float = 1.0,
    legend: tuple[Swatch, ...] = (),
) -> None:
    """A chart: sent to the screen unless it belongs to another step, kept for the files in any case.

    Parameters
    ----------
    table : pyarrow.Table or pandas.DataFrame
        What is drawn.
    spec : dict
        How, without data.
    name : str
        Of the figure, in our own words; different for every figure of a page.
    key : str
        Of the chart in the session.
    alt : str
        What a reader who cannot see it should know: the takeaway.
    width : "stretch" or "content"
        Of the chart.
    on_pick : callable or None
        Called after a click on a cell.
    picks : str
        Name of the selection that a click makes.
    grow : float
        Factor on the height in a presentation, where the type grows too; 1 for charts that were made for it.
    legend : tuple of Swatch
        What the colours mean, for the file; on the page it stands beside the chart.
    """
    record = shown.now()
    record.figures.append(Figure(name, spec, table, alt, key=legend))
    if record.out_of_sight:
        return
    if view.now().presenting and grow != 1.0:
        spec = enlarged(spec, LARGE, grow)
    # What Streamlit is given here becomes part of the specification, and a chart whose specification differs is made
    # anew by the browser, which takes ten times as long as new data: so it gets what stays, the frame adds the rest.
    if not record.told:
        alt = record.label(accessibility.short_alternative(alt), alt)
    if on_pick is None:
        st.vega_lite_chart(table, spec, width=width, key=key, alt=alt)
    else:
        st.vega_lite_chart(table, spec, width=width, key=key, alt=alt, on_select=on_pick, selection_mode=[picks])


def picture(file: bytes, *, name: str, caption: str, alt: str, width: int | None = None) -> None:
    """A matrix with more cells than marks make sense for, as an image with its name above.

    Parameters
    ----------
    file : bytes
        PNG.
    name : str
        Of the figure, in our own words.
    caption : str
        HTML under the name: what the axes are.
    alt : str
        The takeaway.
    width : int or None
        In pixels; None fills the container.
    """
    record = shown.now()
    record.figures.append(PictureFigure(name, file, alt))
    if record.out_of_sight:
        return
    with st.container(width=width + 24 if width else "stretch", gap="xsmall"):
        st.html(f'<p class="quiet"><b>{name}</b> {caption}</p>')
        # Streamlit would make a JPEG of it, or one of half the pixels where it knows the width: the container has it.
        with st.container(width=width) if width else contextlib.nullcontext():
            st.image(file, width="stretch", alt=alt, output_format="PNG")
