"""How the process holds its memory: what is freed goes back to the system instead of staying with it."""

import ctypes
import functools
import os
import sys
from pathlib import Path

LARGE = 2**20
"""Bytes of a block that gets pages of its own, and gives them back at once."""

HEAPS = 2
"""Among which small blocks are shared out."""

# Names in <malloc.h>.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8


@functools.cache
def _glibc() -> ctypes.CDLL | None:
    """The C library, where it is one with these switches."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


def hold_little() -> None:
    """Choose how memory is held; to be called once, before threads and large libraries come.

    Every run of a reader is a thread. Left alone, glibc makes up to 16 heaps for threads on two cores, and once a large
    array was freed it takes later ones from those heaps, where a small block that lives on keeps the hole before it.
    Arrow comes with an allocator of its own that does the same. Elsewhere than under glibc only Arrow is told.
    """
    # Read when pyarrow is first imported.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    library = _glibc()
    if library is not None:
        for switch, value in ((_M_ARENA_MAX, HEAPS), (_M_MMAP_THRESHOLD, LARGE), (_M_TRIM_THRESHOLD, LARGE)):
            library.mallopt(switch, value)


def give_back() -> None:
    """Give the holes in the heaps back to the system: a millisecond or two, without the interpreter's lock."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


def resident() -> int:
    """Bytes of memory that the process has now.

    Returns
    -------
    int
        0 where the system does not say.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
