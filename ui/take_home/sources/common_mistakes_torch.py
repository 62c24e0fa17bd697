"""Common mistakes, with PyTorch: one of ten, made or not, with the reader's sentence; none of them raises an error.

The random numbers are NumPy's, so that both versions print the same; nothing has learned anything. Everything is in
double precision. Needs Python 3.11, NumPy and PyTorch.
"""

from functools import partial

import torch
from torch import nn
from torch.nn import functional

# %% [markdown]
# ## Settings

# %%
words = ["Meera", "bought", "a", "new", "bat"]
d_head = 4  # size of a query, key or value
n_heads = 2  # the width of an embedding, d_model, is n_heads * d_head
seed = 0
mistake = "no scale"  # or another name of the list at the end
made = True  # False does it right
head = 0  # which head is looked at
query = 0  # which position: the query without any key, the place that a batch compares
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## What the mistakes start from

# %%
from drawing import draw_example
from mistake_parts_torch import attend, largest, leak, unit

torch.set_default_dtype(torch.float64)
x, w_q, w_k, w_v = (torch.from_numpy(array) for array in draw_example(words, d_head, n_heads, seed))
n, d_model, one = len(words), n_heads * d_head, (w_q[head], w_k[head], w_v[head])
q, k, v = (x @ w for w in one)
causal = torch.ones(n, n, dtype=torch.bool).tril()
square = ("query", words), ("key", words)

# %% [markdown]
# ## The ten
# Each returns its matrix, the axes, and the measures; `wrong` says whether the mistake is made.

# %%


def no_scale(wrong):
    alone = [torch.from_numpy(array) for array in draw_example(words, 64, 1, seed)]
    measures = {}
    for place, queries, keys in (("", q, k), (", d = 64", alone[0] @ alone[1][0], alone[0] @ alone[2][0])):
        scores = unit(queries) @ unit(keys).T / (1 if wrong else queries.shape[1] ** 0.5)
        w = torch.softmax(scores, dim=1)
        slopes = torch.func.vmap(torch.func.jacrev(lambda row: torch.softmax(row, dim=0)))(scores)
        measures[f"largest weight{place}"] = w.amax(dim=1).mean()
        measures[f"entropy (nats){place}"] = torch.special.entr(w).sum(dim=1).mean()
        measures[f"gradient{place}"] = torch.linalg.matrix_norm(slopes).mean()
        if not place:
            shown, found = w, scores.std(correction=0)
    return shown, *square, measures | {"spread of what enters the softmax": found}


def no_causal_mask(wrong):
    weights, in_training, when_generating = learn_by_heart(words, x, one, None if wrong else causal, seed)
    measures = {"share of later words": weights.masked_fill(causal, 0).sum(dim=1).mean()}
    measures |= {"named right, in training": in_training, "named right, when generating": when_generating}
    return weights, *square, measures | {"earlier rows move by": leak(x, one, None if wrong else causal)}


def no_positions(wrong):
    # The first word changes places with the last one that differs from it.
    order = [*range(n)]
    last = max((place for place in order if words[place] != words[0]), default=0)
    order[0], order[last] = last, 0
    added = 0 if wrong else encode(n, d_model)
    old, new = (functional.scaled_dot_product_attention(*((rows + added) @ w for w in one)) for rows in (x, x[order]))
    measures = {"mean outputs differ by": largest(old.mean(dim=0) - new.mean(dim=0))}
    measures["largest difference"] = largest(new - old[order])
    return new - old[order], ("word", [words[place] for place in order]), ("feature", range(d_head)), measures


def batch_first(wrong):
    # One module for all heads; the default is batch_first=False, (tokens, batch, features).
    module = nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=not wrong)
    own = slice(head * d_head, (head + 1) * d_head)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([w.mT.reshape(d_model, d_model) for w in (w_q, w_k, w_v)]))
        module.out_proj.weight.copy_(torch.eye(d_model))
        batch = torch.stack([x, x.flip(0), x.roll(-1, 0)])
        changed = batch * torch.tensor([1, -1, -1])[:, None, None]  # the other sentences, not this one
        output, weights = module(batch, batch, batch, average_attn_weights=False)
        moved = module(changed, changed, changed)[0][0]
    others = 0 if wrong else (weights[0, head] * (1 - torch.eye(n))).sum(dim=1).mean()
    measures = {"output off by": largest(output[0, :, own] - attend(q, k, v)[1]), "share of its other words": others}
    measures["this sentence moves by"] = largest((moved - output[0])[:, own])
    sentences = ["yours", "reversed", "rolled"]
    axes = (("sentence", sentences), ("sentence", sentences)) if wrong else square
    return weights[query if wrong else 0, head], *axes, measures


def quadratic_cost(wrong):
    lengths = (n, 1024, 32 * 1024, 128 * 1024)
    costs = torch.tensor([[4.0 * length**2 * d_model, 4.0 * n_heads * length**2] for length in lengths])
    if wrong:
        costs = costs[0] * torch.tensor([[length / n] for length in lengths])
    measures = {f"bytes at {length:,} tokens": row[1] for length, row in zip(lengths, costs)}
    names = ["n", *(f"{length:,}" for length in lengths[1:])], ["operations", "bytes of weights"]
    return costs, ("tokens", names[0]), ("cost", names[1]), measures | {"work multiplied by": 2 if wrong else 4}


def transposed_weights(wrong):
    # A linear layer keeps (out, in), and turns it by itself; who multiplies has to turn it.
    layers = [torch.cat([*w], dim=1).T for w in (w_q, w_k, w_v)]
    own = slice(head * d_head, (head + 1) * d_head)
    right = [functional.linear(x, weight)[:, own] for weight in layers]
    now = [(x @ weight)[:, own] for weight in layers] if wrong else right
    (w_right, o_right), (w_now, o_now) = attend(*right), attend(*now)
    measures = {"weights off by": largest(w_now - w_right), "outputs off by": largest(o_now - o_right)}
    measures["the row is off by"] = largest((layers[0] if wrong else layers[0].T)[0] - layers[0].T[0])
    return now[0], square[0], ("feature", range(d_head)), measures


def inverted_mask(wrong):
    mask = ~causal if wrong else causal
    weights, _ = attend(q, k, v, mask)
    measures = {"share of later words": weights.masked_fill(causal, 0).sum(dim=1).mean()}
    measures["queries without a key"] = (~mask.any(dim=1)).sum()
    measures |= {"earlier rows move by": leak(x, one, mask), "weight of the first word on itself": weights[0, 0]}
    return weights, *square, measures


def softmax_axis(wrong):
    axis = 0 if wrong else 1
    weights, _ = attend(q, k, v, causal, axis)
    measures = {"column sums off by": largest(weights.sum(dim=0) - 1)}
    measures["earlier rows move by"] = leak(x, one, causal, axis)
    return weights, *square, measures | {"row sums off by": largest(weights.sum(dim=1) - 1)}


def no_allowed_key(wrong):
    allowed = torch.ones(n, n, dtype=torch.bool)
    allowed[query] = False
    scores = (q @ k.T / d_head**0.5).masked_fill(~allowed, -1e9 if wrong else -torch.inf)
    weights = torch.softmax(scores, dim=1).nan_to_num(0.0)
    row = weights[query]
    measures = {"weight of a forbidden key": row.max(), "its output, largest entry": largest(row @ v)}
    return weights, *square, measures | {"row sum": row.sum()}


def split_heads(wrong):
    def cut(array):
        return array.reshape(n_heads, n, -1) if wrong else array.reshape(n, n_heads, -1).transpose(0, 1)

    right = attend(q, k, v)
    now = attend(*(cut(torch.cat([*(x @ w)], dim=1))[head] for w in (w_q, w_k, w_v)))
    strangers = cut(torch.arange(n)[:, None].expand(n, d_model)) != torch.arange(n)[:, None]
    measures = {f"{name} off by": largest(a - b) for name, a, b in zip(("weights", "outputs"), now, right)}
    return now[0], *square, measures | {"share from other words": strangers.double().mean()}


# %% [markdown]
# ## The numbers of the page

# %%
from mistake_parts_torch import encode, learn_by_heart
from printing import name_words, show

ten = (no_scale, no_causal_mask, no_positions, batch_first, quadratic_cost)
ten += (transposed_weights, inverted_mask, softmax_axis, no_allowed_key, split_heads)
make = {one.__name__.replace("_", " "): one for one in ten}[mistake]
show, both = partial(show, queries_in=queries_in), {"as it runs": make(made), "done right": make(False)}
for name, (matrix, *axes, measures) in both.items():
    axes = [(title, name_words(names) if title in ("query", "key", "word") else names) for title, names in axes]
    both[name] = matrix, *axes, measures
    show(name, *both[name][:3])
numbers = [[float(values[name]) for *_, values in both.values()] for name in both["done right"][3]]
show("measures", numbers, ("measure", [*both["done right"][3]]), ("computed", [*both]))
