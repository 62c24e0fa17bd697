"""Words that look like markup: seen as typed on every page, and nothing in them is carried out."""

import pytest

from core.tokens import shorten
from tests.browser.page_object import Dashboard

pytestmark = pytest.mark.browser

WORDS = ("<script>alert(1)</script>", "a<b<c", "<s>", "&lt;", "$5$", "**x**", "![i](http://example.com/a.png)")


def test_markup_is_shown_as_typed(tab: Dashboard) -> None:
    for path in tab.walk(text=" ".join(WORDS)):
        listed = tab.page.get_by_label("words analysed").locator("bdi").all_inner_texts()
        assert listed == [shorten(word, 24) for word in WORDS], path
        if path == "query_key_value":
            assert tab.picker("query").input_value() == f"0 {WORDS[0]}"
            labels = tab.chart("weights: softmax").locator(".role-axis-label text").all_text_contents()
            assert labels[-len(WORDS) :] == [f"{place} {shorten(word)}" for place, word in enumerate(WORDS)]
        if path == "":
            assert tab.page.locator(".line b.query").inner_text() == WORDS[0]
    assert tab.heard.dialogs == []
    assert tab.heard.foreign_hosts() == set()
