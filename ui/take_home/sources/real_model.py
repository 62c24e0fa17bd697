"""Inside a real model: what one head of a trained encoder looks at.

The model is all-MiniLM-L6-v2 (Apache-2.0), its matrices rounded to whole numbers. Its files are too large for a
program: put the folder core/pretrained/model of the dashboard's repository beside this file, as `model`. Numbers are
rounded to six decimals. Needs Python 3.11 and NumPy.
"""

from functools import partial

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
from joined_words import join_words, leave_out_ends
from pretrained_model import embed, through_layer

x = embed(pieces)
for number in range(layer + 1):
    x, weights = through_layer(x, number)

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
