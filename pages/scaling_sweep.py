"""Why divide by √d: a sweep over d, one draw to drag, and the lesson's table."""

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.attention import self_attention
from core.examples import draw_example
from core.scaling import SWEEP_DIMS, SweepRow, single_draws, sweep
from core.softmax import jacobian_norm, softmax
from ui import controls, formulas, frame, torch_check
from ui.charts.heat_map import named_axis, position_axis
from ui.charts.lines import MEASURES, drag_chart, drag_table, sweep_chart, sweep_table

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
frame.provenance(
    f"{formulas.series_legend()} &nbsp; Queries and keys are <b>random</b> (seed {settings.seed}), standard normal; "
    "bands hold the middle 80 % of the draws; the rest is <b>computed</b>."
)
pictures = st.container()
with st.container(horizontal=True):
    n_keys = controls.number_choice("Keys for each query", N_KEYS, "keys", 5)
    n_draws = controls.number_choice("Draws at each d", N_DRAWS, "draws", 200)
rows = cached_sweep(n_keys, n_draws, settings.seed)
last = rows[-1]
tops = {MEASURES[0]: 0.0, MEASURES[1]: 1.0, MEASURES[2]: float(np.log(n_keys)) * 1.05, MEASURES[3]: 0.55}
table = sweep_table(rows)
for pair in (MEASURES[:2], MEASURES[2:]):
    for place, measure in zip(pictures.columns(2), pair, strict=True):
        with place:
            at_end = table[(table.measure == measure) & (table.d == last.d)]
            said = " and ".join(f"{row.mean:.3g} for {row.series}" for row in at_end.itertuples())
            st.vega_lite_chart(
                table[table.measure == measure],
                sweep_chart(measure, tops[measure]),
                key=f"sweep_{measure}",
                alt=f"{measure} over d from 1 to {last.d}; at d = {last.d} on average {said}",
            )
st.markdown(
    f"At d = {last.d:,} the raw scores spread by {last.pooled_spread:.1f} (√d = {last.d**0.5:.1f}). "
    f"The largest of {n_keys} weights is {last.max_weight_unscaled.mean:.3f} on average, and the gradient that is left "
    f"is {last.gradient_norm_unscaled.mean:.4f}; divided by √d they are {last.max_weight_scaled.mean:.3f} and "
    f"{last.gradient_norm_scaled.mean:.4f}. {n_draws} draws tell the spread only to about "
    f"{np.sqrt(1 / (2 * n_draws)):.0%}, so the dots scatter around the line."
)
st.latex(r"\operatorname{Var}(q \cdot k) = d \quad\Rightarrow\quad \frac{q \cdot k}{\sqrt{d}} \text{ has spread } 1")

st.subheader("One draw, under your thumb", anchor=False)
dims = controls.numbers_choice("Sizes of a key, drawn in this order", SWEEP_DIMS, "dims", (4, 64, 512))
draws = single_draws(dims, n_keys, settings.seed) if dims else ()
if not draws:
    st.info("Choose at least one size of a key.")
else:
    left, right = st.columns([1, 1])
    with left:
        names = [f"d = {draw.d}" for draw in draws]
        shown = draws[controls.pick("draw", names, "draw", default=len(draws) - 1)]
        st.vega_lite_chart(
            drag_table(shown),
            drag_chart(),
            key="drag",
            alt=f"Weights of {n_keys} keys for d = {shown.d}; a slider under it changes the divisor from 1 to d",
        )
        st.html(
            '<p class="quiet">Power 0: no scaling. Power 0.5: ÷ √d. Power 1: ÷ d, too much. '
            "Slope: w (1 − w), the largest derivative of a weight by its own score.</p>"
        )
    with right:
        st.html(formulas.single_draws_table(draws))
        st.html(
            '<p class="quiet">One query and its keys a row, from one generator that runs on from size to size, as in '
            "the lesson (seed 1: “Lesson values”). Spread: of that row's own raw scores.</p>"
        )

words = settings.words
if words:
    example = draw_example(words, settings.d_head, settings.n_heads, settings.seed)
    own = self_attention(example.x, example.w_q[0], example.w_k[0], example.w_v[0]).attention
    raw_weights = softmax(own.scores)
    st.markdown(
        f"**Your sentence** at d = {settings.d_head} (head 0, {len(words)} keys): its scores spread by "
        f"{own.scores.std():.2f}; the largest weight of a row is {raw_weights.max(axis=-1).mean():.2f} on average "
        f"without the division and {own.weights.max(axis=-1).mean():.2f} with it. Move d at the left."
    )
    if len(words) == 1:
        st.info("One word has one key, and the softmax of a single score is always 1: scaling changes nothing here.")

measured, sizes = named_axis("measure", ("mean", "low", "high")), named_axis("d", tuple(str(d) for d in SWEEP_DIMS))
behind: dict[str, frame.Matrix] = {
    f"{measure}, {series}": (part[["mean", "low", "high"]].to_numpy(), sizes, measured)
    for (measure, series), part in table.groupby(["measure", "series"], sort=False)
}
quantities = named_axis("quantity", ("raw score", "weight, raw", "weight, divided by √d"))
for draw in draws:
    stacked = np.stack([draw.raw_scores, draw.weights_unscaled, draw.weights_scaled])
    behind[f"single draw, d = {draw.d}"] = stacked, quantities, position_axis("key", n_keys)
frame.numbers(behind, key="scaling_numbers")
st.markdown(
    "**Notice.** A softmax is never exactly one-hot and its gradient never exactly 0; both only come close. "
    "That is enough to stop learning: what does not move cannot be corrected."
)
st.markdown("**Predict.** Where does the largest weight go if you divide by d instead of √d? Drag the power to 1.")
frame.way_on("scaling_sweep")


def check() -> Agreement:
    """Softmax and the norm of its Jacobian by PyTorch's autograd, at the scores of the draws shown."""
    from core import torch_reference

    raw = np.stack([draw.raw_scores for draw in draws])
    scores = np.concatenate([raw, raw / np.sqrt([[draw.d] for draw in draws])])
    ours = {"scores": scores, "weights": softmax(scores), "jacobian_norm": jacobian_norm(softmax(scores))}
    return compare(ours, {"scores": scores} | torch_reference.softmax_and_jacobian_norm(scores))


if draws:
    with checked:
        torch_check.show(check, "torch.softmax, and its Jacobian by torch.func.jacrev")
