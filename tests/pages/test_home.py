"""Home: the lines between words are the weights of core, and every page is one click away."""

import numpy as np
import pytest

from core.examples import draw_example
from core.multi_head import multi_head_attention
from tests.pages.reading import PAGES, change, chart, charts, numbers, open_page, run, said, worked_tables
from ui import pages

LESSON = ("Meera", "bought", "a", "new", "bat")


def weights_of(words, d_head=4, n_heads=2, seed=0):
    example = draw_example(words, d_head, n_heads, seed)
    return multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads.weights


OTHER = {"text": "the cat saw the dog", "d": "7", "heads": "3", "seed": "5", "head": "2"}


@pytest.mark.parametrize(
    ("link", "sizes", "head"), [({}, (4, 2, 0), 0), (OTHER, (7, 3, 5), 2)], ids=["lesson", "other"]
)
def test_lines_are_the_weights(link, sizes, head):
    words = tuple(link["text"].split()) if link else LESSON
    at = open_page("home", **link)
    weights = weights_of(words, *sizes)[head]
    links = chart(at, "Lines from each word")
    assert links.weight.to_numpy().reshape(weights.shape) == pytest.approx(weights, abs=1e-15)
    assert links.query_name.tolist() == [f"{i} {word}" for i, word in enumerate(words) for _ in words]
    assert links.key_name[: len(words)].tolist() == [f"{i} {word}" for i, word in enumerate(words)]


def test_the_chosen_word_is_read_out():
    at = change(open_page("home"), query=2, head=1)
    row = weights_of(LESSON)[1, 2]
    strongest = int(row.argmax())
    (sentence,) = {" ".join(said(at, "takes most from").split())}
    assert sentence == f"a takes most from {LESSON[strongest]} : {row[strongest]:.0%}."
    (shares,) = worked_tables(at)
    order = np.argsort(-row, kind="stable")
    assert [cells[0] for cells in shares[1:-1]] == [f"{j} {LESSON[j]}" for j in order]
    assert [cells[2] for cells in shares[1:-1]] == [f"{row[j]:.3f}" for j in order]
    assert shares[-1][2] == "1.000"
    assert f"word 2 looks most at word {strongest}" in charts(at)[0][0]


def test_every_page_is_linked_with_its_question():
    at = open_page("home")
    linked = [link.proto.page for link in at.get("page_link")]
    assert len(set(linked)) == len(PAGES) - 1
    assert [page for page in PAGES[1:] if not any(page in address for address in linked)] == []
    said = {link.proto.label for link in at.get("page_link")}
    assert {f"**{page.title}** {page.question}" for page in pages.PAGES} <= said


def test_the_table_behind_the_picture():
    table = numbers(open_page("home"), "home_numbers", "weights of this head")
    assert table.to_numpy() == pytest.approx(weights_of(LESSON)[0], abs=1e-15)
    assert list(table.columns) == list(table.index) == [f"{i} {word}" for i, word in enumerate(LESSON)]


def test_it_says_what_is_random():
    assert "random (seed 3)" in " ".join(said(open_page("home", seed="3"), "Embeddings and projections").split())


def test_a_second_run_shows_the_same():
    at = open_page("home")
    first = charts(at)[0][1]
    assert charts(run(at))[0][1].equals(first)
