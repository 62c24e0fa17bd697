"""A reader without a browser: speaks to the real server over its websocket as Streamlit's frontend does.

A browser costs hundreds of megabytes; of these, a hundred fit into one process. What the frontend decides is decided
here in the same way (read in the frontend of Streamlit 1.67): which elements stay on the screen, which values travel
with a rerun, what the address shows, what is kept of messages that were sent before, which fragments run again by
themselves, and what happens when the connection is lost.
"""

import asyncio
import contextlib
import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, quote, urlsplit

import pyarrow as pa
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Origin, Subprotocol

from tests.load.elements import Control, Elements, Value, control_in, error_in
from ui.in_browser import PACKED

AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"

ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
"""How a run ends that the reader was waiting for; where it ended early, another one follows."""


class Answer(NamedTuple):
    """What an action of the reader cost."""

    seconds: float
    """From sending to the message that the script has finished."""
    received: int
    """Bytes of messages in that time, before any compression."""


class Dropped(ConnectionError):
    """The server has closed the connection."""


@dataclass(slots=True)
class _Request:
    """A run that was asked for and has not finished."""

    fragment: str
    begin: float
    received: int
    done: asyncio.Future[None]
    run: str = ""
    """Once it has begun."""


@dataclass(slots=True)
class _Kept:
    """A message that the server need not send again."""

    encoded: bytes
    fragment: str
    used: int


@dataclass(slots=True)
class Reader:
    """One reader with one tab.

    Examples
    --------
    >>> async def visit(address):
    ...     async with Reader(address) as reader:
    ...         await reader.open("query_key_value", d=8)
    ...         await reader.move("d", 12)
    ...         return reader.address  # http://.../query_key_value?d=12
    """

    server: str
    """Address of the server, without a path."""
    patience: float = 60.0
    """Seconds that an answer may take; then TimeoutError."""
    static: bool = False
    """Fetch scripts and fonts too, as the first visit does; later ones have them in the browser's cache."""
    pictures: bool = True
    """Fetch what `st.image` shows, each once."""

    path: str = ""
    query: str = ""
    session: str = ""
    errors: list[str] = field(default_factory=list)
    """Every error that was ever shown, in the order of appearance."""
    bytes_received: int = 0
    messages: int = 0
    runs: int = 0
    drops: int = 0
    """Connections that the server ended."""

    elements: Elements = field(default_factory=Elements)
    _cookies: dict[str, str] = field(default_factory=dict)
    _socket: ClientConnection | None = None
    _listening: asyncio.Task[None] | None = None
    _request: _Request | None = None
    _states: dict[str, WidgetState] = field(default_factory=dict)
    _values: dict[str, Value] = field(default_factory=dict)
    _forms: dict[str, dict[str, tuple[Control, Value]]] = field(default_factory=dict)
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _count: int = 0
    _max_age: int = 2
    _page: str = ""
    _frame: str = ""
    _pages: dict[str, str] = field(default_factory=dict)
    _default_page: str = ""
    _run: str = ""
    _running: bool = False
    _fragments: list[str] = field(default_factory=list)
    _again: dict[str, tuple[float, asyncio.Task[None]]] = field(default_factory=dict)
    _fetched: set[str] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        """The reader, with no page open yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the tab."""
        await self.leave()

    # What a reader does

    async def open(self, path: str = "", /, **parameters: object) -> Answer:
        """Open a page in a fresh tab by its link; a parameter with several values is a list."""
        pairs = [
            (key, str(one))
            for key, value in parameters.items()
            for one in (value if isinstance(value, list | tuple) else [value])
        ]
        return await self.open_link(path, "&".join(f"{_encoded(key)}={_encoded(one)}" for key, one in pairs))

    async def open_link(self, path: str, query: str = "") -> Answer:
        """The same for a query as it stands in the address, however odd; a whole address may stand in `path`."""
        if path.startswith("http"):
            parts = urlsplit(path)
            path, query = parts.path, parts.query
        await self.leave()
        self._forget()
        self.session = ""
        self.path, self.query = path.strip("/"), query.removeprefix("?")
        begin, before = time.perf_counter(), self.bytes_received
        await self._load()
        await self._connect()
        await self._rerun()
        return Answer(time.perf_counter() - begin, self.bytes_received - before)

    async def reload(self) -> Answer:
        """Open the link that the address shows now in a fresh tab, as F5 does."""
        return await self.open_link(self.path, self.query)

    async def move(self, key: str, value: object) -> Answer:
        """Set a control, named by its key, its parameter or its label."""
        control = self.control(key)
        if control.disabled:
            raise ValueError(f"“{key}” must be enabled to be moved; it is disabled")
        if not control.holds_a_value:
            raise ValueError(f"“{key}” must be a control with a value; it is a {control.kind}")
        chosen = control.checked(value)
        if control.form:
            self._forms.setdefault(control.form, {})[control.id] = (control, chosen)
            return Answer(0.0, 0)
        if self._values.get(control.id) == chosen:
            return Answer(0.0, 0)
        self._hold(control, chosen)
        self._show_in_address(control, chosen)
        if getattr(control.content, "ignore_rerun", False):
            return Answer(0.0, 0)
        return await self._rerun(control.fragment)

    async def press(self, key: str) -> Answer:
        """Press a button, named by its key or its label; that of a form sends the form."""
        control = self.control(key)
        if control.disabled:
            raise ValueError(f"“{key}” must be enabled to be pressed; it is disabled")
        for held, value in self._forms.pop(control.form, {}).values() if control.form else ():
            self._hold(held, value)
            self._show_in_address(held, value)
        self._states[control.id] = WidgetState(id=control.id, trigger_value=True)
        return await self._rerun(control.fragment, pressed=control.id)

    async def select(self, key: str, selection: Mapping[str, object]) -> Answer:
        """Click in a chart: the selection by its name, such as ``{"pick": [{"query": 0, "key": 1}]}``."""
        control = self.control(key)
        self._states[control.id] = WidgetState(id=control.id, string_value=json.dumps({"selection": selection}))
        return await self._rerun(control.fragment)

    async def go_to(self, page: str) -> Answer:
        """Choose a page in the menu; "" is the first one."""
        hash_ = self._pages.get(page) if page else self._default_page
        if not hash_:
            raise ValueError(f"page must be one of {', '.join(self._pages)}; got {page!r}")
        self._stop_again()
        kept = {
            control.id for path, control in self._controls().items() if self.elements.nodes[path].script == self._frame
        }
        states = [state for id_, state in self._states.items() if id_ in kept]
        if hash_ != self._page:
            bound = {control.parameter for control in self._controls().values() if control.parameter}
            self.query = _query({name: values for name, values in self._parameters().items() if name in bound})
        return await self._rerun(page=hash_, states=states)

    async def rerun(self) -> Answer:
        """The same settings once more, as the key R does."""
        return await self._rerun()

    async def leave(self) -> None:
        """Close the connection; the tab keeps what it shows, so that it can come back."""
        self._stop_again()
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()
        if self._listening is not None:
            self._listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listening
            self._listening = None

    async def come_back(self) -> Answer:
        """Connect again as the tab does by itself: with its session, and with a run only where one was under way."""
        again = self._running or bool(self._fragments) or bool(self._again)
        await self.leave()
        begin, before = time.perf_counter(), self.bytes_received
        await self._connect(self.session)
        if again:
            await self._rerun()
        return Answer(time.perf_counter() - begin, self.bytes_received - before)

    # What a reader sees

    @property
    def address(self) -> str:
        """What the address bar shows."""
        return f"{self.server}/{self.path}" + (f"?{self.query}" if self.query else "")

    @property
    def cookies(self) -> dict[str, str]:
        """What the browser keeps of the server, by name."""
        return dict(self._cookies)

    @property
    def connected(self) -> bool:
        """Whether there is a connection now."""
        return self._socket is not None

    @property
    def controls(self) -> list[Control]:
        """Everything that can be moved or pressed now, from top to bottom."""
        return list(self._controls().values())

    def control(self, key: str) -> Control:
        """The control of this key, parameter or label; of several, the first."""
        for named in (
            lambda control: control.key,
            lambda control: control.parameter,
            lambda control: control.label,
        ):
            for control in self._controls().values():
                if named(control) == key:
                    return control
        have = ", ".join(control.key or control.label for control in self._controls().values())
        raise KeyError(f"a control of the page must be named, one of {have}; got {key}")

    def value(self, key: str) -> Value:
        """What a control stands at; a list where it can have several."""
        control = self.control(key)
        pending = self._forms.get(control.form, {}).get(control.id)
        return pending[1] if pending else self._values.get(control.id)

    def sidebar(self) -> dict[str, str]:
        """The values of the sidebar by their keys, as text."""
        return {
            control.key: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for control in self._controls().values()
            if control.in_sidebar and control.holds_a_value
            for value in [self._values.get(control.id)]
        }

    def texts(self) -> list[str]:
        """All words on the screen."""
        return self.elements.texts()

    def shown_errors(self) -> list[str]:
        """Errors on the screen now."""
        return self.elements.errors()

    def chart_data(self) -> dict[str, list[pa.Table]]:
        """The tables of every chart by its text alternative, its key or its place."""
        found: dict[str, list[pa.Table]] = {}
        for name, parts in self._chart_bytes().items():
            found[name] = [pa.ipc.open_stream(part).read_all() for part in parts]
        return found

    def state(self) -> dict[str, object]:
        """All that must be the same again when a reader returns: page, controls, words, the data of all charts."""
        controls = {
            control.key or f"{control.label} {number}": self._values.get(control.id)
            for number, control in enumerate(self._controls().values())
            if control.holds_a_value
        }
        charts = {
            name: [hashlib.sha256(part).hexdigest()[:16] for part in parts]
            for name, parts in self._chart_bytes().items()
        }
        return {"path": self.path, "controls": controls, "texts": self.texts(), "charts": charts}

    def _chart_bytes(self) -> dict[str, list[bytes]]:
        found: dict[str, list[bytes]] = {}
        for path, node in self.elements.ordered():
            if node.kind != "vega_lite_chart":
                continue
            chart = node.content
            name = chart.alt or chart.id or str(path)
            while name in found:
                name += " "
            parts = [dataset.data.data for dataset in chart.datasets]
            if chart.HasField("data"):
                parts.append(chart.data.data)
            found[name] = [part for part in parts if part]
        return found

    def _controls(self) -> dict[tuple[int, ...], Control]:
        return {control.path: control for control in self.elements.controls()}

    # What a browser does for a reader

    async def _load(self) -> None:
        """Fetch the document and what its script asks for before it connects."""
        page = await self._get(f"/{self.path}" + (f"?{self.query}" if self.query else ""), "text/html")
        if self.static:
            files = re.findall(rb'(?:src|href)="\./(static/[^"]+)"', page)
            for name in files:
                await self._get(f"/{name.decode()}", "*/*")
        bases = [f"/{self.path}", ""] if self.path else [""]
        for base in bases:  # below the page's name first: the app could live there
            try:
                await asyncio.gather(
                    self._get(f"{base}/_stcore/health", "application/json"),
                    self._get(f"{base}/_stcore/host-config", "application/json"),
                )
            except FileNotFoundError:
                continue
            return
        raise Dropped(f"{self.server} answers neither health nor host-config")

    async def _get(self, target: str, accept: str) -> bytes:
        """One request on a connection of its own; FileNotFoundError for 404, Dropped for any other failure."""
        parts = urlsplit(self.server)
        try:
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
        except OSError as problem:
            raise Dropped(f"no connection to {self.server}: {problem}") from problem
        try:
            lines = [f"GET {quote(target, safe='/?&=%+~:;,!$()*@')} HTTP/1.1", f"Host: {parts.netloc}"]
            lines += [f"User-Agent: {AGENT}", f"Accept: {accept}", "Connection: close"]
            if self._cookies:
                lines.append(f"Cookie: {self._cookie_line()}")
            writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
            await writer.drain()
            answer = await asyncio.wait_for(reader.read(), self.patience)
        except (OSError, TimeoutError) as problem:
            raise Dropped(f"{target} was not answered: {problem!r}") from problem
        finally:
            writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *headers = head.decode("latin-1").split("\r\n")
        for line in headers:
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                self._take_cookie(value)
        status = first.split(" ")[1] if " " in first else "no status"
        self.bytes_received += len(body)
        if status == "404":
            raise FileNotFoundError(target)
        if status not in ("200", "206"):
            raise Dropped(f"{target} was answered with {status}")
        return body

    def _take_cookie(self, line: str) -> None:
        name, _, value = line.strip().split(";", 1)[0].partition("=")
        self._cookies[name] = value

    def _cookie_line(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self._cookies.items())

    async def _connect(self, session: str = "") -> None:
        """Open the websocket; the protocols' names carry the token and the session to go on with."""
        parts = urlsplit(self.server)
        protocols = ["streamlit", self._cookies.get("_streamlit_xsrf", "PLACEHOLDER_AUTH_TOKEN")]
        if session:
            protocols.append(session)
        headers = {"Cookie": self._cookie_line()} if self._cookies else {}
        scheme = "wss" if parts.scheme == "https" else "ws"
        try:
            socket = await connect(
                f"{scheme}://{parts.netloc}/_stcore/stream?{PACKED}=1",
                origin=Origin(self.server),
                subprotocols=[Subprotocol(name) for name in protocols],
                additional_headers=headers,
                user_agent_header=AGENT,
                open_timeout=self.patience,
                close_timeout=5,
                ping_interval=None,  # a browser answers pings and sends none
                max_size=None,
                proxy=None,
            )
        except (OSError, TimeoutError, InvalidHandshake) as problem:
            raise Dropped(f"no websocket at {self.server}: {problem!r}") from problem
        if socket.response is not None:
            for line in socket.response.headers.get_all("Set-Cookie"):
                self._take_cookie(line)
        # The frontend's cache of messages lives as long as its connection object, which outlives a reconnection.
        self._socket, self._running = socket, False
        self._listening = asyncio.create_task(self._listen(socket))

    def _forget(self) -> None:
        """A fresh tab; cookies are the browser's and stay."""
        self.elements = Elements()
        self._states, self._values, self._forms = {}, {}, {}
        self._kept, self._count = {}, 0
        self._page = self._frame = self._run = self._default_page = ""
        self._pages, self._fragments, self._running = {}, [], False

    async def _rerun(
        self,
        fragment: str = "",
        page: str = "",
        states: list[WidgetState] | None = None,
        pressed: str = "",
    ) -> Answer:
        """Ask for a run and wait until it has finished."""
        request = _Request(
            fragment, time.perf_counter(), self.bytes_received, asyncio.get_running_loop().create_future()
        )
        self._request = request
        try:
            await self._send(fragment, page, states)
            if pressed:
                self._states.pop(pressed, None)
            await asyncio.wait_for(request.done, self.patience)
        except TimeoutError:
            raise TimeoutError(f"{self.address} did not finish within {self.patience:g} s") from None
        finally:
            self._request = None
        answer = Answer(time.perf_counter() - request.begin, self.bytes_received - request.received)
        if self.pictures:
            await self._fetch_pictures()
        return answer

    async def _send(
        self, fragment: str = "", page: str = "", states: list[WidgetState] | None = None, by_itself: bool = False
    ) -> None:
        if self._socket is None:
            raise Dropped("not connected")
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string = self.query
        rerun.widget_states.widgets.extend(self._states.values() if states is None else states)
        if page or self._page:
            rerun.page_script_hash = page or self._page
        else:
            rerun.page_name = self.path
        rerun.fragment_id, rerun.is_auto_rerun = fragment, by_itself
        rerun.cached_message_hashes.extend(self._kept)
        about = rerun.context_info
        about.timezone, about.timezone_offset, about.locale = "Europe/Berlin", -60, "en-GB"
        about.url, about.is_embedded, about.color_scheme = self.address, False, "light"
        try:
            await self._socket.send(message.SerializeToString())
        except ConnectionClosed as problem:
            raise Dropped(f"closed while sending: {problem}") from problem

    async def _listen(self, socket: ClientConnection) -> None:
        problem: BaseException = Dropped("the server closed the connection")
        try:
            async for data in socket:
                assert isinstance(data, bytes)
                self.bytes_received += len(data)
                for message in unpacked(data):
                    self.messages += 1
                    self._take(message)
        except ConnectionClosed as closed:
            problem = Dropped(f"the connection was lost: {closed}")
        except Exception as own:  # a fault of this client must be seen where the answer is awaited
            problem = own
        if self._socket is socket:
            self._socket = None
            self.drops += 1
            self._stop_again()
        if self._request is not None and not self._request.done.done():
            self._request.done.set_exception(problem)

    def _take(self, data: bytes) -> None:
        """One message of the server."""
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            kept = self._kept.get(message.ref_hash)
            if kept is None:
                raise RuntimeError(f"the server refers to a message that this reader does not keep: {message.ref_hash}")
            kept.used = self._count
            full = ForwardMsg.FromString(kept.encoded)
            full.metadata.CopyFrom(message.metadata)
            message, kind = full, full.WhichOneof("type")
        elif message.metadata.cacheable and message.hash:
            if message.hash in self._kept:
                self._kept[message.hash].used = self._count
            else:
                self._kept[message.hash] = _Kept(data, message.delta.fragment_id, self._count)
        match kind:
            case "new_session":
                self._begin(message)
            case "delta":
                self._show(message)
            case "script_finished":
                self._finish(message)
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "navigation":
                self._navigate(message)
            case "auto_rerun":
                self._run_again(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            case "stop_auto_rerun":
                for fragment in message.stop_auto_rerun.fragment_ids:
                    self._stop_again(fragment)
            case "session_status_changed":
                self._running = message.session_status_changed.script_is_running
            case "session_event" if message.session_event.WhichOneof("type") == "script_compilation_exception":
                self.errors.append(message.session_event.script_compilation_exception.message)

    def _begin(self, message: ForwardMsg) -> None:
        new: NewSession = message.new_session
        self.session, self._max_age = new.initialize.session_id, new.config.max_cached_message_age
        run, fragments = message.metadata.run.script_run_id, list(message.metadata.run.fragment_ids)
        self._run, self._fragments, self._running = run, fragments, True
        self.runs += 1
        if not fragments:
            self._stop_again()
            self._frame = new.main_script_hash
            if new.page_script_hash != self._page:
                self.elements.keep_only(self._frame)
                self._drop_inactive()
            self._page = new.page_script_hash
        request = self._request
        if request is not None and (not fragments or request.fragment in fragments):
            request.run = run

    def _show(self, message: ForwardMsg) -> None:
        node = self.elements.apply(message, self._run)
        if node is None:
            return
        if error := error_in(node):
            self.errors.append(error)
        control = control_in(tuple(message.metadata.delta_path), node)
        if control is None or not control.holds_a_value:
            return
        if node.kind == "expandable":
            self._hold(control, bool(control.content.expanded))
        elif getattr(control.content, "set_value", False):
            self._hold(control, control.sent())
            self._forms.get(control.form, {}).pop(control.id, None)
        elif control.id not in self._states:
            self._hold(control, control.default())

    def _finish(self, message: ForwardMsg) -> None:
        status, identity = message.script_finished, message.metadata.run
        if status in ENDS and identity.script_run_id:
            if identity.fragment_ids or identity.script_run_id == self._run:
                self.elements.clear_stale(identity.script_run_id, identity.fragment_ids)
                self._drop_inactive()
            self._age(identity.fragment_ids)
        request = self._request
        if request is None or request.done.done() or not request.run or identity.script_run_id != request.run:
            return
        if status in ENDS:
            request.done.set_result(None)
        elif status == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            request.done.set_exception(RuntimeError("the script does not compile"))

    def _age(self, fragments: Any) -> None:
        """Forget messages that no run has used for a while; a fragment's run ages only its own."""
        self._count += 1
        for hash_, kept in list(self._kept.items()):
            if fragments and kept.fragment not in fragments:
                continue
            if self._count - kept.used > self._max_age:
                del self._kept[hash_]

    def _navigate(self, message: ForwardMsg) -> None:
        pages = message.navigation.app_pages
        self._pages = {page.url_pathname: page.page_script_hash for page in pages}
        self._default_page = next((page.page_script_hash for page in pages if page.is_default), "")
        for page in pages:
            if page.page_script_hash == message.navigation.page_script_hash:
                self.path = "" if page.is_default else page.url_pathname
                self._page = page.page_script_hash

    def _drop_inactive(self) -> None:
        ids = {control.id for control in self.elements.controls()}
        for gone in [id_ for id_ in self._states if id_ not in ids]:
            del self._states[gone]
            self._values.pop(gone, None)

    def _hold(self, control: Control, value: Value) -> None:
        self._values[control.id] = value
        self._states[control.id] = control.state(value)

    def _parameters(self) -> dict[str, list[str]]:
        return parse_qs(self.query, keep_blank_values=True)

    def _show_in_address(self, control: Control, value: Value) -> None:
        """The frontend itself keeps the address of bound controls, before the server hears of the change."""
        if not control.parameter:
            return
        parameters, texts = self._parameters(), control.in_link(value)
        parameters.pop(control.parameter, None)
        if texts is not None:
            parameters[control.parameter] = texts
        self.query = _query(parameters)

    def _run_again(self, fragment: str, interval: float) -> None:
        if not fragment or (fragment in self._again and self._again[fragment][0] == interval):
            return
        self._stop_again(fragment)
        self._again[fragment] = (interval, asyncio.create_task(self._repeat(fragment, interval)))

    async def _repeat(self, fragment: str, interval: float) -> None:
        while self._socket is not None:
            await asyncio.sleep(interval)
            with contextlib.suppress(Dropped):
                await self._send(fragment, by_itself=True)

    def _stop_again(self, fragment: str | None = None) -> None:
        for one in [fragment] if fragment is not None else list(self._again):
            if one in self._again:
                self._again.pop(one)[1].cancel()

    async def _fetch_pictures(self) -> None:
        addresses = {
            picture.url
            for _, node in self.elements.ordered()
            if node.kind == "imgs"
            for picture in node.content.imgs
            if picture.url.startswith("/media/")
        }
        for address in sorted(addresses - self._fetched):
            self._fetched.add(address)
            with contextlib.suppress(FileNotFoundError):  # another run has replaced it meanwhile
                await self._get(address, "image/*")


def unpacked(data: bytes) -> Iterator[bytes]:
    """The messages that the server has packed into one; of one that is not packed, that one."""
    if not data.startswith(b"\0"):
        yield data
        return
    at = 1
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        yield data[at + 4 : end]
        at = end


def _encoded(text: str) -> str:
    """A piece of a query as the frontend writes it."""
    return quote(text, safe="").replace("%20", "+")


def _query(parameters: Mapping[str, list[str]]) -> str:
    """A query as the frontend writes it: sorted by name."""
    return "&".join(f"{_encoded(name)}={_encoded(one)}" for name in sorted(parameters) for one in parameters[name])
