"""Causal mask: what it does to scores and weights, and whether a later word leaks into an earlier row."""

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare, row_differences
from core.attention import attend, self_attention
from core.examples import draw_example
from core.masks import ALIGNMENTS, causal_mask, count_allowed
from core.tokens import split_words
from ui import controls, formulas, frame, matrices, questions, steps, torch_check, worked
from ui.charts.heat_map import Panel, named_axis, position_axis, symmetric_limit, word_axis
from ui.literal import literal
from ui.matrices import Follow, Matrix

checked = frame.heading(
    "causal_mask",
    "A generator must not see later words: their scores become −∞, their weights exactly 0.",
)
settings = controls.settings()
words = controls.need_words()
n = len(words)
example = draw_example(words, settings.d_head, settings.n_heads, settings.seed)
queries, keys = word_axis("query", words), word_axis("key", words)

with steps.section("mask", "weights", "leak"), st.container(horizontal=True, vertical_alignment="center"):
    causal = controls.switch("Causal mask", "causal", True)
    head = controls.pick("head", controls.head_labels(), "head", width=80)
    query = controls.pick('<b class="query">query</b>', queries.names, "query", width=150)
    key = controls.pick('<b class="key">key</b>', keys.names, "key", default=3, width=150)

allowed = causal_mask(n)
projections = example.w_q[head], example.w_k[head], example.w_v[head]
free = self_attention(example.x, *projections)
used_mask = allowed if causal else None
used = self_attention(example.x, *projections, used_mask)
limit = symmetric_limit(free.attention.scaled_scores)
height = min(30.0, 190 / n)
cell, follow = [(query, key)], Follow("query", "key")
after = "scaled scores after" if causal else "scaled scores after (mask off)"
masked = "weights with the mask" if causal else "weights (mask off)"
plain, named = Panel(height=height, row_labels=False, column_labels=False), Panel(height=height)

with steps.section("mask"):
    upper = st.columns([1.3, 1, 1])
    with upper[0]:
        matrices.show(
            Matrix(
                "mask: may attend = 1",
                allowed.astype(float),
                queries,
                keys,
                "maskᵀ: may attend = 1",
                ramp="weights",
                may_attend=allowed,
                picked=cell,
                decimals=0,
            ),
            Panel(height=height, column_labels=False),
            key="mask",
            alt=f"Causal mask: each of {n} queries may attend to itself and what stands before it",
            follow=follow,
        )
    for place, name, run, mask in (
        (upper[1], "scaled scores before", free, None),
        (upper[2], after, used, used_mask),
    ):
        with place:
            matrices.show(
                Matrix(name, run.attention.scaled_scores, queries, keys, limit=limit, may_attend=mask, picked=cell),
                plain,
                key=f"scores_{run is used}",
                alt=name,
                follow=follow,
            )
with steps.section("weights"):
    lower = st.columns([1.3, 1, 1])
    with lower[0]:
        weights = Matrix(
            masked, used.attention.weights, queries, keys, ramp="weights", may_attend=used_mask, picked=cell
        )
        matrices.show(
            weights,
            named,
            key="weights_used",
            alt="Weights: everything above the diagonal is exactly 0" if causal else "Weights without a mask",
            follow=follow,
            sums=True,
            most=matrices.INTERACTIVE_UP_TO,
        )
    with lower[1]:
        matrices.show(
            Matrix("weights without a mask", free.attention.weights, queries, keys, ramp="weights", picked=cell),
            plain,
            key="weights_free",
            alt="Weights without a mask, for comparison",
            follow=follow,
            sums=True,
        )
    with lower[2]:
        score, scaled_score, _ = worked.cell_of(free.attention, query, key)
        hidden = causal and not allowed[query, key]
        st.html(worked.scaled(score, scaled_score, settings.d_head, hidden))
        own = used.attention
        st.html(worked.softmax_row(keys.names, own.scaled_scores[query], own.weights[query], key))
    if n == 1:
        st.info("One word has nothing before or after it: the mask changes nothing, and its weight is 1.")
frame.provenance(
    f"{count_allowed(allowed)} of {n * n} pairs are allowed by the mask. Embeddings and projections are "
    f"<b>random</b> (seed {settings.seed}); the rest is <b>computed</b>."
)

with steps.section("leak"):
    frame.subheading("Does a later word leak?")
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        position = controls.pick("replace", queries.names, "replace", n - 1)
        st.html('<p class="quiet">by</p>', width="content")
        replacement = controls.text("by", "by", "ball", width=220, label_visibility="collapsed", placeholder="one word")
    new_words = split_words(replacement)
    moved = np.zeros((n, 2))
    outputs = free.attention.output, free.attention.output
    if len(new_words) != 1:
        st.info(f"Wanted: one word to put in its place. Given: {len(new_words)} words.")
    elif new_words[0] == words[position]:
        st.info("That is the word which already stands there: nothing can move. Choose another one.")
    else:
        changed = draw_example(
            (*words[:position], new_words[0], *words[position + 1 :]), settings.d_head, settings.n_heads, settings.seed
        )
        for column, mask in enumerate((allowed, None)):
            other = self_attention(changed.x, *projections, mask).attention.output
            outputs = self_attention(example.x, *projections, mask).attention.output, other
            moved[:, column] = row_differences(*outputs)
        st.html(formulas.leak_verdict(words, position, new_words[0], moved[:, 0], moved[:, 1]))
    sides = named_axis("side", ("with mask", "without"))
    left, right = st.columns([1, 1])
    with left:
        matrices.show(
            Matrix(
                "how far each row moved",
                moved,
                queries,
                sides,
                limit=symmetric_limit(moved),
                picked=[(position, None), (query, 1)],
            ),
            named,
            key="moved",
            alt=f"Movement of each output row when word {position} is replaced; with the mask none before it moves",
            follow=Follow("query"),
        )
    with right:
        st.html(
            f'<p class="line">Output row of <b class="query">{literal(queries.names[query])}</b> without a mask, '
            "before and after; how far a row moved is the largest difference.</p>"
        )
        st.html(worked.movement(outputs[0][query], outputs[1][query]))

with steps.section("corners"):
    frame.subheading("More keys than queries")
    st.markdown(
        "With as many queries as keys there is one triangle. When new words are compared with a cache of old ones "
        "there are more keys, and two conventions for its corner. All scores are equal here, so the weights show the "
        "mask alone."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        n_query = controls.number_choice("Queries", range(1, 9), "n_query", 2)
        n_key = controls.number_choice("Keys", range(1, 9), "n_key", 5)
        of_mask = position_axis("query", n_query), position_axis("key", n_key)
        corner_query = controls.pick('<b class="query">query</b>', of_mask[0].names, "corner_query", width=80)
        corner_key = controls.pick('<b class="key">key</b>', of_mask[1].names, "corner_key", width=80)
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
            equal = attend(*zeros, mask)
            shapes[align] = equal.weights
            matrices.show(
                Matrix(
                    align,
                    equal.weights,
                    *of_mask,
                    ramp="weights",
                    may_attend=mask,
                    picked=[(corner_query, corner_key)],
                ),
                Panel(height=30),
                key=f"shape_{align}",
                alt=f"{align}: {count_allowed(mask)} of {mask.size} pairs allowed",
                follow=Follow("corner_query", "corner_key"),
                sums=True,
            )
            st.html(f'<p class="quiet">{said}: {count_allowed(mask)} of {mask.size} pairs allowed.</p>')
            with steps.section(steps.PAGE_ONLY):
                st.html(
                    worked.softmax_row(
                        of_mask[1].names, equal.scaled_scores[corner_query], equal.weights[corner_query], corner_key
                    )
                )
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
        "output": (used.attention.output, queries, position_axis("feature", settings.d_head, "d")),
        "how far each output row moved": (moved, queries, sides),
        "top-left": (shapes["top-left"], *of_mask),
        "bottom-right": (shapes["bottom-right"], *of_mask),
    },
    frame.sentence_code()
    | {
        "head": head,
        "causal": causal,
        "replace": position,
        "by": " ".join(new_words),
        "n_query": n_query,
        "n_key": n_key,
    },
    key="mask_numbers",
)
frame.to_notice(
    f"The first row has one allowed key, so {literal(words[0])} takes all of "
    "itself; the last row is the same with and without the mask. The plain formula still computes all pairs and throws "
    "half of them away."
)


with steps.section("guess"):
    middle = (n - 1) // 2
    questions.choice(
        "rows_moved",
        f"With the mask on, {literal(queries.names[middle])} is replaced by a word of another language. How many of "
        f"the {n} output rows can move?",
        [str(count) for count in sorted({0, 1, middle, middle + 1, n - middle, n})],
        lambda: str(int(allowed[:, middle].sum())),
        lambda: (
            f"Its own row and every later one: {n} − {middle} = {n - middle}. The {middle} rows before it may not look "
            "at it, so they stay the same to the last bit."
        ),
        (settings, head),
    )
    questions.number(
        "allowed_share",
        f"Which share of the {n * n} pairs does the mask allow?",
        (0.0, 1.0),
        lambda: count_allowed(allowed) / n**2,
        lambda true: (
            f"{count_allowed(allowed)} of {n * n}: n (n + 1) / 2. It sinks towards one half as the sentence gets "
            f"longer; for 1,000 words it is {count_allowed(causal_mask(1000)) / 1e6:.2%}."
        ),
        words,
    )
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
