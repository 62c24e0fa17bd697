"""What the frame adds for readers without a mouse, without sight, or without patience for things that move."""

import html
import json
import re
from collections.abc import Mapping

import streamlit as st

from ui import in_browser

# Focus: Streamlit marks its navigation, its links and a chart's buttons by a faint tint alone; a line is seen by all.
# A field and a slider hide the element that has the focus, so the line goes around what is seen of it.
# A chart's buttons can be reached with the Tab key, but Streamlit shows them to the mouse only.
# A sidebar that is folded away (at first, on a phone) only stands outside the window: the Tab key would still go there.
# Contrast: Streamlit writes white on the dark theme's primary colour (2.3 : 1), and colours code alike in both themes
# (2.2 to 4.4 : 1).
# Durations near zero rather than none: Streamlit waits for the end of its own transitions. Elements without any have
# none: given a duration, all that they inherit would change, too, one after the other from the page's body inwards.
STYLE = """
<style>
:is(a, button, summary, [tabindex]):not(input, textarea):focus-visible, [data-focus-visible]:not(input, textarea),
:is([data-testid="stTextInputRootElement"], [data-testid="stNumberInputContainer"],
    [data-testid="stTextAreaRootElement"]):has(input:focus-visible, textarea:focus-visible) {
  outline: 3px solid light-dark(#005F95, #56B4E9) !important; outline-offset: 1px;}
main:focus-visible {outline-offset: -3px !important;}
[data-testid="stElementToolbar"]:focus-within {opacity: 1; z-index: 1; top: calc(-1.25rem - max(1.5rem, 24px));}
[data-testid="stSidebar"][data-collapsed="true"] * {visibility: hidden !important;}
[data-tag], [data-testid^="stBaseButton-primary"] {color: light-dark(#FFFFFF, #10141A) !important;}
[data-testid="stCode"] .token {color: light-dark(#14181F, #F0F3F7) !important;}
[data-testid="stCode"] .token:is(.keyword, .function, .class-name) {color: light-dark(#005F95, #7CC8F2) !important;}
[data-testid="stCode"] .token:is(.string, .char) {color: light-dark(#006B4E, #6FD3AE) !important;}
[data-testid="stCode"] .token:is(.number, .boolean, .constant, .decorator) {
  color: light-dark(#8A4B08, #F2B27A) !important;}
[data-testid="stCode"] .token.comment {color: light-dark(#4A5361, #A9B4C2) !important;}
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after {
    animation-duration: .01ms !important; animation-delay: 0s !important; animation-iteration-count: 1 !important;
    transition-property: none; transition-duration: .01ms !important; transition-delay: 0s !important;
    scroll-behavior: auto !important;}
}
</style>
"""
"""Lines around what has the focus; nothing that moves for whoever asks for that."""


def short_alternative(alt: str) -> str:
    """The part of a text alternative that stays the same while the numbers change.

    Parameters
    ----------
    alt : str
        "W_q (8 × 4) and the product; from −1.0 to 2.0".

    Returns
    -------
    str
        All before the first figure or semicolon; never empty.

    Examples
    --------
    >>> short_alternative("W_q (8 × 4) and the product; from −1.0 to 2.0"), short_alternative("3 words")
    ('W_q', 'picture')
    """
    return re.split(r"[\d;]", alt, maxsplit=1)[0].rstrip(" (−×÷√=,:") or "picture"


def mend(alternatives: Mapping[str, str]) -> None:
    """Put the style on the page, and what mends it; once a run, at its end, where the empty place is not seen.

    Parameters
    ----------
    alternatives : mapping of str to str
        Text alternatives of charts by the labels that Streamlit gave them; the browser puts them in their place.
    """
    st.html(STYLE)
    st.html(in_browser.element(in_browser.MEND), unsafe_allow_javascript=True)
    longer = {label: alternative for label, alternative in alternatives.items() if label != alternative}
    st.html(f'<div hidden data-alternatives="{html.escape(json.dumps(longer, ensure_ascii=False))}"></div>')
