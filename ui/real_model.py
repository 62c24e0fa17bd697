"""What is said of the trained model: its measured heads, what it cannot do, what a text does to it. No Streamlit."""

from collections.abc import Mapping, Sequence

from core.pretrained.model import MAX_PIECES
from core.pretrained.table import Measured, Pattern
from core.pretrained.word_pieces import Pieces
from core.softmax import Floats
from ui.literal import literal

PAIR = ("Meera put the bat in her bag because it was new .", "Meera put the bat in her bag because it was empty .")
"""The same but for the word that decides what "it" means."""

SENTENCES: Mapping[str, tuple[str, tuple[int, int]]] = {
    "Mary … she": ("Mary called John when she arrived .", (1, 3)),
    "Mary … he": ("Mary called John when he arrived .", (1, 3)),
    "two dogs": ("the dog saw another dog in the park .", (2, 9)),
    "the … fence": ("she painted the long wooden fence .", (3, 1)),
    "… new": (PAIR[0], (3, 1)),
    "… empty": (PAIR[1], (3, 1)),
}
"""Sentences that show something, with the head that shows it, by what their button says."""


def names_of(measured: Measured) -> dict[tuple[int, int], str]:
    """What heads were measured as.

    Parameters
    ----------
    measured : Measured
        The table.

    Returns
    -------
    dict of (layer, head) to str
        A head can have several names.
    """
    found: dict[tuple[int, int], str] = {}
    for pattern in measured.patterns:
        place = pattern.layer, pattern.head
        found[place] = f"{found[place]}; {pattern.name}" if place in found else pattern.name
    return found


def notices(pieces: Pieces, n_read: int, n_words: int) -> list[str]:
    """What a reader should know of a text before its pictures.

    Parameters
    ----------
    pieces : Pieces
        Of the words that were read.
    n_read, n_words : int
        Words that were read, and those that were typed.

    Returns
    -------
    list of str
        One sentence each; may hold a reader's words.
    """
    said = []
    if n_read < n_words:
        said.append(
            f"The model reads at most {MAX_PIECES} word pieces, start and end included; yours are more, so the first "
            f"{n_read} of {n_words} words are read."
        )
    foreign, unknown = pieces.foreign, pieces.unknown
    if foreign:
        said.append(
            f"The model was trained on English. It knows other scripts by single letters at most, so what it makes of "
            f"{_listed(foreign)} means little."
        )
    elif unknown:
        said.append(f"The model has no pieces for {_listed(unknown)}: it reads [UNK] in its place.")
    return said


def _listed(words: Sequence[str]) -> str:
    different = list(dict.fromkeys(words))
    rest = f" and {len(different) - 3} more" if len(different) > 3 else ""
    return ", ".join(f"“{word}”" for word in different[:3]) + rest


def row_said(weights: Floats, names: Sequence[str], query: int) -> str:
    """Where one row looks, in words.

    Parameters
    ----------
    weights : ndarray of shape (query, key)
        Of one head.
    names : sequence of str
        Of the positions.
    query : int
        The row.

    Returns
    -------
    str
        HTML.
    """
    row = weights[query]
    first = row.argsort(kind="stable")[::-1][:3]
    there = ", ".join(f'<b class="key">{literal(names[key])}</b> {row[key]:.2f}' for key in first if row[key] > 0)
    asks = f'<b class="query">{literal(names[query])}</b>'
    return f'<p class="line">{asks} looks at {there}.</p>' if there else f'<p class="line">{asks}: no weight left.</p>'


def pieces_said(pieces: Pieces) -> str:
    """The text as the model splits it.

    Parameters
    ----------
    pieces : Pieces
        The text.

    Returns
    -------
    str
        HTML.
    """
    listed = " · ".join(literal(name) for name in pieces.names)
    return f'<p class="quiet"><b>{len(pieces.names)} word pieces:</b> {listed}</p>'


def heads_measured(measured: Measured, picked: tuple[int, int]) -> str:
    """The named heads with their scores.

    Parameters
    ----------
    measured : Measured
        The table.
    picked : tuple of int
        Layer and head that are shown large.

    Returns
    -------
    str
        HTML.
    """
    rows = "".join(_row(pattern, (pattern.layer, pattern.head) == picked) for pattern in measured.patterns)
    return (
        '<div class="worked counts" tabindex="0" role="group" aria-label="named heads"><table><tr><th>looks at</th>'
        "<th>layer.head</th><th>cases</th><th>mean weight</th><th>found</th><th>by distance</th><th>other half</th>"
        f"</tr>{rows}</table></div>"
    )


def _row(pattern: Pattern, picked: bool) -> str:
    numbers = (pattern.mass, pattern.hit, pattern.distance, pattern.other_half)
    cells = "".join(f"<td>{number:.2f}</td>" for number in numbers)
    mark = ' class="picked"' if picked else ""
    return (
        f"<tr{mark}><td>{pattern.name}</td><td>{pattern.layer}.{pattern.head}</td><td>{pattern.cases}</td>{cells}</tr>"
    )


def scores_legend() -> str:
    """What the marks of the chart mean.

    Returns
    -------
    str
        HTML.
    """
    return (
        '<p class="quiet"><b class="scaled">●</b> found by the head, as <i>layer.head</i> · '
        '<b class="unscaled">▮</b> found by always looking at the best distance. The head that is shown is orange; '
        "click a line to see another one.</p>"
    )


def how_measured(measured: Measured) -> str:
    """How the scores came about.

    Parameters
    ----------
    measured : Measured
        The table.

    Returns
    -------
    str
        HTML.
    """
    return (
        f'<p class="quiet">Counted over {measured.texts} sentences written for this. <b>Found</b>: share of the cases '
        "in which no other word has more weight ([CLS], [SEP] and the asking word do not count as others). <b>By "
        "distance</b>: what always looking at the same distance would find. <b>Other half</b>: what heads find that "
        "were chosen on one half of the sentences and tested on the other, pronouns by weight over the rival. "
        "Each head is the best of all 72 for its pattern.</p>"
    )


def limits_said(measured: Measured) -> str:
    """What the model cannot do.

    Parameters
    ----------
    measured : Measured
        The table.

    Returns
    -------
    str
        HTML.
    """
    limit = measured.limit
    return (
        '<p class="line"><b>Grammar, not knowledge of the world.</b> “Meera put the bat in her bag because it was '
        "new”: it is the bat. “… because it was empty”: it is the bag. Only somebody who knows bats and bags can tell. "
        "This head looks at the bat both times (rows without [CLS] and [SEP]). "
        f"In {limit.cases} such sentences the luckiest of the 72 heads is right in "
        f"<b>{limit.best_of_all_heads:.2f}</b>, and heads chosen on the other half in <b>{limit.other_half:.2f}</b>; "
        "a coin is right in 0.50.</p>"
    )


def rounding_said(measured: Measured) -> str:
    """What rounding the weights costs.

    Parameters
    ----------
    measured : Measured
        The table.

    Returns
    -------
    str
        HTML.
    """
    moved = max(abs(pattern.mass - pattern.full_mass) for pattern in measured.patterns)
    return (
        '<p class="quiet"><b>Rounded.</b> To fit into 22 MB every matrix is rounded to whole numbers from −127 to '
        "127, with one scale a row. Against the published numbers that moves a weight by "
        f"{measured.mean_gap:.4f} on average and by {measured.largest_gap:.3f} at most; the favourite of a row stays "
        f"in {measured.same_favourite:.3f} of all rows, and no mean weight of the table moves by more than "
        f"{moved:.3f}.</p>"
    )


def rests_said(measured: Measured) -> str:
    """How much rests on the start, layer by layer.

    Parameters
    ----------
    measured : Measured
        The table.

    Returns
    -------
    str
        HTML.
    """
    there = ", ".join(f"{share:.2f}" for share in measured.on_start_by_layer)
    return (
        '<p class="line"><b>Most weight rests on [CLS].</b> Layer by layer the words of the measured sentences give it '
        f"{there} of their weight on average over the heads. A row has to add up to 1 even where no word matters to a "
        "head, and models of this kind often learn to leave the weight there (Clark et al. 2019).</p>"
    )
