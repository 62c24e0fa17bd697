"""Why attention: what still reaches the last word from far back, in a recurrent network and by attention."""

import functools
from collections.abc import Callable

import numpy as np
import streamlit as st

from core import recurrence
from core.agreement import Agreement, compare, nudged
from core.attention_jacobian import ask_last, influence_by_head, last_output_influence, last_output_jacobian
from core.examples import draw_example, draw_recurrence
from core.far_back import (
    ALL_UP_TO,
    LENGTHS,
    Reach,
    at_usual_size,
    by_length,
    first_below,
    measured_features,
    relative,
    stretched,
)
from core.multi_head import multi_head_attention
from core.softmax import Floats
from core.waiting import count_attention, count_recurrence
from ui import controls, draw, far_back, frame, questions, steps, torch_check, view
from ui.charts.heat_map import POSITIONS_ABOVE, named_axis, position_axis, word_axis
from ui.charts.reach import (
    FLOOR,
    MODELS,
    ONE_PERCENT,
    exponent_text,
    lengths_chart,
    lengths_table,
    steps_chart,
    words_chart,
    words_table,
)
from ui.charts.shelf import shelf_chart, shelf_table
from ui.literal import literal
from ui.take_home.figures import REACH_KEY

Network = Callable[[], recurrence.RecurrentParameters]

RADII = ("0", "0.5", "0.9", "1", "1.1", "1.5", "2")


@st.cache_data(max_entries=64, show_spinner="Following every word to the end …")
def measured_lengths(
    words: tuple[str, ...], d_head: int, n_heads: int, seed: int, radius: float, as_elsewhere: bool, _network: Network
) -> Reach:
    """Sentences of up to 512 words: the slowest thing on the page."""
    example = draw_example(words, d_head, n_heads, seed)
    example = example if as_elsewhere else at_usual_size(example)
    return by_length(example, _network(), LENGTHS, measured_features(d_head, n_heads))


@st.cache_data(max_entries=64, max_size="8MB", show_spinner=False)
def measured_words(
    words: tuple[str, ...], d_head: int, n_heads: int, seed: int, radius: float, as_elsewhere: bool, _network: Network
) -> tuple[Floats, recurrence.LastState, Floats, Floats, Floats, tuple[int, int]]:
    """The sentence itself: states and what moves the last one; by attention in all and by head, weights; steps."""
    example = draw_example(words, d_head, n_heads, seed)
    layer = example if as_elsewhere else at_usual_size(example)
    network, features = _network(), measured_features(d_head, n_heads)
    states = recurrence.recurrent_states(example.x, network)
    asked = ask_last(layer.x, layer.w_q, layer.w_k, layer.w_v)
    by_head = np.array([influence_by_head(asked, position, features) for position in range(len(words))])
    counted = count_recurrence(example.x, network), count_attention(layer.x, layer.w_q[0], layer.w_k[0], layer.w_v[0])
    return (
        states,
        recurrence.last_state_influence(states, network, features),
        last_output_influence(asked, features),
        by_head,
        asked.weights,
        (int(counted[0].steps.max()), int(counted[1].steps.max())),
    )


@st.cache_data(show_spinner=False)
def counted_lengths() -> tuple[list[int], list[int]]:
    """Steps by length, counted at width 1: they depend neither on the width nor on any number."""
    x, w = np.ones((1, 1)), np.ones((1, 1))
    rows = [x[stretched(1, length)] for length in LENGTHS]
    network = draw_recurrence(1, 1.0)
    return (
        [int(count_recurrence(one, network).steps.max()) for one in rows],
        [int(count_attention(one, w, w, w).steps.max()) for one in rows],
    )


checked = frame.heading(
    "why_attention",
    "“Meera put the bat in her bag because it was new”: what is “it”? Whatever decides that has to reach “it”.",
)
settings = controls.settings()
words = controls.need_words()
n, d, n_heads, d_model, seed = len(words), settings.d_head, settings.n_heads, settings.d_model, settings.seed
axis = word_axis("word", words)

with (
    steps.section("reach", "length"),
    st.container(horizontal=True, vertical_alignment="center", gap="small"),
):
    radius = float(RADII[controls.pick("spectral radius of W_h", RADII, "radius", default=3, width=85)])
    share = controls.switch(
        "÷ the last word's", "relative", True, help="Both curves then start from 1 at the last word."
    )
    as_elsewhere = controls.switch(
        "W_q, W_k, W_v as on the other pages",
        "as_elsewhere",
        False,
        help="There their entries have a spread of 0.5 at every width. Off: 1 ÷ √d_model, the size at which layers "
        "usually start, and as in the recurrent network.",
    )

state = (words, d, n_heads, seed, radius, as_elsewhere)
# Drawn where it is asked for, and once a run: at a width of 768 that takes a fifteenth of a second.
network: Network = functools.cache(lambda: draw_recurrence(d_model, radius, seed))
features = measured_features(d, n_heads)
states, found, by_attention, by_head, last_weights, own_steps = measured_words(*state, network)
sizes = dict(zip(MODELS, (found.by_word, by_attention), strict=True))
shares = {model: relative(values) for model, values in sizes.items()}
lengths = measured_lengths(*state, network)
ends = dict(zip(MODELS, (lengths.recurrent, lengths.attention), strict=True))
first_shares = {model: relative(values)[:, 0] for model, values in ends.items()}
title = "share of the last word's" if share else "size of the Jacobian"

# On the page both pictures stand side by side, on slides each of them beside its own arithmetic.
side_by_side = None if view.now().presenting else st.columns(2)


def pick_word() -> None:
    """A click on a word's column works that word out."""
    chosen = st.session_state["reach_words"]["selection"].get("word", [])
    if chosen and int(chosen[0]["position"]) < n:
        controls.take({"word": axis.names[int(chosen[0]["position"])]})


with steps.section("reach"):
    picture, reading = st.columns([1.5, 1]) if side_by_side is None else (side_by_side[0], st.container())
    with reading:
        frame.subheading("One word, worked out")
        position = controls.pick("word", axis.names, "word", width=150)
    with picture:
        st.html(f'<p class="quiet">{far_back.LEGEND}: what each word still moves</p>')
        draw.chart(
            words_table(axis, shares if share else sizes, position),
            words_chart(n > POSITIONS_ABOVE, share, title),
            name="what each word still moves",
            key="reach_words",
            alt=f"What each of {n} words still moves, logarithmic; of the first word's share of the last word's "
            + " and ".join(f"{exponent_text(float(part[0]))} is left in {model}" for model, part in shares.items()),
            on_pick=pick_word,
            picks="word",
            grow=1.05,
            legend=REACH_KEY,
        )
        st.html(far_back.reading(words, position, (shares[MODELS[0]][position], shares[MODELS[1]][position])))
    with reading:
        left, right = (reading, reading) if side_by_side is None else st.columns(2)
        with left:
            with steps.section(steps.PAGE_ONLY):
                st.latex(r"\frac{\partial h_n}{\partial x_t} = W_x D_t \, W_h D_{t+1} \cdots W_h D_n")
            st.html(
                f'<p class="quiet no_slide">{far_back.RECURRENT}: a factor for every word passed; '
                "h<sub>t</sub> = tanh(x<sub>t</sub> W<sub>x</sub> + h<sub>t−1</sub> W<sub>h</sub> + b), D: the slopes "
                "of tanh, 1 − h²</p>"
            )
            st.html(far_back.chain(axis.names, states, found, position, view.now().presenting))
        with right:
            with steps.section(steps.PAGE_ONLY):
                st.latex(
                    r"\frac{\partial z}{\partial x_t} = "
                    r"w_t \left(W_v + \tfrac{1}{\sqrt{d}} W_k q^\top (v_t - z)\right)"
                )
            st.html(
                f'<p class="quiet no_slide">{far_back.ATTENTION}: one weight, however far; '
                "z = Σ w<sub>t</sub> v<sub>t</sub> is the last word's output; it also moves its own query</p>"
            )
            whole = float(by_attention[position])
            st.html(far_back.through_heads(last_weights[:, position], by_head[position], whole, view.now().presenting))
measured = (
    "all features of the last state"
    if d_model <= ALL_UP_TO
    else f"{len(features)} of the {d_model} features of the last state, evenly spaced (good to about a fifth)"
)
frame.provenance(
    f"Words, projections and the recurrent network are <b>random</b> (seed {seed}), nobody trained them; sizes are "
    "<b>computed</b>."
)
with steps.section(steps.PAGE_ONLY):
    st.html(
        '<p class="quiet">W_h is orthogonal × its spectral radius. Size: length of a feature\'s exact gradient, root '
        f"mean square over {measured}.</p>"
    )

with steps.section("length"):
    picture, reading = st.columns([1.5, 1]) if side_by_side is None else (side_by_side[1], side_by_side[1])
    shown = first_shares if share else {model: values[:, 0] for model, values in ends.items()}
    with picture:
        st.html('<p class="quiet">What the first word still moves in longer sentences</p>')
        draw.chart(
            lengths_table(LENGTHS, shown),
            lengths_chart(share, title),
            name="what the first word still moves",
            key="reach_lengths",
            alt=f"What the first word still moves in sentences of {LENGTHS[0]} to {LENGTHS[-1]} words, logarithmic; at "
            + " and ".join(
                f"{LENGTHS[-1]} words {exponent_text(part[-1])} in {model}" for model, part in shown.items()
            ),
            grow=1.4,
            legend=REACH_KEY,
        )
    with reading:
        st.html(
            f'<p class="line">Your words, again and again, up to {LENGTHS[-1]}; <b>{literal(words[0])}</b> stays the '
            f"first word and <b>{literal(words[-1])}</b> the last. At {LENGTHS[-1]} words the first one has "
            f"<b>{exponent_text(first_shares[MODELS[0]][-1])}</b> of the last word's share in the {far_back.RECURRENT} "
            f"and <b>{exponent_text(first_shares[MODELS[1]][-1])}</b> by {far_back.ATTENTION}.</p>"
        )
        st.html(
            '<p class="line no_slide">Attention shares one whole among all words, so with random weights its share '
            "falls too: about like 1 ÷ n, half for twice the words, while the other falls by a factor at every word."
            "</p>"
        )
        if radius > 1:
            st.html(
                '<p class="line no_slide">A spectral radius above 1 makes W_h stretch what the slopes of tanh shrink: '
                "the size can grow before it falls, or grow without end. It cannot be both large and steady.</p>"
            )
        if min(part.min() for part in shown.values()) < FLOOR:
            st.html(
                f'<p class="quiet no_slide">▼ below {exponent_text(FLOOR)}, where a number is lost beside 1; '
                "the tooltip has its value. 0: smaller than the smallest double, 5 × 10⁻³²⁴.</p>"
            )
        growth = max(float(first_shares[MODELS[0]].max()), float(shares[MODELS[0]].max()))
        if growth * np.finfo(np.float64).eps > 1e-9:
            st.html(
                '<p class="quiet">What moves the last state so much, rounding moves too: states of long sentences keep '
                f"only about {max(0, int(15 - np.log10(growth)))} digits here, and other machines find other ones.</p>"
            )

by_steps = dict(zip(MODELS, (np.array(counts, dtype=np.float64) for counts in counted_lengths()), strict=True))
with steps.section("waiting"):
    frame.subheading("Steps that wait for each other")
    picture, reading = st.columns([1.5, 1])
    with picture:
        draw.chart(
            lengths_table(LENGTHS, by_steps),
            steps_chart(),
            name="steps one after another",
            key="reach_steps",
            alt=f"Steps that wait for each other in sentences of {LENGTHS[0]} to {LENGTHS[-1]} words: "
            + " and ".join(f"{part[0]:.0f} to {part[-1]:.0f} in {model}" for model, part in by_steps.items()),
            grow=2.1,
            legend=REACH_KEY,
        )
    with reading:
        st.html(far_back.steps_table(n, *own_steps))
        st.html(
            '<p class="line">Counted by the computation: every number carries how many matrix products stand before '
            "it. A state waits for the state before; the queries, keys and values of all words are one product, their "
            "scores the second, the mixture the third.</p>"
        )
        if own_steps[0] < own_steps[1]:
            st.html('<p class="line">So short a sentence is done sooner by the recurrent network.</p>')

with steps.section("library"):
    frame.subheading("Attention as a library")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        query = controls.pick('<b class="query">query</b>', axis.names, "query", default=n - 1, width=150)
        head = controls.pick("head", controls.head_labels(), "head", width=80)
    example = draw_example(words, d, n_heads, seed)
    heads = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads
    fits, taken = heads.scaled_scores[head, query], heads.weights[head, query]
    left, right = st.columns(2)
    with left:
        st.html(far_back.library(words[query]))
        st.html(
            '<p class="line">Each word plays all three parts at once. No book is lent out whole: the better a label '
            "fits, the more of that book is taken, and what is taken sums to 1.</p>"
        )
        st.html(
            f'<p class="quiet">Which word <b>{literal(words[query])}</b> belongs to cannot be read off here: these '
            f"labels are random (seed {seed}). Training is what would make the right one fit.</p>"
        )
    with right:
        most = int(taken.argmax())
        draw.chart(
            shelf_table(word_axis("key", words), fits, taken),
            shelf_chart(n > POSITIONS_ABOVE),
            name="books on the shelf",
            key="library",
            alt=f"Each word as a book; word {axis.names[query]} takes most from {axis.names[most]}: {taken[most]:.0%}",
            grow=1.6,
        )

columns = named_axis("measure", tuple(f"{model}, {what}" for model in MODELS for what in ("size", "share")))
first_last = named_axis("measure", tuple(f"{model}, {what} word" for model in MODELS for what in ("first", "last")))
lengths_axis = named_axis("words", tuple(str(length) for length in LENGTHS))


frame.numbers(
    {
        "what each word moves": (
            np.column_stack([*(values for model in MODELS for values in (sizes[model], shares[model]))]),
            axis,
            columns,
        ),
        "first and last word by length": (np.column_stack([*ends.values()]), lengths_axis, first_last),
        "steps one after another": (np.column_stack([*by_steps.values()]), lengths_axis, named_axis("model", MODELS)),
        "states of the recurrent network": (states, axis, position_axis("feature", d_model, "d_model")),
        "back from the last state": (
            np.column_stack([(1.0 - states**2).mean(axis=-1), found.by_state]),
            axis,
            named_axis("measure", ("slope of tanh, mean", "size by state")),
        ),
        "books on the shelf": (np.column_stack([fits, taken]), axis, named_axis("measure", ("label fits", "taken"))),
    },
    frame.sentence_code() | {"radius": radius, "as_elsewhere": as_elsewhere, "query": query, "head": head},
    key="why_numbers",
)
frame.to_notice(
    "The recurrent network has to carry everything in one state, over every word between. Attention asks each word "
    "directly: distance costs nothing, but all words share one whole, and all pairs have to be compared."
)
with steps.section("guess"):
    options = (*(str(length) for length in LENGTHS), "never here")

    def below(model: str) -> str:
        """The answer to the first question."""
        reached = first_below(LENGTHS, first_shares[model], ONE_PERCENT)
        return options[-1] if reached is None else str(reached)

    questions.choice(
        "one_percent",
        f"Recurrent network, spectral radius {radius:g}: at which of these lengths has the "
        "first word fallen below 1 % of the last word's share, for good?",
        options,
        lambda: below(MODELS[0]),
        lambda: (
            f"By attention: {below(MODELS[1])}. At {LENGTHS[-1]} words its share is still "
            f"{exponent_text(first_shares[MODELS[1]][-1])}."
        ),
        state,
    )
    twice = example.x[[*range(n), *range(n)]]
    questions.choice(
        "waiting",
        f"Twice your words, {2 * n} in a row: how many steps have to wait for each other in one layer of attention?",
        list(dict.fromkeys(str(count) for count in (n, 3, 2 * n, 6, 4 * n**2))),
        lambda: str(count_attention(twice, example.w_q[0], example.w_k[0], example.w_v[0]).steps.max()),
        lambda: (
            f"The recurrent network needs {count_recurrence(twice, network()).steps.max()}. Attention does more work "
            f"in all, {2 * n} × {2 * n} scores, but all of it side by side: that is what a GPU is good at."
        ),
        words,
    )
frame.way_on("why_attention")


def check() -> Agreement:
    """States and every entry of both Jacobians, by PyTorch's layers and its autograd.

    With a large spectral radius the recurrent network carries rounding along as it does words.
    """
    from core import torch_reference

    layer = example if as_elsewhere else at_usual_size(example)
    asked = ask_last(layer.x, layer.w_q, layer.w_k, layer.w_v)
    theirs = torch_reference.recurrent_jacobians(example.x, network(), features)
    attention = torch_reference.attention_jacobians(layer.x, layer.w_q, layer.w_k, layer.w_v, features)
    ours = {
        "states": states,
        "jacobians": recurrence.last_state_jacobians(states, network(), features),
        "output": asked.output.ravel(),
        "attention's jacobians": np.stack([last_output_jacobian(asked, at, features) for at in range(n)]),
    }
    renamed = {"output": attention["output"], "attention's jacobians": attention["jacobians"]}
    moved = recurrence.recurrent_states(nudged(example.x), network())
    recurrent = {"states": moved, "jacobians": recurrence.last_state_jacobians(moved, network(), features)}
    return compare(ours, theirs | renamed, ours_nudged=ours | recurrent)


with checked:
    torch_check.show(
        check,
        "nn.RNN and nn.MultiheadAttention with these parameters, and their autograd",
        on_request=True,
        state=state,
    )
