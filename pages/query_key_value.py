"""Query, key, value: the whole computation of one head, step by step, and any cell of it worked out."""

import streamlit as st

from core.agreement import Agreement, compare
from core.attention import self_attention
from core.examples import draw_example
from core.pretrained.model import N_HEADS, N_LAYERS, one_head, words_that_fit
from core.settings import MAX_WORDS
from core.softmax import softmax
from ui import controls, frame, questions, shown, steps, torch_check, trained_encoder, view
from ui.charts.heat_map import position_axis, word_axis
from ui.derivation import PROJECTIONS, Cell, Derivation
from ui.literal import literal
from ui.pages import DERIVATION

checked = frame.heading(
    "query_key_value",
    "Every word asks a question (:blue[query]), offers a label (:orange[key]) and gives its content (:green[value]).",
)
settings = controls.settings()
words = controls.need_words()
# The switch stands under the pictures, and decides what is in them.
above, below = st.container(), st.container()
layer = 0
with below, steps.section(steps.PAGE_ONLY), st.container(horizontal=True, vertical_alignment="center", gap="small"):
    trained = controls.switch(
        "A head of a trained model",
        "trained",
        False,
        help="all-MiniLM-L6-v2, the model of “Inside a real model”: what one of its layers reads of your sentence, "
        "and the W_q, W_k and W_v of one of its heads.",
    )
    if trained:
        layer = controls.pick("layer", tuple(str(number) for number in range(N_LAYERS)), "of_layer", 3, width=72)
typed = words
if trained:
    n_read = words_that_fit(words, trained_encoder.encoder().vocabulary, MAX_WORDS)
    if n_read == 0:
        st.info(
            f"With a trained head this page shows at most {MAX_WORDS} word pieces, and the first word alone has more. "
            "Please type shorter words."
        )
        raise controls.PageEnds
    if n_read < len(words):
        controls.notice(
            f"With a trained head this page shows at most {MAX_WORDS} word pieces, start and end included: the first "
            f"{n_read} of {len(words)} words."
        )
    words, read = trained_encoder.layer_input(words[:n_read], layer)
n = len(words)
queries, keys, positions = word_axis("query", words), word_axis("key", words), word_axis("word", words)

with above, st.container(horizontal=True, vertical_alignment="center", gap="small"):
    heads = tuple(str(number) for number in range(N_HEADS)) if trained else controls.head_labels()
    head = controls.pick("head", heads, "head", width=80)
    if trained:
        x, w = one_head(read, trained_encoder.parameters_of(layer), head)
    else:
        example = draw_example(words, settings.d_head, settings.n_heads, settings.seed)
        x, w = example.x, {"Q": example.w_q[head], "K": example.w_k[head], "V": example.w_v[head]}
    d = w["Q"].shape[1]
    features, inputs = position_axis("feature", d, "d"), position_axis("input feature", x.shape[1], "d_model")
    query = controls.pick('<b class="query">query</b>', queries.names, "query", width=150)
    key = controls.pick('<b class="key">key</b>', keys.names, "key", default=3, width=150)
    feature = controls.pick('<b class="feature">feature</b>', features.names, "feature", width=80)
    if not view.now().presenting:
        steps.bar(DERIVATION)
step = shown.now().step

run = self_attention(x, w["Q"], w["K"], w["V"])
attention = run.attention
with above, steps.section(*DERIVATION):
    # Its control comes after the pictures: in the first run only the link has it.
    of = st.session_state.get("of", st.query_params.get("of"))
    cell = Cell(query, key, feature, of if of in PROJECTIONS else PROJECTIONS[0])
    Derivation(words, x, w, run, cell, step).show()

frame.provenance(
    f"X is what layer {layer} of a <b>trained</b> model reads of your sentence, W are those of its head {head}; the "
    "rest is <b>computed</b>. The last input feature is a constant 1, and its row of W is the bias. d, heads and seed "
    "of the sidebar change nothing. “Inside a real model” has all heads."
    if trained
    else f"Embeddings and W are <b>random</b> (seed {settings.seed}): the pattern means nothing yet. "
    "Everything else is <b>computed</b> from them, here and now."
    " Any cell can be clicked, or picked above."
)
frame.numbers(
    {
        "X": (x, positions, inputs),
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
    frame.sentence_code()
    | {"words": list(typed), "head": head, "query": query, "key": key, "feature": feature}
    | {"trained": trained, "pieces": list(words) if trained else [], "layer": layer},
    key="qkv_numbers",
)
frame.to_notice(
    "One matrix product serves all words at once: that is why attention trains fast. "
    "Each row of the weights is shared out among all words, and no row knows of the others."
)


def weight_reversed() -> float:
    """The chosen weight in the sentence read backwards."""
    backwards = self_attention(x[::-1], w["Q"], w["K"], w["V"]).attention.weights
    return float(backwards[n - 1 - query, n - 1 - key])


with steps.section("guess"):
    state = (settings, head, query, key, trained, layer)
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
    if not trained:  # there the place of a word is part of its vector
        questions.choice(
            "reversed",
            f"Turn the sentence round, last word first. What happens to the weight from {word} to "
            f'<b class="key">{literal(words[key])}</b>?',
            ("it stays", "it changes"),
            lambda: "it stays" if abs(weight_reversed() - attention.weights[query, key]) < 1e-12 else "it changes",
            lambda: (
                f"It is {attention.weights[query, key]:.6f} before and {weight_reversed():.6f} after: a weight depends "
                "on the two words and on which "
                "others there are, not on where they stand. “Order-blindness” shows what is done about that."
            ),
            state,
        )
frame.way_on("query_key_value")


def check() -> Agreement:
    """Projections, weights and output by PyTorch."""
    from core import torch_reference

    projections = {name: torch_reference.projection(x, own) for name, own in w.items()}
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
