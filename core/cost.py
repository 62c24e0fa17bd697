"""What attention costs, by formula: the part that grows with the square of the sentence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AttentionCost:
    """Work and memory of the two products that hold every query-key pair."""

    flops: int
    """Floating-point operations of q kᵀ and weights · v; a multiply-add counts as two."""
    multiply_adds: int
    """Half as many."""
    weight_bytes: int
    """Memory of the weights of all heads, kept whole."""


def attention_cost(
    seq_len: int, d_model: int, n_heads: int, batch: int = 1, bytes_per_number: int = 4, causal: bool = False
) -> AttentionCost:
    """Work and memory of the scores and of mixing the values, projections not included.

    Parameters
    ----------
    seq_len, d_model, n_heads, batch : int
        Tokens in a sentence, width, heads (a divisor of the width), sentences.
    bytes_per_number : int
        4 for single precision.
    causal : bool
        True counts only the n (n + 1) / 2 pairs that a causal mask lets through: the work that is *needed*. The plain
        formula computes all n² pairs all the same, and its weights fill the same memory.

    Returns
    -------
    AttentionCost
        Exact integers; nothing of that size is allocated.

    Raises
    ------
    ValueError
        A size is below 1 or d_model is not a multiple of n_heads.

    Notes
    -----
    Each pair takes d_model multiply-adds in q kᵀ and d_model in weights · v, heads together: 4 n² d_model operations.

    Examples
    --------
    >>> attention_cost(1024, 1024, 16, batch=64).flops
    274877906944
    >>> attention_cost(1024, 768, 12).weight_bytes
    50331648
    """
    if min(seq_len, d_model, n_heads, batch, bytes_per_number) < 1:
        raise ValueError(
            f"sizes must be at least 1; got {seq_len=}, {d_model=}, {n_heads=}, {batch=}, {bytes_per_number=}"
        )
    if d_model % n_heads:
        raise ValueError(f"d_model must be a multiple of n_heads; got {d_model} and {n_heads}")
    pairs = seq_len * (seq_len + 1) // 2 if causal else seq_len**2
    multiply_adds = 2 * pairs * d_model * batch
    return AttentionCost(2 * multiply_adds, multiply_adds, batch * n_heads * seq_len**2 * bytes_per_number)
