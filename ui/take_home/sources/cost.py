"""What attention costs: work and memory of each part of an encoder block by formula, and caches of published models.

Everything is computed from the sizes; no random number is involved. Needs Python 3.11 and NumPy.
"""

import numpy as np

# %% [markdown]
# ## Settings
# d_model must be a multiple of n_heads; the feed-forward part is four times as wide.

# %%
seq_len = 1024  # tokens in a sentence
d_model = 768
n_heads = 12
batch = 1  # sentences
bytes_per_number = 4
causal = False  # count beside it what a causal mask needs
context = 4096  # tokens that a generator keeps
cache_batch = 1
cache_bytes_per_number = 2
own = [16, 32, 8, 64]  # a model of your own: layers, query heads, key and value heads, d_head

# %% [markdown]
# ## Work and memory of each part
# A multiply-add is two operations. The plain formula computes all n² pairs; a causal mask needs n (n + 1) / 2 of them.
# The softmax counts five operations a score: largest, subtract, exponential, add up, divide.


# %%
def costs(n):
    """FLOP, multiply-adds, FLOP needed and bytes of the result of each part, and of the block."""
    d_ff, tokens = 4 * d_model, batch * n
    needed, pairs = (n * (n + 1) // 2 if causal else n**2), n**2
    rows = []
    for multiply_adds, results in (
        (3 * tokens * d_model**2, 3 * tokens * d_model),  # Q, K, V
        (batch * d_model * pairs, batch * n_heads * pairs),  # q kᵀ
        (0, batch * n_heads * pairs),  # softmax
        (batch * d_model * pairs, tokens * d_model),  # weights · V
        (tokens * d_model**2, tokens * d_model),  # W_o
        (2 * tokens * d_model * d_ff, tokens * (d_ff + d_model)),  # feed-forward
    ):
        rows.append([2 * multiply_adds, multiply_adds, 2 * multiply_adds, results * bytes_per_number])
    rows[2][0] = 5 * batch * n_heads * pairs
    for row in rows[1:4]:
        row[2] = row[0] // pairs * needed
    return [*rows, [sum(column) for column in zip(*rows)]]


parts = ("part", ["Q, K, V", "q kᵀ", "softmax", "weights · V", "W_o", "feed-forward", "block"])
lengths = [2**power for power in range(3, 18)]
work = np.array([[row[0] for row in costs(n)] for n in lengths], dtype=float)

# %% [markdown]
# ## Where the square overtakes
# 4 n² d = 8 n d² at n = 2 d, and 4 n² d = 8 n d² + 4 n d d_ff at n = 2 d + d_ff.

# %%
places = [[2 * d_model], [2 * d_model + 4 * d_model]]

# %% [markdown]
# ## Caches of published models
# Layers, heads of queries, heads of keys and values, d_head: from the papers and the published configuration files.

# %%
models = {
    "GPT-2 small": [12, 12, 12, 64],
    "GPT-3 175B": [96, 96, 96, 128],
    "Llama 2 7B": [32, 32, 32, 128],
    "Llama 2 70B": [80, 64, 8, 128],
    "Llama 3 8B": [32, 32, 8, 128],
    "Llama 3 70B": [80, 64, 8, 128],
    "Mistral 7B": [32, 32, 8, 128],
    "Qwen2.5 7B": [28, 28, 4, 128],
}
if own[1] % own[2] == 0:  # each key and value head serves a group of equal size
    models["your own"] = own
caches = []
for layers, heads, kv_heads, d_head in models.values():
    token = 2 * layers * kv_heads * d_head * cache_bytes_per_number  # a key and a value
    kept = token * context * cache_batch
    caches.append([token, kept, kept // kv_heads * heads])

# %% [markdown]
# ## The numbers of the page

# %%
from printing import show

show("cost of each part", costs(seq_len), parts, ("quantity", ["FLOP", "multiply-adds", "FLOP needed", "bytes"]))
show("FLOP over n", work, ("n", lengths), parts)
show("where n² overtakes", places, ("what", ["the projections", "the rest of the block"]), ("place", ["n"]))
show("caches", caches, ("model", list(models)), ("bytes", ["a token", "cache", "cache with all heads"]))

# %% [markdown] notebook only
# ## The same numbers as a picture
# Needs Matplotlib.

# %% notebook only
import matplotlib.pyplot as plt

_, axes = plt.subplots(figsize=(8, 5), layout="constrained")
groups = {"q kᵀ and weights · V": [1, 3], "softmax": [2], "Q, K, V and W_o": [0, 4], "feed-forward": [5]}
for name, columns in groups.items():
    axes.loglog(lengths, work[:, columns].sum(axis=1), marker=".", label=name)
axes.axvline(places[0][0], color="#D98A00", linestyle="--")
axes.axvline(places[1][0], color="#D98A00", linestyle="--")
axes.set(xlabel="tokens n", ylabel="FLOP", title="one block, forward")
axes.legend()
plt.show()
