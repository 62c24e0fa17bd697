"""Greedy decoding of a few words, with everything computed again at each step and with a cache of keys and values."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.agreement import Agreement, compare, row_differences
from core.decoder_block import (
    DecoderBlock,
    DecoderLayer,
    KeysAndValues,
    decoder_block,
    source_keys_and_values,
)
from core.positions import sinusoidal_encoding
from core.products import Counter, Product, count
from core.softmax import Floats

PARTS = {
    "projections": ("Q", "K", "V", "W_o", "cross Q", "cross W_o", "source K", "source V"),
    "scores": ("scores", "cross scores"),
    "mixing": ("mixing", "cross mixing"),
    "feed-forward": ("expand", "contract"),
    "logits": ("logits",),
}
"""Which products belong to which part of the work."""

_PART_OF = {name: part for part, names in PARTS.items() for name in names}


@dataclass(frozen=True, slots=True)
class Decoder:
    """A small decoder over a vocabulary of a reader's words; see `core.examples.draw_decoder`."""

    embeddings: Floats
    """(word of the vocabulary, d_model): read at the bottom, compared with at the top."""
    layers: tuple[DecoderLayer, ...]
    n_heads: int
    source: Floats | None = None
    """(position, d_model): what the encoder made of a source; None in a decoder without one."""


@dataclass(frozen=True, slots=True)
class Step:
    """One new word."""

    first: int
    """Position of the first row that was computed; those before it came from the cache."""
    length: int
    """Positions that the new word was chosen from."""
    state: Floats
    """(d_model,): what the last layer made of the last position."""
    logits: Floats
    """(word of the vocabulary,): the state times each embedding."""
    chosen: int
    """Place in the vocabulary of the largest logit; the first of several."""
    products: tuple[Product, ...]
    """Every matrix product that the step made."""
    cache_bytes: int
    """Memory of the keys and values that are kept for the next step; 0 where nothing is."""

    @property
    def multiply_adds(self) -> dict[str, int]:
        """Of each part, from the products."""
        of_parts = dict.fromkeys(PARTS, 0)
        for product in self.products:
            of_parts[_PART_OF[product.name]] += product.multiply_adds
        return of_parts

    @property
    def work(self) -> int:
        """Multiply-adds of all parts."""
        return count(self.products)

    def rows(self, name: str, layer: int = 0) -> int:
        """Rows that the products of one name and one layer gave.

        Parameters
        ----------
        name : str
            Such as "K".
        layer : int
            From 0.

        Returns
        -------
        int
            0 where there was no such product.
        """
        return sum(product.rows for product in self.products if (product.name, product.layer) == (name, layer))

    def pairs(self, name: str = "scores", layer: int = 0) -> int:
        """Query-key pairs that were multiplied in one head of one layer.

        Parameters
        ----------
        name : str
            "scores", or "cross scores" for those with the source.
        layer : int
            From 0.

        Returns
        -------
        int
            Masked pairs included, since the plain formula computes them.
        """
        return sum(product.entries for product in self.products if (product.name, product.layer) == (name, layer))


@dataclass(frozen=True, slots=True)
class Layer:
    """Queries, keys and values of one layer, gathered for the reader."""

    q: Floats
    """(head, position, d_head); a cache does not keep it."""
    keys_and_values: KeysAndValues
    cross_q: Floats | None
    """(head, position, d_head); None without a source."""
    source: KeysAndValues | None


@dataclass(frozen=True, slots=True)
class Generation:
    """All steps of one way of decoding."""

    prompt: tuple[int, ...]
    steps: tuple[Step, ...]
    layers: tuple[Layer, ...]
    """Of every position that was read: all but the last new word, which nothing has read."""

    @property
    def tokens(self) -> tuple[int, ...]:
        """The prompt and the new words, by their place in the vocabulary."""
        return *self.prompt, *(step.chosen for step in self.steps)


ORIGINS = ("computed now", "computed again", "from the cache", "not computed")
"""Where a row or a query-key pair of one step comes from, by the numbers that `origins` gives."""

NOW, AGAIN, KEPT, NOT_COMPUTED = range(len(ORIGINS))

Origin = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Origins:
    """Where everything that a step used comes from, as places in `ORIGINS`."""

    queries: Origin
    """(query,): rows of Q; those of earlier words are not needed by anybody once they have been used."""
    keys: Origin
    """(key,): rows of K, and of V alike."""
    pairs: Origin
    """(query, key): scores and weights, the masked ones included."""
    source: Origin
    """(position of the source,): rows of its K and V; empty without a source."""
    source_pairs: Origin
    """(query, position of the source)."""


@dataclass(slots=True)
class _Cache:
    """What is kept from one step to the next."""

    own: list[KeysAndValues | None]
    source: list[KeysAndValues | None]
    q: list[list[Floats]] = field(default_factory=list)
    """Not needed by any later step; gathered for the reader."""
    cross_q: list[list[Floats]] = field(default_factory=list)

    @classmethod
    def empty(cls, n_layers: int) -> "_Cache":
        return cls([None] * n_layers, [None] * n_layers, [[] for _ in range(n_layers)], [[] for _ in range(n_layers)])

    def copied(self) -> "_Cache":
        """The same keys and values, to be followed by others."""
        return _Cache(
            list(self.own), list(self.source), [list(q) for q in self.q], [list(cross_q) for cross_q in self.cross_q]
        )

    @property
    def nbytes(self) -> int:
        return sum(kept.nbytes for kept in (*self.own, *self.source) if kept is not None)


def generate(decoder: Decoder, prompt: Sequence[int], n_new: int, use_cache: bool) -> Generation:
    """Append the word with the largest logit, again and again.

    Parameters
    ----------
    decoder : Decoder
        What chooses.
    prompt : sequence of int
        Words to begin with, by their place in the vocabulary; at least one.
    n_new : int
        How many words to append; at least one.
    use_cache : bool
        True keeps the keys and values of every layer, so that a step computes the newest word's row alone; those of
        the source are computed once. False computes every row, and the source's keys and values, at every step.

    Returns
    -------
    Generation
        The same words either way; states and logits differ by rounding.

    Raises
    ------
    ValueError
        There is no prompt, no word to append, or a place that the vocabulary does not have.

    Notes
    -----
    Greedy: no chance is involved, and of equal logits the first in the vocabulary wins. The first step reads the whole
    prompt, each later one the word that the step before chose.

    Examples
    --------
    >>> from core.examples import draw_decoder
    >>> decoder = draw_decoder(("dog", "bites", "man"), 4, 2, 2)
    >>> plain, cached = (generate(decoder, (0,), 5, use_cache) for use_cache in (False, True))
    >>> [sum(step.rows("K") for step in way.steps) for way in (plain, cached)]
    [15, 5]
    >>> [sum(step.pairs() for step in way.steps) for way in (plain, cached)]
    [55, 15]
    """
    _check(decoder, prompt, n_new)
    cache = _Cache.empty(len(decoder.layers))
    first = _step(decoder, prompt, cache)
    return _go_on(decoder, prompt, n_new, use_cache, first, cache)


def generate_both(decoder: Decoder, prompt: Sequence[int], n_new: int) -> tuple[Generation, Generation]:
    """Both ways of `generate`, in less time than one after the other.

    Parameters
    ----------
    decoder, prompt, n_new
        As in `generate`.

    Returns
    -------
    tuple of two Generation
        Without a cache, with one; the same as from `generate`, to the last bit.

    Raises
    ------
    ValueError
        As `generate`.

    Notes
    -----
    The first step reads the whole prompt, whether or not its keys and values are kept afterwards: it is computed once.

    Examples
    --------
    >>> from core.examples import draw_decoder
    >>> plain, cached = generate_both(draw_decoder(("dog", "bites"), 4, 2), (0, 1), 3)
    >>> plain.tokens == cached.tokens, [step.first for step in plain.steps], [step.first for step in cached.steps]
    (True, [0, 0, 0], [0, 2, 3])
    """
    _check(decoder, prompt, n_new)
    cache = _Cache.empty(len(decoder.layers))
    first = _step(decoder, prompt, cache)
    plain, cached = (
        _go_on(decoder, prompt, n_new, use_cache, first, kept)
        for use_cache, kept in ((False, cache.copied()), (True, cache))
    )
    return plain, cached


def _check(decoder: Decoder, prompt: Sequence[int], n_new: int) -> None:
    n_words = len(decoder.embeddings)
    if not prompt or n_new < 1 or not all(0 <= token < n_words for token in prompt):
        raise ValueError(
            f"wanted a prompt of places from 0 to {n_words - 1} and at least 1 new word; got {prompt} and {n_new}"
        )


def _step(decoder: Decoder, tokens: Sequence[int], cache: _Cache) -> Step:
    """One new word, behind what the cache holds."""
    kept = cache.own[0]
    counter, first = Counter(), 0 if kept is None else len(kept)
    states = _read(decoder, tokens, first, cache, counter)
    logits = counter.of_layer(None)("logits", states[-1:], decoder.embeddings.T)[0]
    chosen = int(np.argmax(logits))
    return Step(first, len(tokens), states[-1], logits, chosen, tuple(counter.products), cache.nbytes)


def _go_on(
    decoder: Decoder, prompt: Sequence[int], n_new: int, use_cache: bool, first: Step, cache: _Cache
) -> Generation:
    """All steps after the first one; the cache is what that one left, and is changed."""
    steps = [first]
    while len(steps) < n_new:
        if not use_cache:
            cache = _Cache.empty(len(decoder.layers))
        steps.append(_step(decoder, [*prompt, *(step.chosen for step in steps)], cache))
    if not use_cache:
        steps = [replace(step, cache_bytes=0) for step in steps]
    return Generation(tuple(prompt), tuple(steps), _gathered(cache))


def _read(decoder: Decoder, tokens: Sequence[int], first: int, cache: _Cache, counter: Counter) -> Floats:
    """Final states of the positions from `first` on; their keys and values go into the cache."""
    x = embed(decoder, tokens)[first:]
    for number, layer in enumerate(decoder.layers):
        multiply = counter.of_layer(number)
        if layer.cross is not None and decoder.source is not None and cache.source[number] is None:
            cache.source[number] = source_keys_and_values(decoder.source, layer.cross, decoder.n_heads, multiply)
        block = decoder_block(x, layer, decoder.n_heads, cache.own[number], cache.source[number], multiply=multiply)
        cache.own[number] = block.keys_and_values
        cache.q[number].append(block.q)
        if block.cross_q is not None:
            cache.cross_q[number].append(block.cross_q)
        x = block.output
    return x


def embed(decoder: Decoder, tokens: Sequence[int]) -> Floats:
    """What the first layer reads: the embedding of each word plus the encoding of its position.

    Parameters
    ----------
    decoder : Decoder
        Whose embeddings.
    tokens : sequence of int
        Words by their place in the vocabulary.

    Returns
    -------
    ndarray of shape (position, d_model)
        No unit.

    Raises
    ------
    IndexError
        The vocabulary has no such place.

    Examples
    --------
    >>> from core.examples import draw_decoder
    >>> embed(draw_decoder(("dog", "bites"), 4, 2), (1, 1, 0)).shape
    (3, 8)
    """
    rows = decoder.embeddings[list(tokens)]
    return np.asarray(rows + sinusoidal_encoding(*rows.shape))


def _gathered(cache: _Cache) -> tuple[Layer, ...]:
    layers = []
    for own, source, q, cross_q in zip(cache.own, cache.source, cache.q, cache.cross_q, strict=True):
        assert own is not None
        asked = np.concatenate(cross_q, axis=-2) if cross_q else None
        layers.append(Layer(np.concatenate(q, axis=-2), own, asked, source))
    return tuple(layers)


def run_once(decoder: Decoder, tokens: Sequence[int], causal: bool = True) -> tuple[DecoderBlock, ...]:
    """Every layer's run over a whole text at once, without a cache: what training does with a text that is there.

    Parameters
    ----------
    decoder : Decoder
        What reads.
    tokens : sequence of int
        Words by their place in the vocabulary; at least one.
    causal : bool
        False takes the mask away.

    Returns
    -------
    tuple of DecoderBlock
        One a layer; the output of the last one holds the final state of every position.

    Raises
    ------
    ValueError
        There is no word.

    Examples
    --------
    >>> from core.examples import draw_decoder
    >>> run_once(draw_decoder(("dog", "bites"), 4, 2, 3), (0, 1, 1, 0))[-1].output.shape
    (4, 8)
    """
    if not tokens:
        raise ValueError("a text needs at least one word; got none")
    x, blocks = embed(decoder, tokens), []
    for layer in decoder.layers:
        source = None
        if layer.cross is not None and decoder.source is not None:
            source = source_keys_and_values(decoder.source, layer.cross, decoder.n_heads)
        block = decoder_block(x, layer, decoder.n_heads, None, source, causal)
        blocks.append(block)
        x = block.output
    return tuple(blocks)


def origins(way: Generation, number: int) -> Origins:
    """Where the rows and the query-key pairs of one step come from, read off what every step computed.

    Parameters
    ----------
    way : Generation
        With a cache or without.
    number : int
        Of the step, from 0.

    Returns
    -------
    Origins
        Computed now for the first time, computed again though an earlier step had it, taken from the cache, or not
        computed in this step because nothing needs it.

    Raises
    ------
    IndexError
        There is no such step.

    Examples
    --------
    >>> from core.examples import draw_decoder
    >>> decoder = draw_decoder(("dog", "bites", "man"), 4, 2, 2)
    >>> for use_cache in (False, True):
    ...     found = origins(generate(decoder, (0,), 3, use_cache), 2)
    ...     print([ORIGINS[place] for place in found.keys], found.queries.tolist())
    ['computed again', 'computed again', 'computed now'] [1, 1, 0]
    ['from the cache', 'from the cache', 'computed now'] [3, 3, 0]
    """
    step, earlier = way.steps[number], way.steps[:number]
    positions = np.arange(step.length)

    def computed(one: Step) -> NDArray[np.bool_]:
        return (one.first <= positions) & (positions < one.length)

    def place(here: NDArray[np.bool_], before: NDArray[np.bool_], otherwise: int) -> Origin:
        return np.where(here, np.where(before, AGAIN, NOW), otherwise).astype(np.int16)

    rows = np.any([np.zeros(step.length, bool), *(computed(one) for one in earlier)], axis=0)
    here = np.broadcast_to(computed(step)[:, None], (step.length, step.length))
    before = np.zeros_like(here)
    for one in earlier:
        before = before | (computed(one)[:, None] & (positions < one.length))
    n_source = max(one.rows("source K") for one in way.steps)
    read_now, read_before = bool(step.rows("source K")), any(one.rows("source K") for one in earlier)
    of_source = AGAIN if read_now and read_before else NOW if read_now else KEPT
    queries = place(computed(step), rows, NOT_COMPUTED)
    return Origins(
        queries,
        place(computed(step), rows, KEPT),
        place(here, before, NOT_COMPUTED),
        np.full(n_source, of_source, np.int16),
        np.repeat(queries[:, None], n_source, axis=1),
    )


@dataclass(frozen=True, slots=True)
class Movement:
    """How far the rows of a text move when one more word is written behind it: with the mask, and without."""

    keys: Floats
    """(layer, position, side): rows of K, all heads."""
    states: Floats
    """(position, side): final states."""
    before: Floats
    """(side, position, d_model): the final states themselves."""
    after: Floats
    """(side, position, d_model): the same with one more word behind them."""


def movement(decoder: Decoder, tokens: Sequence[int], whole: Sequence[DecoderBlock] | None = None) -> Movement:
    """Whether keys and final states of a text survive its next word.

    Parameters
    ----------
    decoder : Decoder
        What reads.
    tokens : sequence of int
        A text and its next word; at least two words.
    whole : sequence of DecoderBlock or None
        `run_once` over all of it, where that is there already.

    Returns
    -------
    Movement
        Largest absolute difference of each row; rounding only where the row depends on nothing behind it.

    Raises
    ------
    ValueError
        There is no next word.

    Examples
    --------
    >>> from core.examples import draw_decoder
    >>> moved = movement(draw_decoder(("dog", "bites"), 4, 2, 2), (0, 1, 0))
    >>> (moved.states.max(axis=0) > 1e-12).tolist(), (moved.keys.max(axis=1) > 1e-12).tolist()
    ([False, True], [[False, False], [False, True]])
    """
    if len(tokens) < 2:
        raise ValueError(f"wanted a text and its next word; got {len(tokens)} words")
    n = len(tokens) - 1
    keys, states = np.empty((len(decoder.layers), n, 2)), np.empty((n, 2))
    outputs = []
    for side, causal in enumerate((True, False)):
        before = run_once(decoder, tokens[:n], causal)
        after = whole if causal and whole is not None else run_once(decoder, tokens, causal)
        for number, (short, long) in enumerate(zip(before, after, strict=True)):
            gap = np.abs(long.keys_and_values.k[:, :n] - short.keys_and_values.k)  # (head, position, d_head)
            keys[number, :, side] = gap.max(axis=(0, 2))
        outputs.append((before[-1].output, after[-1].output[:n]))
        states[:, side] = row_differences(*outputs[-1])
    old, new = (np.stack(found) for found in zip(*outputs, strict=True))
    return Movement(keys, states, old, new)


def compare_ways(plain: Generation, cached: Generation) -> Agreement:
    """How far two ways of decoding differ: states, logits, and the keys and values of every layer.

    Parameters
    ----------
    plain, cached : Generation
        As long as each other, from the same decoder.

    Returns
    -------
    Agreement
        The largest difference, and where. Other words chosen differ by infinity.

    Raises
    ------
    ValueError
        They differ in their numbers of steps or layers.

    Examples
    --------
    >>> from core.examples import draw_decoder
    >>> decoder = draw_decoder(("dog", "bites", "man"), 4, 2, 2)
    >>> compare_ways(*(generate(decoder, (0, 1), 4, use_cache) for use_cache in (False, True))).agrees
    True
    """
    same = 0.0 if plain.tokens == cached.tokens else np.inf
    return compare(_compared(plain) | {"chosen words": 0.0}, _compared(cached) | {"chosen words": same})


def _compared(way: Generation) -> dict[str, Floats]:
    found = {
        "states": np.stack([step.state for step in way.steps]),
        "logits": np.stack([step.logits for step in way.steps]),
    }
    for number, layer in enumerate(way.layers):
        found |= {f"K of layer {number}": layer.keys_and_values.k, f"V of layer {number}": layer.keys_and_values.v}
    return found
