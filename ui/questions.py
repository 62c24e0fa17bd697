"""Predict, then reveal: a question about the numbers on the screen, answered by computing."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import streamlit as st

from ui.charts.heat_map import number_text

Guess = TypeVar("Guess")

_GUESS, _REVEALED = "guess_{}", "_revealed_{}"


def number(
    key: str,
    question: str,
    bounds: tuple[float, float],
    answer: Callable[[], float],
    why: Callable[[float], str],
    state: object,
    decimals: int = 2,
) -> None:
    """A number to be guessed with a slider.

    Parameters
    ----------
    key : str
        Of the question; different for all questions of a page.
    question : str
        HTML.
    bounds : tuple of two float
        Ends of the slider; the answer lies between them.
    answer : callable
        Computes it, when it is asked for and not before.
    why : callable
        The answer to an explanation, in HTML.
    state : object
        What the answer depends on: once it has changed, the question is open again.
    decimals : int
        Of the slider and of the answer.
    """

    def guess() -> float:
        low, high = bounds
        step = 10.0**-decimals
        middle = round((low + high) / 2 / step) * step
        return float(
            st.slider(
                "Your guess",
                low,
                high,
                middle,
                step,
                format=f"%.{decimals}f",
                key=_GUESS.format(key),
                width=420,
                persist_state="session",
            )
        )

    def solve() -> Callable[[float], str]:
        true = answer()
        return partial(_number_verdict, true, why(true), 0.05 * (bounds[1] - bounds[0]), decimals)

    _ask(key, question, guess, solve, state)


def _number_verdict(true: float, why: str, close_by: float, decimals: int, guessed: float) -> str:
    gap = abs(guessed - true)
    close = gap <= close_by + 1e-9  # 0.20 − 0.15 is a little more than 0.05
    return (
        f"<b>It is {number_text(true, decimals)}.</b> Your guess, {number_text(guessed, decimals)}, is "
        f"{'close' if close else f'off by {number_text(gap, decimals)}'}. {why}"
    )


def choice(
    key: str,
    question: str,
    options: Sequence[str],
    answer: Callable[[], str],
    why: Callable[[], str],
    state: object,
) -> None:
    """One of a few answers to be chosen.

    Parameters
    ----------
    key, question, state
        As in `number`.
    options : sequence of str
        Our own words, or plain numbers.
    answer : callable
        Computes which option is right.
    why : callable
        An explanation, in HTML.
    """

    def guess() -> str | None:
        chosen: str | None = st.segmented_control(
            "Your guess", options, key=_GUESS.format(key), wrap=True, persist_state="session"
        )
        return chosen

    _ask(key, question, guess, lambda: partial(_choice_verdict, answer(), why()), state)


def _choice_verdict(right: str, why: str, guessed: str | None) -> str:
    if guessed is None:
        return f"<b>The answer: {right}.</b> {why}"
    said = f"Yes: {right}." if guessed == right else f"No: {right}, not {guessed}."
    return f"<b>{said}</b> {why}"


def _ask(
    key: str,
    question: str,
    guess: Callable[[], Guess],
    solve: Callable[[], Callable[[Guess], str]],
    state: object,
) -> None:
    """The question, the guess and the button; only this part of the page runs again while the reader guesses.

    The session keeps a fragment, and with a function of the page all that the page has computed, 44 MB on some. So the
    answer is worked out here, outside the fragment, by another run of the page once it is asked for.
    """

    def is_revealed() -> bool:
        return bool(st.session_state.get(_REVEALED.format(key)) == state)

    def reveal() -> None:
        st.session_state[_REVEALED.format(key)] = state

    st.fragment(_asked)(key, question, guess, solve() if is_revealed() else None, is_revealed, reveal)


def _asked(
    key: str,
    question: str,
    guess: Callable[[], Guess],
    verdict: Callable[[Guess], str] | None,
    is_revealed: Callable[[], bool],
    reveal: Callable[[], None],
) -> None:
    st.html(f'<p class="line">{question}</p>')
    with st.container(horizontal=True, vertical_alignment="bottom"):
        guessed = guess()
        st.button("Reveal", key=f"reveal_{key}", on_click=reveal)
    if verdict is not None:
        st.html(f'<p class="line answer" role="status">{verdict(guessed)}</p>')
    elif is_revealed():
        st.rerun()  # the whole page
