"""Functions of core, PyTorch's twins of them and the obvious loops, on the same numbers, ready to be called.

What a twin needs to be built (modules, tensors) is built here and not timed, except where a case says so.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from core import backward, scaling, torch_reference
from core.attention import attend
from core.attention_jacobian import ask_last, last_output_influence, last_output_jacobian
from core.cross_attention import cross_attention
from core.decoding import run_once
from core.encoder_block import encoder_block
from core.examples import draw_block, draw_decoder, draw_example, draw_recurrence, draw_stack
from core.feed_forward import activate, gelu
from core.layer_norm import layer_norm
from core.masks import causal_mask
from core.multi_head import multi_head_attention
from core.positions import rotate, sinusoidal_encoding
from core.recurrence import last_state_jacobians, recurrent_states
from core.softmax import entropy, jacobian_norm, softmax
from core.stack import run_stack
from tests import loops

Call = Callable[[], Any]


@dataclass(frozen=True)
class Sizes:
    """Of one case: d_model is n_heads times d."""

    n: int
    n_heads: int
    d: int

    @property
    def d_model(self) -> int:
        """Width of all heads together."""
        return self.n_heads * self.d


@dataclass(frozen=True)
class Twins:
    """Three ways to the same arrays; each gives an array or several."""

    ours: Call
    torch: Call
    loop: Call | None = None
    fused: Call | None = None
    """PyTorch's fused function, where there is one beside the formula."""


def _words(n: int) -> tuple[str, ...]:
    return tuple(f"word{number}" for number in range(n))


def _normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def _without_gradients(call: Call) -> Call:
    def run() -> Any:
        with torch.inference_mode():
            return call()

    return run


def _of_autograd(output: torch.Tensor, inputs: list[torch.Tensor], gradient: torch.Tensor) -> Call:
    """The way back alone: the graph is there and stays."""
    return lambda: torch.autograd.grad(output, inputs, gradient, retain_graph=True)


def _asked(*arrays: np.ndarray) -> list[torch.Tensor]:
    return [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]


def plain_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, additive: torch.Tensor | None = None
) -> torch.Tensor:
    """The formula as it is written, with a mask of 0 and minus infinity that is added to the scores."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return torch.softmax(scores if additive is None else scores + additive, dim=-1) @ v


def _attention(s: Sizes, masked: bool) -> Twins:
    q, k, v = (_normal(s.n_heads, s.n, s.d, seed=seed) for seed in range(3))
    mask = causal_mask(s.n)
    t_q, t_k, t_v = map(torch.from_numpy, (q, k, v))
    additive = torch.from_numpy(np.where(mask, 0.0, -np.inf)) if masked else None
    allowed = mask if masked else np.ones_like(mask)
    return Twins(
        lambda: attend(q, k, v, mask if masked else None).output,
        _without_gradients(lambda: plain_attention(t_q, t_k, t_v, additive)),
        lambda: loops.heads_by_loops(q, k, v, allowed),
        _without_gradients(lambda: functional.scaled_dot_product_attention(t_q, t_k, t_v, is_causal=masked)),
    )


def _softmax(s: Sizes) -> Twins:
    scores = _normal(s.n_heads, s.n, s.n)
    tensor = torch.from_numpy(scores)
    return Twins(
        lambda: softmax(scores),
        _without_gradients(lambda: torch.softmax(tensor, dim=-1)),
        lambda: loops.softmax_by_loops(scores),
    )


def _entropy(s: Sizes) -> Twins:
    weights = softmax(_normal(s.n_heads, s.n, s.n))
    tensor = torch.from_numpy(weights)
    return Twins(
        lambda: entropy(weights),
        _without_gradients(lambda: torch.special.entr(tensor).sum(dim=-1)),
        lambda: loops.entropy_by_loops(weights),
    )


def _jacobian_norm(s: Sizes) -> Twins:
    scores = _normal(s.n, min(s.n, 64))  # PyTorch makes each row's whole Jacobian
    weights, (tensor,) = softmax(scores), _asked(scores)
    shares = torch.softmax(tensor, dim=-1)

    def by_torch() -> torch.Tensor:
        # No row depends on another one, so the sum over the rows serves all of them at once.
        of_each = [torch.autograd.grad(column.sum(), tensor, retain_graph=True)[0] for column in shares.unbind(-1)]
        return torch.linalg.matrix_norm(torch.stack(of_each, dim=1))

    return Twins(lambda: jacobian_norm(weights), by_torch, lambda: loops.jacobian_norm_by_loops(weights))


def _multi_head(s: Sizes) -> Twins:
    return _cross(s, of_itself=True)


def _cross(s: Sizes, of_itself: bool = False) -> Twins:
    x = _normal(s.n, s.d_model)
    source = x if of_itself else _normal(s.n + 2, s.d_model, seed=1)
    w_q, w_k, w_v = (_normal(s.n_heads, s.d_model, s.d, seed=seed) / math.sqrt(s.d_model) for seed in range(3))
    w_o = _normal(s.d_model, s.d_model) / math.sqrt(s.d_model)
    layer = torch_reference._attention_layer(w_q, w_k, w_v, w_o, batch_first=True)
    asking, looked_at = (torch.from_numpy(rows)[None] for rows in (x, source))
    return Twins(
        (lambda: multi_head_attention(x, w_q, w_k, w_v, w_o).output)
        if of_itself
        else (lambda: cross_attention(x, source, w_q, w_k, w_v, w_o).output),
        _without_gradients(lambda: layer(asking, looked_at, looked_at, average_attn_weights=False)[0][0]),
        lambda: loops.cross_attention_by_loops(x, source, w_q, w_k, w_v, w_o),
    )


def _layer_norm(s: Sizes) -> Twins:
    x, gain, shift = _normal(s.n, s.d_model), _normal(s.d_model), _normal(s.d_model, seed=1)
    t_x, t_gain, t_shift = map(torch.from_numpy, (x, gain, shift))
    return Twins(
        lambda: layer_norm(x, gain, shift),
        _without_gradients(lambda: functional.layer_norm(t_x, (s.d_model,), t_gain, t_shift)),
        lambda: loops.layer_norm_by_loops(x, gain, shift),
    )


def _gelu(s: Sizes) -> Twins:
    x = _normal(s.n, 4 * s.d_model)
    tensor = torch.from_numpy(x)
    return Twins(lambda: gelu(x), _without_gradients(lambda: functional.gelu(tensor)), lambda: loops.gelu_by_loops(x))


def _feed_forward(s: Sizes) -> Twins:
    x, p = draw_block(_words(s.n), s.d, s.n_heads, 4 * s.d_model)
    if p.b_1 is None or p.b_2 is None:
        raise ValueError("the block of draw_block has biases")
    w_1, b_1, w_2, b_2 = p.w_1, p.b_1, p.w_2, p.b_2
    t_x, t_1, t_b_1, t_2, t_b_2 = (torch.from_numpy(np.array(array)) for array in (x, w_1.T, b_1, w_2.T, b_2))

    def by_torch() -> torch.Tensor:
        return functional.linear(functional.gelu(functional.linear(t_x, t_1, t_b_1)), t_2, t_b_2)

    return Twins(
        lambda: activate(x @ w_1 + b_1, "gelu") @ w_2 + b_2,
        _without_gradients(by_torch),
        lambda: loops.feed_forward_by_loops(x, w_1, b_1, w_2, b_2),
    )


def _encoder_block(s: Sizes) -> Twins:
    x, parameters = draw_block(_words(s.n), s.d, s.n_heads, 4 * s.d_model)
    layer, rows = torch_reference.encoder_layer(parameters, s.n_heads), torch.from_numpy(x)[None]
    return Twins(lambda: encoder_block(x, parameters, s.n_heads).output, _without_gradients(lambda: layer(rows)[0]))


def _stack(s: Sizes) -> Twins:
    x, layers, reading = draw_stack(_words(s.n), s.d_model, 4 * s.d_model, 4)
    return Twins(
        lambda: run_stack(x, layers, s.n_heads, reading).stream_gradients,
        lambda: torch_reference.stack(x, layers, s.n_heads, reading).stream_gradients,
    )


def _decoder(s: Sizes) -> Twins:
    decoder = draw_decoder(_words(s.n), s.d, s.n_heads, 2)
    tokens = list(range(s.n))
    rows = torch.from_numpy(decoder.embeddings + sinusoidal_encoding(s.n, s.d_model))[None]
    layers = [torch_reference.encoder_layer(layer.block, s.n_heads) for layer in decoder.layers]
    blocked = torch.ones(s.n, s.n, dtype=torch.bool).triu(1)

    def by_torch() -> torch.Tensor:
        stream = rows
        for layer in layers:
            stream = layer(stream, src_mask=blocked)
        return stream[0]

    return Twins(lambda: run_once(decoder, tokens)[-1].output, _without_gradients(by_torch))


def _rotate(s: Sizes) -> Twins:
    x = _normal(s.n_heads, s.n, s.d)
    tensor = torch.from_numpy(x)

    def by_torch() -> torch.Tensor:
        angles = torch.arange(s.n)[:, None] * 10000.0 ** (-torch.arange(0, s.d - 1, 2, dtype=torch.float64) / s.d)
        paired = s.d // 2 * 2
        first, second = tensor[..., 0:paired:2], tensor[..., 1:paired:2]
        cosine, sine = angles.cos(), angles.sin()
        turned = torch.stack([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
        return torch.cat([turned.flatten(-2), tensor[..., paired:]], dim=-1)

    return Twins(lambda: rotate(x), _without_gradients(by_torch), lambda: loops.rotate_by_loops(x))


def _sinusoidal(s: Sizes) -> Twins:
    n, width = s.n, s.d_model

    def by_torch() -> torch.Tensor:
        angles = torch.arange(n)[:, None] * 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :width]

    return Twins(
        lambda: sinusoidal_encoding(n, width),
        _without_gradients(by_torch),
        lambda: loops.sinusoidal_encoding_by_loops(n, width),
    )


def _softmax_backward(s: Sizes) -> Twins:
    scores, gradient = _normal(s.n_heads, s.n, s.n), _normal(s.n_heads, s.n, s.n, seed=1)
    weights, (tensor,) = softmax(scores), _asked(scores)
    by_torch = _of_autograd(torch.softmax(tensor, dim=-1), [tensor], torch.from_numpy(gradient))
    return Twins(
        lambda: backward.softmax_backward(weights, gradient),
        lambda: by_torch()[0],
        lambda: loops.softmax_backward_by_loops(weights, gradient),
    )


def _attention_backward(s: Sizes) -> Twins:
    q, k, v, gradient = (_normal(s.n_heads, s.n, s.d, seed=seed) for seed in range(4))
    weights, inputs = attend(q, k, v).weights, _asked(q, k, v)
    return Twins(
        lambda: backward.attention_backward(q, k, v, weights, gradient),
        _of_autograd(plain_attention(*inputs), inputs, torch.from_numpy(gradient)),
    )


def _layer_norm_backward(s: Sizes) -> Twins:
    x, gradient, gain = _normal(s.n, s.d_model), _normal(s.n, s.d_model, seed=1), _normal(s.d_model)
    (tensor,) = _asked(x)
    output = functional.layer_norm(tensor, (s.d_model,), torch.from_numpy(gain))
    by_torch = _of_autograd(output, [tensor], torch.from_numpy(gradient))
    return Twins(lambda: backward.layer_norm_backward(x, gradient, gain), lambda: by_torch()[0])


def _dense_backward(s: Sizes) -> Twins:
    x, w = _normal(s.n, s.d_model), _normal(s.d_model, 4 * s.d_model)
    gradient, inputs = _normal(s.n, 4 * s.d_model, seed=1), _asked(x, w)
    return Twins(
        lambda: backward.dense_backward(x, w, gradient),
        _of_autograd(inputs[0] @ inputs[1], inputs, torch.from_numpy(gradient)),
    )


def _bend_slope(s: Sizes) -> Twins:
    x = _normal(s.n, 4 * s.d_model)
    (tensor,) = _asked(x)
    by_torch = _of_autograd(functional.gelu(tensor), [tensor], torch.ones_like(tensor))
    return Twins(lambda: backward.bend_slope(x), lambda: by_torch()[0])


def _recurrence(s: Sizes) -> Twins:
    x, p = draw_example(_words(s.n), s.d, s.n_heads).x, draw_recurrence(s.d_model, 0.9)
    layer = torch_reference._recurrent_layer(p)
    rows = torch.from_numpy(x)[None]
    return Twins(
        lambda: recurrent_states(x, p),
        _without_gradients(lambda: layer(rows)[0][0]),
        lambda: loops.recurrent_states_by_loops(x, p.w_x, p.w_h, p.b),
    )


def _recurrent_jacobians(s: Sizes) -> Twins:
    x, p = draw_example(_words(s.n), s.d, s.n_heads).x, draw_recurrence(s.d_model, 0.9)
    features = tuple(range(min(s.d_model, 8)))
    states, layer, rows = recurrent_states(x, p), torch_reference._recurrent_layer(p), torch.from_numpy(x)
    rows = rows.clone().requires_grad_()
    last = layer(rows[None])[0][0, -1]
    return Twins(
        lambda: last_state_jacobians(states, p, features),
        lambda: torch_reference._by_every_row(last, rows, features),
    )


def _attention_jacobians(s: Sizes) -> Twins:
    example = draw_example(_words(s.n), s.d, s.n_heads)
    w = example.w_q / math.sqrt(s.d_model), example.w_k / math.sqrt(s.d_model), example.w_v
    features = tuple(range(min(s.d_model, 8)))
    asked, (rows,) = ask_last(example.x, *w), _asked(example.x)
    layer = torch_reference._attention_layer(*w, np.eye(s.d_model), batch_first=True)
    last = layer(rows[None], rows[None], rows[None], need_weights=False)[0][0, -1]

    def sizes_by_torch() -> np.ndarray:
        jacobians = torch_reference._by_every_row(last, rows, features)
        return np.asarray(np.linalg.norm(jacobians, axis=(1, 2)) / math.sqrt(len(features)))

    def sizes_by_loop() -> np.ndarray:
        one_by_one = [last_output_jacobian(asked, position, features) for position in range(s.n)]
        return np.array([np.linalg.norm(one) / math.sqrt(len(features)) for one in one_by_one])

    return Twins(lambda: last_output_influence(asked, features), sizes_by_torch, sizes_by_loop)


CASES: dict[str, Callable[[Sizes], Twins]] = {
    "attention": lambda sizes: _attention(sizes, masked=False),
    "attention, causal": lambda sizes: _attention(sizes, masked=True),
    "softmax": _softmax,
    "entropy": _entropy,
    "multi-head attention": _multi_head,
    "cross-attention": _cross,
    "layer norm": _layer_norm,
    "GELU": _gelu,
    "feed-forward part": _feed_forward,
    "encoder block": _encoder_block,
    "stack of 4 blocks, there and back": _stack,
    "decoder of 2 blocks, whole text": _decoder,
    "rotation of queries or keys": _rotate,
    "sinusoidal encoding": _sinusoidal,
    "norm of the softmax's Jacobian": _jacobian_norm,
    "back through softmax": _softmax_backward,
    "back through attention": _attention_backward,
    "back through layer norm": _layer_norm_backward,
    "back through a dense layer": _dense_backward,
    "slope of GELU": _bend_slope,
    "recurrent states": _recurrence,
    "last state by every word": _recurrent_jacobians,
    "last output by every word": _attention_jacobians,
}


@dataclass(frozen=True)
class Sweep:
    """One d of the page's sweep: what `core.scaling.sweep` does, from draws of the side's own generator."""

    d: int
    n_keys: int = 5
    n_draws: int = 200

    def ours(self) -> scaling.SweepRow:
        """As the page calls it."""
        return scaling.sweep((self.d,), self.n_keys, self.n_draws)[0]

    def torch(self) -> tuple[torch.Tensor, ...]:
        """With PyTorch's generator."""
        with torch.inference_mode():
            vectors = torch.randn(self.n_draws, self.n_keys + 1, self.d, dtype=torch.float64)
            return sweep_by_torch(vectors)

    def loop(self) -> np.ndarray:
        """Draw by draw and key by key, the scores alone."""
        return loops.scores_by_loops(_normal(self.n_draws, self.n_keys + 1, self.d))


def sweep_by_torch(vectors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Mean and quantiles of all that a row of the sweep holds, unscaled and scaled, from given draws."""
    raw = (vectors[:, 1:] @ vectors[:, :1].mT)[..., 0]
    found = [raw.std(correction=0)]
    bounds = torch.tensor(scaling.BAND, dtype=torch.float64)
    for scores in (raw, raw / math.sqrt(vectors.shape[-1])):
        weights = torch.softmax(scores, dim=-1)
        others = 1.0 - torch.eye(weights.shape[-1], dtype=torch.float64)
        squares = (weights * (weights @ others)) ** 2 + weights**2 * (weights**2 @ others)
        for values in (
            scores.std(dim=-1, correction=0),
            weights.amax(dim=-1),
            torch.special.entr(weights).sum(dim=-1),
            squares.sum(dim=-1).sqrt(),
        ):
            found += [values.mean(), *torch.quantile(values, bounds)]
    return tuple(found)


def sides(case: str, sizes: Sizes) -> dict[str, Call]:
    """Every way of one case, by its name."""
    if case == "sweep":
        sweep = Sweep(sizes.d)
        return {"ours": sweep.ours, "torch": sweep.torch, "loop": sweep.loop}
    twins = CASES[case](sizes)
    ways = {"ours": twins.ours, "torch": twins.torch, "loop": twins.loop, "fused": twins.fused}
    return {name: way for name, way in ways.items() if way is not None}
