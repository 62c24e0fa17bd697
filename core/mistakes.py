"""Mistakes that pass every test of shapes, kept apart from what is right, so that a page can make them on purpose."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from core.attention import Attention, SelfAttention, attend, self_attention
from core.masks import Booleans
from core.softmax import Floats, softmax


def split_heads_by_reshape_alone(x: ArrayLike, n_heads: int) -> Floats:
    """Heads cut out by one reshape, without moving the axis: each head gets pieces of several positions.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        All heads' features side by side.
    n_heads : int
        A divisor of d_model.

    Returns
    -------
    ndarray of shape (head, position, d_head)
        The shape of `core.multi_head.split_heads`, with other numbers in it unless there is one head or one position.

    Raises
    ------
    ValueError
        x has not two axes, or d_model is not a multiple of n_heads.

    Examples
    --------
    >>> split_heads_by_reshape_alone([[0, 1, 2, 3], [4, 5, 6, 7]], 2).astype(int).tolist()
    [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    """
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"x needs the axes (position, d_model); got shape {values.shape}")
    n_positions, d_model = values.shape
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(f"d_model must be a multiple of n_heads; got {d_model} and {n_heads}")
    return values.reshape(n_heads, n_positions, d_model // n_heads)


def attend_over_the_wrong_axis(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, may_attend: Booleans | None = None
) -> Attention:
    """Attention whose softmax runs over the queries: each key shares itself out, and no query's weights sum to 1.

    Parameters
    ----------
    q, k, v, may_attend
        As in `core.attention.attend`.

    Returns
    -------
    Attention
        The columns of its weights sum to 1, or are all 0 where no query may attend to the key.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    Under a causal mask column j is divided by what the queries from j on say, so that later words reach earlier rows
    although every weight above the diagonal is 0.

    Examples
    --------
    >>> found = attend_over_the_wrong_axis([[0.0], [1.0]], [[0.0], [np.log(3)]], [[1.0], [1.0]])
    >>> found.weights.round(2).tolist()
    [[0.5, 0.25], [0.5, 0.75]]
    """
    right = attend(q, k, v, may_attend)
    weights = softmax(right.scaled_scores, axis=-2)
    return replace(right, weights=weights, output=weights @ np.asarray(v, dtype=np.float64))


def attend_across_the_batch(x: ArrayLike, w_q: ArrayLike, w_k: ArrayLike, w_v: ArrayLike) -> SelfAttention:
    """Self-attention that takes the sentences of a batch for the tokens of one: the first two axes are exchanged.

    Parameters
    ----------
    x : array_like of shape (sentence, position, d_model)
        A batch, sentences first.
    w_q, w_k, w_v : array_like of shape (d_model, d_head)
        One head's projections.

    Returns
    -------
    SelfAttention
        Its arrays have the axes (position, sentence, ...): at each position the sentences attend to each other. Moved
        back, the output has the shape of the right one.

    Raises
    ------
    ValueError
        x has not three axes, or the projections do not fit.

    Notes
    -----
    What ``nn.MultiheadAttention`` computes for such an array unless it is told ``batch_first=True``.

    Examples
    --------
    >>> alone = attend_across_the_batch(np.ones((1, 3, 2)), np.eye(2), np.eye(2), np.eye(2))
    >>> alone.attention.weights.shape, alone.attention.weights.ravel().tolist()
    ((3, 1, 1), [1.0, 1.0, 1.0])
    """
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 3:
        raise ValueError(f"x needs the axes (sentence, position, d_model); got shape {values.shape}")
    return self_attention(values.swapaxes(0, 1), w_q, w_k, w_v)


def project_by_the_transpose(x: ArrayLike, w: ArrayLike) -> Floats:
    """Rows multiplied by a square projection the wrong way round.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        One row a token.
    w : array_like of shape (d_model, d_model)
        Meant to be used as x @ w.

    Returns
    -------
    ndarray of shape (position, d_model)
        x @ wᵀ: the right shape, and the right numbers only where w is symmetric.

    Raises
    ------
    ValueError
        w is not square, or x has another width; NumPy would complain by itself there.

    Examples
    --------
    >>> project_by_the_transpose([[1, 0]], [[1, 2], [0, 1]]).tolist()
    [[1.0, 0.0]]
    """
    rows, projection = (np.asarray(array, dtype=np.float64) for array in (x, w))
    if rows.ndim != 2 or projection.shape != (rows.shape[-1], rows.shape[-1]):
        raise ValueError(
            f"w must be square, as wide as x; got shapes {projection.shape} and {rows.shape}: any other does not fit "
            "when it is transposed"
        )
    return np.asarray(rows @ projection.T)
