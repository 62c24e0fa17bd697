"""The lesson's random numbers: one vector a word, three projections a head, all from one seed."""

import functools
import hashlib
import threading
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from core import recurrence
from core.decoder_block import draw_layer
from core.decoding import Decoder
from core.encoder_block import BlockParameters, draw_matrix, draw_parameters, encoder_block
from core.positions import sinusoidal_encoding
from core.softmax import Floats

Drawn = TypeVar("Drawn")

ATTENTION_WORDS = ("Meera", "bought", "a", "new", "bat")
ORDER_WORDS = ("dog", "bites", "the", "man")

PROJECTION_SPREAD = 0.5
"""Standard deviation of the entries of w_q, w_k and w_v, as in the lesson."""

KEPT_FROM = 128
"""Width of a model whose random numbers take longer to draw than to find again."""

# The first number of a stream's seed; keeps streams for different purposes apart under the same reader's seed.
_WORD_STREAM = 1
_POSITION_STREAM = 2
_BLOCK_STREAM = 3
_DECODER_STREAM = 5
_SOURCE_STREAM = 6
_RECURRENCE_STREAM = 7
_STACK_STREAM = 11
_READING_STREAM = 12
_SHAPE_STREAM = 17


@dataclass(frozen=True, slots=True)
class Example:
    """Random embeddings of a sentence and random projections of every head."""

    x: Floats
    """(query, d_model): one row a word; equal words have equal rows."""
    w_q: Floats
    """(head, d_model, d_head)."""
    w_k: Floats
    """(head, d_model, d_head)."""
    w_v: Floats
    """(head, d_model, d_head)."""


def draw_example(
    words: tuple[str, ...],
    d_head: int = 4,
    n_heads: int = 2,
    seed: int = 0,
    lesson_words: tuple[str, ...] = ATTENTION_WORDS,
) -> Example:
    """Embeddings and projections for a sentence, such that the lesson's own sentence gives the lesson's numbers.

    Parameters
    ----------
    words : tuple of str
        The sentence; may be empty.
    d_head, n_heads : int
        Size of each key, number of heads; d_model is their product.
    seed : int
        Not negative.
    lesson_words : tuple of str
        The words whose vectors are drawn first, in this order, whether the sentence holds them or not.

    Returns
    -------
    Example
        A word has the same vector wherever it stands, whatever stands beside it. The projections depend on the
        sizes and the seed only, and cannot be written to: several readers may share them.

    Raises
    ------
    ValueError
        A size is below 1 or the seed is negative.

    Notes
    -----
    One generator draws a row of d_model normals for each lesson word, then for each head w_q, w_k, w_v, each
    normal(0, 0.5). Any other word has a generator of its own, seeded by the seed and a digest of the word (never
    Python's ``hash``, which changes with every process).

    Examples
    --------
    >>> example = draw_example(("bat", "bought"))
    >>> example.x.shape, example.w_q.shape, round(float(example.w_q[0, 0, 0]), 3)
    ((2, 8), (2, 8, 4), -0.63)
    """
    _check_sizes(d_head, n_heads, seed)
    d_model = n_heads * d_head
    rows, entries = _draw_stream(d_model, len(lesson_words), seed)
    lesson_rows = dict(zip(lesson_words, rows, strict=True))
    projections = entries.reshape(n_heads, 3, d_model, d_head)  # head by head: w_q, w_k, w_v
    x = np.empty((len(words), d_model))
    for position, word in enumerate(words):
        row = lesson_rows.get(unicodedata.normalize("NFC", word))
        x[position] = _draw_word(word, d_model, seed) if row is None else row
    return Example(x, projections[:, 0], projections[:, 1], projections[:, 2])


def _check_sizes(d_head: int, n_heads: int, seed: int) -> None:
    if d_head < 1 or n_heads < 1:
        raise ValueError(f"d_head and n_heads must be at least 1; got {d_head} and {n_heads}")
    if seed < 0:
        raise ValueError(f"seed must not be negative; got {seed}")


class _Stream:
    """The numbers that one seed gives, from the first on: a wider model begins with those of a narrower one."""

    def __init__(self, seed: int | tuple[int, ...]) -> None:
        self._rng = np.random.default_rng(seed)
        self._entries = np.empty(0)
        self._lock = threading.Lock()

    def first(self, count: int) -> Floats:
        """So many entries, normal(0, PROJECTION_SPREAD), that cannot be written to."""
        with self._lock:
            missing = count - self._entries.size
            if missing > 0:
                more = self._rng.normal(0.0, PROJECTION_SPREAD, missing)
                self._entries = np.concatenate([self._entries, more]) if self._entries.size else more
                self._entries.setflags(write=False)
            return self._entries[:count]


# One reader's seed, 14 MB at most: a page draws the same numbers for several sentences, at every click, and nearly all
# of them again where d moves.
_keep_stream = functools.lru_cache(maxsize=1)(_Stream)
# The same of a decoder beside an encoder, 28 MB at most.
_keep_shape_stream = functools.lru_cache(maxsize=1)(_Stream)


def _draw_stream(d_model: int, n_lesson: int, seed: int) -> tuple[Floats, Floats]:
    """Rows of the lesson's words, then the entries of all projections, however many heads share them."""
    stream = _keep_stream(seed) if d_model >= KEPT_FROM else _Stream(seed)
    entries = stream.first(n_lesson * d_model + 3 * d_model**2)
    # The rows are standard normal. Nothing is lost on the way: the spread is a power of two.
    rows = entries[: n_lesson * d_model] / PROJECTION_SPREAD
    return rows.reshape(n_lesson, d_model), entries[n_lesson * d_model :]


class _MarkedStream:
    """A stream of normal numbers with marks in it: who needs none before a place need not draw them."""

    EVERY = 2**15
    """Numbers from one mark to the next."""

    def __init__(self, *seed: int) -> None:
        self._rng = np.random.default_rng(list(seed))
        self._marks: list[Any] = [self._rng.bit_generator.state]
        self._lock = threading.Lock()

    def after(self, count: int) -> np.random.Generator:
        """A generator that goes on behind so many numbers, whatever their spread."""
        marks, behind = divmod(count, self.EVERY)
        with self._lock:
            while len(self._marks) <= marks:
                self._rng.standard_normal(self.EVERY)
                self._marks.append(self._rng.bit_generator.state)
        bits = np.random.PCG64(0)
        bits.state = self._marks[marks]
        rng = np.random.Generator(bits)
        rng.standard_normal(behind)
        return rng


# Marks of a few readers' seeds, 50 of a hundred bytes each where the model is as wide as it can be.
_marked_stream = functools.lru_cache(maxsize=16)(_MarkedStream)


# A page draws its words several times, 64 of them at most and another sentence of as many; 1.5 MB at most.
@functools.lru_cache(maxsize=256)
def _draw_word(word: str, d_model: int, seed: int) -> Floats:
    """A row that depends on the word, the width and the seed, and on nothing else."""
    text = unicodedata.normalize("NFC", word).encode("utf-8", errors="surrogatepass")
    digest = int.from_bytes(hashlib.sha256(text).digest()[:16], "big")
    return np.random.default_rng([_WORD_STREAM, seed, digest]).normal(size=d_model)


def draw_block(
    words: tuple[str, ...], d_head: int = 4, n_heads: int = 2, d_ff: int = 16, seed: int = 0
) -> tuple[Floats, BlockParameters]:
    """Embeddings of a sentence and a whole block for them, whose heads are those of `draw_example`.

    Parameters
    ----------
    words : tuple of str
        The sentence; may be empty.
    d_head, n_heads, d_ff : int
        Size of each key, number of heads, width of the feed-forward part.
    seed : int
        Not negative.

    Returns
    -------
    tuple of ndarray of shape (position, d_model) and BlockParameters
        The heads' projections stand side by side, without biases; all else comes from a stream of its own, biases and
        norms included.

    Raises
    ------
    ValueError
        A size is below 1 or the seed is negative.

    Examples
    --------
    >>> x, parameters = draw_block(("bat", "bought"))
    >>> x.shape, bool((parameters.w_q[:, 4:] == draw_example(("bat",)).w_q[1]).all())
    ((2, 8), True)
    """
    example, d_model = draw_example(words, d_head, n_heads, seed), n_heads * d_head
    given = {name: np.hstack(list(getattr(example, name))) for name in ("w_q", "w_k", "w_v")}
    # The stream has numbers for these three as well, as the parameters of any block.
    stream, place = _marked_stream(_BLOCK_STREAM, seed), 3 * d_model**2
    if d_model >= KEPT_FROM:
        drawing: dict[str, Callable[[], Floats]] = {}
        for name, rows, columns in (("w_o", d_model, d_model), ("w_1", d_model, d_ff), ("w_2", d_ff, d_model)):
            drawing[name] = functools.partial(draw_matrix, rows, columns, stream.after(place))
            place += rows * columns
        given |= zip(drawing, _at_once(list(drawing.values())), strict=True)
    drawn = draw_parameters(d_model, n_heads, d_ff, stream.after(place), given=given)
    return example.x, replace(drawn, **dict.fromkeys(("b_q", "b_k", "b_v"), np.zeros(d_model)))


def _at_once(calls: Sequence[Callable[[], Drawn]]) -> list[Drawn]:
    """What calls give that draw millions of numbers each, for which NumPy needs no lock: on all cores."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [begun.result() for begun in [pool.submit(call) for call in calls]]


def draw_joining(d_head: int = 4, n_heads: int = 2, seed: int = 0) -> Floats:
    """The matrix that mixes what the heads of `draw_example` found, without the rest of `draw_block`.

    Parameters
    ----------
    d_head, n_heads : int
        Size of each key, number of heads.
    seed : int
        Not negative.

    Returns
    -------
    ndarray of shape (d_model, d_model)
        `w_o` of that block.

    Raises
    ------
    ValueError
        A size is below 1 or the seed is negative.

    Examples
    --------
    >>> bool((draw_joining(3, 5) == draw_block((), 3, 5)[1].w_o).all())
    True
    """
    _check_sizes(d_head, n_heads, seed)
    d_model = n_heads * d_head
    return draw_matrix(d_model, d_model, _marked_stream(_BLOCK_STREAM, seed).after(3 * d_model**2))


def draw_decoder(
    vocabulary: tuple[str, ...],
    d_head: int = 4,
    n_heads: int = 2,
    n_layers: int = 2,
    seed: int = 0,
    source: tuple[str, ...] = (),
) -> Decoder:
    """A random decoder over a vocabulary, and what a random encoder block makes of a source.

    Parameters
    ----------
    vocabulary : tuple of str
        Different words; at least one.
    d_head, n_heads, n_layers : int
        Size of each key, number of heads, number of blocks. Feed-forward parts are twice as wide as the model.
    seed : int
        Not negative.
    source : tuple of str
        Words of another sentence, which every layer then looks at; empty for a decoder without cross-attention.

    Returns
    -------
    Decoder
        A word's embedding is that of `draw_example`. A layer's parameters come from a stream of its own, so that one
        more layer changes none of the others.

    Raises
    ------
    ValueError
        A size is below 1, the seed is negative, or the vocabulary is empty or holds a word twice.

    Examples
    --------
    >>> decoder = draw_decoder(("dog", "bites"), n_layers=3, source=("Hund",))
    >>> decoder.embeddings.shape, len(decoder.layers), decoder.source.shape
    ((2, 8), 3, (1, 8))
    """
    _check_sizes(d_head, n_heads, seed)
    if n_layers < 1:
        raise ValueError(f"n_layers must be at least 1; got {n_layers}")
    if not vocabulary or len(set(vocabulary)) != len(vocabulary):
        raise ValueError(f"the vocabulary must hold at least one word, each of them once; got {vocabulary}")
    d_model = n_heads * d_head
    streams = (np.random.default_rng([_DECODER_STREAM, seed, number]) for number in range(n_layers))
    drawing = [functools.partial(draw_layer, d_model, n_heads, 2 * d_model, stream, bool(source)) for stream in streams]
    layers = tuple(_at_once(drawing) if d_model >= KEPT_FROM else [draw() for draw in drawing])
    embeddings = draw_example(vocabulary, d_head, n_heads, seed).x
    if not source:
        return Decoder(embeddings, layers, n_heads)
    x = draw_example(source, d_head, n_heads, seed).x + sinusoidal_encoding(len(source), d_model)
    encoder = draw_parameters(d_model, n_heads, 2 * d_model, np.random.default_rng([_SOURCE_STREAM, seed]))
    return Decoder(embeddings, layers, n_heads, encoder_block(x, encoder, n_heads).output)


def draw_stack(
    words: tuple[str, ...], d_model: int = 32, d_ff: int = 128, n_layers: int = 12, seed: int = 0
) -> tuple[Floats, tuple[BlockParameters, ...], Floats]:
    """Embeddings of a sentence, a stack of blocks as they are before training, and a reading of their output.

    Parameters
    ----------
    words : tuple of str
        The sentence; may be empty.
    d_model, d_ff, n_layers : int
        Width, width of the feed-forward parts, number of blocks.
    seed : int
        Not negative.

    Returns
    -------
    tuple of ndarray of shape (position, d_model), tuple of BlockParameters and ndarray of shape (position, d_model)
        Matrices are normal with standard deviation 1 / sqrt(rows), gains 1, and there are no biases and shifts. Every
        layer has a stream of its own, so one more layer changes none of those before. The reading is normal with a
        length of about 1 in all.

    Raises
    ------
    ValueError
        A size is below 1 or the seed is negative.

    Examples
    --------
    >>> x, layers, reading = draw_stack(("bat", "bought"), 8, 16, 3)
    >>> longer = draw_stack(("bat", "bought"), 8, 16, 4)[1]
    >>> x.shape, len(longer), bool((layers[2].w_2 == longer[2].w_2).all())
    ((2, 8), 4, True)
    """
    if min(d_ff, n_layers) < 1:
        raise ValueError(f"d_ff and n_layers must be at least 1; got {d_ff} and {n_layers}")
    x = draw_example(words, d_model, 1, seed).x
    layers = []
    for number in range(n_layers):
        drawn = draw_parameters(d_model, 1, d_ff, np.random.default_rng([_STACK_STREAM, seed, number]), bias=False)
        layers.append(replace(drawn, norm_1_gain=np.ones(d_model), norm_2_gain=np.ones(d_model)))
    reading = np.random.default_rng([_READING_STREAM, seed]).normal(size=(len(words), d_model))
    return x, tuple(layers), reading / np.sqrt(max(1, reading.size))


@dataclass(frozen=True, slots=True)
class Projections:
    """Random projections of every head of one attention."""

    w_q: Floats
    """(head, d_model, d_head)."""
    w_k: Floats
    """(head, d_model, d_head)."""
    w_v: Floats
    """(head, d_model, d_head)."""


def draw_decoder_projections(d_head: int = 4, n_heads: int = 2, seed: int = 0) -> tuple[Projections, Projections]:
    """Projections of a decoder that stands beside an encoder: of its own attention, and of its look at the encoder.

    Parameters
    ----------
    d_head, n_heads : int
        Size of each key, number of heads.
    seed : int
        Not negative.

    Returns
    -------
    tuple of two Projections
        Self-attention, cross-attention. Entries are normal(0, 0.5), from a stream of their own.

    Raises
    ------
    ValueError
        A size is below 1 or the seed is negative.

    Examples
    --------
    >>> own, cross = draw_decoder_projections(4, 2)
    >>> own.w_q.shape, bool((own.w_q == cross.w_q).any())
    ((2, 8, 4), False)
    """
    _check_sizes(d_head, n_heads, seed)
    d_model, seeds = n_heads * d_head, (_SHAPE_STREAM, seed)
    stream = _keep_shape_stream(seeds) if d_model >= KEPT_FROM else _Stream(seeds)
    own, cross = stream.first(6 * d_model**2).reshape(2, n_heads, 3, d_model, d_head)
    first, second = (Projections(drawn[:, 0], drawn[:, 1], drawn[:, 2]) for drawn in (own, cross))
    return first, second


def draw_position_embedding(n_positions: int, d_model: int, seed: int = 0) -> Floats:
    """An untrained stand-in for a learned table of position embeddings.

    Parameters
    ----------
    n_positions, d_model : int
        Rows and columns.
    seed : int
        Not negative.

    Returns
    -------
    ndarray of shape (n_positions, d_model)
        Standard normal, no unit. A longer table starts with the rows of a shorter one.

    Raises
    ------
    ValueError
        A size or the seed is negative.

    Examples
    --------
    >>> short, long = draw_position_embedding(2, 4), draw_position_embedding(5, 4)
    >>> bool((long[:2] == short).all())
    True
    """
    if min(n_positions, d_model, seed) < 0:
        raise ValueError(f"n_positions, d_model and seed must not be negative; got {n_positions}, {d_model} and {seed}")
    return np.random.default_rng([_POSITION_STREAM, seed]).normal(size=(n_positions, d_model))


def draw_recurrence(d_model: int, radius: float, seed: int = 0) -> recurrence.RecurrentParameters:
    """Parameters of a recurrent layer, from a stream of their own.

    Parameters
    ----------
    d_model : int
        Width of a word and of the state.
    radius : float
        Spectral radius of w_h; everything else is the same for every radius.
    seed : int
        Not negative.

    Returns
    -------
    RecurrentParameters
        From `core.recurrence.draw_parameters`.

    Raises
    ------
    ValueError
        A number is out of its range.

    Examples
    --------
    >>> bool((draw_recurrence(8, 1.5).w_h == 3 * draw_recurrence(8, 0.5).w_h).all())
    True
    """
    if seed < 0:
        raise ValueError(f"seed must not be negative; got {seed}")
    return recurrence.draw_parameters(d_model, radius, np.random.default_rng([_RECURRENCE_STREAM, seed]))
