"""What a process does so that Streamlit's collection of garbage after every run stays cheap."""

import gc
import sys
import threading
import time
import weakref
from types import ModuleType

from ui import startup


def test_what_a_run_imports_later_is_taken_out_of_the_collector_too(monkeypatch):
    monkeypatch.setattr(startup, "_settled", {"modules": len(sys.modules), "collected": time.monotonic()})
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


def test_garbage_is_looked_for_after_some_seconds_and_not_after_every_run(monkeypatch):
    monkeypatch.setattr(startup, "LATER", 0.05)
    gc.disable()
    try:
        for ago, gone in ((0.0, False), (startup.COLLECT_EVERY + 1, True)):
            collected = time.monotonic() - ago
            monkeypatch.setattr(startup, "_settled", {"modules": len(sys.modules), "collected": collected})
            ring = weakref.ref(Ring())
            before = set(threading.enumerate())
            startup.settle_memory()
            assert ring() is not None, "the reader does not wait for it"
            for waiting in set(threading.enumerate()) - before:
                assert waiting.daemon, "a server that ends does not wait for it either"
                waiting.join()
            assert (ring() is None) == gone
    finally:
        gc.enable()
