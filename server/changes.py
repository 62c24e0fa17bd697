"""Of a run of a page, what the page in the browser does not show already."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from google.protobuf.message import DecodeError
from starlette.types import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.RootContainer_pb2 import RootContainer

Place = tuple[int, ...]
Content = tuple[str, str]
"""Of an element or a block: hash of its message, and the script that made it."""

SAID_ONCE = ("navigation", "page_config_changed")
"""Messages beside the elements that tell the browser nothing new when they come again."""


class Said(NamedTuple):
    """A message on its way to the browser, and what Streamlit says in it: nothing where the connection speaks."""

    message: Message
    content: ForwardMsg


@dataclass(slots=True)
class Changes:
    """What the page of one connection shows, and so what of a run need not be sent.

    A move of a slider runs the whole page, which says all of its hundred elements again; the browser goes through each
    of them, although most are as they were. A run that has the same places as the last one is sent as if the last one
    went on, under its name: then those that it does not mention stay. Where an element comes or goes, and where the
    run is shown piece by piece, all is sent.

    Examples
    --------
    >>> changes, begin, end = Changes(), ForwardMsg(), ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)
    >>> begin.new_session.name = "a run"
    >>> begin.metadata.run.script_run_id = end.metadata.run.script_run_id = "first"
    >>> element = ForwardMsg(hash="of its content")
    >>> element.delta.new_element.html.body = "six words"
    >>> run = [Said({"bytes": said.SerializeToString()}, said) for said in (begin, element, end)]
    >>> len(changes.of(run)), len(changes.of(run))
    (3, 2)
    """

    _shown: dict[Place, Content] | None = None
    """None: not known, so that the next run is sent whole."""
    _name: str = ""
    """Of the run that the elements shown belong to."""
    _page: str = ""
    """Hash of the page that the browser is on."""
    _said: dict[str, bytes] = field(default_factory=dict)
    _coming: dict[Place, Content] | None = None
    """What a run that is sent whole has brought so far."""

    def asked(self, message: Message) -> None:
        """Take note of what the browser asks for: at a click on another page it clears this one by itself."""
        if message["type"] != "websocket.receive" or not message.get("bytes"):
            return
        try:
            said = BackMsg.FromString(message["bytes"])
        except DecodeError:
            return  # of no browser; Streamlit complains of it
        if said.HasField("rerun_script") and said.rerun_script.page_script_hash != self._page:
            self._shown = self._coming = None

    def of(self, said: Sequence[Said]) -> list[Message]:
        """What of these messages is to be sent, in their order."""
        messages: list[Message] = []
        for part in _runs(said):
            # A placeholder comes before what takes its place.
            brought = {
                tuple(content.metadata.delta_path): content
                for _, content in part
                if content.WhichOneof("type") in ("delta", "ref_hash")
            }
            same = self._is_more_of_the_same(part, brought)
            messages += self._changed(part, brought) if same else self._whole(part)
        return messages

    def _is_more_of_the_same(self, part: Sequence[Said], brought: Mapping[Place, ForwardMsg]) -> bool:
        """Whether these are a run from its begin to its end, all of whose places are those that are shown."""
        first, last = part[0].content, _end(part)
        if self._shown is None or last is None or first.WhichOneof("type") != "new_session":
            return False
        run = first.metadata.run
        if run.fragment_ids or last.metadata.run != run or first.new_session.page_script_hash != self._page:
            return False
        if any(place not in self._shown for place in brought):
            return False
        if any(
            # A dialog that the reader has closed opens when it comes again; what stands in a block that is another one
            # now is Streamlit's to decide.
            _is_block(content) and (place[0] == RootContainer.EVENT or self._shown[place] != _identity(content))
            for place, content in brought.items()
        ):
            return False
        if last.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return True  # the next one goes on
        return last.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and len(brought) == len(self._shown)

    def _changed(self, part: Sequence[Said], brought: Mapping[Place, ForwardMsg]) -> Iterator[Message]:
        """Of a run with the places that are shown: what differs, under the name of the run that they belong to."""
        assert self._shown is not None
        for message, content in part:
            kind = content.WhichOneof("type")
            if kind in ("new_session", "script_finished"):
                content.metadata.run.script_run_id = self._name
                yield {**message, "bytes": content.SerializeToString()}
            elif kind in ("delta", "ref_hash"):
                place = tuple(content.metadata.delta_path)
                if content is not brought[place]:
                    continue
                if self._shown[place] != _identity(content) or _must_be_heard(content):
                    yield message
                self._shown[place] = _identity(content)
            elif self._is_news(kind, message):
                yield message

    def _whole(self, part: Sequence[Said]) -> Iterator[Message]:
        """All of it, taking note of what is shown then."""
        for message, content in part:
            yield message
            kind, run = content.WhichOneof("type"), content.metadata.run
            if kind == "new_session":
                self._shown, self._coming = None, {}
                self._name, self._page = run.script_run_id, content.new_session.page_script_hash
            elif kind in ("delta", "ref_hash"):
                if self._coming is not None:
                    self._coming[tuple(content.metadata.delta_path)] = _identity(content)
                else:
                    self._shown = None  # between two runs
            elif kind == "script_finished":
                whole = content.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and run.script_run_id == self._name
                self._shown, self._coming = self._coming if whole else None, None
            else:
                if kind == "navigation":
                    self._page = content.navigation.page_script_hash
                self._is_news(kind, message)

    def _is_news(self, kind: str | None, message: Message) -> bool:
        """Whether the browser has not been told this."""
        if kind not in SAID_ONCE:
            return True
        payload: bytes = message["bytes"]
        before, self._said[kind] = self._said.get(kind), payload
        return before != payload


def _runs(said: Sequence[Said]) -> Iterator[list[Said]]:
    """The messages, cut before each begin of a run."""
    part: list[Said] = []
    for one in said:
        if part and one.content.WhichOneof("type") == "new_session":
            yield part
            part = []
        part.append(one)
    if part:
        yield part


def _end(part: Sequence[Said]) -> ForwardMsg | None:
    """The message that the script has finished, if it is the only one."""
    ends = [content for _, content in part if content.WhichOneof("type") == "script_finished"]
    return ends[0] if len(ends) == 1 else None


def _identity(content: ForwardMsg) -> Content:
    return content.hash or content.ref_hash, content.metadata.active_script_hash


def _is_block(content: ForwardMsg) -> bool:
    return content.WhichOneof("type") == "delta" and content.delta.WhichOneof("type") != "new_element"


def _must_be_heard(content: ForwardMsg) -> bool:
    """Whether the browser does something with it although it has it: shows a toast, notes that it is still in use."""
    if content.WhichOneof("type") == "ref_hash" or content.metadata.cacheable:
        return True
    return content.delta.WhichOneof("type") == "new_element" and content.delta.new_element.has_one_shot_effect
