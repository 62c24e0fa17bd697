"""Two replicas, run from the image's files, behind the nginx that the project ships; one is killed in mid-lecture."""

import asyncio
import gzip
import itertools
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from core.attention import self_attention
from core.examples import draw_example
from core.masks import causal_mask
from tests.browser.page_object import Dashboard, as_shown, open_tab
from tests.browser.server import free_port
from tests.deploy.replicas import House, replicated
from tests.load.reader import Reader

pytestmark = pytest.mark.browser

WORD = "bergamot"
"""In every reader's sentence, and in no log."""
SENTENCE = f"{WORD} saw the dog"

# What a browser itself says of a connection that broke.
BROKEN = ("WebSocket onclose", "WebSocket connection to")


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """The replicas and the proxy; what they noted and left behind is looked at when the tests are over."""
    with replicated() as house:
        before = sorted(house.folder.rglob("*"))
        yield house
        assert sorted(house.folder.rglob("*")) == before, "the image's file system may be read-only"
        assert [list(replica.home.iterdir()) for replica in house.replicas] == [[], []]
        for log in (house.proxy.log(), house.proxy.complaints(), *(replica.log() for replica in house.replicas)):
            assert WORD not in log
        assert house.proxy.complaints() == ""
        for replica in house.replicas:
            assert not re.search(r"Traceback|ERROR|Exception", replica.log()), replica.log()


class Hall:
    """Readers live on a thread of their own: the browser's driver has the event loop of this one."""

    def __init__(self) -> None:
        self._readers: list[Reader] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def enter(self, address: str, count: int) -> list[Reader]:
        """Readers who have opened nothing yet."""
        entered = [Reader(address) for _ in range(count)]
        self._readers += entered
        return entered

    def all_do(self, what: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        """Wait for what readers do at the same time."""

        async def together() -> list[Any]:
            return await asyncio.gather(*what)

        return asyncio.run_coroutine_threadsafe(together(), self._loop).result(90)

    def close(self) -> None:
        """All leave."""
        self.all_do([reader.leave() for reader in self._readers])
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()


@pytest.fixture
def hall() -> Iterator[Hall]:
    hall = Hall()
    yield hall
    hall.close()


def weights(d: int, seed: int) -> np.ndarray:
    """What the causal mask's page must show for the first head."""
    words = tuple(SENTENCE.split())
    example = draw_example(words, d_head=d, n_heads=3, seed=seed)
    head = example.w_q[0], example.w_k[0], example.w_v[0]
    return self_attention(example.x, *head, causal_mask(len(words))).attention.weights


def seen_weights(reader: Reader) -> np.ndarray:
    """The same matrix as a reader was sent it."""
    tables = next(
        tables for name, tables in reader.chart_data().items() if name.startswith("Weights: everything above")
    )
    found = np.full((4, 4), np.nan)
    for row in tables[0].to_pylist():
        if row["column_position"] < 4 and row["row_position"] < 4:
            found[row["row_position"], row["column_position"]] = row["value"]
    return found


def link(seed: int) -> dict[str, object]:
    return {"text": SENTENCE, "d": 16, "heads": 3, "seed": seed}


def tried(lines: str) -> set[str]:
    """Ports of the replicas that lines of the proxy's log name."""
    return set(re.findall(r"127\.0\.0\.1:(\d+)", lines))


def answer(address: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body."""
    request = urllib.request.Request(
        address, headers={name.replace("_", "-"): given for name, given in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answered:
            return answered.status, {name.lower(): given for name, given in answered.headers.items()}, answered.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {name.lower(): given for name, given in error.headers.items()}, error.read()


def test_the_proxy_passes_on_what_the_dashboard_says_and_adds_only_its_cookie(house: House) -> None:
    own, through = answer(house.replicas[0].address), answer(house.proxy.address)
    assert (own[0], own[2]) == (through[0], through[2])
    its_own = {"server", "date", "connection", "content-length", "set-cookie", "vary", "transfer-encoding", "etag"}
    assert {name: said for name, said in own[1].items() if name not in its_own} == {
        name: said for name, said in through[1].items() if name not in its_own
    }
    assert through[1]["set-cookie"] in {f"replica={n}; Path=/; HttpOnly; SameSite=Lax" for n in (1, 2)}
    link = f"{house.proxy.address}/?text={'a' * 32_700}"
    assert (answer(link)[0], answer(link + "a" * 100)[0]) == (200, 414)
    assert b"at most 32768 characters" in answer(link + "a" * 100)[2]


def test_files_of_the_frame_are_compressed_and_kept_by_the_proxy(house: House) -> None:
    script = re.search(rb'src="\./(static/js/[^"]+)"', answer(house.proxy.address)[2])
    assert script is not None
    address = f"{house.proxy.address}/{script[1].decode()}"
    plain = answer(address)
    packed = answer(address, Accept_Encoding="gzip")
    assert gzip.decompress(packed[2]) == plain[2]
    assert len(packed[2]) < len(plain[2]) / 2
    assert "immutable" in packed[1]["cache-control"]
    assert "set-cookie" not in packed[1]
    assert [line.split()[-1] for line in house.proxy.log().splitlines()[-2:]] == ["200", "-"]  # no replica was asked


def test_a_websocket_is_only_for_pages_of_this_host(house: House) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"}
    key = {"Sec_WebSocket_Key": "c3RyZWFtbGl0LXRlc3Qtbg=="}
    stream = house.proxy.address + "/_stcore/stream"
    for foreign in ("http://elsewhere.example", "null", "http://127.0.0.1.example"):
        assert answer(stream, **upgrade, **key, Origin=foreign)[0] == 403


def test_a_picture_is_found_without_a_cookie(house: House, hall: Hall) -> None:
    (reader,) = hall.enter(house.proxy.address, 1)
    hall.all_do([reader.open("multi_head", text=" ".join([WORD] * 40), heads=12)])
    pictures = [one.url for _, node in reader.elements.ordered() if node.kind == "imgs" for one in node.content.imgs]
    assert sorted(answer(replica.address + pictures[0])[0] for replica in house.replicas) == [200, 404]
    assert {answer(house.proxy.address + pictures[0])[0] for _ in range(4)} == {200}
    assert answer(house.proxy.address + "/media/nothing.png")[0] == 404


def test_dockers_health_check_tells_a_living_replica_from_none(house: House) -> None:
    image = house.replicas[0].image
    for port, well in ((house.replicas[0].port, True), (free_port(), False)):
        check = [word.replace(image.value_of("--server.port"), str(port)) for word in image.health_check]
        done = subprocess.run([sys.executable, *check[1:]], capture_output=True, check=False, timeout=30)
        assert (done.returncode == 0) == well, done.stderr


def test_killing_a_replica_loses_no_readers_state(house: House, hall: Hall, browser: Browser) -> None:
    address = house.proxy.address
    readers = hall.enter(address, 6)
    with open_tab(browser, address) as tab:
        # They come one after another: each has one replica for all that it asks, and both replicas get some.
        placed = []
        for seed, reader in enumerate(readers):
            already = len(house.proxy.log())
            hall.all_do([reader.open("causal_mask", **link(seed))])
            placed.append(int(reader.cookies["replica"]) - 1)
            assert tried(house.proxy.log()[already:]) == {str(house.replicas[placed[-1]].port)}
        assert sorted(placed) == [0, 0, 0, 1, 1, 1]

        tab.open("causal_mask", **link(7))
        sidebar = tab.sidebar()
        doomed = int(cookie(tab)) - 1
        hall.all_do([reader.move("d", 5 + seed) for seed, reader in enumerate(readers)])
        states = [reader.state() for reader in readers]

        # Killed while all of them move a slider.
        away = [reader for reader, place in zip(readers, placed, strict=True) if place == doomed]
        killer = threading.Timer(0.1, house.replicas[doomed].end, [signal.SIGKILL])
        killer.start()
        hall.all_do([moving(reader) for reader in readers])
        killer.join()
        assert [reader.drops for reader in readers] == [int(reader in away) for reader in readers]

        left_at = [reader.sidebar()["d"] for reader in readers]
        hall.all_do([reader.come_back() for reader in away])
        hall.all_do([reader.move("query", "2 the") for reader in readers])
        for seed, (reader, d) in enumerate(zip(readers, left_at, strict=True)):
            assert reader.sidebar() == {
                "text": SENTENCE,
                "d": d,
                "heads": "3",
                "seed": str(seed),
                "queries_in": "rows",
            }
            np.testing.assert_allclose(seen_weights(reader), weights(int(d), seed), atol=1e-12)
            assert reader.errors == []
        hall.all_do([reader.move("query", "0 " + WORD) for reader in readers])
        hall.all_do([reader.move("d", 5 + seed) for seed, reader in enumerate(readers)])
        assert [reader.state() for reader in readers] == states

        # The tab came back by itself meanwhile; its reader goes on.
        tab.settle()
        assert tab.sidebar() == sidebar
        tab.slider("d: size of each key").press("ArrowRight")
        expect(tab.page).to_have_url(re.compile("d=17"))
        shown = tab.settled_texts("weights with the mask")
        assert shown == [as_shown(weight) for weight in weights(17, 7).ravel()] + ["1.00"] * 4
        assert tab.sidebar() == sidebar | {"d": "17"}
        assert int(cookie(tab)) - 1 != doomed

        # A file to take home is in the memory of the replica that the reader is with now.
        dialog = tab.open_dialog("Take home")
        with tab.page.expect_download() as download:
            dialog.get_by_role("button", name="Script (.py)").first.click()
        assert WORD in download.value.path().read_text(encoding="utf-8")
        tab.close_dialog()

        # The killed one comes back, and gets readers again.
        returned = house.replicas[doomed]
        returned.start()
        returned.wait()
        until, came_to = time.monotonic() + 30, -1
        while came_to != doomed and time.monotonic() < until:  # the proxy tries it again after some seconds
            (newcomer,) = hall.enter(address, 1)
            hall.all_do([newcomer.open("parameter_count", seed=3)])
            came_to = int(newcomer.cookies["replica"]) - 1
            assert newcomer.sidebar()["seed"] == "3"
            assert newcomer.errors == []
        assert came_to == doomed
        tab.heard.errors[:] = [said for said in tab.heard.errors if not any(words in said for words in BROKEN)]


async def moving(reader: Reader) -> None:
    """A slider there and back, for as long as the connection holds."""
    d = reader.sidebar()["d"]
    try:
        for other in itertools.islice(itertools.cycle((d, 4)), 1, 13):
            await reader.move("d", other)
    except ConnectionError:
        pass


def cookie(tab: Dashboard) -> str:
    """Which replica the browser asks for."""
    return next(one["value"] for one in tab.page.context.cookies() if one["name"] == "replica")
