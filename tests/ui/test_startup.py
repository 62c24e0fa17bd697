"""What a process does so that Streamlit's collection of garbage after every run stays cheap."""

import gc
import sys
from types import ModuleType

from ui import startup


def test_what_a_run_imports_later_is_taken_out_of_the_collector_too(monkeypatch):
    monkeypatch.setattr(startup, "_settled", {"modules": len(sys.modules)})
    held = [[] for _ in range(997)]
    startup.settle_memory()
    assert any(found is held for found in gc.get_objects())  # nothing was imported: nothing happens
    for number in range(startup.MANY_MODULES + 1):
        monkeypatch.setitem(sys.modules, f"later_{number}", ModuleType("later"))
    startup.settle_memory()
    assert not any(found is held for found in gc.get_objects())
    assert startup._settled == {"modules": len(sys.modules)}
    gc.unfreeze()
