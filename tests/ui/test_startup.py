"""What a process does so that Streamlit's collection of garbage after every run stays cheap."""

import gc
import sys
import threading
import time
import weakref
from types import ModuleType

from server import memory
from ui import startup


def settled(ago=0.0):
    """That a run has looked for garbage so many seconds ago."""
    return {"modules": len(sys.modules), "collected": time.monotonic() - ago, "resident": memory.resident()}


def test_what_a_run_imports_later_is_taken_out_of_the_collector_too(monkeypatch):
    monkeypatch.setattr(startup, "_settled", settled())
    held = [[] for _ in range(997)]
    startup.settle_memory()
    assert any(found is held for found in gc.get_objects())  # nothing was imported: nothing happens
    for number in range(startup.MANY_MODULES + 1):
        monkeypatch.setitem(sys.modules, f"later_{number}", ModuleType("later"))
    startup.settle_memory()
    assert not any(found is held for found in gc.get_objects())
    assert startup._settled["modules"] == len(sys.modules)
    gc.unfreeze()


class Ring:
    """Garbage that only the collector can see."""

    def __init__(self):
        self.own = self


def garbage_goes():
    """Whether a run that ends now has garbage collected, a moment later."""
    ring = weakref.ref(Ring())
    before = set(threading.enumerate())
    startup.settle_memory()
    assert ring() is not None, "the reader does not wait for it"
    for waiting in set(threading.enumerate()) - before:
        assert waiting.daemon, "a server that ends does not wait for it either"
        waiting.join()
    return ring() is None


def test_garbage_is_looked_for_after_some_seconds_and_not_after_every_run(monkeypatch):
    monkeypatch.setattr(startup, "LATER", 0.05)
    gc.disable()
    try:
        for ago, gone in ((0.0, False), (startup.COLLECT_EVERY + 1, True)):
            monkeypatch.setattr(startup, "_settled", settled(ago))
            assert garbage_goes() == gone
    finally:
        gc.enable()


def test_garbage_is_looked_for_soon_where_the_process_has_grown(monkeypatch):
    monkeypatch.setattr(startup, "LATER", 0.05)
    monkeypatch.setattr(startup, "_settled", settled() | {"resident": 2**30})
    large = 2**30 + startup.COLLECT_AFTER + 1
    gc.disable()
    try:
        # The last is as large as before, since the collection found nothing to free.
        for size, gone in ((2**30, False), (large, True), (large, False)):
            monkeypatch.setattr(memory, "resident", lambda size=size: size)
            assert garbage_goes() == gone
    finally:
        gc.enable()
