"""Query, key, value: the whole computation of one head, step by step, and any cell of it worked out."""

import streamlit as st

from core.agreement import Agreement, compare
from core.attention import self_attention
from core.examples import draw_example
from core.softmax import softmax
from ui import controls, frame, questions, shown, steps, torch_check, view
from ui.charts.heat_map import position_axis, word_axis
from ui.derivation import Cell, Derivation
from ui.literal import literal
from ui.pages import DERIVATION

checked = frame.heading(
    "query_key_value",
    "Every word asks a question (:blue[query]), offers a label (:orange[key]) and gives its content (:green[value]).",
)
settings = controls.settings()
words = controls.need_words()
n, d, d_model = len(words), settings.d_head, settings.d_model

example = draw_example(words, d, settings.n_heads, settings.seed)
queries, keys, positions = word_axis("query", words), word_axis("key", words), word_axis("word", words)
features, inputs = position_axis("feature", d, "d"), position_axis("input feature", d_model, "d_model")

with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    head = controls.pick("head", controls.head_labels(), "head", width=80)
    query = controls.pick('<b class="query">query</b>', queries.names, "query", width=150)
    key = controls.pick('<b class="key">key</b>', keys.names, "key", default=3, width=150)
    feature = controls.pick('<b class="feature">feature</b>', features.names, "feature", width=80)
    if not view.now().presenting:
        steps.bar(DERIVATION)
step = shown.now().step

w = {"Q": example.w_q[head], "K": example.w_k[head], "V": example.w_v[head]}
run = self_attention(example.x, *w.values())
attention = run.attention
with steps.section(*DERIVATION):
    cell = Cell(query, key, feature, st.session_state.get("of", "Q"))
    Derivation(words, example.x, w, run, cell, step).show()

frame.provenance(
    f"Embeddings and W are <b>random</b> (seed {settings.seed}): the pattern means nothing yet. "
    "Everything else is <b>computed</b> from them, here and now."
    " Any cell can be clicked, or picked above."
)
frame.numbers(
    {
        "X": (example.x, positions, inputs),
        "W_q": (w["Q"], inputs, features),
        "W_k": (w["K"], inputs, features),
        "W_v": (w["V"], inputs, features),
        "Q": (run.q, queries, features),
        "K": (run.k, keys, features),
        "V": (run.v, keys, features),
        "scores": (attention.scores, queries, keys),
        "scaled scores": (attention.scaled_scores, queries, keys),
        "weights": (attention.weights, queries, keys),
        "output": (attention.output, queries, features),
    },
    frame.sentence_code() | {"head": head, "query": query, "key": key, "feature": feature},
    key="qkv_numbers",
)
frame.to_notice(
    "One matrix product serves all words at once: that is why attention trains fast. "
    "Each row of the weights is shared out among all words, and no row knows of the others."
)


def weight_reversed() -> float:
    """The chosen weight in the sentence read backwards."""
    backwards = self_attention(example.x[::-1], *w.values()).attention.weights
    return float(backwards[n - 1 - query, n - 1 - key])


with steps.section("guess"):
    state = (settings, head, query, key)
    word = f'<b class="query">{literal(words[query])}</b>'
    questions.number(
        "unscaled",
        f"In the row of {word}, leave out the division by √{d}: how large is the largest weight then?",
        (0.0, 1.0),
        lambda: float(softmax(attention.scores[query]).max()),
        lambda true: (
            f"With the division it is {attention.weights[query].max():.2f}. Without it all scores of the row are "
            f"{d**0.5:.2f} times as far apart, and the softmax sharpens."
            if d > 1
            else "With d = 1 the division is by 1, so nothing changes."
        ),
        state,
    )
    questions.choice(
        "reversed",
        f"Turn the sentence round, last word first. What happens to the weight from {word} to "
        f'<b class="key">{literal(words[key])}</b>?',
        ("it stays", "it changes"),
        lambda: "it stays" if abs(weight_reversed() - attention.weights[query, key]) < 1e-12 else "it changes",
        lambda: (
            f"It is {attention.weights[query, key]:.6f} before and {weight_reversed():.6f} after: a weight depends on "
            "the two words and on which "
            "others there are, not on where they stand. “Order-blindness” shows what is done about that."
        ),
        state,
    )
frame.way_on("query_key_value")


def check() -> Agreement:
    """Projections, weights and output by PyTorch."""
    from core import torch_reference

    projections = {name: torch_reference.projection(example.x, own) for name, own in w.items()}
    theirs = projections | torch_reference.attention(run.q, run.k, run.v)
    ours = {
        "Q": run.q,
        "K": run.k,
        "V": run.v,
        "scaled_scores": attention.scaled_scores,
        "weights": attention.weights,
        "output": attention.output,
    }
    return compare(ours, theirs)


with checked:
    torch_check.show(check, "nn.functional.linear, softmax and scaled_dot_product_attention")
