"""One word's way through an encoder block: every intermediate, what each is made of, and one cell of it worked out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from core.encoder_block import BlockParameters, EncoderBlock, NormPosition
from core.feed_forward import ActivationName
from core.layer_norm import EPSILON
from core.softmax import Floats
from ui import controls, draw, matrices, steps, view, worked
from ui.charts.block import PICK, block_chart, block_table
from ui.charts.heat_map import Panel, number_text, position_axis, symmetric_limit, word_axis
from ui.colours import NEUTRAL, VALUE, WIDTH, Hue
from ui.matrices import Follow, Matrix
from ui.pages import BLOCK_STEPS

ORDERS: Mapping[NormPosition, tuple[str, ...]] = {
    "pre": BLOCK_STEPS,
    "post": ("attention", "add 1", "norm 1", "expand", "bend", "contract", "add 2", "norm 2"),
}
"""The steps in the order of the computation."""

MADE = {
    "norm 1": "norm 1",
    "attention": "attention",
    "add 1": "sum 1",
    "norm 2": "norm 2",
    "expand": "hidden",
    "bend": "activated",
    "contract": "feed-forward",
    "add 2": "sum 2",
}
"""What each step makes."""

EXPLAINED = {
    "norm": (
        r"\frac{x - \text{mean}}{\sqrt{\text{variance} + \varepsilon}} \cdot \text{gain} + \text{shift}",
        "Layer norm looks at one word alone: its numbers are brought to mean 0 and variance 1, then scaled and shifted "
        "by what was learned. Whatever came before, the next part reads numbers of the same size.",
    ),
    "attention": (
        r"\text{attention} = \text{joined heads} \; W_o + b_o",
        "The only place where words meet. Every head has mixed its values; the outputs of all heads stand side by side "
        "and W_o mixes them.",
    ),
    "add": (
        r"x + \text{what was computed}",
        "The skip connection: a part does not replace a word's vector, it adds to it. What went in is still in there, "
        "and so is a straight way for the gradient.",
    ),
    "expand": (
        r"h = x\,W_1 + b_1",
        "Each word alone again: a wider vector, every number of it a weighted sum of all the word's features.",
    ),
    "bend": (
        r"\text{GELU}(h) = h\,\Phi(h) \qquad \text{ReLU}(h) = \max(0, h)",
        "Without a bend two dense layers would be one. Large positive numbers pass, negative ones are held back.",
    ),
    "contract": (r"\text{activated} \; W_2 + b_2", "Back to the width of an embedding, so that it can be added."),
}
"""Formula and explanation of each kind of step."""

_HUES: Mapping[str, Hue] = {"joined": VALUE, "attention": VALUE}


@dataclass(frozen=True, slots=True)
class Cell:
    """What the reader picked: a word with one of its features, and one unit of the wider layer."""

    word: int
    feature: int
    unit: int


@dataclass(frozen=True, slots=True)
class BlockWalk:
    """A block's run on a sentence, ready to be shown step by step."""

    words: tuple[str, ...]
    x: Floats
    parameters: BlockParameters
    block: EncoderBlock
    norm_position: NormPosition
    activation: ActivationName
    cell: Cell
    step: str
    stages: dict[str, Matrix] = field(init=False)
    """Every intermediate by name, in the order of the computation."""

    def __post_init__(self) -> None:
        """Name every intermediate, its axes and what is lit up in it."""
        block, parameters = self.block, self.parameters
        words = word_axis("word", self.words)
        features = position_axis("feature", self.x.shape[1], "d_model")
        units = position_axis("unit", parameters.w_1.shape[1], "d_ff")
        sum_1 = self.x + block.attention_output
        before_ff = block.after_attention
        sum_2 = before_ff + block.feed_forward_output
        values = {
            "X": self.x,
            "joined": block.joined,
            "attention": block.attention_output,
            "sum 1": sum_1,
            "hidden": block.hidden,
            "activated": block.activated,
            "feed-forward": block.feed_forward_output,
            "sum 2": sum_2,
        }
        if self.norm_position == "pre":
            values |= {"norm 1": block.attention_input, "norm 2": block.feed_forward_input}
        else:
            values |= {"norm 1": block.after_attention, "norm 2": block.output}
        lit = self._lit()
        decimals = 2 if self.x.shape[1] <= 5 else 1
        stages = {}
        for name in self.order():
            made = values[name]
            columns = units if name in ("hidden", "activated") else features
            picked = [(self.cell.word, lit[name])] if name in lit else ()
            stages[name] = Matrix(
                name, made, words, columns, limit=symmetric_limit(made), picked=picked, decimals=decimals
            )
        object.__setattr__(self, "stages", stages)

    def order(self) -> list[str]:
        """Names of all intermediates in the order of the computation."""
        names = ["X"]
        for step in ORDERS[self.norm_position]:
            names += ["joined", "attention"] if step == "attention" else [MADE[step]]
        return names

    def operands(self, step: str) -> list[str]:
        """Names of what a step reads."""
        if step.startswith("add"):
            skipped, added = ("X", "attention") if step == "add 1" else (self._skipped(), "feed-forward")
            return [skipped, added]
        return {
            "norm 1": ["X" if self.norm_position == "pre" else "sum 1"],
            "attention": ["joined"],
            "norm 2": ["sum 1" if self.norm_position == "pre" else "sum 2"],
            "expand": ["norm 2" if self.norm_position == "pre" else "norm 1"],
            "bend": ["hidden"],
            "contract": ["activated"],
        }[step]

    def _skipped(self) -> str:
        """What goes around the feed-forward part."""
        return "sum 1" if self.norm_position == "pre" else "norm 1"

    def _lit(self) -> dict[str, int | None]:
        """Column to outline in the picked word's row; None for the whole row."""
        cell, step = self.cell, self.step
        if step not in MADE:
            return {}
        column = cell.unit if MADE[step] in ("hidden", "activated") else cell.feature
        read: int | None = None if step in ("norm 1", "norm 2", "attention", "expand", "contract") else column
        lit: dict[str, int | None] = dict.fromkeys(self.operands(step), read)
        return lit | {MADE[step]: column}

    def show(self) -> None:
        """All intermediates with the step's detail below; on a slide what the step reads and makes, and no more."""
        with steps.section(steps.PAGE_ONLY):
            self._parts()
        if view.now().presenting:
            if self.step not in MADE:
                return
            rows = [[*self.operands(self.step), MADE[self.step]]]
        else:
            names = self.order()
            rows = [names[:5], names[5:]]
        for names in rows:
            shares = [1.0 if view.turned() else 1.3, *[1.0] * (len(names) - 1)]  # the first one also holds the words
            for place, name in zip(st.columns(shares, gap="xsmall"), names, strict=True):
                with place:
                    self._picture(name, row_labels=name == names[0])
        if self.step in MADE:
            steps.detail(*EXPLAINED[self.step.rstrip(" 12")], self.arithmetic())

    def _parts(self) -> None:
        """The block as a picture, whose parts lead to their steps."""
        order = ORDERS[self.norm_position]
        parts = ("X", *order)
        made = [self.stages[name].values[self.cell.word] for name in ("X", *(MADE[step] for step in order))]
        lengths = [float(np.linalg.norm(vector)) for vector in made]
        around = {"X": "add 1", ("add 1" if self.norm_position == "pre" else "norm 1"): "add 2"}

        def go() -> None:
            picked = st.session_state["block_parts"]["selection"].get(PICK, [])
            if picked and picked[0]["part"] in MADE:
                controls.take({controls.STEP: picked[0]["part"]})

        lasting = ", ".join(f"{part} {number_text(length)}" for part, length in zip(parts, lengths, strict=True))
        draw.chart(
            block_table(parts, lengths, around, self.step),
            block_chart(len(parts)),
            name="parts of the block",
            key="block_parts",
            alt=f"Parts of the block with the length of the picked word's vector behind each: {lasting}; "
            + " and ".join(f"a skip connection from {start} to {end}" for start, end in around.items()),
            on_pick=go,
            picks=PICK,
        )

    def _picture(self, name: str, row_labels: bool) -> None:
        matrix = self.stages[name]
        step = next((step for step, made in MADE.items() if made == name), "attention" if name == "joined" else "")
        column = "unit" if name in ("hidden", "activated") else "entry"
        panel = Panel(
            hue=_HUES.get(name, WIDTH if name == "X" else NEUTRAL),
            height=min(26.0, 140 / len(self.words)),
            row_labels=row_labels,
            column_labels=False,
        )
        follow = Follow("word", column, {"step": step} if step else {})
        matrices.show(matrix, panel, key=f"stage_{name.replace(' ', '_')}", alt=f"{name} of every word", follow=follow)

    def arithmetic(self) -> str:
        """The picked cell of what the step makes, from its own operands.

        Returns
        -------
        str
            HTML.
        """
        cell, step, p = self.cell, self.step, self.parameters
        word, feature, unit = cell.word, cell.feature, cell.unit
        read = [self.stages[name].values[word] for name in self.operands(step)]
        if step in ("norm 1", "norm 2"):
            gain, shift = (p.norm_1_gain, p.norm_1_shift) if step == "norm 1" else (p.norm_2_gain, p.norm_2_shift)
            return worked.normed(
                read[0], feature, float(gain[feature]), 0.0 if shift is None else float(shift[feature]), EPSILON
            )
        if step.startswith("add"):
            skipped, added = self.operands(step)
            return worked.addition((skipped, added, MADE[step]), (float(read[0][feature]), float(read[1][feature])))
        if step == "bend":
            before, after = float(read[0][unit]), float(self.block.activated[word, unit])
            return worked.bent(before, self.activation, after)
        w, b, column, said = {
            "attention": (p.w_o, p.b_o, feature, "joined"),
            "expand": (p.w_1, p.b_1, unit, "x"),
            "contract": (p.w_2, p.b_2, feature, "activated"),
        }[step]
        bias = None if b is None else float(b[column])
        counted = "unit" if step == "contract" else worked.WIDTH
        return worked.products(counted, (said, "w"), (read[0], w[:, column]), MADE[step], bias=bias)
