"""The same parameters and results by PyTorch, in float64: the referee.

Besides training the only place that imports torch.

Three conventions differ from ours and are turned here, and only here: PyTorch's linear layers store the transpose;
``nn.MultiheadAttention`` reads True in a mask as *blocked*; and it averages the heads' weights unless told not to.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from core.decoder_block import DecoderLayer
from core.encoder_block import BlockParameters, NormPosition
from core.feed_forward import ActivationName
from core.masks import Booleans
from core.parameter_count import Biases
from core.recurrence import RecurrentParameters
from core.softmax import Floats
from core.stack import Parts, Stack
from core.stack import stack_curves as curves_of
from core.training import network
from core.training.model import Design, Integers, Parameters

# Small products gain nothing from more threads, and other readers' sessions need the cores.
torch.set_num_threads(1)


def _tensor(array: ArrayLike) -> torch.Tensor:
    return torch.from_numpy(np.array(array, dtype=np.float64))  # a copy: torch must not write into ours


def projection(x: ArrayLike, w: ArrayLike) -> Floats:
    """Rows through PyTorch's linear layer without bias.

    Parameters
    ----------
    x : array_like of shape (..., d_in)
        Rows to project.
    w : array_like of shape (d_in, d_out)
        Our orientation; turned here.

    Returns
    -------
    ndarray of shape (..., d_out)
        The same as x @ w.

    Examples
    --------
    >>> projection([[1, 0]], [[1, 2], [0, 1]]).tolist()
    [[1.0, 2.0]]
    """
    return functional.linear(_tensor(x), _tensor(w).mT).numpy()


def attention(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, may_attend: Booleans | None = None, scale: float | None = None
) -> dict[str, Floats]:
    """Scaled scores, weights and output of attention by PyTorch: its softmax, and its fused function.

    Parameters
    ----------
    q, k, v, may_attend, scale
        As in `core.attention.attend`.

    Returns
    -------
    dict of ndarray
        "scaled_scores", "weights" (a query without any key has NaN there: PyTorch's softmax says so) and "output".

    Examples
    --------
    >>> attention([[1.0]], [[1.0]], [[7.0]])["output"].tolist()
    [[7.0]]
    """
    tq, tk, tv = _tensor(q), _tensor(k), _tensor(v)
    mask = None if may_attend is None else torch.from_numpy(np.array(may_attend))
    factor = tq.shape[-1] ** -0.5 if scale is None else scale
    scaled = (tq @ tk.mT) * factor
    if mask is not None:
        scaled = scaled.masked_fill(~mask, -torch.inf)
    output = functional.scaled_dot_product_attention(tq, tk, tv, attn_mask=mask, scale=factor)
    weights = torch.softmax(scaled, dim=-1)
    return {"scaled_scores": scaled.numpy(), "weights": weights.numpy(), "output": output.numpy()}


def causal_output(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> Floats:
    """Output of PyTorch's fused function with its own causal flag.

    Parameters
    ----------
    q, k, v
        As in `core.attention.attend`.

    Returns
    -------
    ndarray of shape (..., query, d_value)
        The same as with ``causal_mask(n_query, n_key)``: top-left.

    Examples
    --------
    >>> causal_output([[1.0], [1.0]], [[1.0], [1.0]], [[2.0], [4.0]]).tolist()
    [[2.0], [3.0]]
    """
    return functional.scaled_dot_product_attention(_tensor(q), _tensor(k), _tensor(v), is_causal=True).numpy()


def multi_head(x: ArrayLike, w_q: ArrayLike, w_k: ArrayLike, w_v: ArrayLike, w_o: ArrayLike) -> dict[str, Floats]:
    """``nn.MultiheadAttention`` with our projections, head by head.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        One row a token.
    w_q, w_k, w_v : array_like of shape (head, d_model, d_head)
        Each head's projections.
    w_o : array_like of shape (d_model, d_model)
        Mixes the joined heads.

    Returns
    -------
    dict of str to ndarray
        weights (head, query, key) and output (position, d_model).

    Examples
    --------
    >>> w = np.ones((3, 6, 2))
    >>> multi_head(np.ones((5, 6)), w, w, w, np.eye(6))["weights"].shape
    (3, 5, 5)
    """
    return cross_attention(x, x, w_q, w_k, w_v, w_o)


def cross_attention(
    x: ArrayLike,
    source: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    w_o: ArrayLike,
    may_attend: Booleans | None = None,
) -> dict[str, Floats]:
    """``nn.MultiheadAttention`` of one sentence to another one with our projections, head by head.

    Parameters
    ----------
    x : array_like of shape (query, d_model)
        The sentence that asks.
    source : array_like of shape (key, d_model)
        The sentence that is looked at.
    w_q, w_k, w_v : array_like of shape (head, d_model, d_head)
        Each head's projections.
    w_o : array_like of shape (d_model, d_model)
        Mixes the joined heads.
    may_attend : ndarray of bool of shape (query, key), or None
        True where the query may attend; turned here, since the module reads True as blocked.

    Returns
    -------
    dict of str to ndarray
        weights (head, query, key) and output (query, d_model); NaN for a query without any key.

    Examples
    --------
    >>> w = np.ones((3, 6, 2))
    >>> cross_attention(np.ones((5, 6)), np.ones((7, 6)), w, w, w, np.eye(6))["weights"].shape
    (3, 5, 7)
    """
    asking, looked_at = _tensor(x)[None], _tensor(source)[None]
    layer = _attention_layer(w_q, w_k, w_v, w_o, batch_first=True)
    blocked = None if may_attend is None else torch.from_numpy(~may_attend)
    with torch.no_grad():
        output, weights = layer(
            asking, looked_at, looked_at, need_weights=True, attn_mask=blocked, average_attn_weights=False
        )
    return {"weights": weights[0].numpy(), "output": output[0].numpy()}


def batch_as_tokens(x: ArrayLike, w_q: ArrayLike, w_k: ArrayLike, w_v: ArrayLike) -> dict[str, Floats]:
    """``nn.MultiheadAttention`` as it comes, fed a batch with its sentences first, which it takes for tokens.

    Parameters
    ----------
    x : array_like of shape (sentence, position, d_model)
        The default module expects (tokens, batch, features).
    w_q, w_k, w_v : array_like of shape (head, d_model, d_head)
        Each head's projections.

    Returns
    -------
    dict of str to ndarray
        weights (position, head, sentence, sentence) and output (sentence, position, d_model), the heads side by side.

    Examples
    --------
    >>> w = np.ones((3, 6, 2))
    >>> batch_as_tokens(np.ones((2, 5, 6)), w, w, w)["weights"].shape
    (5, 3, 2, 2)
    """
    rows = _tensor(x)
    layer = _attention_layer(w_q, w_k, w_v, np.eye(rows.shape[-1]), batch_first=False)
    with torch.no_grad():
        output, weights = layer(rows, rows, rows, need_weights=True, average_attn_weights=False)
    return {"weights": weights.numpy(), "output": output.numpy()}


def _attention_layer(
    w_q: ArrayLike, w_k: ArrayLike, w_v: ArrayLike, w_o: ArrayLike, batch_first: bool
) -> nn.MultiheadAttention:
    """PyTorch's module with our projections, without biases, in evaluation mode."""
    stacked = [np.concatenate(list(np.asarray(w, dtype=np.float64)), axis=-1).T for w in (w_q, w_k, w_v)]
    n_heads, d_model = len(np.asarray(w_q)), stacked[0].shape[-1]
    layer = nn.MultiheadAttention(
        d_model, n_heads, bias=False, batch_first=batch_first, device="meta", dtype=torch.float64
    )
    state = {"in_proj_weight": np.concatenate(stacked), "out_proj.weight": np.asarray(w_o, dtype=np.float64).T}
    layer.load_state_dict({name: _tensor(array) for name, array in state.items()}, assign=True)
    return layer.eval()


def _by_every_row(last: torch.Tensor, rows: torch.Tensor, features: Sequence[int]) -> Floats:
    """Autograd's Jacobian of some features of one vector by all rows: (position, d_model, feature)."""
    gradients = [torch.autograd.grad(last[feature], rows, retain_graph=True)[0] for feature in features]
    return torch.stack(gradients, dim=-1).numpy()


def recurrent_jacobians(x: ArrayLike, parameters: RecurrentParameters, features: Sequence[int]) -> dict[str, Floats]:
    """``nn.RNN`` with our parameters: its states, and autograd's derivative of the last one by every word.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        One row a word, at least one.
    parameters : RecurrentParameters
        PyTorch has two biases that are added; the second is 0 here.
    features : sequence of int
        Features of the last state.

    Returns
    -------
    dict of str to ndarray
        states (position, d_state) and jacobians (position, d_model, feature).

    Examples
    --------
    >>> one = RecurrentParameters(np.full((1, 1), 3.0), np.full((1, 1), 0.5), np.zeros(1))
    >>> recurrent_jacobians([[0.0], [0.0]], one, (0,))["jacobians"].ravel().tolist()
    [1.5, 3.0]
    """
    rows = _tensor(x).requires_grad_()
    states = _recurrent_layer(parameters)(rows[None])[0][0]
    return {"states": states.detach().numpy(), "jacobians": _by_every_row(states[-1], rows, features)}


def _recurrent_layer(parameters: RecurrentParameters) -> nn.RNN:
    """PyTorch's module with our parameters."""
    d_model, d_state = parameters.w_x.shape
    layer = nn.RNN(d_model, d_state, batch_first=True, device="meta", dtype=torch.float64)
    state = {"weight_ih_l0": parameters.w_x.T, "weight_hh_l0": parameters.w_h.T}
    state |= {"bias_ih_l0": parameters.b, "bias_hh_l0": np.zeros(d_state)}
    layer.load_state_dict({name: _tensor(array) for name, array in state.items()}, assign=True)
    return layer


def attention_jacobians(
    x: ArrayLike, w_q: ArrayLike, w_k: ArrayLike, w_v: ArrayLike, features: Sequence[int]
) -> dict[str, Floats]:
    """``nn.MultiheadAttention`` without mixing: the last word's joined output, and autograd's derivative by every word.

    Parameters
    ----------
    x, w_q, w_k, w_v
        As in `multi_head`; W_o is the identity.
    features : sequence of int
        Features of the joined output.

    Returns
    -------
    dict of str to ndarray
        output (d_model,) and jacobians (position, d_model, feature).

    Examples
    --------
    >>> w = np.ones((1, 1, 1))
    >>> attention_jacobians([[0.0], [0.0]], w, w, 3 * w, (0,))["jacobians"].ravel().tolist()
    [1.5, 1.5]
    """
    rows = _tensor(x).requires_grad_()
    layer = _attention_layer(w_q, w_k, w_v, np.eye(rows.shape[1]), batch_first=True)
    last = layer(rows[None], rows[None], rows[None], need_weights=False)[0][0, -1]
    return {"output": last.detach().numpy(), "jacobians": _by_every_row(last, rows, features)}


def softmax_and_jacobian_norm(scores: ArrayLike) -> dict[str, Floats]:
    """PyTorch's softmax of each row, and the norm of the Jacobian that its autograd finds.

    Parameters
    ----------
    scores : array_like of shape (row, n)
        Finite numbers.

    Returns
    -------
    dict of ndarray
        "weights" of shape (row, n) and "jacobian_norm" of shape (row,).

    Examples
    --------
    >>> softmax_and_jacobian_norm([[0.0, 0.0]])["jacobian_norm"].round(3).tolist()
    [0.5]
    """
    rows = _tensor(scores).requires_grad_()
    weights = torch.softmax(rows, dim=-1)
    # A row's weights depend on no other row, so the slopes of all rows are found at once. torch.func.jacrev does it
    # too, and brings 800 modules, 66 MB that the server then keeps.
    slopes = [torch.autograd.grad(weight.sum(), rows, retain_graph=True)[0] for weight in weights.unbind(-1)]
    norms = torch.linalg.matrix_norm(torch.stack(slopes, dim=-2))
    return {"weights": weights.detach().numpy(), "jacobian_norm": norms.numpy()}


def trained_encoder(
    embeddings: ArrayLike, layers: Sequence[BlockParameters], n_heads: int, eps: float
) -> dict[str, Floats]:
    """Every head's weights in a stack of PyTorch's post-norm layers.

    Parameters
    ----------
    embeddings : array_like of shape (position, d_model)
        What the first layer reads.
    layers : sequence of BlockParameters
        All biases and shifts, or none of them.
    n_heads : int
        A divisor of d_model.
    eps : float
        Added to the variance in every norm.

    Returns
    -------
    dict of str to ndarray
        weights (layer, head, query, key).

    Examples
    --------
    >>> from core.encoder_block import draw_parameters
    >>> layers = [draw_parameters(6, 3, 10, np.random.default_rng(0))] * 2
    >>> trained_encoder(np.ones((5, 6)), layers, 3, 1e-12)["weights"].shape
    (2, 3, 5, 5)
    """
    x, weights = _tensor(embeddings)[None], []
    for parameters in layers:
        layer = encoder_layer(parameters, n_heads, "post")
        layer.norm1.eps = layer.norm2.eps = eps
        with torch.no_grad():
            weights.append(layer.self_attn(x, x, x, average_attn_weights=False)[1][0].numpy())
            x = layer(x)
    return {"weights": np.stack(weights)}


def encoder_layer(
    parameters: BlockParameters,
    n_heads: int,
    norm_position: NormPosition = "pre",
    activation: ActivationName = "gelu",
) -> nn.TransformerEncoderLayer:
    """PyTorch's own encoder layer with our parameters.

    Parameters
    ----------
    parameters : BlockParameters
        All biases and shifts, or none of them: PyTorch has one switch for all.
    n_heads : int
        A divisor of d_model.
    norm_position : "pre" or "post"
        PyTorch's ``norm_first``.
    activation : "gelu" or "relu"
        The exact GELU.

    Returns
    -------
    nn.TransformerEncoderLayer
        float64, batch first, without dropout, in evaluation mode.

    Raises
    ------
    ValueError
        Some biases are there and some are not.

    Examples
    --------
    >>> from core.encoder_block import draw_parameters
    >>> layer = encoder_layer(draw_parameters(6, 3, 10, np.random.default_rng(0)), n_heads=3)
    >>> tuple(layer(torch.zeros(1, 5, 6, dtype=torch.float64)).shape)
    (1, 5, 6)
    """
    p = parameters
    offsets = (p.b_q, p.b_k, p.b_v, p.b_o, p.b_1, p.b_2, p.norm_1_shift, p.norm_2_shift)
    bias = all(offset is not None for offset in offsets)
    if not bias and any(offset is not None for offset in offsets):
        raise ValueError("PyTorch's layer has all biases or none; got some of them")
    d_model, d_ff = p.w_1.shape
    # Without memory of its own the layer draws no first values, which would move PyTorch's global generator.
    layer = nn.TransformerEncoderLayer(
        d_model,
        n_heads,
        d_ff,
        dropout=0.0,
        activation=activation,
        batch_first=True,
        norm_first=norm_position == "pre",
        bias=bias,
        device="meta",
        dtype=torch.float64,
    )
    state = {
        "self_attn.in_proj_weight": np.concatenate([p.w_q, p.w_k, p.w_v], axis=1).T,
        "self_attn.out_proj.weight": p.w_o.T,
        "linear1.weight": p.w_1.T,
        "linear2.weight": p.w_2.T,
        "norm1.weight": p.norm_1_gain,
        "norm2.weight": p.norm_2_gain,
    }
    if p.b_q is not None and p.b_k is not None and p.b_v is not None:
        state["self_attn.in_proj_bias"] = np.concatenate([p.b_q, p.b_k, p.b_v])
    named = {
        "self_attn.out_proj.bias": p.b_o,
        "linear1.bias": p.b_1,
        "linear2.bias": p.b_2,
        "norm1.bias": p.norm_1_shift,
        "norm2.bias": p.norm_2_shift,
    }
    state |= {name: offset for name, offset in named.items() if offset is not None}
    layer.load_state_dict({name: _tensor(array) for name, array in state.items()}, assign=True)
    return layer.eval()


def block_stages(
    x: ArrayLike,
    parameters: BlockParameters,
    n_heads: int,
    norm_position: NormPosition = "pre",
    activation: ActivationName = "gelu",
) -> dict[str, Floats]:
    """Every intermediate that PyTorch's encoder layer lets out, and its output.

    Parameters
    ----------
    x : array_like of shape (position, d_model) or (batch, position, d_model)
        One row a token.
    parameters, n_heads, norm_position, activation
        As in `encoder_layer`.

    Returns
    -------
    dict of str to ndarray
        Named as in `core.encoder_block.EncoderBlock`: what its norms, its attention and its dense layers read and give.

    Examples
    --------
    >>> from core.encoder_block import draw_parameters
    >>> stages = block_stages(np.ones((5, 6)), draw_parameters(6, 3, 10, np.random.default_rng(0)), 3)
    >>> stages["hidden"].shape, stages["output"].shape
    ((5, 10), (5, 6))
    """
    layer = encoder_layer(parameters, n_heads, norm_position, activation)
    found: dict[str, torch.Tensor] = {}

    def listen(part: nn.Module, reads: str, gives: str) -> None:
        # A layer with listeners also leaves PyTorch's fused path, which has no parts to listen to.
        def hear(
            _: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor | tuple[torch.Tensor, ...]
        ) -> None:
            if reads:
                found[reads] = inputs[0]
            found[gives] = output[0] if isinstance(output, tuple) else output

        part.register_forward_hook(hear)

    pre = norm_position == "pre"
    listen(layer.self_attn, "", "attention_output")
    listen(layer.norm1, "", "attention_input" if pre else "after_attention")
    listen(layer.norm2, "after_attention" if pre else "", "feed_forward_input" if pre else "output")
    listen(layer.linear1, "feed_forward_input", "hidden")
    listen(layer.linear2, "activated", "feed_forward_output")
    rows = _tensor(x)
    # One sentence goes in as a batch of one: for two axes PyTorch's attention would do the same behind our back.
    with torch.no_grad():
        output = layer(rows.reshape(-1, *rows.shape[-2:]))
    return {name: array.reshape(*rows.shape[:-1], -1).numpy() for name, array in (found | {"output": output}).items()}


def decoder_layer(layer: DecoderLayer, n_heads: int) -> nn.TransformerDecoderLayer:
    """PyTorch's own decoder layer with our parameters.

    Parameters
    ----------
    layer : DecoderLayer
        With cross-attention and all biases.
    n_heads : int
        A divisor of d_model.

    Returns
    -------
    nn.TransformerDecoderLayer
        Pre-norm, exact GELU, float64, batch first, without dropout, in evaluation mode.

    Raises
    ------
    ValueError
        The layer has no cross-attention, which PyTorch's cannot do without.

    Examples
    --------
    >>> from core.decoder_block import draw_layer
    >>> layer = decoder_layer(draw_layer(6, 3, 10, np.random.default_rng(0), cross=True), n_heads=3)
    >>> rows = torch.zeros(1, 5, 6, dtype=torch.float64)
    >>> tuple(layer(rows, rows[:, :2]).shape)
    (1, 5, 6)
    """
    c = layer.cross
    if c is None:
        raise ValueError("PyTorch's decoder layer always looks at a source; got a layer without cross-attention")
    own = encoder_layer(layer.block, n_heads).state_dict()
    d_model, d_ff = layer.block.w_1.shape
    made = nn.TransformerDecoderLayer(
        d_model,
        n_heads,
        d_ff,
        dropout=0.0,
        activation="gelu",
        batch_first=True,
        norm_first=True,
        device="meta",
        dtype=torch.float64,
    )
    cross = {
        "multihead_attn.in_proj_weight": np.concatenate([c.w_q, c.w_k, c.w_v], axis=1).T,
        "multihead_attn.in_proj_bias": np.concatenate([c.b_q, c.b_k, c.b_v]),
        "multihead_attn.out_proj.weight": c.w_o.T,
        "multihead_attn.out_proj.bias": c.b_o,
        "norm2.weight": c.norm_gain,
        "norm2.bias": c.norm_shift,
    }
    # Its second norm is that of the source; the feed-forward part's moves to the third place.
    moved = {name.replace("norm2", "norm3"): tensor for name, tensor in own.items()}
    made.load_state_dict(moved | {name: _tensor(array) for name, array in cross.items()}, assign=True)
    return made.eval()


def decoder_states(
    x: ArrayLike, layers: Sequence[DecoderLayer], n_heads: int, source: ArrayLike | None = None
) -> dict[str, Floats]:
    """Final states of a stack of PyTorch's layers, in one run with a causal mask and without a cache.

    Parameters
    ----------
    x : array_like of shape (position, d_model)
        Embeddings with their positions.
    layers : sequence of DecoderLayer
        All with cross-attention, or none.
    n_heads : int
        A divisor of d_model.
    source : array_like of shape (position, d_model) or None
        Without one the layers are ``nn.TransformerEncoderLayer`` with a mask.

    Returns
    -------
    dict of ndarray
        "states" of shape (position, d_model), of the last layer.

    Examples
    --------
    >>> from core.decoder_block import draw_layer
    >>> decoder_states(np.ones((5, 6)), [draw_layer(6, 3, 10, np.random.default_rng(0))], 3)["states"].shape
    (5, 6)
    """
    rows = _tensor(x)[None]
    blocked = torch.ones(rows.shape[1], rows.shape[1], dtype=torch.bool).triu(1)
    with torch.no_grad():
        for layer in layers:
            if source is None:
                rows = encoder_layer(layer.block, n_heads)(rows, src_mask=blocked)
            else:
                rows = decoder_layer(layer, n_heads)(rows, _tensor(source)[None], tgt_mask=blocked)
    return {"states": rows[0].numpy()}


@sdpa_kernel(SDPBackend.MATH)  # the fused one computes the weights anew on the way back, and exp magnifies its rounding
def stack(
    x: ArrayLike,
    layers: Sequence[BlockParameters],
    n_heads: int,
    reading: ArrayLike,
    norm_position: NormPosition = "pre",
    activation: ActivationName = "gelu",
    parts: Parts | None = None,
) -> Stack:
    """A stack of ``nn.TransformerEncoderLayer``, and the gradients that PyTorch's autograd finds.

    Parameters
    ----------
    x, layers, n_heads, reading, norm_position, activation, parts
        As in `core.stack.run_stack`. With all parts the layers run as they are; where some are missing, those that are
        left run one by one.

    Returns
    -------
    Stack
        Streams and gradients, in our orientation.

    Examples
    --------
    >>> from core.encoder_block import draw_parameters
    >>> layers = [draw_parameters(6, 3, 10, np.random.default_rng(0), bias=False)]
    >>> run = stack(np.ones((5, 6)), layers, 3, np.ones((5, 6)))
    >>> run.streams.shape, run.gradients["w_1"].shape
    ((2, 5, 6), (1, 6, 10))
    """
    kept = Parts() if parts is None else parts
    modules = [encoder_layer(layer, n_heads, norm_position, activation) for layer in layers]
    read_out, d_model = _tensor(reading)[None], np.shape(x)[-1]
    ends = kept.ends_with_norm(norm_position)
    final = nn.LayerNorm(d_model, dtype=torch.float64) if ends else nn.Identity()

    def run(module: nn.TransformerEncoderLayer, given: torch.Tensor) -> torch.Tensor:
        if kept.attention and kept.feed_forward and kept.skip and kept.norm:
            made: torch.Tensor = module(given)
            return made
        return _run_parts(module, given, kept)

    def loss(stream: torch.Tensor) -> torch.Tensor:
        read: torch.Tensor = final(stream) * read_out
        return read.sum()

    streams = [_tensor(x)[None].requires_grad_()]
    for module in modules:
        streams.append(run(module, streams[-1]))
    matrices = [_matrices(module, kept) for module in modules]
    wanted = [matrix for of_layer in matrices for matrix in of_layer]
    found = torch.autograd.grad(loss(streams[-1]), [*streams, *wanted])
    at_streams, at_matrices = found[: len(streams)], iter(found[len(streams) :])
    gradients = [_named([next(at_matrices) for _ in of_layer], kept) for of_layer in matrices]
    lasts = [
        _named(torch.autograd.grad(loss(run(module, given.detach())), of_layer), kept) if of_layer else {}
        for module, given, of_layer in zip(modules, streams, matrices, strict=False)
    ]
    by_name = [
        {name: np.stack([of_layer[name] for of_layer in found]) for name in kept.parameters}
        for found in (gradients, lasts)
    ]
    with torch.no_grad():
        together = torch.cat(streams).numpy()
    return Stack(together, torch.cat(at_streams).numpy(), *by_name)


def stack_curves(
    x: ArrayLike,
    layers: Sequence[BlockParameters],
    n_heads: int,
    reading: ArrayLike,
    norm_position: NormPosition = "pre",
    activation: ActivationName = "gelu",
    parts: Parts | None = None,
) -> dict[str, Floats]:
    """What `core.stack.stack_curves` says of a run, by PyTorch's streams and gradients.

    Parameters
    ----------
    x, layers, n_heads, reading, norm_position, activation, parts
        As in `stack`.

    Returns
    -------
    dict of str to ndarray
        Named as in `core.stack.StackCurves.named`.

    Examples
    --------
    >>> from core.encoder_block import draw_parameters
    >>> layers = [draw_parameters(6, 3, 10, np.random.default_rng(0), bias=False)]
    >>> stack_curves(np.eye(6), layers, 3, np.ones((6, 6)))["size"].round(3).tolist()
    [1.0, 1.718]
    """
    return curves_of(stack(x, layers, n_heads, reading, norm_position, activation, parts)).named()


def _run_parts(module: nn.TransformerEncoderLayer, x: torch.Tensor, kept: Parts) -> torch.Tensor:
    """The layer's own parts one by one, without those that are left out."""

    def half(x: torch.Tensor, part: Callable[[torch.Tensor], torch.Tensor], norm: nn.LayerNorm) -> torch.Tensor:
        made = part(norm(x) if kept.norm and module.norm_first else x)
        joined = x + made if kept.skip else made
        after: torch.Tensor = norm(joined) if kept.norm and not module.norm_first else joined
        return after

    if kept.attention:
        x = half(x, lambda read: module.self_attn(read, read, read, need_weights=False)[0], module.norm1)
    if kept.feed_forward:
        x = half(x, lambda read: module.linear2(module.activation(module.linear1(read))), module.norm2)
    return x


def _matrices(module: nn.TransformerEncoderLayer, kept: Parts) -> list[torch.Tensor]:
    attention = [module.self_attn.in_proj_weight, module.self_attn.out_proj.weight]
    return attention * kept.attention + [module.linear1.weight, module.linear2.weight] * kept.feed_forward


def _named(found: Sequence[torch.Tensor], kept: Parts) -> dict[str, Floats]:
    """Gradients at `_matrices`, turned and by our names."""
    turned = [gradient.T.numpy() for gradient in found]
    if kept.attention:
        turned = [*np.split(turned[0], 3, axis=1), *turned[1:]]
    return dict(zip(kept.parameters, turned, strict=True))


def count_parameters(d_model: int, n_heads: int, d_ff: int, biases: Biases = "all") -> int:
    """Parameters of ``nn.TransformerEncoderLayer``, counted by PyTorch without allocating them.

    Parameters
    ----------
    d_model, n_heads, d_ff : int
        As in `core.parameter_count.encoder_block_parameters`.
    biases : str
        As there. PyTorch has one switch for all biases; for the two choices between, the tensors left out are left
        out of the sum over the full layer's own tensors.

    Returns
    -------
    int
        Sum of the sizes of the layer's tensors.

    Examples
    --------
    >>> count_parameters(32, 4, 64)
    8544
    """
    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, batch_first=True, bias=biases != "none")
    left_out = {"no attention biases": ("self_attn",), "no linear biases": ("self_attn", "linear")}.get(biases, ())
    return sum(
        parameter.numel()
        for name, parameter in layer.named_parameters()
        if not (name.endswith("bias") and name.startswith(left_out))
    )


def trained_model(design: Design, parameters: Parameters, tokens: Integers) -> dict[str, Floats]:
    """A trained model's attention and answers, by the functions that trained it.

    Parameters
    ----------
    design, parameters, tokens
        As in `core.training.model.run`.

    Returns
    -------
    dict of str to ndarray
        "weights 0", "weights 1", ... and "logits".

    Examples
    --------
    >>> from core.training.model import first_parameters
    >>> design = Design(26, 10)
    >>> trained_model(design, first_parameters(design, np.random.default_rng(0)), np.array([[7, 4]]))["logits"].shape
    (1, 2, 26)
    """
    return network.forward(design, parameters, tokens, double=True)
