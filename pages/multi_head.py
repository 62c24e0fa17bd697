"""Multi-head attention: every head's picture, how they are joined, and what an average or a wrong split makes of it."""

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.attention import attend, self_attention
from core.examples import draw_example, draw_joining
from core.mistakes import split_heads_by_reshape_alone
from core.multi_head import head_contributions, multi_head_attention
from core.softmax import Floats, entropy
from ui import controls, frame, matrices, questions, steps, torch_check, worked
from ui.charts.heat_map import Panel, position_axis, symmetric_limit, word_axis
from ui.colours import VALUE
from ui.literal import literal
from ui.matrices import Follow, Matrix

checked = frame.heading(
    "multi_head",
    "Each head has its own smaller W_q, W_k and W_v, and so its own picture of the sentence; W_o mixes what they "
    "found.",
)
settings = controls.settings()
words = controls.need_words()
n, d, n_heads, d_model = len(words), settings.d_head, settings.n_heads, settings.d_model
example = draw_example(words, d, n_heads, settings.seed)
w_o = draw_joining(d, n_heads, settings.seed)
run = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v, w_o)
weights = run.heads.weights
queries, keys = word_axis("query", words), word_axis("key", words)
features = position_axis("feature", d_model, "d_model")

with (
    steps.section("heads", "join", "average", "one wide head", "wrong split"),
    st.container(horizontal=True, vertical_alignment="center", gap="small"),
):
    head = controls.pick("head", controls.head_labels(), "head", width=80)
    query = controls.pick('<b class="query">query</b>', queries.names, "query", width=150)
    key = controls.pick('<b class="key">key</b>', keys.names, "key", default=3, width=150)
    entry = controls.pick('<b class="width">feature</b>', features.names, "entry", width=85)
cell = [(query, key)]
small = min(26.0 if n_heads <= 4 else 18.0, 150 / n)


def picture(
    name: str,
    values: Floats,
    key_of_chart: str,
    alt: str,
    sets: dict[str, object] | None = None,
    row_labels: bool = True,
) -> None:
    """One matrix of weights that stretches to its place; a click takes its cell over."""
    matrices.show(
        Matrix(name, values, queries, keys, ramp="weights", picked=cell),
        Panel(height=small, row_labels=row_labels, column_labels=False),
        key=key_of_chart,
        alt=alt,
        follow=Follow("query", "key", sets or {}),
        sums=True,
    )


with steps.section("heads"):
    across = 2 if n_heads <= 2 else 4
    for first in range(0, n_heads, across):
        for place, number in zip(st.columns(across), range(first, min(first + across, n_heads)), strict=False):
            with place:
                picture(
                    f"head {number}",
                    weights[number],
                    f"head_{number}",
                    f"Weights of head {number}",
                    {"head": str(number)},
                )
    with frame.disclosure("The picked weight, worked out", "work_open") as opened:
        if opened:
            one = head, query, key
            left, right = st.columns(2)
            left.html(worked.scaled(float(run.heads.scores[one]), float(run.heads.scaled_scores[one]), d))
            right.html(worked.softmax_row(keys.names, run.heads.scaled_scores[head, query], weights[head, query], key))
frame.provenance(
    f"Embeddings and all projections are <b>random</b> (seed {settings.seed}), so no head has learned anything; the "
    "rest is <b>computed</b>."
)

with steps.section("join"):
    frame.subheading("Joined, then mixed by W_o")
    parts = head_contributions(run.heads.output, w_o)
    columns = st.columns([1.2, 1, 1, 1.2])
    shown_matrices = (
        Matrix("joined", run.joined, word_axis("word", words), features, picked=[(query, None)], decimals=1,
               limit=symmetric_limit(run.joined)),
        Matrix("W_o", w_o, position_axis("joined feature", d_model, "d_model"), features, picked=[(None, entry)],
               decimals=None, limit=symmetric_limit(w_o)),
        Matrix("output", run.output, word_axis("word", words), features, picked=[(query, entry)], decimals=1,
               limit=symmetric_limit(run.output)),
    )  # fmt: skip
    for place, matrix in zip(columns, shown_matrices, strict=False):
        with place:
            matrices.show(
                matrix,
                Panel(hue=VALUE, height=min(26.0, 150 / matrix.values.shape[0]), column_labels=False,
                      row_labels=matrix.name == "joined"),
                key=f"join_{matrix.name}",
                alt=f"{matrix.name} of {n_heads} heads",
                follow=Follow("" if matrix.name == "W_o" else "query", "" if matrix.name == "joined" else "entry"),
            )  # fmt: skip
    lengths = np.linalg.norm(parts[:, query], axis=-1)
    with columns[3]:
        st.html(worked.contributions(parts[:, query, entry], head, lengths))
    st.html(
        f'<p class="quiet">Head {head} fills the joined features {head * d} to {(head + 1) * d - 1}, and meets those '
        "rows of W_o: the output is the sum of what every head adds. Length: of all that it adds to the word.</p>"
    )

mean_weights = weights.mean(axis=0)
own_entropy = float(entropy(weights[:, query]).mean())
mean_entropy = float(entropy(mean_weights[query]))
with steps.section("average"):
    frame.subheading("Why an averaged picture misleads")
    left, middle, right = st.columns(3)
    with left:
        picture("average of all heads", mean_weights, "average", "Weights averaged over the heads")
    with middle:
        picture(f"head {head}", weights[head], "beside_average", f"Weights of head {head}, for comparison")
    right.html(
        f'<p class="line">Row of <b class="query">{literal(words[query])}</b>: the heads have an entropy of '
        f"<b>{own_entropy:.3f}</b> nats on average, their average has <b>{mean_entropy:.3f}</b>. "
        "An average is never sharper than what it is made of: it shows a head that nobody has.</p>"
    )

wide = draw_example(words, d_model, 1, settings.seed)
wide_weights = self_attention(wide.x, wide.w_q[0], wide.w_k[0], wide.w_v[0]).attention.weights
with steps.section("one wide head"):
    frame.subheading("Many heads or one wide head")
    left, middle, right = st.columns(3)
    with left:
        picture(f"one head of width {d_model}", wide_weights, "wide", "Weights of one wide head")
    with middle:
        picture(f"head {head} of width {d}", weights[head], "beside_wide", f"Weights of head {head}, for comparison")
    right.html(
        f'<p class="line">Both learn 4 × {d_model}² = <b>{4 * d_model**2:,}</b> numbers. {n_heads} heads of width {d} '
        f"give {n_heads} pictures, one head of width {d_model} gives one: a word that must look at two things for two "
        "reasons can only average them there.</p>"
    )

q, k, v = (np.hstack(list(example.x @ w)) for w in (example.w_q, example.w_k, example.w_v))
wrong_q, wrong_k, wrong_v = (split_heads_by_reshape_alone(array, n_heads) for array in (q, k, v))
wrong = attend(wrong_q, wrong_k, wrong_v)
gap = np.abs(wrong.weights - weights)
with steps.section("wrong split"):
    frame.subheading("A mistake that every shape allows")
    left, middle, right = st.columns(3)
    with left:
        picture(f"head {head}, reshape alone", wrong.weights[head], "wrong", "Weights after a wrong split")
    with middle:
        picture(
            f"head {head}, done right",
            weights[head],
            "beside_wrong",
            f"Weights of head {head}, as they should be",
        )
    right.html(
        f'<p class="line">Q has the shape ({n}, {d_model}). <code>q.reshape({n_heads}, {n}, {d})</code> deals pieces '
        f"of several words to one head; <code>q.reshape({n}, {n_heads}, {d}).transpose(1, 0, 2)</code> is right. Both "
        f"give ({n_heads}, {n}, {d}), both give rows that sum to 1. Largest difference of a weight: "
        f"<b>{gap.max():.4f}</b>"
        + (": none, because there is one head or one word.</p>" if gap.max() == 0 else ".</p>")
    )

of_heads = {f"weights of head {number}": (weights[number], queries, keys) for number in range(n_heads)}
frame.numbers(
    of_heads
    | {
        "joined": (run.joined, word_axis("word", words), features),
        "W_o": (w_o, position_axis("joined feature", d_model, "d_model"), features),
        "output": (run.output, word_axis("word", words), features),
        "average of all heads": (mean_weights, queries, keys),
        "one wide head": (wide_weights, queries, keys),
        "wrong split": (wrong.weights[head], queries, keys),
    },
    frame.sentence_code() | {"head": head},
    key="heads_numbers",
)
frame.to_notice(
    "Heads do not share anything but the words they read: each has its own projections, its own softmax, its own part "
    "of the joined vector. All of them run in one array operation."
)
with steps.section("guess"):
    state = (settings, head, query, key)
    name = f'<b class="query">{literal(words[query])}</b>'
    strongest = weights[:, query].argmax(axis=-1)
    questions.choice(
        "targets",
        f"At how many different words do the {n_heads} heads look most, from {name}?",
        [str(count) for count in range(1, min(n, n_heads) + 1)],
        lambda: str(len(set(strongest.tolist()))),
        lambda: (
            "Their favourites: " + ", ".join(literal(keys.names[place]) for place in dict.fromkeys(strongest)) + "."
        ),
        state,
    )
    questions.number(
        "sharpest",
        f"How large is the largest weight of {name} in the average of all heads?",
        (0.0, 1.0),
        lambda: float(mean_weights[query].max()),
        lambda true: (
            f"In the single heads it is {', '.join(f'{row.max():.2f}' for row in weights[:, query])}. Where heads look "
            "at different words, their average looks at none of them strongly."
        ),
        state,
    )
frame.way_on("multi_head")


def check() -> Agreement:
    """Every head's weights and the mixed output, by PyTorch."""
    from core import torch_reference

    theirs = torch_reference.multi_head(example.x, example.w_q, example.w_k, example.w_v, w_o)
    return compare({"weights": weights, "output": run.output}, theirs)


with checked:
    torch_check.show(
        check,
        "nn.MultiheadAttention with these projections, head by head",
        on_request=True,
        state=(words, d, n_heads, settings.seed),
    )
