"""One head's computation as a derivation: its matrices, what each step lights up, and the arithmetic of one cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from core.attention import SelfAttention
from core.softmax import Floats
from ui import controls, matrices, steps, view, worked
from ui.charts.heat_map import PICTURE_ABOVE, Axis, Panel, position_axis, symmetric_limit, word_axis
from ui.colours import KEY, NEUTRAL, QUERY, VALUE, Hue
from ui.matrices import Follow, Matrix, Picked

PROJECTIONS = ("Q", "K", "V")
MADE_IN = {"scores": "score", "scaled": "scale", "weights": "softmax", "output": "mix"}
"""The matrices that are compared side by side, each with the step that makes it."""

_HUES: Mapping[str, Hue] = {
    "Q": QUERY,
    "K": KEY,
    "V": VALUE,
    "W_q": QUERY,
    "W_k": KEY,
    "W_v": VALUE,
    "output": VALUE,
}
_FOLLOWS = {
    **{
        name: Follow("key" if name != "Q" else "query", "feature", {"step": "project", "of": name})
        for name in PROJECTIONS
    },
    "scores": Follow("query", "key", {"step": "score"}),
    "scaled": Follow("query", "key", {"step": "scale"}),
    "weights": Follow("query", "key", {"step": "softmax"}),
    "output": Follow("query", "feature", {"step": "mix"}),
}

EXPLAINED = {
    "project": (
        r"q = x\,W_q \qquad k = x\,W_k \qquad v = x\,W_v",
        "Each word's embedding is turned into a query, a key and a value: one row of X times one column of a learned "
        "matrix gives one number. The same matrices serve every word.",
    ),
    "score": (
        r"\text{score} = q \cdot k",
        "A query is compared with a key, feature by feature: products, then their sum. A large score means that the "
        "two point the same way.",
    ),
    "scale": (
        r"\text{scaled score} = \frac{q \cdot k}{\sqrt{d}}",
        "A sum of d products spreads like √d. The division takes that growth out again, so that the softmax does not "
        "depend on how long a key is.",
    ),
    "softmax": (
        r"\text{weight}_j = \frac{e^{s_j}}{\sum_i e^{s_i}}",
        "Each score of the row becomes positive and is divided by the row's sum: shares of one whole. The largest "
        "score is subtracted first, which changes nothing and keeps the exponentials small.",
    ),
    "mix": (
        r"\text{output} = \sum_j \text{weight}_j \, v_j",
        "The output of a word is a mixture of all values, each taken by its weight: one row of weights times one "
        "column of V.",
    ),
}
"""Formula and explanation of each step."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What the reader picked: a query, a key and a feature make one cell in every matrix."""

    query: int
    key: int
    feature: int
    of: str = "Q"
    """Which projection is worked out."""

    @property
    def projected(self) -> int:
        """The word whose projection is worked out."""
        return self.query if self.of == "Q" else self.key


@dataclass(frozen=True, slots=True)
class Derivation:
    """One head's run on a sentence, ready to be shown step by step."""

    words: tuple[str, ...]
    x: Floats
    w: Mapping[str, Floats]
    """w_q, w_k, w_v by the letter of what they make."""
    run: SelfAttention
    cell: Cell
    step: str
    matrices: dict[str, Matrix] = field(init=False)

    def __post_init__(self) -> None:
        """Name every matrix, its axes and what is lit up in it."""
        n, d = self.run.q.shape
        queries, keys = word_axis("query", self.words), word_axis("key", self.words)
        features, inputs = position_axis("feature", d, "d"), position_axis("input feature", self.x.shape[1], "d_model")
        attention = self.run.attention
        decimals = 2 if max(n, d) <= 5 else 1  # as many as fit into the narrower cells of more words or features
        signed = symmetric_limit(attention.scores, attention.scaled_scores)
        lit = self._lit()
        made: dict[str, Matrix] = {}

        def add(
            name: str, values: Floats, rows: Axis, columns: Axis, limit: float, title: str = "", **rest: object
        ) -> None:
            rest = {"decimals": decimals} | rest
            made[name] = Matrix(title or name, values, rows, columns, limit=limit, picked=lit.get(name, ()), **rest)  # type: ignore[arg-type]

        add("X", self.x, word_axis("word", self.words), inputs, symmetric_limit(self.x), decimals=None)
        for name, values, rows in (("Q", self.run.q, queries), ("K", self.run.k, keys), ("V", self.run.v, keys)):
            w = self.w[name]
            add(f"W_{name.lower()}", w, inputs, features, symmetric_limit(w), decimals=None)
            add(name, values, rows, features, symmetric_limit(values))
        add("scores", attention.scores, queries, keys, signed, "scores Q Kᵀ", turned="scores K Qᵀ")
        title = f"scaled ÷ √{d}"
        add("scaled", attention.scaled_scores, queries, keys, signed, title, turned=f"scaledᵀ ÷ √{d}")
        turned = "weightsᵀ: softmax"
        add(
            "weights",
            attention.weights,
            queries,
            keys,
            1,
            "weights: softmax",
            turned=turned,
            ramp="weights",
            decimals=2,
        )
        add("output", attention.output, queries, features, symmetric_limit(attention.output))
        object.__setattr__(self, "matrices", made)

    def _lit(self) -> dict[str, Picked]:
        """What a step makes, of what: the cell itself, its row or its column in every matrix that has a part in it."""
        query, key, feature = self.cell.query, self.cell.key, self.cell.feature
        row, of = self.cell.projected, self.cell.of
        lit: dict[str, dict[str, Picked]] = {
            "overview": {
                "X": [(query, None), (key, None)],
                "Q": [(query, None)],
                "K": [(key, None)],
                "V": [(None, feature)],
                "scores": [(query, key)],
                "scaled": [(query, key)],
                "weights": [(query, key)],
                "output": [(query, feature)],
            },
            "project": {"X": [(row, None)], f"W_{of.lower()}": [(None, feature)], of: [(row, feature)]},
            "score": {"Q": [(query, None)], "K": [(key, None)], "scores": [(query, key)]},
            "scale": {"scores": [(query, key)], "scaled": [(query, key)]},
            "softmax": {"scaled": [(query, None)], "weights": [(query, key)]},
            "mix": {"weights": [(query, None)], "V": [(None, feature)], "output": [(query, feature)]},
        }
        return lit.get(self.step, {})

    def show(self) -> None:
        """All of the computation with the step's detail below it; on a slide what the step needs, and no more."""
        if not view.now().presenting:
            self._projections()
            self._side_by_side(tuple(MADE_IN), with_arithmetic=self.step == "overview")
        elif self.step == "overview":
            self._side_by_side(tuple(MADE_IN))
        elif lit := self._lit():  # none on the slide with the questions
            self._side_by_side(tuple(lit))
        if self.step in EXPLAINED:
            self._detail()

    def _projections(self) -> None:
        """X, then each weight matrix beside what it makes."""
        (n, d), d_model = self.run.q.shape, self.x.shape[1]
        # Width and height of a cell; numbers need 27 pixels, and the whole strip fits a laptop's window either way.
        x_cell, w_cell, made_cell = (88 / d_model, 150 / n), (36 / d, 112 / d_model), (108 / d, 150 / n)
        if view.turned():
            x_cell, w_cell, made_cell = (88 / d_model, 70 / n), (56 / d, 64 / d_model), (100 / d, 135 / n)

        def panel(cell: tuple[float, float], hue: Hue = NEUTRAL, row_labels: bool = False) -> Panel:
            width, height = min(27.0, cell[0]), min(27.0, cell[1])
            return Panel(hue=hue, width=width, height=height, row_labels=row_labels, column_labels=False)

        with st.container(horizontal=True, gap="small"):
            own = panel(x_cell, row_labels=not view.turned())
            matrices.show_joined([(self.matrices["X"], own)], key="x", alt="Embeddings X", picture_width=80)
            for name in PROJECTIONS:
                w, made = self.matrices[f"W_{name.lower()}"], self.matrices[name]
                pair = [(w, panel(w_cell, _HUES[name])), (made, panel(made_cell, _HUES[name]))]
                alt = f"{w.title} and the product X {w.name} = {made.title}"
                matrices.show_joined(pair, key=f"project_{name.lower()}", alt=alt, follow=_FOLLOWS[name])

    def _side_by_side(self, names: Sequence[str], with_arithmetic: bool = False) -> None:
        """One column a matrix, the picture above, the chosen cell's arithmetic below."""
        slide = view.now().presenting
        shares = {"weights": 1.3 if slide else 1.7, "output": 1.1}
        for place, name in zip(st.columns([shares.get(name, 1.0) for name in names]), names, strict=True):
            matrix, main = self.matrices[name], name == "weights"
            if slide:
                tallest, room = (30.0, 200) if self.step == "overview" else (22.0, 112)
            else:
                tallest, room = 31.0, 320 if main else 190
            panel = Panel(
                hue=_HUES.get(name, NEUTRAL),
                height=min(tallest, room / matrix.values.shape[0]),
                row_labels=main or (slide and self.step != "overview"),
                column_labels=main and self.step == "overview",  # elsewhere the detail needs the room
            )
            with place:
                matrices.show(
                    matrix,
                    panel,
                    key=name,
                    alt=self._alt(name),
                    follow=_FOLLOWS.get(name),
                    sums=main,
                    most=matrices.INTERACTIVE_UP_TO if main else PICTURE_ABOVE,
                )
                if with_arithmetic:
                    st.html(self.arithmetic(MADE_IN[name]))

    def _alt(self, name: str) -> str:
        matrix, cell = self.matrices[name], self.cell
        said = {
            "scores": "Scores, query times key",
            "scaled": "Scaled scores",
            "weights": "Attention weights; the chosen cell is",
            "output": "Output, the values mixed by the weights",
        }.get(name, matrix.title)
        return f"{said} {matrix.values[cell.query, cell.key]:.2f}" if name == "weights" else said

    def _detail(self) -> None:
        """The step's formula and why, beside the arithmetic of the chosen cell."""
        below = steps.detail(*EXPLAINED[self.step], self.arithmetic(self.step))
        if self.step == "project":
            with below:
                controls.choice("Work out a cell of", PROJECTIONS, "of", PROJECTIONS[0], label_visibility="collapsed")

    def arithmetic(self, step: str) -> str:
        """One cell of what a step makes, from its own operands.

        Parameters
        ----------
        step : str
            One of those that make something.

        Returns
        -------
        str
            HTML.
        """
        run, attention, cell = self.run, self.run.attention, self.cell
        query, key, feature = cell.query, cell.key, cell.feature
        names = self.matrices["weights"].columns.names
        if step == "project":
            operands = self.x[cell.projected], self.w[cell.of][:, feature]
            result = f"{cell.of.lower()}<sub>{feature}</sub>"
            return worked.products(worked.WIDTH, (worked.X, worked.W), operands, result)
        if step == "score":
            return worked.products(worked.FEATURE, (worked.Q, worked.K), (run.q[query], run.k[key]), "score")
        if step == "scale":
            return worked.scaled(attention.scores[query, key], attention.scaled_scores[query, key], run.q.shape[1])
        if step == "softmax":
            return worked.softmax_row(names, attention.scaled_scores[query], attention.weights[query], key)
        return worked.mixture(names, attention.weights[query], run.v[:, feature], key)
