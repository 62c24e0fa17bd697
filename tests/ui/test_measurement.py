"""Measurements of a server: one at a time, shared, bounded, stopped, and what is told when one goes wrong.

The programs that run here are small ones of our own, which report what they are told to.
"""

import json
import os
import sys
import time

import pytest

from core.measurement.plan import LeftOut, Plan, Reading, Ready, write_report
from ui.measurement import Measurements

PLAN = Plan(seconds=5.0, sizes=(64,))
READY = write_report(Ready("2.0", "processor time"))
READINGS = [
    write_report(Reading(64, "plain formula", 0.5, 3, 1024, 8)),
    write_report(LeftOut(64, "fused function", "no")),
]

REPORTS = "import sys, time, os\nfor line in {lines!r}: print(line, flush=True)\n"
"""A program that reports at once; what follows says how it goes on."""


def program(then="", lines=(READY, *READINGS)):
    return (sys.executable, "-c", REPORTS.format(lines=list(lines)) + then)


def forever(tmp_path):
    """A program that never ends, and where it writes its number."""
    file = tmp_path / "number"
    # Renamed when it is written, so that nobody reads half of it.
    write = f"open({str(file) + '_'!r}, 'w').write(str(os.getpid())); os.replace({str(file) + '_'!r}, {str(file)!r})\n"
    return program(f"{write}time.sleep(600)"), file


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def ended(job, reader="me"):
    until(lambda: not job.look(reader).active)
    return job.look(reader)


def alive(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_measurement_reports_and_is_done():
    job = Measurements(program("print('noise of a library')")).ask(PLAN, "me")
    progress = ended(job)
    assert progress.stage == "done"
    assert progress.said == ""
    assert progress.ready == Ready("2.0", "processor time")
    assert progress.readings == (Reading(64, "plain formula", 0.5, 3, 1024, 8),)
    assert progress.left_out == (LeftOut(64, "fused function", "no"),)
    assert job.total == 2


def test_the_program_is_told_the_plan():
    echo = "import sys, json; print(json.dumps({'kind': 'left out', 'n': 1, 'method': 'x', 'why': sys.argv[1]}))"
    job = Measurements((sys.executable, "-c", echo)).ask(PLAN, "me")
    assert json.loads(ended(job).left_out[0].why) == json.loads(PLAN.written())


def test_a_finished_result_serves_the_next_reader_and_can_be_measured_anew():
    server = Measurements(program())
    first = server.ask(PLAN, "me")
    ended(first)
    assert server.ask(PLAN, "you") is first
    assert first.look("you").stage == "done"
    again = server.ask(PLAN, "you", anew=True)
    assert again is not first
    assert ended(again, "you").stage == "done"
    until(lambda: server.ask(PLAN, "they") is again)


def test_readers_of_the_same_settings_share_one_that_runs_and_the_last_to_leave_ends_it(tmp_path):
    command, number = forever(tmp_path)
    server = Measurements(command)
    job = server.ask(PLAN, "me")
    assert server.ask(PLAN, "you") is job
    until(number.exists)
    job.leave("me")
    assert job.look("me").stage == "stopped", "for the one who left, at once"
    time.sleep(0.3)
    assert job.look("you").stage == "running"
    job.leave("you")
    until(lambda: not alive(int(number.read_text())))
    assert ended(job, "you").stage == "stopped"


def test_stop_kills_the_process_and_keeps_what_was_measured(tmp_path):
    command, number = forever(tmp_path)
    job = Measurements(command).ask(PLAN, "me")
    until(number.exists)
    process = int(number.read_text())
    assert alive(process)
    until(lambda: job.look("me").readings)
    job.leave("me")
    until(lambda: not alive(process))
    progress = ended(job)
    assert (progress.stage, progress.said) == ("stopped", "Stopped: what was measured until then is kept.")
    assert len(progress.readings) == 1


def test_a_reader_who_no_longer_looks_has_left(tmp_path):
    command, number = forever(tmp_path)
    job = Measurements(command, patience=0.4).ask(PLAN, "me")
    until(number.exists)
    until(lambda: not alive(int(number.read_text())))
    assert job.look("me").stage == "stopped"


def test_a_reader_who_looks_is_waited_for(tmp_path):
    command, _ = forever(tmp_path)
    job = Measurements(command, patience=1.0).ask(PLAN, "me")
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        assert job.look("me").active
        time.sleep(0.05)
    job.leave("me")
    ended(job)


def plans(count):
    return [Plan(d_head=d, sizes=(64,)) for d in range(1, count + 1)]


def test_others_wait_their_turn_and_a_full_queue_refuses(tmp_path):
    command, number = forever(tmp_path)
    server = Measurements(command, most_waiting=2)
    first, second, third, fourth = plans(4)
    jobs = [server.ask(plan, plan) for plan in (first, second, third)]
    until(number.exists)
    assert server.ask(fourth, "late") is None
    assert server.ask(third, "late") is jobs[2], "one may join what waits"
    jobs[2].leave("late")
    looks = [job.look(job.plan) for job in jobs]
    assert [(look.stage, look.before) for look in looks] == [("running", 0), ("waiting", 1), ("waiting", 2)]
    jobs[1].leave(second)
    later = server.ask(fourth, "late")
    assert later is not None, "the place of one who has left is free"
    assert later.look("late").before == 2
    number.unlink()
    jobs[0].leave(first)
    until(number.exists)
    assert jobs[2].look(third).stage == "running"
    assert ended(jobs[1], second).stage == "stopped"
    for job, reader in ((jobs[2], third), (later, "late")):
        job.leave(reader)
    until(lambda: server.queue._worker is None)


def test_only_one_process_runs_at_a_time(tmp_path):
    folder = str(tmp_path)
    alone = (
        f"import os, time, sys\nfile = os.path.join({folder!r}, 'running')\n"
        "try: os.close(os.open(file, os.O_CREAT | os.O_EXCL))\nexcept FileExistsError: sys.exit(9)\n"
        "time.sleep(0.2)\nos.remove(file)"
    )
    server = Measurements((sys.executable, "-c", alone), most_waiting=5)
    jobs = [server.ask(plan, "me") for plan in plans(4)]
    assert [ended(job).stage for job in jobs] == ["done"] * 4


@pytest.mark.parametrize(
    ("then", "how"),
    [
        ("sys.exit(3)", "exit code 3: it said nothing"),
        ("raise MemoryError('no <b>room</b>')", "exit code 1: MemoryError: no <b>room</b>"),
        ("os.kill(os.getpid(), 9)", "signal 9: it said nothing"),
    ],
)
def test_a_crash_is_told_in_one_sentence_and_in_the_log(then, how, caplog):
    server = Measurements(program(then))
    progress = ended(server.ask(PLAN, "me"))
    assert progress.stage == "failed"
    assert progress.said == f"The measurement ended before it was done ({how}); readings until then: 1."
    assert len(progress.readings) == 1
    assert "a measurement ended with" in caplog.text
    assert server.ask(PLAN, "you").look("you").stage != "failed", "nobody gets a failure from the shelf"


def test_a_program_that_cannot_be_started_is_told_too(caplog):
    server = Measurements(("/no/such/program",))
    progress = ended(server.ask(PLAN, "me"))
    assert progress.stage == "failed"
    assert progress.said.startswith("The measurement could not be run: FileNotFoundError: ")
    assert "could not be run" in caplog.text


def test_a_program_beyond_its_budget_is_ended(tmp_path):
    command, number = forever(tmp_path)
    job = Measurements(command, loading=0.5).ask(Plan(seconds=0.25, sizes=(64,)), "me")
    progress = ended(job)
    assert progress.said == "The measurement was ended: its budget of 0.25 s and 0.5 s to load PyTorch are over."
    until(lambda: not alive(int(number.read_text())))
