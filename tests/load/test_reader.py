"""The reader without a browser shows what core computes, and its address is the link that a browser would show."""

from collections.abc import Iterator

import numpy as np
import pytest

from core.attention import self_attention
from core.examples import draw_example
from core.masks import causal_mask
from tests.browser.server import serving
from tests.coroutines import completed
from tests.load.reader import Reader

SENTENCE = "the cat saw the dog"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """One server for this file."""
    with serving() as server:
        yield server.address
        assert server.complaints() == ""


def weights(reader: Reader, n_words: int) -> np.ndarray:
    """The weights of the causal mask's page, from the table that its picture is drawn from."""
    tables = next(
        tables for name, tables in reader.chart_data().items() if name.startswith("Weights: everything above")
    )
    found = np.full((n_words, n_words), np.nan)
    for row in tables[0].to_pylist():
        if row["column_position"] < n_words and row["row_position"] < n_words:
            found[row["row_position"], row["column_position"]] = row["value"]
    return found


def computed(text: str, d: int, seed: int) -> np.ndarray:
    words = tuple(text.split())
    example = draw_example(words, d_head=d, n_heads=3, seed=seed)
    head = example.w_q[0], example.w_k[0], example.w_v[0]
    return self_attention(example.x, *head, causal_mask(len(words))).attention.weights


def test_numbers_follow_the_link_and_the_slider_and_the_address_brings_them_back(address: str) -> None:
    async def visit() -> None:
        async with Reader(address) as reader, Reader(address) as other:
            await reader.open("causal_mask", text=SENTENCE, d=16, heads=3, seed=7)
            expected = {"text": SENTENCE, "d": "16", "heads": "3", "seed": "7", "queries_in": "rows"}
            assert reader.sidebar() == expected
            np.testing.assert_allclose(weights(reader, 5), computed(SENTENCE, 16, 7), atol=1e-12)

            moved = await reader.move("d", 5)
            assert reader.sidebar() == expected | {"d": "5"}
            np.testing.assert_allclose(weights(reader, 5), computed(SENTENCE, 5, 7), atol=1e-12)
            assert reader.address == f"{address}/causal_mask?d=5&heads=3&seed=7&text=the+cat+saw+the+dog"
            repeated = await reader.rerun()  # charts that were sent before are not sent again
            assert repeated.received < moved.received / 2
            await reader.move("d", 4)  # as at first: not in the link
            assert reader.address == f"{address}/causal_mask?heads=3&seed=7&text=the+cat+saw+the+dog"

            await reader.move("query", "3 the")
            await other.open_link(reader.address)
            assert other.state() == reader.state()
            assert other.value("query") == "3 the"
            assert reader.errors == other.errors == []

    completed(visit())


def test_the_sidebar_outlives_page_changes_and_lost_connections(address: str) -> None:
    async def visit() -> None:
        async with Reader(address) as reader:
            await reader.open("parameter_count", d=8, seed=3)
            await reader.go_to("cost")
            assert (reader.path, reader.query) == ("cost", "d=8&seed=3")
            assert reader.sidebar()["d"] == "8"

            before, session = reader.state(), reader.session
            await reader.leave()
            await reader.come_back()
            await reader.rerun()
            assert reader.session == session
            assert reader.state() == before

            reader.session = "00000000-0000-0000-0000-000000000000"  # another server, or one that has forgotten
            await reader.come_back()
            await reader.rerun()
            assert reader.session not in (session, "00000000-0000-0000-0000-000000000000")
            assert reader.state() == before
            assert reader.errors == []

    completed(visit())


def test_a_control_takes_only_what_a_browser_offers(address: str) -> None:
    async def visit() -> None:
        async with Reader(address) as reader:
            await reader.open("parameter_count")
            with pytest.raises(ValueError, match=r"d must be among 1, 2, .*; got 65"):
                await reader.move("d", 65)
            with pytest.raises(ValueError, match="seed must be from 0 to 9999; got -1"):
                await reader.move("seed", -1)
            with pytest.raises(KeyError, match=r"a control of the page must be named, .*; got nothing_like_it"):
                await reader.move("nothing_like_it", 1)
            with pytest.raises(ValueError, match=r"page must be one of .*; got 'nowhere'"):
                await reader.go_to("nowhere")

    completed(visit())
