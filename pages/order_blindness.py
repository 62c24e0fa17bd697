"""Order-blindness: shuffle the words and see outputs only move; add positions and see them change."""

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.attention import self_attention
from core.examples import ORDER_WORDS, draw_example, draw_position_embedding
from core.order import default_order, draw_order, read_order, reads_as_before, run_two_orders, write_order
from core.positions import rotate, rotation_angles, sinusoidal_encoding
from core.softmax import Floats
from ui import controls, draw, formulas, frame, matrices, questions, steps, torch_check, worked
from ui.charts.heat_map import Panel, position_axis, symmetric_limit, word_axis
from ui.charts.lines import curves_chart, curves_table
from ui.colours import POSITION, VALUE
from ui.matrices import Follow, Matrix

ABOUT = {
    "sinusoidal": (
        "Each pair of features is the sine and cosine of one angle, interleaved: fast pairs first, slow pairs last. "
        "Added to the embeddings before the projections; base 10,000."
    ),
    "learned table": (
        "One vector a position, learned like any other parameter; here drawn at random, as before training. Added to "
        "the embeddings before the projections."
    ),
    "rotary": (
        "Nothing is added. Each pair of features of q and k is turned by an angle that grows with the position, so "
        "that a score depends on the distance of two words. Shown: the cosine of each pair's angle."
    ),
}
KINDS = tuple(ABOUT)

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
    controls.take({"order": write_order(drawn or ())})


def reverse() -> None:
    """The sentence backwards."""
    controls.take({"order": write_order(tuple(reversed(range(n))))})


with (
    steps.section("without", "with"),
    st.container(horizontal=True, vertical_alignment="center", gap="small"),
):
    st.button("Shuffle", icon=":material/shuffle:", on_click=shuffle)
    st.button("Reverse", on_click=reverse, disabled=words == words[::-1])
    placeholder = f"order: {write_order(fallback)}"
    written = controls.text(
        "New order of the positions", "order", "", width=170, placeholder=placeholder, label_visibility="collapsed"
    )
    sentences = st.container()
with (
    steps.section("without", "with", "encoding"),
    st.container(horizontal=True, vertical_alignment="center", gap="small"),
):
    kind = controls.choice("Positions", KINDS, "positions", KINDS[0], label_visibility="collapsed")
    head = controls.pick("head", controls.head_labels(), "head", width=80)
    word = controls.pick("word", tuple(f"{place} {word}" for place, word in enumerate(words)), "word", width=140)
    feature = controls.pick(
        '<b class="feature">feature</b>', tuple(str(place) for place in range(d)), "feature", width=80
    )

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
at_new_place = order.index(word)

old, new = word_axis("word", words), word_axis("word", shuffled_words)
features = position_axis("feature", d, "d")
by_place = tuple(old.names[place] for place in order)  # of the new order, by where a word stands in the sentence
height = min(26.0, 150 / n)
runs = (
    ("without", "without positions", plain, 0.0, None),
    ("with", "with positions", placed, 0.0 if added is None else added, turn),
)
for step, title, run, *_ in runs:
    with steps.section(step):
        limit = symmetric_limit(run.output, run.shuffled_output)
        for place, name, values, rows, at, hue in zip(
            st.columns(3),
            (f"output {title}", "output of the new order", "new order − moved rows"),
            (run.output, run.shuffled_output, run.difference),
            (old, new, new),
            (word, at_new_place, at_new_place),
            (VALUE, VALUE, POSITION),
            strict=True,
        ):
            with place:
                matrices.show(
                    Matrix(name, values, rows, features, limit=limit, picked=[(at, feature)]),
                    Panel(hue=hue, height=height, column_labels=False),
                    key=f"{name}_{title[:7]}",
                    alt=f"{name}, {title}; largest difference {run.largest_difference:.1e}",
                    follow=Follow("word", "feature", {"work_open": True}, by_place if rows is new else ()),
                )
        said = title if run is plain else f"{title} ({kind})"
        st.html(formulas.order_verdict(said, run.largest_difference, kind == "rotary" and d == 1))
with steps.section(steps.PAGE_ONLY), frame.disclosure("The picked cell, worked out", "work_open") as opened:
    if opened:
        for title, run, extra, turned in (row[1:] for row in runs):
            st.html(f'<p class="line"><b>{title[0].upper()}{title[1:]}</b></p>')
            own = self_attention(example.x + extra, *projections, turn=turned)
            other = self_attention(example.x[list(order)] + extra, *projections, turn=turned)
            left, middle, right = st.columns(3)
            for place, one, names, at in ((left, own, old.names, word), (middle, other, new.names, at_new_place)):
                place.html(worked.mixture(names, one.attention.weights[at], one.v[:, feature]))
            pair = run.shuffled_output[at_new_place, feature], run.output[word, feature]
            right.html(worked.subtraction(("new order", "moved row", "difference"), pair))
frame.provenance(
    f"Embeddings, projections and the learned table are <b>random</b> (seed {settings.seed}, the table untrained); "
    "sinusoids, rotations and outputs are <b>computed</b>. No mask on this page: under a causal mask a word's row also "
    "depends on how many words stand before it, so the property does not hold there."
)

with steps.section("encoding"):
    frame.subheading("The positions themselves")
    with steps.section(steps.PAGE_ONLY):
        unpaired = (
            " The last feature of an odd d has no partner and is not turned." if kind == "rotary" and d % 2 else ""
        )
        st.markdown(ABOUT[kind] + unpaired)
    pairs = kind == "rotary"
    columns = position_axis("pair" if pairs else "input feature", encoding.shape[1], "d / 2" if pairs else "d_model")
    left, right = st.columns(2)
    if encoding.size == 0:
        st.info("With d = 1 there is no pair of features to turn: rotary positions change nothing.")
    else:
        with left:
            entry = controls.pick('<b class="width">entry</b>', columns.names, "entry", width=90)
            matrices.show(
                Matrix(kind, encoding, old, columns, limit=symmetric_limit(encoding), picked=[(word, entry)]),
                Panel(hue=POSITION, height=height),
                key="encoding",
                alt=f"{kind} positions",
                follow=Follow("word", "entry"),
            )
            value = float(encoding[word, entry])
            if kind == "sinusoidal":
                st.html(worked.sinusoid(word, entry, d_model, value))
            elif kind == "rotary":
                st.html(worked.rotation(word, entry, d, value))
            else:
                st.html(
                    f'<p class="line">Entry {entry} of position {word}: drawn at random, <b>{value:.6f}</b>; there is '
                    "nothing to work out.</p>"
                )
        with right:
            many = max(n, 32)  # curves need more positions than a short sentence has
            draw.chart(
                curves_table(positions(many)),
                curves_chart(columns.title),
                name=f"{kind} over {many} positions",
                key="curves",
                alt=f"The first {min(8, encoding.shape[1])} columns of the positions as curves over {many} positions; "
                + (
                    "the first ones turn fastest"
                    if kind != "learned table"
                    else "random, so neighbours have nothing in common"
                ),
                grow=1.5,
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
    frame.sentence_code() | {"head": head, "order": list(order), "positions": kind},
    key="order_numbers",
)
frame.to_notice(
    "Without positions the rows move with their words; they do not stay where they are. The difference is "
    "not exactly 0, because sums are taken in another order and rounding differs in the last digit."
)


def largest_difference(base_order: tuple[int, ...]) -> float:
    """With the positions chosen on this page."""
    return run_two_orders(example.x, *projections, base_order, added, turn).largest_difference


with steps.section("guess"):
    swapped = (1, 0, *range(2, n))
    questions.choice(
        "averaged",
        "Average the output rows of all words, in each order. Do the two averages differ when there are no positions?",
        ("they differ", "they are equal"),
        lambda: (
            "they are equal"
            if np.abs(plain.output.mean(axis=0) - plain.shuffled_output.mean(axis=0)).max() < 1e-12
            else "they differ"
        ),
        lambda: (
            "A mean does not ask in which order its rows stand, and the rows are the same. A model that averages its "
            f"words cannot tell the two sentences apart. With positions ({kind}) the averages differ by "
            f"{np.abs(placed.output.mean(axis=0) - placed.shuffled_output.mean(axis=0)).max():.4f}."
        ),
        (settings, head, order, kind),
    )
    questions.choice(
        "neighbours",
        f"Keep the positions ({kind}), and let the first two words change places instead. Is the largest difference "
        f"smaller than the {placed.largest_difference:.4f} of the order above?",
        ("smaller", "larger", "equal"),
        lambda: (
            "equal"
            if np.isclose(largest_difference(swapped), placed.largest_difference, rtol=0, atol=1e-12)
            else "smaller"
            if largest_difference(swapped) < placed.largest_difference
            else "larger"
        ),
        lambda: (
            f"It is {largest_difference(swapped):.4f}. How far an output moves depends on how much the positions of "
            "the two words differ, and on which words they are: closer is often less, but random vectors promise "
            "nothing."
        ),
        (settings, head, order, kind),
    )
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
