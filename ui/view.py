"""How the page is looked at, whatever it shows: on a slide or not, which controls are hidden, where queries stand."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import streamlit as st

PRESENT, HIDE, QUERIES_IN = "present", "hide", "queries_in"
"""Names in the link."""

SIDES = ("rows", "columns")
"""Where the queries of a matrix can stand."""

_VIEW = "_view"


@dataclass(frozen=True, slots=True)
class View:
    """What a lecturer set up, by the switch or by the link."""

    presenting: bool = False
    hidden: frozenset[str] = frozenset()
    """Keys of the controls that are out of reach."""


def from_link(link: Mapping[str, list[str]], known: Collection[str]) -> tuple[View, dict[str, str]]:
    """The view that a link asks for.

    Parameters
    ----------
    link : mapping of str to list of str
        All values of each parameter.
    known : collection of str
        Controls that can be hidden.

    Returns
    -------
    tuple of View and dict of str to str
        What was wanted instead of each parameter that could not be used as given; such a part is left out.

    Examples
    --------
    >>> view, wrong = from_link({"present": ["1"], "hide": ["d", "moon"]}, ("d", "seed"))
    >>> view.presenting, sorted(view.hidden), wrong
    (True, ['d'], {'hide': 'names of controls: d, seed'})
    """
    wrong = {}
    present = link.get(PRESENT, ["0"])
    if present not in (["0"], ["1"]):
        wrong[PRESENT] = "1 or 0"
    names = [name for given in link.get(HIDE, []) for name in given.split(",")]
    if not set(names) <= set(known):
        wrong[HIDE] = f"names of controls: {', '.join(sorted(known))}"
    return View(present == ["1"], frozenset(names) & frozenset(known)), wrong


def now() -> View:
    """The view of this session.

    Returns
    -------
    View
        The plain one until something else was asked for.
    """
    view: View = st.session_state.get(_VIEW, View())
    return view


def set_to(view: View) -> None:
    """Take over a view, for this session.

    Parameters
    ----------
    view : View
        From then on.
    """
    st.session_state[_VIEW] = view


def present(on: bool) -> None:
    """Begin or end the presentation.

    Parameters
    ----------
    on : bool
        Whether pages become slides.
    """
    set_to(View(on, now().hidden))


def turned() -> bool:
    """Whether matrices are drawn with their queries in columns.

    Returns
    -------
    bool
        False for queries in rows, as in the code and in most texts.
    """
    return bool(st.session_state.get(QUERIES_IN, SIDES[0]) == SIDES[1])


def dark() -> bool:
    """Whether the reader's theme is dark, as far as the server knows; for pictures, which cannot ask the browser.

    Returns
    -------
    bool
        One rerun late where the reader has just changed it.
    """
    return st.context.theme.type == "dark"


def keep_in_link() -> None:
    """Put the view into the address, where a page change has taken it out."""
    view = now()
    for key, wanted in ((PRESENT, ["1"] if view.presenting else []), (HIDE, sorted(view.hidden))):
        if st.query_params.get_all(key) == wanted:
            continue
        if wanted:
            st.query_params[key] = wanted
        else:
            del st.query_params[key]


def style(view: View, on_slide: Collection[str] = (), controls: Collection[str] = ()) -> str:
    """The style sheet of a view: what it hides, and large type for a lecture hall.

    Parameters
    ----------
    view : View
        The view.
    on_slide : collection of str
        Keys of the shared controls that a slide keeps.
    controls : collection of str
        Keys of all shared controls.

    Returns
    -------
    str
        HTML; hidden controls are out of the way of the keyboard too.

    Raises
    ------
    ValueError
        A key is no plain name, and would not be safe in a style sheet.

    Examples
    --------
    >>> ".st-key-d" in style(View(hidden=frozenset({"d"})))
    True
    """
    gone = set(view.hidden)
    if view.presenting:
        gone |= set(controls) - set(on_slide)
    for key in gone:
        if not re.fullmatch(r"[a-z_0-9]+", key):
            raise ValueError(f"a control's key must be of a to z, 0 to 9 and _; got {key!r}")
    selectors = [f".st-key-{key}, .st-key-control_{key}" for key in sorted(gone - {"sidebar"})]
    if view.presenting or "sidebar" in view.hidden:
        selectors += ['[data-testid="stSidebar"]', '[data-testid="stExpandSidebarButton"]']
    rules = f"{', '.join(selectors)} {{display: none !important;}}" if selectors else ""
    return f"<style>{rules}{_SLIDE if view.presenting else ''}</style>"


# Twenty pixels and more for all prose; the frame's own bars go, so that the picture has the screen.
_SLIDE = """
html {font-size: 22px !important;}
[data-testid="stHeader"] {display: none;}
[data-testid="stMainBlockContainer"] {padding: .4rem 1.4rem 1rem;}
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] {gap: .4rem;}
[data-testid="stBottomBlockContainer"] {padding: .2rem 1.4rem .3rem; max-width: none;}
[data-testid="stMain"] p, [data-testid="stMain"] li, .line, .quiet, .notice, .label, .worked, .agree, .asks
  {font-size: max(20px, 1em) !important; color: light-dark(#000000, #FFFFFF);}
[data-testid="stMain"] [data-testid^="stBaseButton-primary"] p {color: inherit;}
.worked {max-height: 70vh; font-size: 20px !important;}
.st-key-speaker :is(.stSlider, .stNumberInput, .stTextInput) {display: flex; align-items: center; gap: .7rem;}
.st-key-speaker label {white-space: nowrap; margin: 0;}
.st-key-speaker .stSlider > div {flex: 1;}
.st-key-control_step button {padding: .1rem .35rem;}
.st-key-control_step p {font-size: 20px !important;}
.st-key-control_step kbd {font-size: .7rem;}
.st-key-leave {margin-left: auto;}
h1 {padding: 0 !important; font-size: 1.5rem !important;}
[class*="st-key-away_"], .no_slide,
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-away_"]), [data-testid="stElementContainer"]:has(.no_slide)
  {display: none !important;}
"""
