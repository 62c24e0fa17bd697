"""What a page says about its numbers: shares, verdicts and legends; arrays to HTML, without Streamlit."""

import html
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.agreement import TOLERANCE
from core.parameter_count import PARTS, ParameterTable, Preset
from core.scaling import SingleDraw
from ui.charts.bars import percent
from ui.charts.heat_map import number_text
from ui.literal import literal
from ui.worked import table


def shares(labels: Sequence[str], weights: ArrayLike) -> str:
    """One row of weights as bars of text, largest first.

    Parameters
    ----------
    labels : sequence of str
        One a key; a reader's words.
    weights : array_like of shape (key,)
        From 0 to 1.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> shares(["0 a", "1 b"], [0.25, 0.75]).index("1 b") < shares(["0 a", "1 b"], [0.25, 0.75]).index("0 a")
    True
    """
    row = np.asarray(weights, dtype=np.float64)
    rows = [
        [
            literal(labels[j]),
            f'<span class="bar" style="width:{max(row[j] * 6, 0.05):.2f}rem"></span>',
            f"{row[j]:.3f}",
        ]
        for j in np.argsort(-row, kind="stable")
    ]
    return table(["looks at", "", "weight"], rows, ["row sum", "", f"{row.sum():.3f}"])


def series_legend() -> str:
    """Which line is which on the sweep.

    Returns
    -------
    str
        HTML, one line.

    Examples
    --------
    >>> "√d" in series_legend()
    True
    """
    return (
        '<span class="unscaled">╌╌ raw scores</span> &nbsp; <span class="scaled">── divided by √d</span> &nbsp; '
        "<span>thin line: √d</span>"
    )


def single_draws_table(draws: Sequence[SingleDraw]) -> str:
    """The lesson's table: spread and largest weights of each draw.

    Parameters
    ----------
    draws : sequence of SingleDraw
        From `core.scaling.single_draws`.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> from core.scaling import single_draws
    >>> "<td>0.48</td><td>0.29</td><td>0.25</td>" in single_draws_table(single_draws())
    True
    """
    rows = [
        [
            f"d = {draw.d:,}",
            number_text(draw.raw_score_spread),
            number_text(draw.max_weight_unscaled),
            number_text(draw.max_weight_scaled),
        ]
        for draw in draws
    ]
    header = ["one draw", "spread", "largest weight, raw", "largest weight, ÷ √d"]
    return table(header, rows).replace('class="worked"', 'class="worked large"')


def leak_verdict(
    words: Sequence[str], position: int, replacement: str, with_mask: ArrayLike, without: ArrayLike
) -> str:
    """Which output rows moved when one word was replaced, with the mask and without.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    position : int
        Of the word that was replaced.
    replacement : str
        The word put there.
    with_mask, without : array_like of shape (position,)
        How far each row moved.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "exactly 0" in leak_verdict(["a", "b"], 1, "c", [0.0, 0.5], [0.2, 0.5])
    True
    """
    masked, free = np.asarray(with_mask, dtype=np.float64), np.asarray(without, dtype=np.float64)
    head = f'<p class="line">{literal(words[position])} (position {position}) became {literal(replacement)}. '
    earlier = masked[:position]
    if not position:
        first = "No row stands before it. "
    elif earlier.max() == 0:
        rows = "row" if position == 1 else f"{position} rows"
        first = f"<b>With the mask</b> the {rows} before it moved by exactly 0. "
    else:
        first = f"<b>With the mask</b> a row before it moved by {earlier.max():.3g}: that is a leak. "
    later = f"Rows from {position} on moved by up to {masked[position:].max():.3f}. "
    count = int((free > 0).sum())
    rest = f"<b>Without a mask</b> {count} of {len(words)} rows moved, the least by {free.min():.3g}.</p>"
    return head + first + later + rest


def two_sentences(words: Sequence[str], shuffled: Sequence[str]) -> str:
    """A sentence and its new order, one above the other.

    Parameters
    ----------
    words, shuffled : sequence of str
        A reader's words.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> two_sentences(["a", "b"], ["b", "a"]).count("<bdi")
    4
    """
    lines = (("sentence", words), ("new order", shuffled))
    said = "".join(
        f'<p class="line"><span class="label">{name}</span> {" ".join(literal(word) for word in listed)}</p>'
        for name, listed in lines
    )
    return f'<div class="lines" tabindex="0" role="group" aria-label="both orders">{said}</div>'


def order_verdict(title: str, largest: float, nothing_turned: bool = False) -> str:
    """Whether the outputs only moved along, or changed.

    Parameters
    ----------
    title : str
        Our own words: with or without positions.
    largest : float
        Largest difference after moving the rows along.
    nothing_turned : bool
        Whether the positions could have no effect.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "only moved along" in order_verdict("without positions", 1e-16)
    True
    """
    name = title[0].upper() + title[1:]
    if largest <= TOLERANCE:
        said = "the outputs only moved along with their words"
        why = ". With d = 1 there is no pair of features to turn" if nothing_turned and "with " in title else ""
        return f'<p class="line"><b>{name}:</b> {said}; largest difference {largest:.1e}, rounding only{why}.</p>'
    return f'<p class="line"><b>{name}:</b> the outputs changed; largest difference {largest:.4g}.</p>'


def parts_legend(counted: ParameterTable) -> str:
    """Which colour is which part of a block, and its share of the parameters.

    Parameters
    ----------
    counted : ParameterTable
        From `core.parameter_count.encoder_block_parameters`.

    Returns
    -------
    str
        HTML, one line.

    Examples
    --------
    >>> from core.parameter_count import encoder_block_parameters
    >>> "49.4 %" in parts_legend(encoder_block_parameters(32, 4, 64))
    True
    """
    kinds = {"attention": "query", "feed-forward": "value", "layer norm": ""}
    said = []
    for part in PARTS:
        share = percent(counted.part_total(part) / counted.total)
        said.append(f'<span class="{kinds[part]}">■ {part} {share}</span>')
    return f'<p class="quiet">{" &nbsp; ".join(said)}</p>'


def published(
    presets: Sequence[Preset], d_model: int, n_heads: int, d_ff: int, n_layers: int, biases: str, total: int
) -> str:
    """What has been published for these sizes, and how the whole model's total comes about.

    Parameters
    ----------
    presets : sequence of Preset
        To look in.
    d_model, n_heads, d_ff, n_layers, biases
        The sizes on the page.
    total : int
        Parameters of one block.

    Returns
    -------
    str
        HTML; says so where nothing has been published.

    Examples
    --------
    >>> from core.parameter_count import PRESETS
    >>> "8,544" in published(PRESETS, 32, 4, 64, 1, "all", 8544)
    True
    """
    said = []
    for preset in presets:
        if (preset.d_model, preset.n_heads, preset.d_ff) != (d_model, n_heads, d_ff) or biases != "all":
            continue
        sign = "✓" if preset.published_block == total else "✗"
        said.append(f"{sign} {preset.name}: {preset.published_block:,} a block ({html.escape(preset.source)}).")
        if preset.published_total and preset.n_layers == n_layers:
            listed = "; ".join(f"{html.escape(name)}: {count:,}" for name, count in preset.rest)
            whole = total * n_layers + sum(count for _, count in preset.rest)
            sign = "✓" if whole == preset.published_total else "✗"
            said.append(
                f"{sign} Whole model {preset.published_total:,} = {n_layers} blocks, {total * n_layers:,}; {listed}."
            )
    if not said:
        said.append("No published total is known here for these sizes and biases.")
    return "".join(f'<p class="quiet">{line}</p>' for line in said)
