"""Build attention yourself: eight functions, from the softmax to a whole block in NumPy and in PyTorch.

Write the body of each function in place of its last line, run the cell, then run the check below it: it says whether
the function is right, and if not, which mistake it makes. Keep check_attention.py in the folder of this notebook. Needs
Python 3.11 and NumPy; the last function needs PyTorch too, and can be left out.
"""

import check_attention as check
import numpy as np

# %% [markdown]
# ## Settings
# The sentence and the seed that were on the page; the checks draw their numbers from the seed. Change them as you like.

# %%
words = ["Meera", "bought", "a", "new", "bat"]
seed = 0

# %% [markdown]
# ## 1. Softmax
# Shares that sum to 1 along the last axis: the exponential of each score, divided by the sum of its row. Scores may be
# large, and some may be minus infinity.

# %%


def softmax(scores):
    """(..., key) to weights of the same shape."""
    raise NotImplementedError


# %%
check.use(seed)
check.softmax(softmax)

# %% [markdown]
# ## 2. Scaled dot-product attention
# Scores q kᵀ, divided by the root of d; minus infinity where may_attend is False; softmax; then a mixture of the rows
# of v. The function returns two arrays, the weights and the output.

# %%


def attention(q, k, v, may_attend=None):
    """(query, d), (key, d), (key, d_value) to weights (query, key) and output (query, d_value)."""
    raise NotImplementedError


# %%
check.attention(attention)

# %% [markdown]
# ## 3. The causal mask
# True where a query may look: at itself and at what stands before it.

# %%


def causal_mask(n):
    """An array of truth values of shape (query, key)."""
    raise NotImplementedError


# %%
check.causal_mask(causal_mask)

# %% [markdown]
# ## 4. Two heads
# Each head has its own projections w_q[h], w_k[h] and w_v[h]. The outputs of the heads stand side by side, head 0
# first, and are mixed by w_o.

# %%


def two_heads(x, w_q, w_k, w_v, w_o):
    """(word, d_model), three times (head, d_model, d_head), (d_model, d_model) to (word, d_model)."""
    raise NotImplementedError


# %%
check.two_heads(two_heads)

# %% [markdown]
# ## 5. Positions
# Position p and pair i have the angle p / 10000^(2i/d). Its sine stands at feature 2i, its cosine at feature 2i + 1.

# %%


def positional_encoding(n, d_model):
    """An array of shape (position, d_model); d_model is even."""
    raise NotImplementedError


# %%
check.positional_encoding(positional_encoding)

# %% [markdown]
# ## 6. Layer norm
# Each word by itself: subtract the mean of its features, divide by the root of their variance + 1e-5. No gain, no
# shift.

# %%


def layer_norm(x):
    """(word, d_model) to the same shape."""
    raise NotImplementedError


# %%
check.layer_norm(layer_norm)

# %% [markdown]
# ## 7. A block
# Pre-norm: x + heads(norm(x)), then h + feed_forward(norm(h)), where feed_forward(h) = gelu(h w_1 + b_1) w_2 + b_2. The
# parameters are in a dictionary: p["w_q"], p["w_k"], p["w_v"] as in exercise 4, p["w_o"], p["w_1"], p["b_1"], p["w_2"]
# and p["b_2"]. The exact GELU is given: check.gelu.

# %%


def block(x, p):
    """(word, d_model) to the same shape."""
    raise NotImplementedError


# %%
check.block(block)

# %% [markdown]
# ## 8. The same block by PyTorch
# Make an nn.TransformerEncoderLayer(d_model, 2, d_ff, ...) in double precision that computes what your block computes,
# copy the parameters into it, and give x a batch axis. Its linear maps keep their matrices transposed; its
# in_proj_weight holds those of q, k and v one below the other. check.side_by_side(p["w_q"]) puts the matrices of both
# heads beside each other. The biases of its attention are 0; its norms begin with gain 1 and shift 0.

# %%


def block_torch(x, p):
    """NumPy array (word, d_model) to a NumPy array of the same shape; import torch in here."""
    raise NotImplementedError


# %%
check.block_torch(block_torch)

# %% [markdown]
# ## Your own sentence
# Random vectors, so the pattern means nothing yet; the causal mask can be seen in it all the same.

# %%
if check.all_done("softmax", "attention", "causal_mask", "positional_encoding"):
    rng = np.random.default_rng(seed)
    vectors = {word: rng.normal(size=8) for word in dict.fromkeys(words)}
    x = np.array([vectors[word] for word in words]) + positional_encoding(len(words), 8)
    weights, _ = attention(x, x, x, causal_mask(len(words)))
    for word, row in zip(words, weights):
        print(*(f"{weight:.2f}" for weight in row), ascii(word)[1:-1], sep="  ")

# %%
check.summary()
