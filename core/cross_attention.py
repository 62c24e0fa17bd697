"""Cross-attention: queries come from one sentence, keys and values from another one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.attention import Attention, attend
from core.masks import Booleans
from core.multi_head import merge_heads
from core.softmax import Floats


@dataclass(frozen=True, slots=True)
class CrossAttention:
    """What every head computed, its projections included, and what the heads give together."""

    q: Floats
    """(..., head, query, d_head): from the sentence that asks."""
    k: Floats
    """(..., head, key, d_head): from the sentence that is looked at."""
    v: Floats
    """(..., head, key, d_head): from the same sentence as k."""
    heads: Attention
    """Arrays with the axes (..., head, query, ...)."""
    joined: Floats
    """(..., query, n_heads * d_head): the heads' outputs side by side, head 0 first."""
    output: Floats
    """(..., query, d_model): joined @ w_o, or joined itself without w_o."""


def cross_attention(
    x: ArrayLike,
    source: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    w_o: ArrayLike | None = None,
    may_attend: Booleans | None = None,
) -> CrossAttention:
    """Attention of one sentence to another one, by several heads.

    Parameters
    ----------
    x : array_like of shape (..., query, d_model)
        The sentence that asks, one row a token.
    source : array_like of shape (..., key, d_model)
        The sentence that is looked at; x itself makes it self-attention.
    w_q, w_k, w_v : array_like of shape (head, d_model, d_head)
        Each head's projections: w_q of x, w_k and w_v of the source.
    w_o : array_like of shape (head * d_head, d_model) or None
        Mixes the joined heads; None leaves them side by side.
    may_attend : ndarray of bool, broadcastable to (..., head, query, key), or None
        True where the query may attend to the key.

    Returns
    -------
    CrossAttention
        Projections, every head's scores, weights and output, the joined outputs, the result.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    Vaswani et al. 2017, section 3.2.3, first point. The same as PyTorch's ``nn.MultiheadAttention(x, source, source)``
    without biases, but for a query without any key: zeros here, NaN there.

    Examples
    --------
    >>> w = np.ones((1, 1, 1))
    >>> run = cross_attention([[1.0], [0.0]], [[0.0], [1.0]], w, w, w)
    >>> run.heads.weights[0].round(5).tolist()
    [[0.26894, 0.73106], [0.5, 0.5]]
    """
    x, source, w_q, w_k, w_v = (np.asarray(array, dtype=np.float64) for array in (x, source, w_q, w_k, w_v))
    if x.ndim < 2 or source.ndim < 2 or x.shape[-1] != source.shape[-1]:
        raise ValueError(
            f"x and source need the axes (..., position, d_model) with one d_model; got {x.shape} and {source.shape}"
        )
    n_heads = w_q.shape[0] if w_q.ndim else 1
    for name, w in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v)):
        if w.ndim != 3 or w.shape[:2] != (n_heads, x.shape[-1]):
            wanted = f"({n_heads}, {x.shape[-1]}, d_head)"
            raise ValueError(f"{name} must have shape (head, d_model, d_head) = {wanted}; got {w.shape}")
    asking, looked_at = x[..., None, :, :], source[..., None, :, :]  # (..., 1, position, d_model): for every head
    q, k, v = asking @ w_q, looked_at @ w_k, looked_at @ w_v
    heads = attend(q, k, v, may_attend)
    joined = merge_heads(heads.output)
    if w_o is None:
        return CrossAttention(q, k, v, heads, joined, joined)
    mix = np.asarray(w_o, dtype=np.float64)
    if mix.ndim != 2 or mix.shape[0] != joined.shape[-1]:
        raise ValueError(f"w_o must have shape ({joined.shape[-1]}, d_model); got {mix.shape}")
    return CrossAttention(q, k, v, heads, joined, joined @ mix)
