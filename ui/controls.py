"""The sidebar's widgets and one frozen Settings; page controls that live in the link; notices of what was ignored."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from core.settings import (
    D_HEAD_RANGE,
    LINK_KEYS,
    MAX_CHARACTERS,
    MAX_WORDS,
    N_HEADS_RANGE,
    SEED_RANGE,
    Ignored,
    Settings,
    from_query,
    quote,
    read_whole_number,
)
from core.tokens import shorten, split_words, written_without_spaces
from ui.literal import literal

Name = TypeVar("Name", bound=str)

# Names in the session; a leading underscore keeps them apart from the widgets' keys, which are names in the link.
_LINK, _NOTICES, _REPAIRS, _SETTINGS, _SEEN = "_link", "_notices", "_repairs", "_settings", "_seen"


def sidebar(lesson: Mapping[str, object]) -> Settings:
    """Draw the controls that all pages share and read them.

    Parameters
    ----------
    lesson : mapping of str to object
        What 'Lesson values' sets on this page.

    Returns
    -------
    Settings
        Always valid. Pages read the same value from `settings`.
    """
    default = Settings()
    first = _LINK not in st.session_state
    if first:
        st.session_state[_LINK] = {key: st.query_params.get_all(key) for key in st.query_params}
        st.session_state[_NOTICES], st.session_state[_SEEN] = {}, set()
    # Set before the widgets exist: a value that their own reading of the link would have got wrong.
    for key, value in st.session_state.pop(_REPAIRS, {}).items():
        st.session_state[key] = value
    with st.sidebar:
        sentence = st.text_input(
            "Sentence",
            default.sentence,
            max_chars=MAX_CHARACTERS,
            key=LINK_KEYS["sentence"],
            bind="query-params",
            help="Any language. Words are split at white space; capitals make another word. Press Enter to apply.",
        )
        _analysed(sentence)
        d_head = st.select_slider(
            "d: size of each key",
            range(D_HEAD_RANGE[0], D_HEAD_RANGE[1] + 1),
            default.d_head,
            key="d",
            bind="query-params",
        )
        n_heads = st.select_slider(
            "Heads", range(N_HEADS_RANGE[0], N_HEADS_RANGE[1] + 1), default.n_heads, key="heads", bind="query-params"
        )
        seed = st.number_input(
            "Seed of the random numbers",
            SEED_RANGE[0],
            SEED_RANGE[1],
            default.seed,
            key="seed",
            bind="query-params",
        )
        st.html(f'<p class="quiet">Model width: {n_heads} heads × {d_head} = {n_heads * d_head}</p>')
        st.button(
            "Lesson values",
            on_click=_set_all,
            args=(dict(lesson),),
            width="stretch",
            help="Sets every control of this page to what the lesson used.",
        )
    settings = Settings(sentence, d_head, n_heads, int(seed))
    if first:
        _repair(settings)
    st.session_state[_SETTINGS] = settings
    return settings


def _set_all(values: dict[str, object]) -> None:
    for key, value in values.items():
        st.session_state[key] = value


def _repair(got: Settings) -> None:
    """Compare what the widgets made of the link with what the link says, and run again where they differ.

    Streamlit reads seed=7.5 as 7 and takes a blank sentence; both must leave the default and be told.
    """
    wanted, ignored = from_query(st.session_state[_LINK])
    for entry in ignored:
        name = next(name for name, key in LINK_KEYS.items() if key == entry.key)
        _note(entry, getattr(wanted, name))
    if got != wanted:
        _repair_with({key: getattr(wanted, name) for name, key in LINK_KEYS.items()})


def settings() -> Settings:
    """The sidebar's values of this run, for pages.

    Returns
    -------
    Settings
        What `sidebar` returned.
    """
    current: Settings = st.session_state[_SETTINGS]
    return current


def _analysed(sentence: str) -> None:
    """Say which words are analysed, so that nobody reads old results under a new text."""
    words = split_words(sentence)
    if not words:
        st.html('<p class="quiet">No word yet: type at least one and press Enter.</p>')
        return
    kept = words[:MAX_WORDS]
    shown = " · ".join(literal(shorten(word, 24)) for word in kept)
    count = f"{len(kept)} word{'s' if len(kept) > 1 else ''} analysed"
    if len(words) > MAX_WORDS:
        count = f"The first {MAX_WORDS} of {len(words)} words are analysed"
    st.html(
        f'<p class="quiet">{count}:</p><p class="quiet" tabindex="0" aria-label="words analysed" '
        f'style="max-height:5.5rem;overflow:auto;overflow-wrap:anywhere">{shown}</p>'
    )
    if any(written_without_spaces(word) for word in kept):
        st.html(
            '<p class="quiet">A text without spaces counts as one word: '
            "put a space between its words or characters to get more.</p>"
        )


def need_words() -> tuple[str, ...]:
    """The sentence's words; where there are none, say so and end the page.

    Returns
    -------
    tuple of str
        At least one.
    """
    words = settings().words
    if not words:
        st.info("This page needs a sentence: type at least one word into the box at the left and press Enter.")
        st.stop()
    return words


def _note(ignored: Ignored, used: object) -> None:
    st.session_state[_NOTICES][ignored.key] = (str(ignored), used)


def show_notices() -> None:
    """One line for every parameter of the link that was ignored, until its control is changed."""
    for key, (text, used) in list(st.session_state.get(_NOTICES, {}).items()):
        if key in st.session_state and st.session_state[key] != used:
            del st.session_state[_NOTICES][key]
        else:
            notice(text)


def _check_link(key: str, accepts: Callable[[str], bool], wanted: str, used: object) -> None:
    """Note a page control's parameter that its widget will drop; once a session, before the widget first exists."""
    seen: set[str] = st.session_state[_SEEN]
    given = st.session_state[_LINK].get(key)
    if key in seen or given is None:
        return
    seen.add(key)
    if len(given) != 1 or not accepts(given[0]):
        _note(Ignored(key, wanted, quote(given), str(used)), used)


def choice(label: str, options: Sequence[Name], key: str, default: Name, **rest: Any) -> Name:
    """One of a few named options, kept in the link.

    Parameters
    ----------
    label : str
        For the reader.
    options : sequence of str
        Our own words.
    key : str
        Name in the link.
    default : str
        One of the options.
    **rest
        For `st.segmented_control`.

    Returns
    -------
    str
        The chosen option.
    """
    _check_link(key, lambda given: given in options, f"one of {', '.join(options)}", default)
    chosen = st.segmented_control(
        label, options, default=default, required=True, key=key, bind="query-params", wrap=True, **rest
    )
    return default if chosen is None else chosen


def switch(label: str, key: str, default: bool, help: str | None = None) -> bool:
    """On or off, kept in the link.

    Parameters
    ----------
    label, help : str
        For the reader.
    key : str
        Name in the link.
    default : bool
        Its state at first.

    Returns
    -------
    bool
        The state.
    """
    _check_link(key, lambda text: text.lower() in ("true", "false"), "true or false", str(default).lower())
    return st.toggle(label, default, key=key, bind="query-params", help=help)


def pick(label: str, labels: Sequence[str], key: str, default: int = 0, width: int = 170) -> int:
    """One of several numbered things, such as a head or a word, with its name before the box; kept in the link.

    Parameters
    ----------
    label : str
        HTML, our own words.
    labels : sequence of str
        One a number, all different; may hold a reader's words. They stand in the link.
    key : str
        Name in the link.
    default : int
        Number at first; the last one where there are fewer.
    width : int
        In pixels.

    Returns
    -------
    int
        The number.
    """
    default = min(default, len(labels) - 1)
    _check_link(key, lambda text: text in labels, f"“{labels[0]}” to “{labels[-1]}”", labels[default])
    current = st.session_state.get(key)
    if current is not None and current not in labels:
        # The sentence or the number of heads has changed: what was picked keeps its number.
        number = re.match("[0-9]+", str(current))
        st.session_state[key] = labels[min(int(number[0]) if number else default, len(labels) - 1)]
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        st.html(f'<p class="quiet">{label}</p>', width="content")
        chosen: str = st.selectbox(
            re.sub("<[^>]*>", "", label),
            labels,
            index=default,
            key=key,
            bind="query-params",
            label_visibility="collapsed",
            width=width,
        )
    return list(labels).index(chosen)


def _repair_with(values: dict[str, object]) -> None:
    st.session_state[_REPAIRS] = values
    st.rerun()


def head_labels() -> tuple[str, ...]:
    """Numbers of the heads, for `pick`.

    Returns
    -------
    tuple of str
        As many as the sidebar says.
    """
    return tuple(str(head) for head in range(settings().n_heads))


def number_choice(label: str, options: Sequence[int], key: str, default: int, width: int = 220) -> int:
    """One of a few numbers on a slider, kept in the link.

    Parameters
    ----------
    label : str
        For the reader.
    options : sequence of int
        In rising order, at least two.
    key : str
        Name in the link.
    default : int
        One of the options.
    width : int
        In pixels.

    Returns
    -------
    int
        The chosen number.
    """
    numbers = [str(number) for number in options]
    _check_link(key, numbers.__contains__, f"one of {', '.join(numbers)}", default)
    number: int = st.select_slider(label, options, default, key=key, bind="query-params", width=width)
    return number


def numbers_choice(label: str, options: Sequence[int], key: str, default: Sequence[int]) -> tuple[int, ...]:
    """Several of a few numbers in an order of the reader's, kept in the link.

    Parameters
    ----------
    label : str
        For the reader.
    options : sequence of int
        To choose from.
    key : str
        Name in the link, repeated for each number.
    default : sequence of int
        Some of the options.

    Returns
    -------
    tuple of int
        In the order chosen; may be empty.
    """
    numbers = [str(number) for number in options]
    given = st.session_state[_LINK].get(key, [])
    wrong = [text for text in given if text not in numbers]
    if key not in st.session_state[_SEEN] and wrong:
        kept = [int(text) for text in given if text in numbers] or list(default)
        wanted = f"some of {', '.join(numbers)}"
        _note(Ignored(key, wanted, quote(wrong), ", ".join(map(str, kept))), kept)
    st.session_state[_SEEN].add(key)
    return tuple(st.multiselect(label, options, list(default), key=key, bind="query-params"))


def typed_number(label: str, key: str, default: int, bounds: tuple[int, int], help: str | None = None) -> int:
    """A whole number to type, kept in the link.

    Parameters
    ----------
    label, help : str
        For the reader.
    key : str
        Name in the link.
    default : int
        At first.
    bounds : tuple of two int
        Lowest and highest number allowed.

    Returns
    -------
    int
        Within the bounds.
    """

    def accepts(text: str) -> bool:
        try:
            read_whole_number(text, *bounds)
        except ValueError:
            return False
        return True

    first = key not in st.session_state[_SEEN]
    _check_link(key, accepts, f"a whole number from {bounds[0]} to {bounds[1]}", default)
    number = st.number_input(label, *bounds, default, key=key, bind="query-params", help=help)
    if first and key in st.session_state[_NOTICES] and number != default:
        # Streamlit reads 7.5 as 7; run again with the default set before the widget exists.
        _repair_with({key: default})
    return int(number)


def text(label: str, key: str, default: str, **options: Any) -> str:
    """A short text, kept in the link.

    Parameters
    ----------
    label : str
        For the reader.
    key : str
        Name in the link.
    default : str
        At first.
    **options
        For `st.text_input`.

    Returns
    -------
    str
        At most 300 characters.
    """
    return st.text_input(label, default, max_chars=300, key=key, bind="query-params", **options) or ""


def notice(said: str) -> None:
    """One sentence that says what was wanted and what was given.

    Parameters
    ----------
    said : str
        May hold a reader's words.
    """
    st.html(f'<p class="notice" role="status">{literal(said)}</p>')
