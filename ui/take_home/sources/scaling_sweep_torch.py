"""Why divide by √d, with PyTorch: longer keys make larger scores, and larger scores a harder softmax.

The random numbers are NumPy's, so that both versions print the same. Softmax, entropy and the gradient (by autograd)
are computed by PyTorch, in double precision. Needs Python 3.11, NumPy and PyTorch.
"""

import numpy as np
import torch

# %% [markdown]
# ## Settings
# The first three belong to the sentence, the seed to both, the others to the sweep.

# %%
words = ["Meera", "bought", "a", "new", "bat"]
d_head = 4  # size of a key of the sentence
n_heads = 2  # the width of an embedding, d_model, is n_heads * d_head
seed = 1
n_keys = 5  # keys for each query
n_draws = 200  # draws of a query and its keys at each d
dims = [4, 64, 512]  # sizes of the single draws, in this order
queries_in = "rows"  # changes nothing here: no matrix of this page has queries as rows


# %% [markdown]
# ## What the softmax has left
# jacrev finds the derivative of every weight by every score, vmap does so for all draws at once.


# %%
def softmax(scores):
    """Shares that sum to 1 in each row."""
    return torch.softmax(scores, dim=-1)


def gradient_norm(scores):
    """Frobenius norm of the derivative of the softmax, for each row of scores."""
    return torch.linalg.matrix_norm(torch.func.vmap(torch.func.jacrev(softmax))(scores))


# %% [markdown]
# ## The sweep over d
# At each d a mean over many draws, and the two quantiles between which the middle 80 % lie. The mean of the spread is
# that of all scores together: this is the number which grows like √d.

# %%
sizes = [2**power for power in range(13)]  # 1 to 4096
measures = ("spread of the scores", "largest weight", "entropy (nats)", "gradient of the softmax")
series = ("raw scores", "divided by √d")
table = {(measure, name): [] for measure in measures for name in series}  # a row (mean, low, high) for each d
ends = torch.tensor([0.1, 0.9], dtype=torch.float64)
for d in sizes:
    rng = np.random.default_rng([seed, d])
    draws = (torch.from_numpy(rng.normal(size=(n_keys + 1, d))) for _ in range(n_draws))  # a query, then its keys
    raw = torch.stack([draw[1:] @ draw[0] for draw in draws])
    for name, scores in zip(series, (raw, raw / d**0.5)):
        weights = softmax(scores)
        entropy = torch.special.entr(weights).sum(dim=-1)
        values = (scores.std(dim=-1, correction=0), weights.amax(dim=-1), entropy, gradient_norm(scores))
        means = (scores.std(correction=0), *(value.mean() for value in values[1:]))
        for measure, value, mean in zip(measures, values, means):
            table[measure, name].append((mean, *torch.quantile(value, ends)))

# %% [markdown]
# ## Single draws
# One query and its keys for each size, from one generator that runs on from size to size.

# %%
rng = np.random.default_rng(seed)
singles = {}
for d in dims:
    q, k = torch.from_numpy(rng.normal(size=d)), torch.from_numpy(rng.normal(size=(n_keys, d)))
    singles[d] = torch.stack([k @ q, softmax(k @ q), softmax(k @ q / d**0.5)])

# %% [markdown]
# ## The numbers of the page

# %%
from printing import show

for (measure, name), rows in table.items():
    show(f"{measure}, {name}", rows, ("d", sizes), ("measure", ["mean", "low", "high"]))
quantities = ("quantity", ["raw score", "weight, raw", "weight, divided by √d"])
for d, rows in singles.items():
    show(f"single draw, d = {d}", rows, quantities, ("key", range(n_keys)))

# %% [markdown]
# ## Your sentence
# The same for the words above: head 0, each word against all.

# %%
from drawing import draw_example

if words:
    x, w_q, w_k, _ = (torch.from_numpy(array) for array in draw_example(words, d_head, n_heads, seed))
    scores = (x @ w_q[0]) @ (x @ w_k[0]).T
    scaled = softmax(scores / d_head**0.5)
    print("your sentence")
    print(f"spread of its scores\t{scores.std(correction=0):z.6f}")
    print(f"largest weight of a row, mean, raw scores\t{softmax(scores).amax(dim=-1).mean():z.6f}")
    print(f"largest weight of a row, mean, divided by √d\t{scaled.amax(dim=-1).mean():z.6f}")
