"""One reader under AppTest: opens a link, changes what the page shows as a browser would, and is timed."""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.testing.v1 import AppTest

from tests.fuzz.links import Link
from tests.pages.reading import ROOT, script
from ui import toolbar
from ui.shown import Shown
from ui.take_home.links import query_of

FIELDS = {
    "button": "trigger_value",
    "toggle": "bool_value",
    "selectbox": "string_value",
    "text_input": "string_value",
    "number_input": "double_value",
    "slider": "double_array_value",
    "select_slider": "string_array_value",
    "button_group": "string_array_value",
    "multiselect": "string_array_value",
    "expander": "bool_value",
    "vega_lite_chart": "string_value",
    "dataframe": "string_value",
}
"""Where a browser puts the value of each kind of element."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a reader does: sets the element of a key, or goes to a page."""

    key: str
    value: object
    kind: str
    """Type of the element; "page" for a page change, whose key is the page's name."""

    def __str__(self) -> str:
        """As it is printed of a failure."""
        return f"{self.kind} {self.key!r} = {json.dumps(self.value, ensure_ascii=True)}"


@dataclass(slots=True)
class Clock:
    """Time of the scripts that ran since it was last read, in seconds."""

    wall: float = 0.0
    processor: float = 0.0

    def read(self) -> tuple[float, float]:
        """Both times, and back to zero."""
        found = self.wall, self.processor
        self.wall = self.processor = 0.0
        return found


clock = Clock()
_records: list[Shown] = []
_components: dict[str, object] = {}
_watching = threading.Event()


def watch() -> None:
    """Keep what every run shows, and time its script; once a process."""
    if _watching.is_set():
        return
    _watching.set()
    run_script, opened = ScriptRunner._run_script, toolbar.open_asked

    def timed(self: ScriptRunner, *arguments: object, **options: object) -> None:
        wall, processor = time.perf_counter(), time.thread_time()
        try:
            run_script(self, *arguments, **options)
        finally:
            clock.wall += time.perf_counter() - wall
            clock.processor += time.thread_time() - processor

    def kept(record: Shown) -> None:
        _records[:] = [record]
        opened(record)

    ScriptRunner._run_script = timed
    toolbar.open_asked = kept


def compile_once() -> None:
    """Compile each script once, as the server does; AppTest would compile it anew for every run."""
    read, fresh, kept = ScriptCache.get_bytecode, ScriptCache(), {}
    ScriptCache.get_bytecode = lambda self, path: kept.get(path) or kept.setdefault(path, read(fresh, path))


@dataclass(slots=True)
class Visit:
    """A session: the page as it is now, what it takes home, and the time of its last run."""

    link: Link
    at: AppTest
    page: str
    record: Shown | None = None
    wall: float = 0.0
    processor: float = 0.0
    typed: list[str] = field(default_factory=list)
    """Every text that the reader brought in."""

    def _run(self, run: object) -> None:
        clock.read()
        _records.clear()
        run()
        self.wall, self.processor = clock.read()
        self.record = _records[-1] if _records else None
        self.at._page_hash = ""  # or every later run would begin on this page, wherever a button had led
        if self.record:
            self.page = self.record.page

    def do(self, action: Action) -> bool:
        """Do it as a browser would; False where the page has no such element."""
        if action.kind == "page":
            self.at.switch_page(script(action.key))
            self._run(self.at.run)
            return True
        found = self.elements().get(action.key)
        if found is None or found[0] != action.kind:
            return False
        if action.kind in ("text_input", "selectbox"):
            self.typed.append(str(action.value))
        state = WidgetState(id=found[1])
        name = FIELDS[action.kind]
        if action.kind == "number_input" and isinstance(action.value, int):
            name = "int_value"
        if name.endswith("array_value"):
            getattr(state, name).data[:] = action.value
            getattr(state, name).SetInParent()
        else:
            setattr(state, name, action.value)
        sent = self.at._tree.get_widget_states()
        others = [widget for widget in sent.widgets if widget.id != state.id]
        del sent.widgets[:]
        sent.widgets.extend([*others, state])
        self._run(lambda: self.at._run(sent))
        return True

    def elements(self) -> dict[str, tuple[str, str, object]]:
        """Type, identity and the element itself of all that can be changed, by key."""
        found = {}
        for element in self.at._tree:
            kind, key = element.type, getattr(element, "key", None)
            identity = getattr(getattr(element, "proto", None), "id", "")
            if kind in FIELDS and identity and not getattr(element.proto, "disabled", False):
                found[key or getattr(element, "label", "")] = (kind, identity, element)
        return found

    def link_now(self) -> Link:
        """The link that the page itself would share."""
        view = self.at.session_state.get("_view")
        present, hidden = (view.presenting, view.hidden) if view else (False, ())
        query = query_of(self.record.link if self.record else {}, present, hidden)
        return Link(self.page, tuple((key, tuple(values)) for key, values in query.items()))


def visit(link: Link) -> Visit:
    """Open a link in a session of its own."""
    watch()
    at = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    at.query_params.update(link.parameters)
    at._bidi_component_manager = _components.get("found")
    at.switch_page(script(link.page))
    found = Visit(link, at, link.page, typed=[text for key, values in link.query for text in (key, *values)])
    found._run(at.run)
    _components["found"] = at._bidi_component_manager
    return found


def do_all(link: Link, actions: "list[Action] | tuple[Action, ...]") -> Visit:
    """The session after all of these; what the page does not offer is left out."""
    found = visit(link)
    for action in actions:
        found.do(action)
    return found


def settings_of(found: Visit) -> Mapping[str, object]:
    """Values of the controls that the page drew, by key."""
    return {key: found.at.session_state[key] for key in (found.record.controls if found.record else ())}
