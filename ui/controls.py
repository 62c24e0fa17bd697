"""The sidebar's widgets and one frozen Settings; page controls that live in the link; notices of what was ignored."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

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
    to_query,
)
from core.tokens import shorten, split_words, written_without_spaces
from ui import shown, view
from ui.literal import literal
from ui.pages import PAGES

Name = TypeVar("Name", bound=str)
Value = TypeVar("Value")

NOTHING = "none"
"""What stands in a link for a list from which nothing is chosen; without it the link would restore the default."""

MOST_LISTED = 100
"""Numbers from which one is picked out of a list; more of them are typed. A list of three thousand is no help, and the
browser goes through all of it at every move of another control."""

TYPED_WIDTH = 96
"""Pixels that a typed number needs, without the buttons that would count up one by one."""

MAX_TEXT = 300
"""Characters of a short text on a page."""

SHARED = {
    "text": "Sentence",
    "d": "d: size of each key",
    "heads": "Heads",
    "seed": "Seed of the random numbers",
    view.QUERIES_IN: "Queries of a matrix in",
    "lesson_values": "Lesson values",
}
"""The sidebar's controls by their key, with their names for the reader."""

STEP = "step"
"""Key of the control that says where the reader is on a page that goes step by step."""

# Names in the session; a leading underscore keeps them apart from the widgets' keys, which are names in the link.
_LINK, _NOTICES, _SETTINGS, _SEEN = "_link", "_notices", "_settings", "_seen"


def hideable() -> set[str]:
    """Keys of the controls that a link can hide.

    Returns
    -------
    set of str
        Those of the sidebar, the sidebar itself, and those of every page.
    """
    return {*SHARED, "sidebar", STEP, *(key for page in PAGES for key in page.lesson)}


def sidebar(lesson: Mapping[str, object], on_slide: Collection[str]) -> Settings:
    """Draw the controls that all pages share and read them.

    Parameters
    ----------
    lesson : mapping of str to object
        What 'Lesson values' sets on this page.
    on_slide : collection of str
        Keys of those that a presentation keeps in reach.

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
        _clean_link()
    _drop_answered_notices()
    presenting = view.now().presenting
    st.html(view.style(view.now(), on_slide, SHARED))
    with st.bottom.container(horizontal=True, key="speaker") if presenting else st.sidebar:
        sentence = st.text_input(
            SHARED["text"],
            default.sentence,
            max_chars=MAX_CHARACTERS,
            key=LINK_KEYS["sentence"],
            bind="query-params",
            help="Any language. Words are split at white space; capitals make another word. Press Enter to apply.",
            width=520 if presenting else "stretch",
        )
        if not presenting:
            _analysed(sentence)
        width: Any = 420 if presenting else "stretch"
        d_head = st.select_slider(
            SHARED["d"],
            range(D_HEAD_RANGE[0], D_HEAD_RANGE[1] + 1),
            default.d_head,
            key="d",
            bind="query-params",
            width=width,
        )
        n_heads = st.select_slider(
            SHARED["heads"],
            range(N_HEADS_RANGE[0], N_HEADS_RANGE[1] + 1),
            default.n_heads,
            key="heads",
            bind="query-params",
            width=width,
        )
        seed = st.number_input(
            SHARED["seed"],
            SEED_RANGE[0],
            SEED_RANGE[1],
            default.seed,
            key="seed",
            bind="query-params",
            width=width,
        )
        if not presenting:
            st.html(f'<p class="quiet">Model width: {n_heads} heads × {d_head} = {n_heads * d_head}</p>')
        choice(
            SHARED[view.QUERIES_IN],
            view.SIDES,
            view.QUERIES_IN,
            view.SIDES[0],
            help="Some texts and slides draw every matrix the other way round, one word a column.",
        )
        st.button(
            SHARED["lesson_values"],
            on_click=take,
            args=(dict(lesson),),
            width="content" if presenting else "stretch",
            key="lesson_values",
            help="Sets every control of this page to what the lesson used.",
        )
        if presenting:
            st.button("Leave", on_click=view.present, args=(False,), key="leave", shortcut="Esc")
    settings = Settings(sentence, d_head, n_heads, int(seed))
    st.session_state[_SETTINGS] = settings
    record = shown.now()
    record.controls |= SHARED
    record.link |= to_query(settings)
    return settings


def take(values: Mapping[str, object]) -> None:
    """Set controls, but for those that the lecturer has hidden.

    Parameters
    ----------
    values : mapping of str to object
        By the controls' keys.
    """
    for key, value in values.items():
        if key not in view.now().hidden:
            st.session_state[key] = value


def _clean_link() -> None:
    """Take out of the link what the sidebar cannot be set to, and tell it.

    The widgets' own reading is more generous (seed=7.5 becomes 7, a blank sentence is a sentence) or silent, and it has
    not happened yet on the first run of a session.
    """
    wanted, ignored = from_query(st.session_state[_LINK])
    for entry in ignored:
        used = getattr(wanted, next(name for name, key in LINK_KEYS.items() if key == entry.key))
        _note(entry, used)
        if entry.key == LINK_KEYS["sentence"] and used != Settings().sentence:
            st.query_params[entry.key] = used  # too long: its first words
        else:
            del st.query_params[entry.key]
    asked, wrong = view.from_link(st.session_state[_LINK], hideable())
    view.set_to(asked)
    for key, expected in wrong.items():
        used = ", ".join(sorted(asked.hidden)) or "nothing hidden" if key == view.HIDE else "0"
        _note(Ignored(key, expected, quote(st.session_state[_LINK][key]), used), asked)
        del st.query_params[key]
    if ignored or wrong:
        st.rerun()


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
        f'<p class="quiet">{count}:</p><p class="quiet" tabindex="0" role="group" aria-label="words analysed" '
        f'style="max-height:5.5rem;overflow:auto;overflow-wrap:anywhere">{shown}</p>'
    )
    if any(written_without_spaces(word) for word in kept):
        st.html(
            '<p class="quiet">A text without spaces counts as one word: '
            "put a space between its words or characters to get more.</p>"
        )


class PageEnds(Exception):
    """Raised by a page that has nothing more to show; `st.stop` would end the frame as well."""


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
        raise PageEnds
    return words


def _note(ignored: Ignored, used: object) -> None:
    st.session_state[_NOTICES][ignored.key] = (str(ignored), used)


def _drop_answered_notices() -> None:
    """Forget the notice of every parameter whose control the reader has changed since."""
    notices: dict[str, tuple[str, object]] = st.session_state[_NOTICES]
    for key, (_, used) in list(notices.items()):
        now = view.now() if key in (view.PRESENT, view.HIDE) else st.session_state.get(key, used)
        if now != used and str(now) != used:  # a typed number is a number, and its default a text
            del notices[key]


def show_notices() -> None:
    """One line for every parameter of the link that was ignored, until its control is changed."""
    for said, _ in st.session_state[_NOTICES].values():
        notice(said)


def _linked(
    label: str,
    key: str,
    accepts: Callable[[list[str]], bool],
    wanted: str,
    default: Value,
    widget: Callable[[], Value],
    instead: Sequence[str] = (),
) -> Value:
    """A page's control that lives in the link: a parameter that it cannot be set to leaves the default and is told.

    `instead` is what remains of the parameter, where something does.
    The widget's own reading of the link is more generous (7.5 becomes 7, an empty list is a list) or silent.
    """
    seen: set[str] = st.session_state[_SEEN]
    given = st.session_state[_LINK].get(key)
    rejected = key not in seen and given is not None and not accepts(given)
    if rejected:
        said = ", ".join(map(str, instead or default)) if isinstance(default, list) else str(default)
        used = [type(default[0])(text) for text in instead] if instead and isinstance(default, list) else default
        wrong = [text for text in given if text not in instead] or given
        _note(Ignored(key, wanted, quote(wrong), said), used)
        seen.add(key)
        if instead:
            st.query_params[key] = list(instead)
        elif key in st.query_params:
            del st.query_params[key]
        st.rerun()  # once the widget exists, Streamlit forbids all this
    seen.add(key)
    _keep_in_address(key, default)
    value = widget()
    record = shown.now()
    record.controls[key] = re.sub("<[^>]*>", "", label)
    if value != default:
        record.link[key] = [_as_in_link(item) for item in (value if isinstance(value, list) else [value])] or [NOTHING]
    return value


def _keep_in_address(key: str, default: object) -> None:
    """Before a control is drawn: what it stands at goes into the address, which else would not bring it back.

    The browser writes the address when the reader moves the control, not when the default moves: where the last word is
    picked and the new sentence has more of them, or where the first step has become another one. And a value that was
    taken along to another page is in no address yet.
    """
    value = st.session_state.get(key)
    if value is None or isinstance(value, list) or _as_in_link(value) == _as_in_link(default):
        return  # a typed number is a number, and its default a text
    if st.query_params.get_all(key) != [_as_in_link(value)]:
        st.session_state[key] = value  # Streamlit writes the address of what the session is set to
        with suppress(StreamlitAPIException):  # but not at a page's first run, when it does not yet forbid us to
            st.query_params[key] = _as_in_link(value)


def _as_in_link(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _one_of(options: Sequence[object]) -> Callable[[list[str]], bool]:
    texts = [str(option) for option in options]
    return lambda given: len(given) == 1 and given[0] in texts


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

    def widget() -> Name:
        chosen = st.segmented_control(
            label, options, default=default, required=True, key=key, bind="query-params", wrap=True, **rest
        )
        return default if chosen is None else chosen

    return _linked(label, key, _one_of(options), f"one of {', '.join(options)}", default, widget)


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

    def accepts(given: list[str]) -> bool:
        return len(given) == 1 and given[0].lower() in ("true", "false")

    def widget() -> bool:
        return st.toggle(label, default, key=key, bind="query-params", help=help)

    return _linked(label, key, accepts, "true or false", default, widget)


def pick(label: str, labels: Sequence[str], key: str, default: int = 0, width: int = 170) -> int:
    """One of several numbered things, such as a head or a word, with its name before the box; kept in the link.

    Parameters
    ----------
    label : str
        HTML, our own words.
    labels : sequence of str
        One a number, all different; may hold a reader's words. They stand in the link. Where they are the bare numbers
        and more than `MOST_LISTED`, the number is typed.
    key : str
        Name in the link.
    default : int
        Number at first; the last one where there are fewer.
    width : int
        In pixels; more in a presentation, where the type is larger.

    Returns
    -------
    int
        The number.
    """
    default = min(default, len(labels) - 1)
    width = round(width * 1.3) if view.now().presenting else width
    typed = len(labels) > MOST_LISTED and labels[0] == "0" and labels[-1] == str(len(labels) - 1)
    current = st.session_state.get(key)
    if current is not None:
        text = str(current)
        if text not in labels:
            # The sentence or the number of heads has changed: what was picked keeps its number.
            number = re.match("[0-9]+", text)
            text = labels[min(int(number[0]) if number else default, len(labels) - 1)]
        fits = int(text) if typed else text
        if current != fits:
            st.session_state[key] = fits

    def widget() -> str:
        with st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key=f"control_{key}"
        ):
            st.html(f'<p class="quiet">{label}</p>', width="content")
            bare = re.sub("<[^>]*>", "", label)
            if typed:
                return str(
                    st.number_input(
                        bare,
                        0,
                        len(labels) - 1,
                        default,
                        key=key,
                        bind="query-params",
                        label_visibility="collapsed",
                        width=max(width, TYPED_WIDTH),
                    )
                )
            chosen: str = st.selectbox(
                bare,
                labels,
                index=default,
                key=key,
                bind="query-params",
                label_visibility="collapsed",
                width=width,
            )
            return chosen

    wanted = f"“{labels[0]}” to “{labels[-1]}”" if len(labels) > 1 else f"“{labels[0]}”"
    return list(labels).index(_linked(label, key, _one_of(labels), wanted, labels[default], widget))


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
        The chosen number; where the options have changed, the largest that is not beyond it.
    """
    current = st.session_state.get(key)
    if isinstance(current, int) and current not in options:
        st.session_state[key] = max((option for option in options if option <= current), default=options[0])

    def widget() -> int:
        number: int = st.select_slider(label, options, default, key=key, bind="query-params", width=width)
        return number

    wanted = f"one of {', '.join(map(str, options))}"
    if len(options) > 5 and tuple(options) == tuple(range(options[0], options[0] + len(options))):
        wanted = f"a whole number from {options[0]} to {options[-1]}"
    return _linked(label, key, _one_of(options), wanted, default, widget)


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
    seen: set[str] = st.session_state[_SEEN]
    if key not in seen and st.session_state[_LINK].get(key) == [NOTHING]:
        seen.add(key)
        st.session_state[key] = []
        if key in st.query_params:
            del st.query_params[key]
        st.rerun()  # once the widget exists, Streamlit forbids all this

    def accepts(given: list[str]) -> bool:
        return len(set(given)) == len(given) and all(text in numbers for text in given)

    def widget() -> list[int]:
        return st.multiselect(label, options, list(default), key=key, bind="query-params")

    kept = [text for text in dict.fromkeys(st.session_state[_LINK].get(key, [])) if text in numbers]
    wanted = f"some of {', '.join(numbers)}, each once"
    return tuple(_linked(label, key, accepts, wanted, list(default), widget, kept))


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

    def accepts(given: list[str]) -> bool:
        try:
            (text,) = given
            read_whole_number(text, *bounds)
        except ValueError:  # several values, or one that is no such number
            return False
        return True

    def widget() -> int:
        return int(st.number_input(label, *bounds, default, key=key, bind="query-params", help=help))

    return _linked(label, key, accepts, f"a whole number from {bounds[0]} to {bounds[1]}", default, widget)


def text(label: str, key: str, default: str, most: int = MAX_TEXT, **options: Any) -> str:
    """A short text, kept in the link.

    Parameters
    ----------
    label : str
        For the reader.
    key : str
        Name in the link.
    default : str
        At first.
    most : int
        Characters that it can have.
    **options
        For `st.text_input`.

    Returns
    -------
    str
        At most so many characters.
    """

    def accepts(given: list[str]) -> bool:
        return len(given) == 1 and len(given[0]) <= most

    def widget() -> str:
        return st.text_input(label, default, max_chars=most, key=key, bind="query-params", **options) or ""

    return _linked(label, key, accepts, f"one text of at most {most} characters", default, widget)


def kept(label: str, key: str, default: str, reads: Callable[[str], bool], wanted: str) -> str:
    """A text that no box holds, because clicks and buttons change it by `take`; kept in the link like any control.

    Parameters
    ----------
    label : str
        For the reader; what stands in a container of the key ``control_`` and this key is hidden with it.
    key : str
        Name in the link.
    default : str
        At first.
    reads : callable
        Whether a text from a link can be used.
    wanted : str
        What can be, in our own words.

    Returns
    -------
    str
        The text now.
    """

    def accepts(given: list[str]) -> bool:
        return len(given) == 1 and reads(given[0])

    def widget() -> str:
        given = st.session_state[_LINK].get(key, [default])
        value: str = st.session_state.setdefault(key, given[0] if accepts(given) else default)
        if value == default:
            if key in st.query_params:
                del st.query_params[key]
        elif st.query_params.get_all(key) != [value]:
            st.query_params[key] = value
        return value

    return _linked(label, key, accepts, wanted, default, widget)


def notice(said: str) -> None:
    """One sentence that says what was wanted and what was given.

    Parameters
    ----------
    said : str
        May hold a reader's words.
    """
    st.html(f'<p class="notice" role="status">{literal(said)}</p>')
