"""Costs in words and small tables: what each part takes, what twice the length does to it, what was measured."""

import html
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from core.cache_size import Model, cache_bytes
from core.cost import PART_NAMES, SOFTMAX_OPERATIONS, BlockCost, Crossovers, human
from core.measurement.fit import PowerFit, fit_power
from core.measurement.plan import METHODS, LeftOut, Method, Reading
from ui.charts.bars import percent
from ui.charts.cost import CURVES, FITTED_FROM, METHOD_HUES
from ui.charts.heat_map import named_axis
from ui.take_home.tables import Matrix

_CLASSES = dict(zip((curve.name for curve in CURVES), ("scaled", "unscaled", "query", "value"), strict=True))


def _table(name: str) -> str:
    """How a table begins that scrolls by itself on a phone, and by keyboard."""
    return f'<div class="worked" tabindex="0" role="group" aria-label="{name}"><table>'


def curves_legend() -> str:
    """Which line of the cost chart is which.

    Returns
    -------
    str
        HTML, one line.

    Examples
    --------
    >>> curves_legend().count("<span")
    4
    """
    said = [
        f'<span class="{_CLASSES[curve.name]}" style="white-space: nowrap">{curve.sign} {curve.name}</span>'
        for curve in CURVES
    ]
    return f'<p class="quiet">{" &nbsp; ".join(said)}</p>'


def methods_legend() -> str:
    """Which colour is which method of a measurement.

    Returns
    -------
    str
        HTML, one line.

    Examples
    --------
    >>> methods_legend().count("●")
    2
    """
    kinds = dict(zip(METHOD_HUES, ("unscaled", "scaled"), strict=True))
    said = " &nbsp; ".join(f'<span class="{kinds[method]}">● {method}</span>' for method in METHODS)
    return f'<p class="quiet">{said} &nbsp; lines: fitted from n = {FITTED_FROM} on</p>'


def times(ratio: float) -> str:
    """A factor with as many decimals as it has something to say.

    Parameters
    ----------
    ratio : float
        Positive.

    Returns
    -------
    str
        "× 4" for a whole number, else two decimals.

    Examples
    --------
    >>> times(4.0), times(2.1818)
    ('× 4', '× 2.18')
    """
    return f"× {ratio:.0f}" if ratio == round(ratio) else f"× {ratio:.2f}"


def parts_rows(cost: BlockCost, twice: BlockCost, causal: bool) -> str:
    """Work and memory of each part, and what becomes of them at twice the length.

    Parameters
    ----------
    cost, twice : BlockCost
        At n and at 2 n.
    causal : bool
        Whether what a causal mask needs is shown too.

    Returns
    -------
    str
        HTML table; figures rounded to three digits.

    Examples
    --------
    >>> from core.cost import block_cost
    >>> "× 4" in parts_rows(block_cost(8, 4, 1, 16), block_cost(16, 4, 1, 16), False)
    True
    """
    head = "".join(
        f"<th>{name}</th>" for name in ("part", "work", "share", *(["needed"] * causal), "at 2 n", "memory", "at 2 n")
    )
    rows = []
    for part, double in zip(cost.parts, twice.parts, strict=True):
        cells = [
            part.name,
            human(part.flops, "FLOP"),
            percent(part.flops / cost.flops),
            *([human(part.needed_flops, "FLOP")] * causal),
            times(double.flops / part.flops),
            human(part.result_bytes, "B", 1024),
            times(double.result_bytes / part.result_bytes),
        ]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    total = [
        "block",
        human(cost.flops, "FLOP"),
        "",
        *([human(cost.needed_flops, "FLOP")] * causal),
        times(twice.flops / cost.flops),
        human(cost.result_bytes, "B", 1024),
        times(twice.result_bytes / cost.result_bytes),
    ]
    rows.append('<tr class="total">' + "".join(f"<td>{cell}</td>" for cell in total) + "</tr>")
    return f"{_table('work and memory of each part')}<tr>{head}</tr>{''.join(rows)}</table></div>"


def crossovers_said(places: Crossovers, d_model: int, last: int, causal: bool) -> str:
    """Where the square overtakes, in a sentence.

    Parameters
    ----------
    places : Crossovers
        From `core.cost.crossovers`.
    d_model : int
        The width; the inner width is four times as large.
    last : int
        Where the picture ends.
    causal : bool
        Whether only what a causal mask needs was counted.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "n = 1,536 (2 · d_model)" in crossovers_said(Crossovers(1536, 4608), 768, 131072, False)
    True
    """
    formulas = ("4 · d_model − 1", "12 · d_model − 1") if causal else ("2 · d_model", "6 · d_model")
    counted = " (counting only the pairs that the mask needs)" if causal else ""
    beyond = [f"{n:,}" for n in (places.projections, places.block) if n > last]
    outside = f" Outside the picture: {', '.join(beyond)}." if beyond else ""
    return (
        f'<p class="line"><b>Where n² overtakes{counted}.</b> q kᵀ and weights · V together cost as much as the '
        f"projections from n = {places.projections:,} ({formulas[0]}) on, and as much as all the rest of the "
        f"block from n = {places.block:,} ({formulas[1]}) on.{outside}</p>"
    )


def fits_of(readings: Sequence[Reading]) -> dict[Method, PowerFit]:
    """Exponents of the time of each method, from the lengths that count.

    Parameters
    ----------
    readings : sequence of Reading
        As far as there are any.

    Returns
    -------
    dict of str to PowerFit
        Methods with three lengths or more from `FITTED_FROM` on.

    Examples
    --------
    >>> quadratic = [Reading(n, "plain formula", 1e-9 * n**2, 3, None, 0) for n in (256, 512, 1024, 2048)]
    >>> round(fits_of(quadratic)["plain formula"].exponent, 9)
    2.0
    """
    found = {}
    for method in METHODS:
        points = [(one.n, one.seconds) for one in readings if one.method == method and one.n >= FITTED_FROM]
        if len(points) >= 3:
            found[method] = fit_power(*zip(*points, strict=True))
    return found


def fits_said(fits: Mapping[Method, PowerFit], readings: Sequence[Reading]) -> str:
    """The exponents and how well they fit.

    Parameters
    ----------
    fits : mapping of str to PowerFit
        From `fits_of`.
    readings : sequence of Reading
        They came from.

    Returns
    -------
    str
        HTML; says so where there are too few points.

    Examples
    --------
    >>> "three lengths" in fits_said({}, [])
    True
    """
    if not fits:
        return f'<p class="line">An exponent needs three lengths from n = {FITTED_FROM} on.</p>'
    rows = ""
    for method, fit in fits.items():
        lengths = [one.n for one in readings if one.method == method and one.n >= FITTED_FROM]
        rows += (
            f"<tr><td>{method}</td><td>n<sup>{fit.exponent:.2f}</sup></td><td>{fit.r_squared:.4f}</td>"
            f"<td>{times(2**fit.exponent)}</td><td>{fit.residual - 1:.0%}</td>"
            f"<td>{fit.n_points}, n = {min(lengths):,} to {max(lengths):,}</td></tr>"
        )
    columns = ("method", "time grows as", "R²", "at 2 n", "farthest point off", "lengths")
    head = "".join(f"<th>{name}</th>" for name in columns)
    steep = any(fit.exponent > 2.2 for fit in fits.values())
    more = (
        " The multiplications grow as n², no faster: PyTorch counts them below. What is more is memory: large matrices "
        "leave the processor's caches, and Linux hands them out anew, and clears them, at every call; where this was "
        "tried, that was half of the time at n = 4,096."
    )
    return (
        f'{_table("exponents")}<tr>{head}</tr>{rows}</table></div><p class="quiet">Least squares of log time on '
        f"log n.{more * steep}</p>"
    )


def left_out_said(left_out: Sequence[LeftOut]) -> str:
    """Which sizes were left out, and why.

    Parameters
    ----------
    left_out : sequence of LeftOut
        At least one.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "n = 4,096, plain formula: no time." in left_out_said([LeftOut(4096, "plain formula", "no time")])
    True
    """
    said = "; ".join(f"n = {one.n:,}, {one.method}: {html.escape(one.why)}" for one in left_out)
    return f'<p class="line"><b>Left out.</b> {said}.</p>'


def exact_parts(cost: BlockCost) -> pd.DataFrame:
    """Every part with its exact figures.

    Parameters
    ----------
    cost : BlockCost
        From `core.cost.block_cost`.

    Returns
    -------
    pandas.DataFrame
        Written out: a browser rounds whole numbers beyond 2⁵³.

    Examples
    --------
    >>> from core.cost import block_cost
    >>> exact_parts(block_cost(1024, 768, 12, 3072)).FLOP.iloc[-1]
    '17,779,654,656'
    """
    rows = [(part.name, "n²" if part.quadratic else "n", part) for part in cost.parts] + [("block", "", cost)]
    return pd.DataFrame(
        [
            (name, grows, f"{row.flops:,}", f"{row.multiply_adds:,}", f"{row.needed_flops:,}", f"{row.result_bytes:,}")
            for name, grows, row in rows
        ],
        columns=["part", "grows with", "FLOP", "multiply-adds", "FLOP needed", "bytes of the result"],
    )


def conventions() -> str:
    """What is counted how.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "FlopCounterMode" in conventions()
    True
    """
    return (
        '<p class="quiet">A multiply-add is two operations (FLOP), as in PyTorch\'s FlopCounterMode; tools that call '
        "it one give half as many. FlopCounterMode counts matrix products only, and has 0 for the softmax; here that "
        f"has {SOFTMAX_OPERATIONS} a score: largest, subtract, exponential, add up, divide. Not counted: biases, "
        "division by √d, layer norms, GELU, residual sums. Training takes about three times the forward pass. Bytes: "
        "what each part produces, all of it kept.</p>"
    )


def pairs_share(cost: BlockCost) -> str:
    """Share of the work that grows with the square.

    Parameters
    ----------
    cost : BlockCost
        From `core.cost.block_cost`.

    Returns
    -------
    str
        In percent, softmax included.

    Examples
    --------
    >>> from core.cost import block_cost
    >>> pairs_share(block_cost(1024, 768, 12, 3072))
    '18.5 %'
    """
    return percent(sum(part.flops for part in cost.parts if part.quadratic) / cost.flops)


def cache_legend() -> str:
    """What the two bars of a model are.

    Returns
    -------
    str
        HTML, one line.

    Examples
    --------
    >>> cache_legend().count("■")
    1
    """
    return (
        '<p class="quiet"><span class="key">■ cache</span> &nbsp; □ what it would be with a key and value head for '
        "each query head; ÷ 8: so many query heads share one</p>"
    )


def cache_said(models: Sequence[Model], context: int, batch: int, bytes_per_number: int) -> str:
    """What to know about the caches of this choice.

    Parameters
    ----------
    models : sequence of Model
        Shown.
    context, batch, bytes_per_number : int
        As in `core.cache_size.cache_bytes`.

    Returns
    -------
    str
        HTML; names models that are taken beyond what they were published with.

    Examples
    --------
    >>> from core.cache_size import MODELS
    >>> "GPT-2 small (1,024)" in cache_said(MODELS, 4096, 1, 2)
    True
    """
    beyond = [f"{model.name} ({model.context:,})" for model in models if model.context < context]
    rolling = []
    for model in models:
        if model.window is not None and model.window < context:
            kept = cache_bytes(model.window, model.n_layers, model.n_kv_heads, model.d_head, batch, bytes_per_number)
            rolling.append(
                f"{model.name} looks back {model.window:,} tokens, so that a rolling cache holds "
                f"{human(kept, 'B', 1024)} at most"
            )
    said = "The cache grows with n, not with its square: a key and a value for each token, in every layer."
    if beyond:
        said += f" Longer than they were published for: {', '.join(beyond)}."
    if rolling:
        said += f" {'; '.join(rolling)}."
    return f'<p class="line">{said}</p>'


def model_rows(models: Sequence[Model], context: int, batch: int, bytes_per_number: int) -> pd.DataFrame:
    """Sizes of models and of their caches.

    Parameters
    ----------
    models, context, batch, bytes_per_number
        As in `cache_said`.

    Returns
    -------
    pandas.DataFrame
        With the source of each row.

    Examples
    --------
    >>> from core.cache_size import MODELS
    >>> model_rows(MODELS, 4096, 1, 2)["exact bytes"][2]
    '2,147,483,648'
    """
    rows = []
    for model in models:
        sizes = model.n_layers, model.n_kv_heads, model.d_head
        kept = cache_bytes(context, *sizes, batch, bytes_per_number)
        rows.append(
            (
                model.name,
                model.n_layers,
                model.n_heads,
                model.n_kv_heads,
                model.d_head,
                human(cache_bytes(1, *sizes, 1, bytes_per_number), "B", 1024),
                human(kept, "B", 1024),
                f"{kept:,}",
                model.source,
            )
        )
    columns = ("model", "layers", "query heads", "kv heads", "d_head", "a token", "cache", "exact bytes", "source")
    return pd.DataFrame(rows, columns=list(columns))


def matrices(cost: BlockCost, over_n: Mapping[int, BlockCost], places: Crossovers) -> dict[str, Matrix]:
    """Numbers behind the pictures of the cost of a block.

    Parameters
    ----------
    cost : BlockCost
        At the chosen length.
    over_n : mapping of int to BlockCost
        At every length.
    places : Crossovers
        Where the square overtakes.

    Returns
    -------
    dict of str to Matrix
        Whole numbers; the sliders' largest ones have fewer than 53 significant bits.

    Examples
    --------
    >>> from core.cost import block_cost, crossovers
    >>> matrices(block_cost(2, 3, 1, 5), {}, crossovers(3, 5))["where n² overtakes"][0].tolist()
    [[6.0], [11.0]]
    """
    parts = named_axis("part", (*PART_NAMES, "block"))
    each = [(row.flops, row.multiply_adds, row.needed_flops, row.result_bytes) for row in cost.rows]
    lengths = named_axis("n", tuple(str(n) for n in over_n))
    work = [[row.flops for row in one.rows] for one in over_n.values()]
    return {
        "cost of each part": (
            np.array(each, dtype=np.float64),
            parts,
            named_axis("quantity", ("FLOP", "multiply-adds", "FLOP needed", "bytes")),
        ),
        "FLOP over n": (np.array(work, dtype=np.float64), lengths, parts),
        "where n² overtakes": (
            np.array([[places.projections], [places.block]], dtype=np.float64),
            named_axis("what", ("the projections", "the rest of the block")),
            named_axis("place", ("n",)),
        ),
    }


def cache_matrix(models: Sequence[Model], context: int, batch: int, bytes_per_number: int) -> Matrix:
    """Numbers behind the bars of the caches.

    Parameters
    ----------
    models, context, batch, bytes_per_number
        As in `cache_said`.

    Returns
    -------
    Matrix
        Bytes of one token of one sentence, of the cache, and of a cache with as many heads as queries have.

    Examples
    --------
    >>> from core.cache_size import MODELS
    >>> cache_matrix(MODELS[:1], 1024, 1, 2)[0].tolist()
    [[36864.0, 37748736.0, 37748736.0]]
    """
    rows = [
        [
            cache_bytes(tokens, model.n_layers, heads, model.d_head, sentences, bytes_per_number)
            for tokens, heads, sentences in (
                (1, model.n_kv_heads, 1),
                (context, model.n_kv_heads, batch),
                (context, model.n_heads, batch),
            )
        ]
        for model in models
    ]
    names = named_axis("model", tuple(model.name for model in models))
    columns = named_axis("bytes", ("a token", "cache", "cache with all heads"))
    return np.array(rows, dtype=np.float64), names, columns
