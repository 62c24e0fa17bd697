"""The way to the answer of an exercise, worked out with its own numbers; exercises to HTML, without Streamlit."""

import html
from collections.abc import Callable, Sequence

import numpy as np

from core.parameter_count import encoder_block_parameters
from core.practice.exercise import Exercise
from core.softmax import Floats
from ui import worked
from ui.charts.heat_map import number_text
from ui.worked import FEATURE, KEY, K, Q, three


def way(exercise: Exercise) -> str:
    """The worked solution.

    Parameters
    ----------
    exercise : Exercise
        Of any kind.

    Returns
    -------
    str
        HTML: the answer, then how it comes about.

    Examples
    --------
    >>> from core.practice.kinds import draw
    >>> way(draw("score", 0, 1)).count("<tr")
    6
    """
    return answer(exercise) + _WAYS[exercise.kind](exercise)


def answer(exercise: Exercise) -> str:
    """The right answer, written as it is asked for.

    Parameters
    ----------
    exercise : Exercise
        Of any kind.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> from core.practice.kinds import draw
    >>> answer(draw("softmax", 0, 1)).count(" · ")
    2
    """
    if exercise.form == "choice":
        return _answer(f"<b>{html.escape(exercise.options[int(exercise.answer[0, 0])])}</b>")
    if exercise.form == "cells":
        lines = [
            f"{name}: <b>{', '.join(np.array(exercise.columns)[row > 0]) or 'none'}</b>"
            for name, row in zip(exercise.rows, exercise.answer, strict=True)
        ]
        return _answer(" · ".join(lines))
    said = []
    for name, row in zip(exercise.rows, exercise.answer, strict=True):
        numbers = ", ".join(_written(value, exercise.decimals) for value in row)
        said.append(f"{name}: <b>{numbers}</b>" if name else f"<b>{numbers.replace(', ', ' · ')}</b>")
    return _answer(" · ".join(said))


def _answer(said: str) -> str:
    return _line(f"Answer: {said}")


def _written(value: float, decimals: int) -> str:
    return number_text(float(value), decimals) if decimals else f"{round(value):,}".replace("-", "−")


def _line(said: str) -> str:
    return f'<p class="line">{said}</p>'


def _values(exercise: Exercise, name: str) -> Floats:
    """Numbers of an operand."""
    return next(operand.values for operand in exercise.operands if operand.name == name)


def _plain(values: Sequence[float] | Floats, decimals: int = 0) -> list[str]:
    return [number_text(float(value), decimals) for value in values]


def _reading(exercise: Exercise) -> str:
    query, key = exercise.given["query"], exercise.given["key"]
    row = _values(exercise, "weights")[query]
    return _line(
        f"Row {query} holds what position {query} takes from each position: {', '.join(_plain(row, 2))}. At key {key} "
        f"stands {row[key]:.2f}; the largest stands at key {int(row.argmax())}."
    )


def _projection(exercise: Exercise) -> str:
    x, w = _values(exercise, "x")[0], _values(exercise, "W_q")
    header = [worked.WIDTH, "x", *(f"x × column {column}" for column in range(w.shape[1]))]
    rows = [[str(i), *_plain([x[i]]), *_plain(x[i] * w[i])] for i in range(x.size)]
    return worked.table(header, rows, ["q", "", *_plain(x @ w)])


def _score(exercise: Exercise) -> str:
    q, k = _values(exercise, "Q")[exercise.given["query"]], _values(exercise, "K")[exercise.given["key"]]
    return worked.products(FEATURE, (Q, K), (q, k), "score")


def _scaling(exercise: Exercise) -> str:
    d, scores = exercise.given["d"], _values(exercise, "scores")[0]
    rows = [
        [name, *_plain([score]), three(score / np.sqrt(d))]
        for name, score in zip(exercise.columns, scores, strict=True)
    ]
    return worked.table([KEY, "score", f"÷ √{d} = ÷ {three(np.sqrt(d))}"], rows)


def _softmax(exercise: Exercise) -> str:
    row = _values(exercise, "scaled scores")[exercise.given["query"]]
    return _shares(exercise.columns, row)


def _shares(names: Sequence[str], scaled: Floats) -> str:
    """Exponentials and their shares, as one works them out by hand: without subtracting the largest first."""
    exponentials = np.exp(scaled)
    total = exponentials.sum()
    rows = [
        [name, three(score), three(one), three(one / total)]
        for name, score, one in zip(names, scaled, exponentials, strict=True)
    ]
    return worked.table([KEY, "s", "e<sup>s</sup>", f"÷ {three(total)}"], rows, ["sum", "", three(total), "1.000"])


def _mixture(exercise: Exercise) -> str:
    weights, values = _values(exercise, "weights")[exercise.given["query"]], _values(exercise, "V")
    header = [KEY, "weight", *(f"× V, feature {column}" for column in range(values.shape[1]))]
    rows = [[str(key), *_plain([weights[key]], 1), *_plain(weights[key] * values[key], 1)] for key in range(3)]
    return worked.table(header, rows, ["output", "", *_plain(weights @ values, 1)])


def _mask(exercise: Exercise) -> str:
    n_query, n_key, padding = (exercise.given[name] for name in ("n_query", "n_key", "padding"))
    offset = n_key - n_query
    where = f"Query i stands at position {offset} + i" if offset else "Query i stands at position i"
    rest = f", but for key {padding}, which is padding" if padding >= 0 else ""
    return _line(f"{where} and may look at all keys up to that position{rest}.")


def _causal_rows(exercise: Exercise) -> str:
    last = _values(exercise, "scaled scores")[-1]
    first = "Query 0 may look at itself only: all other scores become −∞, e<sup>−∞</sup> = 0, and its weight is 1. "
    return _line(f"{first}The last query sees every key: a plain softmax.") + _shares(exercise.columns, last)


def _weights(exercise: Exercise) -> str:
    query = exercise.given["query"]
    scores = _values(exercise, "K") @ _values(exercise, "Q")[query]
    seen = np.exp(scores[: query + 1] / 2)
    total = seen.sum()
    rows = []
    for key, score in enumerate(scores):
        if key > query:
            rows.append([f"key {key}", *_plain([score]), "−∞", "0", "0.000"])
        else:
            rows.append([f"key {key}", *_plain([score]), three(score / 2), three(seen[key]), three(seen[key] / total)])
    header = [KEY, f"{Q} · {K}", "÷ √4, masked", "e<sup>s</sup>", f"÷ {three(total)}"]
    return worked.table(header, rows, ["sum", "", "", three(total), "1.000"])


def _order(exercise: Exercise) -> str:
    order = _values(exercise, "new order")[0]
    rows = [[name, *_plain([place]), *_plain(row)] for name, place, row in zip(
        exercise.rows, order, exercise.answer, strict=True)]  # fmt: skip
    return worked.table(["new row", "word that stood at", "its output"], rows)


def _encoding(exercise: Exercise) -> str:
    position, d = exercise.given["position"], exercise.given["d_model"]
    rows = []
    for feature in range(d):
        pair = feature // 2
        angle = position / 10000.0 ** (2 * pair / d)
        power = f"{position} ÷ 10000<sup>{2 * pair}/{d}</sup> = {number_text(angle, 4)}"
        rows.append(
            [str(feature), str(pair), power, "cos" if feature % 2 else "sin", three(exercise.answer[0, feature])]
        )
    return worked.table(["feature", "pair i", "angle", "", "value"], rows)


def _head_split(exercise: Exercise) -> str:
    heads, head = exercise.given["n_heads"], exercise.given["head"]
    d_head = len(exercise.columns) // heads
    return _line(
        f"Each head has d_model ÷ heads = {len(exercise.columns)} ÷ {heads} = {d_head} features, side by side, of "
        f"every word. Head {head} begins at {head} × {d_head} = {head * d_head}."
    )


def _norm(exercise: Exercise) -> str:
    row = _values(exercise, "x")[exercise.given["word"]]
    mean, variance = row.mean(), row.var()
    said = (
        f"Mean {three(mean)}, variance {three(variance)}, standard deviation √{three(variance)} = {three(row.std())}."
    )
    rows = [
        [str(feature), *_plain([value]), three(value - mean), three((value - mean) / row.std())]
        for feature, value in enumerate(row)
    ]
    return _line(said) + worked.table(["feature", "x", "− mean", f"÷ {three(row.std())}"], rows)


def _parameters(exercise: Exercise) -> str:
    d_model, n_heads, d_ff = (exercise.given[name] for name in ("d_model", "n_heads", "d_ff"))
    table = encoder_block_parameters(d_model, n_heads, d_ff)
    formulas = {
        "attention": f"4 × ({d_model}² + {d_model})",
        "feed-forward": f"{d_model} × {d_ff} + {d_ff} + {d_ff} × {d_model} + {d_model}",
        "layer norm": f"2 × 2 × {d_model}",
    }
    rows = [[part, said, f"{table.part_total(part):,}"] for part, said in formulas.items()]  # type: ignore[arg-type]
    return worked.table(["part", "weights and biases", "count"], rows, ["block", "", f"{table.total:,}"])


def _doubling(exercise: Exercise) -> str:
    n, heads, d = (exercise.given[name] for name in ("n", "n_heads", "d"))
    rows = [
        [f"{length} words", f"{length}² × {heads} heads × {d}", f"{length * length * heads * d:,}"]
        for length in (n, 2 * n)
    ]
    return worked.table(["", "pairs × heads × d", "multiplications"], rows) + _line(
        "Twice the words: four times the work."
    )


def _choice(exercise: Exercise) -> str:
    return _line(html.escape(exercise.why))


_WAYS: dict[str, Callable[[Exercise], str]] = {
    "reading": _reading,
    "projection": _projection,
    "score": _score,
    "scaling": _scaling,
    "softmax": _softmax,
    "mixture": _mixture,
    "mask": _mask,
    "causal rows": _causal_rows,
    "weights": _weights,
    "order": _order,
    "encoding": _encoding,
    "head split": _head_split,
    "layer norm": _norm,
    "parameters": _parameters,
    "doubling": _doubling,
    "whose mask": _choice,
    "shapes": _choice,
    "which mistake": _choice,
}
