"""The part of the cost page that measures on the machine at hand: start, progress while it runs, stop, results."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.cost import attention_cost, human
from core.measurement.plan import MEMORY_BUDGET, Plan
from ui import controls, costs, draw, shown
from ui.background import MOST_WAITING
from ui.charts.cost import Measure, duration, measured_chart, measured_table
from ui.measurement import Measurement, Progress, measurements
from ui.take_home.figures import MEASURED_KEY

_JOB, _READER, _REFUSED = "_measurement", "_measuring_reader", "_measurement_refused"
_MEASURES: tuple[Measure, ...] = ("time", "memory")


def show(plan: Plan) -> None:
    """A button, and the measurement that was asked for last: its progress, or its result.

    Parameters
    ----------
    plan : Plan
        What the controls ask for.
    """
    if shown.now().out_of_sight:
        return  # nobody looks at it on a slide, so that it ends
    job: Measurement | None = st.session_state.get(_JOB)
    if job is not None and _look(job).active:
        # Looked at again and again: that is also how the server knows that somebody still waits.
        st.fragment(_live, run_every=0.5)(job)
        return
    known = job is not None and job.plan == plan and _look(job).stage == "done"
    st.button("Measure again" if known else "Measure", on_click=_ask, args=(plan, known), key="measure", type="primary")
    if st.session_state.pop(_REFUSED, False):
        controls.notice(
            f"This server measures or trains one thing at a time, and {MOST_WAITING} are waiting already: try again "
            "in a minute."
        )
    if job is not None:
        _result(job, plan)


def _reader() -> object:
    reader: object = st.session_state.setdefault(_READER, object())
    return reader


def _look(job: Measurement) -> Progress:
    return job.look(_reader())


def _ask(plan: Plan, anew: bool) -> None:
    job = measurements.ask(plan, _reader(), anew)
    st.session_state[_REFUSED] = job is None
    if job is not None:
        st.session_state[_JOB] = job


def _live(job: Measurement) -> None:
    """What a measurement under way shows; runs by itself, without the page."""
    progress = _look(job)
    if not progress.active:
        st.rerun()  # the whole page, so that the timer of this fragment ends
    done = len(progress.readings) + len(progress.left_out)
    if progress.stage == "waiting":
        said = f"Waiting for this server's other measurements and trainings: {progress.before} before this one"
    elif progress.ready is None:
        said = "Loading PyTorch in a process of its own …"
    else:
        so_far = f"; last: n = {progress.readings[-1].n:,}, {progress.readings[-1].method}" if progress.readings else ""
        said = f"{done} of {job.total} measured{so_far}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Stop measuring", key="measure_stop", on_click=job.leave, args=(_reader(),))
        st.progress(done / job.total, said)

    def paint(table: pd.DataFrame, measure: Measure, alt: str) -> None:
        # Not by `draw`: the record of what is shown belongs to a run of the whole page.
        st.vega_lite_chart(table, _spec(measure, job.plan), key=f"measured_{measure}", width="stretch", alt=alt)

    _curves(progress, paint)


def _spec(measure: Measure, plan: Plan) -> dict[str, object]:
    return measured_chart(measure, plan.sizes[0], plan.sizes[-1])


def _curves(progress: Progress, paint: Callable[[pd.DataFrame, Measure, str], None]) -> None:
    if not progress.readings:
        return
    st.html(costs.methods_legend())
    fits = costs.fits_of(progress.readings)
    for place, measure in zip(st.columns(2), _MEASURES, strict=True):
        table = measured_table(progress.readings, measure, fits if measure == "time" else {})
        with place:
            if len(table):
                last = [
                    f"{row.said} by the {row.method}"
                    for row in table[table.n == table.n.max()].itertuples()
                    if row.said
                ]
                paint(table, measure, f"Measured {measure} of one call; at n = {table.n.max():,} {' and '.join(last)}")
            else:
                st.html('<p class="quiet">This build of PyTorch keeps no record of memory: it was not measured.</p>')


def _result(job: Measurement, plan: Plan) -> None:
    progress = _look(job)
    if progress.said:
        controls.notice(progress.said)
    if not progress.readings:
        return
    heads = f"{job.plan.n_heads} head{'s' if job.plan.n_heads > 1 else ''}"
    other = "" if job.plan == plan else " These are not the settings above: measure again for those."
    clock = progress.ready.clock if progress.ready else "time"
    version = progress.ready.version if progress.ready else ""
    st.html(
        f'<p class="quiet"><b>Measured</b> on this machine, PyTorch {version}: {heads} of d_head = {job.plan.d_head}, '
        f"one sentence, single precision, one thread, {clock}, the fastest of several runs. Memory: the most that one "
        f"call holds at once, its result included, q, k and v not.{other}</p>"
    )

    def paint(table: pd.DataFrame, measure: Measure, alt: str) -> None:
        draw.chart(
            table,
            _spec(measure, job.plan),
            name=f"measured {measure}",
            key=f"measured_{measure}",
            alt=alt,
            legend=MEASURED_KEY,
        )

    _curves(progress, paint)
    st.html(costs.fits_said(costs.fits_of(progress.readings), progress.readings))
    if progress.left_out:
        st.html(costs.left_out_said(progress.left_out))
    _table(progress, job.plan)


def _table(progress: Progress, plan: Plan) -> None:
    by_formula = {
        one.n: attention_cost(one.n, plan.n_heads * plan.d_head, plan.n_heads).flops for one in progress.readings
    }
    plain = [one for one in progress.readings if one.method == "plain formula"]
    agree = all(one.flops == by_formula[one.n] for one in plain)
    if plain:
        verdict = "counts the same operations as the formula" if agree else "counts other operations than the formula"
        st.html(
            f'<p class="line">PyTorch\'s own counter, FlopCounterMode, {verdict} at every measured length (4 n² d_head '
            f"a head: {human(plain[-1].flops, 'FLOP')} at n = {plain[-1].n:,}). It does not know the fused function of "
            "processors and counts 0 there, although it multiplies as much.</p>"
        )
    table = pd.DataFrame(
        {
            "n": [one.n for one in progress.readings],
            "method": [one.method for one in progress.readings],
            "time": [duration(one.seconds) for one in progress.readings],
            "seconds": [one.seconds for one in progress.readings],
            "runs": [one.runs for one in progress.readings],
            "memory": [
                "not measured" if one.peak_bytes is None else human(one.peak_bytes, "B", 1024)
                for one in progress.readings
            ],
            "bytes": [one.peak_bytes for one in progress.readings],
            "GFLOP a second": [by_formula[one.n] / one.seconds / 1e9 for one in progress.readings],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        alt=f"{len(table)} readings",
        column_config={
            "seconds": st.column_config.NumberColumn(format="%.3e"),
            "GFLOP a second": st.column_config.NumberColumn(format="%.1f"),
        },
    )


def budget_said(plan: Plan) -> str:
    """What is measured, and what limits it.

    Parameters
    ----------
    plan : Plan
        What the controls ask for.

    Returns
    -------
    str
        HTML paragraph.
    """
    return (
        f'<p class="line">softmax(q kᵀ / √d) v written out, against PyTorch\'s fused function, n = {plan.sizes[0]} to '
        f"{plan.sizes[-1]:,}. Budget: {plan.seconds:g} s and {human(MEMORY_BUDGET, 'B', 1024)}; what does not fit is "
        "left out and named. It runs on the server in a process of its own, with low priority, one at a time for all "
        "readers, and ends when you leave this page.</p>"
    )
