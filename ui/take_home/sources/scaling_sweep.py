"""Why divide by √d: longer keys make larger scores, and larger scores a harder softmax with less gradient.

Queries and keys are random numbers drawn from the seed, all standard normal; everything else is computed from them.
Numbers are rounded to six decimals. Needs Python 3.11 and NumPy.
"""

import numpy as np

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
# The derivative of weight i by score j is w_i (δ_ij − w_j). The norm of all of them tells how much a score can still
# change.

# %%
from softmax import softmax


def entropy(weights):
    """How spread out the weights are, in nats: 0 when one takes all, log n when all are equal."""
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)  # 0 log 0 is 0
    return -(weights * logarithms).sum(axis=-1)


def gradient_norm(weights):
    """Frobenius norm of the derivative of the softmax, for each row."""
    jacobians = weights[:, :, None] * (np.eye(weights.shape[-1]) - weights[:, None, :])
    return np.sqrt((jacobians**2).sum(axis=(-2, -1)))


# %% [markdown]
# ## The sweep over d
# At each d a mean over many draws, and the two quantiles between which the middle 80 % lie. The mean of the spread is
# that of all scores together: this is the number which grows like √d.

# %%
sizes = [2**power for power in range(13)]  # 1 to 4096
measures = ("spread of the scores", "largest weight", "entropy (nats)", "gradient of the softmax")
series = ("raw scores", "divided by √d")
table = {(measure, name): [] for measure in measures for name in series}  # a row (mean, low, high) for each d
for d in sizes:
    rng = np.random.default_rng([seed, d])
    draws = (rng.normal(size=(n_keys + 1, d)) for _ in range(n_draws))  # a query, then its keys
    raw = np.array([draw[1:] @ draw[0] for draw in draws])
    for name, scores in zip(series, (raw, raw / np.sqrt(d))):
        weights = softmax(scores)
        values = (scores.std(axis=-1), weights.max(axis=-1), entropy(weights), gradient_norm(weights))
        means = (scores.std(), *(value.mean() for value in values[1:]))
        for measure, value, mean in zip(measures, values, means):
            table[measure, name].append((mean, *np.quantile(value, (0.1, 0.9))))

# %% [markdown]
# ## Single draws
# One query and its keys for each size, from one generator that runs on from size to size.

# %%
rng = np.random.default_rng(seed)
singles = {}
for d in dims:
    q, k = rng.normal(size=d), rng.normal(size=(n_keys, d))
    singles[d] = np.stack([k @ q, softmax(k @ q), softmax(k @ q / np.sqrt(d))])

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
from attention import attend
from drawing import draw_example

if words:
    x, w_q, w_k, w_v = draw_example(words, d_head, n_heads, seed)
    scores, _, weights, _ = attend(x @ w_q[0], x @ w_k[0], x @ w_v[0])
    print("your sentence")
    print(f"spread of its scores\t{scores.std():z.6f}")
    print(f"largest weight of a row, mean, raw scores\t{softmax(scores).max(axis=-1).mean():z.6f}")
    print(f"largest weight of a row, mean, divided by √d\t{weights.max(axis=-1).mean():z.6f}")

# %% [markdown] notebook only
# ## The same numbers as curves
# Needs Matplotlib. The bands hold the middle 80 % of the draws.

# %% notebook only
import matplotlib.pyplot as plt

_, places = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
for axes, measure in zip(places.flat, measures):
    for name, colour, style in zip(series, ("#8A4B08", "#34288A"), ("--", "-")):
        mean, low, high = np.transpose(table[measure, name])
        axes.plot(sizes, mean, style, color=colour, label=name)
        axes.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set(title=measure, xlabel="d")
places[0, 0].set_yscale("log")
places[0, 0].legend()
plt.show()
