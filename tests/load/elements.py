"""What a tab shows: the tree of elements that the server's messages build up, and the controls in it."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.RootContainer_pb2 import RootContainer
from streamlit.proto.WidgetStates_pb2 import WidgetState

Path = tuple[int, ...]
Value = str | bool | int | float | list[str] | list[float] | None

CHOICES = ("slider", "button_group", "selectbox", "radio", "multiselect")
"""Kinds of controls that offer values; some sliders offer numbers instead."""

VALUED = (*CHOICES, "checkbox", "number_input", "text_input", "text_area", "expandable")
"""Kinds of controls that hold a value from the moment they are shown."""

TEXTS = {"markdown": "body", "heading": "body", "text": "body", "code": "code_text", "html": "body", "alert": "body"}
"""Elements that are words, with the field that has them."""

_STYLE = re.compile(r"<(style|script)\b.*?</\1>", re.DOTALL)


@dataclass(slots=True)
class Node:
    """One element or container."""

    content: Any
    """The element's own message, or the block's."""
    kind: str
    """As the protocol calls it: "slider", "vega_lite_chart", "flex_container"."""
    script: str
    """Hash of the script that made it: the frame or the page."""
    run: str
    """The script run that sent it last."""
    fragment: str
    hash: str
    is_block: bool = False


class Elements:
    """Everything on the screen by its place, as the frontend keeps it."""

    def __init__(self) -> None:
        self.nodes: dict[Path, Node] = {}

    def apply(self, message: ForwardMsg, run: str) -> Node | None:
        """Take in one delta; the node that it made anew, or None where the element is the one shown already."""
        path, script = tuple(message.metadata.delta_path), message.metadata.active_script_hash
        delta = message.delta
        before = self.nodes.get(path)
        kind = delta.WhichOneof("type")
        if kind == "new_element":
            if before is not None and not before.is_block:
                if before.hash and before.hash == message.hash:
                    before.run, before.script, before.fragment = run, script, delta.fragment_id
                    return None
            elif before is not None:
                self._drop_below(path)
            name = delta.new_element.WhichOneof("type") or "empty"
            content = getattr(delta.new_element, name, delta.new_element)
            node = Node(content, name, script, run, delta.fragment_id, message.hash)
        elif kind == "add_block":
            name = delta.add_block.WhichOneof("type") or "vertical"
            if before is not None and not (before.is_block and before.kind == name):
                self._drop_below(path)
            node = Node(delta.add_block, name, script, run, delta.fragment_id, message.hash, is_block=True)
        else:  # a spinner, which hides nothing and goes by itself
            return None
        self.nodes[path] = node
        return node

    def _drop_below(self, path: Path) -> None:
        for other in [other for other in self.nodes if other[: len(path)] == path and other != path]:
            del self.nodes[other]

    def clear_stale(self, run: str, fragments: Sequence[str]) -> None:
        """At the end of a run: what it did not send again is gone, in its fragments or everywhere."""
        for path, node in list(self.nodes.items()):
            if node.run != run and (not fragments or node.fragment in fragments):
                del self.nodes[path]

    def keep_only(self, script: str) -> None:
        """At a change of page: what the frame made stays."""
        for path in [path for path, node in self.nodes.items() if node.script != script]:
            del self.nodes[path]

    def ordered(self) -> list[tuple[Path, Node]]:
        """From top to bottom: main part, sidebar, events, foot."""
        return sorted(self.nodes.items())

    def controls(self) -> Iterator["Control"]:
        """Everything that a reader can move, press or click."""
        for path, node in self.ordered():
            control = control_in(path, node)
            if control is not None:
                yield control

    def texts(self) -> list[str]:
        """All words, without markup of HTML; the style sheet is none of them."""
        found = []
        for _, node in self.ordered():
            if node.kind in TEXTS:
                body = getattr(node.content, TEXTS[node.kind])
                if node.kind == "html":
                    body = html.unescape(re.sub(r"<[^>]*>", " ", _STYLE.sub("", body)))
                if body.strip():
                    found.append(body.strip())
            elif node.kind == "metric":
                found.append(f"{node.content.label}: {node.content.body}")
        return found

    def errors(self) -> list[str]:
        """Exceptions and alerts of the colour of errors."""
        return [error for _, node in self.ordered() if (error := error_in(node))]


def error_in(node: Node) -> str:
    """What an element says went wrong; empty for all others."""
    if node.kind == "exception":
        return f"{node.content.type}: {node.content.message}"
    if node.kind == "alert" and node.content.format == Alert.ERROR:
        return str(node.content.body)
    return ""


@dataclass(frozen=True, slots=True)
class Control:
    """A control on the screen."""

    id: str
    key: str
    """As the app's code names it; empty where it does not."""
    kind: str
    label: str
    content: Any
    path: Path
    fragment: str

    @property
    def in_sidebar(self) -> bool:
        """Whether it is the sidebar's, or at the foot of a slide, where the sidebar's controls are then."""
        return self.path[0] in (RootContainer.SIDEBAR, RootContainer.BOTTOM)

    @property
    def disabled(self) -> bool:
        """Whether it is greyed out."""
        return bool(getattr(self.content, "disabled", False))

    @property
    def form(self) -> str:
        """The form that holds its value back until it is sent; mostly none."""
        return str(getattr(self.content, "form_id", ""))

    @property
    def parameter(self) -> str:
        """Its name in the link; mostly none."""
        return str(getattr(self.content, "query_param_key", ""))

    @property
    def options(self) -> list[str]:
        """What it offers; empty where it is no choice."""
        if self.kind == "button_group":
            return [f"{option.content_icon} {option.content}".strip() for option in self.content.options]
        return [str(option) for option in getattr(self.content, "options", ())]

    @property
    def bounds(self) -> tuple[float, float, float] | None:
        """Lowest, highest and step of a number."""
        if self.kind == "number_input" or (self.kind == "slider" and not self.options):
            return self.content.min, self.content.max, self.content.step
        return None

    @property
    def holds_a_value(self) -> bool:
        """Whether it has one from the start, unlike a button or a chart."""
        return self.kind in VALUED

    def default(self) -> Value:
        """Its value without link and without reader."""
        content, options = self.content, self.options
        match self.kind:
            case "slider" if options:
                return [options[int(index)] for index in content.default]
            case "slider":
                return list(content.default)
            case "button_group" | "multiselect":
                return [options[index] for index in content.default]
            case "selectbox" | "radio":
                return options[content.default] if options and content.HasField("default") else None
            case "checkbox":
                return bool(content.default)
            case "expandable":
                return bool(content.default_expanded)
            case "number_input":
                return self._number(content.default) if content.HasField("default") else None
            case "text_input" | "text_area":
                return content.default if content.HasField("default") else None
        raise ValueError(f"the control must hold a value; got {self.kind} “{self.label or self.key}”")

    def sent(self) -> Value:
        """The value that came with it."""
        content = self.content
        match self.kind:
            case "slider" if self.options:
                return list(content.raw_value) or self.default()
            case "slider":
                return list(content.value)
            case "button_group" | "multiselect":
                return list(content.raw_values)
            case "selectbox" | "radio":
                return content.raw_value if content.HasField("raw_value") else None
            case "checkbox":
                return bool(content.value)
            case "number_input":
                return self._number(content.value) if content.HasField("value") else self.default()
            case "text_input" | "text_area":
                return content.value if content.HasField("value") else self.default()
        return self.default()

    def _number(self, value: float) -> int | float:
        return int(value) if self.content.data_type == NumberInput.INT else value

    def state(self, value: Value) -> WidgetState:
        """The value as the frontend sends it."""
        state = WidgetState(id=self.id)
        if value is None:
            return state
        match self.kind:
            case "slider" if self.options:
                state.string_array_value.data.extend(value)
            case "slider":
                state.double_array_value.data.extend(value)
            case "button_group" | "multiselect":
                # Present and empty is a choice of nothing; absent would be the default.
                state.string_array_value.SetInParent()
                state.string_array_value.data.extend(value)
            case "checkbox" | "expandable":
                state.bool_value = value
            case "number_input" if self.content.data_type == NumberInput.INT:
                state.int_value = value
            case "number_input":
                state.double_value = value
            case _:
                state.string_value = str(value)
        return state

    def checked(self, value: object) -> Value:
        """A value that the control can be set to in a browser, from what a test writes; ValueError for any other."""
        options = self.options
        if self.kind in ("button_group", "multiselect") or (self.kind == "slider" and options):
            chosen = [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]
            unknown = [one for one in chosen if one not in options]
            if unknown:
                raise ValueError(f"{self.key or self.label} must be among {', '.join(options)}; got {unknown[0]}")
            return chosen
        if self.kind in ("selectbox", "radio"):
            if str(value) not in options:
                raise ValueError(f"{self.key or self.label} must be among {', '.join(options)}; got {value}")
            return str(value)
        if self.bounds is not None:
            numbers = [float(one) for one in value] if isinstance(value, list | tuple) else [float(value)]  # type: ignore[arg-type]
            low, high, _ = self.bounds
            free = self.kind == "number_input" and not (self.content.has_min and self.content.has_max)
            if not free and not all(low <= number <= high for number in numbers):
                raise ValueError(f"{self.key or self.label} must be from {low:g} to {high:g}; got {value}")
            return numbers if self.kind == "slider" else self._number(numbers[0])
        if self.kind in ("checkbox", "expandable"):
            return bool(value)
        return str(value)

    def in_link(self, value: Value) -> list[str] | None:
        """The value as its parameter in the link; None where the parameter is absent, as for the default."""
        texts = _as_texts(value)
        default = self.default()
        if texts == _as_texts(default) or (value is None and default is None):
            return None
        if self.kind in ("slider", "checkbox", "number_input", "expandable") and not texts:
            return None
        return texts or [""]


def control_in(path: Path, node: Node) -> Control | None:
    """The control that a node is; None for all else."""
    content = node.content
    if node.is_block:
        content = getattr(content, node.kind, None)
    id_ = getattr(content, "id", "")
    if not id_ or not isinstance(id_, str) or not id_.startswith("$$"):
        return None
    key = id_.split("-", 2)[2] if id_.count("-") >= 2 else ""
    return Control(
        id_, "" if key == "None" else key, node.kind, getattr(content, "label", ""), content, path, node.fragment
    )


def _as_texts(value: Value) -> list[str]:
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [_as_javascript_writes(one) for one in values]


def _as_javascript_writes(value: str | bool | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
