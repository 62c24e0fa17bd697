"""Causal mask: what it does to scores and weights, and whether a later word leaks into an earlier row."""

from dataclasses import replace

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare, row_differences
from core.attention import attend, self_attention
from core.examples import draw_example
from core.masks import ALIGNMENTS, causal_mask, count_allowed
from core.tokens import split_words
from ui import controls, formulas, frame, matrices, torch_check
from ui.charts.heat_map import Panel, named_axis, symmetric_limit, word_axis
from ui.charts.heat_map import position_axis as numbered
from ui.literal import literal

checked = frame.heading(
    "causal_mask",
    "A generator must not see later words: their scores become −∞, their weights exactly 0.",
)
settings = controls.settings()
words = controls.need_words()
n = len(words)
example = draw_example(words, settings.d_head, settings.n_heads, settings.seed)
queries, keys = word_axis("query", words), word_axis("key", words)

with st.container(horizontal=True, vertical_alignment="center"):
    causal = controls.switch("Causal mask", "causal", True)
    head = controls.pick("head", controls.head_labels(), "head", width=90)
    allowed = causal_mask(n)
    frame.provenance(
        f"{count_allowed(allowed)} of {n * n} pairs are allowed by the mask. Embeddings and projections are "
        f"<b>random</b> (seed {settings.seed}); the rest is <b>computed</b>."
    )

projections = example.w_q[head], example.w_k[head], example.w_v[head]
free = self_attention(example.x, *projections)
used_mask = allowed if causal else None
used = self_attention(example.x, *projections, used_mask)
limit = symmetric_limit(free.attention.scaled_scores)
height = min(30.0, 190 / n)
plain = Panel(height=height, row_labels=False, column_labels=False)

upper = st.columns([1.3, 1, 1])
with upper[0]:
    panel = Panel("mask: may attend = 1", row_title="query", column_labels=False, height=height)
    matrices.draw(
        panel,
        allowed.astype(float),
        queries,
        keys,
        key="mask",
        ramp="weights",
        may_attend=allowed,
        decimals=0,
        alt=f"Causal mask: each of {n} queries may attend to itself and what stands before it",
    )
for place, title, run, mask in (
    (upper[1], "scaled scores before", free, None),
    (upper[2], "scaled scores after" if causal else "scaled scores after (mask off)", used, used_mask),
):
    with place:
        matrices.draw(
            replace(plain, title=title),
            run.attention.scaled_scores,
            queries,
            keys,
            key=f"scores_{place is upper[2]}",
            limit=limit,
            may_attend=mask,
            alt=title,
        )
lower = st.columns([1.3, 1, 1])
with lower[0]:
    panel = Panel(
        "weights with the mask" if causal else "weights (mask off)",
        row_title="query",
        column_title="key",
        height=height,
    )
    matrices.draw(
        panel,
        used.attention.weights,
        queries,
        keys,
        key="weights_used",
        ramp="weights",
        may_attend=used_mask,
        row_sums=True,
        most=matrices.INTERACTIVE_UP_TO,
        alt="Weights: everything above the diagonal is exactly 0" if causal else "Weights without a mask",
    )
with lower[1]:
    matrices.draw(
        replace(plain, title="weights without a mask"),
        free.attention.weights,
        queries,
        keys,
        key="weights_free",
        ramp="weights",
        row_sums=True,
        alt="Weights without a mask, for comparison",
    )
with lower[2]:
    leak_place = st.container()

st.subheader("Does a later word leak?", anchor=False)
with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
    position = controls.pick("replace", queries.names, "replace", n - 1)
    st.html('<p class="quiet">by</p>', width="content")
    replacement = controls.text("by", "by", "ball", width=220, label_visibility="collapsed", placeholder="one word")
new_words = split_words(replacement)
before = used.attention.output
moved_mask = moved_free = np.zeros(n)
if len(new_words) != 1:
    st.info(f"Wanted: one word to put in its place. Given: {len(new_words)} words.")
elif new_words[0] == words[position]:
    st.info("That is the word which already stands there: nothing can move. Choose another one.")
else:
    changed = draw_example(
        (*words[:position], new_words[0], *words[position + 1 :]), settings.d_head, settings.n_heads, settings.seed
    )
    moved_mask = row_differences(
        self_attention(example.x, *projections, allowed).attention.output,
        self_attention(changed.x, *projections, allowed).attention.output,
    )
    moved_free = row_differences(free.attention.output, self_attention(changed.x, *projections).attention.output)
    st.html(formulas.leak_verdict(words, position, new_words[0], moved_mask, moved_free))
moved = np.stack([moved_mask, moved_free], axis=1)
with leak_place:
    sides = named_axis("", ("with mask", "without"))
    matrices.draw(
        Panel("how far each output row moved", height=height, row_labels=False),
        moved,
        queries,
        sides,
        key="moved",
        limit=symmetric_limit(moved),
        picked=[(position, None)],
        alt=f"Movement of each output row when word {position} is replaced; with the mask none before it moves",
    )
if n == 1:
    st.info("One word has nothing before or after it: the mask changes nothing, and its weight is 1.")

st.subheader("More keys than queries", anchor=False)
st.markdown(
    "With as many queries as keys there is one triangle. When new words are compared with a cache of old ones there "
    "are more keys, and two conventions for its corner. All scores are equal here, so the weights show the mask alone."
)
with st.container(horizontal=True):
    n_query = controls.number_choice("Queries", range(1, 9), "n_query", 2)
    n_key = controls.number_choice("Keys", range(1, 9), "n_key", 5)
sides_of_mask = numbered("query", n_query), numbered("key", n_key)
shapes = {}
for place, align, said in zip(
    st.columns(2),
    ALIGNMENTS,
    (
        "query i is position i (PyTorch's is_causal=True)",
        "the last query is the last key (a cache; PyTorch's causal_lower_right)",
    ),
    strict=True,
):
    with place:
        mask = causal_mask(n_query, n_key, align)
        zeros = np.zeros((n_query, 1)), np.zeros((n_key, 1)), np.zeros((n_key, 1))
        shapes[align] = attend(*zeros, mask).weights
        panel = Panel(align, row_title="query", height=30)
        matrices.draw(
            panel,
            shapes[align],
            *sides_of_mask,
            key=f"shape_{align}",
            ramp="weights",
            may_attend=mask,
            row_sums=True,
            alt=f"{align}: {count_allowed(mask)} of {mask.size} pairs allowed",
        )
        st.html(f'<p class="quiet">{said}: {count_allowed(mask)} of {mask.size} pairs allowed.</p>')
        blocked = [str(row) for row in np.flatnonzero(~mask.any(axis=1))]
        if blocked:
            st.html(
                f'<p class="notice">No allowed key for query {", ".join(blocked)}: weights and output are 0 '
                "(PyTorch's softmax gives NaN there).</p>"
            )

square = queries, keys
frame.numbers(
    {
        "mask": (allowed.astype(float), *square),
        "scaled scores before": (free.attention.scaled_scores, *square),
        "scaled scores after": (used.attention.scaled_scores, *square),
        "weights": (used.attention.weights, *square),
        "weights without a mask": (free.attention.weights, *square),
        "output": (used.attention.output, queries, numbered("feature", settings.d_head)),
        "how far each output row moved": (moved, queries, sides),
        "top-left": (shapes["top-left"], *sides_of_mask),
        "bottom-right": (shapes["bottom-right"], *sides_of_mask),
    },
    key="mask_numbers",
)
st.html(
    f'<p class="line"><b>Notice.</b> The first row has one allowed key, so {literal(words[0])} takes all of '
    "itself; the last row is the same with and without the mask. The plain formula still computes all pairs and throws "
    "half of them away.</p>"
)
st.markdown("**Predict.** Replace the first word instead of the last: which rows move now?")
frame.way_on("causal_mask")


def check() -> Agreement:
    """Weights and output by PyTorch, and its is_causal flag against our mask."""
    from core import torch_reference

    theirs = torch_reference.attention(used.q, used.k, used.v, used_mask)
    ours = {name: getattr(used.attention, name) for name in ("scaled_scores", "weights", "output")}
    flagged = torch_reference.causal_output(used.q, used.k, used.v)
    masked = attend(used.q, used.k, used.v, allowed).output
    return compare(ours | {"is_causal": masked}, theirs | {"is_causal": flagged})


with checked:
    torch_check.show(
        check, "softmax, and scaled_dot_product_attention with attn_mask and with is_causal", on_request=True
    )
