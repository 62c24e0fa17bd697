"""What attention costs: each part of a block against the length, caches of published models, and a measurement."""

import streamlit as st

from core.cache_size import MODELS, Model
from core.cost import BlockCost, block_cost, crossovers, human, powers_of_two
from core.measurement.plan import Plan
from ui import controls, costs, draw, frame, measure_here, questions, steps
from ui.charts.cost import cache_chart, cache_table, cost_chart, cost_table
from ui.take_home.figures import CACHE_KEY, CURVES_KEY

TOKENS = powers_of_two(8, 131072)
WIDTHS = (64, 128, 256, 512, 768, 1024, 2048, 4096, 8192, 12288)
HEADS = (1, 2, 4, 8, 12, 16, 32, 64, 96)
CONTEXTS = powers_of_two(128, 131072)
PAIRS, PROJECTIONS, LEVEL = "the two products of all pairs", "the projections", "they cost the same"


@st.cache_data(max_entries=64)
def costs_of(d_model: int, n_heads: int, batch: int, bytes_per_number: int, causal: bool) -> tuple[BlockCost, ...]:
    """The cost at every length of the slider, and at twice the last."""
    return tuple(
        block_cost(n, d_model, n_heads, 4 * d_model, batch, bytes_per_number, causal) for n in (*TOKENS, 2 * TOKENS[-1])
    )


frame.heading(
    "cost",
    "Twice the words, about four times the work and memory of the weights: every word is compared with every other.",
)
controls.settings()
with steps.section("work"), st.container(horizontal=True, gap="small"):
    n = controls.number_choice("n: tokens", TOKENS, "tokens", 1024, width=168)
    d_model = controls.number_choice("d_model: width", WIDTHS, "model_width", 768, width=168)
    n_heads = controls.number_choice("Heads of the block", HEADS, "model_heads", 12, width=168)
    batch = controls.number_choice("Batch: sentences", powers_of_two(1, 64), "batch", 1, width=168)
    bytes_per_number = controls.number_choice("Bytes a number", (2, 4, 8), "bytes", 4, width=168)
if d_model % n_heads:
    controls.notice(
        "d_model must be a multiple of the number of heads, since each head takes an equal share of the features; "
        f"given: {d_model} and {n_heads}. Heads that fit {d_model}: "
        f"{', '.join(str(heads) for heads in HEADS if d_model % heads == 0)}."
    )
    frame.way_on("cost")
    raise controls.PageEnds

with steps.section("work"):
    picture, figures = st.columns([1, 1.06])
    with figures:
        table = st.container()
        causal = controls.switch(
            "Causal mask",
            "cost_causal",
            False,
            help="Counts beside it what the mask needs: n (n + 1) / 2 of the n² pairs.",
        )
over_n = costs_of(d_model, n_heads, batch, bytes_per_number, causal)
here = TOKENS.index(n)
cost, twice = over_n[here], over_n[here + 1]
places = crossovers(d_model, 4 * d_model)
with steps.section("work"):
    with picture:
        st.html(costs.curves_legend())
        draw.chart(
            cost_table(TOKENS, over_n[:-1], n, places),
            cost_chart(TOKENS[0], TOKENS[-1]),
            name="work of each part over n",
            key="work_over_n",
            alt=f"Work of each part of a block over n on two logarithmic axes; at n = {n:,} the block takes "
            f"{human(cost.flops, 'FLOP')}; the two products of all pairs overtake the projections at n = "
            f"{places.projections:,}, the rest of the block at n = {places.block:,}",
            grow=0.98,
            legend=CURVES_KEY,
        )
    table.html(costs.parts_rows(cost, twice, causal))
    with figures:
        st.html(costs.crossovers_said(places, d_model, TOKENS[-1], False))
    frame.provenance(
        "Everything above “Measure here” is <b>computed</b> by formula: the forward pass of one block with "
        "d_ff = 4 d_model; the sentence does not matter. 1 GFLOP = 10⁹ operations, a multiply-add is two; "
        "1 GiB = 2³⁰ bytes."
    )
with steps.section(steps.PAGE_ONLY):
    if causal:
        st.html(costs.crossovers_said(crossovers(d_model, 4 * d_model, causal=True), d_model, TOKENS[-1], True))
        st.html(
            '<p class="line">“Needed” counts the pairs that the mask lets through. The plain formula computes all of '
            "them and throws the others away; only a fused function skips them.</p>"
        )
    st.latex(
        r"\underbrace{6\,n\,d^2}_{Q,\,K,\,V} + \underbrace{2\,n^2 d}_{q k^\top} + "
        r"\underbrace{2\,n^2 d}_{\text{weights} \cdot V} + \underbrace{2\,n\,d^2}_{W_o} + "
        r"\underbrace{4\,n\,d\,d_{ff}}_{\text{feed-forward}} \qquad (d = d_{model})"
    )
    with frame.disclosure("Every part, exact, and what is counted how", "parts_open") as opened:
        if opened:
            st.dataframe(costs.exact_parts(cost), hide_index=True, alt=f"7 rows; the block {cost.flops:,} FLOP")
            st.html(costs.conventions())

with steps.section("models"):
    frame.subheading("What a generator keeps: the cache of keys and values")
    with st.container(horizontal=True, gap="small"):
        context = controls.number_choice("Tokens kept", CONTEXTS, "context", 4096, width=205)
        cache_batch = controls.number_choice("Sentences at once", powers_of_two(1, 64), "cache_batch", 1, width=205)
        cache_size = controls.number_choice("Bytes a number, kept", (1, 2, 4, 8), "cache_bytes", 2, width=205)
    own_boxes = st.columns(4)
    with own_boxes[0]:
        own_layers = controls.typed_number("Your own: layers", "own_layers", 16, (1, 1000))
    with own_boxes[1]:
        own_heads = controls.typed_number("Query heads", "own_heads", 32, (1, 1024))
    with own_boxes[2]:
        own_kv_heads = controls.typed_number("Key and value heads", "own_kv_heads", 8, (1, 1024))
    with own_boxes[3]:
        own_d_head = controls.typed_number("d_head", "own_d_head", 64, (1, 4096))
    fits = own_heads % own_kv_heads == 0
    if not fits:
        controls.notice(
            "Query heads must be a multiple of the key and value heads, since each of these serves an equal group; "
            f"given: {own_heads} and {own_kv_heads}. Your own model is left out."
        )
    own = Model("your own", own_layers, own_heads, own_kv_heads, own_d_head, context, "typed in above")
    models = (*MODELS, own) if fits else MODELS
    caches = cache_table(models, context, cache_batch, cache_size)
    largest = max(caches.to_pylist(), key=lambda row: row["bytes"])
    draw.chart(
        caches,
        cache_chart(len(models)),
        name="caches of published models",
        key="caches",
        alt=f"Caches of {len(models)} models at {context:,} tokens; the largest: {largest['model']}, {largest['said']}",
        grow=0.95,
        legend=CACHE_KEY,
    )
    st.html(costs.cache_legend())
    with steps.section(steps.PAGE_ONLY):
        st.html(costs.cache_said(models, context, cache_batch, cache_size))
        st.latex(
            r"\text{bytes} = 2 \cdot \text{layers} \cdot \text{kv heads} \cdot d_{head} \cdot n \cdot "
            r"\text{sentences} \cdot \text{bytes a number}"
        )
        st.dataframe(
            costs.model_rows(models, context, cache_batch, cache_size), hide_index=True, alt=f"{len(models)} models"
        )

with steps.section(steps.PAGE_ONLY):
    frame.subheading("Measure here")
    with st.container(horizontal=True, gap="small"):
        measured_heads = controls.number_choice("Heads measured", (1, 4, 12), "measured_heads", 1, width=205)
        measured_d = controls.number_choice("d_head measured", (16, 64, 128), "measured_d", 64, width=205)
        seconds = controls.number_choice("Seconds at most", (10, 30, 60), "seconds", 30, width=205)
    plan = Plan(measured_d, measured_heads, float(seconds))
    st.html(measure_here.budget_said(plan))
    measure_here.show(plan)

frame.numbers(
    costs.matrices(cost, dict(zip(TOKENS, over_n, strict=False)), places)
    | {"caches": costs.cache_matrix(models, context, cache_batch, cache_size)},
    {
        "seq_len": n,
        "d_model": d_model,
        "n_heads": n_heads,
        "batch": batch,
        "bytes_per_number": bytes_per_number,
        "causal": causal,
        "context": context,
        "cache_batch": cache_batch,
        "cache_bytes_per_number": cache_size,
        "own": [own_layers, own_heads, own_kv_heads, own_d_head],
    },
    key="cost_numbers",
)
frame.to_notice(
    "The square belongs to the pairs. A short sentence pays for the projections and the feed-forward part, which grow "
    "with n; a long one pays for the pairs. A fused function multiplies just as much, but never keeps all weights at "
    "once: it saves memory, and the time that moving them takes."
)
with steps.section("guess"):
    state = (n, d_model, n_heads)
    questions.number(
        "doubled_length",
        f"n = {n:,} becomes {2 * n:,}: by which factor does the work of the whole block grow?",
        (1.0, 5.0),
        lambda: twice.flops / cost.flops,
        lambda true: (
            f"{human(cost.flops, 'FLOP')} become {human(twice.flops, 'FLOP')}. The pairs cost four times as much, all "
            f"the rest twice; here the pairs are {costs.pairs_share(cost)} of the work."
        ),
        state,
    )
    pairs = cost.part("q kᵀ").flops + cost.part("weights · V").flops
    projections = cost.part("Q, K, V").flops + cost.part("W_o").flops
    questions.choice(
        "pairs_or_projections",
        f"Which costs more at n = {n:,} and d_model = {d_model:,}?",
        (PAIRS, PROJECTIONS, LEVEL),
        lambda: LEVEL if pairs == projections else PAIRS if pairs > projections else PROJECTIONS,
        lambda: (
            f"q kᵀ and weights · V take {human(pairs, 'FLOP')}, Q, K, V and W_o {human(projections, 'FLOP')}; they "
            f"meet at n = 2 · d_model = {2 * d_model:,}."
        ),
        state,
    )
frame.way_on("cost")
