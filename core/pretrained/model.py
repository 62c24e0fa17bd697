"""The files of a trained encoder, and its forward pass: embeddings, then blocks with the norm behind each part."""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from core.encoder_block import BlockParameters, EncoderBlock, encoder_block
from core.layer_norm import layer_norm
from core.pretrained.word_pieces import Pieces, split_pieces
from core.softmax import Floats

FOLDER = Path(__file__).parent / "model"
NAME = "all-MiniLM-L6-v2"
N_LAYERS, N_HEADS, D_MODEL, D_FF = 6, 12, 384, 1536
EPSILON = 1e-12
"""Added to the variance in every layer norm of this model."""

MAX_PIECES = 128
"""Longest text, start and end included: the model was fine-tuned on texts of at most so many word pieces."""

MATRICES = ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2")
VECTORS = ("b_q", "b_k", "b_v", "b_o", "b_1", "b_2", "norm_1_gain", "norm_1_shift", "norm_2_gain", "norm_2_shift")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of numbers, rounded to whole numbers from -127 to 127 with one scale a row, or as they were."""

    numbers: NDArray[Any]
    """(row, column)."""
    scales: Floats | None = None
    """(row,): the numbers of a row times its scale are its values; None for a table that was not rounded."""

    def rows(self, which: Sequence[int] | slice) -> Floats:
        """Values of some rows, in double precision."""
        if self.scales is None:
            return np.asarray(self.numbers[which], dtype=np.float64)
        values: Floats = np.multiply(self.numbers[which], self.scales[which, None], dtype=np.float64)
        return values


class Layers(Sequence[BlockParameters]):
    """Blocks of an encoder, each made of its tables when it is asked for.

    In double precision all of them together take eight times the memory of their rounded numbers.
    """

    def __init__(self, tables: Sequence[Mapping[str, Table]]) -> None:
        self._tables = tables

    def __len__(self) -> int:
        return len(self._tables)

    @overload
    def __getitem__(self, layer: int) -> BlockParameters: ...

    @overload
    def __getitem__(self, layer: slice) -> Sequence[BlockParameters]: ...

    def __getitem__(self, layer: int | slice) -> BlockParameters | Sequence[BlockParameters]:
        if isinstance(layer, slice):
            return Layers(self._tables[layer])
        tables = self._tables[layer]
        # Ours are used as x @ w, and the rows of a table make one output each.
        matrices = {name: tables[name].rows(slice(None)).T for name in MATRICES}
        return BlockParameters(**matrices, **{name: _vector(tables[name]) for name in VECTORS})


def _vector(table: Table) -> Floats:
    return np.asarray(table.numbers, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Encoder:
    """All that a trained encoder is made of."""

    vocabulary: Mapping[str, int]
    words: Table
    """(piece, d_model)."""
    positions: Table
    """(position, d_model)."""
    text_type: Floats
    """(d_model,): added to every piece; the model was made to read two texts at once, and this is the first."""
    gain: Floats
    shift: Floats
    layers: Sequence[BlockParameters]


def quantise(matrix: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix as whole numbers from -127 to 127 with one scale a row.

    Parameters
    ----------
    matrix : ndarray of shape (row, column)
        Finite numbers.

    Returns
    -------
    tuple of ndarray
        Whole numbers (row, column), and scales (row,): the largest absolute value of a row over 127.

    Raises
    ------
    ValueError
        There are not two axes.

    Examples
    --------
    >>> numbers, scales = quantise(np.array([[0.0, 254.0, -3.2]]))
    >>> numbers.tolist(), scales.tolist()
    ([[0, 127, -2]], [2.0])
    """
    if matrix.ndim != 2:
        raise ValueError(f"matrix must have the axes (row, column); got shape {matrix.shape}")
    largest = np.abs(matrix).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1.0).astype(np.float32)
    return np.rint(matrix / scales[:, None].astype(np.float64)).astype(np.int8), scales


def tables(weights: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays of the public model file under the names of this house.

    Parameters
    ----------
    weights : mapping of str to ndarray
        As in the public file; matrices stand as (output, input).

    Returns
    -------
    dict of str to ndarray
        "words", "positions", "text_type", "gain", "shift" and each layer's "0.w_q" and so on, not turned: a row is what
        one output is made with, and keeps a scale of its own. The pooler is left out.
    """
    embeddings = {name: weights[f"embeddings.{theirs}"] for name, theirs in _EMBEDDINGS.items()}
    embeddings["text_type"] = embeddings["text_type"][0]
    layers = {
        f"{layer}.{name}": weights[f"encoder.layer.{layer}.{theirs}"]
        for layer in range(N_LAYERS)
        for name, theirs in _LAYER.items()
    }
    return embeddings | layers


_EMBEDDINGS = {
    "words": "word_embeddings.weight",
    "positions": "position_embeddings.weight",
    "text_type": "token_type_embeddings.weight",
    "gain": "LayerNorm.weight",
    "shift": "LayerNorm.bias",
}
_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "o": "attention.output.dense",
    "1": "intermediate.dense",
    "2": "output.dense",
}
_LAYER = {
    **{f"w_{name}": f"{part}.weight" for name, part in _PARTS.items()},
    **{f"b_{name}": f"{part}.bias" for name, part in _PARTS.items()},
    "norm_1_gain": "attention.output.LayerNorm.weight",
    "norm_1_shift": "attention.output.LayerNorm.bias",
    "norm_2_gain": "output.LayerNorm.weight",
    "norm_2_shift": "output.LayerNorm.bias",
}


def read_safetensors(file: bytes) -> dict[str, NDArray[Any]]:
    """Arrays of a file in the safetensors format.

    Parameters
    ----------
    file : bytes
        Length of the header, header in JSON, numbers.

    Returns
    -------
    dict of str to ndarray
        Those of single precision; others are left out.

    Examples
    --------
    >>> header = b'{"a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}'
    >>> numbers = np.array([1.5, 2.0], np.float32).tobytes()
    >>> read_safetensors(len(header).to_bytes(8, "little") + header + numbers)["a"].tolist()
    [[1.5, 2.0]]
    """
    start = 8 + int.from_bytes(file[:8], "little")
    found = {}
    for name, entry in json.loads(file[8:start]).items():
        if entry.get("dtype") == "F32":
            low, high = entry["data_offsets"]
            found[name] = np.frombuffer(file[start + low : start + high], "<f4").reshape(entry["shape"])
    return found


def from_full(weights: Mapping[str, NDArray[Any]], vocabulary: Mapping[str, int]) -> Encoder:
    """The encoder with the weights as they were published.

    Parameters
    ----------
    weights : mapping of str to ndarray
        From `tables`.
    vocabulary : mapping of str to int
        From `read_vocabulary`.

    Returns
    -------
    Encoder
        In double precision.
    """
    return _assemble({name: Table(array) for name, array in weights.items()}, vocabulary)


def read_vocabulary(text: str) -> dict[str, int]:
    r"""Pieces with their numbers, one a line.

    Parameters
    ----------
    text : str
        The file.

    Returns
    -------
    dict of str to int
        In the order of the file.

    Examples
    --------
    >>> read_vocabulary("[PAD]\nthe\n")
    {'[PAD]': 0, 'the': 1}
    """
    return {piece: number for number, piece in enumerate(text.removesuffix("\n").split("\n"))}


@functools.lru_cache(maxsize=1)
def load() -> Encoder:
    """The encoder of this repository, rounded to whole numbers with a scale a row; read once a process.

    Returns
    -------
    Encoder
        Layers as they are stored, 11 MB, and one at a time in double precision; word embeddings stay in their file and
        are read row by row.

    Raises
    ------
    FileNotFoundError
        The files are not there; ``python -m core.pretrained.build`` makes them.
    """
    if not (FOLDER / "layers.npz").exists():
        raise FileNotFoundError(f"{FOLDER} must hold the model; `python -m core.pretrained.build` makes it")
    with np.load(FOLDER / "layers.npz") as file:
        stored = {name: file[name] for name in file.files}
    stored["words"] = np.load(FOLDER / "words.npy", mmap_mode="r")
    scales = {name: stored.pop(f"{name}.scales") for name in list(stored) if f"{name}.scales" in stored}
    found = {
        name: Table(array, scales[name].astype(np.float64) if name in scales else None)
        for name, array in stored.items()
        if not name.endswith(".scales")
    }
    return _assemble(found, read_vocabulary((FOLDER / "vocab.txt").read_text(encoding="utf-8")))


def _assemble(found: Mapping[str, Table], vocabulary: Mapping[str, int]) -> Encoder:
    layers = [{name: found[f"{layer}.{name}"] for name in (*MATRICES, *VECTORS)} for layer in range(N_LAYERS)]
    return Encoder(
        vocabulary,
        found["words"],
        found["positions"],
        _vector(found["text_type"]),
        _vector(found["gain"]),
        _vector(found["shift"]),
        Layers(layers),
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """What the encoder made of a text."""

    pieces: Pieces
    embeddings: Floats
    """(position, d_model): what the first block reads."""
    blocks: tuple[EncoderBlock, ...]
    """Everything that each layer computed."""

    @property
    def weights(self) -> Floats:
        """(layer, head, query, key): every head's attention."""
        return np.stack([block.heads.weights for block in self.blocks])

    @property
    def attended(self) -> "Attended":
        """The part of it that is small enough to keep."""
        return Attended(self.pieces, self.embeddings, self.weights)


@dataclass(frozen=True, slots=True)
class Attended:
    """A text, what went into the first block, and every head's attention."""

    pieces: Pieces
    embeddings: Floats
    """(position, d_model)."""
    weights: Floats
    """(layer, head, query, key)."""


def embed(encoder: Encoder, ids: Sequence[int]) -> Floats:
    """Vectors that go into the first block: word, position and type of text, added and normed.

    Parameters
    ----------
    encoder : Encoder
        From `load`.
    ids : sequence of int
        Numbers of pieces.

    Returns
    -------
    ndarray of shape (position, d_model)
        No unit.

    Raises
    ------
    ValueError
        There are more than `MAX_PIECES`.
    """
    if not 0 < len(ids) <= MAX_PIECES:
        raise ValueError(f"a text must have from 1 to {MAX_PIECES} word pieces, start and end included; got {len(ids)}")
    summed = encoder.words.rows(list(ids)) + encoder.positions.rows(slice(len(ids))) + encoder.text_type
    return layer_norm(summed, encoder.gain, encoder.shift, EPSILON)


def read_text(encoder: Encoder, text: str) -> Reading:
    """Send a text through all layers.

    Parameters
    ----------
    encoder : Encoder
        From `load` or `from_full`.
    text : str
        Not longer than `MAX_PIECES` pieces.

    Returns
    -------
    Reading
        Its pieces, and every intermediate of every layer.

    Raises
    ------
    ValueError
        The text is too long.
    """
    return read_pieces(encoder, split_pieces(text, encoder.vocabulary))


def read_pieces(encoder: Encoder, pieces: Pieces) -> Reading:
    """Send pieces through all layers.

    Parameters
    ----------
    encoder : Encoder
        From `load` or `from_full`.
    pieces : Pieces
        At most `MAX_PIECES`.

    Returns
    -------
    Reading
        Every intermediate of every layer.

    Raises
    ------
    ValueError
        There are too many.

    Notes
    -----
    Devlin et al. 2019 with the sizes of Wang et al. 2020 (MiniLM): 6 post-norm blocks of 12 heads, d_model 384, d_ff
    1536, exact GELU.
    """
    x = embeddings = embed(encoder, pieces.ids)
    blocks = []
    for parameters in encoder.layers:
        block = encoder_block(x, parameters, N_HEADS, "post", "gelu", eps=EPSILON)
        blocks.append(block)
        x = block.output
    return Reading(pieces, embeddings, tuple(blocks))


def one_head(x: Floats, parameters: BlockParameters, head: int) -> tuple[Floats, dict[str, Floats]]:
    """What one head reads and its projections, the biases as one more row that meets a constant 1.

    Parameters
    ----------
    x : ndarray of shape (position, d_model)
        What the layer reads.
    parameters : BlockParameters
        Of the layer, biases included.
    head : int
        Counted from 0.

    Returns
    -------
    tuple of ndarray and dict of str to ndarray
        x with a last column of ones, (position, d_model + 1), and "Q", "K" and "V", (d_model + 1, d_head):
        x @ w + b is one product.

    Raises
    ------
    ValueError
        There is no such head.

    Examples
    --------
    >>> from core.encoder_block import draw_parameters
    >>> x, w = one_head(np.zeros((3, 24)), draw_parameters(24, 12, 5, np.random.default_rng(0)), 7)
    >>> x.shape, w["Q"].shape
    ((3, 25), (25, 2))
    """
    if not 0 <= head < N_HEADS:
        raise ValueError(f"head must be from 0 to {N_HEADS - 1}; got {head}")
    p, d_head = parameters, x.shape[1] // N_HEADS
    own = slice(head * d_head, (head + 1) * d_head)
    projections = {"Q": (p.w_q, p.b_q), "K": (p.w_k, p.b_k), "V": (p.w_v, p.b_v)}
    w = {name: np.vstack([matrix[:, own], np.asarray(bias)[own]]) for name, (matrix, bias) in projections.items()}
    return np.hstack([x, np.ones((len(x), 1))]), w


def words_that_fit(words: Sequence[str], vocabulary: Mapping[str, int], most: int = MAX_PIECES) -> int:
    """How many words of a text the model can read.

    Parameters
    ----------
    words : sequence of str
        The text, split at white space.
    vocabulary : mapping of str to int
        Of the model.
    most : int
        Pieces, start and end included.

    Returns
    -------
    int
        The largest number of words from the first on that have no more.

    Examples
    --------
    >>> words_that_fit(["a"] * 200, {"[CLS]": 0, "[SEP]": 1, "a": 2})
    126
    """
    room = most - 2
    for count, word in enumerate(words):
        room -= len(split_pieces(word, vocabulary).ids) - 2
        if room < 0:
            return count
    return len(words)
