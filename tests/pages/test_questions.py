"""Predict, then reveal: no answer before, the right one after, a guess judged, open again when the numbers change."""

import math
import re

import numpy as np
import pytest

from core import torch_reference
from core.attention_jacobian import ask_last, last_output_jacobian
from core.common_mistakes import MISTAKES, make
from core.examples import ORDER_WORDS, draw_example, draw_position_embedding, draw_recurrence, draw_stack
from core.positions import rotate, sinusoidal_encoding
from core.pretrained.model import load, read_text, words_that_fit
from core.recurrence import last_state_jacobians, recurrent_states
from core.stack import Parts
from tests.pages.reading import ROOT, bodies, change, open_page, plain, run, texts
from ui.charts.reach import exponent_text

LESSON = {"text": "Meera bought a new bat", "d": "4", "heads": "2", "seed": "0"}
SETTINGS = {
    "lesson": {},
    "another head": {
        "text": "the cat saw the dog",
        "d": "7",
        "heads": "3",
        "seed": "11",
        "head": "2",
        "query": "3 the",
    },
    "d = 1": {"text": "the cat saw the dog", "d": "1", "heads": "12", "seed": "7", "query": "1 cat"},
    "one word": {"text": "word", "d": "3", "heads": "1", "seed": "5"},
    "two words": {"text": "dog bites", "d": "5", "heads": "2", "seed": "13"},
    "large": {"text": " ".join(f"w{i}" for i in range(61)), "d": "64", "heads": "12", "seed": "3", "head": "11"},
    "equal words": {"text": "la la la", "d": "2", "heads": "3", "seed": "2"},
}


def softmax(scores):
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


class Reader:
    """What the settings of a link come to, computed here and not by the pages."""

    def __init__(self, link, lesson_words=None):
        link = LESSON | link
        self.words = tuple(link["text"].split())
        self.n, self.d, self.heads = len(self.words), int(link["d"]), int(link["heads"])
        self.seed, self.head = int(link["seed"]), int(link.get("head", 0))
        self.query = int(link.get("query", "0").split()[0])
        self.key = min(3, self.n - 1)
        rest = (lesson_words,) if lesson_words else ()
        self.example = draw_example(self.words, self.d, self.heads, self.seed, *rest)

    def run(self, x=None, head=None, mask=None, turn=None):
        """Scores, weights and output of one head."""
        x = self.example.x if x is None else x
        head = self.head if head is None else head
        q, k, v = (x @ w[head] for w in (self.example.w_q, self.example.w_k, self.example.w_v))
        if turn:
            q, k = turn(q), turn(k)
        scores = q @ k.T
        scaled = scores / math.sqrt(self.d)
        weights = softmax(scaled if mask is None else np.where(mask, scaled, -np.inf))
        return scores, weights, weights @ v


def equal_shares(link):
    reader = Reader(link)
    largest = reader.run()[1][reader.query].max()
    return 1 / reader.n, f"{reader.n} equal ones are 1 ÷ {reader.n}. Its largest weight here is {largest:.2f}."


def other_heads(link):
    reader = Reader(link)
    favourites = [int(reader.run(head=head)[1][reader.query].argmax()) for head in range(reader.heads)]
    return str(
        sum(favourites.count(f) - 1 for f in [favourites[reader.head]])
    ), "Every head has its own W_q, W_k and W_v"


def one_percent(link):
    """Every sentence looked back through alone, by its whole Jacobian."""
    reader = Reader(link)
    network = draw_recurrence(reader.d * reader.heads, float(link.get("radius", "1")), reader.seed)
    factor = 1.0 if link.get("as_elsewhere") == "true" else 2 / math.sqrt(reader.d * reader.heads)
    w_q, w_k, w_v = (factor * w for w in (reader.example.w_q, reader.example.w_k, reader.example.w_v))
    shares = []
    for power in range(1, 10):
        x = reader.example.x[[*(place % reader.n for place in range(2**power - 1)), -1]]
        jacobians = last_state_jacobians(recurrent_states(x, network), network)
        asked = ask_last(x, w_q, w_k, w_v)
        both = jacobians, [last_output_jacobian(asked, place) for place in (0, 2**power - 1)]
        shares.append([np.linalg.norm(one[0]) / np.linalg.norm(one[-1]) for one in both])
    below = [str(2**power) if (np.array(shares)[power - 1 :, 0] < 0.01).all() else "" for power in range(1, 10)]
    across = [str(2**power) if (np.array(shares)[power - 1 :, 1] < 0.01).all() else "" for power in range(1, 10)]
    first, other = (next(filter(None, one), "never here") for one in (below, across))
    share = " ".join(exponent_text(shares[-1][1]).split())
    return first, f"By attention: {other}. At 512 words its share is still {share}."


def waiting(link):
    n = Reader(link).n
    return "3", f"The recurrent network needs {2 * n}. Attention does more work in all, {2 * n} × {2 * n} scores"


def unscaled(link):
    reader = Reader(link)
    scores, weights, _ = reader.run()
    why = f"With the division it is {weights[reader.query].max():.2f}. Without it all scores of the row are "
    why += f"{math.sqrt(reader.d):.2f} times as far apart"
    return softmax(scores[reader.query]).max(), why if reader.d > 1 else "the division is by 1, so nothing changes"


def reversed_sentence(link):
    reader = Reader(link)
    here = reader.run()[1][reader.query, reader.key]
    there = reader.run(reader.example.x[::-1])[1][::-1, ::-1][reader.query, reader.key]
    assert there == pytest.approx(here, abs=1e-12)
    return "it stays", f"It is {here:.6f} before and {there:.6f} after"


def draws_at_512(link, n_keys, n_draws):
    vectors = np.random.default_rng([int((LESSON | link)["seed"]), 512]).normal(size=(n_draws, n_keys + 1, 512))
    return np.einsum("ijk,ik->ij", vectors[:, 1:], vectors[:, 0])


def unscaled_512(link):
    n_keys, n_draws = int(link.get("keys", 5)), int(link.get("draws", 200))
    raw = draws_at_512(link, n_keys, n_draws)
    divided = softmax(raw / math.sqrt(512)).max(axis=-1).mean()
    return softmax(raw).max(axis=-1).mean(), f"by √d it is {divided:.2f}; equal shares would be {1 / n_keys:.2f}."


def by_d(link):
    n_keys, n_draws = int(link.get("keys", 5)), int(link.get("draws", 200))
    largest = softmax(draws_at_512(link, n_keys, n_draws) / 512).max(axis=-1).mean()
    return largest, f"they spread by √512 ÷ 512 = 0.044, so all weights are close to 1 ÷ {n_keys} = {1 / n_keys:.2f}"


def rows_moved(link):
    n = Reader(link).n
    middle = (n - 1) // 2
    return str(n - middle), f"{n} − {middle} = {n - middle}. The {middle} rows before it may not look at it"


def allowed_share(link):
    n = Reader(link).n
    return (n + 1) / (2 * n), f"{n * (n + 1) // 2} of {n * n}: n (n + 1) / 2. It sinks towards one half"


def order_run(link):
    """Outputs of the sentence and of its order, and the rows that each has."""
    reader = Reader(link, ORDER_WORDS)
    kind = link.get("positions", "sinusoidal")
    width = reader.d * reader.heads
    added = {
        "sinusoidal": sinusoidal_encoding(reader.n, width),
        "learned table": draw_position_embedding(reader.n, width, reader.seed),
        "rotary": 0.0,
    }[kind]

    def outputs(order):
        rows = reader.example.x[list(order)] + added
        return reader.run(rows, turn=rotate if kind == "rotary" else None)[2]

    last = max(place for place in range(reader.n) if reader.words[place] != reader.words[0])
    order = list(range(reader.n))
    order[0], order[last] = last, 0
    return reader, kind, outputs, order


def averaged(link):
    reader, kind, outputs, order = order_run(link)
    gap = np.abs(outputs(range(reader.n)).mean(axis=0) - outputs(order).mean(axis=0)).max()
    return "they are equal", f"With positions ({kind}) the averages differ by {gap:.4f}."


def neighbours(link):
    reader, _, outputs, order = order_run(link)
    straight = outputs(range(reader.n))
    swapped = [1, 0, *range(2, reader.n)]
    this, that = (np.abs(outputs(one) - straight[one]).max() for one in (order, swapped))
    answer = "equal" if abs(this - that) < 1e-12 else "smaller" if that < this else "larger"
    return answer, f"It is {that:.4f}. How far an output moves"


def block(d_model, d_ff, biases):
    """Parameters of the parts of a block: attention, feed-forward, norms."""
    attention = 4 * d_model**2 + (4 * d_model if biases == "all" else 0)
    feed_forward = 2 * d_model * d_ff + (d_ff + d_model if biases in ("all", "no attention biases") else 0)
    return attention, feed_forward, (2 if biases == "none" else 4) * d_model


def sizes(link):
    return int(link.get("d_model", 32)), int(link.get("d_ff", 64)), link.get("biases", "all")


def doubled(link):
    d_model, d_ff, biases = sizes(link)
    once, twice = sum(block(d_model, d_ff, biases)), sum(block(2 * d_model, 2 * d_ff, biases))
    return twice / once, f"{once:,} become {twice:,}. The matrices grow fourfold"


def larger_part(link):
    counts = dict(zip(("attention", "feed-forward", "layer norm"), block(*sizes(link)), strict=True))
    return max(counts, key=counts.get), ", ".join(f"{part} {count:,}" for part, count in counts.items()) + "."


def mask_of(text, n_query, n_key):
    query, key = np.ogrid[:n_query, :n_key]
    preset, _, width = text.partition("-")
    rules = {"full": key >= 0 * query, "causal": key <= query, "window": abs(query - key) <= int(width or 0)}
    return rules[preset]


def masks_of(link):
    """The masks of the default shape."""
    n, m = Reader(link).n, len(link.get("target", "Meera ne ek naya balla kharida").split())
    sizes = {"encoder": ("full", n, n), "decoder": ("causal", m, m), "cross": ("full", m, n)}
    return {part: mask_of(link.get(f"{part}_mask", first), *size) for part, (first, *size) in sizes.items()}


def pairs_allowed(link):
    masks = masks_of(link)
    allowed, total = sum(mask.sum() for mask in masks.values()), sum(mask.size for mask in masks.values())
    return allowed / total, f"{allowed:,} of {total:,}: encoder {masks['encoder'].sum():,} of "


def heard_after_two(link):
    """Counted as ways through the layers."""
    masks = {part: mask.astype(int) for part, mask in masks_of(link).items()}
    part, query = link.get("part", "cross"), int(link.get("query", "0").split()[0])
    encoder, decoder = (masks[name] + np.eye(len(masks[name]), dtype=int) for name in ("encoder", "decoder"))
    across = masks["cross"] @ encoder @ encoder
    layers = {"encoder": (encoder, encoder @ encoder), "cross": (across, decoder @ across)}[part]
    once, twice = (int((ways[query] > 0).sum()) for ways in layers)
    return str(twice), f"After one layer it is {once}, after two {twice}:"


def stack_by_torch(link, n_layers, norm_position, **other):
    """The page's stack by PyTorch."""
    words, width = tuple((LESSON | link)["text"].split()), int(link.get("stack_width", 32))
    x, layers, reading = draw_stack(words, width, 4 * width, n_layers, int((LESSON | link)["seed"]))
    kept = {key: link.get(f"keep_{key}") != "false" for key in ("attention", "feed_forward", "norm")} | other
    return torch_reference.stack(x, layers, 4, reading, norm_position, link.get("activation", "gelu"), Parts(**kept))


def collapse(link):
    found = []
    for skip in (False, True):
        stream = stack_by_torch(link, int(link.get("depth", 12)), "pre", skip=skip).streams[-1]
        units = stream / np.linalg.norm(stream, axis=1, keepdims=True)
        found.append((units @ units.T)[~np.eye(len(units), dtype=bool)].mean())
    return min(found[0], 1.0), f"With them it is {found[1]:.2f}".replace("-", "−")


def deeper(link):
    matrix = link.get("matrix", "w_2")
    ends = {}
    for norm_position in ("pre", "post"):
        lasts = stack_by_torch(link, 48, norm_position).last_gradients[matrix]
        ends[norm_position] = np.linalg.norm(lasts[[3, 47]], axis=(1, 2))
    fallen = [position for position, (first, last) in ends.items() if last < first / 2]
    answer = {(): "in neither", ("pre",): "in pre-norm only", ("post",): "in post-norm only"}
    return answer.get(tuple(fallen), "in both"), "Pre-norm: "


def work(link):
    """Operations of the pairs, of the projections, and of the whole block; of the block at twice the length."""
    n, d, heads = (
        int(link.get(key, default)) for key, default in (("tokens", 1024), ("model_width", 768), ("model_heads", 12))
    )
    pairs, projections = 4 * n**2 * d, 8 * n * d**2
    return pairs, projections, *(4 * m**2 * d + 5 * m**2 * heads + 24 * m * d**2 for m in (n, 2 * n))


def doubled_length(link):
    *_, once, twice = work(link)
    return twice / once, "The pairs cost four times as much, all the rest twice"


def pairs_or_projections(link):
    pairs, projections, *_ = work(link)
    level = "they cost the same"
    answer = (
        level if pairs == projections else "the two products of all pairs" if pairs > projections else "the projections"
    )
    return answer, f"meet at n = 2 · d_model = {2 * int(link.get('model_width', 768)):,}."


def row_sums(mistake, link):
    """Sums of the rows of a mistake's weights."""
    reader = Reader(link)
    return (
        make(mistake, reader.words, reader.d, reader.heads, reader.seed, reader.head, reader.query)
        .weights[0]
        .sum(axis=-1)
    )


def sums_to_one(mistake, link):
    return bool(np.abs(row_sums(mistake, link) - 1).max() <= 1e-12)


def rows_of_a_mistake(link):
    mistake = link.get("mistake", "no scale")
    right = sums_to_one(mistake, link)
    count = row_sums(mistake, link).size
    return (
        "yes" if right else "no",
        f"The sums of all {count} rows are 1" if right else "summing the rows finds this one",
    )


def survivors(link):
    caught = [mistake for mistake in MISTAKES if not sums_to_one(mistake, link)]
    return str(10 - len(caught)), f"It finds only: {', '.join(caught)}."


def learned(link, without):
    """The saved run behind a link, or the same with and without what the task needs exchanged."""
    name = link.get("task", "reverse") + ("-none" if without else "")
    with np.load(ROOT / "core" / "training" / "saved" / f"{name}-0.npz") as file:
        return file["accuracy"], file["steps"]


def half_way(link):
    accuracy, steps = learned(link, link.get("left_out") == "true")
    return accuracy[steps == steps[-1] // 2][0], f"At the end it is {accuracy[-1]:.2f}."


def without_it(link):
    accuracy, _ = learned(link, link.get("left_out") != "true")
    return "yes" if accuracy[-1] >= 0.95 else "no", f"At the end of its training {accuracy[-1]:.2f} are right."


def weights_on_start(link):
    """(layer, head): mean weight that the words' pieces give to the start."""
    link = LESSON | link
    words, encoder = link["text"].split(), load()
    text = " ".join(words[: words_that_fit(words, encoder.vocabulary)])
    return read_text(encoder, text).weights[:, :, 1:-1, 0].mean(axis=-1)


def resting(link):
    shares = weights_on_start(link)
    return float(shares.mean()), f"In {np.count_nonzero(shares > 0.5)} of the 72 heads it is more than half"


def layer_resting(link):
    shares = weights_on_start(link).mean(axis=1)
    return str(int(shares.argmax())), ", ".join(f"{share:.2f}" for share in shares)


QUESTIONS = {
    "real_model": {"resting": resting, "layer_resting": layer_resting},
    "home": {"equal_shares": equal_shares, "other_heads": other_heads},
    "why_attention": {"one_percent": one_percent, "waiting": waiting},
    "query_key_value": {"unscaled": unscaled, "reversed": reversed_sentence},
    "scaling_sweep": {"unscaled_512": unscaled_512, "by_d": by_d},
    "causal_mask": {"rows_moved": rows_moved, "allowed_share": allowed_share},
    "order_blindness": {"averaged": averaged, "neighbours": neighbours},
    "stack": {"collapse": collapse, "deeper": deeper},
    "parameter_count": {"doubled": doubled, "larger_part": larger_part},
    "three_shapes": {"pairs_allowed": pairs_allowed, "heard_after_two": heard_after_two},
    "cost": {"doubled_length": doubled_length, "pairs_or_projections": pairs_or_projections},
    "learning": {"half_way": half_way, "without_it": without_it},
    "common_mistakes": {"rows": rows_of_a_mistake, "survive": survivors},
}
OWN_SETTINGS = {
    "real_model": {
        "lesson": {},
        "one word": SETTINGS["one word"],
        "too long": {"text": " ".join(f"w{i}" for i in range(64)), "shown_as": "pieces"},
        "without the ends": {"text": "the cat saw the dog", "ends": "false", "query": "2 saw"},
    },
    "why_attention": {
        "lesson": {},
        "other": {"text": "the cat saw the dog", "d": "7", "heads": "3", "seed": "11", "radius": "0.5"},
        "as elsewhere": {"text": "la la lu", "d": "3", "heads": "2", "radius": "1.5", "as_elsewhere": "true"},
        "one word": {"text": "word", "d": "1", "heads": "1", "radius": "0"},
    },
    "scaling_sweep": {
        "lesson": {},
        "other draws": {"keys": "8", "draws": "50", "seed": "11"},
        "one word": {"text": "x", "keys": "2"},
    },
    "order_blindness": {
        **{kind: link for kind, link in SETTINGS.items() if kind not in ("one word", "equal words")},
        "first two equal": {"text": "la la lu", "d": "3", "heads": "2", "seed": "5"},
        "learned": {"positions": "learned table", "d": "7", "seed": "11"},
        "rotary": {"positions": "rotary", "d": "6", "seed": "11"},
        "rotary, d = 1": {"positions": "rotary", "d": "1", "heads": "3"},
    },
    "stack": {
        "lesson": {},
        "without norms": {"keep_norm": "false", "depth": "5"},
        "narrow, w_q": {"stack_width": "8", "depth": "3", "matrix": "w_q", "seed": "11", "activation": "relu"},
        "attention alone": {"keep_feed_forward": "false", "matrix": "w_o", "depth": "20", "text": "la lu la"},
    },
    "three_shapes": {
        "lesson": {},
        "one word": {"text": "word", "target": "ek"},
        "windows": {
            "text": "the cat saw the other dog run", "target": "ek balla ek", "encoder_mask": "window-1",
            "cross_mask": "window-0", "query": "2 ek",
        },
        "encoder": {
            "text": "the cat saw the other dog run", "part": "encoder", "encoder_mask": "window-1", "query": "1 cat",
        },
        "large": {"text": " ".join(f"w{i}" for i in range(61)), "d": "16", "heads": "3", "encoder_mask": "window-2"},
    },
    "common_mistakes": {
        "lesson": {},
        "wrong axis": {"text": "the cat saw the dog", "d": "7", "heads": "3", "seed": "11", "mistake": "softmax axis"},
        "no key": SETTINGS["another head"] | {"mistake": "no allowed key"},
        "one word": SETTINGS["one word"] | {"mistake": "inverted mask"},
    },
    "parameter_count": {
        "lesson": {},
        "small": {"d_model": "1", "block_heads": "1", "d_ff": "1"},
        "wide": {"d_model": "55", "block_heads": "5", "d_ff": "301", "biases": "no linear biases"},
        "narrow": {"d_model": "512", "block_heads": "8", "d_ff": "101", "biases": "none"},
        "largest": {"d_model": "16384", "d_ff": "65536"},
    },
    "learning": {
        "lesson": {},
        "not needed": {"task": "sort"},
        "without": {"task": "induction", "left_out": "true", "snapshot": "3"},
        "order": {"task": "order", "text": "la"},
    },
    "cost": {
        "lesson": {},
        "level": {"tokens": "2048", "model_width": "1024", "model_heads": "4"},
        "shortest": {"tokens": "8", "model_width": "12288", "model_heads": "96", "batch": "4"},
        "longest": {"tokens": "131072", "model_width": "64", "model_heads": "1", "cost_causal": "true"},
    },
}  # fmt: skip
CASES = [(name, kind) for name in QUESTIONS for kind in OWN_SETTINGS.get(name, SETTINGS)]
ASKED = [(name, key) for name, keys in QUESTIONS.items() for key in keys]


def settings_of(name, kind):
    return OWN_SETTINGS.get(name, SETTINGS)[kind]


def answers(at):
    """What the page says of every question that was revealed."""
    return [" ".join(plain(body).split()) for body in bodies(at) if 'class="line answer"' in body]


def reveal(at, *keys, **guesses):
    """Press the buttons of some questions, with guesses set before; the answers, in the order of the page."""
    for key, guess in guesses.items():
        at._tree.get_by_key(f"guess_{key}").set_value(guess)
    for key in (*keys, *guesses):
        at.button(key=f"reveal_{key}").click()
    run(at)
    return answers(at)


def choices(at, key):
    return at._tree.get_by_key(f"guess_{key}").options


def is_number(answer):
    return not isinstance(answer, str)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_the_answer_is_hidden_at_first_and_then_the_right_one(name, kind):
    link = settings_of(name, kind)
    expected = {key: computed(link) for key, computed in QUESTIONS[name].items()}
    if int((LESSON | link)["heads"]) == 1:
        expected.pop("other_heads", None)  # there are none
    at = open_page(name, **link)
    buttons = [button.key for button in at.button if (button.key or "").startswith("reveal_")]
    assert buttons == [f"reveal_{key}" for key in expected]
    assert answers(at) == []
    for _, why in expected.values():
        assert not any(why in " ".join(text.split()) for text in texts(at))
    said = reveal(at, *expected)
    for (key, (answer, why)), text in zip(expected.items(), said, strict=True):
        if is_number(answer):
            low, high = (at._tree.get_by_key(f"guess_{key}").proto.min, at._tree.get_by_key(f"guess_{key}").proto.max)
            assert low <= answer <= high
            assert text.startswith(f"It is {answer:.2f}. Your guess, {(low + high) / 2:.2f}, is "), text
        else:
            assert answer in choices(at, key)
            assert text.startswith(f"The answer: {answer}. "), text
        assert why in text
        assert not re.search(r"\b(nan|inf)\b", text, re.IGNORECASE)


@pytest.mark.parametrize(("name", "key"), ASKED)
def test_a_guess_is_judged(name, key):
    answer, _ = QUESTIONS[name][key]({})
    at = open_page(name)
    if is_number(answer):
        slider = at._tree.get_by_key(f"guess_{key}").proto
        close, far = round(answer, 2), slider.min if answer - slider.min > slider.max - answer else slider.max
        (said,) = reveal(at, **{key: close})
        assert said.startswith(f"It is {answer:.2f}. Your guess, {close:.2f}, is close. ")
        (said,) = reveal(at, **{key: far})
        expected = f"It is {answer:.2f}. Your guess, {far:.2f}, is off by {abs(far - answer):.2f}. "
        assert said.startswith(expected.replace("-", "−"))
    else:
        wrong = next(option for option in choices(at, key) if option != answer)
        (said,) = reveal(at, **{key: answer})
        assert said.startswith(f"Yes: {answer}. ")
        (said,) = reveal(at, **{key: wrong})
        assert said.startswith(f"No: {answer}, not {wrong}. ")


@pytest.mark.parametrize(
    ("guess", "verdict"), [(0.25, "close"), (0.15, "close"), (0.26, "off by 0.06"), (0.14, "off by 0.06")]
)
def test_close_is_a_twentieth_of_the_slider(guess, verdict):
    (said,) = reveal(open_page("home"), equal_shares=guess)
    assert said.startswith(f"It is 0.20. Your guess, {guess:.2f}, is {verdict}. ")


CHANGES = {
    "resting": [{"text": "one two"}],
    "layer_resting": [{"text": "one two"}],
    "equal_shares": [{"query": 2}, {"head": 1}, {"text": "one two"}],
    "other_heads": [{"query": 2}, {"head": 1}, {"seed": 3}, {"heads": 5}, {"text": "one two"}],
    "one_percent": [{"radius": 1}, {"as_elsewhere": True}, {"seed": 3}, {"text": "one two"}],
    "waiting": [{"text": "one two"}],
    "unscaled": [{"d": 9}, {"query": 2}, {"head": 1}],
    "reversed": [{"key": 1}, {"query": 2}, {"seed": 3}],
    "unscaled_512": [{"keys": 8}, {"draws": 50}, {"seed": 3}],
    "by_d": [{"keys": 8}, {"draws": 50}, {"seed": 3}],
    "rows_moved": [{"text": "one two"}, {"head": 1}],
    "allowed_share": [{"text": "one two"}],
    "averaged": [{"order": "1 0 2 3 4"}, {"positions": "rotary"}, {"seed": 3}],
    "neighbours": [{"order": "1 0 2 3 4"}, {"positions": "rotary"}, {"head": 1}],
    "doubled": [{"d_model": 64}, {"d_ff": 101}, {"biases": "none"}],
    "collapse": [{"depth": 3}, {"stack_width": 1}, {"keep_norm": False}],
    "deeper": [{"matrix": 1}, {"activation": "relu"}, {"keep_final_norm": False}],
    "pairs_allowed": [{"text": "one two"}, {"target": "ek balla"}, {"shape": "decoder"}],
    "heard_after_two": [{"query": 2}, {"part": "encoder"}, {"encoder_mask": "window-1"}],
    "larger_part": [{"d_model": 64}, {"block_heads": 8}, {"biases": "none"}],
    "doubled_length": [{"tokens": 64}, {"model_heads": 4}, {"model_width": 256}],
    "pairs_or_projections": [{"tokens": 64}, {"model_width": 12288}],
    "rows": [{"mistake": 7}, {"head": 1}, {"seed": 3}],
    "half_way": [{"task": "mask"}, {"left_out": True}],
    "without_it": [{"task": "mask"}, {"left_out": True}],
    "survive": [{"head": 1}, {"text": "one two"}],
}


@pytest.mark.parametrize(("name", "key"), ASKED)
def test_a_question_is_open_again_when_its_numbers_change(name, key):
    at = open_page(name)
    for changes in CHANGES[key]:
        assert len(reveal(at, key)) == 1
        assert answers(change(at, **changes)) == [], changes


def test_what_does_not_change_an_answer_leaves_it_open():
    at = open_page("causal_mask")
    (said,) = reveal(at, "rows_moved")
    assert answers(change(at, causal=False, replace=1, n_key=7)) == [said]
    assert len(reveal(at, "allowed_share")) == 2, "each has a button of its own"


def test_an_answer_follows_the_guess_without_another_press():
    at = open_page("home")
    reveal(at, equal_shares=0.9)
    (said,) = answers(change(at, guess_equal_shares=0.2))
    assert "Your guess, 0.20, is close" in said


@pytest.mark.parametrize(
    ("name", "key", "before", "after"),
    [("home", "other_heads", {"heads": "12"}, {"heads": 3}), ("causal_mask", "rows_moved", {}, {"text": "one two"})],
)
def test_a_guess_that_is_no_longer_offered_is_forgotten(name, key, before, after):
    at = open_page(name, **before)
    reveal(at, **{key: choices(at, key)[-1]})
    change(at, **after)
    (said,) = reveal(at, key)
    assert said.startswith("The answer: ")
    assert said.split()[2].strip(".") in choices(at, key)


def test_of_two_parts_of_equal_size_neither_is_called_the_larger():
    """Without biases the lesson's block has 4 × 32² parameters in each of its two parts."""
    assert block(32, 64, "none")[:2] == (4096, 4096)
    at = open_page("parameter_count", biases="none")
    for guess in ("attention", "feed-forward"):
        (said,) = reveal(at, larger_part=guess)
        assert not re.match("No: (attention|feed-forward),", said), said
    (said,) = reveal(open_page("parameter_count", biases="none"), "larger_part")
    assert not re.match(r"The answer: (attention|feed-forward)\.", said), said
