"""Watch attention being learned: films and figures of saved runs, one's own sequence, and a training as it is seen."""

import html
import sys
from dataclasses import replace

import numpy as np
import pytest

from core.training import figures
from core.training.model import run as run_tiny
from core.training.runs import Snapshot, saved, write_line
from core.training.tasks import TASKS, TWIN, TWINS
from tests.pages.reading import bodies, change, chart, charts, notices, open_page, plain, press, run, said, texts
from ui import train_here
from ui.background import Queue
from ui.trainings import program


def cells(at, name):
    """Weights of a chart as a matrix."""
    table = chart(at, name)
    return table.pivot_table(index="row_position", columns="column_position", values="value").to_numpy()


def look_for(at):
    return said(at, "What to look for")


# Films


def test_the_film_shows_the_probe_at_the_chosen_snapshot():
    film = saved("reverse")
    at = open_page("learning", snapshot="7")
    np.testing.assert_allclose(cells(at, "weights at step 42,"), film.weights(7)[0], atol=1e-9)
    table = chart(at, "Right answers")
    assert table[table.kind == "now"].step.tolist() == [42]
    assert f"{film.accuracy[7]:.2f} of the answers are right" in " ".join(said(at, "Step 42: it writes").split())
    np.testing.assert_allclose(cells(change(at, snapshot=0), "weights at step 0,"), film.weights(0)[0], atol=1e-9)


def test_cells_that_should_light_up_are_outlined():
    table = chart(open_page("learning", task="copy 2"), "weights at step 300,")
    marked = table[table.outline == "cell"]
    assert list(zip(marked.row_position, marked.column_position, strict=True)) == [(i, i - 2) for i in range(2, 12)]


def test_curves_are_those_of_the_run_and_of_its_twin():
    film, other = saved("induction"), saved("induction-none")
    at = open_page("learning", task="induction")
    table = chart(at, "Right answers")
    lines = dict(list(table[table.kind == "line"].groupby("series")))
    np.testing.assert_allclose(lines["right answers"].value, film.accuracy, rtol=1e-6)
    np.testing.assert_allclose(lines["weight on the outlined cells"].value, film.masses[:, 1], rtol=1e-6)
    np.testing.assert_allclose(lines["the other model"].value, other.accuracy, rtol=1e-6)
    losses = chart(at, "Loss over")
    means = losses[losses.series == "loss"].value.to_numpy()
    np.testing.assert_allclose(means[1:], film.losses.reshape(50, 8).mean(axis=1), rtol=1e-5)
    assert means[0] == pytest.approx(film.losses[0])


FIGURES = {
    ("reverse", False): ("0.98 at the end", "from step 96 on"),
    ("reverse", True): ("looking everywhere alike gives 1/10 = 0.10",),
    ("copy 2", False): ("A line 2 below the diagonal",),
    ("sort", True): ("Nothing is missed: 1.00 right without positions",),
    ("induction", False): ("until step 96 fewer than 1 answer in 10", "from step 128 on 9 in 10"),
    ("induction", True): ("One layer cannot do it: 0.03 right",),
    ("pronoun", False): ("Of 500 pairs", "1.000 are right both times"),
    ("pronoun", True): ("0.000 of 500 pairs right",),
    ("order", False): ("Without positions: 0.50",),
    ("order", True): ("0.50: without positions",),
    ("scale", False): ("entropy of 2.10 nats with 1/√d, of 0.20 without", "0.71 without, 1.00 with it"),
    ("mask", True): ("Loss at the end: 1.32 with the mask, 0.14 without", "0% keep to the grammar"),
}


@pytest.mark.parametrize(("task", "without"), FIGURES)
def test_each_task_says_what_to_look_for_in_numbers_of_its_run(task, without):
    text = look_for(open_page("learning", task=task, left_out=str(without).lower()))
    assert [part for part in FIGURES[task, without] if part not in text] == []


def test_a_saved_run_is_not_called_trained_here_where_two_readers_read_its_file_at_once(monkeypatch):
    monkeypatch.setattr(train_here, "saved", lambda *run: replace(saved(*run)))  # as equal, but another object
    assert said(open_page("learning"), "A saved run, seed 0.")


def test_the_phase_change_is_shaded_where_there_is_one():
    film = saved("induction")
    for left_out, expected in (("false", [(96, 128)]), ("true", [])):
        shares = chart(open_page("learning", task="induction", left_out=left_out), "Right answers")
        phase = shares[shares.kind == "phase"]
        assert list(zip(phase.step, phase.until, strict=True)) == expected
    before, after = (int(np.flatnonzero(film.steps == step)[0]) for step in (96, 128))
    assert film.accuracy[before - 1] < 0.1 <= film.accuracy[before]
    assert film.accuracy[after - 1] < 0.9 <= film.accuracy[after]
    shares = chart(open_page("learning"), "Right answers")
    assert "phase" not in set(shares.kind)


# A reader's own sequence


def test_ones_own_sequence_is_read_by_the_finished_model():
    at = change(open_page("learning"), own="Abcdefghij")
    words = tuple("abcdefghij")
    task = TASKS["reverse"]
    found = run_tiny(task.design, saved("reverse").parameters, task.numbers(words)[0])
    np.testing.assert_allclose(cells(at, "weights of the finished model"), found.pictures[0].weights, atol=1e-9)
    assert said(at, "Row by row it writes").split("writes")[1].split() == [*"jihgfedcb", "a", "."]


def test_the_pronoun_follows_the_adjective_and_is_torn_where_that_fits_both():
    at = open_page("learning", task="pronoun", own="Ravi put the hammer in his box because it was heavy")
    assert "“it” is hammer" in " ".join(said(at, "with a weight of").split())
    change(at, own="Ravi put the hammer in his box because it was roomy")
    assert "“it” is box" in " ".join(said(at, "with a weight of").split())
    change(at, own="Ravi put the hammer in his box because it was old")
    assert cells(at, "pointer of the finished")[0, [3, 6]].sum() > 0.9
    assert cells(at, "pointer of the finished").shape == (1, 11), "the only row that is trained"


def test_sorting_is_done_by_the_model_itself():
    at = open_page("learning", task="sort", own="906152")
    assert " ".join(said(at, "It writes").split()).startswith("It writes 0 1 2 5 6 9")


@pytest.mark.parametrize(
    ("task", "own", "line"),
    [
        ("pronoun", "Meera put the ball in it", "Wanted words that the model was trained on; it does not know “ball”."),
        ("reverse", "abc", "Wanted 10 symbols, since the model was trained on that; got 3."),
        ("mask", "the $\\rule{9em}{9em}$ cat", "it does not know “$\\rule{9em}{9em}$”."),
    ],
)
def test_what_cannot_be_read_is_told_and_the_film_s_sequence_stays(task, own, line):
    at = open_page("learning", task=task, own=own)
    assert any(line in notice and "Shown is the sequence of the film." in notice for notice in notices(at))
    assert "of the finished model, for “" + " ".join(TASKS[task].probe) in " ".join(name for name, _ in charts(at))


def test_two_models_answer_alike_and_look_elsewhere():
    at = open_page("learning", ending="roomy")
    rows = [cells(at, f"What “it” looks at in the model of seed {seed}")[0] for seed in TWINS]
    assert rows[0].argmax() == 6
    assert rows[1].argmax() == 10
    counted = [figures.of(TASKS[TWIN], saved(TWIN, seed).parameters) for seed in TWINS]
    text = " ".join(said(at, "The same encoder").split())
    assert f"Right on fresh sentences: {counted[0]['accuracy']:.3f} and {counted[1]['accuracy']:.3f}" in text
    assert f"looks most at bag ({rows[0][6]:.2f}) in one, at roomy ({rows[1][10]:.2f}) in the other" in text


def test_the_page_says_how_many_numbers_are_trained():
    assert "All 6,266 numbers of this model are trained" in " ".join(said(open_page("learning"), "numbers of").split())


# A training


def shots(task, n, last):
    """Lines of a training of our own making, the first ones of a saved run."""
    film = saved(task)
    return [
        write_line(
            Snapshot(
                int(film.steps[i]), tuple(film.losses[film.steps[i - 1] : film.steps[i]].tolist()) if i else (),
                float(film.accuracy[i]), tuple(film.masses[i].tolist()), float(film.entropy[i]),
                float(film.gradient[i]), film.weights(i), film.written[i].astype(int), dict(film.parameters),
            ),
            last=last and i == n - 1,
        )
        for i in range(n)
    ]  # fmt: skip


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A server whose trainings report what they are told, then end, fail or go on."""
    made = Queue(patience=30)
    monkeypatch.setattr(train_here, "trainings", made)

    def make(lines, then=""):
        file = tmp_path / "lines"
        file.write_text("\n".join([*lines, ""]), encoding="utf-8")
        code = f"import sys, time\nsys.stdout.write(open({str(file)!r}).read())\nsys.stdout.flush()\n{then}"
        monkeypatch.setattr(train_here, "command", (sys.executable, "-c", code))
        return made

    yield make
    for job in (*made._waiting, made._running):
        if job:
            job._looked.clear()


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


def test_a_training_that_is_done_is_shown_and_kept_for_others(server):
    server(shots("order", 51, last=True))
    at = press(open_page("learning", task="order", seed="7"), "Train, seed 7")
    at = wait(at, has_button("Train, seed 7"))
    assert said(at, "Trained on this server, seed 7.")
    np.testing.assert_allclose(cells(at, "weights at step 300,"), saved("order").weights(50)[0], atol=1e-9)
    other = open_page("learning", task="order", seed="7")
    assert said(other, "Trained on this server, seed 7."), "the next reader need not train it again"


def test_without_a_run_of_this_seed_the_saved_one_is_shown_and_said():
    at = open_page("learning", seed="8")
    assert said(at, "No run of seed 8 yet; shown is the saved one of seed 0.")


def test_a_run_of_the_shown_seed_is_compared_with_the_saved_one(server):
    server(shots("order", 51, last=True))
    at = wait(press(open_page("learning", task="order"), "Train, seed 0"), has_button("Train, seed 0"))
    assert said(at, "Trained on this server, seed 0. Every loss is the saved run’s.")


def test_progress_and_pictures_are_seen_while_it_runs_and_stop_ends_it(server):
    server(shots("order", 20, last=False), "time.sleep(600)")
    at = press(open_page("learning", task="order", seed="7"), "Train, seed 7")
    at = wait(at, lambda at: any("Step 114" in bar.proto.text for bar in at.get("progress")))
    assert not has_button("Train, seed 7")(at)
    np.testing.assert_allclose(cells(at, "weights at step 114,"), saved("order").weights(19)[0], atol=1e-9)
    assert len(chart(at, "Right answers over 114 steps").query("series == 'right answers'")) == 20
    press(at, "Stop training")
    wait(at, has_button("Train, seed 7"))
    assert said(at, "Stopped at step 114 of 300.")
    assert chart(at, "weights at step 114,") is not None, "what was learned until then stays"
    assert notice_lines(at) == ["Stopped: what was learned until then is kept on this page."]
    assert "Without positions: 0.50" in look_for(at)


def test_a_crash_is_told_in_one_sentence(server):
    server(shots("order", 3, last=False), "raise SystemExit('out of <i>luck</i>')")
    at = wait(press(open_page("learning", task="order", seed="7"), "Train, seed 7"), has_button("Train, seed 7"))
    assert notice_lines(at) == [
        "The training ended before it was done (exit code 1: out of <i>luck</i>); snapshots until then: 3."
    ]
    assert not any("<i>luck" in body for body in bodies(at))
    assert said(at, "Stopped at step 12 of 300.")


def test_others_wait_visibly_and_a_full_queue_says_so(server):
    made = server([], "time.sleep(600)")
    for seed in range(3):
        made.ask(program("sort", seed, train_here.command), "somebody")
    at = press(open_page("learning", task="order", seed="7"), "Train, seed 7")
    (bar,) = at.get("progress")
    assert bar.proto.text == (
        "order, seed 7. Waiting for this server’s other trainings and measurements: 3 before this one"
    )
    late = press(open_page("learning", seed="9"), "Train, seed 9")
    assert any("3 are waiting already" in line for line in notice_lines(late))
    assert has_button("Train, seed 9")(late)


def test_a_slide_shows_the_part_of_a_training_that_is_its_own(server):
    server(shots("order", 20, last=False), "time.sleep(600)")
    at = press(open_page("learning", task="order", seed="7", present="1", step="film"), "Train, seed 7")
    at = wait(at, lambda at: any("Step 114" in bar.proto.text for bar in at.get("progress")))
    assert [name.split(",")[0] for name, _ in charts(at)] == ["weights at step 114"]
    press(at, "Next")
    names = [name for name, _ in charts(press(at, "Back"))]
    assert [name.split(",")[0] for name in names] == ["weights at step 114"]
    press(at, "Back")
    assert sorted(name.split(":")[0] for name, _ in charts(at)) == [
        "Loss over 114 steps",
        "Right answers over 114 steps",
    ]


def test_another_task_can_be_looked_at_meanwhile(server):
    server(shots("order", 20, last=False), "time.sleep(600)")
    at = press(open_page("learning", task="order", seed="7"), "Train, seed 7")
    at = wait(at, lambda at: any("Step 114" in bar.proto.text for bar in at.get("progress")))
    change(at, task="mask")
    assert any(bar.proto.text.startswith("order, seed 7. Step 114") for bar in at.get("progress"))
    assert chart(at, "weights at step 300,") is not None
    assert not any("nan" in text.lower() for text in texts(at))
