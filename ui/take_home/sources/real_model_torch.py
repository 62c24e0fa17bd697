"""Inside a real model, with PyTorch: what one head of a trained encoder looks at, by nn.TransformerEncoderLayer.

The model is all-MiniLM-L6-v2 (Apache-2.0), its matrices rounded to whole numbers. Its files are too large for a
program: put the folder core/pretrained/model of the dashboard's repository beside this file, as `model`. Everything is
in double precision. Needs Python 3.11, NumPy and PyTorch.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

# %% [markdown]
# ## Settings
# The text as the model's vocabulary splits it; "##" goes on within a word.

# %%
pieces = ["[CLS]", "me", "##era", "bought", "a", "new", "bat", "[SEP]"]
layer = 3
head = 1
whole_words = True  # else pieces
with_ends = True  # whether [CLS] and [SEP] are shown
queries_in = "rows"  # or "columns", which prints every matrix transposed

# %% [markdown]
# ## Six layers, the norm behind each part
# PyTorch keeps W_q, W_k and W_v in one matrix, and every matrix transposed.

# %%
from joined_words import join_words, leave_out_ends
from pretrained_model import embed, matrix, stored


def tensors(number):
    """Numbers of a layer under PyTorch's names."""
    found = {"self_attn.out_proj": "o", "linear1": "1", "linear2": "2"}
    state = {f"{theirs}.weight": matrix(f"{number}.w_{ours}").T for theirs, ours in found.items()}
    state |= {f"{theirs}.bias": stored()[f"{number}.b_{ours}"] for theirs, ours in found.items()}
    state["self_attn.in_proj_weight"] = np.concatenate([matrix(f"{number}.w_{name}").T for name in "qkv"])
    state["self_attn.in_proj_bias"] = np.concatenate([stored()[f"{number}.b_{name}"] for name in "qkv"])
    for which in (1, 2):
        state[f"norm{which}.weight"] = stored()[f"{number}.norm_{which}_gain"]
        state[f"norm{which}.bias"] = stored()[f"{number}.norm_{which}_shift"]
    return {name: torch.from_numpy(np.array(array, dtype=float)) for name, array in state.items()}


x = torch.from_numpy(embed(pieces))[None]
block = nn.TransformerEncoderLayer(
    384, 12, 1536, dropout=0.0, activation="gelu", layer_norm_eps=1e-12, batch_first=True, dtype=torch.float64
).eval()
for number in range(layer + 1):
    block.load_state_dict(tensors(number))
    with torch.no_grad():
        weights = block.self_attn(x, x, x, average_attn_weights=False)[1][0]
        x = block(x)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
names, shown = pieces, weights[head].numpy()
show("weights of the pieces", shown, ("query", name_words(names)), ("key", name_words(names)))
if whole_words:
    shown, names = join_words(shown, pieces)
if not with_ends:
    shown, names = leave_out_ends(shown), names[1:-1]
queries, keys = (("query", name_words(names)), ("key", name_words(names)))
show("weights as shown", shown, queries, keys)
