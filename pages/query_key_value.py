"""Query, key, value: the whole computation of one head, and one cell of it worked out."""

from dataclasses import replace

import streamlit as st

from core.agreement import Agreement, compare
from core.attention import self_attention
from core.examples import draw_example
from ui import controls, formulas, frame, matrices, torch_check
from ui.charts.heat_map import (
    PICTURE_ABOVE,
    Panel,
    join,
    longest_text,
    matrix_table,
    position_axis,
    symmetric_limit,
    word_axis,
)
from ui.colours import KEY, QUERY, VALUE

checked = frame.heading(
    "query_key_value",
    "Every word asks a question (:blue[query]), offers a label (:orange[key]) and gives its content (:green[value]).",
)
settings = controls.settings()
words = controls.need_words()
n, d, d_model = len(words), settings.d_head, settings.d_model

example = draw_example(words, d, settings.n_heads, settings.seed)
queries, keys, features = word_axis("query", words), word_axis("key", words), position_axis("feature", d)

with st.container(horizontal=True):
    head = controls.pick("head", controls.head_labels(), "head", width=90)
    query = controls.pick('<b class="query">query</b>', queries.names, "query")
    key = controls.pick('<b class="key">key</b>', keys.names, "key", default=3)

w_q, w_k, w_v = example.w_q[head], example.w_k[head], example.w_v[head]
run = self_attention(example.x, w_q, w_k, w_v)
attention = run.attention
score, scaled_score, weight = formulas.cell_of(attention, query, key)


def follow_click() -> None:
    """Take the clicked cell over into the two pickers."""
    cells = st.session_state["weights"]["selection"].get("cell", [])
    if cells and cells[0]["column_position"] < n:
        st.session_state["query"] = queries.names[int(cells[0]["row_position"])]
        st.session_state["key"] = keys.names[int(cells[0]["column_position"])]


# Step 1: the projections, each weight matrix beside what it makes.
inputs = position_axis("feature", d_model)
decimals = 2 if max(n, d) <= 5 else 1  # as many as fit into the narrower cells of more words or features
word_height, w_height = min(28.0, 168 / n), min(14.0, 112 / d_model)
with st.container(horizontal=True, gap="small"):
    panel = Panel(f"X ({n} × {d_model})", width=min(14.0, 112 / d_model), height=word_height, column_labels=False)
    matrices.draw(
        panel,
        example.x,
        queries,
        inputs,
        key="x",
        decimals=None,
        limit=symmetric_limit(example.x),
        picked=[(query, None), (key, None)],
        alt=f"Embeddings X, {n} words by {d_model} features",
    )
    for name, hue, w, made, row in (
        ("q", QUERY, w_q, run.q, query),
        ("k", KEY, w_k, run.k, key),
        ("v", VALUE, w_v, run.v, key),
    ):
        titles = f"W_{name} ({d_model} × {d})", f"{name.upper()} ({n} × {d})"
        limits = symmetric_limit(w), symmetric_limit(made)
        alt = f"{titles[0]} and the product X W_{name} = {titles[1]}; row {row} is used by the chosen cell"
        if max(w.size, made.size, example.x.size) > PICTURE_ABOVE:
            matrices.picture(titles[0], w, limit=limits[0], width=96, alt=alt)
            matrices.picture(titles[1], made, limit=limits[1], width=96, picked=[(row, None)], alt=alt)
            continue
        row_pick: matrices.Picked = [(row, None)]
        made_table = matrix_table(made, queries, features, "signed", limits[1], None, row_pick, decimals, "made")
        table = join(matrix_table(w, inputs, features, limit=limits[0], matrix="w", decimals=None), made_table)
        bare = Panel(hue=hue, row_labels=False, column_labels=False, characters=longest_text(made_table))
        w_panel = replace(bare, title=titles[0], width=min(14.0, 44 / d), height=w_height, matrix="w")
        made_panel = replace(bare, title=titles[1], width=min(30.0, 120 / d), height=word_height, matrix="made")
        matrices.send(table, w_panel, made_panel, key=f"project_{name}", alt=alt)

# Steps 2 to 5: one column each, the picture above, the chosen cell's arithmetic below.
steps = st.columns([1, 1, 1.7, 0.95])
cell = [(query, key)]
signed = symmetric_limit(attention.scores, attention.scaled_scores)
with steps[0]:
    panel = Panel(f"scores Q Kᵀ ({n} × {n})", row_labels=False, height=min(34.0, 200 / n), column_labels=False)
    matrices.draw(
        panel,
        attention.scores,
        queries,
        keys,
        key="scores",
        limit=signed,
        picked=cell,
        decimals=decimals,
        alt="Scores q · k",
    )
    st.html(formulas.dot_product(run.q[query], run.k[key]))
with steps[1]:
    panel = Panel(f"scaled ÷ √{d} ({n} × {n})", row_labels=False, height=min(34.0, 200 / n), column_labels=False)
    matrices.draw(
        panel,
        attention.scaled_scores,
        queries,
        keys,
        key="scaled",
        decimals=decimals,
        limit=signed,
        picked=cell,
        alt="Scaled scores",
    )
    st.html(formulas.scaled(score, scaled_score, d))
with steps[2]:
    panel = Panel(
        f"weights: softmax ({n} × {n})",
        row_title="query",
        column_title="key",
        height=min(34.0, 320 / n),
        pick="cell",
    )
    matrices.draw(
        panel,
        attention.weights,
        queries,
        keys,
        key="weights",
        ramp="weights",
        picked=cell,
        on_pick=follow_click,
        row_sums=True,
        most=matrices.INTERACTIVE_UP_TO,
        alt=f"Attention weights of head {head}; the chosen cell is {weight:.2f}",
    )
    st.html(formulas.softmax_row(keys.names, attention.scaled_scores[query], attention.weights[query], key))
with steps[3]:
    panel = Panel(
        f"output ({n} × {d})",
        VALUE,
        row_labels=False,
        height=min(34.0, 200 / n),
        column_labels=False,
    )
    matrices.draw(
        panel,
        attention.output,
        queries,
        features,
        key="output",
        decimals=decimals,
        limit=symmetric_limit(attention.output),
        picked=[(query, None)],
        alt=f"Output, {n} words by {d} features",
    )
    st.html(formulas.contribution(weight, run.v[key], attention.output[query]))

frame.provenance(
    f"Embeddings and W are <b>random</b> (seed {settings.seed}): the pattern means nothing yet. "
    "Everything else is <b>computed</b> from them, here and now."
)
frame.numbers(
    {
        "X": (example.x, queries, inputs),
        "W_q": (w_q, inputs, features),
        "W_k": (w_k, inputs, features),
        "W_v": (w_v, inputs, features),
        "Q": (run.q, queries, features),
        "K": (run.k, keys, features),
        "V": (run.v, keys, features),
        "scores": (attention.scores, queries, keys),
        "scaled scores": (attention.scaled_scores, queries, keys),
        "weights": (attention.weights, queries, keys),
        "output": (attention.output, queries, features),
    },
    key="qkv_numbers",
)
st.markdown(
    "**Notice.** One matrix product serves all words at once: that is why attention trains fast. "
    "Each row of the weights is shared out among all words, and no row knows of the others."
)
st.markdown("**Predict.** Set d to 64: will the largest weight of a row grow or shrink? Then look at the next page.")
frame.way_on("query_key_value")


def check() -> Agreement:
    """Projections, weights and output by PyTorch."""
    from core import torch_reference

    projections = {name: torch_reference.projection(example.x, w) for name, w in (("Q", w_q), ("K", w_k), ("V", w_v))}
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
