"""Checks for the functions of build_attention.ipynb: right or not, and if not, which mistake gives these numbers.

Everything is computed here, in a few lines of plain NumPy, from the seed. Needs Python 3.11 and NumPy.
"""

import math
import sys
import traceback

import numpy as np

TOLERANCE = 1e-8
DONE = {}
_SEED = [0]

if hasattr(sys.stdout, "reconfigure"):  # the signs in the sentences, on any console
    sys.stdout.reconfigure(encoding="utf-8")


def use(seed):
    """Draw the numbers of all checks from this seed."""
    _SEED[0] = int(seed)


def _normal(*shape):
    """Random numbers that depend on the seed and the shape only."""
    return np.random.default_rng([_SEED[0], *shape]).normal(size=shape)


def _softmax(scores, axis=-1):
    shares = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return shares / shares.sum(axis=axis, keepdims=True)


def _weights(q, k, seen=True, scale=None, fill=-np.inf):
    """Weights of one head; a query that sees nothing gets zeros."""
    scores = q @ k.swapaxes(-2, -1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    shares = np.exp(np.where(seen, scores, fill))
    return shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-300)


def gelu(x):
    """The exact one: x times the share of a normal distribution below x."""
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def side_by_side(w):
    """(head, d_model, d_head) to (d_model, head · d_head), head 0 first."""
    return np.concatenate(list(w), axis=1)


# What is said


def _say(name, is_right, text):
    DONE[name] = is_right
    print(f"{'✓' if is_right else '·' if is_right is None else '✗'} {name}: {text}")
    return bool(is_right)


def _ask(name, function, *arguments):
    """What the function gives; None after the reason was said why there is nothing."""
    try:
        found = function(*(np.array(each) if isinstance(each, np.ndarray) else each for each in arguments))
    except NotImplementedError:
        _say(name, None, "not done yet. Write the body of the function, run its cell, then run this one again.")
        return None
    except ImportError as error:
        _say(name, None, f"left out: {error}.")
        return None
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1].lineno
        _say(name, False, f"it stopped with {type(error).__name__}: {error} (line {line}).")
        return None
    if found is None:
        _say(name, False, "it gives nothing back: the return is missing.")
    return found


def _equal(one, other):
    """Whether two arrays are the same but for rounding; NaN counts as equal to NaN."""
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=TOLERANCE, equal_nan=True)


def _judge(name, found, right, mistakes, what="the result"):
    """One line about an array; mistakes is a sentence to the array, or the arrays, that this mistake gives."""
    try:
        values = np.asarray(found, dtype=float)
    except (TypeError, ValueError):
        return _say(name, False, f"{what} should be an array of numbers; it is of type {type(found).__name__}.")
    said = [
        sentence
        for sentence, wrong in mistakes.items()
        if any(
            _equal(values, one) and not _equal(right, one) for one in (wrong if isinstance(wrong, list) else [wrong])
        )
    ]
    if _equal(values, right):
        return _say(name, True, "right.")
    if said:
        return _say(name, False, " Or: ".join(said))
    if values.shape != right.shape:
        return _say(name, False, f"{what} should have the shape {right.shape}; it has {values.shape}.")
    if np.isnan(values).any():
        return _say(name, False, f"{what} holds NaN.")
    far = np.abs(values - right)
    place = tuple(int(i) for i in np.unravel_index(far.argmax(), far.shape))
    return _say(
        name, False, f"{what} is off by up to {far.max():.3g}, most at {place}; it is none of the mistakes known here."
    )


# The checks


def softmax(function):
    """Of one matrix of scores, of large scores, and of a row with a masked one."""
    name, scores = "softmax", _normal(3, 5)
    found = _ask(name, function, scores)
    if found is None:
        return False
    shares = np.exp(scores)
    shifted = shares / shares.max(axis=-1, keepdims=True)
    ok = _quietly(
        _judge,
        name,
        found,
        _softmax(scores),
        {
            "the softmax runs along the wrong axis: the columns sum to 1, and the rows should (axis=-1).": [
                _softmax(scores, 0),
                shifted / shifted.sum(axis=0),
            ],
            "the sum runs over the whole matrix; each row has its own (axis=-1, keepdims=True).": [
                shares / shares.sum(),
                shifted / shifted.sum(),
            ],
            "those are exponentials: divide them by the sum of their row.": shares,
            "those are exponentials, the largest score subtracted: divide them by the sum of their row.": shifted,
            "the exponential is missing: scores were divided by their sum.": scores
            / scores.sum(axis=-1, keepdims=True),
            "the signs are turned: the largest score must get the largest weight.": _softmax(-scores),
        },
    )
    if not ok:
        return False
    large = np.array([[1000.0, 999.0], [-1000.0, -1001.0]])
    with np.errstate(all="ignore"):
        found = _ask(name, function, large)
    if found is None:
        return False
    if not np.allclose(found, _softmax(large), atol=TOLERANCE):
        return _say(
            name, False, "right for small scores, but scores of 1000 overflow: subtract the largest of each row first."
        )
    masked = np.array([[0.0, -np.inf, 0.0]])
    with np.errstate(all="ignore"):
        found = _ask(name, function, masked)
    if found is None:
        return False
    if not np.allclose(found, [[0.5, 0.0, 0.5]], atol=TOLERANCE):
        return _say(name, False, f"a score of minus infinity must get weight 0; it gave {np.asarray(found).tolist()}.")
    return _say(name, True, "right, for large and for masked scores too.")


def _quietly(check, *arguments):
    """A check whose own line is not needed unless it fails."""
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        ok = check(*arguments)
    if not ok:
        print(said.getvalue(), end="")
    return ok


def attention(function):
    """Without a mask and with one; the weights, then the output."""
    name = "attention"
    q, k, v = _normal(5, 3), 1.1 * _normal(5, 3)[::-1], _normal(5, 7)
    seen = np.tril(np.ones((5, 5), dtype=bool))
    for given, mask in (("without a mask", None), ("with a mask", seen)):
        found = _ask(name, function, q, k, v, mask) if mask is not None else _ask(name, function, q, k, v)
        if found is None:
            return False
        if not isinstance(found, tuple | list) or len(found) != 2:
            return _say(name, False, "it should return two arrays: weights, output.")
        allowed = True if mask is None else mask
        scores = q @ k.T / math.sqrt(3)
        free = _softmax(scores)
        shares = np.where(allowed, np.exp(scores), 0)
        mistakes = {
            "the scale is missing: divide the scores by the root of d.": _weights(q, k, allowed, scale=1),
            "the scores are divided by d; it should be its root.": _weights(q, k, allowed, scale=1 / 3),
            "the scores are divided by the root of the number of keys; it should be that of d.": _weights(
                q, k, allowed, scale=1 / math.sqrt(5)
            ),
            "the scores are multiplied by the root of d.": _weights(q, k, allowed, scale=math.sqrt(3)),
            "the scores are transposed: k qᵀ lets the keys ask.": _weights(k, q, allowed),
            "the softmax runs along the wrong axis: each query's row should sum to 1.": shares / shares.sum(axis=0),
            "the exponentials are not divided by their sum.": shares,
            "those are the scores: the softmax is missing.": np.where(allowed, scores, -np.inf),
        }
        if mask is not None:
            mistakes |= {
                "the mask is not used.": free,
                "the mask comes after the softmax, so the rows no longer sum to 1.": np.where(mask, free, 0),
                "masked scores become 0; they should become minus infinity.": _weights(q, k, mask, fill=0.0),
                "the mask is the wrong way round: True means that a query may look.": _weights(q, k, ~mask),
                "the mask is transposed: its rows are the queries.": _weights(q, k, mask.T),
            }
            # The last row sees nothing there: most softmaxes give NaN.
            turned = _weights(q, k, ~mask)
            turned[-1] = np.nan
            mistakes[
                "the mask is the wrong way round: True means that a query may look (NaN: a query sees no key)."
            ] = turned
        right = _weights(q, k, allowed)
        if not _quietly(_judge, name, found[0], right, mistakes, f"the array of weights ({given})"):
            return False
        outputs = {
            "the output mixes keys; it should mix the rows of v.": right @ k,
            "the output mixes queries; it should mix the rows of v.": right @ q,
            "the output takes the weights transposed: weights @ v.": right.T @ v,
            "the output is the plain average of v.": np.tile(v.mean(axis=0), (5, 1)),
        }
        if not _quietly(_judge, name, found[1], right @ v, outputs, f"the output ({given})"):
            return False
    return _say(name, True, "right, with and without a mask.")


def causal_mask(function):
    """The mask of five words."""
    name, ones = "causal_mask", np.ones((5, 5))
    found = _ask(name, function, 5)
    if found is None:
        return False
    right = np.tril(ones)
    added = np.where(right > 0, 0.0, -np.inf)
    ok = _quietly(
        _judge,
        name,
        found,
        right,
        {
            "it is the wrong way round: True should mean that a query may look.": 1 - right,
            "it is mirrored: each query sees itself and what comes later.": right.T,
            "the diagonal is off by one: a query may look at itself.": np.tril(ones, -1),
            "the diagonal is off by one: a query sees the next word.": np.tril(ones, 1),
            "nothing is masked.": ones,
            "that is a mask to be added to the scores; truth values are wanted.": added,
        },
        "the mask",
    )
    if ok and np.asarray(found).dtype != bool:
        return _say(name, False, "the places are right; make it truth values (dtype bool).")
    return ok and _say(name, True, "right.")


def _heads(x, w_q, w_k, w_v, scale=None):
    """Outputs of all heads, (head, word, d_head)."""
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return _weights(q, k, scale=scale) @ v


def two_heads(function):
    """Five words of width six."""
    name, x = "two_heads", _normal(5, 6)
    w_q, w_k, w_v = (_normal(2, 6, 3), 0.7 * _normal(3, 6, 2).swapaxes(0, 2), 0.9 * _normal(6, 2, 3).swapaxes(0, 1))
    w_o = _normal(6, 6)
    found = _ask(name, function, x, w_q, w_k, w_v, w_o)
    if found is None:
        return False
    heads = _heads(x, w_q, w_k, w_v)
    joined = side_by_side(heads)
    return _judge(
        name,
        found,
        joined @ w_o,
        {
            "W_o is missing at the end.": joined,
            "W_o is used transposed.": joined @ w_o.T,
            "the heads are joined in the wrong order: head 0 comes first.": side_by_side(heads[::-1]) @ w_o,
            "the heads are joined by a reshape alone, which mixes words.": heads.reshape(5, 6) @ w_o,
            "the features of the heads alternate; each head's should stand side by side.": heads.transpose(
                1, 2, 0
            ).reshape(5, 6)
            @ w_o,
            "the scale takes the root of d_model; each head has d_head features.": side_by_side(
                _heads(x, w_q, w_k, w_v, 1 / math.sqrt(6))
            )
            @ w_o,
            "the scale is missing.": side_by_side(_heads(x, w_q, w_k, w_v, 1)) @ w_o,
            "both heads use the projections of head 0.": side_by_side(heads[[0, 0]]) @ w_o,
            "the heads are added and not joined.": heads.sum(axis=0),
            "the heads are averaged and not joined.": heads.mean(axis=0),
        },
    )


def positional_encoding(function):
    """Seven positions of width six, and an angle that a small table does not show."""
    name, n, d = "positional_encoding", 7, 6
    found = _ask(name, function, n, d)
    if found is None:
        return False
    p, j = np.arange(n)[:, None], np.arange(d)

    def waves(angles, turned=False):
        return np.where((j % 2 == 1) != turned, np.cos(angles), np.sin(angles))

    angles = p / 10000.0 ** (j // 2 * 2 / d)
    half = p / 10000.0 ** (np.arange(d // 2) * 2 / d)
    return _judge(
        name,
        found,
        waves(angles),
        {
            "sine and cosine are exchanged.": waves(angles, turned=True),
            "all sines come first, then all cosines; they should alternate.": np.hstack([np.sin(half), np.cos(half)]),
            "each feature has an angle of its own; a sine and the cosine beside it share one.": waves(
                p / 10000.0 ** (j / d)
            ),
            "the exponent counts features; i counts pairs.": waves(p / 10000.0 ** (2 * j / d)),
            "positions begin at 1; they should begin at 0.": waves((p + 1) / 10000.0 ** (j // 2 * 2 / d)),
            "the angles are taken for degrees.": waves(np.deg2rad(angles)),
            "the exponent has lost its factor 2.": waves(p / 10000.0 ** (j // 2 / d)),
            "the angles are multiplied by the power; they should be divided.": waves(p * 10000.0 ** (j // 2 * 2 / d)),
            "rows and columns are exchanged.": waves(angles).T,
        },
    )


def _norm(x):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def layer_norm(function):
    """Five words of width four."""
    name, x = "layer_norm", 2 * _normal(5, 4) + 1
    found = _ask(name, function, x)
    if found is None:
        return False
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    sample = x.var(axis=-1, ddof=1, keepdims=True)
    return _judge(
        name,
        found,
        _norm(x),
        {
            "the mean runs over the words; each word should be normed by itself (axis=-1, keepdims=True).": (
                x - x.mean(axis=0)
            )
            / np.sqrt(x.var(axis=0) + 1e-5),
            "the mean runs over the whole array; each word should be normed by itself.": (x - x.mean())
            / np.sqrt(x.var() + 1e-5),
            "the mean is not subtracted.": x / np.sqrt(variance + 1e-5),
            "it divides by the variance; it should be its root.": centred / (variance + 1e-5),
            "the division by the standard deviation is missing.": centred,
            "it takes the spread of a sample (ddof=1); layer norm divides by d.": [
                centred / np.sqrt(sample + 1e-5),
                centred / (np.sqrt(sample) + 1e-5),
                centred / np.sqrt(sample),
            ],
            "1e-5 is added to the standard deviation; it belongs to the variance, inside the root.": centred
            / (np.sqrt(variance) + 1e-5),
            "1e-5 is left out.": centred / np.sqrt(variance),
        },
    )


def parameters():
    """Random parameters of a block with d_model 6, two heads and d_ff 11."""
    p = {f"w_{name}": 0.6 * _normal(2, 6, 3, 1 + number)[..., 0] for number, name in enumerate("qkv")}
    p |= {"w_o": 0.5 * _normal(6, 6), "w_1": 0.5 * _normal(6, 11), "b_1": 0.3 * _normal(11)}
    return p | {"w_2": 0.5 * _normal(11, 6), "b_2": 0.3 * _normal(6)}


def _mixed(x, p):
    return side_by_side(_heads(x, p["w_q"], p["w_k"], p["w_v"])) @ p["w_o"]


def _feed(h, p, bend=gelu):
    return bend(h @ p["w_1"] + p["b_1"]) @ p["w_2"] + p["b_2"]


def _relu(x):
    return np.maximum(x, 0)


def _tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _pre(x, p, bend=gelu):
    h = x + _mixed(_norm(x), p)
    return h + _feed(_norm(h), p, bend)


def _post(x, p, bend=gelu):
    h = _norm(x + _mixed(x, p))
    return _norm(h + _feed(h, p, bend))


def _block_mistakes(x, p):
    h = x + _mixed(_norm(x), p)
    no_skip, plain, no_norm = _mixed(_norm(x), p), x + _mixed(x, p), h + _feed(h, p)
    return {
        "the norm comes after each part (post-norm); here it comes before (pre-norm).": _post(x, p),
        "the activation is ReLU; it should be GELU.": _pre(x, p, _relu),
        "the activation is the tanh approximation of GELU; here it is the exact one.": _pre(x, p, _tanh_gelu),
        "the activation is missing.": _pre(x, p, lambda values: values),
        "the norm comes after each part, and the activation is ReLU.": _post(x, p, _relu),
        "the skip connection around the attention is missing.": no_skip + _feed(_norm(no_skip), p),
        "the skip connection around the feed-forward part is missing.": _feed(_norm(h), p),
        "both skip connections are missing.": _feed(_norm(no_skip), p),
        "the norm before the attention is missing.": plain + _feed(_norm(plain), p),
        "the norm before the feed-forward part is missing.": no_norm,
        "both norms are missing.": plain + _feed(plain, p),
        "the second skip connection adds the block's input; it should add what came out of the first.": x
        + _feed(_norm(h), p),
        "the skip connections add the normed vectors; they should add what came in.": (
            lambda a: _norm(a) + _feed(_norm(a), p)
        )(_norm(x) + _mixed(_norm(x), p)),
        "the feed-forward part is missing.": h,
    }


def block(function):
    """Four words of width six."""
    x, p = 1.5 * _normal(4, 6) + 0.4, parameters()
    found = _ask("block", function, x, p)
    return found is not None and _judge("block", found, _pre(x, p), _block_mistakes(x, p))


def block_torch(function):
    """The same block; what a layer of PyTorch does by itself unless told not to is among the mistakes."""
    name = "block_torch"
    x, p = 1.5 * _normal(4, 6) + 0.4, parameters()
    found, again = _ask(name, function, x, p), None
    if found is None:
        return False
    again = _ask(name, function, x, p)
    if again is None:
        return False
    found, again = (each.detach().numpy() if hasattr(each, "detach") else each for each in (found, again))
    if np.shape(found) == np.shape(again) and not np.allclose(found, again):
        return _say(
            name, False, "two runs differ: dropout is on, or parameters were left random (dropout=0 or .eval())."
        )
    mistakes = _block_mistakes(x, p)
    alone = np.vstack([_pre(row[None], p) for row in x])
    mistakes["no word sees another: the words were taken for a batch (batch_first=True, and x[None])."] = alone
    other = np.vstack([_post(row[None], p, _relu) for row in x])
    mistakes["no word sees another (batch_first=True, and x[None]), and it is post-norm with ReLU."] = other
    turned = p | {f"w_{part}": _turned(p[f"w_{part}"]) for part in "qkv"}
    mistakes["the projections of q, k and v were not transposed."] = _pre(x, turned)
    mistakes["W_o was not transposed."] = _pre(x, p | {"w_o": p["w_o"].T})
    right = _pre(x, p)
    values = np.asarray(found, dtype=float)
    if values.shape == right.shape and TOLERANCE < np.abs(values - right).max() < 1e-4:
        return _say(
            name, False, "almost: it was computed in single precision; make the layer with dtype=torch.float64."
        )
    return _judge(name, found, right, mistakes)


def _turned(w):
    """The projections of both heads as they are when the joined matrix is transposed."""
    joined = side_by_side(w).T
    return np.stack(np.split(joined, len(w), axis=1))


def all_done(*names):
    """Whether the checks of these functions have been passed; says which are open."""
    missing = [name for name in names if not DONE.get(name)]
    if missing:
        print(f"· To be done first: {', '.join(missing)}.")
    return not missing


def summary():
    """How far one has got."""
    right = [name for name, is_right in DONE.items() if is_right]
    print(f"{len(right)} of {len(DONE)} right: {', '.join(right) or 'none yet'}.")
