"""The charts on screen as figures for print: SVG and PNG from the same specification and the same table."""

import base64
import json
import subprocess
import sys
import threading
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ui.charts.bars import PART_HUES
from ui.charts.cost import CURVES, METHOD_HUES
from ui.charts.depth import DASHES
from ui.charts.depth import HUES as DEPTH_HUES
from ui.charts.depth import SERIES as DEPTH_SERIES
from ui.charts.growth import GUESS, TRUE
from ui.charts.learning import SERIES as LEARNING
from ui.charts.lines import SERIES
from ui.charts.reach import MODELS
from ui.charts.specifications import Spec, without_data
from ui.colours import KEY, MASKED, NEUTRAL, SCALED, UNSCALED, WITH_CACHE, WITHOUT_CACHE, Hue
from ui.take_home.render import SVG, XLINK, labelled
from ui.take_home.tables import carried, distinct_stems, pack

WIDTH = 640
"""Pixels of a chart that stretches; printed 16 cm wide, its 12-pixel type is 8.5 points."""

DOTS = 1920
"""Pixels of PNG along the longer side, at least: 305 dots an inch on 16 cm."""

SECONDS = 60
"""After which a conversion is given up; a page's figures take one to five, lines between 64 words nine."""

WAIT = 120
"""Seconds to wait for the figures that others asked for before."""

TEXT = "#14181F"

# The converter's own typeface first: the labels are laid out by its measures, which Arial and Helvetica share.
FONTS = "Liberation Sans, Arial, Helvetica, DejaVu Sans, Noto Sans, sans-serif"

_PRINT: Spec = {
    "font": FONTS,
    "axis": {"labelPadding": 6, "labelFontSize": 12, "titleFontSize": 12, "labelColor": TEXT, "titleColor": TEXT},
    "axisX": {"labelFlush": False},  # the first and last number stand under their ticks
    # Without it, a symbol whose opacity follows the data, which it has none of, has none either.
    "legend": {"symbolOpacity": 1, "labelFontSize": 12, "titleFontSize": 12},
    "view": {"stroke": None},
}

_HEAD = 24
"""Pixels of a line with the key."""

# One at a time on this server: a conversion takes a whole core and the memory of a second app.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class Swatch:
    """One entry of a figure's key: what a colour means."""

    label: str
    """Our own words."""
    hue: Hue
    dash: tuple[float, ...] | None = None
    """Of the line that it stands for: () for a solid one; None for an area."""
    thin: bool = False


PARTS_KEY = tuple(Swatch(part, hue) for part, hue in PART_HUES.items())
"""For `ui.charts.bars.parameters_chart`."""

SERIES_KEY = (Swatch(SERIES[0], UNSCALED, (5, 3)), Swatch(SERIES[1], SCALED, ()))
"""For `ui.charts.lines.sweep_chart`."""

DEPTH_KEY = tuple(Swatch(name, DEPTH_HUES[position], DASHES[position]) for position, name in DEPTH_SERIES.items())
"""For `ui.charts.depth.depth_chart`."""
WAYS_KEY = (Swatch("without a cache", WITHOUT_CACHE, (5, 3)), Swatch("with a cache", WITH_CACHE, ()))
"""For `ui.charts.cache.steps_chart`."""

SPREAD_KEY = (*SERIES_KEY, Swatch("√d", Hue(TEXT, TEXT), (), thin=True))
"""For its first measure, which also shows √d."""

CURVES_KEY = tuple(Swatch(curve.name, curve.hue, curve.dash) for curve in CURVES)
"""For `ui.charts.cost.cost_chart`."""

CACHE_KEY = (Swatch("cache", KEY), Swatch("with a key and value head for each query head", MASKED))
"""For `ui.charts.cost.cache_chart`."""

MEASURED_KEY = tuple(Swatch(method, hue, dash) for method, (hue, dash) in METHOD_HUES.items())
"""For `ui.charts.cost.measured_chart`."""
LEARNING_KEY = {
    measure: tuple(Swatch(name, *LEARNING[name]) for name in LEARNING if (name == "loss") == (measure == "loss"))
    for measure in ("loss", "share")
}
LEARNING_KEY["loss"] += LEARNING_KEY["share"][-1:]
"""For `ui.charts.learning.learning_chart`, by its measure."""

GROWTH_KEY = (Swatch(GUESS, UNSCALED, (5, 3)), Swatch(TRUE, SCALED, ()))
"""For `ui.charts.growth.growth_chart`."""

HEADS_KEY = (Swatch("found by the head", SCALED), Swatch("found by the best distance", UNSCALED))
"""For `ui.charts.heads.scores_chart`."""

REACH_KEY = (Swatch(MODELS[0], NEUTRAL, (6, 4)), Swatch(MODELS[1], SCALED, ()))
"""For the charts of `ui.charts.reach`."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with the table that it shows."""

    name: str
    """Our own words: title of the SVG and, made safe, name of the file."""
    spec: Spec
    """From `ui.charts`, without data; never changed."""
    table: pa.Table | pd.DataFrame
    alt: str
    """What a reader who cannot see it should know."""
    width: int | None = None
    """Pixels of a chart that stretches, `WIDTH` where None; a chart of fixed cells keeps its own."""
    key: tuple[Swatch, ...] = ()
    """What the colours mean, where the page says it beside the chart."""


@dataclass(frozen=True, slots=True)
class PictureFigure:
    """A picture that is a PNG already, from `ui.charts.picture`."""

    name: str
    png: bytes
    alt: str


@dataclass(frozen=True, slots=True)
class Files:
    """A figure in both formats."""

    svg: bytes
    png: bytes


def svg_of(figure: Figure | PictureFigure) -> bytes:
    """A figure as SVG: text stays text, nothing is fetched from elsewhere.

    Parameters
    ----------
    figure : Figure or PictureFigure
        A picture is embedded.

    Returns
    -------
    bytes
        UTF-8, on white, in the colours of the light theme, with its name and text alternative.

    Raises
    ------
    RuntimeError
        The converter failed, took too long, or is busy with the figures of others.

    Examples
    --------
    >>> picture = PictureFigure("weights", _ONE_PIXEL, "nearly nothing")
    >>> b"nearly nothing" in svg_of(picture)
    True
    """
    return _convert([figure], dots=0)[0].svg


def png_of(figure: Figure | PictureFigure) -> bytes:
    """A figure as PNG at print size.

    Parameters
    ----------
    figure : Figure or PictureFigure
        A picture is passed through.

    Returns
    -------
    bytes
        At least `DOTS` pixels along the longer side; the file also says how large it prints, at which size the type
        is alike in all figures.

    Raises
    ------
    RuntimeError
        As `svg_of`.

    Examples
    --------
    >>> png_of(PictureFigure("weights", _ONE_PIXEL, "nearly nothing")) == _ONE_PIXEL
    True
    """
    return _convert([figure], dots=DOTS)[0].png


def files_of(figures: Sequence[Figure | PictureFigure]) -> list[Files]:
    """Several figures in both formats, in one go: much faster than one by one.

    Parameters
    ----------
    figures : sequence of Figure or PictureFigure
        In the order of the page.

    Returns
    -------
    list of Files
        In the same order.

    Raises
    ------
    RuntimeError
        As `svg_of`.

    Examples
    --------
    >>> files_of([])
    []
    """
    return _convert(figures, dots=DOTS)


def figures_zip(figures: Sequence[Figure | PictureFigure]) -> bytes:
    """All figures of a page in both formats as one archive.

    Parameters
    ----------
    figures : sequence of Figure or PictureFigure
        In the order of the page.

    Returns
    -------
    bytes
        A ZIP file; the same figures give the same bytes.

    Raises
    ------
    RuntimeError
        As `svg_of`.

    Examples
    --------
    >>> len(figures_zip([PictureFigure("weights", _ONE_PIXEL, "nearly nothing")])) > 100
    True
    """
    stems = distinct_stems(figure.name for figure in figures)
    files: list[tuple[str, bytes]] = []
    for stem, made in zip(stems, files_of(figures), strict=True):
        files += [(f"{stem}.svg", made.svg), (f"{stem}.png", made.png)]
    return pack(files)


def _convert(figures: Sequence[Figure | PictureFigure], dots: int) -> list[Files]:
    jobs = [_job(figure, dots) for figure in figures if isinstance(figure, Figure)]
    made = iter(_run(jobs) if jobs else ())
    files = []
    for figure in figures:
        if isinstance(figure, PictureFigure):
            files.append(Files(_embedded(figure), figure.png))
        else:
            answer = next(made)
            files.append(Files(answer["svg"].encode(), base64.b64decode(answer.get("png", ""))))
    return files


def _run(jobs: list[dict[str, Any]]) -> list[dict[str, str]]:
    # By its path and without this folder on the search path, it runs the same however the app was launched.
    command = [sys.executable, "-P", str(Path(__file__).with_name("render.py"))]
    if not _ONE_AT_A_TIME.acquire(timeout=WAIT):
        raise RuntimeError("The figures of others are still being made; please try again in a minute.")
    try:
        done = subprocess.run(
            command, input=json.dumps(jobs, allow_nan=False).encode(), capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"The figures took longer than {SECONDS} seconds and were given up.") from None
    except OSError as error:
        raise RuntimeError("The converter for figures could not be started.") from error
    finally:
        _ONE_AT_A_TIME.release()
    if done.returncode:
        failure = RuntimeError("The figures could not be made from this page's charts.")
        failure.add_note(done.stderr.decode(errors="replace")[-2000:])
        raise failure
    answers: list[dict[str, str]] = json.loads(done.stdout)
    return answers


def _job(figure: Figure, dots: int) -> dict[str, Any]:
    records = [{name: _plain(value) for name, value in row.items()} for row in _rows(figure.table)]
    spec: Spec = without_data(figure.spec)
    if spec.get("width") == "container":
        spec |= {"width": figure.width or WIDTH, "autosize": {"type": "fit-x", "contains": "padding"}}
        _lay_level(spec, records, spec["width"])
    own = spec.get("config", {})
    spec["config"] = own | {
        name: given | own.get(name, {}) if isinstance(given, dict) else given for name, given in _PRINT.items()
    }
    # From its white, the expressions of the chart choose the light theme's colours.
    # Under the name that Streamlit gives it: expressions of a heat map look it up.
    spec |= {"data": {"name": "source", "values": records}, "background": "#FFFFFF"}
    words = {"name": carried(figure.name), "alt": carried(figure.alt)}
    return {"spec": spec, **words, "head": _head(figure.key), "head_height": _HEAD, "dots": dots}


def _rows(table: pa.Table | pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist() if isinstance(table, pa.Table) else table.to_dict("records")
    return rows


def _plain(value: Any) -> Any:
    """A cell as JSON and the converter can take it."""
    if isinstance(value, str):
        return carried(value)
    if isinstance(value, float) and not float("-inf") < value < float("inf"):
        return None
    return value


def _lay_level(spec: Spec, records: list[dict[str, Any]], width: int) -> None:
    """Write tilted labels level where a figure, wider than a column of the page, leaves room."""
    channels = [channels for node in _nodes(spec) if isinstance(channels := node.get("encoding"), dict)]
    rows = {str(row.get(y.get("field"))) for channel in channels if (y := channel.get("y")) for row in records}
    beside = _columns(rows) * 7 + 40
    for channel in channels:
        axis = channel.get("x", {}).get("axis")
        if isinstance(axis, dict) and axis.get("labelAngle"):
            labels = {str(row.get(channel["x"]["field"])) for row in records}
            if _columns(labels) * 7 + 8 <= (width - beside) / len(labels):
                axis["labelAngle"] = 0


def _columns(labels: set[str]) -> int:
    """Width of the longest label, in letters; a Chinese character or an emoji takes two."""
    return max((sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in label) for label in labels), default=0)


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from _nodes(child)


def _head(key: Sequence[Swatch]) -> str:
    """The key as one line of SVG."""
    drawn, x = [], 8.0
    for swatch in key:
        colour = swatch.hue.light
        if swatch.dash is None:
            drawn.append(f'<rect x="{x:g}" y="7" width="12" height="12" fill="{colour}"/>')
            x += 18
        else:
            dashes = f' stroke-dasharray="{",".join(f"{length:g}" for length in swatch.dash)}"' if swatch.dash else ""
            stroke = f'stroke="{colour}" stroke-width="{1.2 if swatch.thin else 2.5}"{dashes}'
            drawn.append(f'<path d="M{x:g},13h28" {stroke}/>')
            x += 34
        label = escape(carried(swatch.label))
        drawn.append(f'<text x="{x:g}" y="17" font-family="{FONTS}" font-size="12" fill="{TEXT}">{label}</text>')
        x += 6.5 * len(swatch.label) + 20
    return "".join(drawn)


def _embedded(picture: PictureFigure) -> bytes:
    # Width and height stand at fixed places in a PNG.
    width, height = (str(int.from_bytes(picture.png[at : at + 4])) for at in (16, 20))
    root = ET.Element(f"{{{SVG}}}svg", {"viewBox": f"0 0 {width} {height}", "width": width, "height": height})
    content = f"data:image/png;base64,{base64.b64encode(picture.png).decode()}"
    # Cells stay sharp where the picture is enlarged.
    how = {"width": width, "height": height, "style": "image-rendering: pixelated"}
    # The older name of the attribute too: word processors know no other.
    ET.SubElement(root, f"{{{SVG}}}image", {f"{{{XLINK}}}href": content, **how})
    return labelled(root, carried(picture.name), carried(picture.alt)).encode()


_ONE_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAGxUUOQAAAABJRU5ErkJggg=="
)
