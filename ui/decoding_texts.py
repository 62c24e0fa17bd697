"""What the page about decoding says of its numbers; arrays and counts to HTML, without Streamlit."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.agreement import TOLERANCE, Agreement
from core.softmax import Floats
from ui.charts.heat_map import number_text
from ui.colours import Hue
from ui.literal import literal
from ui.worked import table

_SHOWN = 24
"""Words of a text that are shown; new ones are fewer."""


def text_so_far(words: Sequence[str], n_prompt: int, length: int) -> str:
    """A text while it is being written: the prompt, the words chosen before, the one chosen now, and those to come.

    Parameters
    ----------
    words : sequence of str
        All of it, to the last new word; a reader's words. A long prompt is shown by its end.
    n_prompt, length : int
        Words of the prompt, and words that were there when the new one was chosen.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> text_so_far(["a", "b", "c"], 1, 1).count('class="chosen"')
    1
    """
    before = max(0, length - _SHOWN)
    said = (
        ["…"] * bool(before)
        + [literal(word) for word in words[before:n_prompt]]
        + ['<span class="scaled" title="new words">▸</span>']
    )
    said += [literal(word) for word in words[n_prompt:length]]
    said.append(f'<b class="chosen">{literal(words[length])}</b>')
    said += ["·"] * (len(words) - length - 1)
    return (
        '<div class="lines" tabindex="0" role="group" aria-label="the text so far">'
        f'<p class="line"><span class="label">text so far</span> {" ".join(said)}</p></div>'
    )


def step_counts(series: str, rows: int, pairs: int, multiply_adds: int | None = None) -> str:
    """What one step computed in one of the two ways.

    Parameters
    ----------
    series : "without a cache" or "with a cache"
        Which way.
    rows, pairs : int
        Rows of K (as many of V) in one layer, query-key pairs in one head.
    multiply_adds : int or None
        Of the whole step; None leaves them out.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "1 row of K" in step_counts("with a cache", 1, 7, 2500)
    True
    """
    kind = "unscaled" if series.startswith("without") else "scaled"
    work = "" if multiply_adds is None else f", {multiply_adds:,} multiply-adds"
    return (
        f'<p class="line"><b class="{kind}">{series[0].upper()}{series[1:]}</b> <span class="quiet">'
        f"{rows:,} row{'' if rows == 1 else 's'} of K, {pairs:,} pair{'' if pairs == 1 else 's'}{work}</span></p>"
    )


def ranking(words: Sequence[str], logits: ArrayLike) -> str:
    """The words that a step could choose from, largest logit first.

    Parameters
    ----------
    words : sequence of str
        The vocabulary; a reader's words.
    logits : array_like of shape (word,)
        One each.

    Returns
    -------
    str
        HTML table, the chosen word marked.

    Examples
    --------
    >>> made = ranking(["a", "b"], [1.0, 3.0])
    >>> made.index("3.000") < made.index("1.000")
    True
    """
    row = np.asarray(logits, dtype=np.float64)
    order = np.argsort(-row, kind="stable")
    return table(["word", "logit"], [[literal(words[j]), number_text(row[j], 3)] for j in order], picked=0)


def legend(kinds: Sequence[tuple[str, Hue]]) -> str:
    """What the colours of cells mean.

    Parameters
    ----------
    kinds : sequence of (str, Hue)
        Our own words, and their colour.

    Returns
    -------
    str
        HTML, one line.

    Examples
    --------
    >>> from ui.colours import NOW
    >>> "computed now" in legend([("computed now", NOW)])
    True
    """
    said = [
        f'<span class="swatch" style="background: light-dark({hue.light}, {hue.dark})"></span> {name}'
        for name, hue in kinds
    ]
    return f'<p class="quiet">{" &nbsp; ".join(said)}</p>'


def same_words(gap: Agreement, one_run: float, length: int) -> str:
    """Whether the two ways agree, and with one run over the final text.

    Parameters
    ----------
    gap : Agreement
        From `core.decoding.compare_ways`.
    one_run : float
        Largest difference of the states to those of one causal run.
    length : int
        Words of the final text.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "the same words" in same_words(Agreement(1e-15, "states", 1e-12, ""), 0.0, 10)
    True
    """
    if not gap.agrees:
        return f'<p class="line"><b>The two ways differ</b> by {gap.largest_difference:.1e}, in {gap.where}.</p>'
    return (
        '<p class="line">Both ways choose <b>the same words</b>. In all states, logits, keys and values the largest '
        f"difference is <b>{_gap(gap.largest_difference)}</b>. One causal run over all {length} words at once, without "
        f"a cache, gives the same states; largest difference {_gap(one_run)}.</p>"
    )


def two_ways(rows: Sequence[tuple[str, int, int]]) -> str:
    """Counts of both ways of decoding, and how many times as many the first one has.

    Parameters
    ----------
    rows : sequence of (str, int, int)
        What is counted, without a cache and with one.

    Returns
    -------
    str
        HTML table, the last row set apart as the sum.

    Examples
    --------
    >>> "<td>3.0 ×</td>" in two_ways([("rows of K", 15, 5)])
    True
    """
    body = [
        [name, f"{plain:,}", f"{cached:,}", f"{plain / cached:.1f} ×" if cached else ""] for name, plain, cached in rows
    ]
    header = ["", '<span class="unscaled">without</span>', '<span class="scaled">with a cache</span>', ""]
    return table(header, body[:-1], body[-1]).replace('class="worked"', 'class="worked counts"')


def where_work_is_saved(plain: Mapping[str, int], cached: Mapping[str, int]) -> str:
    """Which part of the work the cache saves most of.

    Parameters
    ----------
    plain, cached : mapping of str to int
        Multiply-adds of each part, in the two ways.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "75 %" in where_work_is_saved({"projections": 4, "scores": 2}, {"projections": 1, "scores": 1})
    True
    """
    saved = {part: plain[part] - cached[part] for part in plain}
    total = sum(saved.values())
    most = max(saved, key=lambda part: saved[part])
    rows = sum(saved[part] for part in ("projections", "feed-forward") if part in saved)
    return (
        f'<p class="line no_slide">The cache saves {total:,} multiply-adds, the largest part in the {most} '
        f"({saved[most] / total:.0%}). Projections and feed-forward part together are {rows / total:.0%}".replace(
            "%", " %"
        )
        + " of it: they work on every row, and without a cache every old row goes through all layers again. "
        "Additions of biases, norms and softmax are not counted.</p>"
    )


def cache_memory(nbytes: int, n_layers: int, n: int, n_source: int, d_model: int) -> str:
    """Where the bytes of a cache come from.

    Parameters
    ----------
    nbytes : int
        What the arrays say that they take.
    n_layers, n, n_source, d_model : int
        Layers, positions read so far, positions of a source, width.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> "× 8 = <b>1,792</b> bytes" in cache_memory(1792, 2, 7, 0, 8)
    True
    """
    positions = f"({n} + {n_source})" if n_source else str(n)
    meant = "positions and those of the second sentence" if n_source else "positions"
    small = 2 * 12 * 1024 * 768 * 2
    return (
        f'<p class="line">K and V × layers × {meant} × <span class="width">d_model</span> × bytes of a number:</p>'
        f'<p class="line">2 × {n_layers} × {positions} × <span class="width">{d_model}</span> × 8 = '
        f"<b>{nbytes:,}</b> bytes</p>"
        '<p class="line">The arrays themselves say so. Twice the text takes twice the memory, for every text that is '
        "written at the same time.</p>"
        '<p class="quiet">The sizes of GPT-2 (12 layers, d_model 768, 1,024 positions) with 2 bytes a number: '
        f"2 × 12 × 1,024 × 768 × 2 = {small:,} bytes.</p>"
    )


def why_keys_and_values(keys: Floats, states: Floats, layer: int) -> str:
    """Why rows can be kept, by how far they move.

    Parameters
    ----------
    keys : ndarray of shape (layer, position, side)
        Movement of the rows of K; the second side is without a mask.
    states : ndarray of shape (position, side)
        Movement of the final states.
    layer : int
        That is looked at.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> "do not move" in why_keys_and_values(np.zeros((1, 3, 2)), np.full((3, 2), [0.0, 0.5]), 0)
    True
    """
    with_mask = max(float(keys[..., 0].max()), float(states[:, 0].max()))
    if with_mask <= TOLERANCE * max(1.0, float(states.max())):
        still = f"move by at most {with_mask:.1e}, which is rounding" if with_mask else "do not move at all"
    else:
        still = f"move by up to {with_mask:.3g}: that is a leak"
    without = float(states[:, 1].max())
    first = float(keys[layer, :, 1].max())
    of_keys = (
        "Keys of layer 0 are made of their own word alone, so not even a missing mask moves them"
        if layer == 0
        else f"Keys of layer {layer} are made of states that see later words, and move by up to {first:.3g}"
    )
    moves = (
        f"the final states move by {float(states[:, 1].min()):.3g} to {without:.3g}. {of_keys}: a cache would hold "
        "what is no longer true."
        if without > TOLERANCE
        else "nothing moves here either: the norm of a single number leaves nothing of a word."
    )
    return (
        '<p class="line"><b>With the mask</b> an earlier row cannot see the new word: its keys, values and states '
        f"{still}. What does not change can be kept.</p>"
        f'<p class="line"><b>Without it</b> {moves}</p>'
        '<p class="line"><b class="query">Q is not kept</b>: a query is used by its own row, once, when its word is '
        'new. <b class="key">Keys</b> and <b class="value">values</b> are used again by every later query.</p>'
    )


def corner_verdict(bottom_right: ArrayLike, whole: ArrayLike, length: int) -> str:
    """What the two corners make of one query and many keys.

    Parameters
    ----------
    bottom_right : array_like of shape (key,)
        Weights of the newest query with the mask that a cache needs.
    whole : array_like of shape (key,)
        Its weights in the run over all queries.
    length : int
        Number of keys.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "the same row" in corner_verdict([0.5, 0.5], [0.5, 0.5], 2)
    True
    """
    gap = float(np.abs(np.asarray(bottom_right, dtype=np.float64) - np.asarray(whole, dtype=np.float64)).max())
    if length == 1:
        return '<p class="line">With one key there is one corner. Move to a later step to see two.</p>'
    return (
        f'<p class="line"><b>bottom-right</b>: the newest query sees all {length} keys, and has the same row of '
        f"weights as without a cache (largest difference {_gap(gap)}). <b>top-left</b> takes it for the first query "
        "of a text: it sees key 0 alone. PyTorch's <code>is_causal=True</code> is top-left, so a step with a cache "
        "must not ask for it; one query that may see everything needs no mask at all.</p>"
    )


def _gap(difference: float) -> str:
    return f"{difference:.1e}, rounding" if difference else "exactly 0"
