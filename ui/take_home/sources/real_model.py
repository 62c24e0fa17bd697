"""Inside a real model: what one head of a trained encoder looks at.

The model is all-MiniLM-L6-v2 (Apache-2.0), its matrices rounded to whole numbers. Its files are too large for a
program: put the folder core/pretrained/model of the dashboard's repository beside this file, as `model`. Numbers are
rounded to six decimals. Needs Python 3.11 and NumPy.
"""

import math
from functools import partial

import numpy as np

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
# Every layer reads what the one before has made of the words.

# %%
from attention import attend
from pretrained_model import embed, join_words, layer_norm, leave_out_ends, matrix, stored

n_heads = 12
share_below = np.vectorize(lambda value: 0.5 * (1 + math.erf(value / math.sqrt(2))))


def split(x):
    """(position, d_model) to (head, position, d_head)."""
    return x.reshape(len(pieces), n_heads, -1).swapaxes(0, 1)


x = embed(pieces)
for number in range(layer + 1):

    def dense(x, name, number=number):
        """One of the layer's linear parts."""
        return x @ matrix(f"{number}.w_{name}") + stored[f"{number}.b_{name}"]

    def norm(x, which, number=number):
        """One of its two norms."""
        return layer_norm(x, stored[f"{number}.norm_{which}_gain"], stored[f"{number}.norm_{which}_shift"])

    *_, weights, mixed = attend(split(dense(x, "q")), split(dense(x, "k")), split(dense(x, "v")))
    x = norm(x + dense(mixed.swapaxes(0, 1).reshape(len(pieces), -1), "o"), 1)
    hidden = dense(x, "1")
    x = norm(x + dense(hidden * share_below(hidden), "2"), 2)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
names, shown = pieces, weights[head]
show("weights of the pieces", shown, ("query", name_words(names)), ("key", name_words(names)))
if whole_words:
    shown, names = join_words(shown, pieces)
if not with_ends:
    shown, names = leave_out_ends(shown), names[1:-1]
queries, keys = (("query", name_words(names)), ("key", name_words(names)))
show("weights as shown", shown, queries, keys)

# %% [markdown] notebook only
# ## The same numbers as a picture
# Needs Matplotlib. Change a setting above and run all cells: the picture follows.

# %% notebook only
import matplotlib.pyplot as plt
from picture import heat_map

_, place = plt.subplots(figsize=(7, 6))
heat_map(place, f"layer {layer}, head {head}", shown, queries, keys, "weights", queries_in)
plt.tight_layout()
plt.show()
