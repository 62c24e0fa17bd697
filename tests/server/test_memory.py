"""What is freed goes back to the system; each case in a process of its own, whose memory nobody else has used."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from server import memory

ROOT = Path(__file__).parents[2]

GLIBC = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="another C library"
)


def said(program: str) -> str:
    """Output of a program."""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


THREADS = """
import ctypes, sys, threading
from server.memory import hold_little
{first}
begun, end = threading.Barrier(9), threading.Event()
def hold():
    held = bytearray(5000)
    begun.wait()
    end.wait()
for _ in range(8):
    threading.Thread(target=hold).start()
begun.wait()
library = ctypes.CDLL(None)
out = ctypes.c_void_p.in_dll(library, "stdout")
library.malloc_info(0, out)
library.fflush(out)
end.set()
"""


@GLIBC
def test_threads_share_few_heaps():
    alone, shared = (said(THREADS.format(first=first)).count("<heap nr=") for first in ("", "hold_little()"))
    assert shared <= memory.HEAPS < alone


LARGE_ARRAYS = """
from server.memory import LARGE, hold_little, resident
{first}
for _ in range(2):  # a large block that was freed is what teaches glibc to take the next one from its heap
    blocks, small = [], []
    for _ in range(32):
        blocks.append(bytearray(2 * LARGE))
        small.append(bytearray(600))
    before = resident()
    blocks.clear()
print(before - resident())
"""


@GLIBC
def test_large_blocks_go_back_when_they_are_freed():
    alone, told = (int(said(LARGE_ARRAYS.format(first=first))) for first in ("", "hold_little()"))
    assert alone < 40 * 2**20
    assert told > 60 * 2**20


HOLES = """
from server.memory import give_back, hold_little, resident
hold_little()
blocks = [bytearray(b"x") * 100_000 for _ in range(640)]
held = blocks[::16]
blocks = None
before = resident()
{then}
print(before - resident())
"""


@GLIBC
def test_holes_between_blocks_are_given_back():
    kept, given = (int(said(HOLES.format(then=then))) for then in ("", "give_back()"))
    assert kept < 2**20
    assert given > 40 * 2**20


def test_arrow_takes_its_memory_from_the_same_place():
    program = "from server.memory import hold_little; hold_little(); import pyarrow; print({})"
    assert said(program.format("pyarrow.default_memory_pool().backend_name")).strip() == "system"


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say it there")
def test_the_memory_of_the_process_is_what_the_system_says():
    status = Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]
    assert memory.resident() / 1024 == pytest.approx(int(status), rel=0.02)


def test_another_system_is_left_alone(monkeypatch):
    monkeypatch.setattr(memory.sys, "platform", "win32")
    memory._glibc.cache_clear()
    try:
        assert memory._glibc() is None
        memory.give_back()
    finally:
        memory._glibc.cache_clear()
