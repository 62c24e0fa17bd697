"""The three shapes of a transformer: which sentence looks at which, and under what mask."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from core.examples import Projections, draw_decoder_projections, draw_example
from core.masks import Booleans
from core.reach import reach, reach_across
from core.softmax import Floats

Shape = Literal["encoder", "decoder", "encoder-decoder"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
PartName = Literal["encoder", "decoder", "cross"]

PARTS: dict[Shape, tuple[PartName, ...]] = {
    "encoder": ("encoder",),
    "decoder": ("decoder",),
    "encoder-decoder": ("encoder", "decoder", "cross"),
}
"""The attentions of each shape, in the order in which they are computed."""

FIRST_MASKS: dict[PartName, str] = {"encoder": "full", "decoder": "causal", "cross": "full"}
"""The mask that makes each attention what it is, as `core.mask_design` writes it."""

Words = tuple[str, ...]


def sentences(part: PartName, shape: Shape, source: Words, target: Words) -> tuple[Words, Words]:
    """The sentence that asks and the sentence that is looked at.

    Parameters
    ----------
    part : str
        One of the shape's `PARTS`.
    shape : str
        One of `SHAPES`.
    source, target : tuple of str
        The two sentences; a shape of one part has only the first.

    Returns
    -------
    tuple of two tuples of str
        Queries, keys.

    Raises
    ------
    ValueError
        The shape has no such part.

    Examples
    --------
    >>> sentences("cross", "encoder-decoder", ("a", "bat"), ("ek", "balla"))
    (('ek', 'balla'), ('a', 'bat'))
    """
    if part not in PARTS[shape]:
        raise ValueError(f"part must be one of {', '.join(PARTS[shape])} in this shape; got {part!r}")
    asking = source if shape != "encoder-decoder" or part == "encoder" else target
    return asking, target if part == "decoder" and shape == "encoder-decoder" else source


@dataclass(frozen=True, slots=True)
class Attending:
    """What one attention of a shape is computed from."""

    x: Floats
    """(query, d_model): embeddings of the sentence that asks."""
    source: Floats
    """(key, d_model): embeddings of the sentence that is looked at."""
    projections: Projections


def draw_shape(
    shape: Shape, source: Words, target: Words, d_head: int = 4, n_heads: int = 2, seed: int = 0
) -> dict[PartName, Attending]:
    """Random embeddings and projections of every attention of a shape.

    Parameters
    ----------
    shape : str
        One of `SHAPES`.
    source, target : tuple of str
        The two sentences; the second is read by the shape of both.
    d_head, n_heads : int
        Size of each key, number of heads.
    seed : int
        Not negative.

    Returns
    -------
    dict of str to Attending
        A shape of one part has the lesson's projections, and so has the encoder beside a decoder; the decoder beside
        an encoder has projections of its own. A word has one vector in both sentences.

    Raises
    ------
    ValueError
        A size is below 1 or the seed is negative.

    Examples
    --------
    >>> found = draw_shape("encoder-decoder", ("a", "bat"), ("balla",))
    >>> [(part, len(one.x), len(one.source)) for part, one in found.items()]
    [('encoder', 2, 2), ('decoder', 1, 1), ('cross', 1, 2)]
    """
    first = draw_example(source, d_head, n_heads, seed)
    of_lesson = Projections(first.w_q, first.w_k, first.w_v)
    if shape != "encoder-decoder":
        return {part: Attending(first.x, first.x, of_lesson) for part in PARTS[shape]}
    second = draw_example(target, d_head, n_heads, seed).x
    own, cross = draw_decoder_projections(d_head, n_heads, seed)
    return {
        "encoder": Attending(first.x, first.x, of_lesson),
        "decoder": Attending(second, second, own),
        "cross": Attending(second, first.x, cross),
    }


def reach_of(part: PartName, masks: Mapping[PartName, Booleans], n_layers: int) -> Booleans:
    """Which words can have left something in which, layer by layer, as one attention of a shape sees it.

    Parameters
    ----------
    part : str
        Whose queries and keys are meant.
    masks : mapping of str to ndarray of bool
        Of every attention of the shape.
    n_layers : int
        Of the encoder and of the decoder; at least 1.

    Returns
    -------
    ndarray of shape (n_layers, query, key), bool
        As in `core.reach`; across the two sentences the masks of all three attentions count.

    Examples
    --------
    >>> import numpy as np
    >>> reach_of("encoder", {"encoder": np.eye(2, dtype=bool)}, 1).astype(int).tolist()
    [[[1, 0], [0, 1]]]
    """
    if part == "cross":
        return reach_across(masks["encoder"], masks["decoder"], masks["cross"], n_layers)
    return reach(masks[part], n_layers)
