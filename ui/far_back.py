"""What the page of recurrence against attention says about its numbers: arrays to HTML, without Streamlit."""

from collections.abc import Sequence

from core.recurrence import LastState
from core.softmax import Floats
from ui.charts.reach import MODELS, exponent_text
from ui.literal import literal
from ui.worked import table, three

RECURRENT, ATTENTION = (
    f'<span class="recurrent">{MODELS[0]}</span>',
    f'<span class="scaled">{MODELS[1]}</span>',
)
"""Names of the two models in the colours of the pictures."""

LEGEND = f'<span class="recurrent">╌╌ {MODELS[0]}</span> &nbsp; <span class="scaled">── {MODELS[1]}</span>'
"""Which line is which."""


SHORT = 5
"""Rows of a table on a slide."""


def _folded(rows: list[list[str]], short: bool) -> list[list[str]]:
    """All rows, or the first and the last ones with a mark for those between."""
    if not short or len(rows) <= SHORT:
        return rows
    kept = SHORT - 3
    return [*rows[:kept], [f"… {len(rows) - 2 * kept} more", *[""] * (len(rows[0]) - 1)], *rows[-kept:]]


def chain(names: Sequence[str], states: Floats, found: LastState, position: int, short: bool = False) -> str:
    """The size of one word's Jacobian in the recurrent network, from its factors: one for every word passed.

    Parameters
    ----------
    names : sequence of str
        Words with their positions.
    states : ndarray of shape (position, d_state)
        After each word.
    found : LastState
        Sizes by state and by word.
    position : int
        Of the word.
    short : bool
        Leave out the middle of a long table.

    Returns
    -------
    str
        HTML table, from the last state back to the word. A factor behind a product of 0 is not told.

    Examples
    --------
    >>> import numpy as np
    >>> found = LastState(np.array([0.5, 1.0]), np.array([0.25, 1.0]))
    >>> chain(["0 a", "1 b"], np.zeros((2, 1)), found, 0).count("× 0.5")
    2
    """
    slopes = (1.0 - states**2).mean(axis=-1)

    def row(said: str, at: int, before: float, after: float) -> list[str]:
        factor = f"× {exponent_text(after / before)}" if before else "–"
        return [said, three(float(slopes[at])), factor, exponent_text(after)]

    last = len(names) - 1
    rows = [["last state itself", "", "", "1"]]
    rows += [
        row(f"over {literal(names[at])}", at, float(found.by_state[at]), float(found.by_state[at - 1]))
        for at in range(last, position, -1)
    ]
    into, whole = float(found.by_state[position]), float(found.by_word[position])
    rows.append(row(f"into {literal(names[position])}", position, into, whole))
    return table(
        ['<span class="recurrent">back</span>', "slope", "factor", "product"],
        _folded(rows, short),
        ["size", "", "", exponent_text(whole)],
    )


def through_heads(weights: Floats, sizes: Floats, whole: float, short: bool = False) -> str:
    """The size of one word's Jacobian by attention: in every head one weight, times what hangs on it.

    Parameters
    ----------
    weights, sizes : ndarray of shape (head,)
        The last word's weight of this word; size of the head's own part.
    whole : float
        Root mean square of the sizes.
    short : bool
        Leave out the middle of a long table.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> import numpy as np
    >>> "× 2" in through_heads(np.array([0.25]), np.array([0.5]), 0.5)
    True
    """
    rows = [
        [
            str(head),
            exponent_text(float(weight)),
            f"× {exponent_text(part / weight)}" if weight else "–",
            exponent_text(part),
        ]
        for head, (weight, part) in enumerate(zip(weights.tolist(), sizes.tolist(), strict=True))
    ]
    header = ['<span class="scaled">head</span>', "weight", "carries", "product"]
    return table(header, _folded(rows, short), ["all heads, r.m.s.", "", "", exponent_text(whole)])


def reading(words: Sequence[str], position: int, shares: tuple[float, float]) -> str:
    """What the picked word still moves, in one sentence for each model.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    position : int
        Of the word.
    shares : tuple of two float
        Of what the last word moves: in the recurrent network, by attention.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "2 words before" in reading(["a", "b", "c"], 0, (0.5, 0.25))
    True
    """
    back = len(words) - 1 - position
    word = literal(words[position])
    if not back:
        return f'<p class="line no_slide"><b>{word}</b> is the last word itself: its share is 1 for both.</p>'
    apart = f"{back} word{'s' if back > 1 else ''} before <b>{literal(words[-1])}</b>"
    return (
        f'<p class="line no_slide"><b>{word}</b> stands {apart}. Of what the last word moves it still moves '
        f"<b>{exponent_text(shares[0])}</b> in the {RECURRENT} and <b>{exponent_text(shares[1])}</b> "
        f"by {ATTENTION}.</p>"
    )


def steps_table(n_words: int, recurrent: int, attention: int) -> str:
    """How many steps wait for each other in the reader's sentence.

    Parameters
    ----------
    n_words : int
        Of the sentence.
    recurrent, attention : int
        Counted steps.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> "<td>5</td>" in steps_table(5, 5, 3)
    True
    """
    rows = [[RECURRENT, f"{recurrent:,}"], [ATTENTION, f"{attention:,}"]]
    header = [f"your {n_words} word{'s' if n_words > 1 else ''}", "steps one after another"]
    return table(header, rows).replace('class="worked"', 'class="worked large"')


def library(asking: str) -> str:
    """The three parts of a search in a library, and who plays them in a sentence.

    Parameters
    ----------
    asking : str
        A reader's word.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> library("it").count("<tr")
    4
    """
    rows = [
        ['<b class="query">query</b>', "what you look for: “a book about cricket for beginners”",
         f'what <b class="query">{literal(asking)}</b> asks'],
        ['<b class="key">key</b>', "the label on a spine", "what each word is found by"],
        ['<b class="value">value</b>', "what stands in the book", "what each word gives"],
    ]  # fmt: skip
    made = table(["", "in a library in Lucknow", "in your sentence"], rows)
    return made.replace('class="worked"', 'class="worked large said"')
