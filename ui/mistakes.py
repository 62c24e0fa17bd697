"""What the page of mistakes says about each of them: prose, code, verdicts; comparisons to HTML, without Streamlit."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.agreement import TOLERANCE
from core.common_mistakes import LENGTHS, Comparison, Mistake, Side
from core.missing_key import Outcome, Rule
from core.softmax import Floats
from ui import worked
from ui.charts.growth import GUESS, TRUE, short
from ui.charts.heat_map import Axis, named_axis, number_text, position_axis, word_axis
from ui.literal import literal


@dataclass(frozen=True, slots=True)
class Told:
    """One mistake in words."""

    about: str
    """HTML, one or two sentences: what is done, and what comes of it."""
    wrong: str
    """The line of code with the mistake."""
    right: str
    test: str
    """HTML: what to do to find it."""
    page: str
    """Name of the page that the concept lives on."""


TOLD: dict[Mistake, Told] = {
    "no scale": Told(
        "Scores that are not divided by √d grow with d, and the softmax puts nearly everything on one word. A weight "
        "that hardly moves hardly learns. (q and k are brought to a spread of 1 here, as layer norm keeps them.)",
        "softmax(q @ k.T)",
        "softmax(q @ k.T / sqrt(d))",
        "Measure the spread of what enters the softmax: near 1, or near √d?",
        "scaling_sweep",
    ),
    "no causal mask": Told(
        "A generator that may look ahead reads the answer in training; when it has to generate, the answer is not "
        "there yet. A read-out is fitted here to name the next word of your sentence from each output row. (q, k and v "
        "are brought to a spread of 1.)",
        "attend(q, k, v)",
        "attend(q, k, v, causal_mask(n))",
        "Turn the last word’s vector around: does an earlier row of the output move?",
        "causal_mask",
    ),
    "no positions": Told(
        "Nothing tells attention where a word stands, so that a shuffled sentence gives the same rows, shuffled. Here "
        "the first word changes places with the last one that differs from it.",
        "attend(embeddings)",
        "attend(embeddings + positions)",
        "Shuffle the words and move the output rows along: is there any difference left?",
        "order_blindness",
    ),
    "batch first": Told(
        "PyTorch’s module takes (tokens, batch, features) unless told otherwise. Given (batch, tokens, features) it "
        "runs across the batch: a word looks at the words in its place in other sentences. The batch here: your "
        "sentence, itself backwards, itself with the first word at the end.",
        "nn.MultiheadAttention(d_model, heads)",
        "nn.MultiheadAttention(d_model, heads, batch_first=True)",
        "Change the other sentences of the batch: does this one’s output move?",
        "multi_head",
    ),
    "quadratic cost": Told(
        "Who expects twice the tokens to cost twice as much has not counted the pairs: every token meets every token, "
        "and the weights keep one number for each pair and head.",
        "cost(n) = cost(n0) * n / n0",
        "cost(n) = cost(n0) * (n / n0) ** 2",
        "Double the tokens: by what is the work multiplied?",
        "cost",
    ),
    "transposed weights": Told(
        "PyTorch’s layers keep W transposed, (out, in). All heads together W is square, so that a missing .T fits "
        "every shape; the numbers are others.",
        "q = x @ layer.weight",
        "q = x @ layer.weight.T",
        "Project (1, 0, 0, …): does the first row of W_q come out? With a symmetric W nothing would show.",
        "query_key_value",
    ),
    "inverted mask": Told(
        "In scaled_dot_product_attention True means “may attend”, in nn.MultiheadAttention it means “may not”. A "
        "causal mask that changes hands unturned lets every word see the later words only.",
        "attend(q, k, v, may_attend=~causal_mask(n))",
        "attend(q, k, v, may_attend=causal_mask(n))",
        "Look at the first word: under a causal mask its weight on itself is 1.",
        "causal_mask",
    ),
    "softmax axis": Told(
        "Along the wrong axis the softmax shares each key out among the queries: columns sum to 1 and rows do not. "
        "Under a causal mask the future leaks as well, through the sums that the columns are divided by.",
        "softmax(scores, axis=-2)",
        "softmax(scores, axis=-1)",
        "Sum each row of the weights: is it 1?",
        "query_key_value",
    ),
    "no allowed key": Told(
        "A query whose keys are all masked has nothing to share out. A large negative number instead of −∞ hides that: "
        "all scores are equally low, and every forbidden key gets an equal share.",
        "softmax(where(may_attend, scores, -1e9))",
        "softmax(where(may_attend, scores, -inf)), 0 without any key",
        "Mask every key of one query and sum its row: nothing, or 1?",
        "causal_mask",
    ),
    "split heads": Told(
        "One reshape gives the right shape, and deals out whole words where each head should get a part of every word.",
        "q.reshape(heads, n, d)",
        "q.reshape(n, heads, d).transpose(1, 0, 2)",
        "Number the rows before the split: does a head’s row hold its own word only?",
        "multi_head",
    ),
}


NAMES = {
    "sentence": ("yours", "reversed", "rolled"),
    "tokens": ("n", *(f"{length:,}" for length in LENGTHS)),
    "cost": ("operations", "bytes of weights"),
}
"""Entries of the axes that are neither words nor features."""


def axes_of(side: Side, words: tuple[str, ...], shuffled: tuple[str, ...]) -> tuple[Axis, Axis]:
    """Axes of a matrix that is shown.

    Parameters
    ----------
    side : Side
        From `core.common_mistakes.make`.
    words, shuffled : tuple of str
        The sentence, and its words in the order that is compared with it.

    Returns
    -------
    tuple of two Axis
        Rows and columns.

    Examples
    --------
    >>> import numpy as np
    >>> axes_of(Side(np.eye(2), "query", "key"), ("a", "b"), ("b", "a"))[1].labels
    ('0 a', '1 b')
    """

    def axis(kind: str, size: int) -> Axis:
        if kind in ("query", "key"):
            return word_axis(kind, words)
        if kind == "word":
            return word_axis(kind, shuffled)
        return position_axis(kind, size, "d") if kind == "feature" else named_axis(kind, NAMES[kind])

    return axis(side.rows, side.values.shape[0]), axis(side.columns, side.values.shape[1])


def amount(value: float) -> str:
    """A number of a symptom, with as many digits as it needs.

    Parameters
    ----------
    value : float
        Finite.

    Returns
    -------
    str
        Three digits from a million on, powers of ten where three decimals would show nothing; whole numbers are exact.

    Examples
    --------
    >>> amount(0.0), amount(2e-16), amount(0.25), amount(137438953472.0)
    ('0', '2.0e-16', '0.250', '137 G')
    """
    if abs(value) >= 1_000_000:
        return short(value)
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1e}" if abs(value) < 5e-4 else number_text(value, 3)


def symptom(comparison: Comparison, made: bool) -> str:
    """The measures of a mistake as it runs and done right.

    Parameters
    ----------
    comparison : Comparison
        From `core.common_mistakes.make`.
    made : bool
        Whether what runs has the mistake.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> from core.common_mistakes import make
    >>> "<td>" in symptom(make("softmax axis", ("a", "b")), True)
    True
    """
    rows = [
        [measure.name, amount(measure.wrong if made else measure.right), amount(measure.right)]
        for measure in comparison.measures
    ]
    return worked.table(["symptom", "now", "right"], rows).replace('class="worked"', 'class="worked symptom"')


def verdict(told: Told, comparison: Comparison, made: bool, brief: bool = False) -> str:
    """The test that gives a mistake away, and what it says of what runs now.

    Parameters
    ----------
    told : Told
        Of the mistake.
    comparison : Comparison
        From `core.common_mistakes.make`.
    made : bool
        Whether what runs has the mistake.
    brief : bool
        Leave out how the test is made, for a slide.

    Returns
    -------
    str
        HTML paragraphs.

    Examples
    --------
    >>> from core.common_mistakes import make
    >>> "finds it" in verdict(TOLD["softmax axis"], make("softmax axis", ("a", "b")), True)
    True
    """
    test = comparison.test
    now, found = (test.wrong, comparison.found[0]) if made else (test.right, comparison.found[1])
    if found:
        said = "The test finds it." if made else "The test strikes although nothing is wrong: too little to go by."
    else:
        said = "The test finds nothing." if not made else "The test finds nothing here."
    how = "" if brief else f'<p class="line"><b>Test.</b> {told.test}</p>'
    return (
        f'{how}<p class="line" role="status">{"Test: " if brief else ""}{_capital(test.name)} <b>{amount(now)}</b> '
        f"(right: {amount(test.right)}). <b>{said}</b></p>"
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def growth_legend(made: bool) -> str:
    """Which line is which where the cost is drawn.

    Parameters
    ----------
    made : bool
        Whether the guess is drawn too.

    Returns
    -------
    str
        HTML, one line.

    Examples
    --------
    >>> "guessed" in growth_legend(True), "guessed" in growth_legend(False)
    (True, False)
    """
    guess = f'<span class="unscaled">╌╌ {GUESS}</span> &nbsp; ' if made else ""
    return f'<p class="quiet">{guess}<span class="scaled">── {TRUE}</span></p>'


def worked_cell(side: Side, keys: Axis, query: int, key: int, columns: bool) -> str:
    """The arithmetic of the picked cell, or of the first feature of the picked row.

    Parameters
    ----------
    side : Side
        From `core.common_mistakes.make`.
    keys : Axis
        The words, as keys.
    query, key : int
        What is picked.
    columns : bool
        Whether the softmax runs over the queries.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import numpy as np
    >>> "0.500" in worked_cell(Side(np.full((1, 2), 0.5), "query", "key", logits=np.zeros((1, 2))),
    ...     word_axis("key", ("a", "b")), 0, 0, False)
    True
    """
    if side.rows == "tokens":
        (operations, weights), n = side.values[-1], NAMES["tokens"][-1]
        return f'<p class="line">{n} tokens: {operations:,.0f} operations, {weights:,.0f} bytes of weights.</p>'
    if side.operands is not None:
        if side.rows == "word":
            first, second = (float(operand[0]) for operand in side.operands)
            names = ("output of the shuffled sentence", "old row moved along", "feature 0")
            return worked.subtraction(names, (first, second))
        return worked.products(worked.WIDTH, (worked.X, worked.W), side.operands, "feature 0 of q")
    assert side.logits is not None
    if side.columns == "sentence":
        return worked.softmax_row(NAMES["sentence"], side.logits[0], side.values[0], 0)
    if columns:
        return worked.softmax_row(keys.names, side.logits[:, key], side.values[:, key], query)
    return worked.softmax_row(keys.names, side.logits[query], side.values[query], key)


def shown(mistake: Mistake, query: int) -> str:
    """What the two matrices hold.

    Parameters
    ----------
    mistake : str
        Which.
    query : int
        The position that is looked at.

    Returns
    -------
    str
        A phrase; empty for the weights of the head.

    Examples
    --------
    >>> shown("transposed weights", 0)
    'q of the head'
    """
    return {
        "no positions": "output of the shuffled sentence, less the old rows moved along",
        "batch first": f"weights at position {query} of all sentences, and of all positions in your sentence",
        "transposed weights": "q of the head",
    }.get(mistake, "")


def introduction(told: Told, mistake: Mistake, made: bool, query: int, brief: bool = False) -> str:
    """What the mistake is, the line that runs, and the line that is right.

    Parameters
    ----------
    told : Told
        Of the mistake.
    mistake : str
        Which.
    made : bool
        Whether what runs has the mistake.
    query : int
        The position that is looked at.
    brief : bool
        One sentence only, for a slide.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> introduction(TOLD["softmax axis"], "softmax axis", True, 0).count("axis=-2")
    1
    """
    lines = (("as it runs", told.wrong if made else told.right, made), ("done right", told.right, False))
    code = "".join(
        f'<p class="code {"wrong" if wrong else "right"}"><span class="label">{label}</span>'
        f"{html.escape(line, quote=False)}</p>"
        for label, line, wrong in lines
    )
    what = shown(mistake, query)
    about = (
        f"{told.about.partition('. ')[0].rstrip('.')}."
        if brief
        else f"{told.about}{f' Shown: {what}.' if what else ''}"
    )
    return f'<p class="line">{about}</p><div class="codes">{code}</div>'


def batch_shapes(n: int) -> str:
    """Shapes of both ways to take a batch of three sentences.

    Parameters
    ----------
    n : int
        Words of each.

    Returns
    -------
    str
        HTML table.

    Examples
    --------
    >>> "5 × 3 × 3" in batch_shapes(5)
    True
    """
    rows = [["weights of a head", f"{n} × 3 × 3", f"3 × {n} × {n}"], ["output", f"3 × {n} × d", f"3 × {n} × d"]]
    return worked.table(["shape", "across the batch", "within the sentences"], rows).replace(
        'class="worked"', 'class="worked symptom words"'
    )


def why_rows(comparison: Comparison) -> str:
    """What the rows of the wrong weights sum to.

    Parameters
    ----------
    comparison : Comparison
        From `core.common_mistakes.make`.

    Returns
    -------
    str
        A sentence or two, our own words.

    Examples
    --------
    >>> from core.common_mistakes import make
    >>> "all 2 rows" in why_rows(make("no scale", ("a", "b")))
    True
    """
    sums = comparison.weights[0].sum(axis=-1).ravel()
    if comparison.rows_sum_to_one:
        return (
            f"The sums of all {sums.size} rows are 1 up to rounding. A test of row sums lets this mistake pass, "
            "however wrong its numbers are."
        )
    return f"They run from {amount(float(sums.min()))} to {amount(float(sums.max()))}: summing the rows finds this one."


def caught(mistakes: Sequence[str]) -> str:
    """Which mistakes a test of row sums finds.

    Parameters
    ----------
    mistakes : sequence of str
        Their names.

    Returns
    -------
    str
        A sentence, our own words.

    Examples
    --------
    >>> caught(["softmax axis"])
    'It finds only: softmax axis. For the others a relation is needed that their numbers break.'
    """
    if not mistakes:
        return "With this sentence it finds none of them."
    return f"It finds only: {', '.join(mistakes)}. For the others a relation is needed that their numbers break."


def unseen(mistake: Mistake, comparison: Comparison, words: Sequence[str], d_head: int, n_heads: int) -> str:
    """Why a mistake cannot be seen, or not all of it, with these settings.

    Parameters
    ----------
    mistake : str
        Which.
    comparison : Comparison
        What came of it.
    words : sequence of str
        The sentence.
    d_head, n_heads : int
        The sidebar's.

    Returns
    -------
    str
        One or two sentences, our own words; empty where all of it can be seen.

    Examples
    --------
    >>> from core.common_mistakes import make
    >>> unseen("softmax axis", make("softmax axis", ("a",)), ("a",), 4, 2)
    'One word: a single row is a single column too, so both axes give 1.'
    """
    n, alike = len(words), len(set(words)) == 1
    same = comparison.largest_difference <= TOLERANCE
    if mistake == "no scale":
        return _unseen_scale(comparison, n, alike, d_head)
    if mistake == "no causal mask":
        return _unseen_leak(comparison, n, alike)
    if mistake == "no positions" and (n == 1 or alike):
        which = "One word has" if n == 1 else "Equal words have"
        return f"{which} no second order that reads differently: there is nothing to lose here."
    if mistake == "batch first" and comparison.measures[0].wrong <= TOLERANCE:
        return (
            "At each position all sentences of this batch hold the same word, so the output is right by luck; its "
            "weights still compare sentences, and the test still finds it."
        )
    if mistake == "softmax axis" and n == 1:
        return "One word: a single row is a single column too, so both axes give 1."
    if mistake == "split heads" and same and (n_heads == 1 or n == 1):
        if n_heads == 1:
            return "One head gets everything however it is cut: add heads."
        return "One word: there is no other word whose numbers a head could get."
    if mistake == "transposed weights" and same:
        return "With d_model = 1 every W is a single number, which is its own transpose: add heads or raise d."
    return ""


def _unseen_scale(comparison: Comparison, n: int, alike: bool, d_head: int) -> str:
    if d_head == 1:
        return "With d = 1 the divisor is √1 = 1: there is nothing to leave out. Raise d."
    if n == 1:
        return "One word has one key, and the softmax of a single score is 1 whatever it is divided by."
    if alike:
        return "All words are equal, so all scores of a row are, and any divisor gives equal shares."
    largest, spread, _, at_64, *_ = comparison.measures
    if spread.wrong > 0.5 * spread.right:
        return (
            f"At d = {d_head} the symptom is small: largest weight {largest.wrong:.2f} on average, not "
            f"{largest.right:.2f}. At d = 64 it is {at_64.wrong:.2f}, not {at_64.right:.2f}: raise d."
        )
    return ""


def _unseen_leak(comparison: Comparison, n: int, alike: bool) -> str:
    if n == 1:
        return "One word has no next word to name, and nothing stands after it that could leak."
    if alike:
        return "All words are equal, so whatever is named as the next word is right; only the test sees the leak."
    _, training, generating = comparison.measures
    few = "Two words have one next word to name: too short to judge by. " if n == 2 else ""
    if generating.wrong >= training.wrong:
        return few + "Here generating goes as well as training by luck; the leak is there, and the test finds it."
    if training.right < 1:
        return few + (
            "Even with the mask the read-out does not keep all rows apart: one head of this size has too little room. "
            "What counts is that training and generating agree."
        )
    return few


def recited(comparison: Comparison, words: Sequence[str], made: bool) -> str:
    """The sentence, and what both generators make of its first word.

    Parameters
    ----------
    comparison : Comparison
        Of the missing causal mask.
    words : sequence of str
        The sentence.
    made : bool
        Whether the generator that runs has the mistake.

    Returns
    -------
    str
        HTML; words in the wrong place are struck out.

    Examples
    --------
    >>> from core.common_mistakes import make
    >>> recited(make("no causal mask", ("a", "b")), ("a", "b"), True).count("<bdi")
    6
    """
    assert comparison.recital is not None
    wrong, right = comparison.recital
    lines = [("sentence", list(words))]
    for label, recital in (("as it runs", wrong if made else right), ("done right", right)):
        lines.append((label, [words[0], *(recital.vocabulary[number] for number in recital.recited)]))
    said = "".join(
        f'<p class="line"><span class="label">{label}</span> '
        + " ".join(
            literal(word) if word == true else f"<s>{literal(word)}</s>"
            for word, true in zip(named, words, strict=True)
        )
        + "</p>"
        for label, named in lines
    )
    return f'<div class="lines" tabindex="0" role="group" aria-label="what is recited">{said}</div>'


def rules_table(query: str, outcomes: Sequence[Outcome], n: int, brief: bool = False) -> str:
    """What four rules give a query without any allowed key.

    Parameters
    ----------
    query : str
        Name of its position; a reader's word.
    outcomes : sequence of Outcome
        From `core.missing_key.by_every_rule`.
    n : int
        Words.
    brief : bool
        Two columns, for a slide.

    Returns
    -------
    str
        HTML table; NaN stands there as a word, for what is not a number.

    Examples
    --------
    >>> import numpy as np
    >>> "NaN" in rules_table("0 a", [Outcome("plain softmax", np.array([np.nan]), 1)], 1)
    True
    """

    def row_of(weights: Floats) -> str:
        first = float(weights[0])
        if math.isnan(first):
            return "NaN: not a number"
        return "zeros" if first == 0 else f"{number_text(first, 3)} each"

    cells = [
        [*RULES_TOLD[outcome.rule], row_of(outcome.weights), f"{outcome.rows_lost} of {n}"] for outcome in outcomes
    ]
    header = ["a masked score becomes", "who does so", f"weights of {literal(query)}", "rows lost one layer on"]
    if brief:
        header, cells = header[1:3], [cell[1:3] for cell in cells]
    return worked.table(header, cells).replace('class="worked"', 'class="worked symptom words"')


RULES_TOLD: dict[Rule, tuple[str, str]] = {
    "zeros": ("−∞; 0 without any key", "this project; PyTorch’s scaled_dot_product_attention"),
    "plain softmax": ("−∞", "PyTorch’s softmax; nn.MultiheadAttention with its weights"),
    "replaced": ("a large negative number", "jax.nn.dot_product_attention, Flax, Keras’ Softmax with a mask"),
    "added": ("itself plus the lowest float32", "Hugging Face Transformers, eager attention"),
}
"""What each rule of `core.missing_key` does, and who follows it, as read in their sources."""

POLARITIES = worked.table(
    ["mask", "True means"],
    [
        ["scaled_dot_product_attention, attn_mask", "may attend"],
        ["nn.MultiheadAttention, attn_mask", "may not attend"],
        ["nn.MultiheadAttention, key_padding_mask", "may not: padding"],
        ["this project, may_attend", "may attend"],
    ],
).replace('class="worked"', 'class="worked symptom words"')
"""Which way round PyTorch's masks are."""
