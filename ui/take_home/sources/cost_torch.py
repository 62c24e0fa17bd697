"""What attention costs, with PyTorch: the products of an encoder block, counted by PyTorch's own counter.

The arrays live on the device "meta": they have shapes, but no numbers and no memory. Needs Python 3.11, NumPy and
PyTorch.
"""

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

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
# A multiply-add is two operations, in PyTorch's counter too. It counts matrix products; the softmax is counted here by
# hand, five operations a score. It computes all n² pairs; a causal mask needs n (n + 1) / 2 of them.


# %%
def counted(call):
    """What PyTorch counts, and its result."""
    with FlopCounterMode(display=False) as counter:
        result = call()
    return counter.get_total_flops(), result


def costs(n):
    """FLOP, multiply-adds, FLOP needed and bytes of the result of each part, and of the block."""
    x, w = torch.empty(batch * n, d_model, device="meta"), torch.empty(d_model, 3 * d_model, device="meta")
    q_k_v, projected = counted(lambda: x @ w)
    q, k, v = projected.view(batch, n, 3, n_heads, -1).permute(2, 0, 3, 1, 4)
    q_k, scores = counted(lambda: q @ k.mT)
    mix, output = counted(lambda: scores.softmax(-1) @ v)
    w_o, _ = counted(lambda: x @ w[:, :d_model])
    wide = torch.empty(d_model, 4 * d_model, device="meta")
    forward, hidden = counted(lambda: x @ wide)
    back, _ = counted(lambda: hidden @ wide.mT)
    share = (n + 1, 2 * n) if causal else (1, 1)
    rows = []
    for flops, results, pairs in (
        (q_k_v, projected.numel(), False),
        (q_k, scores.numel(), True),
        (5 * scores.numel(), scores.numel(), True),
        (mix, output.numel(), True),
        (w_o, x.numel(), False),
        (forward + back, hidden.numel() + x.numel(), False),
    ):
        needed = flops * share[0] // share[1] if pairs else flops
        rows.append([flops, flops // 2, needed, results * bytes_per_number])
    rows[2][1] = 0  # a softmax has no multiply-adds
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
