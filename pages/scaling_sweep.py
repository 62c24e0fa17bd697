"""Why divide by √d: a sweep over d, one draw to drag, and the lesson's table."""

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.attention import self_attention
from core.examples import draw_example
from core.scaling import SWEEP_DIMS, SweepRow, draw_scores, single_draws, sweep
from core.softmax import jacobian_norm, softmax
from ui import controls, draw, formulas, frame, questions, steps, torch_check, worked
from ui.charts.heat_map import named_axis, position_axis
from ui.charts.lines import MEASURES, SERIES, drag_chart, drag_table, sweep_chart, sweep_table
from ui.shown import Matrix
from ui.take_home.figures import SERIES_KEY, SPREAD_KEY

N_KEYS, N_DRAWS = (2, 3, 5, 8, 16), (50, 200, 500)


@st.cache_data(max_entries=64, show_spinner="Drawing queries and keys …")
def cached_sweep(n_keys: int, n_draws: int, seed: int) -> tuple[SweepRow, ...]:
    """The sweep is a pure function of three small numbers, and the slowest thing on the page."""
    return sweep(SWEEP_DIMS, n_keys, n_draws, seed)


checked = frame.heading(
    "scaling_sweep",
    "Longer keys make larger scores, and larger scores a harder softmax. Dividing by √d stops that.",
)
settings = controls.settings()
with steps.section("sweep"):
    frame.provenance(
        f"{formulas.series_legend()} &nbsp; Queries and keys are <b>random</b> (seed {settings.seed}), standard "
        "normal; bands hold the middle 80 % of the draws; the rest is <b>computed</b>."
    )
    pictures = st.container()
    with st.container(horizontal=True):
        n_keys = controls.number_choice("Keys for each query", N_KEYS, "keys", 5)
        n_draws = controls.number_choice("Draws at each d", N_DRAWS, "draws", 200)
    rows = cached_sweep(n_keys, n_draws, settings.seed)
    last = rows[-1]
    tops = {MEASURES[0]: 0.0, MEASURES[1]: 1.0, MEASURES[2]: float(np.log(n_keys)) * 1.05, MEASURES[3]: 0.55}
    tables = {measure: sweep_table(rows, measure, tops[measure]) for measure in MEASURES}
    points = {measure: table.to_pylist() for measure, table in tables.items()}
    for pair in (MEASURES[:2], MEASURES[2:]):
        for place, measure in zip(pictures.columns(2), pair, strict=True):
            with place:
                at_end = [point for point in points[measure] if point["d"] == last.d]
                said = " and ".join(f"{point['mean']:.3g} for {point['series']}" for point in at_end)
                draw.chart(
                    tables[measure],
                    sweep_chart(measure),
                    name=measure,
                    key=f"sweep_{measure}",
                    alt=f"{measure} over d from 1 to {last.d}; at d = {last.d} on average {said}",
                    grow=0.98,
                    legend=SPREAD_KEY if measure == MEASURES[0] else SERIES_KEY,
                )
    st.html(
        f'<p class="line no_slide">At d = {last.d:,} the raw scores spread by {last.pooled_spread:.1f} '
        f"(√d = {last.d**0.5:.1f}). The largest of {n_keys} weights is {last.max_weight_unscaled.mean:.3f} on average, "
        f"and the gradient that is left is {last.gradient_norm_unscaled.mean:.4f}; divided by √d they are "
        f"{last.max_weight_scaled.mean:.3f} and {last.gradient_norm_scaled.mean:.4f}. {n_draws} draws tell the spread "
        f"only to about {np.sqrt(1 / (2 * n_draws)):.0%}, so the dots scatter around the line.</p>"
    )
    with steps.section(steps.PAGE_ONLY):
        st.latex(
            r"\operatorname{Var}(q \cdot k) = d \quad\Rightarrow\quad \frac{q \cdot k}{\sqrt{d}} \text{ has spread } 1"
        )

with steps.section("one draw"):
    frame.subheading("One draw, under your thumb")
    dims = controls.numbers_choice("Sizes of a key, drawn in this order", SWEEP_DIMS, "dims", (4, 64, 512))
    draws = single_draws(dims, n_keys, settings.seed) if dims else ()
    if not draws:
        st.info("Choose at least one size of a key.")
    else:
        left, right = st.columns([1, 1])
        with left:
            names = [f"d = {one.d}" for one in draws]
            key_names = [str(place) for place in range(n_keys)]
            with st.container(horizontal=True):
                shown = draws[controls.pick("draw", names, "draw", default=len(draws) - 1, width=150)]
                key = controls.pick('<b class="key">key</b>', key_names, "draw_key", width=80)
            draw.chart(
                drag_table(shown),
                drag_chart(),
                name="one draw",
                key="drag",
                alt=f"Weights of {n_keys} keys for d = {shown.d}; a slider under it changes the divisor from 1 to d; "
                f"the largest is {shown.max_weight_unscaled:.3f} without division and {shown.max_weight_scaled:.3f} "
                "divided by √d",
                grow=1.2,
            )
            st.html(
                '<p class="quiet no_slide">Power 0: no scaling. Power 0.5: ÷ √d. Power 1: ÷ d, too much. '
                "Slope: w (1 − w), the largest derivative of a weight by its own score.</p>"
            )
        with right:
            st.html(formulas.single_draws_table(draws))
            st.html(
                '<p class="quiet no_slide">One query and its keys a row, from one generator that runs on from size to '
                "size, as in the lesson (seed 1: “Lesson values”). Spread: of that row's own raw scores.</p>"
            )
        with st.container(key="work"), frame.disclosure("One key of this draw, worked out", "work_open") as opened:
            if opened:
                product, raw, divided = st.columns(3)
                product.html(worked.products(worked.FEATURE, (worked.Q, worked.K), (shown.q, shown.keys[key]), "score"))
                raw.html('<p class="quiet">Softmax of the raw scores:</p>')
                raw.html(worked.softmax_row(key_names, shown.raw_scores, shown.weights_unscaled, key))
                score = float(shown.raw_scores[key])
                divided.html(worked.scaled(score, score / shown.d**0.5, shown.d))
                divided.html(worked.softmax_row(key_names, shown.raw_scores / shown.d**0.5, shown.weights_scaled, key))

words = settings.words
if words:
    example = draw_example(words, settings.d_head, settings.n_heads, settings.seed)
    own = self_attention(example.x, example.w_q[0], example.w_k[0], example.w_v[0]).attention
    raw_weights = softmax(own.scores)
    st.html(
        f'<p class="line no_slide"><b>Your sentence</b> at d = {settings.d_head} (head 0, {len(words)} keys): its '
        f"scores spread by {own.scores.std():.2f}; the largest weight of a row is "
        f"{raw_weights.max(axis=-1).mean():.2f} on average without the division and "
        f"{own.weights.max(axis=-1).mean():.2f} with it. Move d at the left.</p>"
    )
    if len(words) == 1:
        st.info("One word has one key, and the softmax of a single score is always 1: scaling changes nothing here.")

measured, sizes = named_axis("measure", ("mean", "low", "high")), named_axis("d", tuple(str(d) for d in SWEEP_DIMS))
behind: dict[str, Matrix] = {
    f"{measure}, {series}": (
        np.array([[point[name] for name in measured.names] for point in points[measure] if point["series"] == series]),
        sizes,
        measured,
    )
    for measure in MEASURES
    for series in SERIES
}
quantities = named_axis("quantity", ("raw score", "weight, raw", "weight, divided by √d"))
for one in draws:
    stacked = np.stack([one.raw_scores, one.weights_unscaled, one.weights_scaled])
    behind[f"single draw, d = {one.d}"] = stacked, quantities, position_axis("key", n_keys)
frame.numbers(
    behind,
    frame.sentence_code() | {"n_keys": n_keys, "n_draws": n_draws, "dims": list(dims)},
    key="scaling_numbers",
)
frame.to_notice(
    "A softmax is never exactly one-hot and its gradient never exactly 0; both only come close. "
    "That is enough to stop learning: what does not move cannot be corrected."
)

with steps.section("guess"):
    state = (n_keys, n_draws, settings.seed)
    at_512 = rows[SWEEP_DIMS.index(512)]
    questions.number(
        "unscaled_512",
        f"d = 512, no scaling, {n_keys} keys: how large is the largest weight on average?",
        (0.0, 1.0),
        lambda: at_512.max_weight_unscaled.mean,
        lambda true: (
            "Scores spread by √512 = 22.6, so the largest is far ahead of the others and takes nearly everything. "
            f"Divided by √d it is {at_512.max_weight_scaled.mean:.2f}; equal "
            f"shares would be {1 / n_keys:.2f}."
        ),
        state,
    )
    questions.number(
        "by_d",
        "And if the scores were divided by d = 512 instead of √512?",
        (0.0, 1.0),
        lambda: float(softmax(draw_scores(512, n_keys, n_draws, settings.seed) / 512).max(axis=-1).mean()),
        lambda true: (
            f"Now they spread by √512 ÷ 512 = {512**-0.5:.3f}, so all weights are close to 1 ÷ {n_keys} = "
            f"{1 / n_keys:.2f}: "
            "the head looks at everything alike. √d is the divisor that keeps the spread at 1."
        ),
        state,
    )
frame.way_on("scaling_sweep")


def check() -> Agreement:
    """Softmax and the norm of its Jacobian by PyTorch's autograd, at the scores of the draws shown."""
    from core import torch_reference

    raw = np.stack([one.raw_scores for one in draws])
    scores = np.concatenate([raw, raw / np.sqrt([[one.d] for one in draws])])
    ours = {"scores": scores, "weights": softmax(scores), "jacobian_norm": jacobian_norm(softmax(scores))}
    return compare(ours, {"scores": scores} | torch_reference.softmax_and_jacobian_norm(scores))


if draws:
    with checked:
        torch_check.show(check, "torch.softmax, and its Jacobian by torch.autograd.grad")
