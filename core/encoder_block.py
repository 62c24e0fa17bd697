"""One encoder block: attention and feed-forward, each with its skip connection and its layer norm."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from core.attention import Attention, attend
from core.feed_forward import ActivationName, activate
from core.layer_norm import EPSILON, layer_norm
from core.masks import Booleans
from core.multi_head import merge_heads, split_heads
from core.softmax import Floats

NormPosition = Literal["pre", "post"]


@dataclass(frozen=True, slots=True)
class BlockParameters:
    """Learned arrays of one block; a bias or shift is None where the block has none."""

    w_q: Floats
    """(d_model, d_model): all heads' projections side by side, used as x @ w_q."""
    w_k: Floats
    """(d_model, d_model)."""
    w_v: Floats
    """(d_model, d_model)."""
    w_o: Floats
    """(d_model, d_model)."""
    w_1: Floats
    """(d_model, d_ff)."""
    w_2: Floats
    """(d_ff, d_model)."""
    norm_1_gain: Floats
    """(d_model,)."""
    norm_2_gain: Floats
    """(d_model,)."""
    b_q: Floats | None = None
    b_k: Floats | None = None
    b_v: Floats | None = None
    b_o: Floats | None = None
    b_1: Floats | None = None
    b_2: Floats | None = None
    norm_1_shift: Floats | None = None
    norm_2_shift: Floats | None = None


@dataclass(frozen=True, slots=True)
class EncoderBlock:
    """Every intermediate of one block, in the order of the computation; all (..., position, d_model) but two."""

    attention_input: Floats
    """What the heads read: the layer norm of x (pre-norm) or x itself (post-norm)."""
    heads: Attention
    """Arrays with the axes (..., head, query, ...)."""
    joined: Floats
    """The heads' outputs side by side."""
    attention_output: Floats
    """joined @ w_o + b_o."""
    after_attention: Floats
    """x plus the attention output; normed here in post-norm."""
    feed_forward_input: Floats
    """What the feed-forward part reads."""
    hidden: Floats
    """(..., position, d_ff): first dense layer, before the bend."""
    activated: Floats
    """(..., position, d_ff): after the bend."""
    feed_forward_output: Floats
    """Second dense layer."""
    output: Floats
    """The block's result, the same shape as x."""


def draw_matrix(rows: int, columns: int, rng: np.random.Generator) -> Floats:
    """One weight matrix as a block has it before training.

    Parameters
    ----------
    rows, columns : int
        Its sizes.
    rng : numpy.random.Generator
        The only source of randomness.

    Returns
    -------
    ndarray of shape (rows, columns)
        Normal with standard deviation 1 / sqrt(rows).

    Examples
    --------
    >>> draw_matrix(100, 200, np.random.default_rng(0)).std().round(2)
    np.float64(0.1)
    """
    # The same numbers as by `rng.normal`, which takes an eighth longer.
    drawn = rng.standard_normal((rows, columns))
    drawn *= rows**-0.5
    return drawn


def draw_parameters(
    d_model: int,
    n_heads: int,
    d_ff: int,
    rng: np.random.Generator,
    bias: bool = True,
    given: Mapping[str, Floats] | None = None,
) -> BlockParameters:
    """Random parameters of a block, none of them at a special value, so that a missing one shows.

    Parameters
    ----------
    d_model, n_heads, d_ff : int
        Width, number of heads (a divisor of the width), width of the feed-forward part.
    rng : numpy.random.Generator
        The only source of randomness.
    bias : bool
        False leaves out every bias and the shifts of both norms, as PyTorch's ``bias=False`` does.
    given : mapping of str to ndarray or None
        Matrices that are not drawn because they are there already, such as "w_q".

    Returns
    -------
    BlockParameters
        Weights are normal with standard deviation 1 / sqrt(rows); gains lie around 1, biases and shifts around 0.

    Raises
    ------
    ValueError
        A size is below 1 or d_model is not a multiple of n_heads.

    Examples
    --------
    >>> parameters = draw_parameters(6, 3, 10, np.random.default_rng(0))
    >>> parameters.w_q.shape, parameters.w_1.shape, parameters.b_1.shape
    ((6, 6), (6, 10), (10,))
    """
    if min(d_model, n_heads, d_ff) < 1 or d_model % n_heads:
        raise ValueError(
            "d_model, n_heads and d_ff must be at least 1, d_model a multiple of n_heads; "
            f"got {d_model}, {n_heads} and {d_ff}"
        )

    def vector(length: int, centre: float = 0.0) -> Floats:
        return rng.normal(centre, 0.1, length)

    square = (d_model, d_model)
    shapes = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), square) | {"w_1": (d_model, d_ff), "w_2": (d_ff, d_model)}
    there = given or {}
    matrices = {name: there[name] if name in there else draw_matrix(*shape, rng) for name, shape in shapes.items()}
    gains = {name: vector(d_model, 1.0) for name in ("norm_1_gain", "norm_2_gain")}
    if not bias:
        return BlockParameters(**matrices, **gains)
    lengths = dict.fromkeys(("b_q", "b_k", "b_v", "b_o", "b_2", "norm_1_shift", "norm_2_shift"), d_model)
    offsets = {name: vector(length) for name, length in (lengths | {"b_1": d_ff}).items()}
    return BlockParameters(**matrices, **gains, **offsets)


def encoder_block(
    x: ArrayLike,
    parameters: BlockParameters,
    n_heads: int,
    norm_position: NormPosition = "pre",
    activation: ActivationName = "gelu",
    may_attend: Booleans | None = None,
    eps: float = EPSILON,
) -> EncoderBlock:
    """Send a sentence through one block and keep everything on the way.

    Parameters
    ----------
    x : array_like of shape (..., position, d_model)
        One row a token.
    parameters : BlockParameters
        See `draw_parameters`.
    n_heads : int
        A divisor of d_model.
    norm_position : "pre" or "post"
        Layer norm before each part (most models today) or after each skip connection (the 2017 paper).
    activation : "gelu" or "relu"
        The bend of the feed-forward part; "gelu" is the exact form.
    may_attend : ndarray of bool, broadcastable to (..., head, query, key), or None
        True where the query may attend to the key.
    eps : float
        Added to the variance in both layer norms; BERT's models have 1e-12.

    Returns
    -------
    EncoderBlock
        Every intermediate, and the output.

    Raises
    ------
    ValueError
        The norm position or the activation has another name, or the shapes do not fit.

    Notes
    -----
    Pre-norm: x + A(N1 x), then y + F(N2 y). Post-norm: N1(x + A x), then N2(y + F y) (Vaswani et al. 2017, section 3.1;
    Xiong et al. 2020, table 1). The same as PyTorch's ``nn.TransformerEncoderLayer`` without dropout.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> encoder_block(np.ones((5, 6)), draw_parameters(6, 3, 10, rng), n_heads=3).output.shape
    (5, 6)
    """
    if norm_position not in get_args(NormPosition):
        raise ValueError(f"norm_position must be 'pre' or 'post'; got {norm_position!r}")
    values = np.asarray(x, dtype=np.float64)
    if norm_position == "pre":
        return _pre_norm(values, parameters, n_heads, activation, may_attend, eps)
    return _post_norm(values, parameters, n_heads, activation, may_attend, eps)


def _pre_norm(
    x: Floats, p: BlockParameters, n_heads: int, activation: ActivationName, may_attend: Booleans | None, eps: float
) -> EncoderBlock:
    normed = layer_norm(x, p.norm_1_gain, p.norm_1_shift, eps)
    heads, joined, attended = _attention(normed, p, n_heads, may_attend)
    after_attention = x + attended
    normed_again = layer_norm(after_attention, p.norm_2_gain, p.norm_2_shift, eps)
    hidden, activated, mixed = _feed_forward(normed_again, p, activation)
    output = after_attention + mixed
    return EncoderBlock(
        normed, heads, joined, attended, after_attention, normed_again, hidden, activated, mixed, output
    )


def _post_norm(
    x: Floats, p: BlockParameters, n_heads: int, activation: ActivationName, may_attend: Booleans | None, eps: float
) -> EncoderBlock:
    heads, joined, attended = _attention(x, p, n_heads, may_attend)
    after_attention = layer_norm(x + attended, p.norm_1_gain, p.norm_1_shift, eps)
    hidden, activated, mixed = _feed_forward(after_attention, p, activation)
    output = layer_norm(after_attention + mixed, p.norm_2_gain, p.norm_2_shift, eps)
    return EncoderBlock(x, heads, joined, attended, after_attention, after_attention, hidden, activated, mixed, output)


def _attention(
    x: Floats, p: BlockParameters, n_heads: int, may_attend: Booleans | None
) -> tuple[Attention, Floats, Floats]:
    q, k, v = (split_heads(_dense(x, w, b), n_heads) for w, b in ((p.w_q, p.b_q), (p.w_k, p.b_k), (p.w_v, p.b_v)))
    heads = attend(q, k, v, may_attend)
    joined = merge_heads(heads.output)
    return heads, joined, _dense(joined, p.w_o, p.b_o)


def _feed_forward(x: Floats, p: BlockParameters, activation: ActivationName) -> tuple[Floats, Floats, Floats]:
    hidden = _dense(x, p.w_1, p.b_1)  # (..., position, d_ff)
    activated = activate(hidden, activation)
    return hidden, activated, _dense(activated, p.w_2, p.b_2)


def _dense(x: Floats, w: Floats, b: Floats | None) -> Floats:
    return x @ w if b is None else x @ w + b
