"""A trained encoder from its files: matrices of whole numbers with one scale a row."""

from pathlib import Path

import numpy as np

FOLDER = Path("model")
if not (FOLDER / "layers.npz").exists():
    raise SystemExit("Put the folder core/pretrained/model of the dashboard's repository beside this file, as `model`.")
VOCABULARY = (FOLDER / "vocab.txt").read_text(encoding="utf-8").split("\n")
stored = dict(np.load(FOLDER / "layers.npz"))
all_words = np.load(FOLDER / "words.npy", mmap_mode="r")  # only the rows that are asked for are read


def matrix(name):
    """One output a column, to be used as x @ matrix."""
    return (stored[name] * stored[f"{name}.scales"].astype(float)[:, None]).T


def layer_norm(x, gain, shift):
    """Every row to mean 0 and variance 1, then the learned gain and shift."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12) * gain + shift


def embed(pieces):
    """Word, position and kind of text added, then normed: (position, d_model)."""
    ids, n = [VOCABULARY.index(piece) for piece in pieces], len(pieces)
    words = all_words[ids] * stored["words.scales"].astype(float)[ids, None]
    return layer_norm(words + matrix("positions").T[:n] + stored["text_type"], stored["gain"], stored["shift"])


def join_words(weights, pieces):
    """Weights on the pieces of a word added, rows of its pieces averaged; and the words."""
    starts = [place for place, piece in enumerate(pieces) if not piece.startswith("##")]
    sizes = np.diff([*starts, len(pieces)])
    added = np.add.reduceat(weights, starts, axis=1)
    words = ["".join(piece.removeprefix("##") for piece in pieces[i : i + size]) for i, size in zip(starts, sizes)]
    return np.add.reduceat(added, starts, axis=0) / sizes[:, None], words


def leave_out_ends(weights):
    """Without the first and the last token, each row brought back to a sum of 1."""
    between = weights[1:-1, 1:-1]
    sums = between.sum(axis=-1, keepdims=True)
    return np.divide(between, sums, out=np.zeros_like(between), where=sums > 0)
