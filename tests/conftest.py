"""For all tests: one thread a process, and Hypothesis without a deadline, with the same examples in every run."""

import gc
import os

# Before NumPy and PyTorch are imported: two workers on two cores, whose threads would wait for each other.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True, database=None)
settings.load_profile("house")

# Of the many objects that PyTorch, Streamlit and Altair are made of hardly any is ever garbage; at Python's own
# threshold a tenth of the time of the tests that open pages goes into walking through them.
gc.set_threshold(20_000, 20, 20)
