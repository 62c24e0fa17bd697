"""What attention costs, by formula: the part that grows with the square of the sentence, and what stands beside it."""

from dataclasses import dataclass
from typing import Literal, get_args

PartName = Literal["Q, K, V", "q kᵀ", "softmax", "weights · V", "W_o", "feed-forward"]
PART_NAMES: tuple[PartName, ...] = get_args(PartName)
"""Parts of a block in the order of the computation."""

SOFTMAX_OPERATIONS = 5
"""Operations on a score: find the largest, subtract it, exponential, add up, divide; one each, whatever they take."""


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
    multiply_adds = 2 * _pairs(seq_len, causal) * d_model * batch
    return AttentionCost(2 * multiply_adds, multiply_adds, batch * n_heads * seq_len**2 * bytes_per_number)


def _pairs(seq_len: int, causal: bool) -> int:
    return seq_len * (seq_len + 1) // 2 if causal else seq_len**2


@dataclass(frozen=True, slots=True)
class PartCost:
    """Work and memory of one part of a block; exact integers."""

    name: PartName
    flops: int
    """Operations that the plain formula computes; a multiply-add counts as two."""
    multiply_adds: int
    """Half of it; 0 for the softmax, which has none."""
    needed_flops: int
    """Operations on pairs that the mask lets through; all of them where there is no mask."""
    result_bytes: int
    """Memory of what the part produces."""

    @property
    def quadratic(self) -> bool:
        """Whether it grows with the square of the sentence; the others grow with the sentence."""
        return self.name in ("q kᵀ", "softmax", "weights · V")


@dataclass(frozen=True, slots=True)
class BlockCost:
    """Work and memory of one block, part by part."""

    parts: tuple[PartCost, ...]

    @property
    def rows(self) -> "tuple[PartCost | BlockCost, ...]":
        """The parts, and the block as the last row: their sum."""
        return (*self.parts, self)

    @property
    def flops(self) -> int:
        """Sum over the parts."""
        return sum(part.flops for part in self.parts)

    @property
    def multiply_adds(self) -> int:
        """Sum over the parts."""
        return sum(part.multiply_adds for part in self.parts)

    @property
    def needed_flops(self) -> int:
        """Sum over the parts."""
        return sum(part.needed_flops for part in self.parts)

    @property
    def result_bytes(self) -> int:
        """Sum over the parts: what training keeps for its way back, and what is there at once if nothing is freed."""
        return sum(part.result_bytes for part in self.parts)

    def part(self, name: PartName) -> PartCost:
        """One part.

        Parameters
        ----------
        name : str
            One of `PART_NAMES`.

        Returns
        -------
        PartCost
            Its row.
        """
        return self.parts[PART_NAMES.index(name)]


def block_cost(
    seq_len: int,
    d_model: int,
    n_heads: int,
    d_ff: int,
    batch: int = 1,
    bytes_per_number: int = 4,
    causal: bool = False,
) -> BlockCost:
    """Work and memory of one encoder block, forward, part by part.

    Parameters
    ----------
    seq_len, d_model, n_heads, batch, bytes_per_number
        As in `attention_cost`.
    d_ff : int
        Inner width of the feed-forward part.
    causal : bool
        Whether a causal mask leaves only n (n + 1) / 2 pairs *needed*; what the plain formula computes stays n².

    Returns
    -------
    BlockCost
        Exact integers; nothing of that size is allocated.

    Raises
    ------
    ValueError
        As `attention_cost`, or d_ff is below 1.

    Notes
    -----
    With n tokens and d = d_model: Q, K, V 6 n d²; q kᵀ 2 n² d; weights · V 2 n² d; W_o 2 n d²; feed-forward
    4 n d d_ff. A multiply-add is two operations, as in ``torch.utils.flop_counter.FlopCounterMode``, which counts
    matrix products only. The softmax is counted apart, by `SOFTMAX_OPERATIONS` a score. Biases, the division by √d,
    layer norms, GELU and the residual sums are left out: but for the division they grow with n d, and all are small
    beside the products. Training takes about three times as much: two more products on the way back for each one.

    Memory is that of the results: Q, K and V together, all scores, all weights, the mixed values, W_o's output, and
    both layers of the feed-forward part.

    Examples
    --------
    >>> cost = block_cost(512, 768, 12, 3072)
    >>> cost.flops - cost.part("softmax").flops
    8053063680
    >>> cost.part("q kᵀ").flops + cost.part("weights · V").flops
    805306368
    """
    pairs = attention_cost(seq_len, d_model, n_heads, batch, bytes_per_number)
    needed = attention_cost(seq_len, d_model, n_heads, batch, bytes_per_number, causal)
    if d_ff < 1:
        raise ValueError(f"d_ff must be at least 1; got {d_ff}")
    rows = batch * seq_len
    width = rows * d_model * bytes_per_number
    bends = SOFTMAX_OPERATIONS * batch * n_heads

    def dense(name: PartName, multiply_adds: int, result_bytes: int) -> PartCost:
        return PartCost(name, 2 * multiply_adds, multiply_adds, 2 * multiply_adds, result_bytes)

    def product(name: PartName, result_bytes: int) -> PartCost:
        return PartCost(name, pairs.flops // 2, pairs.multiply_adds // 2, needed.flops // 2, result_bytes)

    softmax_flops, softmax_needed = (bends * _pairs(seq_len, only) for only in (False, causal))
    return BlockCost(
        (
            dense("Q, K, V", 3 * rows * d_model**2, 3 * width),
            product("q kᵀ", pairs.weight_bytes),
            PartCost("softmax", softmax_flops, 0, softmax_needed, pairs.weight_bytes),
            product("weights · V", width),
            dense("W_o", rows * d_model**2, width),
            dense("feed-forward", 2 * rows * d_model * d_ff, rows * (d_ff + d_model) * bytes_per_number),
        )
    )


@dataclass(frozen=True, slots=True)
class Crossovers:
    """Shortest sentences at which the two products of all pairs cost at least as much as something else."""

    projections: int
    """As Q, K, V and W_o together."""
    block: int
    """As everything else in the block: those and the feed-forward part."""


def crossovers(d_model: int, d_ff: int, causal: bool = False) -> Crossovers:
    """Where the square overtakes: q kᵀ and weights · V against what grows with n.

    Parameters
    ----------
    d_model, d_ff : int
        Widths.
    causal : bool
        Whether only the pairs that a causal mask lets through are counted.

    Returns
    -------
    Crossovers
        In tokens. Heads, batch and bytes do not matter; the softmax is left out on both sides.

    Raises
    ------
    ValueError
        A width is below 1.

    Notes
    -----
    4 n² d = 8 n d² at n = 2 d, and 4 n² d = 8 n d² + 4 n d d_ff at n = 2 d + d_ff: 6 d where d_ff = 4 d. With a causal
    mask 2 n (n + 1) d takes the place of 4 n² d, so that n is twice as large, less 1.

    Examples
    --------
    >>> crossovers(768, 3072)
    Crossovers(projections=1536, block=4608)
    """
    if min(d_model, d_ff) < 1:
        raise ValueError(f"d_model and d_ff must be at least 1; got {d_model} and {d_ff}")
    places = (2 * d_model, 2 * d_model + d_ff)
    return Crossovers(*(2 * place - 1 if causal else place for place in places))


_SI, _BINARY = ("", "k", "M", "G", "T", "P", "E", "Z"), ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi")


def human(amount: int, unit: str, base: Literal[1000, 1024] = 1000) -> str:
    """A large whole number in a unit of its size, with three digits.

    Parameters
    ----------
    amount : int
        0 or more.
    unit : str
        Of one: "FLOP", "B".
    base : 1000 or 1024
        Decimal prefixes (k, M, G) or binary ones (Ki, Mi, Gi).

    Returns
    -------
    str
        Exact below 1,000 (1,024), else rounded.

    Examples
    --------
    >>> human(805306368, "FLOP"), human(50331648, "B", 1024), human(999999, "FLOP")
    ('805 MFLOP', '48.0 MiB', '1.00 MFLOP')
    """
    prefixes = _SI if base == 1000 else _BINARY
    size, power = float(amount), 0
    # 999.5 would be written as 1000 of a unit that ends there.
    while size >= (base if power == 0 else 999.5 if base == 1000 else 1023.5) and power < len(prefixes) - 1:
        size, power = size / base, power + 1
    if power == 0:
        return f"{amount} {unit}"
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{size:,.{digits}f} {prefixes[power]}{unit}"


def powers_of_two(first: int, last: int) -> tuple[int, ...]:
    """Sizes that double from step to step.

    Parameters
    ----------
    first, last : int
        The last one is left out where it is not reached.

    Returns
    -------
    tuple of int
        first, 2 · first, … up to last.

    Examples
    --------
    >>> powers_of_two(64, 512)
    (64, 128, 256, 512)
    """
    sizes = []
    while first <= last:
        sizes.append(first)
        first *= 2
    return tuple(sizes)
