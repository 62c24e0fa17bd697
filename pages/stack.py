"""Stacked blocks: how the residual stream grows, where gradients arrive, and what each part of a block is good for."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare, nudged
from core.encoder_block import NormPosition
from core.examples import draw_stack
from core.feed_forward import ActivationName
from core.softmax import Floats
from core.stack import Parts, StackCurves, run_stack, stack_curves
from ui import controls, depth_words, draw, frame, questions, steps, torch_check, view
from ui.charts.depth import SERIES, depth_chart, depth_table
from ui.charts.heat_map import named_axis
from ui.pages import STACK_PARTS
from ui.shown import Matrix
from ui.take_home.figures import DEPTH_KEY

DEPTHS = tuple(range(1, 49))
WIDTHS, HEADS = (8, 16, 32, 64), (1, 2, 4, 8)
NAMED_WIDTHS, NAMED_HEADS = tuple(map(str, WIDTHS)), tuple(map(str, HEADS))
MATRICES = ("w_2", "w_o", "w_v", "w_q")
LOUD = 1e3
"""Length of a word's vector from which on equal words make gradients a matter of rounding, as measured."""
OUTCOMES = ("in neither", "in pre-norm only", "in post-norm only", "in both")
KEPT = ("Attention", "Feed-forward", "Skip connections", "Norms", "Final norm")
PASSED_ON = (
    "both sides compute in double precision, which rounds at 2.2e-16 of a number's size; every layer passes the "
    "rounding of the layers before it on, hence 1e-10 of the largest number compared"
)
STEADY = 1e-10


@st.cache_data(max_entries=128, show_spinner="Running all layers, there and back …")
def cached_curves(
    words: tuple[str, ...],
    width: int,
    n_layers: int,
    seed: int,
    n_heads: int,
    norm_position: NormPosition,
    activation: ActivationName,
    parts: Parts,
) -> StackCurves:
    """The whole stack there and back, in a few numbers a layer; up to a quarter of a second."""
    x, layers, reading = draw_stack(words, width, 4 * width, n_layers, seed)
    return stack_curves(run_stack(x, layers, n_heads, reading, norm_position, activation, parts))


checked = frame.heading(
    "stack",
    "Where the norm stands decides how large the sum of all blocks grows, and how strongly each layer is pulled.",
)
settings = controls.settings()
words = controls.need_words()
with steps.section("stream", "gradient"):
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        n_layers = controls.number_choice("Layers", DEPTHS, "depth", 12, width=210)
        width = WIDTHS[controls.pick('<b class="width">d_model</b>', NAMED_WIDTHS, "stack_width", 2, width=72)]
        n_heads = HEADS[controls.pick("heads of a block", NAMED_HEADS, "stack_heads", 2, width=66)]
        activation = controls.choice(
            "Activation", get_args(ActivationName), "activation", "gelu", label_visibility="collapsed"
        )
        asked = MATRICES[controls.pick("gradient of", MATRICES, "matrix", width=92)]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        kept = [controls.switch(name, key, True) for name, key in zip(KEPT, STACK_PARTS, strict=True)]
        st.html(depth_words.legend(), width="content")
parts = Parts(*kept)


def curves_at(norm_position: NormPosition, n_layers: int, parts: Parts) -> StackCurves:
    """A stack of the reader's settings, but for these."""
    return cached_curves(words, width, n_layers, settings.seed, n_heads, norm_position, activation, parts)


curves: dict[NormPosition, StackCurves] = {place: curves_at(place, n_layers, parts) for place in SERIES}
matrix = asked if asked in parts.parameters else next((name for name in MATRICES if name in parts.parameters), "")
measures: dict[str, tuple[str, bool, int, Callable[[StackCurves], Floats]]] = {
    "length of a word's vector": ("layer", True, 0, lambda found: found.size),
    "how alike the words are": ("layer", False, 0, lambda found: found.alike),
    "gradient at the stream": ("layer", True, 0, lambda found: found.stream_gradient),
}
if matrix:
    measures[f"gradient of {matrix}"] = "layer", True, 1, lambda found: found.gradient[matrix]
    measures[f"gradient of the last {matrix}"] = "layers in all", True, 1, lambda found: found.last_gradient[matrix]


def picture(name: str, key: str, grow: float) -> None:
    """One measure of both stacks, higher on a slide."""
    over, logarithmic, first, take = measures[name]
    values = {place: take(found) for place, found in curves.items()}
    draw.chart(
        depth_table(values, first),
        depth_chart(name, over, logarithmic),
        name=name,
        key=key,
        alt=f"{name} over {over}; {depth_words.ends(values)}",
        grow=grow,
        legend=DEPTH_KEY,
    )


several, arrives = len(words) > 1, all(found.stream_gradient.size for found in curves.values())
with steps.section("stream"):
    beside = st.columns(2 if view.now().presenting else 3)
    with beside[0]:
        picture("length of a word's vector", "depth_size", 1.6)
    if several:
        with beside[1]:
            picture("how alike the words are", "depth_alike", 1.6)
    else:
        beside[1].info("How alike the words become needs at least two words.")
    if not view.now().presenting:
        beside[2].html(depth_words.forward(curves, parts))
with steps.section("gradient"):
    if arrives:
        for place, name, key in zip(
            st.columns(3), list(measures)[2:], ("at_stream", "of_layer", "of_last"), strict=False
        ):
            with place:
                picture(name, f"depth_{key}", 2.1)
    for said in depth_words.notes(curves, n_layers, asked, matrix, parts):
        st.html(f'<p class="line">{said}</p>')
    if arrives and matrix:
        st.html(f'<p class="line no_slide">{depth_words.backward(curves, matrix)}</p>')
frame.provenance(
    f"Embeddings and matrices are <b>random</b> (seed {settings.seed}), not trained; the rest is <b>computed</b>."
)
st.html(
    '<p class="quiet no_slide">Matrices are normal with standard deviation 1 ÷ √rows, norms begin at 1 and 0, there '
    "are no biases; the feed-forward part is four times as wide. The loss is a fixed random sum over the output. Axes "
    "of lengths and gradients are logarithmic. d and heads at the left do not matter here: the stack has its own.</p>"
)
layer_names = [str(number) for number in range(n_layers + 1)]
behind: dict[str, Matrix] = {}
for norm_position, found in curves.items():
    for title, (values, first, names) in depth_words.tables(found).items():
        rows = named_axis("layer", tuple(layer_names[first : first + len(values)]))
        behind[f"{title}, {SERIES[norm_position]}"] = values, rows, named_axis("measure", names)
frame.numbers(
    behind,
    frame.sentence_code()
    | {"n_layers": n_layers, "d_model": width, "stack_heads": n_heads, "activation": activation}
    | dict(zip(STACK_PARTS, kept, strict=True)),
    key="stack_numbers",
)
frame.to_notice(depth_words.notice(curves, parts))


def falls_below_half() -> str:
    """In which stacks the last layer of 48 has less than half the gradient of the last of 4."""
    deep = {place: curves_at(place, DEPTHS[-1], parts).last_gradient.get(matrix, np.zeros(0)) for place in SERIES}
    fallen = [place for place, last in deep.items() if last.size and last[-1] < last[3] / 2]
    return OUTCOMES[(fallen == ["pre"]) + 2 * (fallen == ["post"]) + 3 * (len(fallen) == 2)]


with steps.section("guess"):
    state = (settings, n_layers, width, n_heads, activation, parts, matrix)
    if several and parts.attention and parts.skip:
        questions.number(
            "collapse",
            f"Without skip connections: how alike are the words after layer {n_layers} of pre-norm, as a mean cosine?",
            (-1.0, 1.0),
            lambda: float(curves_at("pre", n_layers, replace(parts, skip=False)).alike[-1]),
            lambda true: depth_words.collapse(true, float(curves["pre"].alike[-1]), float(curves["pre"].alike[0])),
            state,
        )
    if matrix and arrives:
        questions.choice(
            "deeper",
            f"48 layers instead of 4: where does the gradient of the last layer's {matrix} fall to less than half?",
            OUTCOMES,
            falls_below_half,
            lambda: depth_words.deeper({place: curves_at(place, DEPTHS[-1], parts) for place in SERIES}, matrix, 4),
            state,
        )
frame.way_on("stack")


def check() -> Agreement:
    """Every curve of both stacks, by PyTorch's layers and its autograd."""
    from core import torch_reference

    x, layers, reading = draw_stack(words, width, 4 * width, n_layers, settings.seed)
    ours: dict[str, Floats] = {}
    theirs: dict[str, Floats] = {}
    again: dict[str, Floats] = {}
    for place, name in SERIES.items():
        found = torch_reference.stack_curves(x, layers, n_heads, reading, place, activation, parts)
        mine = curves[place].named()
        if ties_by_rounding:
            mine = {measure: mine[measure] for measure in ("size", "alike") if measure in mine}
        moved = stack_curves(run_stack(nudged(x), layers, n_heads, reading, place, activation, parts)).named()
        ours |= {f"{measure}, {name}": values for measure, values in mine.items()}
        theirs |= {f"{measure}, {name}": found[measure][: len(values)] for measure, values in mine.items()}
        again |= {f"{measure}, {name}": moved[measure] for measure in mine}
    return compare(ours, theirs, STEADY, PASSED_ON, again)


# Equal words tie in every softmax: its gradient is then a small difference of large numbers, whose rounding grows with
# the square of their size.
loud = max(float(found.size.max()) for found in curves.values()) > LOUD
ties_by_rounding = loud and len(set(words)) < len(words)
with checked:
    torch_check.show(
        check,
        "a stack of nn.TransformerEncoderLayer with these matrices, "
        + (
            "lengths and angles alone: with vectors this long and equal words, PyTorch's gradients are rounding"
            if ties_by_rounding
            else "and autograd's gradients"
        ),
        on_request=True,
        state=(words, width, n_layers, settings.seed, n_heads, activation, parts),
    )
