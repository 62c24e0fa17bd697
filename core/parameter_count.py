"""How many numbers an encoder block learns, tensor by tensor, and the totals that papers publish."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

Part = Literal["attention", "feed-forward", "layer norm"]
PARTS: tuple[Part, ...] = get_args(Part)
Biases = Literal["all", "no attention biases", "no linear biases", "none"]
BIASES: tuple[Biases, ...] = get_args(Biases)


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One learned tensor of a block."""

    name: str
    shape: tuple[int, ...]
    count: int
    part: Part
    torch_name: str
    """Where PyTorch's ``nn.TransformerEncoderLayer`` keeps it; q, k and v share one tensor there."""


@dataclass(frozen=True, slots=True)
class ParameterTable:
    """All learned tensors of one block."""

    rows: tuple[ParameterRow, ...]

    @property
    def total(self) -> int:
        """Sum of all counts."""
        return sum(row.count for row in self.rows)

    def part_total(self, part: Part) -> int:
        """Sum of the counts of one part."""
        return sum(row.count for row in self.rows if row.part == part)


def encoder_block_parameters(
    d_model: int, n_heads: int, d_ff: int, bias: bool = True, *, biases: Biases | None = None
) -> ParameterTable:
    """Every learned tensor of one encoder block with its shape and count.

    Parameters
    ----------
    d_model, n_heads, d_ff : int
        Width, number of heads (a divisor of the width), width of the feed-forward part.
    bias : bool
        False leaves out all biases and the shifts of both norms, as PyTorch's ``bias=False`` does.
    biases : "all", "no attention biases", "no linear biases", "none" or None
        The finer choice that published totals differ in; None follows `bias`. "no linear biases" keeps the shifts
        of the norms.

    Returns
    -------
    ParameterTable
        Rows in the order of the computation, and their total.

    Raises
    ------
    ValueError
        A size is below 1, d_model is not a multiple of n_heads, or the choice of biases has another name.

    Notes
    -----
    With all biases 4 d² + 4 d (attention) + 2 d d_ff + d_ff + d (feed-forward) + 4 d (two norms), d = d_model. The
    number of heads is not in it: each head works in d / n_heads columns, and n_heads · d · d / n_heads = d².

    Examples
    --------
    >>> encoder_block_parameters(32, 4, 64).total
    8544
    >>> encoder_block_parameters(512, 8, 2048).total, encoder_block_parameters(512, 64, 2048).total
    (3152384, 3152384)
    """
    if min(d_model, n_heads, d_ff) < 1:
        raise ValueError(f"d_model, n_heads and d_ff must be at least 1; got {d_model}, {n_heads} and {d_ff}")
    if d_model % n_heads:
        raise ValueError(f"d_model must be a multiple of n_heads; got {d_model} and {n_heads}")
    choice: Biases = biases if biases is not None else "all" if bias else "none"
    if choice not in BIASES:
        raise ValueError(f"biases must be one of {BIASES}; got {choice!r}")
    attention_bias = choice == "all"
    linear_bias = choice in ("all", "no attention biases")
    shift = choice != "none"
    rows = [
        *(
            row
            for part, name in (("q", "in_proj"), ("k", "in_proj"), ("v", "in_proj"), ("o", "out_proj"))
            for row in _dense(part, (d_model, d_model), attention_bias, "attention", f"self_attn.{name}")
        ),
        *_dense("1", (d_model, d_ff), linear_bias, "feed-forward", "linear1"),
        *_dense("2", (d_ff, d_model), linear_bias, "feed-forward", "linear2"),
        *_norm(1, d_model, shift),
        *_norm(2, d_model, shift),
    ]
    return ParameterTable(tuple(rows))


def _row(name: str, shape: tuple[int, ...], part: Part, torch_name: str) -> ParameterRow:
    return ParameterRow(name, shape, math.prod(shape), part, torch_name)


def _dense(name: str, shape: tuple[int, int], bias: bool, part: Part, torch_name: str) -> list[ParameterRow]:
    # In PyTorch in_proj_weight has an underscore, being no module of its own, and out_proj.weight a dot.
    joint = "_" if torch_name.endswith("in_proj") else "."
    rows = [_row(f"w_{name}", shape, part, f"{torch_name}{joint}weight")]
    return [*rows, _row(f"b_{name}", shape[1:], part, f"{torch_name}{joint}bias")] if bias else rows


def _norm(number: int, d_model: int, shift: bool) -> list[ParameterRow]:
    rows = [_row(f"norm_{number}_gain", (d_model,), "layer norm", f"norm{number}.weight")]
    if shift:
        rows.append(_row(f"norm_{number}_shift", (d_model,), "layer norm", f"norm{number}.bias"))
    return rows


@dataclass(frozen=True, slots=True)
class Preset:
    """A model whose sizes and totals have been published."""

    name: str
    d_model: int
    n_heads: int
    d_ff: int
    n_layers: int
    published_block: int
    """Parameters of one block, all biases and both norms included."""
    rest: tuple[tuple[str, int], ...] = ()
    """What the published total of the whole model holds besides the blocks; empty where none is quoted."""
    published_total: int | None = None
    """Whole model, the blocks and the rest."""
    source: str = ""


PRESETS = (
    Preset("Lesson block", 32, 4, 64, 1, 8_544, source="the lesson's nn.TransformerEncoderLayer(32, 4, 64)"),
    Preset(
        "Transformer base",
        512,
        8,
        2048,
        6,
        3_152_384,
        source="Vaswani et al. 2017, table 3; one of the six encoder layers",
    ),
    Preset(
        "Transformer big",
        1024,
        16,
        4096,
        6,
        12_596_224,
        source="Vaswani et al. 2017, table 3; one of the six encoder layers",
    ),
    Preset(
        "BERT base",
        768,
        12,
        3072,
        12,
        7_087_872,
        rest=(
            ("word embeddings, 30,522 × 768", 30_522 * 768),
            ("position embeddings, 512 × 768", 512 * 768),
            ("segment embeddings, 2 × 768", 2 * 768),
            ("norm after the embeddings", 2 * 768),
            ("pooler, 768 × 768 and its bias", 768 * 768 + 768),
        ),
        published_total=109_482_240,
        source="Devlin et al. 2019, section 3 (110 million)",
    ),
    Preset(
        "GPT-2 small",
        768,
        12,
        3072,
        12,
        7_087_872,
        rest=(
            ("word embeddings, 50,257 × 768 (also the output matrix)", 50_257 * 768),
            ("position embeddings, 1,024 × 768", 1024 * 768),
            ("norm after the last block", 2 * 768),
        ),
        published_total=124_439_808,
        source="Radford et al. 2019, table 2; a decoder block holds the same tensors, only its mask differs",
    ),
)
"""From the lesson's block to models that people know."""
