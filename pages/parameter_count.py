"""Encoder block, parameter count: every tensor with its shape and count, and where the parameters sit."""

import streamlit as st

from core.agreement import Agreement, compare
from core.parameter_count import BIASES, PRESETS, encoder_block_parameters
from ui import controls, formulas, frame, torch_check
from ui.charts.bars import parameters_chart, parameters_table

checked = frame.heading(
    "parameter_count",
    "A block learns four square matrices in its attention, two wide ones in its feed-forward part, and little else.",
)
settings = controls.settings()
presets = {preset.name: preset for preset in PRESETS}
SIDEBAR = "From the sidebar"


def take(name: str) -> None:
    """Write the sizes of a preset, or of the sidebar, into the boxes."""
    if name == SIDEBAR:
        values = {
            "d_model": settings.d_model,
            "block_heads": settings.n_heads,
            "d_ff": 4 * settings.d_model,
            "layers": 1,
        }
    else:
        preset = presets[name]
        values = {
            "d_model": preset.d_model,
            "block_heads": preset.n_heads,
            "d_ff": preset.d_ff,
            "layers": preset.n_layers,
        }
    st.session_state.update(values | {"biases": "all"})


with st.container(horizontal=True, gap="small"):
    for name in (*presets, SIDEBAR):
        st.button(name, on_click=take, args=(name,), key=f"take_{name}")
lesson = PRESETS[0]
sizes, picture = st.columns([1, 1.4])
with sizes:
    upper, lower = st.columns(2), st.columns(2)
    with upper[0]:
        d_model = controls.typed_number("d_model: width", "d_model", lesson.d_model, (1, 16384))
    with upper[1]:
        n_heads = controls.typed_number("Heads", "block_heads", lesson.n_heads, (1, 256))
    with lower[0]:
        d_ff = controls.typed_number("d_ff: inner width", "d_ff", lesson.d_ff, (1, 65536))
    with lower[1]:
        n_layers = controls.typed_number("Layers", "layers", lesson.n_layers, (1, 200))
    biases = controls.choice(
        "Biases",
        BIASES,
        "biases",
        "all",
        help="Published totals differ in what they count. “none” also leaves out the norms' shifts, as PyTorch does.",
    )
if d_model % n_heads:
    divisors = [str(heads) for heads in range(1, 257) if d_model % heads == 0]
    controls.notice(
        "d_model must be a multiple of the number of heads, since each head takes an equal share of the features; "
        f"given: {d_model} and {n_heads}. Heads that fit {d_model}: {', '.join(divisors)}."
    )
    frame.way_on("parameter_count")
    raise controls.PageEnds

table = encoder_block_parameters(d_model, n_heads, d_ff, biases=biases)
rows = parameters_table(table)
with sizes:
    totals = st.columns(2)
    totals[0].metric("One block", f"{table.total:,}")
    totals[1].metric(f"{n_layers} layer{'s' if n_layers > 1 else ''}", f"{table.total * n_layers:,}")
with picture:
    st.vega_lite_chart(
        rows,
        parameters_chart(len(rows)),
        key="tensors",
        alt=f"Parameters by tensor: attention {table.part_total('attention'):,}, feed-forward "
        f"{table.part_total('feed-forward'):,}, layer norms {table.part_total('layer norm'):,}, total {table.total:,}",
    )
    st.html(formulas.parts_legend(table))
st.html(formulas.published(PRESETS, d_model, n_heads, d_ff, n_layers, biases, table.total))
frame.provenance(
    "Everything here is <b>computed</b> from the sizes; no random number and no trained weight is involved, and the "
    "sentence does not matter."
)
st.latex(r"4d^2 + 4d \;+\; 2\,d\,d_{ff} + d_{ff} + d \;+\; 4d \qquad (d = d_{model})")
with st.expander("Every tensor with its shape and count", key="tensors_open", on_change="rerun") as expander:
    if expander.open:
        shown = rows[["tensor", "part", "shape", "count", "torch_name"]].rename(columns={"torch_name": "in PyTorch"})
        st.dataframe(
            shown, hide_index=True, height=(len(rows) + 1) * 38, alt=f"{len(rows)} tensors, {table.total:,} in all"
        )
st.markdown(
    f"**Notice.** The number of heads is not in the formula: {n_heads} heads of width {d_model // n_heads} learn as "
    f"much as one head of width {d_model}, because each works in its own share of the columns."
)
st.markdown("**Predict.** Double d_model and d_ff: by which factor does the total grow? Try it in the boxes.")
frame.way_on("parameter_count")


def check() -> Agreement:
    """The total, counted by PyTorch over its own layer's tensors."""
    from core import torch_reference

    theirs = torch_reference.count_parameters(d_model, n_heads, d_ff, biases)
    return compare({"total": [table.total]}, {"total": [theirs]}, 0.0, "both are whole numbers")


with checked:
    torch_check.show(check, "the tensors of nn.TransformerEncoderLayer of these sizes", on_request=True)
