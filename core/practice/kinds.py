"""The kinds of exercise in the order of the lesson, and one variant of a kind drawn from a seed."""

import zlib
from collections.abc import Callable

import numpy as np

from core.practice import blocks, choices, heads
from core.practice.exercise import Exercise

KINDS: dict[str, Callable[[np.random.Generator], Exercise]] = {
    "reading": heads.reading,
    "projection": heads.projection,
    "score": heads.score,
    "scaling": heads.scaling,
    "softmax": heads.softmax_row,
    "mixture": heads.mixture,
    "mask": heads.mask_cells,
    "causal rows": heads.causal_rows,
    "weights": heads.causal_weights,
    "order": heads.shuffled,
    "encoding": blocks.encoding,
    "head split": blocks.head_split,
    "layer norm": blocks.norm,
    "parameters": blocks.parameters,
    "doubling": blocks.doubling,
    "whose mask": choices.attention_kinds,
    "shapes": choices.shapes,
    "which mistake": choices.which_mistake,
}
"""Name of each kind to the function that draws one variant."""

MOST_DRAWS = 2_000


def draw(kind: str, seed: int, number: int) -> Exercise:
    """One variant of a kind of exercise; the same every time.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    seed : int
        From 0.
    number : int
        Of the variant, from 0.

    Returns
    -------
    Exercise
        Fair: no number is near both the right answer and that of a mistake, or near those of two mistakes.

    Raises
    ------
    ValueError
        There is no such kind.

    Examples
    --------
    >>> exercise = draw("score", seed=0, number=1)
    >>> exercise.is_fair, exercise.answer.shape
    (True, (1, 1))
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    # A digest of the name, not its place: a new kind changes none of the others.
    rng = np.random.default_rng([seed, number, zlib.crc32(kind.encode())])
    for _ in range(MOST_DRAWS):
        exercise = KINDS[kind](rng)
        if exercise.is_fair:
            return exercise
    raise RuntimeError(f"no fair variant of {kind!r} among {MOST_DRAWS} for seed {seed} and number {number}")
