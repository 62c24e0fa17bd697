"""One decoder block: causal attention with a cache of keys and values, attention to a source, feed-forward."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.attention import Attention, attend
from core.encoder_block import BlockParameters, draw_parameters
from core.feed_forward import gelu
from core.layer_norm import layer_norm
from core.masks import causal_mask
from core.multi_head import merge_heads, split_heads
from core.products import Multiply, multiply
from core.softmax import Floats


@dataclass(frozen=True, slots=True)
class KeysAndValues:
    """Rows of K and V of one layer: what a cache keeps."""

    k: Floats
    """(head, position, d_head)."""
    v: Floats
    """(head, position, d_head)."""

    @property
    def nbytes(self) -> int:
        """Memory of both arrays."""
        return self.k.nbytes + self.v.nbytes

    def __len__(self) -> int:
        """Positions."""
        return int(self.k.shape[-2])

    def followed_by(self, new: "KeysAndValues") -> "KeysAndValues":
        """These rows and then the new ones."""
        return KeysAndValues(np.concatenate([self.k, new.k], axis=-2), np.concatenate([self.v, new.v], axis=-2))


@dataclass(frozen=True, slots=True)
class CrossParameters:
    """Learned arrays of the part that looks at a source."""

    w_q: Floats
    """(d_model, d_model), for the decoder's rows; all heads side by side."""
    w_k: Floats
    """(d_model, d_model), for the source's rows."""
    w_v: Floats
    """(d_model, d_model), for the source's rows."""
    w_o: Floats
    """(d_model, d_model)."""
    b_q: Floats
    b_k: Floats
    b_v: Floats
    b_o: Floats
    norm_gain: Floats
    """(d_model,): of the norm before this part, which the source does not go through."""
    norm_shift: Floats


@dataclass(frozen=True, slots=True)
class DecoderLayer:
    """Learned arrays of one decoder block."""

    block: BlockParameters
    """Self-attention and feed-forward part, as in an encoder block."""
    cross: CrossParameters | None = None
    """None in a decoder that has no source."""


@dataclass(frozen=True, slots=True)
class DecoderBlock:
    """What one run of a block computed."""

    q: Floats
    """(head, query, d_head): of the rows given."""
    keys_and_values: KeysAndValues
    """Of all positions: those of the cache, then those of the rows given."""
    attention: Attention
    """(head, query, ...) over all positions."""
    cross_q: Floats | None
    """(head, query, d_head): what the rows ask the source; None without one."""
    cross_attention: Attention | None
    """(head, query, ...) over the source's positions."""
    output: Floats
    """(query, d_model)."""


def draw_layer(d_model: int, n_heads: int, d_ff: int, rng: np.random.Generator, cross: bool = False) -> DecoderLayer:
    """Random parameters of a decoder block.

    Parameters
    ----------
    d_model, n_heads, d_ff : int
        Width, number of heads (a divisor of the width), width of the feed-forward part.
    rng : numpy.random.Generator
        The only source of randomness.
    cross : bool
        Whether the block looks at a source; the other parameters are the same with and without.

    Returns
    -------
    DecoderLayer
        As `core.encoder_block.draw_parameters` draws them.

    Raises
    ------
    ValueError
        A size is below 1 or d_model is not a multiple of n_heads.

    Examples
    --------
    >>> layer = draw_layer(6, 3, 10, np.random.default_rng(0), cross=True)
    >>> layer.block.w_1.shape, layer.cross.w_k.shape
    ((6, 10), (6, 6))
    """
    block = draw_parameters(d_model, n_heads, d_ff, rng)
    if not cross:
        return DecoderLayer(block)
    drawn = {name: rng.normal(0.0, d_model**-0.5, (d_model, d_model)) for name in ("w_q", "w_k", "w_v", "w_o")}
    drawn |= {name: rng.normal(0.0, 0.1, d_model) for name in ("b_q", "b_k", "b_v", "b_o", "norm_shift")}
    return DecoderLayer(block, CrossParameters(**drawn, norm_gain=rng.normal(1.0, 0.1, d_model)))


def source_keys_and_values(
    source: ArrayLike, cross: CrossParameters, n_heads: int, multiply: Multiply = multiply
) -> KeysAndValues:
    """K and V of a source, which no new word changes.

    Parameters
    ----------
    source : array_like of shape (position, d_model)
        What the encoder made of the source.
    cross : CrossParameters
        Of one layer.
    n_heads : int
        A divisor of d_model.
    multiply : callable
        Makes the products "source K" and "source V".

    Returns
    -------
    KeysAndValues
        One row a word of the source.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Examples
    --------
    >>> layer = draw_layer(6, 3, 10, np.random.default_rng(0), cross=True)
    >>> len(source_keys_and_values(np.ones((4, 6)), layer.cross, 3))
    4
    """
    rows = np.asarray(source, dtype=np.float64)
    k = multiply("source K", rows, cross.w_k) + cross.b_k
    v = multiply("source V", rows, cross.w_v) + cross.b_v
    return KeysAndValues(split_heads(k, n_heads), split_heads(v, n_heads))


def decoder_block(
    x: ArrayLike,
    layer: DecoderLayer,
    n_heads: int,
    cache: KeysAndValues | None = None,
    source: KeysAndValues | None = None,
    causal: bool = True,
    multiply: Multiply = multiply,
) -> DecoderBlock:
    """Send rows through a pre-norm decoder block; they may stand after rows whose keys and values are in a cache.

    Parameters
    ----------
    x : array_like of shape (query, d_model)
        The rows to compute: all of a text, or only those that follow the cached ones.
    layer : DecoderLayer
        See `draw_layer`.
    n_heads : int
        A divisor of d_model.
    cache : KeysAndValues or None
        Of the positions before x.
    source : KeysAndValues or None
        From `source_keys_and_values`; needed where the layer has cross-attention.
    causal : bool
        False lets every row look at all positions, which a cache cannot survive.
    multiply : callable
        Makes the products "Q", "K", "V", "scores", "mixing", "W_o", "cross Q", "cross scores", "cross mixing",
        "cross W_o", "expand" and "contract".

    Returns
    -------
    DecoderBlock
        Queries, keys, values, weights and the output.

    Raises
    ------
    ValueError
        The shapes do not fit, or the layer has cross-attention and there is no source.

    Notes
    -----
    y = x + A(N x); z = y + C(N y, source); z + F(N z), with GELU in F. The mask has its corner at the bottom right: the
    last query is the last key. The same as PyTorch's ``nn.TransformerDecoderLayer`` with ``norm_first``, without
    dropout; without cross-attention, as its encoder layer with a causal mask.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> layer, x = draw_layer(6, 3, 10, rng), rng.normal(size=(5, 6))
    >>> whole, first = decoder_block(x, layer, 3), decoder_block(x[:4], layer, 3)
    >>> last = decoder_block(x[4:], layer, 3, first.keys_and_values)
    >>> bool(np.allclose(last.output[0], whole.output[4], atol=1e-12))
    True
    """
    rows, p = np.asarray(x, dtype=np.float64), layer.block
    if layer.cross is not None and source is None:
        raise ValueError("a layer with cross-attention needs a source; got none")
    normed = layer_norm(rows, p.norm_1_gain, p.norm_1_shift)
    named = (("Q", p.w_q, p.b_q), ("K", p.w_k, p.b_k), ("V", p.w_v, p.b_v))
    q, k, v = (split_heads(_dense(name, normed, w, b, multiply), n_heads) for name, w, b in named)
    new = KeysAndValues(k, v)
    present = new if cache is None else cache.followed_by(new)
    mask = causal_mask(len(new), len(present), "bottom-right") if causal else None
    attention = attend(q, present.k, present.v, mask, multiply=multiply)
    rows = rows + _dense("W_o", merge_heads(attention.output), p.w_o, p.b_o, multiply)
    cross_q = cross_attention = None
    if layer.cross is not None and source is not None:
        c = layer.cross
        asked = _dense("cross Q", layer_norm(rows, c.norm_gain, c.norm_shift), c.w_q, c.b_q, multiply)
        cross_q = split_heads(asked, n_heads)
        cross_attention = attend(cross_q, source.k, source.v, multiply=_prefixed("cross ", multiply))
        rows = rows + _dense("cross W_o", merge_heads(cross_attention.output), c.w_o, c.b_o, multiply)
    hidden = _dense("expand", layer_norm(rows, p.norm_2_gain, p.norm_2_shift), p.w_1, p.b_1, multiply)
    output = rows + _dense("contract", gelu(hidden), p.w_2, p.b_2, multiply)
    return DecoderBlock(q, present, attention, cross_q, cross_attention, output)


def _dense(name: str, x: Floats, w: Floats, b: Floats | None, multiply: Multiply) -> Floats:
    product = multiply(name, x, w)
    return product if b is None else product + b


def _prefixed(prefix: str, multiply: Multiply) -> Multiply:
    def named(name: str, left: Floats, right: Floats) -> Floats:
        return multiply(prefix + name, left, right)

    return named
