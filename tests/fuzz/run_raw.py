"""Links at the real server, as they stand in an address: odd paths, broken encodings; then messages of no browser."""

import asyncio
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_plus

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from server.limits import LONGEST_QUERY
from tests.browser.server import Server, serving
from tests.fuzz import strategies
from tests.fuzz.links import Link
from tests.fuzz.oracles import NO_NUMBER, OWN_WORDS
from tests.fuzz.run_links import LIMIT, Found, each, kind_of
from tests.load.reader import Dropped, Reader
from ui.pages import HOME, ORDER

AT_A_TIME = 4
"""Readers who open their links at the same time."""

ATTEMPTS = 3
"""How often a slow link is tried alone: the load average tells of a busy machine a while after it has become busy."""

GROWTH = 250.0
"""Megabytes that the server may grow by after the first links, when every page has been imported and seen."""

TITLES = tuple(page.title for page in ORDER)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RawLink:
    """A path and a query as they stand in the address."""

    path: str
    query: str = ""

    def __str__(self) -> str:
        """The address without its host, cut where it is long."""
        return f"/{self.path}?{self.query}"[:600]


# What is drawn

ODD_PATHS = (
    "moon",
    "home",
    "Causal_Mask",
    "causal_mask/",
    "lecture/causal_mask",
    "../etc/passwd",
    "pages/home.py",
    "a" * 2000,
    "%00",
    "%ff%fe",
    "日本",
    "causal mask",
    "~",
)
ODD_PIECES = (
    "%",
    "%z",
    "%zz=1",
    "%ff%fe",
    "d=%ff",
    "text=%c0%af",
    "text=%ed%a0%80",
    "text=%00",
    "text=%F0%9F",
    "text=a%2",
    "&&&",
    "=",
    "==",
    "=1",
    ";d=5",
    "d",
    "d=",
    "d=5&d=6",
    "text=a;b",
    "#x",
    "?d=5",
    "d[]=5",
    "text=日本 語",
    "text=a b",
    "d=５",
    "present=1",
    "hide=%00",
    "seed=1%000",
    "\u202etext=x",
    "a=b" * 300,
)


@st.composite
def raw_links(draw: Any) -> RawLink:
    """An ordinary link, and most of them bent in one or two places."""
    link: Link = draw(strategies.links())
    path = "" if link.page == HOME.name else link.page
    query = str(link).partition("?")[2]
    if draw(st.integers(0, 14)) == 0:
        path = draw(st.sampled_from(ODD_PATHS))
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2)))):
        place = draw(st.integers(0, len(query)))
        match draw(st.integers(0, 5)):
            case 0 | 1:
                query = f"{query}&{draw(st.sampled_from(ODD_PIECES))}"
            case 2:
                query = query[:place] + draw(st.sampled_from(("%", "&", "=", "%ff", "%00", "+", ";"))) + query[place:]
            case 3:
                query = query[:place]  # as an address that was cut on its way
            case 4:
                query = unquote_plus(query, errors="replace").replace("\x00", "")  # written without any encoding
            case _:
                query = quote(query, safe="&=")  # encoded once more
    if draw(st.integers(0, 299)) == 0:
        query += draw(st.sampled_from(("&a=1" * 1001, "&text=" + "x" * 30_000, "&x=" + "%41" * 5000)))
    return RawLink(path, query)


# What must hold


def wrong_numbers(reader: Reader, link: RawLink) -> list[str]:
    """NaN and infinity on the page; where the link itself has such a word only the data of the charts are read."""
    said = []
    if not re.search("nan|inf", unquote_plus(link.query), re.IGNORECASE):
        for text in reader.texts():
            for sentence in OWN_WORDS:
                text = " ".join(text.split()).replace(sentence, "")
            found = NO_NUMBER.search(text)
            if found:
                said.append(f"not a number in {text[max(0, found.start() - 40) : found.end() + 40]!r}")
    for name, tables in reader.chart_data().items():
        for table in tables:
            said += [f"not a number in {column} of {name[:40]!r}" for column in unreal_columns(table)]
    return said


def unreal_columns(table: pa.Table) -> list[str]:
    """Columns of a chart's data with a number that is none; a masked score is none either, and says so."""
    frame = table.to_pandas()
    note = frame.note.astype(str) if "note" in frame else pd.Series("", frame.index)
    masked = note.str.startswith("masked").to_numpy()
    found = []
    for name in frame.select_dtypes("number").columns.difference(["reference"]):
        wrong = ~np.isfinite(frame[name].to_numpy(dtype=float))
        if (wrong & ~(masked if name == "value" else False)).any():
            found.append(str(name))
    return found


async def judged(server: str, link: RawLink) -> tuple[list[str], float]:
    """All faults of a link, and the seconds until its page had been sent."""
    async with Reader(server, patience=60) as reader:
        try:
            answer = await reader.open_link(link.path, link.query)
        except (Dropped, TimeoutError, RuntimeError) as problem:
            if "was answered with 4" in str(problem) or len(link.query) > LONGEST_QUERY:
                return [], 0.0  # no page of that name or a link that is too long: refused, some while it was being sent
            return [f"{type(problem).__name__}: {problem}"], 60.0
        said = [f"error shown: {error[:200]}" for error in reader.errors]
        if not any(text in TITLES for text in reader.texts()):
            said.append(f"no title: {' '.join(reader.texts())[:200]}")
        return said + wrong_numbers(reader, link), answer.seconds


# Running


def process_of(server: Server) -> Path | None:
    """What the system knows of the server's process; None where it does not tell."""
    port = server.address.rpartition(":")[2].encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended meanwhile
            continue
        if port in command and b"streamlit" in command:
            return folder
    return None


def memory_of(process: Path | None) -> float:
    """Resident megabytes; 0 where the system does not tell."""
    found = re.search(r"VmRSS:\s+(\d+)", (process / "status").read_text()) if process else None
    return int(found[1]) / 1024 if found else 0.0


def processor_time_of(process: Path | None) -> float:
    """Seconds that the server has computed; 0 where the system does not tell."""
    if process is None:
        return 0.0
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_quiet() -> bool:
    """Whether nothing else keeps this machine busy, so that seconds on the clock mean something."""
    return os.getloadavg()[0] < 0.75 * (os.cpu_count() or 1) + 1


def too_long(seconds: float, computed: float, limit: float = LIMIT) -> bool:
    """Whether the server is to blame; other load on the machine lengthens what the clock says, not what it computed."""
    return computed > limit or (seconds > limit and is_quiet())


async def _open_all(server: Server, links: list[RawLink], found: Found, say: Say) -> None:
    """All of them, some at a time; what took too long is tried again when nobody else is there."""
    waiting, slow = list(reversed(links)), []

    async def reader() -> None:
        while waiting:
            link = waiting.pop()
            said, seconds = await judged(server.address, link)
            found.done += 1
            found.runs += 1
            if seconds > LIMIT:
                slow.append(link)
            else:
                found.slow(0.0, seconds, str(link))
            for fault in said:
                _note(found, fault, link, say)

    await asyncio.gather(*(reader() for _ in range(AT_A_TIME)))
    process = process_of(server)
    for link in slow:
        for _ in range(ATTEMPTS):
            begin = processor_time_of(process)
            _, seconds = await judged(server.address, link)
            computed = processor_time_of(process) - begin
            if not too_long(seconds, computed):
                break
        found.slow(computed, seconds, str(link))
        if too_long(seconds, computed):
            _note(found, f"slow: {seconds:.1f} s with nobody else there, {computed:.1f} s computed", link, say)


def _note(found: Found, fault: str, link: RawLink, say: Say) -> None:
    kind = f"{link.path[:20]}: {kind_of(fault)}"
    if kind not in found.failures:
        found.failures[kind] = f"{fault:.500}\n      {link}\n      {link!r:.3000}"
        say(f"FAILURE {kind}\n    {found.failures[kind]}")


def run(count: int, number: int, say: Say = print) -> Found:
    """So many raw links of a seed, then the messages that no browser sends."""
    found = Found()
    with serving() as server:
        links: list[RawLink] = [RawLink("" if page is HOME else page.name) for page in ORDER]
        each(raw_links(), links.append, count - len(links), number)
        first = min(len(links), 300)
        process = process_of(server)
        asyncio.run(_open_all(server, links[:first], found, say))
        before = memory_of(process)
        asyncio.run(_open_all(server, links[first:], found, say))
        after = memory_of(process)
        say(f"server memory: {before:.0f} MB after {first} links, {after:.0f} MB after {len(links)}")
        if after - before > GROWTH:
            found.failures["memory"] = f"the server grew by {after - before:.0f} MB"
        if server.complaints():
            found.failures["log"] = f"the server complained:\n{server.log()[-3000:]}"
        told = len(server.log())
        for fault in asyncio.run(hostile(server, say)):
            found.failures[f"hostile {kind_of(fault)}"] = fault
            say(f"FAILURE {fault}")
        found.log = server.log()[told:]
    return found


# Messages that no browser sends


def _rerun(**fields: Any) -> BackMsg:
    message = BackMsg()
    message.rerun_script.page_name = "causal_mask"
    for name, value in fields.items():
        setattr(message.rerun_script, name, value)
    return message


def _with_states(states: list[WidgetState]) -> bytes:
    message = _rerun()
    message.rerun_script.widget_states.widgets.extend(states)
    return bytes(message.SerializeToString())


def hostile_messages(ids: dict[str, str]) -> dict[str, bytes | str]:
    """What somebody with a program of their own could send, by what it is; `ids` are those of the page's controls."""
    good = _with_states([WidgetState(id=ids["text"], string_value="a b")])
    wrong: dict[str, dict[str, Any]] = {
        "a text as a number": {"id": ids["text"], "double_value": float("nan")},
        "a number as a text": {"id": ids["seed"], "string_value": "x"},
        "a number that is none": {"id": ids["seed"], "double_value": float("nan")},
        "an infinite number": {"id": ids["seed"], "double_value": float("inf")},
        "a number out of bounds": {"id": ids["seed"], "int_value": 2**62},
        "a negative number": {"id": ids["seed"], "int_value": -1},
        "a switch as bytes": {"id": ids["causal"], "bytes_value": b"\xff\x00"},
        "a choice as a text": {"id": ids["queries_in"], "string_value": "rows"},
        "a slider as a switch": {"id": ids["d"], "bool_value": True},
        "a pick of what is not offered": {"id": ids["head"], "string_value": "99"},
        "a pick as JSON": {"id": ids["head"], "json_value": '{"a": [1'},
        "a click as no JSON": {"id": ids["mask"], "string_value": "{"},
        "a click of another form": {"id": ids["mask"], "string_value": '{"selection": {"cell": [{"x": 1}]}}'},
        "a click on no cell": {
            "id": ids["mask"],
            "string_value": '{"selection": {"cell": [{"row_position": -9, "column_position": 1e9}]}}',
        },
        "a click that is none": {"id": ids["mask"], "string_value": '{"selection": 5}'},
        "a click as a list": {"id": ids["mask"], "string_value": "[]"},
        "a text of 900,000 characters": {"id": ids["text"], "string_value": "x" * 900_000},
        "a text of 900,000 words": {"id": ids["text"], "string_value": "x " * 450_000},
        "an unknown control": {"id": "$$ID-moon-moon", "string_value": "x"},
        "an empty name": {"id": "", "string_value": "x"},
        "a trigger on a text": {"id": ids["text"], "trigger_value": True},
    }
    states = {name: _with_states([WidgetState(**state)]) for name, state in wrong.items()}
    array = WidgetState(id=ids["d"])
    array.string_array_value.data.extend(["99", "x", ""])
    numbers = WidgetState(id=ids["d"])
    numbers.double_array_value.data.extend([float("nan")] * 3)
    empty = WidgetState(id=ids["d"])
    empty.string_array_value.SetInParent()
    many = [WidgetState(id=f"$$ID-{number}-x", int_value=number) for number in range(10_000)]
    other: dict[str, BackMsg] = {
        "an unknown fragment": _rerun(fragment_id="moon"),
        "a run of itself of an unknown fragment": _rerun(fragment_id="moon", is_auto_rerun=True),
        "an unknown page": _rerun(page_script_hash="moon", page_name=""),
        "a page name of 100,000 characters": _rerun(page_name="x" * 100_000),
        "a broken query": _rerun(query_string="%ff=%&;=&d=%00"),
        "a query of 600,000 characters": _rerun(query_string="d=5&x=" + "y" * 600_000),
        "stop": BackMsg(stop_script=True),
        "clear the cache": BackMsg(clear_cache=True),
        "run on save": BackMsg(set_run_on_save=True),
        "heartbeat": BackMsg(app_heartbeat=True),
        "look for git": BackMsg(load_git_info=True),
        "shut down": BackMsg(debug_shutdown_runtime=True),
        "disconnect": BackMsg(debug_disconnect_websocket=True),
    }
    files = BackMsg()
    files.file_urls_request.file_names.extend(["../../etc/passwd"] * 50)
    hashes = _rerun()
    hashes.rerun_script.cached_message_hashes.extend(["moon"] * 5000)
    return {
        "nothing": b"",
        "a zero": b"\x00",
        "noise": bytes(range(256)) * 4,
        "a text": "hello",
        "half a message": good[: len(good) // 2],
        "a message with noise behind": good + b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        "a length beyond the end": b"\x5a\xff\xff\xff\xff\x0f",
        **states,
        "a slider with what is not offered": _with_states([array]),
        "a slider with numbers that are none": _with_states([numbers]),
        "a slider with nothing": _with_states([empty]),
        "10,000 controls": _with_states(many),
        "the same control 1,000 times": _with_states([WidgetState(id=ids["seed"], int_value=5)] * 1000),
        "3 MB of states": _with_states([WidgetState(id="$$ID-x-x", string_value="x" * 3_000_000)]),
        **{name: message.SerializeToString() for name, message in other.items()},
        "50 file addresses": files.SerializeToString(),
        "5,000 hashes": hashes.SerializeToString(),
    }


async def hostile(served: Server, say: Say) -> list[str]:
    """After each of them another reader is served without an error, and so is the one who sent it, in a fresh tab.

    A value of a type that its control never has raises where Streamlit reads it; only the sender is shown that.
    """
    said, shown = [], 0
    server, process = served.address, process_of(served)
    async with Reader(server, patience=60) as other:
        await other.open("query_key_value", text="the cat saw the dog")
        async with Reader(server, patience=60) as first:
            await first.open("causal_mask")
            ids = {control.key: control.id for control in first.controls}
            for node in first.elements.nodes.values():
                if node.kind == "vega_lite_chart" and node.content.id:
                    ids.setdefault(node.content.id.split("-", 2)[2], node.content.id)
        sent = hostile_messages(ids)
        for number, (name, message) in enumerate(sent.items()):
            async with Reader(server, patience=60) as sender:
                await sender.open("causal_mask")
                try:
                    await sender._socket.send(message)
                    await asyncio.sleep(0.15)
                    if sender.connected:
                        await asyncio.wait_for(sender.rerun(), 20)
                except (Dropped, TimeoutError) as problem:
                    if isinstance(problem, TimeoutError):
                        said.append(f"{name}: the sender is not served any more")
                shown += bool(sender.errors)
                begin, computed = time.perf_counter(), processor_time_of(process)
                await sender.open("causal_mask", d=5)
                if sender.shown_errors():
                    said.append(f"{name}: error in a fresh tab: {sender.shown_errors()}")
            try:
                await other.move("d", 3 + number % 9)
            except (Dropped, TimeoutError) as problem:
                said.append(f"{name}: another reader was not served: {problem}")
                await other.reload()
            if other.shown_errors():
                said.append(f"{name}: error shown to another reader: {other.shown_errors()}")
            waited = time.perf_counter() - begin
            if too_long(waited, processor_time_of(process) - computed, 4 * LIMIT):
                said.append(f"{name}: others waited {waited:.1f} s")
    say(f"hostile messages: {len(sent)} sent, of which {shown} showed an error, to their sender only")
    return said
