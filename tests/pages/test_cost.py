"""What attention costs: figures of the table and the marks, caches, and the measurement as a reader sees it."""

import html
import sys

import pytest

from core.measurement.plan import LeftOut, Plan, Reading, Ready, write_report
from tests.pages.reading import bodies, change, chart, charts, notices, open_page, plain, press, run, said, texts
from ui import measure_here
from ui.measurement import Measurements


def rows(at):
    """The table of the parts: name to its cells."""
    (table,) = [body for body in bodies(at) if "<th>part</th>" in body]
    cells = [[plain(cell).strip() for cell in row.split("</td>")[:-1]] for row in table.split("<tr")[2:]]
    return {name.split(">")[-1].strip(): rest for name, *rest in cells}


def test_the_table_says_what_each_part_takes_and_what_twice_the_length_does():
    assert rows(open_page("cost")) == {
        "Q, K, V": ["3.62 GFLOP", "20.4 %", "× 2", "9.00 MiB", "× 2"],
        "q kᵀ": ["1.61 GFLOP", "9.1 %", "× 4", "48.0 MiB", "× 4"],
        "softmax": ["62.9 MFLOP", "0.4 %", "× 4", "48.0 MiB", "× 4"],
        "weights · V": ["1.61 GFLOP", "9.1 %", "× 4", "3.00 MiB", "× 2"],
        "W_o": ["1.21 GFLOP", "6.8 %", "× 2", "3.00 MiB", "× 2"],
        "feed-forward": ["9.66 GFLOP", "54.4 %", "× 2", "15.0 MiB", "× 2"],
        "block": ["17.8 GFLOP", "", "× 2.37", "126 MiB", "× 3.52"],
    }


def test_a_causal_mask_shows_what_it_needs_beside_what_is_computed():
    before, after = rows(open_page("cost")), rows(open_page("cost", cost_causal="true"))
    assert after["q kᵀ"][:3] == [*before["q kᵀ"][:2], "806 MFLOP"]
    assert after["W_o"][0] == after["W_o"][2] == "1.21 GFLOP"
    assert "n = 3,071 (4 · d_model − 1)" in said(open_page("cost", cost_causal="true"), "counting only the pairs")


@pytest.mark.parametrize(
    ("link", "projections", "block"),
    [
        ({}, 1536, 4608),
        ({"model_width": "64", "model_heads": "4"}, 128, 384),
        ({"model_width": "12288", "batch": "64", "bytes": "8"}, 24576, 73728),
    ],
)
def test_the_marks_stand_where_the_lines_cross(link, projections, block):
    at = open_page("cost", **link)
    frame = chart(at, "Work of each part")
    assert frame[frame.mark == "crossing"].n.tolist() == [projections, block]
    text = said(at, "Where n² overtakes.")
    assert f"n = {projections:,} (2 · d_model)" in text
    assert f"n = {block:,} (6 · d_model)" in text
    chosen = frame[frame.mark == "chosen"]
    assert set(chosen.n) == {1024}
    assert len(chosen) == 4


def test_the_curves_are_those_of_the_formula():
    frame = chart(open_page("cost", tokens="2048", batch="4"), "Work of each part")
    here = frame[frame.n == 2048].set_index("curve").flops
    assert here["q kᵀ and weights · V"] == 4 * 2048**2 * 768 * 4
    assert here["Q, K, V and W_o"] == 8 * 2048 * 768**2 * 4
    assert here["feed-forward"] == 16 * 2048 * 768**2 * 4
    assert here["softmax"] == 5 * 2048**2 * 12 * 4


def test_exact_figures_open_under_a_line():
    at = open_page("cost", tokens="131072", model_width="12288", batch="64")
    at.session_state["parts_open"] = True
    run(at)
    table = next(frame.value for frame in at.dataframe if "multiply-adds" in frame.value)
    exact = 6 * 131072 * 12288**2 * 64
    assert table.FLOP[0] == f"{exact:,}"
    assert table["multiply-adds"][0] == f"{exact // 2:,}"
    assert any("FlopCounterMode" in text and "three times the forward pass" in text for text in texts(at))


def test_heads_that_do_not_divide_the_width_are_explained():
    at = open_page("cost", model_width="1024", model_heads="12")
    (line,) = notices(at)
    assert line.endswith("given: 1024 and 12. Heads that fit 1024: 1, 2, 4, 8, 16, 32, 64.")
    assert charts(at) == []
    assert len(charts(change(at, model_heads=16))) == 2


def test_caches_of_models_and_of_ones_own():
    at = open_page(
        "cost", own_layers="3", own_heads="15", own_kv_heads="5", own_d_head="7", context="8192", cache_bytes="4"
    )
    frame = chart(at, "Caches of 9 models").set_index("model")
    assert frame.bytes["your own"] == 2 * 3 * 5 * 7 * 8192 * 4
    assert frame.full_bytes["your own"] == 3 * frame.bytes["your own"]
    assert frame.said["Llama 2 70B"] == "5.00 GiB = 40.0 GiB ÷ 8"
    assert frame.said["Llama 2 7B"] == "8.00 GiB"
    text = said(at, "The cache grows with n")
    assert "GPT-2 small (1,024), GPT-3 175B (2,048), Llama 2 7B (4,096), Llama 2 70B (4,096)." in text
    assert "Mistral 7B looks back 4,096 tokens, so that a rolling cache holds 1.00 GiB at most." in text


def test_groups_of_unequal_size_leave_ones_own_model_out_and_nothing_else():
    at = open_page("cost", own_heads="10", own_kv_heads="3")
    (line,) = notices(at)
    assert line.endswith("given: 10 and 3. Your own model is left out.")
    assert "your own" not in chart(at, "Caches of 8 models").model.tolist()


# Measuring

READY = write_report(Ready("2.0", "processor time"))
QUADRATIC = [
    write_report(Reading(n, method, factor * n**2, 5, size, 4 * n**2 * 64 if method == "plain formula" else 0))
    for n in (256, 512, 1024, 2048)
    for method, factor, size in (("plain formula", 2e-9, 8 * n**2), ("fused function", 1e-9, None))
]
LEFT = write_report(LeftOut(4096, "plain formula", "it would hold <b>all</b>"))


@pytest.fixture
def server(monkeypatch):
    """A server whose measurements report what they are told, then end, fail or go on."""

    def make(lines, then=""):
        code = f"import sys, time\nfor line in {lines!r}: print(line, flush=True)\n{then}"
        made = Measurements((sys.executable, "-c", code), patience=30)
        monkeypatch.setattr(measure_here, "measurements", made)
        return made

    return make


def wait(at, condition):
    for _ in range(200):
        if condition(at):
            return at
        run(at)
    raise AssertionError("it did not happen")


def has_button(label):
    return lambda at: any(button.label == label for button in at.button)


def notice_lines(at):
    return [html.unescape(plain(body)).strip() for body in bodies(at) if 'class="notice"' in body]


def test_a_measurement_shows_points_exponents_and_what_was_left_out(server):
    server([READY, *QUADRATIC, LEFT])
    at = wait(press(open_page("cost"), "Measure"), has_button("Measure again"))
    time = chart(at, "Measured time")
    assert time[time.kind == "measured"].groupby("method").n.apply(list).to_dict() == {
        "plain formula": [256, 512, 1024, 2048],
        "fused function": [256, 512, 1024, 2048],
    }
    assert set(time[time.kind == "fitted"].n) == {512, 1024, 2048}
    memory = chart(at, "Measured memory")
    assert set(memory.method) == {"plain formula"}, "nothing was told of the other's memory"
    text = " ".join(texts(at))
    assert "plain formula n 2.00 1.0000 × 4.00 0% 3, n = 512 to 2,048" in " ".join(text.split())
    assert "n = 4,096, plain formula: it would hold <b>all</b>." in text
    assert "counts the same operations as the formula" in text
    assert not any("<b>all</b>" in body for body in bodies(at)), "what a program says is no markup"


def test_progress_is_shown_while_it_runs_and_stop_ends_it(server):
    server([READY, *QUADRATIC[:2]], "time.sleep(600)")
    at = wait(press(open_page("cost"), "Measure"), lambda at: len(charts(at)) == 4)
    assert [bar.proto.text for bar in at.get("progress")] == ["2 of 14 measured; last: n = 256, fused function"]
    assert not has_button("Measure")(at)
    press(at, "Stop measuring")
    assert wait(at, has_button("Measure"))
    assert notice_lines(at) == ["Stopped: what was measured until then is kept."]
    assert len(charts(at)) == 4
    assert any("An exponent needs three lengths" in text for text in texts(at))


def test_a_crash_is_told_and_what_was_measured_stays(server):
    server([READY, QUADRATIC[0]], "raise SystemExit('out of <i>luck</i>')")
    at = wait(press(open_page("cost"), "Measure"), has_button("Measure"))
    (line,) = notice_lines(at)
    assert line == "The measurement ended before it was done (exit code 1: out of <i>luck</i>); readings until then: 1."
    assert not any("<i>luck" in body for body in bodies(at))
    assert len(charts(at)) == 4


def test_another_reader_gets_the_result_of_the_same_settings_at_once(server):
    server([READY, *QUADRATIC])
    wait(press(open_page("cost"), "Measure"), has_button("Measure again"))
    other = press(open_page("cost"), "Measure")
    assert has_button("Measure again")(other)
    assert len(charts(other)) == 4


def test_another_reader_waits_visibly_and_a_full_queue_says_so(server):
    made = server([READY], "time.sleep(600)")
    for d in range(1, 4):
        made.ask(Plan(d_head=d), "somebody")
    at = press(open_page("cost"), "Measure")
    assert [bar.proto.text for bar in at.get("progress")] == [
        "Waiting for this server's other measurements and trainings: 3 before this one"
    ]
    made.ask(Plan(d_head=5), "somebody")
    late = press(open_page("cost", measured_d="16"), "Measure")
    assert any("3 are waiting already" in line for line in notice_lines(late))
    for job in (*made.queue._waiting, made.queue._running):
        if job:
            job._looked.clear()


def test_settings_changed_after_a_measurement_are_told_apart_from_its_own(server):
    server([READY, *QUADRATIC])
    at = wait(press(open_page("cost"), "Measure"), has_button("Measure again"))
    assert "1 head of d_head = 64" in said(at, "on this machine, PyTorch")
    text = said(change(at, measured_d=16), "on this machine, PyTorch")
    assert "1 head of d_head = 64" in text
    assert "These are not the settings above" in text
    assert has_button("Measure")(at)


def test_a_slide_has_no_measurement(server):
    server([READY], "time.sleep(600)")
    at = press(open_page("cost"), "Measure")
    at = press(at, "Present")
    assert not has_button("Stop measuring")(at)
    assert len(charts(at)) == 1
    at.session_state["_measurement"]._looked.clear()
