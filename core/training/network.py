"""The tiny model in PyTorch, for gradients; the same names, shapes and steps as `core.training.model`."""

from collections.abc import Mapping

import numpy as np
import torch
from torch.nn import functional

from core.softmax import Floats
from core.training.model import Design, Integers, Parameters

Tensors = Mapping[str, torch.Tensor]


def run(
    design: Design, parameters: Tensors, tokens: torch.Tensor
) -> tuple[list[torch.Tensor], list[torch.Tensor], torch.Tensor]:
    """Send sequences through a model, as `core.training.model.run` does.

    Parameters
    ----------
    design : Design
        The model.
    parameters : mapping of str to torch.Tensor
        As in `core.training.model.shapes`.
    tokens : torch.Tensor of int64 of shape (sequence, position)
        Numbers of words.

    Returns
    -------
    tuple of two lists of torch.Tensor and a torch.Tensor
        What each softmax reads, (sequence, query, key); its weights; the logits.
    """
    p, n = parameters, tokens.shape[-1]
    factor = design.d_head**-0.5 if design.scaled else 1.0
    blocked = torch.ones(n, n, dtype=torch.bool).triu(1) if design.causal else None
    words = p["embedding"][tokens]
    if design.positions:
        words = words + p["position_embedding"][:n]
    x, scores, weights = words, [], []
    size = (design.d_model,)
    for layer in range(design.n_layers):
        normed = functional.layer_norm(x, size, p[f"norm_1_gain_{layer}"], p[f"norm_1_shift_{layer}"])
        q, k, v = (normed @ p[f"{name}_{layer}"] for name in ("w_q", "w_k", "w_v"))
        scaled_scores = q @ k.mT * factor
        if blocked is not None:
            scaled_scores = scaled_scores.masked_fill(blocked, -torch.inf)
        scores.append(scaled_scores)
        weights.append(torch.softmax(scaled_scores, dim=-1))
        x = x + weights[-1] @ v @ p[f"w_o_{layer}"] + p[f"b_o_{layer}"]
        if design.d_ff:
            normed = functional.layer_norm(x, size, p[f"norm_2_gain_{layer}"], p[f"norm_2_shift_{layer}"])
            hidden = torch.relu(normed @ p[f"w_1_{layer}"] + p[f"b_1_{layer}"])
            x = x + hidden @ p[f"w_2_{layer}"] + p[f"b_2_{layer}"]
    normed = functional.layer_norm(x, size, p["norm_gain"], p["norm_shift"])
    if design.readout == "words":
        return scores, weights, normed @ p["readout"] + p["readout_bias"]
    keys = functional.layer_norm(words, size) @ p["pointer_k"]
    pointing = normed @ p["pointer_q"] @ keys.mT * design.d_head**-0.5
    return [*scores, pointing], [*weights, torch.softmax(pointing, dim=-1)], pointing


def forward(design: Design, parameters: Parameters, tokens: Integers, double: bool = False) -> dict[str, Floats]:
    """Attention and logits, to compare `core.training.model.run` with.

    Parameters
    ----------
    design, parameters
        As in `core.training.model.run`.
    tokens : ndarray of shape (sequence, position)
        Numbers of words.
    double : bool
        Whether in double precision; else in single precision, as it is trained.

    Returns
    -------
    dict of str to ndarray
        "weights 0", "weights 1", ... and "logits".
    """
    precision = np.float64 if double else np.float32
    tensors = {name: torch.tensor(np.asarray(array, dtype=precision)) for name, array in parameters.items()}
    with torch.no_grad():
        _, weights, logits = run(design, tensors, torch.from_numpy(np.asarray(tokens, dtype=np.int64)))
    return {f"weights {place}": array.numpy() for place, array in enumerate(weights)} | {"logits": logits.numpy()}
