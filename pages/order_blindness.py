"""Order-blindness: shuffle the words and see outputs only move; add positions and see them change."""

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.attention import self_attention
from core.examples import ORDER_WORDS, draw_example, draw_position_embedding
from core.order import default_order, draw_order, read_order, reads_as_before, run_two_orders, write_order
from core.positions import rotate, rotation_angles, sinusoidal_encoding
from core.softmax import Floats
from ui import controls, formulas, frame, matrices, torch_check
from ui.charts.heat_map import Panel, position_axis, symmetric_limit, word_axis
from ui.charts.lines import curves_chart, curves_table
from ui.colours import POSITION, VALUE

KINDS = ("sinusoidal", "learned table", "rotary")

checked = frame.heading(
    "order_blindness",
    "Attention sees a set, not a sequence: shuffle the words and its outputs only move along.",
)
settings = controls.settings()
words = controls.need_words()
n, d, d_model = len(words), settings.d_head, settings.d_model
example = draw_example(words, d, settings.n_heads, settings.seed, ORDER_WORDS)
fallback = default_order(words)
if fallback is None:
    st.info(
        "Nothing to see with this sentence: "
        + ("one word has only one order." if n == 1 else "all words are equal, so every order reads the same.")
        + " Type a sentence with two different words."
    )
    frame.way_on("order_blindness")
    raise controls.PageEnds


def shuffle() -> None:
    """Another order, each time a different one, that never reads like the sentence."""
    presses = st.session_state["_shuffles"] = st.session_state.get("_shuffles", 0) + 1
    drawn = draw_order(words, np.random.default_rng([settings.seed, presses]))
    st.session_state["order"] = write_order(drawn or ())


def reverse() -> None:
    """The sentence backwards."""
    st.session_state["order"] = write_order(tuple(reversed(range(n))))


with st.container(horizontal=True, vertical_alignment="center"):
    st.button("Shuffle", icon=":material/shuffle:", on_click=shuffle)
    st.button("Reverse", on_click=reverse, disabled=words == words[::-1])
    placeholder = f"order: {write_order(fallback)}"
    written = controls.text(
        "New order of the positions", "order", "", width=190, placeholder=placeholder, label_visibility="collapsed"
    )
    kind = controls.choice("Positions", KINDS, "positions", KINDS[0], label_visibility="collapsed")
sentences, heads = st.columns([4, 1], vertical_alignment="center")
with heads:
    head = controls.pick("head", controls.head_labels(), "head", width=90)

order = fallback
if written.strip():
    try:
        order = read_order(written, n)
    except ValueError as error:
        controls.notice(f"The order does not fit this sentence: {error}. Used instead: {write_order(fallback)}.")
    else:
        if reads_as_before(words, order):
            controls.notice(
                "In that order the sentence reads as before, which shows nothing. "
                f"Used instead: {write_order(fallback)}."
            )
            order = fallback
shuffled_words = tuple(words[position] for position in order)
sentences.html(formulas.two_sentences(words, shuffled_words))


def positions(count: int) -> Floats:
    """What tells the positions apart: the rows that are added, or the cosine of the angles of rotation."""
    if kind == "rotary":
        return np.cos(rotation_angles(count, d))
    if kind == "learned table":
        return draw_position_embedding(count, d_model, settings.seed)
    return sinusoidal_encoding(count, d_model)


encoding = positions(n)
projections = example.w_q[head], example.w_k[head], example.w_v[head]
added, turn = (None, rotate) if kind == "rotary" else (encoding, None)
plain = run_two_orders(example.x, *projections, order)
placed = run_two_orders(example.x, *projections, order, added, turn)

old, new, features = word_axis("word", words), word_axis("word", shuffled_words), position_axis("feature", d)
height = min(26.0, 150 / n)
for title, run in (("without positions", plain), ("with positions", placed)):
    limit = symmetric_limit(run.output, run.shuffled_output)
    for place, name, values, rows, hue in zip(
        st.columns(3),
        (f"output {title}", "output of the new order", "new order − moved rows"),
        (run.output, run.shuffled_output, run.difference),
        (old, new, new),
        (VALUE, VALUE, POSITION),
        strict=True,
    ):
        with place:
            matrices.draw(
                Panel(name, hue, height=height, column_labels=False),
                values,
                rows,
                features,
                key=f"{name}_{title[:7]}",
                limit=limit,
                alt=f"{name}, {title}; largest difference {run.largest_difference:.1e}",
            )
    said = title if run is plain else f"{title} ({kind})"
    st.html(formulas.order_verdict(said, run.largest_difference, kind == "rotary" and d == 1))

frame.provenance(
    f"Embeddings, projections and the learned table are <b>random</b> (seed {settings.seed}, the table untrained); "
    "sinusoids, rotations and outputs are <b>computed</b>. No mask on this page: under a causal mask a word's row also "
    "depends on how many words stand before it, so the property does not hold there."
)
st.subheader("The positions themselves", anchor=False)
st.markdown(
    {
        "sinusoidal": "Each pair of features is the sine and cosine of one angle, interleaved: fast pairs first, slow "
        "pairs last. Added to the embeddings before the projections; base 10,000.",
        "learned table": "One vector a position, learned like any other parameter; here drawn at random, as before "
        "training. Added to the embeddings before the projections.",
        "rotary": "Nothing is added. Each pair of features of q and k is turned by an angle that grows with the "
        "position, so that a score depends on the distance of two words. Shown: the cosine of each pair's angle."
        + (" The last feature of an odd d has no partner and is not turned." if d % 2 else ""),
    }[kind]
)
columns = position_axis("pair" if kind == "rotary" else "feature", encoding.shape[1])
left, right = st.columns(2)
if encoding.size == 0:
    st.info("With d = 1 there is no pair of features to turn: rotary positions change nothing.")
else:
    with left:
        matrices.draw(
            Panel(f"{kind} ({n} × {encoding.shape[1]})", POSITION, height=height, column_title=columns.title),
            encoding,
            old,
            columns,
            key="encoding",
            limit=symmetric_limit(encoding),
            alt=f"{kind} positions, {n} rows by {encoding.shape[1]} columns",
        )
    with right:
        many = max(n, 32)  # curves need more positions than a short sentence has
        st.vega_lite_chart(
            curves_table(positions(many)),
            curves_chart(columns.title),
            key="curves",
            alt=f"The first {min(8, encoding.shape[1])} columns of the positions as curves over {many} positions",
        )
frame.numbers(
    {
        "output without positions": (plain.output, old, features),
        "output of the new order, without positions": (plain.shuffled_output, new, features),
        "difference without positions": (plain.difference, new, features),
        "output with positions": (placed.output, old, features),
        "output of the new order, with positions": (placed.shuffled_output, new, features),
        "difference with positions": (placed.difference, new, features),
        "positions": (encoding, old, columns),
    },
    key="order_numbers",
)
st.markdown(
    "**Notice.** Without positions the rows move with their words; they do not stay where they are. The difference is "
    "not exactly 0, because sums are taken in another order and rounding differs in the last digit."
)
st.markdown("**Predict.** Swap two neighbours instead of the first and last word: is the difference smaller?")
frame.way_on("order_blindness")


def check() -> Agreement:
    """Output of both orders, without and with positions, by PyTorch."""
    from core import torch_reference

    ours, theirs = {}, {}
    positions = 0.0 if added is None else added
    for name, rows, run in (
        ("", example.x, "output"),
        ("of the new order, ", example.x[list(order)], "shuffled_output"),
    ):
        for label, x, turned, result in (
            ("without positions", rows, None, plain),
            ("with positions", rows + positions, turn, placed),
        ):
            own = self_attention(x, *projections, turn=turned)
            found = torch_reference.attention(own.q, own.k, own.v)
            ours[f"{name}{label}"], theirs[f"{name}{label}"] = getattr(result, run), found["output"]
            ours[f"scores {name}{label}"] = own.attention.scaled_scores
            theirs[f"scores {name}{label}"] = found["scaled_scores"]
    return compare(ours, theirs)


with checked:
    what = "scaled_dot_product_attention on our q, k and v"
    torch_check.show(check, what + (" (PyTorch has no rotary function of its own)" if turn else ""), on_request=True)
