"""Scripts to take home: run where nothing of this project is known, their numbers compared with `core`."""

import ast
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.common_mistakes import MISTAKES
from core.order import default_order
from core.parameter_count import BIASES
from core.practice.kinds import KINDS, draw
from core.scaling import SWEEP_DIMS
from core.shapes import SHAPES
from core.tokens import split_words
from core.training.tasks import SAVED
from tests.ui.take_home.clean_process import run_all, run_file
from tests.ui.take_home.reading import EXPECTED, code_of, learned_code, practice_code, read
from ui.pages import STACK_PARTS
from ui.take_home import notebook, scripts

SENTENCES = (
    "the cat saw the dog",
    "She said \"it's 5\\n o'clock\" 👩‍👩‍👧",  # a backslash and the letter n
    "She said \"it's 5\n o'clock\" 👩‍👩‍👧",
    "क्या आपके पास",
)
WITHOUT_WORDS = ("parameter_count", "cost", "learning", "real_model", "practice")
TINY = '"Tiny: words."\n\n# %%\nwords = ["a"]  # ünd  more\nby = "b"\n\n# %%\nprint(words, by)\n'


def draw_settings(page, rng, sentence):
    """What a page would pass: its own settings and its extras."""

    def one_of(*options):
        return options[int(rng.integers(len(options)))]

    def number(low, high):
        return int(rng.integers(low, high + 1))

    words = split_words(sentence)
    n_heads, last = number(1, 12), len(words) - 1
    shared = {"words": words, "d_head": number(1, 64), "n_heads": n_heads, "seed": number(0, 9999)}
    turned = {"queries_in": one_of("rows", "columns")}
    head = {"head": number(0, n_heads - 1)}
    if page == "home":
        return shared | head | turned | {"query": number(0, last)}
    if page == "why_attention":
        kind = {"radius": one_of(0.0, 0.5, 0.9, 1.0, 1.1, 1.5), "as_elsewhere": one_of(True, False)}
        return shared | head | turned | kind | {"query": number(0, last), "d_head": number(1, 8)}
    if page == "query_key_value":
        cell = {"query": number(0, last), "key": number(0, last), "feature": number(0, shared["d_head"] - 1)}
        kind = {"trained": False, "pieces": [], "layer": 0}
        if words[-1] == "dog":
            cell = {"query": number(0, 4), "key": number(0, 4), "feature": number(0, 31)}
            kind = {"trained": True, "pieces": ["[CLS]", "me", "##era", "saw", "[SEP]"], "layer": number(0, 5)}
            head = {"head": number(0, 11)}
        return shared | head | turned | cell | kind
    if page == "causal_mask":
        leak = {"causal": one_of(True, False), "replace": number(0, last)}
        leak["by"] = one_of("ball", "", "two words", "Meera", words[leak["replace"]], "क्या", '"it\'s"')
        return shared | head | turned | leak | {"n_query": number(1, 8), "n_key": number(1, 8)}
    if page == "order_blindness":
        order = one_of([int(position) for position in rng.permutation(len(words))], [*default_order(words)])
        return shared | head | turned | {"order": order, "positions": one_of("sinusoidal", "learned table", "rotary")}
    if page == "multi_head":
        return shared | head | turned
    if page == "encoder_block":
        kind = {"factor": one_of(1, 2, 4), "norm_position": one_of("pre", "post"), "activation": one_of("gelu", "relu")}
        return shared | turned | kind
    if page == "stack":
        sizes = {"n_layers": number(1, 6), "d_model": one_of(8, 16, 32), "stack_heads": one_of(1, 2, 4, 8)}
        kept = {key: one_of(True, True, True, False) for key in STACK_PARTS}
        return shared | turned | sizes | {"activation": one_of("gelu", "relu")} | kept
    if page == "three_shapes":
        target = one_of(words, split_words("Meera ne ek naya balla"))

        def made(presets):
            cells = [[row, column] for row in range(4) for column in range(6)]
            edits = [cells[place] for place in rng.permutation(len(cells))[:7].tolist()]
            return [one_of(*presets), number(0, 3), edits[:3], edits[3:]]

        every = ("full", "causal", "window", "prefix", "padding")
        masks = {"encoder_mask": made(every), "decoder_mask": made(every), "cross_mask": made(every[::2])}
        kind = {"shape": one_of(*SHAPES), "target": target, "n_layers": number(1, 8)}
        for mask in masks.values():
            mask[1] *= mask[0] in ("window", "prefix", "padding")
        return shared | head | turned | kind | masks
    if page == "common_mistakes":
        chosen = {"mistake": one_of(*MISTAKES), "made": one_of(True, True, False), "query": number(0, last)}
        return shared | head | turned | chosen
    if page == "kv_cache":
        n_new, n_layers = number(2, 6), number(1, 3)
        where = {"step": number(1, n_new), "layer": number(0, n_layers - 1)}
        # Narrow: the widest take a second each, and several runs of the layers are what is tested.
        shared["d_head"] = number(1, 9)
        second = {"source": one_of([], ["Hund"], ["क्या", '"it\'s"', "x"])}
        return shared | head | turned | where | second | {"n_new": n_new, "n_layers": n_layers}
    if page == "real_model":
        pieces = one_of(["the", "cat", "saw", "the", "dog"], ["me", "##era", "'", "s", "na", "##ive", "cat"], ["[UNK]"])
        place = {"layer": number(0, 5), "head": number(0, 11)}
        switches = {"whole_words": one_of(True, False), "with_ends": one_of(True, False)}
        return {"pieces": ["[CLS]", *pieces, "[SEP]"]} | place | switches | turned
    if page == "scaling_sweep":
        dims = [int(d) for d in SWEEP_DIMS if one_of(True, False)]
        return shared | turned | {"n_keys": one_of(2, 3, 5, 8, 16), "n_draws": 50, "dims": dims}
    if page == "cost":
        n_heads, own_kv_heads = number(1, 16), number(1, 8)
        sizes = {"seq_len": number(1, 131072), "d_model": n_heads * number(1, 128), "n_heads": n_heads}
        rest = {"batch": number(1, 64), "bytes_per_number": one_of(2, 4, 8), "causal": one_of(True, False)}
        kept = {"context": number(1, 131072), "cache_batch": number(1, 64), "cache_bytes_per_number": one_of(1, 2, 4)}
        own = [number(1, 100), own_kv_heads * number(1, 8) + one_of(0, 0, 1), own_kv_heads, number(1, 256)]
        return sizes | rest | kept | {"own": own}
    if page == "learning":
        task, seed = SAVED[number(0, len(SAVED) - 1)]
        return learned_code(task, seed, one_of("rows", "columns"), rng)
    if page == "practice":
        kind, seed, variant = one_of(*KINDS), number(0, 9999), number(1, 999)
        exercise = draw(kind, seed, variant)
        return practice_code(exercise, seed, variant, one_of(True, False), one_of("rows", "columns"))
    n_heads = number(1, 64)
    sizes = {"d_model": n_heads * number(1, 256), "n_heads": n_heads, "d_ff": number(1, 65536)}
    return sizes | {"n_layers": number(1, 200), "biases": one_of(*BIASES)}


def cases(page, count=3):
    """Settings for each sentence in turn; pages without a sentence have only their sizes."""
    if page == "learning":  # every kind of model
        rng = np.random.default_rng(7)
        kinds = "reverse", "sort", "pronoun", "pronoun-none", "order", "scale-none", "mask-none"
        return [learned_code(task, 0, ("rows", "columns")[place % 2], rng) for place, task in enumerate(kinds)]
    if page == "practice":  # every kind, its answer revealed; the last one is not
        sides = [("rows", "columns")[place % 2] for place in range(len(KINDS))]
        states = [practice_code(draw(kind, 5, 2), 5, 2, True, side) for kind, side in zip(KINDS, sides, strict=True)]
        return [*states, states[0] | {"revealed": False}]
    rng = np.random.default_rng([2024, scripts.PAGES.index(page)])
    sentences = SENTENCES[:1] if page in WITHOUT_WORDS else SENTENCES
    states = [draw_settings(page, rng, sentence) for _ in range(count) for sentence in sentences]
    if page == "common_mistakes":  # each of them, and its fix
        states += [states[number % len(states)] | {"mistake": one} for number, one in enumerate(MISTAKES)]
    if page == "scaling_sweep":
        states[0] |= {"n_draws": 500, "dims": []}
        # The sweep takes most of the time and does not depend on the sentence.
        return states[:8]
    if page == "order_blindness":
        states[0] |= {"d_head": 1, "positions": "rotary"}
    return states


@cache
def composed(page, torch=False, for_notebook=False):
    """Program of every case."""
    source = scripts.read_source(page, torch)
    return [scripts.compose(source, values, notebook=for_notebook) for values in cases(page)]


@cache
def printed(make, *modules):
    """Page to what its programs print; one interpreter runs the programs of all pages.

    It imports these modules beforehand, and of NumPy what would else be imported by every program that draws numbers.
    """
    programs = {page: make(page) for page in scripts.PAGES}
    imports = ("numpy", "numpy.random", *(modules or ["matplotlib.pyplot"]))
    outputs = iter(run_all([code for codes in programs.values() for code in codes], imports))
    return {page: [next(outputs) for _ in codes] for page, codes in programs.items()}


def scripts_and_notebooks(page):
    return [*composed(page), *(code_of(notebook.build(program)) for program in composed(page, for_notebook=True))]


@pytest.mark.parametrize("page", scripts.PAGES)
def test_scripts_and_notebooks_print_the_numbers_of_core(page):
    states = cases(page)
    expected = [EXPECTED[page](values) for values in states]
    for number, output in enumerate(printed(scripts_and_notebooks)[page]):
        assert read(output) == expected[number % len(states)], states[number % len(states)]


def twin_states(page):
    return cases(page) if page == "practice" else [{}, cases(page)[1], cases(page)[2]]


def twins(page):
    return [scripts.compose(scripts.read_source(page, torch=True), values) for values in twin_states(page)]


@pytest.mark.parametrize("page", scripts.PAGES)
def test_twins_by_torch_print_the_same_numbers(page):
    defaults = scripts.settings_of(scripts.read_source(page))
    for values, output in zip(twin_states(page), printed(twins, "torch", "torch._dynamo")[page], strict=True):
        assert_alike(read(output), EXPECTED[page](defaults | values))


def assert_alike(found, expected):
    """The same blocks, the same names, numbers that differ by no more than a printed digit."""
    assert found.keys() == expected.keys()
    for name, block in expected.items():
        if not block or not isinstance(block[-1], list):
            if block and "." in block[-1]:
                np.testing.assert_allclose(float(found[name][0]), float(block[0]), rtol=0, atol=1.001e-6)
            else:
                assert found[name] == block
        else:
            assert found[name][:-1] == block[:-1], name
            numbers = (np.array(rows, dtype=float) for rows in (found[name][-1], block[-1]))
            np.testing.assert_allclose(*numbers, rtol=0, atol=1.001e-6, err_msg=name)


@pytest.mark.parametrize("page", scripts.PAGES)
def test_script_runs_from_a_file_in_a_fresh_interpreter(page):
    source = scripts.read_source(page)
    assert read(run_file(scripts.compose(source, {}))) == EXPECTED[page](scripts.settings_of(source))


def test_sources_run_by_themselves_and_print_what_their_programs_print():
    sources = [scripts.read_source(page) for page in scripts.PAGES]
    beside = f"import sys; sys.path.insert(0, {str(scripts.SOURCES)!r})\n"
    programs = [scripts.compose(source, {}) for source in sources]
    outputs = run_all([*(beside + source for source in sources), *programs], ("numpy", "matplotlib.pyplot"))
    assert outputs[: len(sources)] == outputs[len(sources) :]


def test_default_script_prints_the_figures_of_the_lesson():
    found = read(run_all([scripts.compose(scripts.read_source("query_key_value"), {})])[0])
    rounded = [f"{float(number):.2f}" for number in found["weights"][-1][0]]
    assert rounded == ["0.03", "0.32", "0.12", "0.51", "0.02"]


HOSTILE = {
    "a\tb": "a\\tb",
    "line\nend": "line\\nend",
    "half \ud83d": "half \\ud83d",
    "\x00\x1b[31m\x85": "\\x00\\x1b[31m\\x85",
    "\u2028": "\\u2028",
    "\\n": "\\n",
    "$\\frac$": "$\\frac$",
    '"""': '"""',
    "'''\n# %% [markdown]\n# # mine": "'''\\n# %% [markdown]\\n# # mine",
    "\u202edrow": "\u202edrow",
    "e\u0301": "e\u0301",
    "é": "é",
}
"""Words that break programs, and how a script prints them: on one line."""


WITH_WORDS = [page for page in scripts.PAGES if page not in WITHOUT_WORDS]


def hostile_settings(page):
    settings = scripts.settings_of(scripts.read_source(page)) | {"words": [*HOSTILE]}
    return settings | ({"order": [*reversed(range(len(HOSTILE)))]} if page == "order_blindness" else {})


def drawn(page, values):
    """A notebook's program that also draws its pictures to the last pixel."""
    return scripts.compose(scripts.read_source(page), values, notebook=True) + "plt.gcf().canvas.draw()\n"


def hostile(page):
    return [drawn(page, hostile_settings(page))] if page in WITH_WORDS else []


@pytest.mark.parametrize("page", WITH_WORDS)
def test_words_that_break_lines_are_printed_as_escapes_and_keep_their_vectors(page):
    expected = EXPECTED[page](hostile_settings(page))
    # A generator writes any of the words at later places too.
    escaped = {f"{i} {word}": f"{i} {HOSTILE[word]}" for i in range(2 * len(HOSTILE)) for word in HOSTILE}

    def with_escapes(block):
        return (*block[:2], *([escaped.get(name, name) for name in names] for names in block[2:4]), block[4])

    (output,) = printed(hostile)[page]
    assert read(output) == {name: with_escapes(block) if len(block) == 5 else block for name, block in expected.items()}


MANY, ONE = {"words": ["word"] * 64, "d_head": 64, "n_heads": 12}, {"words": ["a"], "d_head": 1, "n_heads": 1}
EXTREMES = {
    "real_model": [
        {"pieces": ["[CLS]", *["the"] * 126, "[SEP]"], "layer": 5},
        {"pieces": ["[CLS]", "a", "[SEP]"], "layer": 0, "with_ends": False},
    ],
    "home": [MANY, ONE],
    "why_attention": [MANY | {"d_head": 7}, ONE | {"query": 0}],
    "query_key_value": [MANY, ONE | {"key": 0}],
    "scaling_sweep": [{"words": [], "dims": [], "n_draws": 1, "n_keys": 1}],
    "causal_mask": [MANY, ONE | {"replace": 0}],
    "order_blindness": [MANY | {"order": [*range(64)]}, ONE | {"order": [0], "positions": "rotary"}],
    "multi_head": [MANY | {"d_head": 8}, ONE],
    "encoder_block": [MANY | {"d_head": 8}, ONE],
    "stack": [
        MANY | {"n_layers": 48},
        ONE | {"n_layers": 1, "d_model": 8, "stack_heads": 8} | dict.fromkeys(STACK_PARTS, False),
    ],
    "three_shapes": [
        MANY | {"d_head": 8, "target": ["word"] * 64, "cross_mask": ["padding", 64, [], []]},
        ONE | {"target": ["b"], "encoder_mask": ["full", 0, [], [[0, 0]]]},
    ],
    "common_mistakes": [MANY | {"d_head": 8, "mistake": "no causal mask"}, ONE | {"mistake": "no allowed key"}],
    "kv_cache": [
        MANY | {"d_head": 2, "source": ["word"] * 12, "n_new": 3},
        ONE | {"n_layers": 1, "layer": 0, "n_new": 2, "step": 1},
    ],
    "parameter_count": [{"d_model": 16384, "d_ff": 1}, {"d_model": 1, "n_heads": 1, "biases": "none"}],
    "cost": [
        {"seq_len": 131072, "d_model": 12288, "n_heads": 96, "batch": 64, "bytes_per_number": 8, "causal": True},
        {"seq_len": 1, "d_model": 1, "n_heads": 1, "own": [1, 3, 2, 1]},
    ],
    "learning": [learned_code("induction", 0, "rows"), learned_code("mask", 0, "columns", words=("the",))],
    "practice": [practice_code(draw("which mistake", 0, 1), 0, 1, True, "rows")],
}


def extremes(page):
    return [drawn(page, values) for values in EXTREMES[page]]


@pytest.mark.parametrize("page", scripts.PAGES)
def test_pictures_are_drawn_at_the_largest_and_the_smallest_sizes(page):
    defaults = scripts.settings_of(scripts.read_source(page))
    for values, output in zip(EXTREMES[page], printed(extremes)[page], strict=True):
        assert read(output) == EXPECTED[page](defaults | values)


# Composing


@pytest.mark.parametrize("page", scripts.PAGES)
@pytest.mark.parametrize("torch", [False, True])
def test_program_is_short_clean_and_needs_only_what_it_says(page, torch, tmp_path):
    program = scripts.compose(scripts.read_source(page, torch), {})
    imported = {node.names[0].name for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Import)}
    imported |= {node.module for node in ast.walk(ast.parse(program)) if isinstance(node, ast.ImportFrom)}
    others = {name.split(".")[0] for name in imported} - sys.stdlib_module_names
    assert others <= ({"numpy", "torch"} if torch else {"numpy"})
    assert ast.get_docstring(ast.parse(program))
    # The way back through every part is as long as the way there; one program holds all ten mistakes.
    longest = {
        "query_key_value": 190,
        "stack": 225,
        "common_mistakes": 265,
        "kv_cache": 300,
        "why_attention": 200,
        "learning": 225,
    }
    assert program.count("\n") <= longest.get(page, 165)
    file = tmp_path / "program.py"
    file.write_text(program, encoding="utf-8")
    rules = ["--isolated", "--no-cache", "--line-length=120", "--target-version=py311"]
    check = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *rules, "--select=E,F,I,NPY", file], capture_output=True, text=True
    )
    assert check.returncode == 0, check.stdout
    form = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--diff", *rules, file], capture_output=True, text=True
    )
    assert form.returncode == 0, form.stdout


def assigned(program, name):
    """Value of the one top-level assignment to a name."""
    found = [node.value for node in ast.parse(program).body if isinstance(node, ast.Assign) and is_name(node, name)]
    assert len(found) == 1
    return ast.literal_eval(found[0])


def is_name(node, name):
    return isinstance(node.targets[0], ast.Name) and node.targets[0].id == name


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
NASTY = st.sampled_from(
    [*HOSTILE, "\\", "'", '"', "\r", "\r\n", "\ufeff", "# %%", "{words}", "\udfff\ud800", "👩‍👩‍👧", "क्या"]
)


@given(st.lists(ANY_TEXT | NASTY, min_size=1, max_size=8), ANY_TEXT | NASTY)
@pytest.mark.parametrize("for_notebook", [False, True])
def test_any_text_survives_composing_and_stays_within_its_literal(for_notebook, words, by):
    program = scripts.compose(TINY, {"words": words, "by": by}, notebook=for_notebook)
    assert assigned(program, "words") == words
    assert assigned(program, "by") == by
    program.encode("utf-8")  # no half of a surrogate pair is left
    compile(program, "program.py", "exec")
    # What stands around the two literals is what stands around others.
    other = scripts.compose(TINY, {"words": ["x"], "by": "y"}, notebook=for_notebook)
    assert (
        program.replace(scripts.write_literal(words, 8), '["x"]').replace(
            f"by = {scripts.write_literal(by)}", 'by = "y"'
        )
        == other
    )


@pytest.mark.parametrize("page", scripts.PAGES)
@pytest.mark.parametrize("torch", [False, True])
def test_every_setting_of_every_source_can_be_set(page, torch):
    source = scripts.read_source(page, torch)
    assert list(scripts.settings_of(source)) == list(scripts.settings_of(scripts.read_source(page)))
    assert scripts.settings_of(source).keys() == cases(page)[0].keys()
    for values in cases(page)[:4]:
        program = scripts.compose(source, values)
        for name, value in values.items():
            assert assigned(program, name) == (list(value) if isinstance(value, tuple) else value)


def test_comment_behind_a_literal_stays():
    assert 'words = ["x", "y"]  # ünd  more\nby = "b"' in scripts.compose(TINY, {"words": ("x", "y")})


def test_long_list_is_wrapped():
    program = scripts.compose(TINY, {"words": ["word"] * 64})
    assert max(map(len, program.splitlines())) <= 100
    assert assigned(program, "words") == ["word"] * 64


def test_name_that_is_not_assigned_is_refused():
    with pytest.raises(ValueError, match="the source assigns words, by; got heads"):
        scripts.compose(TINY, {"words": [], "heads": 2})


@pytest.mark.parametrize("value", [np.int64(3), {"a"}, b"bytes", float("nan"), float("inf"), [object()]])
def test_value_that_no_literal_gives_back_is_refused(value):
    with pytest.raises(TypeError, match="value must be"):
        scripts.write_literal(value)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("it's", '"it\'s"'),
        ('say "no"', "'say \"no\"'"),
        ("both ' and \"", "'both \\' and \"'"),
        ("क्या", '"क्या"'),
        ("e\u0301", '"e\u0301"'),
        ("👩‍👩‍👧", '"👩\\u200d👩\\u200d👧"'),
        ("\ud800\n\x1b", '"\\ud800\\n\\x1b"'),
        (True, "True"),
        (None, "None"),
        (-3, "-3"),
        (0.1, "0.1"),
        ((1, 2), "[1, 2]"),
        ([], "[]"),
    ],
)
def test_literals_are_readable_where_they_print(value, written):
    assert scripts.write_literal(value) == written


def test_page_without_a_source_is_refused():
    with pytest.raises(ValueError, match="page must be one of"):
        scripts.read_source("no_such_page")
