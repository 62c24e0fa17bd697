"""Running programs as a reader would: in a clean interpreter that knows nothing of this project.

One interpreter is started with ``-I`` in an empty folder, imports what is dear, and forks a child for each program.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from core.pretrained.model import FOLDER

_SERVER = r"""
import gc, json, os, sys, tempfile, traceback

codes, imports, at_once = json.load(sys.stdin)
for name in imports:
    __import__(name)
gc.collect()
gc.freeze()  # nothing of it is walked through, and so copied, in the children
if "torch" in imports:
    sys.modules["torch"].set_num_threads(1)


def start(code):
    files = [tempfile.TemporaryFile() for _ in range(2)]
    child = os.fork()
    if child:
        return child, files
    status = 1
    try:
        for number, file in enumerate(files, start=1):
            os.dup2(file.fileno(), number)
        # The strictest console there is: a program that prints words has to see to its encoding itself.
        sys.stdout = open(1, "w", encoding="ascii", errors="strict", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        try:
            exec(compile(code, "program.py", "exec"), {"__name__": "__main__"})
            sys.stdout.flush()
            status = 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
    finally:
        os._exit(status)


outcomes, running = {}, {}
for number, code in enumerate(codes + [None] * at_once):
    if code is not None:
        child, files = start(code)
        running[child] = number, files
    if running and (code is None or len(running) == at_once):
        child, status = os.wait()
        finished, files = running.pop(child)
        for file in files:
            file.seek(0)
        outcomes[finished] = [status, *(file.read().decode("utf-8", "backslashreplace") for file in files)]
json.dump([outcomes[number] for number in range(len(codes))], sys.stdout)
"""


def run_all(codes: Sequence[str], imports: Sequence[str] = ("numpy",)) -> list[str]:
    """Standard output of each program, each run in a process of its own.

    Parameters
    ----------
    codes : sequence of str
        Python programs.
    imports : sequence of str
        Modules that most of them need, imported once.

    Returns
    -------
    list of str
        In the same order.

    Raises
    ------
    AssertionError
        A program failed; its traceback is in the message.
    """
    with tempfile.TemporaryDirectory() as folder:
        _put_model_beside(folder)
        server = subprocess.run(
            [sys.executable, "-I", "-c", _SERVER],
            input=json.dumps([list(codes), list(imports), 2]),
            cwd=folder,
            env=_environment(folder),
            capture_output=True,
            encoding="utf-8",
        )
    assert server.returncode == 0, server.stderr
    printed = []
    for code, (status, output, errors) in zip(codes, json.loads(server.stdout), strict=True):
        assert status == 0, f"{errors}\n--- the program ---\n{code}"
        printed.append(output)
    return printed


def run_file(code: str) -> str:
    """Standard output of one program, saved to a file and started by its name, as a reader does.

    Parameters
    ----------
    code : str
        A Python program.

    Returns
    -------
    str
        What it printed.

    Raises
    ------
    AssertionError
        It failed; its traceback is in the message.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        _put_model_beside(folder)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(code)
        run = subprocess.run(
            [sys.executable, "-I", path], cwd=folder, env=_environment(folder), capture_output=True, encoding="utf-8"
        )
    assert run.returncode == 0, run.stderr
    return run.stdout


def _put_model_beside(folder: str) -> None:
    """What the program of the trained model asks its reader to do; the others do not know of it."""
    os.symlink(FOLDER, os.path.join(folder, "model"))


def _environment(folder: str) -> dict[str, str]:
    # A small machine's worth of threads, and nowhere to draw but into memory.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    system = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    own = os.environ.get("MPLCONFIGDIR") or os.path.join(tempfile.gettempdir(), "take_home_matplotlib")
    return {**system, **threads, "MPLBACKEND": "Agg", "MPLCONFIGDIR": own, "HOME": folder}
