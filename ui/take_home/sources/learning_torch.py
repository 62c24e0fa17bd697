"""A tiny model that has learned to attend: what it looks at and what it answers, by PyTorch.

All numbers of the model were learned by training; they stand in this file, so that it needs nothing else. Numbers are
rounded to six decimals. Needs Python 3.11, NumPy and PyTorch.
"""

import base64
import io
from functools import partial

import numpy as np
import torch
from torch.nn import functional

# %% [markdown]
# ## Settings
# The words that are read, all words that the model knows, and its numbers.

# %%
words = ["[who]", "dog", "bites", "man"]
vocabulary = [
    "[who]",
    "dog",
    "man",
    "cat",
    "woman",
    "bird",
    "girl",
    "boy",
    "teacher",
    "bites",
    "sees",
    "calls",
    "follows",
]
causal = False  # whether no word may look at what follows it
divide_by_root_d = True
queries_in = "rows"  # or "columns", which prints every matrix transposed
learned = [
    "UEsDBC0AAAAIAAAAIQAKTFO3//////////8NABQAZW1iZWRkaW5nLm5weQEAEAAgAgAAAAAAAAACAAAAAAAAm+wX6h",
    "sQychQxlCtnpJanFykbqWgbpNmpK6joJ6WX1RSlJgXn1+UkgoSd0vMKU4FihdnJBakAvkahsY6CoZmmjoKtQpkAq5l",
    "2sVr5hiLLJu7yVJbxXK12d6t+jt8tkassdlzZPnhHR+2BmxnVucxcrFYtobVcurWvwYrTOPXXd54asuu9d36WTur9J",
    "O3HjXvWf3S6PW605rsJumWC3b8t/hitd18mqHv1hyLI9ZsNrss7plc2ca8YYu5wM7F6r6mngaiO9m3f91YvUPSxm5b",
    "mlnb1ldWjOZXjOP38q0Ntsi3UN6ab+2wa+K2iZafjQ5ZtZgc3R6q+3Bn3S4b43TzZxb+O0Ktd2zxsCrf/HBdpIm0hY",
    "lO5cbbu+R2qphymjWsX7bDzNR5x77N+qbNe44ZWW/pNuwznLLyic7WHczWW82dLYWtkozOmSguObnzp5bjDsVdVZqT",
    "t3js3LA9wjDT5L5l7MYUi2QLRguBvVFWS00nmTqZPJ6brv98w6Ldjutmb3OxEN6wWOf/9ogti5c07VxoJLLu5I45e5",
    "RNVm6I2sq58Y7VnmXvtFx2slvxmZtbhOucMdc0CDc9t+DKTkWLf7vtNzZu4N5x0MRiNe+Wl8bqmzdZfjUo3lK/e88O",
    "Potv8os36FoJ79yx5fKm9yZ62wy2RuxKMhMyt91yW/vzDgBQSwMELQAAAAgAAAAhAP9jq9b//////////xYAFABwb3",
    "NpdGlvbl9lbWJlZGRpbmcubnB5AQAQAAABAAAAAAAAzwAAAAAAAACb7BfqGxDJyFDGUK2eklqcXKRupaBuk2akrqOg",
    "npZfVFKUmBefX5SSChJ3S8wpTgWKF2ckFqQC+RomOgqGZpo6CrUK5AKuZZtrLKsXB9oEbfUzvLfO1thxYdlGh+3HbX",
    "V08nfv3xJhGrD5vEWHadEGpi1HdnhsS9tpaZ5hGbgjb0fnTt6tx/cK72S05NjIaLZqywmriXrnN6bant0ssLNQT1Zj",
    "qYX1jnVmEhY1W9fp7N9eZ/Nya+Mmvh3n1iqv32Zybqu2nOxOxh27bTdbAABQSwMELQAAAAgAAAAhAF1NBaz///////",
    "///xEAFABub3JtXzFfZ2Fpbl8wLm5weQEAEACgAAAAAAAAAGUAAAAAAAAAm+wX6hsQychQxlCtnpJanFykbqWgbpNm",
    "pK6joJ6WX1RSlJgXn1+UkgoSd0vMKU4FihdnJBakAvkahmY6mjoKtQrkA65bNmuAMMlmv81xm1M2e22abcpsOm2m2L",
    "jY7LHJtAm1AQBQSwMELQAAAAgAAAAhAH6R+wb//////////xIAFABub3JtXzFfc2hpZnRfMC5ucHkBABAAoAAAAAAA",
    "AABnAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6loG6TZqSuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5Go",
    "ZmOpo6CrUK5AOuHxqCGgIGz5dHLRNeKyFqq3dJZaqG8dJDysaKE3WkFNimAgBQSwMELQAAAAgAAAAhAOtwvtr/////",
    "/////wkAFAB3X3FfMC5ucHkBABAAgAIAAAAAAABbAgAAAAAAAJ2KW0sUYQBADaOkWELI1MRas2lmndmZb775xiURL5",
    "FWmpcgUaEUzbWy0lojijKLiuohxDUibXGV1r05szPfXESiqwqGSGRUIj5IRb4YmYb5EEn2Fzpv53A6isuKSivXRF2I",
    "ukzWOZuPucgMK5lZD0nGStY3uc67ahqrm1x1zn89v+Z0s3O1N5+oOetcdYpPZ6x8uo2xtlj/kw31TKtIokQ6iSpHFf",
    "YUUA5jladsmbRodKXFKAP2CvW42paq6d/QLNnBvBIawlPaDCcCB8qT79I/QAOmjSvyF6aErn581HgLSrU8NR4ucH32",
    "afaNUZgyjLcZsXSPcm6LyLv1RhsyFdUJ24Q5rlZPkArMM/A2HGDHVt9KaZYbksvEeDiJ/4SWE57IRPse+J29ibPxJm",
    "4zuCP1akM404xnRtRs0R0pVjzqL81Nsn5kJ4wdqfvCnxVC0/RxYSsuQMnIVDcqg8yk9xpTzsq2Z+gS+1s/yL8wpn0T",
    "wa/hOPG10WqO4joxx38E5ihVoU5kg13wA7cEs/jatIvsMni/cz/bGGoRctUB+0mpD8zDU/o4ICRHWnbycDgCO9laJu",
    "ANBi1gFIzoz5GHjw5waL3fGljQKo3rsBh95B3Y2/8proLnqELdyXoEi5mhCna/MAVW9AdGr7wORYWH8AyD9Ri8XVjh",
    "uqm1qkch8O7+lyxJ/ATzvAUY/lzuamjJt9hzwycDk3okzfX3Ah+dj+4r7ShRNGRKy4rsjQiihU8RS6iH3W3MYJ87EC",
    "1O0u+IsUgSJnARiDFumfeoiV2HbJ7gCuxhD4Aq8jD9F1BLAwQtAAAACAAAACEAD9CsSf//////////CQAUAHdfa18w",
    "Lm5weQEAEACAAgAAAAAAAFsCAAAAAAAAnY7vSxNhAIAtxHSTihDDKBpuubvz7va+d+8sRCmsVJSypB9OTBlu64eiso",
    "mFkSVFkN8iMauhpvslu9vu3ntHFCmi1MSSiIhCiSzK0FBBqw+Vkf0LPd+e59Nz6/DxQ0ds6xJaEi6aHU5PrducazDn",
    "uQQzazC7Gt3NbntDTaPb4fzXC+31Huda95yxNznXnII5rAHm0KzhkuE/0fXKd5VpNUOqD/xQb8B8eC4coCZNG7mreE",
    "EaAzN0EV+q+HeNS/pQn2UODyMvLshc5m1Qb91HKkly7DMpki9EpqFX0fmkyFAoRVVx8uASqmSfK9WhslA/7IzMDJTy",
    "d5iHhtRIdqym9yz6ItXxWEkXea5ZNEUnoV4+gM3gGEjNtvFdxjKty1Ks1agvwufll6reVGYZjbSx39WfeAA+pWaNVc",
    "pvyscmahgU+FPRA4bCeUjUqtcuFmkHnyvrcAxeia4GBW5FDnBTIBFZND66R30zaONymR5pVRy2JMVGYwe9y/SQ9RPx",
    "0RFmUanIqutfwBnd76MiTGLSrNuUecLG2oPjWrf0VfgWnvP/ATuj5eE4GaTT0DOkAy5yTVtUOsA9+pVUDq1b2lGHlC",
    "K0Eh8b8u2nNilP4IpaayoGJWiDLABJisPtwnXLBFoQUoidvA6NBXdn5UsjwCM4VI5xS7dh2DvF/aJKxc1BJC7JncpH",
    "kC6PhKsCR+Uu7LLeFFpIA+rBJ3CfkCk2oVpyitqqlOz4IMzwcnQvqRTiSMJErFBOgxDNkMf3T4JW+q0wAfpwItUQu6",
    "ytl+dVo9qGCnEcv1OTrbPGR9xfUEsDBC0AAAAIAAAAIQDv+ene//////////8JABQAd192XzAubnB5AQAQAIACAAAA",
    "AAAAWQIAAAAAAACdyNtLFFEAgPFVSVB86GauEbjV6l5n5szlTCCKUSSKmEtpYEi6m6shobHrBVELBckss7AsMsnSbL",
    "edOTNz5swWISRIYtGDL4l5WQwCLTYyEOwlyP6FvrfvN3S6otRTmWBqNXXYav3BiwFbrsWWV8fZ3BZbXVOgOeBtrG4K",
    "1Pr/eaH3ctC/48FL3iv+nbezotvCig63pcvyn6WGHutCrftGdAnV8VFUrc0q9/AbcVbYijijvfI1+h2a0VaVYmvc6V",
    "PTpN3wdzSIDJV3tHCJ8hhsyu7UMtQkJmqN4MPaeZIuruO3wk0BTBQZMWKazNKGX26Sblcb2HrRrJ96tEtvBiNw6OkD",
    "tV3Y1OfolfCtSIq4baTSOCcmRMlZPAru2ONKOzMoLkk9znKQD68K63whXlNscrFazSNqKnKcdMnDQi/ngxeEh3I318",
    "O+crJwm51Ql54PWGNqA39sohJ/GP8M4mKy+gUmpfTxVYKCqsgGPepY5mPcCiiX7Myaag7vcc2F8g2vlkxEpl/6iTrV",
    "k0IrVxTqBB/13KwGy2374mg66cBUaJtxmRd5D7WAS7RpIV3LpPLCG1beoLl6PMJZw4kuH38fJxiQPRgpYMukfdQ6M4",
    "5k9gfp4xeoYegEg2NupQx+MtdjM9hPF3ADjhr6BG2FU8qQzFMm4iF99F2hBVSEu9A39Is9R//RPKpENPRd7wUBcN2V",
    "K1fA2QMZ2jQ5g7+SUoKch3Aj3guX9SdGDcOwSc9eg3lSwpepR9w5kqzNq21oVcuMKPA9k0GJR7N1NOlzxJUZlGaEyL",
    "SjP/wXUEsDBC0AAAAIAAAAIQB8J3Wc//////////8JABQAd19vXzAubnB5AQAQAIACAAAAAAAAVwIAAAAAAACdiu9L",
    "E2EAgLWwLAsqi5oYHuncTd/b3Xt7z8hK/JKWZWqpWYK19CycOdlM0YooAgmsBRpUIy3d5qy73b33vrfwiyD9AhMjwU",
    "CjhEqICDSCvlSa/Qs9356Hp/twRXHp8fi41rgLtjrZV+u15TK2PfWiDTC2eo+3xetqOunx1sn/eoGr0Scvd99ZV7O8",
    "7CzMAQzMsQPmEvOfrK0VU/vtuGqoAVfy+SQtsvTgrR4vzevT0gReyDwRi9ElLgOGmCbnM4ANCzL4tFhM+ixtNB1oq8",
    "giWZOHDqF0eISGg/PiYiAadWt32EmHD5WQTdYxjbN2mNti6w0osbTavtNMElMe76fn0XujxagSNhqb8Yjo0YfRU/jV",
    "DOgryRllVO8BFj4x0q0kw7Leatgp2XmeXLT+VnhhNcxXi0ArdfBu0iK0SQPGRzqPLME87jRMjvgdfnP5F6iZYA9xFr",
    "WfdkanFL+2BbvBIt+rFLB+oTydxcdyxvE3dE2ogWLWrMSJdfpPqYy+C0z1XUH7zB00Ty9ELloI0o1TGaUIxPq0vcqQ",
    "2JF5jtyUfmQB7gatDP/Cc7aA/gfctfqF545Rmk0EdVIqdnrE3WZC8CW+TLqcEzRXXUNqBEtqiTKT2aBXOUfwQeWVmj",
    "W4avsHfkY66iwN9WhfWMa8HmUjt6UR/T4uwhV6AF4lw2oK3aBMi210wPqaJCFZlYVy2JCqGY1Ycd5Ds06v8kZo18dI",
    "SmiF2R5sxLd4hzZO3EARvsPJbIAeqi+Q+9EANNZ9gnOhwXBQOfCkme4CYb2LJMJCVCZE0QL3F1BLAwQtAAAACAAAAC",
    "EAcLGAv///////////CQAUAGJfb18wLm5weQEAEACgAAAAAAAAAGcAAAAAAAAAm+wX6hsQychQxlCtnpJanFykbqWg",
    "bpNmpK6joJ6WX1RSlJgXn1+UkgoSd0vMKU4FihdnJBakAvkahmY6mjoKtQrkA65Da9ZrTtWR37J8w/YN99dJbd0iK6",
    "fFb1Sw8YYhk37Nmo6lAFBLAwQtAAAACAAAACEAe9r9Ev//////////DQAUAG5vcm1fZ2Fpbi5ucHkBABAAoAAAAAAA",
    "AABmAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6loG6TZqSuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5Go",
    "ZmOpo6CrUK5AOuett620c23204bNNsDW1TbF1sf9vE2nLaPrcRtTW29bMFAFBLAwQtAAAACAAAACEAcAURT///////",
    "////DgAUAG5vcm1fc2hpZnQubnB5AQAQAKAAAAAAAAAAZwAAAAAAAACb7BfqGxDJyFDGUK2eklqcXKRupaBuk2akrq",
    "OgnpZfVFKUmBefX5SSChJ3S8wpTgWKF2ckFqQC+RqGZjqaOgq1CuQDrtTN/cYL1lbrf9Z4oHdpxRbDl4YzNQo3iBr/",
    "1PfdfHFTnBEAUEsDBC0AAAAIAAAAIQBUo51///////////8LABQAcmVhZG91dC5ucHkBABAAIAIAAAAAAAD/AQAAAA",
    "AAAJ3I70sTYQDAcYdGtaICmTl6czLbne1u9+t57hHxTb8GZgvfaEQ2WzkRqczNBhIFEtGLEsoo8IVOpljbbbu73fM8",
    "N4kMRmGNqF70QnpRUKAQRSSKr4zsX+j77vt5eKoz3HHGVZWsus72xhIX42wLw7b2KSzPsH2D8eF49ErPYLw39s9D0U",
    "uJ2JYn+qNXY1vPyRrPyGoTz9xg/jP3H3mC/+rcotukfY6ge51qtVYq5Kv5o9om1p3Pc9ViJPcdNDc/yb8Ra60v+B0J",
    "43V/2pknABalMHg9bRodtN46nytnbhZPGBf4fpDCljUA2wpteAVRnhFKxmVyRNkPN9F9ehfuJC8KQzBCu8Bvw2Nmgj",
    "99NSj81IXE7F5qg4+ipoX0CaGSH8t0K4s0oy1pz7RO9AtP2SHbUk4ao8xj5T0+qLXj7agG9QTmyHHNhV4Ka3q96bMk",
    "6tHK8LboRQP5T43tME0Pk2niNs/Sc2YDaIE78CT4RqLAU+qiHGyV6nLz5iPhuTRSSMLdTo7zlCIIywvqntRydii9Sh",
    "YbBZSia0YQeCQdrhw6UNRs7sEqtrxZ4Q6ckbqdOvQ2MGuflq41QcufSYJJZZw0mJw8ourBXQRCFi+AH+oSTECD3yA+",
    "eZZuUHduyj8KjpGxgBgog2V13EZonR+W74EZ/EGoaCUugIP0Fa6k/wJQSwMELQAAAAgAAAAhALr/wJ3//////////x",
    "AAFAByZWFkb3V0X2JpYXMubnB5AQAQAJoAAAAAAAAAYQAAAAAAAACb7BfqGxDJyFDGUK2eklqcXKRupaBuk2akrqOg",
    "npZfVFKUmBefX5SSChJ3S8wpTgWKF2ckFqQC+RqGxjqaOgq1CuQDLm6ttZvU1m7V/rs02uDwykNzkrWKthYsm73l+T",
    "IAUEsBAi0DLQAAAAgAAAAhAApMU7cAAgAAIAIAAA0AAAAAAAAAAAAAAIABAAAAAGVtYmVkZGluZy5ucHlQSwECLQMt",
    "AAAACAAAACEA/2Or1s8AAAAAAQAAFgAAAAAAAAAAAAAAgAE/AgAAcG9zaXRpb25fZW1iZWRkaW5nLm5weVBLAQItAy",
    "0AAAAIAAAAIQBdTQWsZQAAAKAAAAARAAAAAAAAAAAAAACAAVYDAABub3JtXzFfZ2Fpbl8wLm5weVBLAQItAy0AAAAI",
    "AAAAIQB+kfsGZwAAAKAAAAASAAAAAAAAAAAAAACAAf4DAABub3JtXzFfc2hpZnRfMC5ucHlQSwECLQMtAAAACAAAAC",
    "EA63C+2lsCAACAAgAACQAAAAAAAAAAAAAAgAGpBAAAd19xXzAubnB5UEsBAi0DLQAAAAgAAAAhAA/QrElbAgAAgAIA",
    "AAkAAAAAAAAAAAAAAIABPwcAAHdfa18wLm5weVBLAQItAy0AAAAIAAAAIQDv+eneWQIAAIACAAAJAAAAAAAAAAAAAA",
    "CAAdUJAAB3X3ZfMC5ucHlQSwECLQMtAAAACAAAACEAfCd1nFcCAACAAgAACQAAAAAAAAAAAAAAgAFpDAAAd19vXzAu",
    "bnB5UEsBAi0DLQAAAAgAAAAhAHCxgL9nAAAAoAAAAAkAAAAAAAAAAAAAAIAB+w4AAGJfb18wLm5weVBLAQItAy0AAA",
    "AIAAAAIQB72v0SZgAAAKAAAAANAAAAAAAAAAAAAACAAZ0PAABub3JtX2dhaW4ubnB5UEsBAi0DLQAAAAgAAAAhAHAF",
    "EU9nAAAAoAAAAA4AAAAAAAAAAAAAAIABQhAAAG5vcm1fc2hpZnQubnB5UEsBAi0DLQAAAAgAAAAhAFSjnX//AQAAIA",
    "IAAAsAAAAAAAAAAAAAAIAB6RAAAHJlYWRvdXQubnB5UEsBAi0DLQAAAAgAAAAhALr/wJ1hAAAAmgAAABAAAAAAAAAA",
    "AAAAAIABJRMAAHJlYWRvdXRfYmlhcy5ucHlQSwUGAAAAAA0ADQD/AgAAyBMAAAAA",
]

# %% [markdown]
# ## What was learned
# The file of an NPZ as text: one array a name, in half precision.

# %%
arrays = np.load(io.BytesIO(base64.b64decode("".join(learned))))
p = {name: torch.from_numpy(arrays[name]).double() for name in arrays}
n_layers = sum(name.startswith("w_q") for name in p)

# %% [markdown]
# ## The model
# Each layer reads its rows brought to mean 0 and variance 1, attends, and adds what it found. A feed-forward part does
# the same with each row alone, where there is one.


# %%
def look(queries, keys, may_attend, divide):
    """Weights of each query over the keys."""
    scores = queries @ keys.mT / (queries.shape[-1] ** 0.5 if divide else 1.0)
    return torch.softmax(scores.masked_fill(~may_attend, -torch.inf), dim=-1)


# %%
numbers = torch.tensor([vocabulary.index(word) for word in words])
n, size = len(words), p["embedding"].shape[1:]
everywhere = torch.ones(n, n, dtype=torch.bool)
may_attend = everywhere.tril() if causal else everywhere
x = functional.embedding(numbers, p["embedding"])  # (position, d_model)
if "position_embedding" in p:
    x = x + p["position_embedding"][:n]
read, weights = x, []
for i in range(n_layers):
    normed = functional.layer_norm(x, size, p[f"norm_1_gain_{i}"], p[f"norm_1_shift_{i}"])
    q, k, v = (normed @ p[f"{name}_{i}"] for name in ("w_q", "w_k", "w_v"))
    weights.append(look(q, k, may_attend, divide_by_root_d))
    x = x + functional.linear(weights[-1] @ v, p[f"w_o_{i}"].mT, p[f"b_o_{i}"])
    if f"w_1_{i}" in p:
        normed = functional.layer_norm(x, size, p[f"norm_2_gain_{i}"], p[f"norm_2_shift_{i}"])
        hidden = torch.relu(functional.linear(normed, p[f"w_1_{i}"].mT, p[f"b_1_{i}"]))
        x = x + functional.linear(hidden, p[f"w_2_{i}"].mT, p[f"b_2_{i}"])
x = functional.layer_norm(x, size, p["norm_gain"], p["norm_shift"])

# %% [markdown]
# ## The answer
# A share for each word of the vocabulary at each position; a pointer instead looks once more at the words as they came
# in, and its weights are the answer.

# %%
pointer = "pointer_q" in p
if pointer:
    keys = functional.layer_norm(read, size) @ p["pointer_k"]
    weights.append(look(x @ p["pointer_q"], keys, everywhere, True))
else:
    shares = torch.softmax(functional.linear(x, p["readout"].mT, p["readout_bias"]), dim=-1)

# %% [markdown]
# ## The numbers of the page

# %%
from printing import name_words, show

show = partial(show, queries_in=queries_in)
queries, keys = ("query", name_words(words)), ("key", name_words(words))
titles = [f"weights of layer {i}" for i in range(n_layers)]
titles = [*titles, "weights of the pointer"] if pointer else titles if n_layers > 1 else ["weights"]
for title, matrix in zip(titles, weights):
    show(title, matrix, queries, keys)
if not pointer:
    show("shares of the answers", shares, ("position", name_words(words)), ("answer", vocabulary))
