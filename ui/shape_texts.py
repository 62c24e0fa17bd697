"""What the page of the three shapes says about masks and reach; arrays to HTML, without Streamlit."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.masks import Booleans
from core.shapes import Shape
from ui.literal import literal

_NAMED = 5
"""Words that are named one by one; of more the number is told."""

_IN_USE: dict[Shape, tuple[str, str]] = {
    "encoder": (
        "Encoder only: BERT",
        "Every word sees the whole sentence, so this shape is for understanding a text that is there: sorting it, "
        "finding an answer in it.",
    ),
    "decoder": (
        "Decoder only: GPT",
        "Every word sees itself and what came before, so this shape is for writing on: it guesses the next word, again "
        "and again.",
    ),
    "encoder-decoder": (
        "Encoder and decoder: the original of 2017, T5",
        "The decoder writes and looks at the whole source through cross-attention, so this shape is for turning one "
        "text into another, as in translation.",
    ),
}


def shapes_in_use(shape: Shape) -> str:
    """Which models have which shape and what each is for.

    Parameters
    ----------
    shape : str
        The one that is shown, set apart.

    Returns
    -------
    str
        HTML, side by side where there is room.

    Examples
    --------
    >>> shapes_in_use("decoder").count("<b>")
    1
    """
    said = []
    for name, (models, what_for) in _IN_USE.items():
        tag = "b" if name == shape else "span"
        said.append(f'<p class="line" style="flex: 1 1 16rem"><{tag}>{models}.</{tag}><br>{what_for}</p>')
    return f'<div style="display: flex; flex-wrap: wrap; gap: .5rem 1.5rem">{"".join(said)}</div>'


def without_keys(masks: Mapping[str, tuple[Sequence[str], Booleans]]) -> str:
    """Names the queries that may attend to nothing.

    Parameters
    ----------
    masks : mapping of str to tuple
        Name of an attention to the names of its queries, a reader's words, and its mask.

    Returns
    -------
    str
        HTML, one paragraph an attention; empty where every query has a key.

    Examples
    --------
    >>> without_keys({"encoder": (["0 a"], np.array([[True]]))})
    ''
    """
    said = ""
    for name, (queries, mask) in masks.items():
        empty = [literal(queries[place]) for place in np.flatnonzero(~mask.any(axis=1)).tolist()]
        if empty:
            said += (
                f'<p class="notice" role="status">{name}: no allowed key for {listed(empty)}. '
                "Weights and output are 0, as in PyTorch's fused function; its softmax gives no number.</p>"
            )
    return said


def reach_verdict(query_name: str, heard: Booleans, query: int, across: bool) -> str:
    """How many words one query can hold something of, layer by layer, and when that ends.

    Parameters
    ----------
    query_name : str
        A reader's word with its position.
    heard : ndarray of shape (n_layers, query, key), bool
        From `core.shapes.reach_of`.
    query : int
        Which query.
    across : bool
        Whether the keys are words of another sentence.

    Returns
    -------
    str
        HTML paragraphs.

    Examples
    --------
    >>> from core.masks import local_mask
    >>> from core.reach import reach
    >>> "2, then 3, then 4 of 4" in reach_verdict("0 a", reach(local_mask(4, 4, 1), 3), 0, False)
    True
    """
    counts = heard[:, query].sum(axis=-1).tolist()
    n_key, n_layers = heard.shape[-1], len(counts)
    whose = "words of the source" if across else "words"
    grew = ", then ".join(str(count) for count in counts)
    of_all = int(heard[-1].sum())
    layers = f"{n_layers} layer{'' if n_layers == 1 else 's'}"
    return (
        f'<p class="line"><b class="query">{literal(query_name)}</b> can hold something of {grew} of {n_key} {whose}.'
        f'</p><p class="line">All queries together after {layers}: {of_all} of {heard[-1].size} pairs.</p>'
    )


def reach_reason(heard: Booleans, across: bool) -> str:
    """Why a word is heard farther with every layer, and when it is not.

    Parameters
    ----------
    heard : ndarray of shape (n_layers, query, key), bool
        From `core.shapes.reach_of`.
    across : bool
        Whether the keys are words of another sentence.

    Returns
    -------
    str
        HTML paragraph.

    Examples
    --------
    >>> "the first layer was enough" in reach_reason(np.ones((2, 3, 3), dtype=bool), False)
    True
    """
    why = (
        "The encoder's layers mix the source first; each layer of the decoder mixes the target and looks across."
        if across
        else "Every layer hands on what its keys had heard before; the skip connection keeps the word itself."
    )
    if len(heard) > 1 and heard[0].sum() > heard.shape[1] and (heard[0] == heard[-1]).all():
        why += " Here the first layer was enough; with a window as preset it takes several."
    return f'<p class="quiet">From the masks alone, as powers of the mask. {why}</p>'


def listed(names: Sequence[str]) -> str:
    """Some names in a row; of many the first ones and how many more.

    Parameters
    ----------
    names : sequence of str
        HTML.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> listed(["a", "b"]), listed(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
