"""Greedy decoding and the KV cache: the same words twice, and what only one of the two ways computes.

Embeddings and parameters are random numbers drawn from the seed, so nothing here has been learned; everything else is
computed, and every product counts itself. Every matrix of the page is printed, rounded to six decimals. Needs Python
3.11 and NumPy.
"""

import math
from functools import partial

import numpy as np

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
embeddings = draw_example(vocabulary, d_head, n_heads, seed)[0]
layers = [draw_layer([5, seed, number], d_model, source) for number in range(n_layers)]

# %% [markdown]
# ## One block
# A product writes down what it was for and how large it was. What is kept of a layer grows by the rows of each run.

# %%
from softmax import softmax

made = []


def times(name, a, b):
    """A product that counts itself: multiply-adds, rows and columns of the result."""
    made.append((name, a.size * b.shape[-1], a.shape[-2], b.shape[-1]))
    return a @ b


def norm(x, p, name):
    """Each row brought to mean 0 and variance 1, then scaled and shifted."""
    centred = x - x.mean(axis=-1, keepdims=True)
    unit = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    return unit * p[f"{name}_gain"] + p[f"{name}_shift"]


def project(x, p, name):
    """(position, d_model) to (head, position, d_head)."""
    rows = times(f"projections: {name}", x, p[f"w_{name}"]) + p[f"b_{name}"]
    return rows.reshape(len(x), n_heads, d_head).swapaxes(0, 1)


def weigh(q, k, allowed=True):
    """Weights of each query."""
    return softmax(np.where(allowed, times("scores", q, k.swapaxes(-2, -1)) / np.sqrt(d_head), -np.inf))


def mix(weights, v, p, name):
    """Values mixed by the weights, heads joined and mixed."""
    joined = times("mixing", weights, v).swapaxes(0, 1).reshape(-1, d_model)
    return times(f"projections: {name}", joined, p[f"w_{name}"]) + p[f"b_{name}"]


def block(x, p, kept, memory=None, causal=True):
    """Rows through one layer, behind those whose keys and values are kept."""
    normed = norm(x, p, "norm_1")
    for name in "qkv":
        new = project(normed, p, name)
        kept[name] = np.concatenate([kept[name], new], axis=1) if name in kept else new
    n, n_key = len(x), kept["k"].shape[1]
    allowed = np.tri(n, n_key, n_key - n, dtype=bool) if causal else True  # the last query is the last key
    x = x + mix(weigh(kept["q"][:, n_key - n :], kept["k"], allowed), kept["v"], p, "o")
    if memory is not None:
        for name in ("cross_k", "cross_v"):
            if name not in kept:  # no new word changes the source
                kept[name] = project(memory, p, name)
        new = project(norm(x, p, "cross_norm"), p, "cross_q")
        kept["cross_q"] = np.concatenate([kept["cross_q"], new], axis=1) if "cross_q" in kept else new
        x = x + mix(weigh(new, kept["cross_k"]), kept["cross_v"], p, "cross_o")
    hidden = times("feed-forward", norm(x, p, "norm_2"), p["w_1"]) + p["b_1"]
    bent = 0.5 * hidden * (1.0 + np.vectorize(math.erf, otypes=[float])(hidden / math.sqrt(2.0)))  # GELU
    return x + times("feed-forward", bent, p["w_2"]) + p["b_2"]


memory = None
if source:
    x = draw_example(source, d_head, n_heads, seed)[0] + sinusoidal_encoding(len(source), d_model)
    memory = block(x, draw_layer([6, seed], d_model), {}, causal=False)

# %% [markdown]
# ## Word after word, with a cache and without

# %%


def read(tokens, kept, causal=True):
    """Final states of the words that are not kept yet, through all layers."""
    first = kept[0]["k"].shape[1] if kept[0] else 0
    x = (embeddings[tokens] + sinusoidal_encoding(len(tokens), d_model))[first:]
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
        logits = times("logits", state[None], embeddings.T)[0]
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
# ## Why the mask
# How far rows move when the last word is added, with the mask and without.

# %%
moved = []
for causal in (True, False):
    short, long = [{} for _ in layers], [{} for _ in layers]
    states = read(tokens[:-1], short, causal), read(tokens, long, causal)[:-1]
    moved.append(abs(long[layer]["k"][:, :-1] - short[layer]["k"]).max(axis=(0, 2)))
    moved.append(abs(states[1] - states[0]).max(axis=1))
moved = np.stack([moved[0], moved[2], moved[1], moved[3]], axis=1)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
n = len(words) + step - 1
text = name_words([vocabulary[token] for token in tokens])
steps, queries, keys = ("step", range(1, n_new + 1)), ("query", text[:n]), ("key", text[:n])
positions, newest = ("word", text[:-1]), ("query", text[n - 1 : n])
show("logits", [one[1] for one in cached], steps, ("word of the vocabulary", name_words(vocabulary)))
show("states", [one[0] for one in cached], steps, ("feature", range(d_model)))
show("K in the cache", kept["k"], positions, ("feature", range(d_head)))
show("V in the cache", kept["v"], positions, ("feature", range(d_head)))
show("weights", weigh(kept["q"][:n], kept["k"][:n], np.tri(n, dtype=bool)), queries, keys)
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
for align, offset in (("top-left", 0), ("bottom-right", n - 1)):
    show(align, weigh(kept["q"][n - 1 : n], kept["k"][:n], np.tri(1, n, offset, dtype=bool)), newest, keys)
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

# %% [markdown] notebook only
# ## The same numbers as pictures
# Needs Matplotlib.

# %% notebook only
import matplotlib.pyplot as plt

_, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for (name, way), style in zip(ways.items(), ("--", "-")):
    work = np.cumsum([sum(one[1] for one in products) for _, _, products, _ in way])
    axes.plot(range(1, n_new + 1), work, style, marker="o", label=name)
axes.set(xlabel="step", ylabel="multiply-adds so far", ylim=(0, None))
axes.legend()
plt.show()
