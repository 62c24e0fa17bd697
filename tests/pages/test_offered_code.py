"""Script and notebook that a page offers: run where nothing of this project is known, they print its numbers."""

from functools import cache

import numpy as np
import pytest

from core.common_mistakes import MISTAKES
from core.order import write_order
from core.parameter_count import BIASES
from core.scaling import SWEEP_DIMS
from core.shapes import SHAPES
from core.tokens import split_words
from core.training.sentences import ACTORS, DEEDS, GRAMMAR_WORDS
from tests.pages.reading import PAGES, change, open_page
from tests.ui.take_home.clean_process import run_all
from tests.ui.take_home.reading import code_of, read, six
from ui import toolbar
from ui.pages import STACK_PARTS
from ui.take_home import notebook, scripts

SENTENCES = ("the cat saw the dog", "She said \"it's 5\\n o'clock\" 👩‍👩‍👧", "क्या आपके पास")
NO_SENTENCE = ("scaling_sweep", "parameter_count", "cost", "learning", "practice")
"""Pages whose numbers do not depend on the sentence: one is enough there."""
SETTINGS = 6
NOTEBOOK_EVERY = 4


def draw_settings(page, rng, sentence):
    """Values of the page's controls by their key, pickers by number."""

    def number(low, high):
        return int(rng.integers(low, high + 1))

    def one_of(options):
        return options[number(0, len(options) - 1)]

    n = len(split_words(sentence))
    d, heads = number(1, 64), number(1, 12)
    shared = {"text": sentence, "d": d, "heads": heads, "seed": number(0, 9999)}
    sides = {"queries_in": one_of(("rows", "columns"))}
    if page == "parameter_count":
        block_heads = number(1, 64)
        sizes = {"d_model": block_heads * number(1, 256), "block_heads": block_heads, "d_ff": number(1, 65536)}
        return sizes | {"layers": number(1, 200), "biases": one_of(BIASES)}
    if page == "cost":
        widths = {"model_width": one_of((768, 12288)), "model_heads": one_of((1, 2, 4, 12, 32, 96))}
        sizes = {"tokens": 2 ** number(3, 17), "batch": 2 ** number(0, 6), "bytes": one_of((2, 4, 8))}
        kept = {"context": 2 ** number(7, 17), "cache_batch": 2 ** number(0, 6), "cache_bytes": one_of((1, 2, 4, 8))}
        own = {"own_layers": number(1, 1000), "own_heads": 8 * number(1, 128), "own_kv_heads": one_of((1, 2, 3, 8))}
        return widths | sizes | kept | own | {"cost_causal": one_of((True, False)), "own_d_head": number(1, 4096)}
    if page == "learning":
        task, letters = one_of(("reverse", "copy 2", "sort", "induction", "order", "scale", "mask")), "abcdefghijklmnop"
        owns = {
            "reverse": "".join(one_of(letters) for _ in range(10)),
            "copy 2": "".join(one_of(letters) for _ in range(number(1, 12))),
            "sort": "".join(str(digit) for digit in rng.permutation(10)[:6]),
            "induction": "".join(one_of(letters) for _ in range(number(2, 32))),
            "order": f"{one_of(ACTORS)} {one_of(DEEDS)} {one_of(ACTORS)}",
            "scale": "".join(str(number(0, 9)) for _ in range(12)),
            "mask": " ".join(one_of(GRAMMAR_WORDS) for _ in range(number(1, 12))),
        }
        return sides | {"task": task, "left_out": one_of((True, False)), "own": owns[task]}
    if page == "practice":
        return sides | {"exercise": number(0, 17), "number": number(1, 999), "seed": shared["seed"]}
    if page == "scaling_sweep":
        dims = [size for size in SWEEP_DIMS[:11] if one_of((True, False))]
        return shared | {"keys": one_of((2, 3, 5, 8, 16)), "draws": 50, "dims": dims}
    if page == "kv_cache":
        n_new, n_layers = number(2, 5), number(1, 3)
        where = {"t": number(1, n_new), "layer": number(0, n_layers - 1), "head": number(0, heads - 1)}
        second = {"cross": one_of((True, False)), "source": one_of(("Hund", "क्या \\n it's", ""))}
        # Narrow: the widest take a second each, and several runs of the layers are what is tested.
        shared["d"] = number(1, 9)
        return shared | sides | {"new_words": n_new, "decoder_layers": n_layers} | where | second
    if page == "real_model":
        place = {"model_layer": number(0, 5), "model_head": number(0, 11)}
        shown = {"shown_as": one_of(("words", "pieces")), "ends": one_of((True, False))}
        return {"text": sentence} | sides | place | shown
    if page == "encoder_block":
        return shared | sides | {"norm": one_of(("pre", "post")), "activation": one_of(("gelu", "relu"))}
    if page == "stack":
        sizes = {"depth": number(1, 9), "stack_width": number(0, 2), "stack_heads": number(0, 3)}
        kinds = {"activation": one_of(("gelu", "relu")), "matrix": number(0, 3)}
        return shared | sizes | kinds | {key: number(0, 3) > 0 for key in STACK_PARTS}
    own = shared | sides | {"head": number(0, heads - 1)}
    if page == "order_blindness":
        order = write_order(tuple(int(position) for position in rng.permutation(n)))
        return own | {"order": order, "positions": one_of(("sinusoidal", "learned table", "rotary"))}
    if page == "multi_head":
        return own
    if page == "three_shapes":
        part = one_of(("full~~AABB", "causal~AB", "window-1~ACCA", "prefix-2", "padding-2~~BA"))
        kind = {"shape": one_of(SHAPES), "reach_layers": number(1, 8)}
        return own | kind | {"encoder_mask": part, "decoder_mask": part, "cross_mask": f"padding-{number(0, 3)}~~BC"}
    own["query"] = number(0, n - 1)
    if page == "why_attention":
        return own | {"d": number(1, 8), "radius": number(0, 5), "as_elsewhere": one_of((True, False))}
    if page == "query_key_value" and sentence == SENTENCES[0] and one_of((True, False)):
        cell = {"head": number(0, 11), "query": number(0, n + 1), "key": number(0, n + 1), "feature": number(0, 31)}
        return shared | sides | {"trained": True, "of_layer": number(0, 5)} | cell
    if page == "query_key_value":
        return own | {"trained": False, "key": number(0, n - 1), "feature": number(0, d - 1)}
    if page == "common_mistakes":
        return own | {"mistake": number(0, len(MISTAKES) - 1), "made": one_of((True, False))}
    if page == "causal_mask":
        replaced = {"replace": number(0, n - 1), "by": one_of(("ball", "", "two words", 'it"s', "\\n"))}
        return own | replaced | {"causal": one_of((True, False)), "n_query": number(1, 8), "n_key": number(1, 8)}
    return own


def sentences(page):
    return SENTENCES[:1] if page in NO_SENTENCE else SENTENCES


@cache
def states(page):
    """What the page has shown and offers, at each of the drawn settings."""
    records, found = [], []
    rng = np.random.default_rng([71, PAGES.index(page)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toolbar, "open_asked", records.append)
        at = open_page(page)
        for sentence in sentences(page) * SETTINGS:
            values = draw_settings(page, rng, sentence)
            # Sizes first: they decide what can be picked.
            sizes = {
                key: values.pop(key)
                for key in ("text", "d", "heads", "trained", "new_words", "decoder_layers")
                if key in values
            }
            change(change(at, **sizes) if sizes else at, **values)
            found.append(records[-1])
    return found


@cache
def printed():
    """Page to what its scripts print, then its notebooks; one clean interpreter forks a process for each.

    A notebook holds the same code and draws: at every fourth state, so that each sentence has some.
    """
    programs = {}
    for page in PAGES:
        source = scripts.read_source(page)
        plain = [scripts.compose(source, state.code) for state in states(page)]
        with_pictures = [scripts.compose(source, state.code, notebook=True) for state in states(page)[::NOTEBOOK_EVERY]]
        programs[page] = plain + [code_of(notebook.build(program)) for program in with_pictures]
    outputs = iter(run_all([code for codes in programs.values() for code in codes], ("numpy", "matplotlib.pyplot")))
    return {page: [next(outputs) for _ in codes] for page, codes in programs.items()}


def twice(found):
    """For the scripts, then for the notebooks."""
    return [*found, *found[::NOTEBOOK_EVERY]]


def on_the_page(state):
    """The matrices of the page as a script prints them."""
    turned = state.code.get("queries_in") == "columns"
    expected = {}
    for name, (values, rows, columns) in state.matrices.items():
        if turned:
            values, rows, columns = values.T, columns, rows
        numbers = [[six(value) for value in row] for row in values.tolist()]
        expected[name] = turned, (rows.title, columns.title), list(rows.names), list(columns.names), numbers
    return expected


@pytest.mark.parametrize("page", [page for page in PAGES if page != "parameter_count"])
def test_scripts_and_notebooks_print_the_numbers_of_the_page(page):
    expected = [on_the_page(state) for state in states(page)]
    assert len(expected) == SETTINGS * len(sentences(page))
    for output, wanted, state in zip(printed()[page], twice(expected), twice(states(page)), strict=True):
        found = read(output)
        assert wanted
        for name, block in wanted.items():
            assert found[name] == block, (name, state.code)


def test_scripts_and_notebooks_count_the_parameters_of_the_page():
    for output, state in zip(printed()["parameter_count"], twice(states("parameter_count")), strict=True):
        found = read(output)
        counts, tensors, _ = state.matrices["parameters"]
        assert {name: int(found[name][-1]) for name in tensors.names} == dict(
            zip(tensors.names, counts[:, 0].astype(int).tolist(), strict=True)
        )
        totals = state.matrices["totals"][0][:, 0].astype(int).tolist()
        layers = state.code["n_layers"]
        assert [int(found["one block"][0]), int(found[f"all layers ({layers})"][0])] == totals


def test_the_settings_drawn_differ():
    codes = [str(dict(state.code)) for page in PAGES for state in states(page)]
    assert len(set(codes)) > 0.95 * len(codes)  # a task of few sentences may be drawn twice
