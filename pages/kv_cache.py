"""Greedy decoding and the KV cache: the same words twice, and everything that only one of the two ways computes."""

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.decoding import Decoder, Generation, Movement, embed, generate_both, movement, run_once
from core.examples import draw_decoder
from core.softmax import Floats
from core.tokens import split_words
from ui import controls, frame, questions, steps, torch_check
from ui.charts.heat_map import word_axis
from ui.decoding_view import DecodingView
from ui.pages import named

NEW_WORDS, LAYERS, MOST_SOURCE = range(2, 13), range(1, 5), 12
WIDE, NEW_WORDS_WHERE_WIDE, LAYERS_WHERE_WIDE = 384, range(2, 9), range(1, 3)


@st.cache_data(max_entries=64, max_size="16MB", show_spinner="Decoding, with and without a cache …")
def decode(
    words: tuple[str, ...],
    source: tuple[str, ...],
    d_head: int,
    n_heads: int,
    n_layers: int,
    seed: int,
    n_new: int,
    _drawn: list[Decoder],
) -> tuple[Generation, Generation, Movement, Floats]:
    """Both ways, what the mask is for, and one run over the final text: up to a second at the largest sizes.

    The decoder, 110 MB of numbers at those, goes into `_drawn` for the rest of the run and is not kept after it.
    """
    vocabulary = tuple(dict.fromkeys(words))
    decoder = draw_decoder(vocabulary, d_head, n_heads, n_layers, seed, source)
    _drawn.append(decoder)
    prompt = [vocabulary.index(word) for word in words]
    plain, cached = generate_both(decoder, prompt, n_new)
    whole = run_once(decoder, cached.tokens)
    return plain, cached, movement(decoder, cached.tokens, whole), whole[-1].output


# On a first visit the control that holds it does not exist yet, but the heading needs the steps.
cross_asked = st.session_state.get("cross", st.query_params.get("cross")) in (True, "true")
*STEPS, LAST_STEP = named("kv_cache").steps
checked = frame.heading(
    "kv_cache",
    "Word after word: keys and values of the words before can be kept instead of computed again.",
    (*STEPS, "source", LAST_STEP) if cross_asked else (),
)
settings = controls.settings()
words = controls.need_words()
n, wide = len(words), settings.d_model > WIDE
vocabulary = tuple(dict.fromkeys(words))

# What the second sentence changes stands above it.
upper, lower = st.container(gap="xsmall"), st.container(gap="xsmall")
with lower, steps.section("source"):
    frame.subheading("With a second sentence: its keys and values are computed once")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        cross = controls.switch("Cross-attention to a second sentence", "cross", False)
        typed = controls.text(
            "Second sentence",
            "source",
            "Meera kaufte einen neuen Schläger",
            width=360,
            label_visibility="collapsed",
        )
source = split_words(typed)[:MOST_SOURCE] if cross else ()

with (
    upper,
    steps.section("one step", "work", "memory", "mask", "corner", "source"),
    st.container(horizontal=True, vertical_alignment="bottom", gap="small"),
):
    n_new = controls.number_choice("New words", NEW_WORDS_WHERE_WIDE if wide else NEW_WORDS, "new_words", 5, width=130)
    n_layers = controls.number_choice("Layers", LAYERS_WHERE_WIDE if wide else LAYERS, "decoder_layers", 2, width=90)
    number = controls.number_choice("Step", range(1, n_new + 1), "t", min(3, n_new), width=160) - 1
    layer = controls.pick("layer", tuple(str(place) for place in range(n_layers)), "layer", default=1, width=70)
    head = controls.pick("head", controls.head_labels(), "head", width=70)
    place_of_key = st.container(width="content")

drawn: list[Decoder] = []
drawn_by = (words, source, settings.d_head, settings.n_heads, n_layers, settings.seed)
plain, cached, moved, whole = decode(*drawn_by, n_new, drawn)
so_far = tuple(vocabulary[token] for token in cached.tokens[: n + number])
with place_of_key, steps.section("one step", "mask", "corner"):
    key = controls.pick('<b class="key">key</b>', word_axis("key", so_far).names, "key", default=1, width=140)
decoding = DecodingView(vocabulary, source, plain, cached, moved, whole, number, layer, head, key)

with upper:
    with steps.section("one step"):
        decoding.show_step()
        with frame.disclosure("The picked pair and the choice of the word, worked out", "work_open") as opened:
            if opened:
                decoding.show_arithmetic()
    with steps.section(steps.PAGE_ONLY):
        decoding.show_agreement()
    frame.provenance(
        f"Embeddings and parameters are <b>random</b> (seed {settings.seed}): nothing is trained, the words chosen "
        "mean nothing, and a greedy model tends to repeat itself. All else is <b>computed</b>, in both ways; the "
        "products themselves report their sizes, and these are <b>counted</b>."
    )
    if wide:
        st.html(
            f'<p class="quiet no_slide">Above a width of {WIDE} at most {LAYERS_WHERE_WIDE[-1]} layers and '
            f"{NEW_WORDS_WHERE_WIDE[-1]} new words are offered, so that an answer takes about a second.</p>"
        )
    with steps.section("work"):
        frame.subheading("What all steps together compute")
        decoding.show_work()
    with steps.section("memory"):
        frame.subheading("What the cache costs: memory")
        decoding.show_memory()
    with steps.section("mask"):
        frame.subheading("Why keys and values, why not queries, and why the mask")
        decoding.show_mask()
        with (
            steps.section(steps.PAGE_ONLY),
            frame.disclosure("The movement of the picked word's state, worked out", "movement_open") as opened,
        ):
            if opened:
                decoding.show_movement()
    with steps.section("corner"):
        frame.subheading("One query, many keys: the mask's corner")
        decoding.show_corner()
        with steps.section(steps.PAGE_ONLY):
            st.page_link(named("causal_mask").path, label="More on the two corners: Causal mask")
with lower, steps.section("source"):
    if source:
        decoding.show_source()
    elif cross:
        st.info("Wanted: a second sentence of at least one word. Given: none, so there is no cross-attention.")
    else:
        st.html(
            '<p class="quiet">Switched on, every layer also looks at the words of a second sentence, on the whole '
            "page.</p>"
        )
    if cross and len(split_words(typed)) > MOST_SOURCE:
        st.html(f'<p class="notice">Only the first {MOST_SOURCE} words of the second sentence are used.</p>')

frame.numbers(
    decoding.matrices(),
    frame.sentence_code()
    | {
        "n_new": n_new,
        "n_layers": n_layers,
        "step": number + 1,
        "layer": layer,
        "head": head,
        "source": list(source),
    },
    key="cache_numbers",
)
frame.to_notice(
    f"Step 1 reads the whole prompt at once ({n} word{'' if n == 1 else 's'}), in both ways alike. From then on a "
    "step with a cache sends one row through the layers, however long the text is; only its scores and its mixing "
    "still grow with the text."
)

with steps.section("guess"):
    state = (settings, n_new, n_layers, source)
    last = len(cached.tokens) - 1
    rows = [sum(step.rows("K") for step in way.steps) for way in (plain, cached)]
    pairs = [way.steps[-1].pairs() for way in (plain, cached)]
    questions.choice(
        "rows_of_k",
        f"The prompt has {n} word{'' if n == 1 else 's'}, {n_new} new ones are chosen, and there is no cache. How many "
        "rows of K does a layer compute, all steps together?",
        [str(count) for count in sorted({last, rows[0], n_new * last, last**2, n * n_new})],
        lambda: str(rows[0]),
        lambda: (
            f"{' + '.join(str(step.rows('K')) for step in plain.steps)} = {rows[0]}: every step begins at the first "
            f"word again. With a cache it is {rows[1]}, one for each word that is read."
        ),
        state,
    )
    questions.choice(
        "pairs_last",
        f"With a cache, the last step reads a text of {last} words. How many query-key pairs does a head compute then?",
        [str(count) for count in sorted({1, last, last * (last + 1) // 2, last**2})],
        lambda: str(pairs[1]),
        lambda: (
            f"One query meets {last} keys: {pairs[1]}, where the step without a cache computes {pairs[0]}. The cache "
            "takes one power of n away from a step, not the growth itself."
        ),
        state,
    )
frame.way_on("kv_cache")


def check() -> Agreement:
    """States of every step by PyTorch's layers, in one causal run without a cache."""
    from core import torch_reference

    decoder = drawn[0] if drawn else draw_decoder(vocabulary, *drawn_by[2:], source)
    x = embed(decoder, cached.tokens[:-1])
    theirs = torch_reference.decoder_states(x, decoder.layers, decoder.n_heads, decoder.source)["states"]
    return compare({"states": np.stack([step.state for step in cached.steps])}, {"states": theirs[len(words) - 1 :]})


with checked:
    torch_check.show(
        check,
        "nn.TransformerDecoderLayer" if source else "nn.TransformerEncoderLayer with a causal mask",
        on_request=True,
        state=(*drawn_by, n_new),
    )
