"""Opening a page as a reader does, by its link, and reading what it shows."""

import html
import json
import re
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
from altair.utils import schemapi
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import script_runner
from streamlit.testing.v1 import AppTest, app_test

from core.shapes import FIRST_MASKS
from ui import mask_editor, pages, toolbar
from ui.pages import HOME

# Streamlit collects all garbage after every run: the larger part of a test's time once PyTorch is loaded.
script_runner.gc = SimpleNamespace(collect=lambda *_: 0)


class KnownPages(PagesManager):
    """The pages stay known from run to run, as on a server: a button's callback can then switch to one."""

    known = None

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._pages = KnownPages.known

    def set_pages_and_resolve(self, pages, **options):
        """Keep them."""
        KnownPages.known = pages
        return super().set_pages_and_resolve(pages, **options)


app_test.PagesManager = KnownPages


def _validate_once():
    """Altair holds each piece of a chart against the schema once, however many charts and pages have the same piece."""
    validate, passed = schemapi.validate_jsonschema, {}

    def checked(spec, schema, rootschema=None, *, raise_error=True):
        try:
            piece = id(schema), json.dumps(spec)
        except (TypeError, ValueError):  # it holds what no JSON can
            return validate(spec, schema, rootschema, raise_error=raise_error)
        if piece not in passed:
            error = validate(spec, schema, rootschema, raise_error=raise_error)
            if error is not None:
                return error
            passed[piece] = schema  # kept, so that no other one gets its id
        return None

    schemapi.validate_jsonschema = checked


_validate_once()

ROOT = Path(__file__).parents[2]
KEPT = {mask_editor.key_of(part) for part in FIRST_MASKS}
"""Values of a page that no box holds."""

PAGES = tuple(page.name for page in (HOME, *pages.PAGES))


def script(name):
    return str(ROOT / "pages" / f"{name}.py")


_components = {}
"""Streamlit's search of all installed packages for components, which each AppTest would repeat."""


def open_page(name, **link):
    """The page as a first visit by its link shows it."""
    at = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    at.query_params.update(link)
    at._bidi_component_manager = _components.get("found")
    go_to(at, name)
    _components["found"] = at._bidi_component_manager
    return at


def go_to(at, name):
    at.switch_page(script(name)).run()
    at._page_hash = ""  # or every later run would begin on this page, wherever a button had led
    assert not at.exception
    return at


def run(at):
    at.run()
    assert not at.exception
    return at


def as_frame(table):
    """A chart's table as pandas, words as plain strings."""
    frame = table if isinstance(table, pd.DataFrame) else table.to_pandas()
    categories = frame.select_dtypes("category").columns
    return frame.astype(dict.fromkeys(categories, object))


@lru_cache(maxsize=64)
def _unpacked(data):
    return as_frame(pa.ipc.open_stream(data).read_all())


def data_of(chart):
    """Table of a chart as pandas; unpacked once for all that a test asks of it, or that would be most of its time."""
    return _unpacked(chart.proto.data.data).copy()


TAKEAWAY = re.compile(r"; (from −?[\d.]+ to |all −?[\d.]+|every cell is masked).*", re.DOTALL)
"""What a matrix adds to its text alternative: range, largest entry, masked cells."""


def alternatives(at):
    """Text alternative of every chart, in the order of the page: told by the frame, or Streamlit's own."""
    (told,) = [found[1] for body in bodies(at) if (found := re.search(r'data-alternatives="([^"]*)"', body))]
    by_label = json.loads(html.unescape(told))
    labels = [chart.proto.alt for chart in at.get("vega_lite_chart")]
    assert len(set(labels)) == len(labels)
    return [by_label.get(label, label) for label in labels]


def charts(at):
    """Text alternative without the takeaway, and data, of every chart, in the order of the page."""
    return [(alt, data_of(drawn)) for alt, drawn in _by_alternative(at)]


def _by_alternative(at):
    drawn = at.get("vega_lite_chart")
    return [(TAKEAWAY.sub("", alt), one) for alt, one in zip(alternatives(at), drawn, strict=True)]


def chart(at, alt):
    """Data of the one chart whose text alternative starts so."""
    named = _by_alternative(at)
    found = [drawn for name, drawn in named if name.startswith(alt)]
    assert len(found) == 1, [name for name, _ in named]
    return data_of(found[0])


def as_matrix(frame, field="value"):
    """Cells of a heat map by their positions; the column of row sums is left out."""
    cells = frame[frame.step != -2]
    return cells.pivot(index="row_position", columns="column_position", values=field).to_numpy()


def matrix(at, alt, field="value", part=None):
    frame = chart(at, alt)
    return as_matrix(frame if part is None else frame[frame.matrix == part], field)


def outlined(at, alt, part=None):
    """Cells of a heat map that are framed one by one, and rows and columns that are framed as a whole."""
    marks = matrix(at, alt, "outline", part)
    return (
        list(zip(*map(np.ndarray.tolist, np.nonzero(marks == "cell")), strict=True)),
        sorted({int(row) for row in np.nonzero(marks == "row")[0]}),
        sorted({int(column) for column in np.nonzero(marks == "column")[1]}),
    )


def row_sums(at, alt):
    frame = chart(at, alt)
    return frame[frame.step == -2].sort_values("row_position").text.tolist()


def bodies(at):
    """HTML of the page and its sidebar, without the style sheet."""
    return [element.proto.body for element in at.get("html") if not element.proto.body.lstrip().startswith("<style>")]


def plain(body):
    """What a reader sees of a piece of HTML."""
    return html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"</?bdi[^>]*>", "", body)))


def texts(at):
    """Everything that the page says in words and numbers outside its charts, as a reader sees it."""
    said = [plain(body) for body in bodies(at)]
    said += [element.value for kind in ("markdown", "info", "latex") for element in at.get(kind)]
    return said + [f"{metric.label} {metric.value}" for metric in at.metric]


def said(at, part):
    """The one text of the page that holds this part."""
    found = [text for text in texts(at) if part in text]
    assert len(found) == 1, texts(at)
    return found[0]


def notices(at):
    return [plain(body).strip() for body in bodies(at) if 'class="notice"' in body]


def check_line(at):
    """The outcome of the comparison with PyTorch: its CSS class, its line, the explanation that opens under it."""
    found = [body for body in bodies(at) if 'class="agree' in body]
    assert len(found) == 1
    pattern = r'<details class="agree ([a-z]*)"><summary><span role="status">(.*?)</span></summary>(.*)</details>'
    kind, line, why = re.fullmatch(pattern, found[0]).groups()
    return kind, plain(line), plain(why)


def table_rows(table):
    """Cells of an HTML table as a reader sees them, headings and total included."""
    rows = re.findall(r"<tr.*?</tr>", table)
    return [[plain(cell).strip() for cell in re.findall(r"<t[hd]>(.*?)</t[hd]>", row)] for row in rows]


def worked_tables(at):
    """Every table of worked arithmetic on the page."""
    return [table_rows(body) for body in bodies(at) if '<div class="worked' in body]


def assert_finite(at):
    """No NaN and no infinity in anything said; in charts nothing but what a mask or a reference line leaves out."""
    drawn = charts(at)
    for text in (*texts(at), *(alt for alt, _ in drawn)):
        assert not re.search(r"\b(nan|inf)\b", text, re.IGNORECASE), text
    for alt, frame in drawn:
        for column in frame.select_dtypes("number").columns.difference(["reference"]):
            values = frame[column].to_numpy(dtype=float)
            if column == "value" and "note" in frame:
                values = values[~frame.note.str.startswith("masked").to_numpy()]
            assert np.isfinite(values).all(), (alt, column)
        for column in frame.columns.intersection(["text", "said"]):
            assert not frame[column].str.contains("nan|inf", case=False).any(), (alt, column)


def assert_limited(at):
    """Every box on the page takes so many characters, every number lies between two bounds, every list is closed."""
    for box in at.text_input:
        assert 0 < box.proto.max_chars <= 600, box.label
    for box in at.number_input:
        assert box.proto.has_min, box.label
        assert box.proto.has_max, box.label
    for box in (*at.selectbox, *at.multiselect):
        assert not box.proto.accept_new_options, box.label


def recorded(monkeypatch):
    """What each run keeps for the files, the code and the link; grows while pages run."""
    records, opened = [], toolbar.open_asked
    monkeypatch.setattr(toolbar, "open_asked", lambda record: records.append(record) or opened(record))
    return records


def in_sight(at, *kinds):
    """Elements and containers that a slide does not hide, in the order of the page; of some kinds, or of all."""

    def walk(block):
        for child in block.children.values():
            key = getattr(child, "key", None) or ""
            if key.startswith("away_") or 'class="line no_slide"' in getattr(child.proto, "body", ""):
                continue
            if not kinds or child.type in kinds:
                yield child
            if hasattr(child, "children"):
                yield from walk(child)

    return list(walk(at.main))


def settings_of(at):
    """What the sidebar made of its controls, as every page reads it."""
    return at.session_state["_settings"]


def value_of(at, key):
    """What a control holds; of a picker the number of what is picked, whatever its label."""
    boxes = [box for box in at.selectbox if box.key == key]
    return boxes[0].index if boxes else at.session_state[key]


def values_of(at, keys):
    return {key: value_of(at, key) for key in keys}


def change(at, **values):
    """Set controls by their keys, all in one run; a picker by number, what no box holds as a click would."""
    for key, value in values.items():
        if key in KEPT:
            at.session_state[key] = value
            continue
        control = at._tree.get_by_key(key)
        (control.select_index if control.type == "selectbox" else control.set_value)(value)
    return run(at)


def press(at, label):
    next(button for button in at.button if button.label == label).click()
    return run(at)


def numbers(at, key, name):
    """The table behind a picture, in full precision."""
    if f"{key}_matrix" not in at.session_state:
        at.session_state[f"{key}_open"] = True
        run(at)
    at.selectbox(key=f"{key}_matrix").set_value(name)
    return run(at).dataframe[0].value


def click_cell(at, key, *cell, **rest):
    """A click on a cell, or on none, sent as the browser sends it: the callback of the chart runs."""
    cells = [dict(zip(("row_position", "column_position"), cell, strict=True)) | rest] if cell else []
    return click(at, key, "cell", cells)


def click(at, key, selection, picked):
    """A click on something in a chart; what is picked stands in the fields of the selection."""
    chart_id = next(element.proto.id for element in at.get("vega_lite_chart") if element.key == key)
    state = {"selection": {selection: picked}}
    sent = at._tree.get_widget_states()
    sent.widgets.append(WidgetState(id=chart_id, string_value=json.dumps(state)))
    at._run(sent)
    assert not at.exception
    return at
