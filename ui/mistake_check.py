"""What PyTorch makes of each mistake and of its fix; PyTorch is imported when it is asked, not before."""

import numpy as np

from core.agreement import Agreement, compare
from core.common_mistakes import Comparison, Mistake, batch_of
from core.examples import Example
from core.missing_key import weights_by_rule
from core.order import default_order
from core.positions import sinusoidal_encoding

COMPARED: dict[Mistake, str] = {
    "no scale": "torch.softmax of these scores",
    "no causal mask": "torch.softmax of these scores, masked or not",
    "no positions": "scaled_dot_product_attention on both orders",
    "batch first": "nn.MultiheadAttention, as it comes where the mistake is made",
    "transposed weights": "torch.softmax of the scores that these q and k give",
    "inverted mask": "torch.softmax, and nn.MultiheadAttention given the mask unturned; a row without keys counts as 0",
    "softmax axis": "torch.softmax along this axis",
    "no allowed key": "scaled_dot_product_attention (zeros), torch.softmax and nn.MultiheadAttention (not a number)",
    "split heads": "torch.softmax of the scores of this split",
}
"""What is compared, for each mistake that PyTorch can make; a cost it cannot guess."""


def agreement(
    mistake: Mistake,
    made: bool,
    found: Comparison,
    words: tuple[str, ...],
    example: Example,
    head: int,
    query: int,
) -> Agreement:
    """Compare what runs with PyTorch.

    Parameters
    ----------
    mistake : str
        One of `COMPARED`.
    made : bool
        Whether what runs has the mistake.
    found : Comparison
        From `core.common_mistakes.make`, with the same settings.
    words : tuple of str
        The sentence.
    example : Example
        Its embeddings and projections.
    head, query : int
        What is looked at.

    Returns
    -------
    Agreement
        For weights, or for what else is shown.
    """
    from core import torch_reference

    side = found.wrong if made else found.right
    heads, mix = (example.w_q, example.w_k, example.w_v), np.eye(example.x.shape[-1])
    if mistake == "batch first":
        if made:
            theirs = torch_reference.batch_as_tokens(batch_of(example.x), *heads)["weights"][query]
        else:
            theirs = torch_reference.multi_head(example.x, *heads, mix)["weights"]
        return compare({"weights": side.values}, {"weights": theirs[head]})
    if mistake == "no positions":
        order = list(default_order(words) or range(len(words)))
        added = 0.0 if made else sinusoidal_encoding(*example.x.shape)
        straight, shuffled = (
            torch_reference.attention(*(rows @ w[head] for w in heads))["output"]
            for rows in (example.x + added, example.x[order] + added)
        )
        # Both sides are differences of numbers of the outputs' size, which decides how far they round.
        return compare(
            {"difference": side.values, "output": straight},
            {"difference": shuffled - straight[order], "output": straight},
        )
    assert side.qkv is not None
    q, k, v = side.qkv
    if mistake == "no allowed key":
        allowed = found.right.may_attend
        assert allowed is not None
        lost = np.isnan(weights_by_rule(np.zeros(allowed.shape), allowed, "plain softmax"))
        fused = torch_reference.attention(q, k, v, allowed)
        module = torch_reference.cross_attention(example.x, example.x, *heads, mix, allowed)["weights"][head]
        ours = {"output": found.right.values @ v, "NaN of the softmax": lost, "NaN of the module": lost}
        nan = {"NaN of the softmax": np.isnan(fused["weights"]), "NaN of the module": np.isnan(module)}
        return compare(ours, {"output": fused["output"]} | nan)
    own = {"weights": found.weights[0 if made else 1]}
    if mistake == "softmax axis" and made:
        # A softmax over the queries is one over the keys of the transposed scores.
        turned = None if side.may_attend is None else side.may_attend.T
        return compare(own, {"weights": torch_reference.attention(k, q, q, turned)["weights"].T})
    theirs = torch_reference.attention(q, k, v, side.may_attend, side.scale)["weights"]
    if mistake == "inverted mask":
        assert side.may_attend is not None
        # Turned on the way, because the module blocks where a mask is True: it reads the mask that we did not turn.
        module = torch_reference.cross_attention(example.x, example.x, *heads, mix, side.may_attend)["weights"][head]
        own["of the module"] = own["weights"]
        return compare(own, {"weights": np.nan_to_num(theirs), "of the module": np.nan_to_num(module)})
    return compare(own, {"weights": theirs})
