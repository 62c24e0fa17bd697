"""Inside a real model: all heads of a trained encoder on the reader's sentence, one of them large, some with names."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.pretrained.joining import join_words, leave_out_ends
from core.pretrained.model import (
    EPSILON,
    MAX_PIECES,
    N_HEADS,
    N_LAYERS,
    Attended,
    words_that_fit,
)
from core.pretrained.table import measured
from core.softmax import Floats
from ui import controls, draw, frame, matrices, questions, real_model, steps, torch_check, view
from ui.charts import heads
from ui.charts.heat_map import Panel, named_axis, word_axis
from ui.charts.picture import matrix_picture
from ui.matrices import Follow, Matrix
from ui.take_home.figures import HEADS_KEY
from ui.trained_encoder import attended as read
from ui.trained_encoder import encoder

TOKENS = ("words", "pieces")


@st.cache_data(max_entries=12)
def picture_of(words: tuple[str, ...], joined: bool, ends: bool, dark: bool) -> bytes:
    """All heads as one picture."""
    return heads.heads_picture(shown_weights(read(words), joined, ends), dark)


def shown_weights(reading: Attended, joined: bool, ends: bool) -> Floats:
    """Attention of all heads as the reader wants to see it."""
    weights = join_words(reading.weights, reading.pieces.word_of) if joined else reading.weights
    return weights if ends else leave_out_ends(weights)


checked = frame.heading(
    "real_model",
    "A small trained model reads your sentence: six layers of twelve heads, and nobody told them what to look for.",
)
settings = controls.settings()
words = controls.need_words()
model, table = encoder(), measured()
n_read = words_that_fit(words, model.vocabulary)
if n_read == 0:
    st.info(
        f"This model reads at most {MAX_PIECES} word pieces, and the first word alone has more. "
        "Please type shorter words."
    )
    raise controls.PageEnds
reading = read(words[:n_read])
pieces = reading.pieces
if len(pieces.names) == 2:
    st.info("Nothing of this sentence is left for the model: it holds no letter, digit or sign. Please type a word.")
    raise controls.PageEnds
for said in real_model.notices(pieces, n_read, len(words)):
    controls.notice(said)

with (
    steps.section("all heads", "one head"),
    st.container(horizontal=True, vertical_alignment="center", gap="small"),
):
    tokens = controls.choice("Tokens", TOKENS, "shown_as", TOKENS[0], label_visibility="collapsed", width="content")
    ends = controls.switch("[CLS] and [SEP]", "ends", True, help="The model's own tokens before and behind a text.")
    layer = controls.pick("layer", tuple(str(number) for number in range(N_LAYERS)), "model_layer", 3, width=64)
    head = controls.pick("head", tuple(str(number) for number in range(N_HEADS)), "model_head", 1, width=64)
    joined = tokens == TOKENS[0]
    with_ends = pieces.spelled if joined else pieces.names
    names = with_ends if ends else with_ends[1:-1]
    queries, keys = word_axis("query", names), word_axis("key", names)
    query = controls.pick('<b class="query">query</b>', queries.names, "query", 3, width=105)
    key = controls.pick('<b class="key">key</b>', keys.names, "key", 5, width=105)
weights = shown_weights(reading, joined, ends)
one = weights[layer, head]
named = real_model.names_of(table)
called = named.get((layer, head), "")
slide = view.now().presenting


def picker(chart: str) -> Callable[[], None]:
    """Takes the head over that was clicked in a chart."""

    def pick() -> None:
        cells = st.session_state[chart]["selection"].get(heads.PICK, [])
        if cells:
            controls.take({"model_layer": str(int(cells[0]["layer"])), "model_head": str(int(cells[0]["head"]))})

    return pick


dark = view.dark()
overview, large = (st.container(), st.container()) if slide else st.columns([1.15, 1])
with overview, steps.section("all heads"):
    draw.chart(
        heads.heads_table(picture_of(words[:n_read], joined, ends, dark), N_LAYERS, N_HEADS, (layer, head), named),
        heads.heads_chart(N_LAYERS, N_HEADS, 290 if slide else 330),
        name="all heads",
        key="all_heads",
        alt=f"Weights of {N_LAYERS} × {N_HEADS} heads for {len(names)} tokens, each a small matrix; the picked one is "
        f"layer {layer}, head {head}",
        on_pick=picker("all_heads"),
        picks=heads.PICK,
        grow=1.0,
    )
    with steps.section(steps.PAGE_ONLY):
        st.html(real_model.pieces_said(pieces))
with large, steps.section("one head"):
    of_head, alt = f"layer {layer}, head {head}", f"Weights of layer {layer}, head {head}"
    if one.size > matrices.INTERACTIVE_UP_TO:
        turned = view.turned()
        draw.picture(
            matrix_picture(
                one.T if turned else one,
                *(1000, 1000),
                "weights",
                picked=[(key, query) if turned else (query, key)],
                dark=dark,
            ),
            name=of_head,
            caption="rows: key, columns: query" if turned else "rows: query, columns: key",
            alt=alt,
            width=300 if slide else 400,
        )
    else:
        # The same room with and without the ends: the chart keeps its size, and so need not be made anew.
        room = min(34 * len(with_ends), 165 if slide else 330)
        matrices.show(
            Matrix(of_head, one, queries, keys, ramp="weights", picked=[(query, key)]),
            Panel(height=room / len(names)),
            key="one_head",
            alt=alt,
            follow=Follow("query", "key"),
            most=matrices.INTERACTIVE_UP_TO,
        )
    st.html(real_model.row_said(one, names, query))
    if called:
        st.html(f'<p class="quiet">Measured as: <b>{called}</b>.</p>')
frame.provenance(
    "All 22.6 million numbers are <b>trained</b> (all-MiniLM-L6-v2, Apache-2.0, rounded; not by us); the weights are "
    "<b>computed</b> from your sentence by the same functions as on the other pages. d, heads and seed of the sidebar "
    "change nothing here. Words: weights on the pieces of a word added, rows of its pieces averaged. "
    "Without [CLS] and [SEP]: the rest of each row brought back to 1."
)

with steps.section(steps.PAGE_ONLY), st.container(horizontal=True, vertical_alignment="center", gap="small"):
    st.html('<p class="quiet">Sentences that show something:</p>', width="content")
    for label, (sentence, (its_layer, its_head)) in real_model.SENTENCES.items():
        values = {"text": sentence, "model_layer": str(its_layer), "model_head": str(its_head)}
        st.button(label, key=f"try_{label}", on_click=controls.take, args=(values,), help=sentence)

with steps.section("named heads"):
    frame.subheading("Heads with a name, measured")
    draw.chart(
        heads.scores_table(table.patterns, (layer, head)),
        heads.scores_chart(len(table.patterns)),
        name="named heads",
        key="named_heads",
        alt=f"What {len(table.patterns)} named heads find, from {min(p.hit for p in table.patterns):.2f} to "
        f"{max(p.hit for p in table.patterns):.2f} of their cases, beside the best fixed distance",
        on_pick=picker("named_heads"),
        picks=heads.PICK,
        grow=1.5,
        legend=HEADS_KEY,
    )
    st.html(real_model.scores_legend())
    with steps.section(steps.PAGE_ONLY):
        st.html(real_model.heads_measured(table, (layer, head)))
        st.html(real_model.how_measured(table))
with steps.section("limits"):
    frame.subheading("What it does not do, and where weight rests")
    pair = [read(tuple(sentence.split())) for sentence in real_model.PAIR]
    spelled = [found.pieces.spelled for found in pair]
    it = spelled[0].index("it") - 1
    rows = np.stack([shown_weights(found, joined=True, ends=False)[3, 1, it] for found in pair])
    both = tuple(old if old == other else f"{old}/{other}" for old, other in zip(*spelled, strict=True))[1:-1]
    matrices.show(
        Matrix(
            "“it” in head 3.1",
            rows,
            named_axis("query", ("it … new", "it … empty")),
            word_axis("key", both),
            ramp="weights",
        ),
        Panel(height=34.0),
        key="it_rows",
        alt="What “it” looks at when the bat is new and when the bag is empty",
    )
    st.html(real_model.limits_said(table))
    st.html(real_model.rests_said(table))
    with steps.section(steps.PAGE_ONLY):
        st.html(real_model.rounding_said(table))

frame.numbers(
    {
        "weights of the pieces": (
            reading.weights[layer, head],
            word_axis("query", pieces.names),
            word_axis("key", pieces.names),
        ),
        "weights as shown": (one, queries, keys),
    },
    {
        "pieces": list(pieces.names),
        "layer": layer,
        "head": head,
        "whole_words": joined,
        "with_ends": ends,
        view.QUERIES_IN: view.SIDES[view.turned()],
    },
    key="real_numbers",
)
frame.to_notice(
    "Some heads have a name, most of the 72 have none. A name stands for a mean over many sentences: yours may be an "
    "exception. And a head that looks at a word has not thereby understood it."
)
with steps.section("guess"):
    state = words[:n_read]
    on_each = reading.weights[:, :, 1:-1, 0].mean(axis=-1)  # (layer, head)
    on_start = on_each.mean(axis=1)
    questions.number(
        "resting",
        "Which share of their weight do your words spend on [CLS], on average over all heads?",
        (0.0, 1.0),
        lambda: float(on_each.mean()),
        lambda true: f"In {int((on_each > 0.5).sum())} of the {N_LAYERS * N_HEADS} heads it is more than half.",
        state,
    )
    questions.choice(
        "layer_resting",
        "In which layer do your words give [CLS] the most, on average over the heads?",
        [str(number) for number in range(N_LAYERS)],
        lambda: str(int(on_start.argmax())),
        lambda: "Layer by layer: " + ", ".join(f"{share:.2f}" for share in on_start) + ".",
        state,
    )
frame.way_on("real_model")


def check() -> Agreement:
    """Every head's weights, by PyTorch."""
    from core import torch_reference

    theirs = torch_reference.trained_encoder(reading.embeddings, model.layers, N_HEADS, EPSILON)
    return compare({"weights": reading.weights}, theirs)


with checked:
    torch_check.show(
        check, "nn.TransformerEncoderLayer six times, with these numbers", on_request=True, state=(words[:n_read],)
    )
