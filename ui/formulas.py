"""Arithmetic of one cell, worked out with its own operands; arrays to HTML, without Streamlit."""

import html
import string
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.agreement import TOLERANCE
from core.attention import Attention
from core.parameter_count import PARTS, ParameterTable, Preset
from core.scaling import SingleDraw
from core.softmax import Floats
from ui.charts.bars import percent
from ui.charts.heat_map import number_text
from ui.colours import KEY, NEUTRAL, PICKED, POSITION, QUERY, SCALED, UNSCALED, VALUE
from ui.literal import literal

_STYLE = string.Template("""
<style>
[data-testid="stMainBlockContainer"] {padding-left: 2rem; padding-right: 2rem;}
.worked {font-size: .76rem; line-height: 1.35; max-height: 15rem; overflow: auto; font-variant-numeric: tabular-nums;}
.worked table {border-collapse: collapse; width: 100%;}
.worked th {font-weight: 600; text-align: right; padding: 0 .25rem .1rem 0; white-space: nowrap;}
.worked td {text-align: right; padding: 0 .25rem 0 0; white-space: nowrap;}
.worked th:first-child, .worked td:first-child {text-align: left; max-width: 6.5rem; overflow: hidden;
  text-overflow: ellipsis;}
.worked tr.total td {border-top: 1px solid currentColor; font-weight: 650; padding-top: .1rem;}
.worked tr.picked td {font-weight: 650; background: light-dark(#FFE9BF, #4A3A12);}
.worked.large {font-size: .95rem; max-height: none;}
.worked.large th {white-space: normal;}
.lines {max-height: 6rem; overflow: auto;}
[data-testid="stMain"] {overflow-anchor: none;}
[data-testid="stPageLink"] p {white-space: normal; overflow: visible;}
@media (max-width: 640px) {.katex-display {font-size: .72em;}}
.worked td:nth-child(2):has(.bar) {text-align: left; width: 100%;}
.bar {display: inline-block; height: .7em; background: $SCALED; border-radius: .1em;}
.label {display: inline-block; min-width: 5.5rem; color: $NEUTRAL; font-size: .82rem;}
.scaled {color: $SCALED; font-weight: 650;}
.unscaled {color: $UNSCALED; font-weight: 650;}
[data-testid="stImage"] img {image-rendering: pixelated; height: auto;}
.query {color: $QUERY;}
.key {color: $KEY;}
.value {color: $VALUE;}
.position {color: $POSITION;}
.line {font-size: .95rem; line-height: 1.4; margin: 0; overflow-wrap: anywhere;}
.quiet {font-size: .82rem; line-height: 1.4; margin: 0; overflow-wrap: anywhere; color: $NEUTRAL;}
.notice {font-size: .9rem; line-height: 1.4; margin: 0;
  overflow-wrap: anywhere; padding: .35rem .7rem; border-left: .25rem solid $PICKED_LIGHT;
  background: light-dark(#FFF4DC, #33290F);}
.agree {font-size: .82rem; line-height: 1.4; margin: 0; padding: .2rem .6rem; border-radius: .3rem;
  display: inline-block; max-width: 34rem; background: light-dark(#E2F3EC, #12332A);}
.agree summary {cursor: pointer;}
.differ {background: light-dark(#FCE3DC, #45201A);}
.unchecked {background: light-dark(#ECEFF4, #262E38);}
</style>
""")
_HUES = {
    "QUERY": QUERY,
    "KEY": KEY,
    "VALUE": VALUE,
    "POSITION": POSITION,
    "NEUTRAL": NEUTRAL,
    "SCALED": SCALED,
    "UNSCALED": UNSCALED,
}
STYLE = _STYLE.substitute(
    {name: f"light-dark({hue.light}, {hue.dark})" for name, hue in _HUES.items()}, PICKED_LIGHT=PICKED.light
)
"""The only style sheet; colours follow the theme on the reader's screen."""


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], total: Sequence[str] = (), picked: int | None = None
) -> str:
    """A small table of arithmetic.

    Parameters
    ----------
    header : sequence of str
        HTML of the column headings.
    rows : sequence of sequence of str
        HTML of the cells.
    total : sequence of str
        Last row, set apart; empty for none.
    picked : int or None
        Row to mark.

    Returns
    -------
    str
        HTML. A long table scrolls inside its box, by keyboard too.

    Examples
    --------
    >>> table(["a"], [["1"]]).count("<tr")
    2
    """

    def line(cells: Sequence[str], tag: str = "td", kind: str = "") -> str:
        return f"<tr{kind}>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(cells, kind=' class="picked"' if number == picked else "") for number, cells in enumerate(rows))
    foot = line(total, kind=' class="total"') if total else ""
    return (
        '<div class="worked" tabindex="0" role="group" aria-label="worked arithmetic"><table>'
        f"<thead>{line(header, 'th')}</thead><tbody>{body}{foot}</tbody></table></div>"
    )


def dot_product(q: ArrayLike, k: ArrayLike) -> str:
    """Each product of a query with a key, and their sum.

    Parameters
    ----------
    q, k : array_like of shape (d_head,)
        One row of Q and one of K.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> "14.000" in dot_product([1, 2, 3], [1, 2, 3])
    True
    """
    query, key = np.asarray(q, dtype=np.float64), np.asarray(k, dtype=np.float64)
    rows = [[str(j), _three(query[j]), _three(key[j]), _three(product)] for j, product in enumerate(query * key)]
    header = ["j", '<span class="query">q</span>', '<span class="key">k</span>', "q × k"]
    return table(header, rows, ["score", "", "", _three(float(query @ key))])


def scaled(score: float, scaled_score: float, d_head: int, masked: bool = False) -> str:
    """The division by the root of the key's size.

    Parameters
    ----------
    score, scaled_score : float
        Before and after.
    d_head : int
        Size of a key.
    masked : bool
        Whether the query may not attend to this key.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "3.000 ÷ √4 = 1.500" in scaled(3.0, 1.5, 4)
    True
    """
    divided = f"{_three(score)} ÷ √{d_head} = {_three(score / np.sqrt(d_head))}"
    after = "<br>masked: replaced by −∞" if masked else ""
    root = _three(float(np.sqrt(d_head)))
    return f'<p class="line">{divided}{after}</p><p class="quiet">√{d_head} = {root}, d = size of each key</p>'


def softmax_row(labels: Sequence[str], scaled_scores: ArrayLike, weights: ArrayLike, picked: int) -> str:
    """Exponentials of one row, their sum, and the shares that result.

    Parameters
    ----------
    labels : sequence of str
        One a key; a reader's words.
    scaled_scores, weights : array_like of shape (key,)
        One row of each.
    picked : int
        The key to mark.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> "0.500" in softmax_row(["0 a", "1 b"], [0.0, 0.0], [0.5, 0.5], 0)
    True
    """
    scores, shares = np.asarray(scaled_scores, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    largest = scores.max()
    if not np.isfinite(largest):
        return '<p class="line">No allowed key: there is nothing to share out, so all weights are 0.</p>'
    exponentials = np.exp(scores - largest)
    rows = [
        [literal(label), _three(scores[j]), _three(exponentials[j]), _three(shares[j])]
        for j, label in enumerate(labels)
    ]
    total = ["row sum", "", _three(float(exponentials.sum())), _three(float(shares.sum()))]
    header = ["key", "s", f"e<sup>s − {_three(float(largest))}</sup>", "weight"]
    return table(header, rows, total, picked)


def contribution(weight: float, v: ArrayLike, output: ArrayLike) -> str:
    """What one value adds to the output of one query.

    Parameters
    ----------
    weight : float
        How much of it is taken.
    v, output : array_like of shape (d_value,)
        One row of V and one of the output.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> "0.500" in contribution(0.25, [2.0], [3.0])
    True
    """
    value, mixed = np.asarray(v, dtype=np.float64), np.asarray(output, dtype=np.float64)
    rows = [[str(j), _three(value[j]), _three(weight * value[j]), _three(mixed[j])] for j in range(value.size)]
    return table(["j", '<span class="value">v</span>', f"{_three(weight)} v", "output"], rows)


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


def cell_of(result: Attention, query: int, key: int) -> tuple[float, float, float]:
    """Score, scaled score and weight of one cell.

    Parameters
    ----------
    result : Attention
        Of one head.
    query, key : int
        Positions.

    Returns
    -------
    tuple of three float
        The scaled score is -inf where masked.

    Examples
    --------
    >>> from core.attention import attend
    >>> cell_of(attend([[2.0]], [[3.0]], [[1.0]]), 0, 0)
    (6.0, 6.0, 1.0)
    """
    arrays: tuple[Floats, ...] = (result.scores, result.scaled_scores, result.weights)
    score, scaled_score, weight = (float(array[query, key]) for array in arrays)
    return score, scaled_score, weight


def _three(value: float) -> str:
    """Three decimals, fewer before a large number, so that a column keeps its width."""
    size = abs(float(value))
    return number_text(float(value), 3 if size < 100 else 2 if size < 1000 else 1)
