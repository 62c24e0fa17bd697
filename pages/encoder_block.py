"""Encoder block: every intermediate value of the reader's sentence on its way through one block, worked out."""

from typing import get_args

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.encoder_block import NormPosition, encoder_block
from core.examples import draw_block
from core.feed_forward import ActivationName
from ui import controls, frame, questions, shown, steps, torch_check, view
from ui.block_walk import ORDERS, BlockWalk, Cell
from ui.literal import literal

FACTORS = (1, 2, 4)
REACHES = ("nothing", "from the attention on", "everything")

# On a first visit the control that holds it does not exist yet, but the heading needs the order of the steps.
norm_asked = st.session_state.get("norm", st.query_params.get("norm"))
norm_now: NormPosition = "post" if norm_asked == "post" else "pre"
checked = frame.heading(
    "encoder_block",
    "Words exchange something once, in the attention; all the rest works on each word alone.",
    (*ORDERS[norm_now], "guess"),
)
settings = controls.settings()
words = controls.need_words()
d_model = settings.d_model

with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    norm_position = controls.choice("Norm", get_args(NormPosition), "norm", "pre", label_visibility="collapsed")
    activation = controls.choice(
        "Activation", get_args(ActivationName), "activation", "gelu", label_visibility="collapsed"
    )
    word = controls.pick("word", tuple(f"{place} {word}" for place, word in enumerate(words)), "word", width=125)
    entry = controls.pick(
        '<b class="width">feature</b>', tuple(str(place) for place in range(d_model)), "entry", width=72
    )
    factor = controls.pick(
        '<span class="quiet">d_ff ÷ d_model</span>', tuple(str(factor) for factor in FACTORS), "factor", 1, width=68
    )
    d_ff = FACTORS[factor] * d_model
    unit = controls.pick("unit", tuple(str(place) for place in range(d_ff)), "unit", width=72)
if not view.now().presenting:
    steps.bar(ORDERS[norm_position])
step = shown.now().step

x, parameters = draw_block(words, settings.d_head, settings.n_heads, d_ff, settings.seed)
block = encoder_block(x, parameters, settings.n_heads, norm_position, activation)
with steps.section(*ORDERS[norm_position]):
    walk = BlockWalk(words, x, parameters, block, norm_position, activation, Cell(word, entry, unit), step)
    walk.show()
frame.provenance(
    f"Embeddings and all parameters are <b>random</b> (seed {settings.seed}, nothing is trained); everything else is "
    "<b>computed</b>. Norm before each part (pre) is what most models do today, norm after it (post) the paper of 2017."
)
frame.numbers(
    {name: (stage.values, stage.rows, stage.columns) for name, stage in walk.stages.items()},
    frame.sentence_code() | {"factor": FACTORS[factor], "norm_position": norm_position, "activation": activation},
    key="block_numbers",
)
frame.to_notice(
    f"The output has the shape of the input, {len(words)} × {d_model}: that is why blocks can be stacked. Only the "
    "attention looks at other words; norm, skip connection and feed-forward part treat each word alone."
)


def touched_by_another_word() -> str:
    """What of the picked word's vectors changes when the word after it is replaced by a stranger."""
    other = (word + 1) % len(words)
    strangers = (*words[:other], "\N{REPLACEMENT CHARACTER}", *words[other + 1 :])
    changed_x, _ = draw_block(strangers, settings.d_head, settings.n_heads, d_ff, settings.seed)
    changed = encoder_block(changed_x, parameters, settings.n_heads, norm_position, activation)
    before, after = (
        bool((getattr(changed, name)[word] != getattr(block, name)[word]).any())
        for name in ("attention_input", "attention_output")
    )
    return REACHES[before + after]


with steps.section("guess"):
    state = (settings, norm_position, activation, FACTORS[factor], word)
    name = f"<b>{literal(words[word])}</b>"
    if len(words) > 1:
        questions.choice(
            "touched",
            f"The next word after {name} is replaced by another one. What changes on the way of {name}?",
            REACHES,
            touched_by_another_word,
            lambda: (
                "Norm, skip connection and feed-forward part read one word at a time. The attention mixes the values "
                "of all words into it, and whatever is computed from that changes too."
            ),
            state,
        )
    questions.number(
        "length_kept",
        f"How long is the output vector of {name}, as a multiple of the input's length?",
        (0.0, 4.0),
        lambda: min(4.0, float(np.linalg.norm(block.output[word]) / np.linalg.norm(x[word]))),
        lambda true: (
            f"{np.linalg.norm(x[word]):.2f} became {np.linalg.norm(block.output[word]):.2f}. "
            + (
                "With the norm before each part nothing holds the sum: every block adds to the stream."
                if norm_position == "pre"
                else f"The norm at the end sets it to about √d_model = {d_model**0.5:.2f}, whatever came in."
            )
        ),
        state,
    )
frame.way_on("encoder_block")


def check() -> Agreement:
    """The output of the layer, and its parts, by PyTorch."""
    from core import torch_reference

    theirs = torch_reference.block_stages(x, parameters, settings.n_heads, norm_position, activation)
    ours = {name: getattr(block, name) for name in theirs}
    return compare(ours, theirs)


with checked:
    torch_check.show(
        check,
        "nn.TransformerEncoderLayer with these parameters, part by part",
        on_request=True,
        state=(words, settings.d_head, settings.n_heads, settings.seed, d_ff, norm_position, activation),
    )
