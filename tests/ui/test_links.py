"""The link of a page: the right address under every launcher, and every character arrives as it was."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages.reading import PAGES
from ui.take_home.links import link_to, query_of

ROOTS = {
    "local": "http://localhost:8501",
    "cloud": "https://attention.streamlit.app",
    "below a folder": "https://example.org/lecture/3",
    "port and folder": "http://[::1]:8501/a%20b",
}


@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
@pytest.mark.parametrize("here", ["", "/", "/causal_mask", "/causal_mask/", "/causal_mask?d=9&text=x#part"])
def test_a_link_leads_to_the_page_from_whichever_page_it_is_made_on(root, here):
    made = {page: link_to(root + here, page, {"d": ["7"]}) for page in PAGES}
    assert made == {page: f"{root}/{'' if page == 'home' else page}?d=7" for page in PAGES}


def test_without_parameters_there_is_no_question_mark():
    assert link_to("http://h/order_blindness", "home", {}) == "http://h/"
    assert link_to("http://h", "order_blindness", {}) == "http://h/order_blindness"


def test_an_unknown_address_gives_a_path_that_still_leads_there():
    assert link_to("", "causal_mask", {"d": ["7"]}) == "/causal_mask?d=7"


TEXTS = (
    "a+b & c#d 100% é 🙂",
    "d=9&seed=3",
    "x?y/z;w",
    "\"quotes\" 'single' `back`",
    "back\\slash \\n",
    "क्या आपके पास",
    "שלום",
    "a\tb\nc",
    "%2B %",
    " ",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_arrives_as_it_was(text):
    link = link_to("http://h/home", "causal_mask", {"text": [text], "by": [text], "d": ["7"]})
    assert re.fullmatch(r"http://[!-~]+", link)
    assert not set(link) & set("\"'<>\\^`{|}")
    assert parse_qs(urlsplit(link).query) == {"text": [text], "by": [text], "d": ["7"]}
    assert urlsplit(link).fragment == ""


@given(
    st.dictionaries(
        st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8),
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=3),
        max_size=5,
    )
)
def test_every_parameter_survives(query):
    link = link_to("https://h:1/folder/scaling_sweep", "parameter_count", query)
    assert link.isascii()
    assert link.isprintable()
    assert parse_qs(urlsplit(link).query, keep_blank_values=True) == query
    assert urlsplit(link).path == "/folder/parameter_count"


def test_half_a_character_does_not_break_the_link():
    assert link_to("http://h", "home", {"text": ["a\ud800b"]}) == "http://h/?text=a%3Fb"


def test_several_values_of_one_parameter_keep_their_order():
    assert link_to("http://h", "scaling_sweep", {"dims": ["512", "4"]}) == "http://h/scaling_sweep?dims=512&dims=4"


@pytest.mark.parametrize(
    ("present", "hide", "more"),
    [
        (False, (), {}),
        (True, (), {"present": ["1"]}),
        (False, ["seed", "d"], {"hide": ["d", "seed"]}),
        (True, {"sidebar"}, {"present": ["1"], "hide": ["sidebar"]}),
    ],
)
def test_the_view_is_added_to_the_controls(present, hide, more):
    link = {"d": ["7"], "dims": ["4", "64"]}
    query = query_of(link, present, hide)
    assert query == {"d": ["7"], "dims": ["4", "64"]} | more
    query["dims"].append("x")
    assert link == {"d": ["7"], "dims": ["4", "64"]}, "what is on the screen is left as it is"
