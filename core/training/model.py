"""The tiny model that every task trains: its sizes, its first parameters, its forward pass from the rooms of core."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.attention import Attention, attend
from core.feed_forward import relu
from core.layer_norm import layer_norm
from core.masks import causal_mask
from core.softmax import Floats

Integers = NDArray[np.int64]
Parameters = Mapping[str, NDArray[np.floating[Any]]]
Readout = Literal["words", "pointer"]


@dataclass(frozen=True, slots=True)
class Design:
    """Sizes and switches of a model with one head a layer, the norm before each part."""

    n_words: int
    """Words or symbols that it knows."""
    n_positions: int
    """Longest sequence."""
    d_model: int = 32
    d_head: int = 32
    n_layers: int = 1
    d_ff: int = 0
    """Width of the feed-forward part; 0 leaves it out."""
    causal: bool = False
    positions: bool = True
    """Whether a learned position embedding is added to the words."""
    scaled: bool = True
    """Whether scores are divided by the root of d_head."""
    spread: float = 0.5
    """Standard deviation of the first word and position embeddings."""
    unit_scores: bool = False
    """Whether the first W_q and W_k give queries and keys of variance 1, as in the lesson on scaling."""
    readout: Readout = "words"
    """"words": every position names a word. "pointer": one more head, whose weights are the answer."""

    @property
    def n_pictures(self) -> int:
        """Attention matrices of one run."""
        return self.n_layers + (self.readout == "pointer")


@dataclass(frozen=True, slots=True)
class Run:
    """What a model made of sequences."""

    pictures: tuple[Attention, ...]
    """One a layer, (..., query, key); the pointer's last."""
    logits: Floats
    """(..., position, word), or (..., query, key) with a pointer: before the softmax that gives the answer."""


def shapes(design: Design) -> dict[str, tuple[int, ...]]:
    """Names and shapes of what a model learns, in a fixed order.

    Parameters
    ----------
    design : Design
        The model.

    Returns
    -------
    dict of str to tuple of int
        Matrices are used as x @ w.

    Examples
    --------
    >>> sum(int(np.prod(shape)) for shape in shapes(Design(26, 10)).values())
    6266
    """
    d, d_head = design.d_model, design.d_head
    found: dict[str, tuple[int, ...]] = {"embedding": (design.n_words, d)}
    if design.positions:
        found["position_embedding"] = (design.n_positions, d)
    for layer in range(design.n_layers):
        of_layer: dict[str, tuple[int, ...]] = {
            **{"norm_1_gain": (d,), "norm_1_shift": (d,)},
            **dict.fromkeys(("w_q", "w_k", "w_v"), (d, d_head)),
            **{"w_o": (d_head, d), "b_o": (d,)},
        }
        if design.d_ff:
            of_layer |= {"norm_2_gain": (d,), "norm_2_shift": (d,), "w_1": (d, design.d_ff), "b_1": (design.d_ff,)}
            of_layer |= {"w_2": (design.d_ff, d), "b_2": (d,)}
        found |= {f"{name}_{layer}": shape for name, shape in of_layer.items()}
    found |= {"norm_gain": (d,), "norm_shift": (d,)}
    if design.readout == "pointer":
        return found | {"pointer_q": (d, d_head), "pointer_k": (d, d_head)}
    return found | {"readout": (d, design.n_words), "readout_bias": (design.n_words,)}


def first_parameters(design: Design, rng: np.random.Generator) -> dict[str, Floats]:
    """Random parameters before the first step of a training.

    Parameters
    ----------
    design : Design
        The model.
    rng : numpy.random.Generator
        The only source of randomness.

    Returns
    -------
    dict of str to ndarray
        Names and shapes as in `shapes`. Gains are 1, shifts 0, embeddings normal, dense layers uniform within
        1 / sqrt(inputs) of 0, which is what PyTorch's ``nn.Linear`` begins with.

    Examples
    --------
    >>> first = first_parameters(Design(26, 10), np.random.default_rng(0))
    >>> first["embedding"].shape, float(first["norm_gain"].sum())
    ((26, 32), 32.0)
    """
    every_shape = shapes(design)
    first: dict[str, Floats] = {}
    for name, shape in every_shape.items():
        if name.endswith("embedding"):
            first[name] = rng.normal(0.0, design.spread, shape)
        elif "gain" in name:
            first[name] = np.ones(shape)
        elif "shift" in name:
            first[name] = np.zeros(shape)
        elif design.unit_scores and name[:3] in ("w_q", "w_k"):
            first[name] = rng.normal(0.0, shape[0] ** -0.5, shape)
        else:
            bound = _inputs(name, every_shape) ** -0.5
            first[name] = rng.uniform(-bound, bound, shape)
    return first


def _inputs(name: str, every_shape: Mapping[str, tuple[int, ...]]) -> int:
    """Numbers that a dense layer reads; its bias is called by the name of the matrix that it belongs to."""
    matrix = "readout" if name == "readout_bias" else "w" + name[1:] if name.startswith("b_") else name
    return every_shape[matrix][0]


def run(design: Design, parameters: Parameters, tokens: ArrayLike) -> Run:
    """Send sequences through a model.

    Parameters
    ----------
    design : Design
        The model.
    parameters : mapping of str to ndarray
        As in `shapes`.
    tokens : array_like of int of shape (..., position)
        Numbers of words.

    Returns
    -------
    Run
        Every attention and the answer.

    Raises
    ------
    ValueError
        A sequence is empty or too long, or holds a number that is no word's.

    Notes
    -----
    Pre-norm blocks: x + A(N x), then y + F(N y) where there is a feed-forward part with a ReLU. The pointer compares
    what the last layer made of a word with the words as they came in (Vinyals, Fortunato, Jaitly 2015, equation 3,
    with scaled dot products).

    Examples
    --------
    >>> design = Design(26, 10)
    >>> found = run(design, first_parameters(design, np.random.default_rng(0)), [[7, 4, 11]])
    >>> found.logits.shape, found.pictures[0].weights.shape
    ((1, 3, 26), (1, 3, 3))
    """
    numbers = _checked(design, tokens)
    n = numbers.shape[-1]
    p = {name: np.asarray(array, dtype=np.float64) for name, array in parameters.items()}
    may_attend = causal_mask(n) if design.causal else None
    scale = None if design.scaled else 1.0
    words = p["embedding"][numbers]  # (..., position, d_model)
    if design.positions:
        words = words + p["position_embedding"][:n]
    x, pictures = words, []
    for layer in range(design.n_layers):
        normed = layer_norm(x, p[f"norm_1_gain_{layer}"], p[f"norm_1_shift_{layer}"])
        q, k, v = (normed @ p[f"{name}_{layer}"] for name in ("w_q", "w_k", "w_v"))
        attention = attend(q, k, v, may_attend, scale)
        pictures.append(attention)
        x = x + attention.output @ p[f"w_o_{layer}"] + p[f"b_o_{layer}"]
        if design.d_ff:
            normed = layer_norm(x, p[f"norm_2_gain_{layer}"], p[f"norm_2_shift_{layer}"])
            hidden = relu(normed @ p[f"w_1_{layer}"] + p[f"b_1_{layer}"])  # (..., position, d_ff)
            x = x + hidden @ p[f"w_2_{layer}"] + p[f"b_2_{layer}"]
    normed = layer_norm(x, p["norm_gain"], p["norm_shift"])
    if design.readout == "words":
        return Run(tuple(pictures), normed @ p["readout"] + p["readout_bias"])
    keys = layer_norm(words) @ p["pointer_k"]
    pictures.append(attend(normed @ p["pointer_q"], keys, keys))
    return Run(tuple(pictures), pictures[-1].scaled_scores)


def _checked(design: Design, tokens: ArrayLike) -> Integers:
    numbers = np.asarray(tokens, dtype=np.int64)
    if numbers.ndim == 0 or not 1 <= numbers.shape[-1] <= design.n_positions:
        raise ValueError(f"tokens needs 1 to {design.n_positions} positions on its last axis; got {numbers.shape}")
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < design.n_words:
        raise ValueError(
            f"tokens must be numbers from 0 to {design.n_words - 1}; got {numbers.min()} to {numbers.max()}"
        )
    return numbers
