"""Blocks on top of each other: how large the residual stream grows, and what of a gradient arrives where.

Every layer can be run without some of its parts, to see what each of them is good for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from core.attention import attend
from core.backward import attention_backward, bend_slope, dense_backward, layer_norm_backward
from core.encoder_block import BlockParameters, NormPosition
from core.feed_forward import ActivationName, activate
from core.layer_norm import layer_norm
from core.multi_head import merge_heads, split_heads
from core.softmax import Floats

ATTENTION_PARAMETERS = ("w_q", "w_k", "w_v", "w_o")
FEED_FORWARD_PARAMETERS = ("w_1", "w_2")

Back = Callable[[Floats], tuple[Floats, dict[str, Floats]]]
"""From the gradient at a part's output to those at what it read and at its matrices."""

LARGEST = 1e150
"""A stream with larger numbers ends: the scores multiply two of them, and double precision ends at 1.8e308."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts the layers of a stack have."""

    attention: bool = True
    """Without it the layer has neither this part nor its skip connection and norm; so too without the next."""
    feed_forward: bool = True
    skip: bool = True
    """Without it a part's result stands in place of what it read, instead of being added to it."""
    norm: bool = True
    """The norms of the layers, and the one after the last layer."""
    final_norm: bool = True
    """The norm after the last layer of a pre-norm stack; a post-norm stack ends with a norm anyway."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the matrices that the layers then have."""
        return ATTENTION_PARAMETERS * self.attention + FEED_FORWARD_PARAMETERS * self.feed_forward

    def ends_with_norm(self, norm_position: NormPosition) -> bool:
        """Whether a norm of its own follows the last layer.

        Parameters
        ----------
        norm_position : "pre" or "post"
            Of the stack.

        Returns
        -------
        bool
            True for pre-norm with both kinds of norm.

        Examples
        --------
        >>> Parts().ends_with_norm("pre"), Parts().ends_with_norm("post"), Parts(norm=False).ends_with_norm("pre")
        (True, False, False)
        """
        return norm_position == "pre" and self.norm and self.final_norm


@dataclass(frozen=True, slots=True)
class Stack:
    """A run through a stack and the way back, layer by layer."""

    streams: Floats
    """(layer, position, d_model): 0 the embeddings, then what each layer gives; ends before a layer whose numbers
    would leave the range of double precision."""
    stream_gradients: Floats | None
    """(layer, position, d_model): of the loss, at each stream; None where the numbers left the range."""
    gradients: Mapping[str, Floats]
    """Name of each matrix to (layer, rows, columns): of the loss, at the matrix of each layer; empty as above."""
    last_gradients: Mapping[str, Floats]
    """The same for the last layer of stacks of 1, 2, ... layers: what the loss would be if they ended there."""


@dataclass(frozen=True, slots=True)
class StackCurves:
    """A stack's run in a few numbers a layer."""

    size: Floats
    """(layer,): mean length of the words' vectors, 0 being the embeddings."""
    alike: Floats
    """(layer,): mean cosine of the angle between two words' vectors; empty for one word."""
    stream_gradient: Floats
    """(layer,): length of the gradient at the stream; empty where there is none."""
    gradient: Mapping[str, Floats]
    """Name of each matrix to (layer,): length of the gradient at the matrix of layer 1, 2, ..."""
    last_gradient: Mapping[str, Floats]
    """The same for the last layer of stacks of 1, 2, ... layers."""

    def named(self) -> dict[str, Floats]:
        """Every curve that there is, by a name.

        Returns
        -------
        dict of str to ndarray
            Without those that are empty.

        Examples
        --------
        >>> curves = StackCurves(np.ones(3), np.array([]), np.array([]), {"w_2": np.ones(2)}, {})
        >>> list(curves.named())
        ['size', 'gradient of w_2']
        """
        named = {"size": self.size, "alike": self.alike, "gradient at the stream": self.stream_gradient}
        named |= {f"gradient of {name}": values for name, values in self.gradient.items()}
        named |= {f"gradient of the last {name}": values for name, values in self.last_gradient.items()}
        return {name: values for name, values in named.items() if values.size}


def run_stack(
    x: ArrayLike,
    layers: Sequence[BlockParameters],
    n_heads: int,
    reading: ArrayLike,
    norm_position: NormPosition = "pre",
    activation: ActivationName = "gelu",
    parts: Parts | None = None,
) -> Stack:
    """Send a sentence through a stack of blocks, and the gradient of a loss back through all of them.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        One row a word.
    layers : sequence of BlockParameters
        One a layer, at least one; biases and shifts must be None.
    n_heads : int
        A divisor of d_model.
    reading : array_like of shape (position, d_model)
        The loss is the sum of output times reading.
    norm_position : "pre" or "post"
        As in `core.encoder_block.encoder_block`.
    activation : "gelu" or "relu"
        The bend of the feed-forward part.
    parts : Parts or None
        What each layer has; None means all.

    Returns
    -------
    Stack
        Streams, gradients at the streams and at every matrix.

    Raises
    ------
    ValueError
        There is no layer, the shapes do not fit, a layer has biases, or a name is none of those above.

    Notes
    -----
    With all parts the same as PyTorch's ``nn.TransformerEncoderLayer`` with ``bias=False``, one after the other. Xiong
    et al. 2020, section 3.3: at the last layer the gradient of w_2 shrinks like 1 / sqrt(number of layers) in pre-norm,
    and does not depend on it in post-norm.

    Examples
    --------
    >>> from core.encoder_block import draw_parameters
    >>> rng = np.random.default_rng(0)
    >>> layers = [draw_parameters(6, 3, 10, rng, bias=False) for _ in range(4)]
    >>> run = run_stack(rng.normal(size=(5, 6)), layers, 3, rng.normal(size=(5, 6)))
    >>> run.streams.shape, run.gradients["w_2"].shape
    ((5, 5, 6), (4, 10, 6))
    """
    kept = Parts() if parts is None else parts
    values, read_out = np.asarray(x, dtype=np.float64), np.asarray(reading, dtype=np.float64)
    _check(values, layers, read_out, norm_position)
    streams, backs = [values], []
    for layer in layers:
        values, layer_back = _layer(values, layer, n_heads, norm_position, activation, kept)
        if not np.abs(values).max(initial=0.0) <= LARGEST:
            return Stack(np.stack(streams), None, {}, {})
        streams.append(values)
        backs.append(layer_back)

    def at_end(stream: Floats) -> Floats:
        return layer_norm_backward(stream, read_out) if kept.ends_with_norm(norm_position) else read_out

    # Products that leave the range become infinite or undefined here; they are noticed below.
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        lasts = [back(at_end(stream))[1] for back, stream in zip(backs, streams[1:], strict=True)]
        at_streams, at_matrices = [at_end(values)], []
        for back in reversed(backs):
            gradient, found = back(at_streams[-1])
            at_streams.append(gradient)
            at_matrices.append(found)
    stream_gradients = np.stack(at_streams[::-1])
    gradients, last_gradients = (
        {name: np.stack([of_layer[name] for of_layer in found]) for name in kept.parameters}
        for found in (at_matrices[::-1], lasts)
    )
    if not all(np.isfinite(array).all() for array in (stream_gradients, *gradients.values(), *last_gradients.values())):
        return Stack(np.stack(streams), None, {}, {})
    return Stack(np.stack(streams), stream_gradients, gradients, last_gradients)


def stack_curves(run: Stack) -> StackCurves:
    """A stack's run in a few numbers a layer.

    Parameters
    ----------
    run : Stack
        From `run_stack`, or from PyTorch.

    Returns
    -------
    StackCurves
        Lengths, and how alike the words are.

    Examples
    --------
    >>> streams = np.array([[[3.0, 4.0], [5.0, 0.0]]])
    >>> curves = stack_curves(Stack(streams, None, {}, {}))
    >>> curves.size.tolist(), curves.alike.round(2).tolist()
    ([5.0], [0.6])
    """
    lengths = _length(run.streams, 1)
    size = lengths.mean(axis=-1)
    n_words = run.streams.shape[1]
    alike = _mean_cosines(run.streams) if n_words > 1 else np.array([])
    at_streams = np.array([]) if run.stream_gradients is None else _length(run.stream_gradients, 2)
    of_layers, of_lasts = (
        {name: _length(array, 2) for name, array in found.items()} for found in (run.gradients, run.last_gradients)
    )
    return StackCurves(size, alike, at_streams, of_layers, of_lasts)


def mean_cosine(x: ArrayLike) -> float:
    """How alike the directions of a sentence's vectors are, over all pairs of positions.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        At least two rows.

    Returns
    -------
    float
        Mean cosine of the angle between two rows, -1 to 1; 1 where all point the same way. A row of zeros has no
        direction, and its cosine with any other counts as 0.

    Raises
    ------
    ValueError
        There are fewer than two rows.

    Examples
    --------
    >>> mean_cosine([[1, 0], [0, 2]]), mean_cosine([[1, 0], [3, 0], [2, 0]])
    (0.0, 1.0)
    """
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 2 or len(values) < 2:
        raise ValueError(f"x needs the axes (position, d_model) and two rows or more; got shape {values.shape}")
    return float(_mean_cosines(values))


def _mean_cosines(x: Floats) -> Floats:
    """As in `mean_cosine`, for each matrix of (..., position, d_model)."""
    lengths = _length(x, 1)[..., None]
    directions = np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0)
    cosines = directions @ directions.swapaxes(-2, -1)
    n = x.shape[-2]
    of_pairs = cosines.sum(axis=(-2, -1)) - np.trace(cosines, axis1=-2, axis2=-1)
    return np.asarray(np.clip(of_pairs / (n * (n - 1)), -1.0, 1.0))


def _length(values: Floats, axes: int) -> Floats:
    """Root of the sum of squares over the last axes, whatever the size of the numbers."""
    over = tuple(range(-axes, 0))
    largest = np.abs(values).max(axis=over, keepdims=True, initial=0.0)
    scaled = np.divide(values, largest, out=np.zeros_like(values), where=largest > 0)  # squares stay in range
    return np.asarray(np.sqrt((scaled**2).sum(axis=over)) * np.squeeze(largest, over))


def _check(x: Floats, layers: Sequence[BlockParameters], reading: Floats, norm_position: str) -> None:
    if norm_position not in get_args(NormPosition):
        raise ValueError(f"norm_position must be 'pre' or 'post'; got {norm_position!r}")
    if not layers:
        raise ValueError("layers must hold at least one block; got none")
    if x.ndim != 2 or x.shape != reading.shape:
        raise ValueError(f"x and reading need the same axes (position, d_model); got {x.shape} and {reading.shape}")
    offsets = ("b_q", "b_k", "b_v", "b_o", "b_1", "b_2", "norm_1_shift", "norm_2_shift")
    if any(getattr(layer, name) is not None for layer in layers for name in offsets):
        raise ValueError("the layers of a stack must have no biases and shifts; got some")


def _layer(
    x: Floats, p: BlockParameters, n_heads: int, norm_position: NormPosition, activation: ActivationName, parts: Parts
) -> tuple[Floats, Back]:
    """What a layer gives, and the way back through it."""
    halves: list[tuple[Floats, Callable[[Floats], tuple[Floats, Back]]]] = []
    if parts.attention:
        halves.append((p.norm_1_gain, lambda read: _attention(read, p, n_heads)))
    if parts.feed_forward:
        halves.append((p.norm_2_gain, lambda read: _feed_forward(read, p, activation)))
    backs = []
    for gain, part in halves:
        x, half_back = _half(x, part, gain, norm_position, parts)
        backs.append(half_back)

    def back(gradient: Floats) -> tuple[Floats, dict[str, Floats]]:
        found: dict[str, Floats] = {}
        for half_back in reversed(backs):
            gradient, at_matrices = half_back(gradient)
            found |= at_matrices
        return gradient, found

    return x, back


def _half(
    x: Floats,
    part: Callable[[Floats], tuple[Floats, Back]],
    gain: Floats,
    norm_position: NormPosition,
    parts: Parts,
) -> tuple[Floats, Back]:
    """One part with its norm and its skip connection, as far as they are there."""
    norm_before, norm_after = parts.norm and norm_position == "pre", parts.norm and norm_position == "post"
    made, part_back = part(layer_norm(x, gain) if norm_before else x)
    joined = x + made if parts.skip else made

    def back(gradient: Floats) -> tuple[Floats, dict[str, Floats]]:
        if norm_after:
            gradient = layer_norm_backward(joined, gradient, gain)
        through, at_matrices = part_back(gradient)
        if norm_before:
            through = layer_norm_backward(x, through, gain)
        return (through + gradient if parts.skip else through), at_matrices

    return (layer_norm(joined, gain) if norm_after else joined), back


def _attention(x: Floats, p: BlockParameters, n_heads: int) -> tuple[Floats, Back]:
    matrices = {"w_q": p.w_q, "w_k": p.w_k, "w_v": p.w_v}
    q, k, v = (split_heads(x @ w, n_heads) for w in matrices.values())  # (head, position, d_head)
    heads = attend(q, k, v)
    joined = merge_heads(heads.output)

    def back(gradient: Floats) -> tuple[Floats, dict[str, Floats]]:
        to_joined, to_w_o = dense_backward(joined, p.w_o, gradient)
        to_heads = attention_backward(q, k, v, heads.weights, split_heads(to_joined, n_heads))
        ways = [dense_backward(x, w, merge_heads(part)) for w, part in zip(matrices.values(), to_heads, strict=True)]
        to_x = ways[0][0] + ways[1][0] + ways[2][0]  # x went three ways, so three gradients come back
        return to_x, {name: way[1] for name, way in zip(matrices, ways, strict=True)} | {"w_o": to_w_o}

    return joined @ p.w_o, back


def _feed_forward(x: Floats, p: BlockParameters, activation: ActivationName) -> tuple[Floats, Back]:
    hidden = x @ p.w_1  # (position, d_ff)
    activated, slope = activate(hidden, activation), bend_slope(hidden, activation)

    def back(gradient: Floats) -> tuple[Floats, dict[str, Floats]]:
        to_activated, to_w_2 = dense_backward(activated, p.w_2, gradient)
        to_x, to_w_1 = dense_backward(x, p.w_1, to_activated * slope)
        return to_x, {"w_1": to_w_1, "w_2": to_w_2}

    return activated @ p.w_2, back
