"""Greedy decoding and the KV cache, with PyTorch: the words by a cache, the states by PyTorch's own layers without one.

The random numbers are NumPy's, so that both versions print the same; nothing here has been learned. Double precision,
no dropout; every product counts itself. Needs Python 3.11, NumPy and PyTorch.
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
n_new = 5  # words to append
n_layers = 2
step = 3  # from 1: the step whose weights are shown,
layer = 1  # in this layer
head = 0  # and this head
source = []  # words of a second sentence, for cross-attention; none without it
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## A random decoder
# Its vocabulary are the sentence's different words.

# %%
from decoder_drawing import draw_layer
from drawing import draw_example
from positions import sinusoidal_encoding

d_model = n_heads * d_head
vocabulary = list(dict.fromkeys(words))
embeddings = torch.from_numpy(draw_example(vocabulary, d_head, n_heads, seed)[0])


def draw(stream, cross=False):
    """A layer's parameters as tensors."""
    return {name: torch.from_numpy(array) for name, array in draw_layer(stream, d_model, cross).items()}


layers = [draw([5, seed, number], source) for number in range(n_layers)]

# %% [markdown]
# ## One block
# A product writes down what it was for and how large it was. What is kept of a layer grows by the rows of each run.

# %%
made = []


def times(name, a, b):
    """A product that counts itself: multiply-adds, rows and columns of the result."""
    made.append((name, a.numel() * b.shape[-1], a.shape[-2], b.shape[-1]))
    return a @ b


def norm(x, p, name):
    """Each row brought to mean 0 and variance 1, then scaled and shifted."""
    return functional.layer_norm(x, (d_model,), p[f"{name}_gain"], p[f"{name}_shift"])


def project(x, p, name):
    """(position, d_model) to (head, position, d_head)."""
    rows = times(f"projections: {name}", x, p[f"w_{name}"]) + p[f"b_{name}"]
    return rows.unflatten(-1, (n_heads, d_head)).transpose(0, 1)


def lower(n, n_key):
    """True where a query may look; the last query is the last key."""
    return torch.ones(n, n_key, dtype=torch.bool).tril(n_key - n)


def weigh(q, k, allowed=None):
    """Weights of each query."""
    scaled_scores = times("scores", q, k.mT) / d_head**0.5
    return torch.softmax(scaled_scores if allowed is None else scaled_scores.masked_fill(~allowed, -torch.inf), dim=-1)


def mix(weights, v, p, name):
    """Values mixed by the weights, heads joined and mixed."""
    joined = times("mixing", weights, v).transpose(0, 1).flatten(1)
    return times(f"projections: {name}", joined, p[f"w_{name}"]) + p[f"b_{name}"]


def block(x, p, kept, memory=None, causal=True):
    """Rows through one layer, behind those whose keys and values are kept."""
    normed = norm(x, p, "norm_1")
    for name in "qkv":
        new = project(normed, p, name)
        kept[name] = torch.cat([kept[name], new], dim=1) if name in kept else new
    n, n_key = len(x), kept["k"].shape[1]
    allowed = lower(n, n_key) if causal else None
    x = x + mix(weigh(kept["q"][:, n_key - n :], kept["k"], allowed), kept["v"], p, "o")
    if memory is not None:
        for name in ("cross_k", "cross_v"):
            if name not in kept:  # no new word changes the source
                kept[name] = project(memory, p, name)
        new = project(norm(x, p, "cross_norm"), p, "cross_q")
        kept["cross_q"] = torch.cat([kept["cross_q"], new], dim=1) if "cross_q" in kept else new
        x = x + mix(weigh(new, kept["cross_k"]), kept["cross_v"], p, "cross_o")
    hidden = times("feed-forward", norm(x, p, "norm_2"), p["w_1"]) + p["b_1"]
    bent = functional.gelu(hidden)
    return x + times("feed-forward", bent, p["w_2"]) + p["b_2"]


memory = None
if source:
    x = draw_example(source, d_head, n_heads, seed)[0] + sinusoidal_encoding(len(source), d_model)
    memory = block(torch.from_numpy(x), draw([6, seed]), {}, causal=False)

# %% [markdown]
# ## Word after word, with a cache and without

# %%


def read(tokens, kept, causal=True):
    """Final states of the words that are not kept yet, through all layers."""
    first = kept[0]["k"].shape[1] if kept[0] else 0
    x = (embeddings[tokens] + torch.from_numpy(sinusoidal_encoding(len(tokens), d_model)))[first:]
    for p, of_layer in zip(layers, kept):
        x = block(x, p, of_layer, memory, causal)
    return x


def generate(use_cache):
    """All words, what every step made, and what is kept after the last one."""
    tokens, steps, kept = [vocabulary.index(word) for word in words], [], [{} for _ in layers]
    for _ in range(n_new):
        kept = kept if use_cache else [{} for _ in layers]
        made.clear()
        state = read(tokens, kept)[-1]
        logits = times("logits", state[None], embeddings.mT)[0]
        names = ("k", "v", "cross_k", "cross_v")
        size = sum(of_layer[name].nbytes for of_layer in kept for name in names if name in of_layer)
        steps.append((state, logits, list(made), size))
        tokens.append(int(logits.argmax()))  # of equal logits the first
    return tokens, steps, kept


plain = generate(False)[1]
tokens, cached, kept = generate(True)
ways = {"without a cache": plain, "with a cache": cached}
kept = {name: rows[head] for name, rows in kept[layer].items()}  # of the head that is shown

# %% [markdown]
# ## The same states by PyTorch's own layers
# One run over all words with a causal mask, without a cache. PyTorch keeps the transpose of each matrix.

# %%
Layer = nn.TransformerDecoderLayer if source else nn.TransformerEncoderLayer
states = embeddings[tokens[:-1]] + torch.from_numpy(sinusoidal_encoding(len(tokens) - 1, d_model))
blocked = ~lower(len(states), len(states))
for p in layers:
    options = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": True, "dtype": torch.float64}
    made_by_torch = Layer(d_model, n_heads, 2 * d_model, **options)
    parts = {"self_attn": "", "multihead_attn": "cross_"} if source else {"self_attn": ""}
    state = {}
    for name, own in parts.items():
        state[f"{name}.in_proj_weight"] = torch.cat([p[f"w_{own}{which}"] for which in "qkv"], dim=1).mT
        state[f"{name}.in_proj_bias"] = torch.cat([p[f"b_{own}{which}"] for which in "qkv"])
        state |= {f"{name}.out_proj.weight": p[f"w_{own}o"].mT, f"{name}.out_proj.bias": p[f"b_{own}o"]}
    norms = ["norm_1", "cross_norm", "norm_2"] if source else ["norm_1", "norm_2"]
    for number, name in enumerate(norms, 1):
        state |= {f"norm{number}.weight": p[f"{name}_gain"], f"norm{number}.bias": p[f"{name}_shift"]}
    for number in "12":
        state |= {f"linear{number}.weight": p[f"w_{number}"].mT, f"linear{number}.bias": p[f"b_{number}"]}
    made_by_torch.load_state_dict(state)
    with torch.no_grad():
        rows, given = states[None], [memory[None]] if source else []
        states = made_by_torch(rows, *given, **{"tgt_mask" if source else "src_mask": blocked})[0]

# %% [markdown]
# ## Why the mask
# How far rows move when the last word is added, with the mask and without.

# %%
moved = []
for causal in (True, False):
    short, long = [{} for _ in layers], [{} for _ in layers]
    before, after = read(tokens[:-1], short, causal), read(tokens, long, causal)[:-1]
    moved.append((long[layer]["k"][:, :-1] - short[layer]["k"]).abs().amax(dim=(0, 2)))
    moved.append((after - before).abs().amax(dim=1))
moved = torch.stack([moved[0], moved[2], moved[1], moved[3]], dim=1)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
n = len(words) + step - 1
text = name_words([vocabulary[token] for token in tokens])
steps, queries, keys = ("step", range(1, n_new + 1)), ("query", text[:n]), ("key", text[:n])
positions, newest = ("word", text[:-1]), ("query", text[n - 1 : n])
show("logits", torch.stack([one[1] for one in cached]), steps, ("word of the vocabulary", name_words(vocabulary)))
show("states", states[len(words) - 1 :], steps, ("feature", range(d_model)))
show("K in the cache", kept["k"], positions, ("feature", range(d_head)))
show("V in the cache", kept["v"], positions, ("feature", range(d_head)))
show("weights", weigh(kept["q"][:n], kept["k"][:n], lower(n, n)), queries, keys)
both = [[one[2] for one in pair] for pair in zip(plain, cached)]
k_rows = [[[rows for name, _, rows, _ in one if name == "projections: k"][layer] for one in pair] for pair in both]
show("rows of K", k_rows, steps, ("way", list(ways)))
own = 2 * layer if source else layer  # with a source, a layer makes scores twice
pairs = [[[a * b for name, _, a, b in one if name == "scores"][own] for one in pair] for pair in both]
show("query-key pairs", pairs, steps, ("way", list(ways)))
show("bytes in the cache", [[one[3]] for one in cached], steps, ("way", ["with a cache"]))
show(
    "how far each row moves",
    moved,
    positions,
    ("side", [f"{a}, {b}" for a in ("K", "state") for b in ("with mask", "mask off")]),
)
for align, allowed in (("top-left", torch.arange(n)[None] < 1), ("bottom-right", lower(1, n))):
    show(align, weigh(kept["q"][n - 1 : n], kept["k"][:n], allowed), newest, keys)
parts = ("projections", "scores", "mixing", "feed-forward", "logits")
for name, way in ways.items():
    work = [[sum(one[1] for one in products if one[0].startswith(part)) for part in parts] for _, _, products, _ in way]
    show(f"multiply-adds {name}", work, steps, ("part", parts))
if source:
    show(
        "weights of the second sentence",
        weigh(kept["cross_q"][:n], kept["cross_k"]),
        queries,
        ("key", name_words(source)),
    )
