"""Encoder block, parameter count: every tensor with its shape and count, and where the parameters sit."""

import numpy as np
import streamlit as st

from core.agreement import Agreement, compare
from core.parameter_count import BIASES, PARTS, PRESETS, encoder_block_parameters
from ui import controls, draw, formulas, frame, questions, steps, torch_check, worked
from ui.charts.bars import parameters_chart, parameters_table
from ui.charts.heat_map import named_axis
from ui.take_home.figures import PARTS_KEY

checked = frame.heading(
    "parameter_count",
    "A block learns four square matrices in its attention, two wide ones in its feed-forward part, and little else.",
)
settings = controls.settings()
presets = {preset.name: preset for preset in PRESETS}
SIDEBAR, LEVEL = "From the sidebar", "two are equal"


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
    controls.take(values | {"biases": "all"})


with steps.section("count"):
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
        with steps.section(steps.PAGE_ONLY):
            biases = controls.choice(
                "Biases",
                BIASES,
                "biases",
                "all",
                help="Published totals differ in what they count. “none” leaves out the norms' shifts too, like "
                "PyTorch.",
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
with steps.section("count"):
    with sizes:
        totals = st.columns(2)
        totals[0].metric("One block", f"{table.total:,}")
        totals[1].metric(f"{n_layers} layer{'s' if n_layers > 1 else ''}", f"{table.total * n_layers:,}")
        names = [row.name for row in table.rows]
        tensor = table.rows[controls.pick("tensor", names, "tensor", width=170)]
        st.html(worked.count(tensor.shape, worked.size_names(tensor.shape, d_model, d_ff), tensor.count))
        st.html(f'<p class="quiet no_slide">In PyTorch: <code>{tensor.torch_name}</code></p>')
    with picture:
        draw.chart(
            rows,
            parameters_chart(len(rows)),
            name="parameters by tensor",
            key="tensors",
            alt=f"Parameters by tensor: attention {table.part_total('attention'):,}, feed-forward "
            f"{table.part_total('feed-forward'):,}, layer norms {table.part_total('layer norm'):,}, total "
            f"{table.total:,}",
            grow=1.1,
            legend=PARTS_KEY,
        )
        st.html(formulas.parts_legend(table))
    with steps.section(steps.PAGE_ONLY):
        st.html(formulas.published(PRESETS, d_model, n_heads, d_ff, n_layers, biases, table.total))
frame.provenance(
    "Everything here is <b>computed</b> from the sizes; no random number and no trained weight is involved, and the "
    "sentence does not matter."
)
with steps.section(steps.PAGE_ONLY):
    st.latex(r"4d^2 + 4d \;+\; 2\,d\,d_{ff} + d_{ff} + d \;+\; 4d \qquad (d = d_{model})")
    with frame.disclosure("Every tensor with its shape and count", "tensors_open") as opened:
        if opened:
            listed = rows[["tensor", "part", "shape", "count", "torch_name"]]
            st.dataframe(
                listed.rename(columns={"torch_name": "in PyTorch"}),
                hide_index=True,
                height=(len(rows) + 1) * 38,
                alt=f"{len(rows)} tensors, {table.total:,} in all",
            )
counts = named_axis("count", ("parameters",))
frame.keep(
    {
        "parameters": (
            np.array([[float(row.count)] for row in table.rows]),
            named_axis("tensor", tuple(row.name for row in table.rows)),
            counts,
        ),
        "totals": (
            np.array([[float(table.total)], [float(table.total * n_layers)]]),
            named_axis("of", ("one block", "all layers")),
            counts,
        ),
    },
    {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff, "n_layers": n_layers, "biases": biases},
)
frame.to_notice(
    f"The number of heads is not in the formula: {n_heads} heads of width {d_model // n_heads} learn as much as one "
    f"head of width {d_model}, because each works in its own share of the columns."
)
with steps.section("guess"):
    state = (d_model, n_heads, d_ff, biases)
    doubled = encoder_block_parameters(2 * d_model, n_heads, 2 * d_ff, biases=biases).total
    questions.number(
        "doubled",
        "Double d_model and d_ff: by which factor does the total of a block grow?",
        (1.0, 8.0),
        lambda: doubled / table.total,
        lambda true: (
            f"{table.total:,} become {doubled:,}. The matrices grow fourfold, being width times width; biases and "
            "norms only twofold, which keeps it just below 4."
        ),
        state,
    )
    ranked = sorted(table.part_total(part) for part in PARTS)
    questions.choice(
        "larger_part",
        "Which part of this block holds the most parameters?",
        (*PARTS, LEVEL),
        lambda: LEVEL if ranked[-1] == ranked[-2] else max(PARTS, key=table.part_total),
        lambda: ", ".join(f"{part} {table.part_total(part):,}" for part in PARTS) + ".",
        state,
    )
frame.way_on("parameter_count")


def check() -> Agreement:
    """The total, counted by PyTorch over its own layer's tensors."""
    from core import torch_reference

    theirs = torch_reference.count_parameters(d_model, n_heads, d_ff, biases)
    return compare({"total": [table.total]}, {"total": [theirs]}, 0.0, "both are whole numbers")


with checked:
    torch_check.show(check, "the tensors of nn.TransformerEncoderLayer of these sizes", on_request=True)
