"""Encoder block, parameter count: every learned tensor with its shape, and how many numbers it holds.

Everything is computed from the sizes; no random number and no trained weight is involved. Needs Python 3.11.
"""

import math

# %% [markdown]
# ## Settings
# d_model must be a multiple of n_heads.

# %%
d_model = 32  # width of an embedding
n_heads = 4
d_ff = 64  # inner width of the feed-forward part
n_layers = 1
biases = "all"  # or "no attention biases", "no linear biases", "none" (which leaves out the norms' shifts too)

# %% [markdown]
# ## The tensors
# Attention has four square matrices, w_o the one that mixes the heads. The number of heads does not matter: each works
# in its own d_model / n_heads columns.

# %%
dense = dict.fromkeys("qkvo", (d_model, d_model)) | {"1": (d_model, d_ff), "2": (d_ff, d_model)}
shapes = {}
for name, shape in dense.items():
    shapes[f"w_{name}"] = shape
    if biases == "all" or (biases == "no attention biases" and name in "12"):
        shapes[f"b_{name}"] = shape[1:]
for norm in ("norm_1", "norm_2"):
    shapes[f"{norm}_gain"] = (d_model,)
    if biases != "none":
        shapes[f"{norm}_shift"] = (d_model,)
counts = {name: math.prod(shape) for name, shape in shapes.items()}

# %% [markdown]
# ## The numbers of the page

# %%
print("tensor\tshape\tcount")
for name, shape in shapes.items():
    print(name, shape, counts[name], sep="\t")
print(f"\none block\t{sum(counts.values())}")
print(f"all layers ({n_layers})\t{n_layers * sum(counts.values())}")

# %% [markdown] notebook only
# ## The same numbers as a picture
# Needs Matplotlib.

# %% notebook only
import matplotlib.pyplot as plt

_, axes = plt.subplots(figsize=(8, 5), layout="constrained")
bars = axes.barh(list(counts), list(counts.values()), color="#0072B2")
axes.bar_label(bars, [f"{count:,}" for count in counts.values()], padding=4)
axes.set(xlabel="parameters", title=f"one block: {sum(counts.values()):,} parameters")
axes.invert_yaxis()
axes.margins(x=0.15)
plt.show()
