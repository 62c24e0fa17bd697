"""A trained encoder from its files: matrices of whole numbers with one scale a row."""

import functools
import math
from pathlib import Path

import numpy as np
from attention import attend


@functools.cache
def stored(folder="model"):
    """All arrays of the model, and its vocabulary."""
    if not Path(folder, "layers.npz").exists():
        raise SystemExit("Put the folder core/pretrained/model of the dashboard's repository beside this, as `model`.")
    found = dict(np.load(Path(folder, "layers.npz")))
    found["words"] = np.load(Path(folder, "words.npy"), mmap_mode="r")  # only the rows that are asked for are read
    return found | {"vocabulary": Path(folder, "vocab.txt").read_text(encoding="utf-8").split("\n")}


def matrix(name):
    """One output a column, to be used as x @ matrix."""
    return (stored()[name] * stored()[f"{name}.scales"].astype(float)[:, None]).T


def layer_norm(x, name):
    """Every row to mean 0 and variance 1, then the learned gain and shift."""
    centred = x - x.mean(axis=-1, keepdims=True)
    normed = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return normed * stored()[f"{name}gain"] + stored()[f"{name}shift"]


def embed(pieces):
    """Word, position and kind of text added, then normed: (position, d_model)."""
    ids = [stored()["vocabulary"].index(piece) for piece in pieces]
    words = stored()["words"][ids] * stored()["words.scales"].astype(float)[ids, None]
    return layer_norm(words + matrix("positions").T[: len(ids)] + stored()["text_type"], "")


def dense(x, layer, name):
    """One of a layer's linear parts."""
    return x @ matrix(f"{layer}.w_{name}") + stored()[f"{layer}.b_{name}"]


def gelu(x):
    """x times the share of a standard normal below it."""
    return x * np.vectorize(lambda value: 0.5 * (1 + math.erf(value / math.sqrt(2))))(x)


def through_layer(x, layer):
    """What a layer makes of x with the norm behind each part, and the weights of its 12 heads."""
    q, k, v = (dense(x, layer, name).reshape(len(x), 12, -1).swapaxes(0, 1) for name in "qkv")
    *_, weights, mixed = attend(q, k, v)
    x = layer_norm(x + dense(mixed.swapaxes(0, 1).reshape(len(x), -1), layer, "o"), f"{layer}.norm_1_")
    return layer_norm(x + dense(gelu(dense(x, layer, "1")), layer, "2"), f"{layer}.norm_2_"), weights
