"""A page that is sent only what changes shows the same as one that is sent everything."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from server.changes import Changes, Said
from tests.load.reader import Reader

Place = tuple[int, ...]
EARLY, DONE, FRAGMENT_DONE = (
    ForwardMsg.FINISHED_EARLY_FOR_RERUN,
    ForwardMsg.FINISHED_SUCCESSFULLY,
    ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
)


def element(place: Place, text: str, page: str = "home", once: bool = False, fragment: str = "") -> ForwardMsg:
    """An element as Streamlit sends it."""
    message = ForwardMsg()
    message.delta.new_element.html.body = text
    if once:
        message.delta.new_element.has_one_shot_effect = True
    return addressed(message, place, page, fragment)


def block(place: Place, label: str = "", page: str = "home", fragment: str = "") -> ForwardMsg:
    """A container; with a label one that opens."""
    message = ForwardMsg()
    message.delta.add_block.allow_empty = True
    if label:
        message.delta.add_block.expandable.label = label
    return addressed(message, place, page, fragment)


def addressed(message: ForwardMsg, place: Place, page: str, fragment: str) -> ForwardMsg:
    message.delta.fragment_id = fragment
    message.hash = hashlib.md5(message.SerializeToString(deterministic=True), usedforsecurity=False).hexdigest()
    message.metadata.delta_path.extend(place)
    message.metadata.active_script_hash = page
    return message


def run(
    name: str,
    *elements: ForwardMsg,
    page: str = "home",
    ends: "ForwardMsg.ScriptFinishedStatus.ValueType | None" = DONE,
    fragments: Sequence[str] = (),
) -> list[ForwardMsg]:
    """The messages of one run; without an end it goes on."""
    begin, navigation, end = ForwardMsg(), ForwardMsg(), ForwardMsg()
    begin.new_session.page_script_hash = page
    begin.new_session.main_script_hash = "frame"
    begin.new_session.config.max_cached_message_age = 2
    navigation.navigation.page_script_hash = page
    navigation.navigation.app_pages.add(page_script_hash=page, url_pathname=page)
    for message in (begin, end):
        message.metadata.run.script_run_id = name
        message.metadata.run.fragment_ids.extend(fragments)
    messages = [begin, *([] if fragments else [navigation]), *elements]
    if ends is not None:
        end.script_finished = ends
        messages.append(end)
    return messages


def said(messages: Sequence[ForwardMsg]) -> list[Said]:
    """As they wait in the server; each its own copy, for they are renamed."""
    payloads = [message.SerializeToString() for message in messages]
    return [Said({"type": "websocket.send", "bytes": one}, ForwardMsg.FromString(one)) for one in payloads]


def asks_for(page: str) -> dict[str, Any]:
    """What the browser says at a click."""
    message = BackMsg()
    message.rerun_script.page_script_hash = page
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def sent(changes: Changes, *messages: ForwardMsg) -> list[str]:
    """What is sent, in words."""
    words = []
    for message in changes.of(said(messages)):
        content = ForwardMsg.FromString(message["bytes"])
        match content.WhichOneof("type"):
            case "delta" if content.delta.WhichOneof("type") == "new_element":
                words.append(content.delta.new_element.html.body)
            case "delta":
                words.append("block")
            case "new_session" | "script_finished" as kind:
                words.append(f"{kind} {content.metadata.run.script_run_id}")
            case kind:
                words.append(str(kind))
    return words


A, B, C = (0, 0), (0, 1), (0, 2)
WHOLE = ["new_session one", "navigation", "a", "b", "c", "script_finished one"]


def shown() -> Changes:
    """After a first run with three elements."""
    changes = Changes()
    assert sent(changes, *run("one", element(A, "a"), element(B, "b"), element(C, "c"))) == WHOLE
    return changes


def test_only_what_differs_is_sent_under_the_name_of_the_run_that_is_shown() -> None:
    changes = shown()
    for name, text in (("two", "B"), ("three", "b")):
        again = run(name, element(A, "a"), element(B, text), element(C, "c"))
        assert sent(changes, *again) == ["new_session one", text, "script_finished one"]


def test_what_comes_or_goes_makes_all_of_it_be_sent() -> None:
    for more in ([element(A, "a"), element(B, "b")], [*(element(place, "x") for place in (A, B, C, (0, 3)))]):
        changes = shown()
        words = sent(changes, *run("two", *more))
        assert words == ["new_session two", "navigation", *words[2:-1], "script_finished two"]
        assert len(words) == 3 + len(more)
        assert sent(changes, *run("three", *more)) == ["new_session two", "script_finished two"]


def test_another_page_with_the_same_places_is_sent_whole() -> None:
    changes = shown()
    other = [element(place, text, "cost") for place, text in ((A, "a"), (B, "b"), (C, "c"))]
    assert sent(changes, *run("two", *other, page="cost")) == [
        "new_session two", "navigation", "a", "b", "c", "script_finished two"
    ]  # fmt: skip


def test_the_page_is_the_one_that_the_menu_marks() -> None:
    changes, same = Changes(), [element(A, "a"), element(B, "b")]
    first = run("one", *same)
    first[0].new_session.page_script_hash = ""  # as at the first run by a link
    sent(changes, *first)
    changes.asked(asks_for("home"))
    assert sent(changes, *run("two", *same)) == ["new_session one", "script_finished one"]


def test_a_block_that_is_another_one_makes_all_of_it_be_sent() -> None:
    changes = Changes()
    sent(changes, *run("one", block(A, "more"), element((0, 0, 0), "a")))
    for name, label in (("two", "less"), ("three", "")):
        again = run(name, block(A, label), element((0, 0, 0), "a"))
        assert sent(changes, *again) == [f"new_session {name}", "navigation", "block", "a", f"script_finished {name}"]


def test_the_same_words_by_the_frame_and_by_the_page_differ() -> None:
    changes = shown()
    again = run("two", element(A, "a", page="frame"), element(B, "b"), element(C, "c"))
    assert sent(changes, *again) == ["new_session one", "a", "script_finished one"]


def test_a_click_on_another_page_makes_the_next_run_whole() -> None:
    same = [element(A, "a"), element(B, "b"), element(C, "c")]
    changes = shown()
    changes.asked(asks_for("cost"))  # and at once back again: Streamlit runs the last one only
    changes.asked(asks_for("home"))
    assert len(sent(changes, *run("two", *same))) == 6
    changes.asked(asks_for("home"))
    assert len(sent(changes, *run("three", *same))) == 2


def test_what_a_browser_would_not_say_is_passed_over() -> None:
    changes = shown()
    for message in ({"type": "websocket.disconnect"}, {"type": "websocket.receive", "text": "x"}):
        changes.asked(message)
    changes.asked({"type": "websocket.receive", "bytes": b"\xff\xff\xff no message of Streamlit's"})
    assert len(sent(changes, *run("two", element(A, "a"), element(B, "b"), element(C, "c")))) == 2


def test_what_has_an_effect_each_time_is_sent_each_time() -> None:
    changes, toast = Changes(), element(A, "saved", once=True)
    kept = element(B, "large")
    kept.metadata.cacheable = True
    referred = ForwardMsg(ref_hash=kept.hash)
    referred.metadata.CopyFrom(kept.metadata)
    sent(changes, *run("one", toast, kept))
    assert sent(changes, *run("two", toast, referred)) == [
        "new_session one",
        "saved",
        "ref_hash",
        "script_finished one",
    ]
    assert sent(changes, *run("three", toast, kept))[1:-1] == ["saved", "large"]


def test_a_dialog_is_sent_again_for_the_reader_may_have_closed_it() -> None:
    changes, opened = Changes(), [element(A, "a"), block((2, 0), "Share"), element((2, 0, 0), "link")]
    for name in ("one", "two"):
        assert sent(changes, *run(name, *opened))[2:-1] == ["a", "block", "link"]


def test_of_a_placeholder_and_what_takes_its_place_the_last_one_counts() -> None:
    changes = Changes()
    sent(changes, *run("one", element(A, "wait"), element(A, "a")))
    assert sent(changes, *run("two", element(A, "wait"), element(A, "a")))[1:-1] == []
    assert sent(changes, *run("three", element(A, "wait"), element(A, "A")))[1:-1] == ["A"]


def test_a_run_that_ends_early_is_followed_by_what_is_left() -> None:
    changes = shown()
    early = run("two", element(A, "A"), ends=EARLY)
    late = run("three", element(A, "A"), element(B, "B"), element(C, "c"))
    assert sent(changes, *early, *late) == [
        "new_session one", "A", "script_finished one", "new_session one", "B", "script_finished one"
    ]  # fmt: skip


def test_the_run_after_one_of_a_fragment_is_whole() -> None:
    for ends in (FRAGMENT_DONE, EARLY, DONE):
        changes = shown()
        assert sent(changes, *run("part", element(A, "A"), ends=ends, fragments=["f"]))[0] == "new_session part"
        assert len(sent(changes, *run("two", element(A, "A"), element(B, "b"), element(C, "c")))) == 6


def test_the_run_after_one_that_is_not_known_whole_is_whole() -> None:
    same = [element(A, "a"), element(B, "b"), element(C, "c")]
    more = [*same, element((0, 3), "d")]
    unnamed = run("two", *same)
    unnamed[-1].ClearField("metadata")
    for disturbed, then in (
        (run("two", *more, ends=EARLY), more),
        (run("two", *same, ends=ForwardMsg.FINISHED_WITH_COMPILE_ERROR), same),
        (unnamed, same),
        ([element(A, "between runs")], same),
    ):
        changes = shown()
        assert len(sent(changes, *disturbed)) == len(disturbed)
        assert len(sent(changes, *run("three", *then))) == 3 + len(then)
        assert sent(changes, *run("four", *then)) == ["new_session three", "script_finished three"]


def test_a_click_in_the_middle_of_a_run_makes_the_next_one_whole() -> None:
    changes, pieces = Changes(), run("one", element(A, "a"), element(B, "b"))
    sent(changes, *pieces[:3])
    changes.asked(asks_for("cost"))  # what came until now, the browser has cleared
    sent(changes, *pieces[3:])
    assert len(sent(changes, *run("two", element(A, "a"), element(B, "b")))) == 5


def test_a_run_that_comes_piece_by_piece_comes_whole() -> None:
    changes = shown()
    pieces = run("two", element(A, "a"), element(B, "b"), element(C, "c"))
    assert len(sent(changes, *pieces[:3])) + len(sent(changes, *pieces[3:])) == 6
    assert len(sent(changes, *run("three", element(A, "a"), element(B, "b"), element(C, "c")))) == 2


# The law: whatever the runs, the page shows the same.

LAYOUTS: dict[str, list[tuple[Place, str]]] = {
    "plain": [((0, 0), "element"), ((0, 1), "block"), ((0, 1, 0), "element"), ((0, 1, 1), "element")],
    "shorter": [((0, 0), "element"), ((0, 1), "block"), ((0, 1, 0), "element")],
    "flat": [((0, 0), "element"), ((0, 1), "element")],
    "opens": [((0, 0), "element"), ((0, 1), "opens"), ((0, 1, 0), "element"), ((0, 1, 1), "element")],
    "placeholder": [((0, 0), "element"), ((0, 0), "element"), ((0, 1), "block"), ((0, 1, 0), "in fragment")],
    "sidebar": [
        ((0, 0), "element"),
        ((0, 1), "block"),
        ((0, 1, 0), "element"),
        ((1, 0), "block"),
        ((1, 0, 0), "toast"),
    ],
}


@dataclass(frozen=True)
class Step:
    """One run, and what happens around it."""

    layout: str
    texts: list[str]
    page: str = "home"
    ends_after: int | None = None
    """An early end after so many elements."""
    fragment: bool = False
    clicks: list[str] = field(default_factory=list)
    """On other pages, before it; the last one, on its own page, is added."""
    heard_late: bool = False
    """The server hears of the clicks after it has sent the run before."""
    cut: int = 99
    """Place at which the server sends what it holds."""

    def elements(self) -> list[ForwardMsg]:
        """What the run shows."""
        messages = []
        for number, (place, kind) in enumerate(LAYOUTS[self.layout]):
            text = self.texts[number % len(self.texts)]
            fragment = "part" if kind == "in fragment" else ""
            if kind in ("block", "opens"):
                messages.append(block(place, text if kind == "opens" else "", self.page, fragment))
            else:
                messages.append(element(place, text, self.page, kind == "toast", fragment))
        if self.fragment:
            return [message for message in messages if message.delta.fragment_id]
        return messages[: self.ends_after]


def rarely(often: Any, *others: Any) -> st.SearchStrategy[Any]:
    """Mostly the first, for a run is sent in part only where nothing disturbs it."""
    return st.sampled_from([*[often] * (7 * len(others)), *others])


@st.composite
def lessons(draw: st.DrawFn) -> list[Step]:
    """What one reader does."""
    layout, other = draw(st.permutations(list(LAYOUTS)))[:2]
    steps = st.builds(
        Step,
        layout=st.sampled_from([layout, layout, layout, other]),
        texts=st.lists(st.sampled_from("ab"), min_size=1, max_size=5),
        page=rarely("home", "cost"),
        ends_after=rarely(None, 0, 1, 2, 3),
        fragment=rarely(False, True),
        clicks=rarely([], ["cost"], ["home"], ["cost", "home"]),
        heard_late=rarely(False, True),
        cut=rarely(99, 0, 1, 2, 3, 5),
    )
    return draw(st.lists(steps, min_size=3, max_size=13))


class Browser:
    """What a tab shows, by the rules of Streamlit's frontend."""

    def __init__(self) -> None:
        self.reader = Reader("http://nowhere")
        self.count = 0

    def hear(self, messages: Sequence[dict[str, Any]]) -> None:
        """What the server sends."""
        for message in messages:
            self.count += 1
            self.reader._take(message["bytes"])

    def click(self, page: str) -> None:
        """Another page: this one is cleared before the server hears of it."""
        if page != self.reader._page:
            self.reader.elements.keep_only("frame")
            self.reader._page = page

    def shows(self) -> dict[Place, tuple[str, str, str, bytes]]:
        """Each place with what stands there."""
        return {
            place: (node.kind, node.script, node.fragment, node.content.SerializeToString())
            for place, node in self.reader.elements.nodes.items()
        }


@given(lessons())
@settings(max_examples=300)
def test_the_page_is_the_same_as_if_all_were_sent(steps: list[Step]) -> None:
    everything, changed, changes = Browser(), Browser(), Changes()
    page, layout = "", "plain"
    for number, step in enumerate(steps):
        if step.fragment and (page != step.page or layout != "placeholder" or step.layout != "placeholder"):
            step = replace(step, fragment=False)  # a fragment runs only where it is shown
        moves = [] if step.fragment else [*step.clicks, step.page]
        status = FRAGMENT_DONE if step.fragment else DONE if step.ends_after is None else EARLY
        messages = run(
            str(number), *step.elements(), page=step.page, ends=status, fragments=["part"] if step.fragment else []
        )
        for to in moves:
            everything.click(to)
            changed.click(to)
            changes.asked(asks_for(to))
        late = step.heard_late and step.page == "home" and not step.fragment
        if late:  # a click on the other page meets the run half way, and one back follows it
            everything.click("cost")
            changed.click("cost")
        for piece in (messages[: step.cut], messages[step.cut :]):
            everything.hear([message for message, _ in said(piece)])
            changed.hear(changes.of(said(piece)))
        if late:
            for to in ("cost", "home"):
                everything.click(to)
                changed.click(to)
                changes.asked(asks_for(to))
        page, layout = step.page, step.layout
        if status == DONE and not late:
            assert changed.shows() == everything.shows(), f"after run {number}"
            assert len(changed.shows()) == len(dict(LAYOUTS[step.layout]))
    assert changed.count <= everything.count + 2 * len(steps)
    event("less was sent" if changed.count < everything.count else "all was sent")
