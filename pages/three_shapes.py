"""Encoder, decoder, both: who may look at whom, with masks that the reader changes, and how far a word is heard."""

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.cross_attention import cross_attention
from core.masks import count_allowed
from core.settings import MAX_CHARACTERS, MAX_WORDS
from core.shapes import PARTS, SHAPES, PartName, draw_shape, reach_of, sentences
from core.softmax import Floats
from core.tokens import split_words
from ui import controls, frame, mask_editor, matrices, questions, shape_texts, steps, torch_check, view, worked
from ui.charts.heat_map import PICTURE_ABOVE, Panel, named_axis, position_axis, symmetric_limit, word_axis
from ui.literal import literal
from ui.matrices import Follow, Matrix
from ui.pages import TRANSLATION, named

PICTURES = ("masks", "weights", "one weight", "reach")

checked = frame.heading(
    "three_shapes",
    "Who may look at whom makes the model. Click a cell of a mask to change it, and the weights follow.",
)
settings = controls.settings()
source = controls.need_words()
with steps.section(*PICTURES):
    first_row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    second_row = st.container(horizontal=True, vertical_alignment="center", gap="small")
with first_row:
    shape = controls.choice("Shape", SHAPES, "shape", "encoder-decoder", label_visibility="collapsed", width="content")
    both = shape == "encoder-decoder"
    target: tuple[str, ...] = ()
    if both:
        typed = controls.text(
            "Target sentence",
            "target",
            " ".join(TRANSLATION),
            most=MAX_CHARACTERS,
            label_visibility="collapsed",
            placeholder="target sentence",
            width=300,
        )
        target = split_words(typed)[:MAX_WORDS]
        if not target:
            st.info("This shape needs a second sentence, the target: type at least one word and press Enter.")
            raise controls.PageEnds
        if len(split_words(typed)) > MAX_WORDS:
            controls.notice(f"The first {MAX_WORDS} of {len(split_words(typed))} words of the target are analysed.")
    head = controls.pick("head", controls.head_labels(), "head", width=80)

axes = {}
for name in PARTS[shape]:
    asking, looked_at = sentences(name, shape, source, target)
    axes[name] = word_axis("query", asking), word_axis("key", looked_at)
edited = {name: mask_editor.kept(name, *axes[name]) for name in PARTS[shape]}
masks = {name: mask.may_attend for name, mask in edited.items()}
drawn = draw_shape(shape, source, target, settings.d_head, settings.n_heads, settings.seed)
one_head = slice(head, head + 1)
runs = {
    name: cross_attention(
        given.x,
        given.source,
        given.projections.w_q[one_head],
        given.projections.w_k[one_head],
        given.projections.w_v[one_head],
        may_attend=masks[name],
    )
    for name, given in drawn.items()
}

with second_row if both else first_row:
    part: PartName = PARTS[shape][0]
    if both:
        part = controls.choice(
            "Attention", PARTS[shape], "part", "cross", label_visibility="collapsed", width="content"
        )
    queries, keys = axes[part]
    query = controls.pick('<b class="query">query</b>', queries.names, "query", width=150)
    key = controls.pick('<b class="key">key</b>', keys.names, "key", width=150)
with steps.section("masks"):
    mask_editor.toolbar(edited, part, query, key)

presenting = view.now().presenting
# Pixels for all rows of a picture; a slide draws it half as large again.
pixels = {(True, True): 100.0, (True, False): 140.0, (False, True): 140.0, (False, False): 160.0}[presenting, both]
room = 400.0 if len(source) > 12 and not both and not presenting else pixels
alone = not both and not presenting
row = st.columns(2) if alone else []
with steps.section("masks", "models"):
    for place, name in zip(row[:1] or st.columns(len(edited)), edited, strict=True):
        cell = [(query, key)] if name == part else []
        with place:
            matrices.show(
                Matrix(
                    f"{name}: may attend = 1",
                    masks[name].astype(float),
                    *axes[name],
                    f"{name}ᵀ: may attend = 1",
                    ramp="weights",
                    may_attend=masks[name],
                    picked=cell,
                    decimals=0,
                    version=mask_editor.version(),
                ),
                Panel(height=min(30.0, room / len(masks[name])), column_labels=alone),
                key=f"mask_{name}",
                alt=f"Mask of the {name}: {count_allowed(masks[name])} of {masks[name].size} pairs allowed",
                follow=Follow("query", "key", {"part": name}, then=mask_editor.flip(edited[name])),
                most=matrices.EDITABLE_UP_TO if name == part else PICTURE_ABOVE,
            )
with steps.section("weights"):
    for place, name in zip(row[1:] or st.columns(len(edited)), edited, strict=True):
        cell = [(query, key)] if name == part else []
        with place:
            matrices.show(
                Matrix(
                    f"{name}: weights",
                    runs[name].heads.weights[0],
                    *axes[name],
                    f"{name}: weightsᵀ",
                    ramp="weights",
                    may_attend=masks[name],
                    picked=cell,
                ),
                Panel(height=min(30.0, room / len(masks[name]))),
                key=f"weights_{name}",
                alt=f"Weights of the {name} under its mask",
                follow=Follow("query", "key", {"part": name}),
                sums=True,
            )
with steps.section("masks"):
    st.html(mask_editor.said([edited[part]] if presenting else list(edited.values())))
with steps.section("masks", "weights", "one weight"):
    for mask in edited.values():
        if mask.beyond:
            controls.notice(mask_editor.without_place(mask))
    lost = shape_texts.without_keys({name: (mask.queries.names, masks[name]) for name, mask in edited.items()})
    if lost:
        st.html(lost)
frame.provenance(
    f"Embeddings and projections are <b>random</b> (seed {settings.seed}); the weights are <b>computed</b> from them, "
    "each attention on its own."
)

run = runs[part]
with steps.section("one weight"):
    frame.subheading("One weight, worked out")
    left, right = st.columns(2)
    one = 0, query, key
    operands = np.stack([run.q[0, query], run.k[0, key]])
    with left:
        matrices.show(
            Matrix(
                "q and k",
                operands,
                named_axis("vector", ("q", "k")),
                position_axis("feature", settings.d_head, "d"),
                limit=symmetric_limit(operands),
            ),
            Panel(height=26),
            key="operands",
            alt=f"Query {query} and key {key} of the {part}, feature by feature",
        )
    left.html(worked.products(worked.FEATURE, (worked.Q, worked.K), (run.q[0, query], run.k[0, key]), "score"))
    right.html(
        worked.scaled(
            float(run.heads.scores[one]), float(run.heads.scaled_scores[one]), settings.d_head,
            not masks[part][query, key],
        )
    )  # fmt: skip
    right.html(worked.softmax_row(keys.names, run.heads.scaled_scores[0, query], run.heads.weights[0, query], key))
    if part == "cross" and not presenting:
        left.html(
            '<p class="quiet">The query is made from a word of the target, key and value from a word of the source. In '
            "a whole model they come from the decoder's own attention and from the encoder's last layer.</p>"
        )

with steps.section("reach"):
    frame.subheading("How far a word is heard")
    left, middle, right = st.columns([1, 1, 1])
    with right:
        n_layers = controls.number_choice("Layers", range(1, 9), "reach_layers", 2)
    heard = reach_of(part, masks, n_layers)
    layers = named_axis("layers", tuple(str(number) for number in range(1, n_layers + 1)))
    with left:
        matrices.show(
            Matrix(
                "heard by the query",
                heard[:, query].astype(float),
                layers,
                keys,
                ramp="weights",
                picked=[(n_layers - 1, None)],
                decimals=0,
            ),
            Panel(height=min(30.0, 160 / n_layers)),
            key="heard",
            alt=f"Words of which query {query} can hold something after each of {n_layers} layers",
            follow=Follow("", "key"),
        )
    with middle:
        matrices.show(
            Matrix(
                f"heard after {n_layers} layer{'' if n_layers == 1 else 's'}",
                heard[-1].astype(float),
                queries,
                keys,
                ramp="weights",
                picked=[(query, None)],
                decimals=0,
            ),
            Panel(height=min(30.0, 160 / len(queries.names))),
            key="reach",
            alt=f"Reach of the {part} after {n_layers} layers: {count_allowed(heard[-1])} of {heard[-1].size} pairs",
            follow=Follow("query", "key"),
        )
    right.html(shape_texts.reach_verdict(queries.names[query], heard, query, part == "cross"))
    with right, steps.section(steps.PAGE_ONLY):
        st.html(shape_texts.reach_reason(heard, part == "cross"))

with steps.section("models"):
    frame.subheading("Which models have which shape")
    st.html(shape_texts.shapes_in_use(shape))
    with steps.section(steps.PAGE_ONLY):
        st.page_link(
            named("causal_mask").path,
            label="The mistake to avoid: a generator without a causal mask has seen the word that it is to guess",
            icon=":material/visibility_off:",
        )

features = position_axis("feature", settings.d_head, "d")
frame.numbers(
    {
        f"{name}: {what}": (values, of_rows, of_columns)
        for name, ran in runs.items()
        for what, values, of_rows, of_columns in (
            ("mask", masks[name].astype(float), *axes[name]),
            ("scaled scores", ran.heads.scaled_scores[0], *axes[name]),
            ("weights", ran.heads.weights[0], *axes[name]),
            ("output", ran.heads.output[0], axes[name][0], features),
            ("reach", reach_of(name, masks, n_layers)[-1].astype(float), *axes[name]),
        )
    },
    frame.sentence_code()
    | {"shape": shape, "target": list(target), "head": head, "n_layers": n_layers}
    | mask_editor.code(edited),
    key="shapes_numbers",
)
frame.to_notice(
    "The arithmetic is the same in all three shapes. What differs is the mask, and in cross-attention where keys and "
    "values come from: its weights have a row for each word of the target and a column for each word of the source."
)

with steps.section("guess"):
    total = sum(mask.size for mask in masks.values())
    designs = source, shape, target, tuple(mask.design for mask in edited.values())
    allowed = sum(map(count_allowed, masks.values()))
    questions.number(
        "pairs_allowed",
        f"Which share of the {total:,} query-key pairs do the masks allow, all attentions of this shape together?",
        (0.0, 1.0),
        lambda: allowed / total,
        lambda true: (
            f"{allowed:,} of {total:,}: "
            + ", ".join(f"{name} {count_allowed(mask):,} of {mask.size:,}" for name, mask in masks.items())
            + "."
        ),
        designs,
    )
    two_layers = reach_of(part, masks, 2)
    once, twice = (int(layer[query].sum()) for layer in two_layers)
    questions.choice(
        "heard_after_two",
        f"Of how many of the {len(keys.names)} {'source ' if both and part == 'cross' else ''}words can "
        f'<b class="query">{literal(queries.names[query])}</b> hold something after two layers of this shape?',
        [str(count) for count in sorted({0, 1, once, twice, len(keys.names)})],
        lambda: str(twice),
        lambda: (
            f"After one layer it is {once}, after two {twice}: a layer hands on what its keys had heard, and the "
            "skip connection keeps what the word had heard itself."
        ),
        (designs, part, query),
    )
frame.way_on("three_shapes")


def check() -> Agreement:
    """Weights by nn.MultiheadAttention, the output by the fused function; with the masks that are shown."""
    from core import torch_reference

    ours: dict[str, Floats] = {}
    theirs: dict[str, Floats] = {}
    for name, given in drawn.items():
        used, mask, ran = given.projections, masks[name], runs[name]
        module = torch_reference.cross_attention(
            given.x, given.source, used.w_q, used.w_k, used.w_v, np.eye(settings.d_model), mask
        )
        # PyTorch's module has NaN for a query without any key, its fused function zeros as we have.
        with_keys = mask.any(axis=-1)
        ours[f"{name}: weights"] = ran.heads.weights[0, with_keys]
        theirs[f"{name}: weights"] = module["weights"][head, with_keys]
        ours[f"{name}: output"] = ran.heads.output[0]
        theirs[f"{name}: output"] = torch_reference.attention(ran.q[0], ran.k[0], ran.v[0], mask)["output"]
    return compare(ours, theirs)


with checked:
    torch_check.show(
        check,
        "nn.MultiheadAttention(query, key, value) with these masks, this head of it, and scaled_dot_product_attention",
        on_request=True,
        state=(designs, settings.d_head, settings.n_heads, settings.seed, head),
    )
