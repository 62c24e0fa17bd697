"""Exercises to take home: solved they pass, each planted mistake is named, unfinished ones get a friendly line."""

import io
import re
import textwrap
import zipfile
from functools import cache

import nbformat
import pytest

from tests.ui.take_home.clean_process import run_all
from tests.ui.take_home.reading import cells_of, code_of
from ui.take_home import exercises

WORDS = ("the", "cat", "saw", "the", "dog")

SOLUTIONS = {
    "softmax": """
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exponentials / exponentials.sum(axis=-1, keepdims=True)
    """,
    "attention": """
        scores = q @ k.T / np.sqrt(q.shape[-1])
        if may_attend is not None:
            scores = np.where(may_attend, scores, -np.inf)
        weights = softmax(scores)
        return weights, weights @ v
    """,
    "causal_mask": "return np.tril(np.ones((n, n), dtype=bool))",
    "two_heads": """
        heads = [attention(x @ w_q[h], x @ w_k[h], x @ w_v[h])[1] for h in range(len(w_q))]
        return np.concatenate(heads, axis=-1) @ w_o
    """,
    "positional_encoding": """
        angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
        encoding = np.empty((n, d_model))
        encoding[:, 0::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)
        return encoding
    """,
    "layer_norm": """
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    """,
    "block": """
        h = x + two_heads(layer_norm(x), p["w_q"], p["w_k"], p["w_v"], p["w_o"])
        return h + check.gelu(layer_norm(h) @ p["w_1"] + p["b_1"]) @ p["w_2"] + p["b_2"]
    """,
    "block_torch": """
        import torch
        from torch import nn

        d_model, d_ff = p["w_1"].shape
        layer = nn.TransformerEncoderLayer(
            d_model, 2, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=True, dtype=torch.float64
        )
        joined = [check.side_by_side(p[name]).T for name in ("w_q", "w_k", "w_v")]
        values = {
            "self_attn.in_proj_weight": np.concatenate(joined), "self_attn.in_proj_bias": np.zeros(3 * d_model),
            "self_attn.out_proj.weight": p["w_o"].T, "self_attn.out_proj.bias": np.zeros(d_model),
            "linear1.weight": p["w_1"].T, "linear1.bias": p["b_1"],
            "linear2.weight": p["w_2"].T, "linear2.bias": p["b_2"],
        }
        state = layer.state_dict() | {name: torch.from_numpy(value.copy()) for name, value in values.items()}
        layer.load_state_dict(state)
        with torch.no_grad():
            return layer(torch.from_numpy(x)[None])[0].numpy()
    """,
}

# Function, what is replaced in its solution, by what, and the part of the message that names this mistake.
MISTAKES = {
    "softmax down the columns": ("softmax", "axis=-1", "axis=0", "wrong axis"),
    "softmax over everything": (
        "softmax", "exponentials.sum(axis=-1, keepdims=True)", "exponentials.sum()", "over the whole matrix",
    ),
    "softmax overflows": ("softmax", "scores - scores.max(axis=-1, keepdims=True)", "scores", "1000 overflow"),
    "softmax not normalised": (
        "softmax", "exponentials / exponentials.sum(axis=-1, keepdims=True)", "exponentials",
        "divide them by the sum of their row",
    ),
    "no scale": ("attention", " / np.sqrt(q.shape[-1])", "", "the scale is missing"),
    "divided by d": ("attention", "np.sqrt(q.shape[-1])", "q.shape[-1]", "divided by d"),
    "divided by the root of n": ("attention", "np.sqrt(q.shape[-1])", "np.sqrt(len(k))", "number of keys"),
    "keys ask": ("attention", "q @ k.T", "k @ q.T", "scores are transposed"),
    "mask unused": ("attention", "if may_attend is not None", "if False", "the mask is not used"),
    "mask with 0": ("attention", "-np.inf", "0.0", "become 0"),
    "mask inverted": ("attention", "np.where(may_attend, scores, -np.inf)", "np.where(may_attend, -np.inf, scores)",
                      "the wrong way round"),
    "mask transposed": ("attention", "np.where(may_attend,", "np.where(may_attend.T,", "the mask is transposed"),
    "mask after the softmax": (
        "attention",
        "    scores = np.where(may_attend, scores, -np.inf)\nweights = softmax(scores)",
        "    weights = softmax(scores) * may_attend\nelse:\n    weights = softmax(scores)",
        "after the softmax",
    ),
    "output transposed": ("attention", "weights @ v", "weights.T @ v", "weights transposed"),
    "only the output": ("attention", "return weights, weights @ v", "return weights @ v", "should return two arrays"),
    "mask mirrored": ("causal_mask", "np.tril", "np.triu", "mirrored"),
    "mask of the past only": ("causal_mask", "dtype=bool)", "dtype=bool), -1", "may look at itself"),
    "mask one ahead": ("causal_mask", "dtype=bool)", "dtype=bool), 1", "sees the next word"),
    "mask of what is hidden": ("causal_mask", "np.tril", "~np.tril", "the wrong way round"),
    "mask of numbers": ("causal_mask", ", dtype=bool", "", "truth values"),
    "no W_o": ("two_heads", " @ w_o", "", "W_o is missing"),
    "W_o transposed": ("two_heads", "@ w_o", "@ w_o.T", "W_o is used transposed"),
    "heads joined by a reshape": (
        "two_heads", "np.concatenate(heads, axis=-1)", "np.array(heads).reshape(len(x), -1)", "reshape alone",
    ),
    "heads exchanged": ("two_heads", "np.concatenate(heads,", "np.concatenate(heads[::-1],", "wrong order"),
    "sine and cosine exchanged": (
        "positional_encoding", "np.sin(angles), np.cos(angles)", "np.cos(angles), np.sin(angles)", "exchanged",
    ),
    "sines first": (
        "positional_encoding",
        "encoding[:, 0::2], encoding[:, 1::2]", "encoding[:, : d_model // 2], encoding[:, d_model // 2 :]",
        "all sines come first",
    ),
    "positions from 1": ("positional_encoding", "np.arange(n)[:, None]", "np.arange(1, n + 1)[:, None]", "begin at 1"),
    "exponent without 2": ("positional_encoding", "np.arange(0, d_model, 2) / d_model",
                           "np.arange(d_model // 2) / d_model", "lost its factor 2"),
    "norm over the words": ("layer_norm", "axis=-1", "axis=0", "over the words"),
    "no square root": (
        "layer_norm", "np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)",
        "((centred**2).mean(axis=-1, keepdims=True) + 1e-5)", "divides by the variance",
    ),
    "variance of a sample": (
        "layer_norm", "(centred**2).mean(axis=-1, keepdims=True)", "x.var(axis=-1, ddof=1, keepdims=True)", "ddof=1",
    ),
    "first skip missing": ("block", "h = x + two_heads", "h = two_heads", "skip connection around the attention"),
    "second skip missing": ("block", "return h + ", "return ", "skip connection around the feed-forward"),
    "ReLU": ("block", "check.gelu(", "(lambda z: np.maximum(z, 0))(", "the activation is ReLU"),
    "first norm missing": ("block", "two_heads(layer_norm(x)", "two_heads(x", "norm before the attention"),
    "second norm missing": ("block", "check.gelu(layer_norm(h)", "check.gelu(h", "norm before the feed-forward"),
    "block stops": ("block", 'p["w_1"]', 'p["w_3"]', "it stopped with KeyError: 'w_3'"),
    "block returns nothing": ("block", "return h", "h", "the return is missing"),
    "post-norm and ReLU, as by default": (
        "block_torch", 'activation="gelu", batch_first=True, norm_first=True', "batch_first=True",
        "after each part, and the activation is ReLU",
    ),
    "post-norm, as by default": ("block_torch", "norm_first=True, ", "", "post-norm"),
    "words taken for a batch": ("block_torch", "batch_first=True, ", "", "no word sees another"),
    "dropout on": ("block_torch", "dropout=0.0, ", "", "two runs differ"),
    "projections not transposed": ("block_torch", "check.side_by_side(p[name]).T", "check.side_by_side(p[name])",
                                   "were not transposed"),
    "single precision": (
        "block_torch", "return layer(torch.from_numpy(x)[None])[0].numpy()",
        "return layer.float()(torch.from_numpy(x)[None].float())[0].numpy()", "single precision",
    ),
}  # fmt: skip


@cache
def files(seed=0):
    return {name: exercises.content(name, WORDS, seed) for name in exercises.FILES}


def program(changed=None, solved=tuple(SOLUTIONS), seed=0, header=""):
    """The notebook's cells as one program, some functions filled in; its checks beside it."""
    code = code_of(files(seed)["build_attention.ipynb"])
    for name in solved:
        body = textwrap.dedent(SOLUTIONS[name]).strip("\n")
        if changed and changed[0] == name:
            _, old, new, _ = changed
            assert old in body, "the mistake is planted"
            body = body.replace(old, new)
        stub = re.compile(rf'(def {name}\(.*\n    """.*"""\n)    raise NotImplementedError\n')
        code, count = stub.subn(lambda found, body=body: found[1] + textwrap.indent(body, "    ") + "\n", code)
        assert count == 1, name
    check = files(seed)["check_attention.py"].decode()
    beside = f"import sys, types\nheld = types.ModuleType('check_attention')\nexec({check!r}, held.__dict__)\n"
    return f"{header}{beside}sys.modules['check_attention'] = held\n{code}"


@cache
def printed():
    """What every program prints, each run in a process of its own."""
    programs = {
        "solved": program(),
        "solved, other seeds": "\n".join(
            [program(), *(f"check.use({seed})\n{CHECK_ALL}" for seed in (1, 7, 42, 1234, 9999))]
        ),
        "untouched": program(solved=()),
        "half done": program(solved=("softmax", "causal_mask")),
        "no torch": program(header="import sys\nsys.modules['torch'] = None\n"),
    }
    programs |= {name: program(mistake) for name, mistake in MISTAKES.items()}
    return dict(zip(programs, run_all([*programs.values()], ("numpy", "torch")), strict=True))


CHECK_ALL = "\n".join(f"check.{name}({name})" for name in SOLUTIONS)


def lines(name):
    """Function to the line of its check; the first one, where a check was run again."""
    found = {}
    for line in printed()[name].splitlines():
        match = re.match(r"([✓✗·]) (\w+): (.*)", line)
        if match:
            found.setdefault(match[2], (match[1], match[3]))
    return found


def test_the_solved_notebook_passes_every_check():
    assert {name: sign for name, (sign, _) in lines("solved").items()} == dict.fromkeys(SOLUTIONS, "✓")
    assert printed()["solved"].splitlines()[-1].startswith("8 of 8 right: softmax, attention,")


def test_its_last_cell_shows_the_reader_s_own_sentence_with_the_causal_mask():
    rows = [line.split() for line in printed()["solved"].splitlines() if re.match(r"[0-9.]+ ", line)]
    assert [row[-1] for row in rows if len(row) == 6] == list(WORDS)
    weights = [[float(number) for number in row[:-1]] for row in rows if len(row) == 6]
    for query, row in enumerate(weights):
        assert sum(row) == pytest.approx(1, abs=0.03)
        assert row[query + 1 :] == [0.0] * (4 - query)


def test_the_solutions_are_right_for_other_seeds_too():
    output = printed()["solved, other seeds"]
    assert output.count("✓") == 6 * len(SOLUTIONS)
    assert "✗" not in output


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name):
    function, _, _, said = MISTAKES[name]
    sign, text = lines(name)[function]
    assert sign == "✗"
    assert said in text
    assert " Or: " not in text, "one mistake only"
    before = list(SOLUTIONS)[: list(SOLUTIONS).index(function)]
    assert {other: lines(name)[other][0] for other in before} == dict.fromkeys(before, "✓")


def test_an_untouched_notebook_says_what_is_to_be_done_and_nothing_is_wrong():
    assert lines("untouched") == dict.fromkeys(
        SOLUTIONS, ("·", "not done yet. Write the body of the function, run its cell, then run this one again.")
    )
    assert "· To be done first: softmax, attention, causal_mask, positional_encoding." in printed()["untouched"]
    assert printed()["untouched"].splitlines()[-1] == "0 of 8 right: none yet."


def test_a_notebook_half_done_is_judged_as_far_as_it_goes():
    found = {name: sign for name, (sign, _) in lines("half done").items()}
    assert found == dict.fromkeys(SOLUTIONS, "·") | {"softmax": "✓", "causal_mask": "✓"}
    assert "· To be done first: attention, positional_encoding." in printed()["half done"]


def test_without_torch_the_last_function_is_left_out():
    found = lines("no torch")
    assert found["block"][0] == "✓"
    assert found["block_torch"][0] == "·"
    assert "left out: import of torch halted" in found["block_torch"][1]


def test_no_solution_is_in_the_files():
    notebook, check, _ = (file.decode() for file in files().values())
    assert notebook.count("raise NotImplementedError") == len(SOLUTIONS)
    code = code_of(files()["build_attention.ipynb"])
    assert not re.search(r"np\.(exp|sin|tril|sqrt)", code)
    assert "NotImplementedError" in check


def test_the_notebook_is_valid_and_holds_the_reader_s_sentence_and_seed():
    file = exercises.content(exercises.NOTEBOOK, ("क्या", '"it\'s"', "a\nb"), 77)
    nbformat.validate(nbformat.reads(file.decode(), as_version=4))
    settings = {}
    exec(next(cell for cell in cells_of(file, "code") if cell.startswith("words = ")), settings)
    assert (settings["words"], settings["seed"]) == (["क्या", '"it\'s"', "a\nb"], 77)
    assert 'words = ["Meera",' in code_of(exercises.content(exercises.NOTEBOOK, (), 0))


def test_the_archive_holds_the_single_files():
    with zipfile.ZipFile(io.BytesIO(exercises.archive(WORDS, 0))) as held:
        assert {name: held.read(name) for name in held.namelist()} == files()
    readme = files()["read_me.txt"].decode()
    assert all(name in readme for name in files() if name != "read_me.txt")


def test_a_file_that_is_not_among_them_is_refused():
    with pytest.raises(ValueError, match=r"name must be one of build_attention.ipynb, .*; got 'solutions.py'"):
        exercises.content("solutions.py", WORDS, 0)
