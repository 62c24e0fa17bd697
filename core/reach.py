"""How far a word can be heard after several layers, whatever the weights: only the masks count."""

import numpy as np

from core.masks import Booleans


def reach(may_attend: Booleans, n_layers: int) -> Booleans:
    """Which positions can have left something in each position, layer by layer.

    Parameters
    ----------
    may_attend : ndarray of shape (position, position), bool
        The mask of every layer, queries in rows.
    n_layers : int
        At least 1.

    Returns
    -------
    ndarray of shape (n_layers, position, position), bool
        Entry l, query, key: True where the key can be heard in the query after l + 1 layers.

    Raises
    ------
    ValueError
        The mask is not square or not boolean, or there is no layer.

    Notes
    -----
    The boolean power (M or I)^l: a layer hands on what its keys had heard before it, and the skip connection keeps
    what the word had heard itself.

    Examples
    --------
    >>> from core.masks import local_mask
    >>> reach(local_mask(4, 4, 1), 2)[:, 0].astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 1, 0]]
    """
    if may_attend.dtype != np.bool_ or may_attend.ndim != 2 or may_attend.shape[0] != may_attend.shape[1]:
        raise ValueError(f"may_attend must be square and boolean; got {may_attend.shape} of {may_attend.dtype}")
    _check_layers(n_layers)
    return _spread(_with_skip(may_attend), np.eye(len(may_attend), dtype=np.bool_), n_layers)


def reach_across(encoder: Booleans, decoder: Booleans, cross: Booleans, n_layers: int) -> Booleans:
    """Which words of the source can have left something in each word of the target, layer by layer of the decoder.

    Parameters
    ----------
    encoder : ndarray of shape (source, source), bool
        The mask of every layer of the encoder.
    decoder : ndarray of shape (target, target), bool
        The mask of the decoder's own attention in every layer.
    cross : ndarray of shape (target, source), bool
        The mask of its look at the encoder's last layer, in every layer.
    n_layers : int
        Of the encoder, and of the decoder; at least 1.

    Returns
    -------
    ndarray of shape (n_layers, target, source), bool
        Entry l: after l + 1 layers of the decoder.

    Raises
    ------
    ValueError
        The masks do not fit each other, or there is no layer.

    Notes
    -----
    Vaswani et al. 2017, figure 1: the decoder reads what the last layer of the encoder gave, and a layer's own
    attention comes before its cross-attention. So (D or I)^l · C · (E or I)^n with n layers of the encoder.

    Examples
    --------
    >>> from core.masks import causal_mask
    >>> only_first = np.array([[True, False], [False, False]])
    >>> reach_across(np.eye(2, dtype=bool), causal_mask(2), only_first, 2).astype(int).tolist()
    [[[1, 0], [0, 0]], [[1, 0], [1, 0]]]
    """
    if cross.dtype != np.bool_ or cross.shape != (len(decoder), len(encoder)):
        raise ValueError(f"cross must be boolean of shape {(len(decoder), len(encoder))}; got {cross.shape}")
    heard_by_source = reach(encoder, n_layers)[-1]
    _check_layers(n_layers)
    looked_up = _product(cross, heard_by_source)
    return np.concatenate([looked_up[None], _spread(_with_skip(decoder), looked_up, n_layers - 1)])


def _check_layers(n_layers: int) -> None:
    if n_layers < 1:
        raise ValueError(f"n_layers must be at least 1; got {n_layers}")


def _with_skip(may_attend: Booleans) -> Booleans:
    return np.asarray(may_attend | np.eye(len(may_attend), dtype=np.bool_))


def _product(left: Booleans, right: Booleans) -> Booleans:
    """Boolean matrix product; counted in single precision, which is exact up to 2^24 terms and fast."""
    return np.asarray(left.astype(np.float32) @ right.astype(np.float32) > 0)


def _spread(step: Booleans, first: Booleans, n_layers: int) -> Booleans:
    """Powers of a step times the first: step · first, step · step · first, and so on."""
    found = np.empty((n_layers, *first.shape), dtype=np.bool_)
    for layer in range(n_layers):
        first = found[layer] = _product(step, first)
    return found
