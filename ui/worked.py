"""Arithmetic of one cell, worked out with its own operands; arrays to HTML, without Streamlit."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.attention import Attention
from core.softmax import Floats
from ui.charts.heat_map import number_text
from ui.literal import literal

LONGEST = 64
"""Products that are written out one by one; the rest of a longer sum is told in one line."""

X, W, Q, K, V = "x", "w", *(f'<span class="{name}">{name[0]}</span>' for name in ("query", "key", "value"))
KEY, FEATURE, WIDTH = (
    '<span class="key">key</span>',
    '<span class="feature">feature</span>',
    '<span class="width">feature</span>',
)
"""Names of operands and of what is counted, in the colours of the pictures."""


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


def products(
    counted: str,
    names: tuple[str, str],
    operands: tuple[ArrayLike, ArrayLike],
    result: str,
    labels: Sequence[str] = (),
    picked: int | None = None,
    product: str = "",
    bias: float | None = None,
) -> str:
    """A sum of products, each with its two operands: a dot product, a projection, a mixture of values.

    Parameters
    ----------
    counted : str
        HTML of what the rows are.
    names : tuple of two str
        HTML of the names of the operands.
    operands : tuple of two array_like of shape (length,)
        Their numbers.
    result : str
        Name of the sum.
    labels : sequence of str
        One a row; a reader's words. Empty for plain numbers.
    picked : int or None
        Row to mark.
    product : str
        HTML of the name of the products; empty for the names of the operands with a sign between them.
    bias : float or None
        Added to the sum.

    Returns
    -------
    str
        HTML table; the sum is taken from the unrounded products.

    Examples
    --------
    >>> "14.000" in products(FEATURE, (Q, K), ([1, 2, 3], [1, 2, 3]), "score")
    True
    """
    left, right = (np.asarray(operand, dtype=np.float64) for operand in operands)
    each = left * right
    rows = [
        [literal(labels[j]) if labels else str(j), three(left[j]), three(right[j]), three(each[j])]
        for j in range(min(left.size, LONGEST))
    ]
    if left.size > LONGEST:
        rows.append([f"{left.size - LONGEST} more", "", "", three(float(each[LONGEST:].sum()))])
    if bias is not None:
        rows.append(["bias", "", "", three(bias)])
    header = [counted, names[0], names[1], product or f"{names[0]} × {names[1]}"]
    return table(header, rows, [result, "", "", three(float(left @ right) + (bias or 0.0))], picked)


def mixture(labels: Sequence[str], weights: ArrayLike, values: ArrayLike, picked: int | None = None) -> str:
    """One number of the output: the values of one feature, each taken by its weight.

    Parameters
    ----------
    labels : sequence of str
        One a key; a reader's words.
    weights, values : array_like of shape (key,)
        A row of weights, a column of V.
    picked : int or None
        The key to mark.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> "2.500" in mixture(["0 a", "1 b"], [0.25, 0.75], [1.0, 3.0])
    True
    """
    return products(KEY, ("weight", V), (weights, values), "output", labels, picked, "product")


def contributions(parts: ArrayLike, picked: int, shares: ArrayLike) -> str:
    """One number of a layer's output as the sum of what each head adds to it.

    Parameters
    ----------
    parts : array_like of shape (head,)
        What each head adds to this number.
    picked : int
        The head to mark.
    shares : array_like of shape (head,)
        Length of what each head adds to the whole vector.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> "0.500" in contributions([0.75, -0.25], 0, [1.0, 2.0])
    True
    """
    added, lengths = np.asarray(parts, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    longest = lengths.max(initial=0.0) or 1.0
    rows = [
        [
            str(head),
            three(added[head]),
            f'<span class="bar" style="width:{max(2.5 * lengths[head] / longest, 0.05):.2f}rem"></span>',
            three(lengths[head]),
        ]
        for head in range(added.size)
    ]
    header = ["head", "adds", "", "length"]
    return table(header, rows, ["output", three(float(added.sum())), "", ""], picked)


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
    divided = f"{three(score)} ÷ √{d_head} = {three(score / np.sqrt(d_head))}"
    after = "<br>masked: replaced by −∞" if masked else ""
    root = three(float(np.sqrt(d_head)))
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
        [literal(label), three(scores[j]), three(exponentials[j]), three(shares[j])] for j, label in enumerate(labels)
    ]
    total = ["row sum", "", three(float(exponentials.sum())), three(float(shares.sum()))]
    less = f" {'−' if largest > 0 else '+'} {three(abs(float(largest)))}" if largest else ""
    header = ["key", "s", f"e<sup>s{less}</sup>", "weight"]
    return table(header, rows, total, picked)


def sinusoid(position: int, feature: int, d_model: int, value: float, base: float = 10000.0) -> str:
    """One entry of the sinusoidal encoding.

    Parameters
    ----------
    position, feature, d_model : int
        Which entry, of which width.
    value : float
        The entry.
    base : float
        Of the frequencies.

    Returns
    -------
    str
        HTML paragraph: the angle, then its sine (even features) or cosine (odd ones).

    Examples
    --------
    >>> "sin(1.000000) = <b>0.841471</b>" in sinusoid(1, 0, 8, 0.8414709848)
    True
    """
    name = "cos" if feature % 2 else "sin"
    return _angle(position, feature // 2, d_model, base) + _line(
        f"feature {feature} is {'odd' if feature % 2 else 'even'}: "
        f"{name}({_six(_angle_of(position, feature // 2, d_model, base))}) = <b>{_six(value)}</b>"
    )


def rotation(position: int, pair: int, d_head: int, value: float, base: float = 10000.0) -> str:
    """The cosine of one angle of rotation.

    Parameters
    ----------
    position, pair, d_head : int
        Which angle, for which size of a key.
    value : float
        Its cosine.
    base : float
        Of the frequencies.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "cos(1.000000) = <b>0.540302</b>" in rotation(1, 0, 4, 0.5403023059)
    True
    """
    said = _angle(position, pair, d_head, base)
    return said + _line(
        f"features {2 * pair} and {2 * pair + 1} of q and k are turned by it; "
        f"cos({_six(_angle_of(position, pair, d_head, base))}) = <b>{_six(value)}</b>"
    )


def _angle_of(position: int, pair: int, width: int, base: float) -> float:
    return float(position / base ** (2 * pair / width))


def _angle(position: int, pair: int, width: int, base: float) -> str:
    power = f"{base:,.0f}<sup>2·{pair}/{width}</sup>"
    return _line(
        f'<span class="position">position {position}</span>, pair {pair}: angle = {position} ÷ {power} '
        f"= {_six(_angle_of(position, pair, width, base))}"
    )


def subtraction(names: tuple[str, str, str], values: tuple[float, float]) -> str:
    """One number less another.

    Parameters
    ----------
    names : tuple of three str
        HTML: of the two numbers and of the result.
    values : tuple of two float
        The numbers.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "= <b>1.000000</b>" in subtraction(("new", "old", "moved by"), (3.0, 2.0))
    True
    """
    first, second = values
    gap = first - second
    said = f"{gap:.1e}".replace("-", "−") if 0 < abs(gap) < 5e-7 else _six(gap)
    taken = _six(second) if second >= 0 else f"({_six(second)})"
    return _line(f"{names[2]} = {names[0]} − {names[1]} = {_six(first)} − {taken} = <b>{said}</b>")


def addition(names: tuple[str, str, str], values: tuple[float, float]) -> str:
    """One number and another.

    Parameters
    ----------
    names : tuple of three str
        HTML: of the two numbers and of the result.
    values : tuple of two float
        The numbers.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "= <b>3.000000</b>" in addition(("x", "attention", "sum"), (1.0, 2.0))
    True
    """
    first, second = values
    added = f"{_six(first)} + {_six(second)}" if second >= 0 else f"{_six(first)} − {_six(-second)}"
    return _line(f"{names[2]} = {names[0]} + {names[1]} = {added} = <b>{_six(first + second)}</b>")


def normed(row: ArrayLike, feature: int, gain: float, shift: float, eps: float) -> str:
    """One number of a layer norm, from the row that it stands in.

    Parameters
    ----------
    row : array_like of shape (d_model,)
        What is normed: one word's vector.
    feature : int
        Which number of it.
    gain, shift : float
        Learned, of this feature.
    eps : float
        Added to the variance.

    Returns
    -------
    str
        HTML: mean, variance, the number brought to mean 0 and variance 1, then scaled and shifted.

    Examples
    --------
    >>> "= <b>1.732005</b>" in normed([1, 0, 0, 0], 0, 1.0, 0.0, 1e-5)
    True
    """
    values = np.asarray(row, dtype=np.float64)
    mean, variance = float(values.mean()), float(values.var())
    own = float(values[feature])
    unit = (own - mean) / np.sqrt(variance + eps)
    minus = f"− {_six(mean)}" if mean >= 0 else f"+ {_six(-mean)}"
    offset = f"+ {_six(shift)}" if shift >= 0 else f"− {_six(-shift)}"
    width = f'<span class="width">{values.size}</span>'
    return "".join(
        _line(said)
        for said in (
            f"mean of the word's {width} numbers = {_six(mean)}",
            f"variance = {_six(variance)}",
            f"({_six(own)} {minus}) ÷ √({_six(variance)} + {eps:g}) = {_six(unit)}",
            f"× gain {_six(gain)} {offset} (shift) = <b>{_six(unit * gain + shift)}</b>",
        )
    )


def bent(value: float, activation: str, result: float) -> str:
    """One number before and after the bend of the feed-forward part.

    Parameters
    ----------
    value, result : float
        Before and after.
    activation : "gelu" or "relu"
        The bend.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "max(0, −2.000000) = <b>0.000000</b>" in bent(-2.0, "relu", 0.0)
    True
    """
    if activation == "relu":
        return _line(f"ReLU(h) = max(0, {_six(value)}) = <b>{_six(result)}</b>")
    share = result / value if value else 0.5
    return (
        _line(f"GELU(h) = h · Φ(h) = {_six(value)} × {_six(share)} = <b>{_six(result)}</b>")
        + '<p class="quiet">Φ(h): the share of a standard normal that lies below h.</p>'
    )


def movement(before: ArrayLike, after: ArrayLike) -> str:
    """How far one row moved, feature by feature, and the largest of it.

    Parameters
    ----------
    before, after : array_like of shape (feature,)
        The row.

    Returns
    -------
    str
        HTML table, the feature that moved most marked.

    Examples
    --------
    >>> "2.000" in movement([1.0, 1.0], [1.0, 3.0])
    True
    """
    old, new = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    gap = np.abs(new - old)
    rows = [[str(j), three(old[j]), three(new[j]), three(gap[j])] for j in range(min(old.size, LONGEST))]
    most = int(gap.argmax())
    header = [FEATURE, "before", "after", "|difference|"]
    return table(header, rows, ["largest", "", "", three(float(gap[most]))], most if most < LONGEST else None)


def count(shape: Sequence[int], names: Sequence[str], total: int) -> str:
    """How many numbers a tensor holds.

    Parameters
    ----------
    shape : sequence of int
        Its sizes.
    names : sequence of str
        Of the sizes, in our own words.
    total : int
        Their product.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "32 × 64 = <b>2,048</b>" in count((32, 64), ("d_model", "d_ff"), 2048)
    True
    """
    factors = " × ".join(f'<span class="{_DIMENSIONS.get(name, "")}">{name}</span>' for name in names)
    return _line(f"{factors} = {' × '.join(f'{size:,}' for size in shape)} = <b>{total:,}</b>")


def size_names(shape: Sequence[int], d_model: int, d_ff: int) -> list[str]:
    """Names of the sizes of a block's tensor.

    Parameters
    ----------
    shape : sequence of int
        Of the tensor.
    d_model, d_ff : int
        The block's sizes.

    Returns
    -------
    list of str
        One a size; a square matrix where both sizes are equal counts as d_model by d_model.

    Examples
    --------
    >>> size_names((32, 64), 32, 64), size_names((64,), 32, 64)
    (['d_model', 'd_ff'], ['d_ff'])
    """
    return ["d_model" if size == d_model else "d_ff" for size in shape]


_DIMENSIONS = {"d_model": "width", "d": "feature"}


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


def three(value: float) -> str:
    """Three decimals, fewer before a large number, so that a column keeps its width.

    Parameters
    ----------
    value : float
        Finite or infinite.

    Returns
    -------
    str
        With a real minus sign.

    Examples
    --------
    >>> three(-1.23456), three(123.456)
    ('−1.235', '123.46')
    """
    size = abs(float(value))
    return number_text(float(value), 3 if size < 100 else 2 if size < 1000 else 1)


def _six(value: float) -> str:
    return number_text(value, 6)


def _line(said: str) -> str:
    return f'<p class="line">{said}</p>'
