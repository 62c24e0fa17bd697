"""Tables and specifications of the charts, and pictures, by value."""

import ast
import copy
import io
import json
import re

import numpy as np
import pytest
import vl_convert
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.masks import causal_mask
from core.parameter_count import PARTS, encoder_block_parameters
from core.scaling import single_draws, sweep
from tests.pages.reading import as_frame, as_matrix
from ui.charts import tables
from ui.charts.bars import PART_HUES, parameters_chart, parameters_table
from ui.charts.block import PICK, block_chart, block_table
from ui.charts.depth import depth_chart, depth_table
from ui.charts.heat_map import (
    Panel,
    matrix_table,
    number_text,
    position_axis,
    specification,
    symmetric_limit,
    with_sums,
    word_axis,
)
from ui.charts.lines import (
    MEASURES,
    SERIES,
    curves_chart,
    curves_table,
    drag_chart,
    drag_table,
    sweep_chart,
    sweep_table,
)
from ui.charts.links import links_chart, links_table
from ui.charts.picture import matrix_picture
from ui.charts.reach import lengths_chart, steps_chart, words_chart
from ui.charts.shelf import shelf_chart
from ui.charts.theme import FILL, TEXT, ramp_parameters
from ui.colours import KEY, MASKED, NEUTRAL, PAGE, PICKED, POSITION, QUERY, SIGNED, VALUE, WEIGHTS, contrast
from ui.style import STYLE

THEMES = {"light": PAGE.light, "dark": PAGE.dark}
RAMPS = {"weights": WEIGHTS, "signed": SIGNED}
TEXT_ON_PAGE = {"light": "#14181F", "dark": "#F0F3F7"}
"""Of .streamlit/config.toml, as `ui.charts.theme.TEXT`."""

SPECS = {
    "heat map": lambda: specification(
        Panel("A", row_title="query", column_title="key", row_caption="query", column_caption="key", pick="cell"),
        ramp="weights",
    ),
    "two heat maps": lambda: specification(Panel("A", width=20, matrix="w"), Panel("B", width=30, matrix="made")),
    "links": lambda: links_chart(5),
    "sweep": lambda: sweep_chart(MEASURES[0]),
    "reach": lambda: words_chart(False, True, "share"),
    "reach of many": lambda: words_chart(True, False, "size"),
    "lengths": lambda: lengths_chart(True, "share"),
    "steps": lambda: steps_chart(),
    "shelf": lambda: shelf_chart(False),
    "drag": lambda: drag_chart(),
    "curves": lambda: curves_chart("feature"),
    "parameters": lambda: parameters_chart(16),
}


def table(values, rows, columns, *rest, **options):
    return as_frame(matrix_table(values, rows, columns, *rest, **options))


def words_table(words, values=None, **options):
    axes = word_axis("query", words), word_axis("key", words)
    return table(np.full((len(words), len(words)), 1 / len(words)) if values is None else values, *axes, **options)


def nodes(spec):
    """Every dictionary within a specification."""
    if isinstance(spec, dict):
        yield spec
        for value in spec.values():
            yield from nodes(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from nodes(value)


def evaluate(expression, background, **datum):
    """The value in a browser of the few kinds of Vega expression that choose a colour."""
    expression = expression.strip()
    while expression.startswith("(") and closing(expression, 0) == len(expression) - 1:
        expression = expression[1:-1].strip()
    question = top_level(expression, "?")
    if question is not None:
        colon = top_level(expression, ":", question + 1)
        taken = (
            expression[question + 1 : colon]
            if truth(expression[:question], background, datum)
            else expression[colon + 1 :]
        )
        return evaluate(taken, background, **datum)
    if expression == "ramp[datum.step + 1]":
        (parameter,) = ramp_parameters(RAMPS[datum["ramp"]])
        return evaluate(parameter["expr"], background)[datum["step"] + 1]
    if expression.startswith("["):
        return ast.literal_eval(expression)
    return re.fullmatch(r"'(#[0-9A-F]{6})'", expression)[1]


def truth(condition, background, datum):
    if compared := re.fullmatch(r"datum\.step < (-?\d+)", condition.strip()):
        return datum["step"] < int(compared[1])
    return {
        "dark": background == PAGE.dark,
        "datum.step === -2": datum.get("step") == -2,
        **{f"datum.part === '{part}'": datum.get("part") == part for part in PARTS},
        **{f"datum.series === '{series}'": datum.get("series") == series for series in SERIES},
    }[condition.strip()]


def closing(text, start):
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise AssertionError(f"an open bracket in {text}")


def top_level(text, sign, start=0):
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[place], 0)
        if depth == 0 and text[place] == sign:
            return place
    return None


# Colours


@pytest.mark.parametrize("rest", [0.1, 0.2, 0.9], ids="rest={}".format)
def test_a_weight_has_one_colour_whatever_stands_beside_it(rest):
    cells = words_table(("a", "b"), [[0.2, rest], [rest, 0.2]], ramp="weights")
    assert as_matrix(cells, "step")[0, 0] == as_matrix(cells, "step")[1, 1] == 20


def test_weights_run_from_0_to_1_and_not_to_the_largest():
    cells = words_table(("a", "b"), [[0.0, 0.5], [1.0, 0.4]], ramp="weights")
    assert as_matrix(cells, "step").tolist() == [[0, 50], [100, 40]]


@pytest.mark.parametrize(("limit", "expected"), [(1.0, [0, 25, 50, 75, 100]), (2.0, [25, 38, 50, 62, 75])])
def test_signed_values_are_centred_on_0(limit, expected):
    values = [[-1.0, -0.5, 0.0, 0.5, 1.0]]
    cells = table(values, word_axis("query", ("a",)), position_axis("feature", 5), limit=limit)
    assert cells.step.tolist() == expected


def test_values_beyond_the_limit_take_the_colour_of_the_end():
    cells = table([[-9.0, 9.0]], word_axis("query", ("a",)), position_axis("feature", 2), limit=3.0)
    assert cells.step.tolist() == [0, 100]


def test_limit_is_the_largest_finite_size_over_all_matrices():
    assert symmetric_limit([[1.0, -4.0]], [[-np.inf, 3.0]]) == 4.0
    assert symmetric_limit([[0.0]], [[-np.inf]]) == 1.0


def test_the_specification_scales_nothing_by_the_data():
    spec = SPECS["heat map"]()
    assert not any({"color", "fill", "opacity"} & set(layer["encoding"]) for layer in spec["layer"])
    (colours,) = [parameter["expr"] for parameter in spec["params"] if parameter["name"] == "ramp"]
    for theme in ("light", "dark"):
        wanted = [getattr(MASKED, theme), *getattr(WEIGHTS, theme).tolist()]
        assert evaluate(colours, getattr(PAGE, theme)) == wanted


@pytest.mark.parametrize("ramp", RAMPS)
@pytest.mark.parametrize("theme", THEMES)
def test_every_number_stands_out_from_its_cell(ramp, theme):
    """The colour that the browser will choose for the number, on the colour that it will choose for the cell."""
    spec = specification(Panel("A"), ramp=ramp)
    ink = spec["layer"][1]["mark"]["fill"]["expr"]
    fill = spec["layer"][0]["mark"]["fill"]["expr"]
    for step in range(-1, 101):
        colours = [evaluate(part, THEMES[theme], step=step, ramp=ramp) for part in (ink, fill)]
        assert contrast(*colours) >= 4.5, (step, colours)
    assert contrast(evaluate(ink, THEMES[theme], step=-2, ramp=ramp), THEMES[theme]) >= 4.5  # row sums have no cell


@pytest.mark.parametrize("theme", THEMES)
def test_a_masked_cell_has_a_colour_of_its_own(theme):
    expression = FILL.to_dict()["expr"]
    masked = evaluate(expression, THEMES[theme], step=-1, ramp="weights")
    assert masked == getattr(MASKED, theme)
    for ramp, zero in (("weights", 0), ("signed", 50)):
        assert contrast(masked, evaluate(expression, THEMES[theme], step=zero, ramp=ramp)) >= 1.25
        assert masked not in getattr(RAMPS[ramp], theme)


@pytest.mark.parametrize("ramp", RAMPS)
@pytest.mark.parametrize("theme", THEMES)
def test_ramps_rise_evenly_and_neighbouring_colours_differ(ramp, theme):
    colours = getattr(RAMPS[ramp], theme)
    assert len(colours) == 101
    assert len(set(colours)) == 101
    middle, ends = (0, [100]) if ramp == "weights" else (50, [0, 100])
    for end in ends:
        away = [
            contrast(colours[middle], colours[round(middle + share * (end - middle))])
            for share in (0, 0.25, 0.5, 0.75, 1)
        ]
        assert away == sorted(away)
        assert away[-1] > 4


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    "hue", [QUERY, KEY, VALUE, POSITION, NEUTRAL], ids=["query", "key", "value", "position", "neutral"]
)
def test_text_in_the_colour_of_a_role_is_readable(hue, theme):
    assert contrast(getattr(hue, theme), THEMES[theme]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_outlines_and_text_of_charts_stand_out_from_the_page(theme):
    text = evaluate(TEXT.to_dict()["expr"], THEMES[theme])
    assert text == TEXT_ON_PAGE[theme]
    assert contrast(text, THEMES[theme]) >= 4.5
    # WCAG asks less of a line than of text; light orange on white is near the limit.
    assert contrast(getattr(PICKED, theme), THEMES[theme]) >= (2.5 if theme == "light" else 3)


@pytest.mark.parametrize("theme", THEMES)
def test_text_of_the_style_sheet_is_readable(theme):
    colour_of = r"(background|color): light-dark\((#\w{6}), (#\w{6})\)"
    pairs = re.findall(colour_of, re.sub(r"\.(bar|copy) \{[^}]*\}", "", STYLE))
    assert len(pairs) > 8
    for kind, *colours in pairs:
        colour = colours[theme == "dark"]
        other = TEXT_ON_PAGE[theme] if kind == "background" else THEMES[theme]
        assert contrast(colour, other) >= 4.5, (kind, colour)
    (_, *behind), (_, *ink) = re.findall(colour_of, re.search(r"\.copy \{[^}]*\}", STYLE)[0])
    assert contrast(behind[theme == "dark"], ink[theme == "dark"]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("part", PARTS)
def test_bars_have_the_colour_of_their_part(part, theme):
    fill = parameters_chart(16)["layer"][0]["mark"]["fill"]["expr"]
    assert evaluate(fill, THEMES[theme], part=part) == getattr(PART_HUES[part], theme)


# Masked and picked cells


def test_masked_cells_have_no_value_and_say_so():
    allowed = causal_mask(3)
    scores = np.where(allowed, [[0.2, 9, 9], [0.0, 0.3, 9], [0, 0, 0]], -np.inf)
    cells = words_table(("a", "b", "c"), scores, may_attend=allowed)
    assert as_matrix(cells, "step")[~allowed].tolist() == [-1, -1, -1]
    assert as_matrix(cells, "text")[~allowed].tolist() == ["−∞"] * 3
    assert all("masked" in note for note in as_matrix(cells, "note")[~allowed])
    assert np.isnan(as_matrix(cells)[~allowed].astype(float)).all()
    assert (as_matrix(cells, "step")[allowed] >= 50).all()
    assert set(as_matrix(cells, "note")[allowed]) == {""}
    assert set(cells.column_name) == {"0 a", "1 b", "2 c"}


def test_a_masked_weight_of_0_is_not_a_zero_that_was_computed():
    cells = words_table(("a", "b"), [[1.0, 0.0], [1.0, 0.0]], ramp="weights", may_attend=causal_mask(2))
    assert as_matrix(cells, "step")[:, 1].tolist() == [-1, 0]
    assert as_matrix(cells, "text")[:, 1].tolist() == ["0", "0"]


@pytest.mark.parametrize(
    ("picked", "expected"),
    [
        ([], ["...", "..."]),
        ([(1, 2)], ["...", "..c"]),
        ([(0, None)], ["r..", "..."]),
        ([(None, 1)], [".|.", "..."]),
        ([(0, None), (1, 0)], ["r..", "c.."]),
        ([(0, None), (1, None)], ["r..", "r.."]),
    ],
    ids=["none", "cell", "row", "column", "row and cell", "two rows"],
)
def test_picked_cells_are_framed_and_a_picked_row_once(picked, expected):
    cells = table(np.zeros((2, 3)), word_axis("query", ("a", "b")), position_axis("feature", 3), picked=picked)
    found = as_matrix(cells, "outline")
    assert [
        "".join({"": ".", "cell": "c", "row": "r", "column": "|"}[mark] for mark in row) for row in found
    ] == expected


def test_frames_are_drawn_where_the_table_says_and_a_click_names_positions():
    spec = SPECS["heat map"]()
    frames = {layer["transform"][0]["filter"]: layer["encoding"] for layer in spec["layer"][2:]}
    assert set(frames) == {f"datum.outline === '{what}'" for what in ("cell", "row", "column")}
    assert frames["datum.outline === 'row'"]["x2"] == {"value": "width"}
    assert frames["datum.outline === 'column'"]["y2"] == {"value": "height"}
    (selection,) = (p for p in spec["layer"][0].get("params", []) + spec["params"] if p["name"] == "cell")
    assert selection["select"]["fields"] == ["row_position", "column_position", "matrix"]


def test_axes_must_fit_the_values():
    with pytest.raises(ValueError, match=r"\(1, 2\).*got \(2, 1\)"):
        matrix_table(np.zeros((2, 1)), word_axis("query", ("a",)), position_axis("feature", 2))


# Words


def test_repeated_words_stay_apart():
    cells = words_table(("the", "cat", "saw", "the", "dog"))
    names = ["0 the", "1 cat", "2 saw", "3 the", "4 dog"]
    assert len(cells) == 25
    assert len(set(zip(cells.row, cells.column, strict=True))) == 25
    assert list(dict.fromkeys(cells.row)) == list(dict.fromkeys(cells.column)) == names


def test_words_stand_in_the_order_of_the_sentence_in_every_layer():
    cells = words_table(("zebra", "apple", "mango"))
    assert cells.sort_values(["row_position", "column_position"]).row_name[::3].tolist() == [
        "0 zebra",
        "1 apple",
        "2 mango",
    ]
    spec = specification(Panel("A", row_title="query", column_title="key", row_caption="query", column_caption="key"))
    for channel, axis in (("x", "column"), ("y", "row")):
        encodings = [layer["encoding"][channel] for layer in spec["layer"] if "field" in layer["encoding"][channel]]
        assert len(encodings) >= 3  # all but the frame around a whole row, which needs no column
        order = {"field": f"{axis}_position", "op": "min", "order": "ascending"}
        assert [(entry["field"], entry["type"], entry["sort"]) for entry in encodings] == [
            (axis, "nominal", order)
        ] * len(encodings)


def test_labels_that_would_sort_as_text_stand_by_position():
    """As text "10" comes before "2"."""
    cells = table(np.zeros((1, 12)), word_axis("query", ("a",)), position_axis("feature", 12))
    assert cells.sort_values("column_position").column.tolist() == [str(i) for i in range(12)]


SPECIAL = ("U.S.", "GDP[2024]", "time:now", "ratio:N", "a\\b", "datum.step", "'+alert(1)+'", "<b>")


def test_special_characters_are_data():
    cells = words_table(SPECIAL)
    assert cells.column_name[: len(SPECIAL)].tolist() == [f"{i} {word}" for i, word in enumerate(SPECIAL)]
    assert set(cells.columns) == set(words_table(("a",)).columns)
    links = as_frame(links_table(np.eye(8), word_axis("query", SPECIAL), word_axis("key", SPECIAL)))
    assert links.key_name[:8].tolist() == [f"{i} {word}" for i, word in enumerate(SPECIAL)]


@pytest.mark.parametrize("name", SPECS)
def test_fields_of_a_specification_are_columns_of_ours(name):
    """A field with a dot or bracket would be read as a path, one with a colon as a type."""
    spec = SPECS[name]()
    fields = [node["field"] for node in nodes(spec) if "field" in node]
    assert fields
    assert all(re.fullmatch(r"[a-z_0-9]+", field) for field in fields)
    assert not any({"data", "datasets"} & set(node) for node in nodes(spec))


def test_long_words_are_cut_on_the_axis_only():
    axis = word_axis("query", ("internationalisation", "bat"))
    assert axis.labels == ("0 internati…", "1 bat")
    assert axis.names == ("0 internationalisation", "1 bat")


def test_many_words_leave_positions_on_the_axis_and_the_words_in_the_tooltip():
    words = tuple(f"w{i}" for i in range(13))
    axis = word_axis("query", words)
    assert axis.labels == tuple(str(i) for i in range(13))
    assert axis.names[12] == "12 w12"
    said = SPECS["heat map"]()["layer"][0]["mark"]
    assert said["tooltip"]["expr"].endswith(
        """: {"query": datum.row_name, "key": datum.column_name, "A": (datum.value === null ? '−∞' : """
        "format(datum.value, '.6f'))}"
    )
    assert said["description"]["expr"].startswith('"query: " + datum.row_name + "; key: " + datum.column_name + ')


@pytest.mark.parametrize(
    ("titles", "names"),
    [
        (("query", "key", "weight"), ("query", "key", "weight")),
        (("word", "word", "weight"), ("word (row)", "word (column)", "weight")),
        (("word", "size", "size"), ("word", "size", "size (value)")),
    ],
)
def test_no_two_entries_of_a_tooltip_have_one_name(titles, names):
    row, column, measure = titles
    panel = Panel("A", row_title=row, column_title=column, measure=measure)
    said = specification(panel)["layer"][0]["mark"]
    assert tuple(re.findall(r'"([^"]+)": ', said["tooltip"]["expr"].partition(" : ")[0])) == names
    assert re.findall(r'"(?:; )?([^"]+): "', said["description"]["expr"]) == list(names)


def test_equal_values_everywhere_are_drawn_on_the_fixed_scale():
    cells = words_table(("la", "la", "la"), ramp="weights")
    assert len(cells) == 9
    assert set(cells.step) == {33}
    assert set(cells.text) == {"0.33"}


# Numbers


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        (-0.0, 2, "0.00"),
        (-0.004, 2, "0.00"),
        (-0.0049999, 2, "0.00"),
        (-0.006, 2, "−0.01"),
        (-1.256, 2, "−1.26"),
        (-0.0004, 3, "0.000"),
        (1234.5, 1, "1234.5"),
        (-np.inf, 2, "−∞"),
        (np.inf, 2, "∞"),
        (-12.0, 0, "−12"),
    ],
)
def test_numbers_as_cells_show_them(value, decimals, expected):
    assert number_text(value, decimals) == expected


def test_exactly_0_and_what_rounds_to_it_are_written_apart():
    cells = words_table(("a", "b"), [[0.0, 0.001], [-0.001, 0.999]])
    assert as_matrix(cells, "text").tolist() == [["0", "0.00"], ["0.00", "1.00"]]


def test_a_cell_is_rounded_and_its_value_is_not():
    cells = words_table(("a",), [[0.123456789]])
    assert cells.value.tolist() == [0.123456789]
    assert cells.text.tolist() == ["0.12"]


def test_row_sums_come_from_the_unrounded_weights():
    words = ("a", "b", "c")
    axis = word_axis("query", words)
    weights = np.full((3, 3), 1 / 3)
    joined = as_frame(with_sums(matrix_table(weights, axis, axis, "weights"), weights, axis))
    assert joined.place.is_unique, "marks of one place would be taken for one when new data arrive"
    sums = joined[joined.step == -2]
    assert sums.text.tolist() == ["1.00"] * 3
    assert sums.column.tolist() == ["sum"] * 3
    assert sums.column_position.tolist() == [3, 3, 3]
    assert sums.row_name.tolist() == ["0 a", "1 b", "2 c"]
    assert as_matrix(joined, "text").tolist() == [["0.33"] * 3] * 3
    assert len(joined) == 12


def test_sums_stand_below_where_queries_stand_in_columns():
    queries, keys = word_axis("query", ("a", "b")), word_axis("key", ("a", "b"))
    weights = np.array([[0.25, 0.75], [0.5, 0.25]])
    turned = matrix_table(weights.T, keys, queries, "weights")
    joined = as_frame(with_sums(turned, weights, queries, turned=True))
    sums = joined[joined.step == -2]
    assert sums.text.tolist() == ["1.00", "0.75"]
    assert sums.row.tolist() == ["sum"] * 2
    assert sums.row_position.tolist() == [2, 2]
    assert sums.column_name.tolist() == ["0 a", "1 b"]


def test_row_sums_are_not_a_constant():
    axis = word_axis("query", ("a", "b"))
    weights = [[0.0, 0.0], [0.25, 0.5]]
    joined = as_frame(with_sums(matrix_table(weights, axis, axis, "weights"), weights, axis))
    assert joined.text[joined.step == -2].tolist() == ["0", "0.75"]


def test_a_word_called_sum_is_still_a_key():
    axis = word_axis("query", ("sum",))
    joined = as_frame(with_sums(matrix_table([[1.0]], axis, axis, "weights"), [[1.0]], axis))
    assert joined.column.tolist() == ["0 sum", "sum"]


# Specifications


@pytest.mark.parametrize("name", SPECS)
def test_a_specification_is_made_once(name):
    assert SPECS[name]() is SPECS[name]()


@pytest.mark.parametrize("name", SPECS)
def test_a_specification_is_plain_json(name):
    assert json.loads(json.dumps(SPECS[name]())) == SPECS[name]()


def test_sending_a_chart_leaves_its_specification_as_it_was():
    before = {name: copy.deepcopy(make()) for name, make in SPECS.items()}

    def send():
        import pandas as pd
        import streamlit as st

        from tests.ui.test_charts import SPECS

        for name, make in SPECS.items():
            options = {"on_select": "rerun", "selection_mode": ["cell"]} if name == "heat map" else {}
            st.vega_lite_chart(pd.DataFrame({"row": ["a"]}), make(), key=name, **options)

    at = AppTest.from_function(send, default_timeout=60).run()
    assert not at.exception
    assert len(at.get("vega_lite_chart")) == len(SPECS)
    assert {name: make() for name, make in SPECS.items()} == before


def test_panels_side_by_side_draw_their_own_matrix():
    spec = SPECS["two heat maps"]()
    filters = [panel["layer"][0]["transform"][0]["filter"] for panel in spec["hconcat"]]
    assert filters == ["datum.matrix === 'w'", "datum.matrix === 'made'"]


# The other charts


def test_links_hold_every_pair_with_its_weight():
    weights = np.array([[0.25, 0.75], [0.5, 0.5]])
    links = as_frame(links_table(weights, word_axis("query", ("a", "a")), word_axis("key", ("a", "a"))))
    assert links.weight.tolist() == [0.25, 0.75, 0.5, 0.5]
    assert links[["query", "key"]].to_numpy().tolist() == [
        ["0 a", "0 a"],
        ["0 a", "1 a"],
        ["1 a", "0 a"],
        ["1 a", "1 a"],
    ]


def test_links_stand_in_the_order_of_the_sentence_in_every_layer():
    spec = links_chart(3)
    for layer in spec["layer"]:
        assert layer["encoding"]["y"]["type"] == "quantitative"
        assert layer["encoding"]["y"]["scale"] == {"domain": [-0.5, 2.5], "reverse": True}


def test_sweep_holds_the_quantities_of_core():
    (row,) = sweep([16], n_draws=20)
    cells = as_frame(sweep_table([row])).set_index(["measure", "series"])
    expected = {
        (MEASURES[0], SERIES[0]): (row.pooled_spread, row.raw_score_spread.low, row.raw_score_spread.high),
        (MEASURES[0], SERIES[1]): (row.pooled_spread / 4, row.scaled_score_spread.low, row.scaled_score_spread.high),
    }
    names = ("max_weight", "entropy", "gradient_norm")
    for measure, name in zip(MEASURES[1:], names, strict=True):
        for series, end in zip(SERIES, ("unscaled", "scaled"), strict=True):
            band = getattr(row, f"{name}_{end}")
            expected[measure, series] = band.mean, band.low, band.high
    found = {place: tuple(cells.loc[place, ["mean", "low", "high"]]) for place in expected}
    assert found == expected
    assert cells.loc[(MEASURES[0], SERIES[0]), "reference"] == 4.0
    assert cells.reference.isna().sum() == 7


def test_there_is_no_other_measure():
    with pytest.raises(ValueError, match="got 'loss'"):
        sweep_chart("loss")


@pytest.mark.parametrize(("measure", "domain"), [(MEASURES[1], [0, {"expr": "top"}]), (MEASURES[0], [0.1, 100])])
def test_axes_of_the_sweep_do_not_follow_the_curves(measure, domain):
    scales = [node["y"]["scale"] for node in nodes(sweep_chart(measure)) if "scale" in node.get("y", {})]
    assert len(scales) >= 5
    assert all(scale["domain"] == domain for scale in scales)


@pytest.mark.parametrize("top", [1.0, 3.0])
def test_the_axis_of_the_sweep_ends_where_the_table_says(top):
    table = sweep_table(sweep([1, 7, 64], n_draws=5), MEASURES[1], top)
    spec = sweep_chart(MEASURES[1]) | {"data": {"name": "source", "values": table.to_pylist()}, "width": 300}
    labels = re.findall(r">([0-9.]+)</text>", vl_convert.vegalite_to_svg(json.dumps(spec)))
    # Above the numbers of d, which begin with 1, 4, 16, ...
    assert max(float(label) for label in labels if float(label) not in (4, 16, 64)) == top


def test_drag_starts_at_the_root_and_shows_weights_from_0_to_1():
    draw = single_draws((64,), n_keys=3)[0]
    cells = as_frame(drag_table(draw))
    assert cells.raw.tolist() == draw.raw_scores.tolist()
    assert set(cells.d) == {64}
    spec = drag_chart()
    (exponent,) = (p for p in spec["params"] if p["name"] == "exponent")
    assert (exponent["value"], exponent["bind"]["min"], exponent["bind"]["max"]) == (0.5, 0, 1)
    assert spec["layer"][0]["encoding"]["y"]["scale"] == {"domain": [0, 1]}


def test_curves_are_columns_over_positions():
    encoding = np.arange(30.0).reshape(3, 10)
    cells = as_frame(curves_table(encoding))
    assert (
        cells.pivot(index="position", columns="feature", values="value").to_numpy().tolist() == encoding[:, :8].tolist()
    )


def test_bars_hold_every_tensor_and_its_share():
    counted = encoder_block_parameters(32, 4, 64)
    cells = as_frame(parameters_table(counted))
    assert cells["count"].sum() == 8_544
    assert cells.share.sum() == pytest.approx(1.0)
    assert cells.tensor.tolist() == [row.name for row in counted.rows]
    w_1 = cells[cells.tensor == "w_1"].iloc[0]
    assert (w_1["shape"], w_1["said"], w_1["torch_name"]) == ("32 × 64", "2,048  (24.0 %)", "linear1.weight")
    assert {layer["encoding"]["y"]["sort"]["field"] for layer in parameters_chart(16)["layer"]} == {"order"}


def test_curves_over_depth_keep_every_layer_and_their_own_domain():
    cells = as_frame(depth_table({"pre": np.array([2.0, 0.0, 3.0]), "post": np.array([5.0])}, 1))
    assert cells.to_numpy().tolist() == [
        [1, "pre-norm", 2.0],
        [2, "pre-norm", 0.0],
        [3, "pre-norm", 3.0],
        [1, "post-norm", 5.0],
    ]
    logarithmic, plain = depth_chart("a"), depth_chart("a", logarithmic=False)
    assert [layer["encoding"].get("y", {}).get("scale", {}).get("type") for layer in logarithmic["layer"]][:3] == [
        "log"
    ] * 3
    seen = [[step["filter"] for step in layer.get("transform", [])] for layer in logarithmic["layer"]]
    assert all("datum.value > 0" in filters for filters in seen[:3]), "a logarithmic axis has no zero"
    assert seen[3] == [], "the axis is as long as the stack"
    assert not any("datum.value > 0" in str(layer.get("transform")) for layer in plain["layer"])
    assert {layer["encoding"]["y"]["scale"]["domainMax"] for layer in plain["layer"][:3]} == {1}


def test_parts_of_a_block_stand_in_a_row_and_a_click_gives_their_name():
    cells = as_frame(block_table(("X", "norm 1", "add 1"), (3.0, 25.25, 1234.5), {"X": "add 1"}, "norm 1"))
    assert cells.said.tolist() == ["3.00", "25.2", "1234", ""]
    assert cells.picked.tolist() == [False, True, False, False]
    _, pick = block_chart(3)["params"]
    assert (pick["name"], pick["select"]["fields"]) == (PICK, ["part"])
    assert "/ 3" in str(block_chart(3)["layer"][0]["encoding"]["x"])


# Pictures


def pixels(file):
    return np.asarray(Image.open(io.BytesIO(file)).convert("RGB"))


def channels(colour):
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ramp", RAMPS)
def test_a_picture_shows_every_cell_in_its_colour(ramp, theme):
    low = 0.0 if ramp == "weights" else -1.0
    file = matrix_picture([[low, 1.0, 0.5]], width=30, height=10, ramp=ramp, dark=theme == "dark")
    image = pixels(file)
    assert image.shape == (10, 30, 3)
    colours = getattr(RAMPS[ramp], theme)
    middle = 50 if ramp == "weights" else 75
    for column, step in ((5, 0), (15, 100), (25, middle)):
        assert image[5, column].tolist() == channels(colours[step])


def test_a_picture_is_a_png_file():
    file = matrix_picture(np.zeros((4, 4)), width=40, height=40)
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    assert Image.open(io.BytesIO(file)).format == "PNG"


@pytest.mark.parametrize("theme", THEMES)
def test_a_picture_outlines_the_picked_row_and_hides_no_cell(theme):
    file = matrix_picture(np.zeros((4, 4)), width=40, height=40, picked=[(1, None)], dark=theme == "dark")
    image = pixels(file)
    outline, zero = channels(getattr(PICKED, theme)), channels(getattr(SIGNED, theme)[50])
    for row, column in ((8, 20), (9, 20), (20, 20), (21, 20), (15, 0), (15, 39)):
        assert image[row, column].tolist() == outline, (row, column)
    for row, column in ((7, 20), (15, 20), (11, 5), (22, 20), (35, 5)):
        assert image[row, column].tolist() == zero, (row, column)


def test_a_picture_without_a_pick_has_no_outline():
    assert (pixels(matrix_picture(np.zeros((4, 4)), width=40, height=40)) == channels(SIGNED.light[50])).all()


def test_a_picture_shows_masked_cells_as_masked():
    image = pixels(matrix_picture([[0.0, -np.inf]], width=20, height=10, may_attend=np.array([[True, False]])))
    assert image[5, 5].tolist() == channels(SIGNED.light[50])
    assert image[5, 15].tolist() == channels(MASKED.light)


@pytest.mark.parametrize(
    "values", [[1.0, 2.0], np.zeros((0, 3)), np.zeros((2, 2, 2))], ids=["a row", "no row", "a cube"]
)
def test_a_picture_needs_a_matrix(values):
    with pytest.raises(ValueError, match="two axes"):
        matrix_picture(values, width=10, height=10)


def test_a_table_by_rows_has_every_cell_and_a_gap_for_what_is_no_number():
    table = tables.of_rows(("d", "mean", "reference"), [(1, 0.5, np.nan), (2, np.nan, np.nan)])
    assert table.to_pylist() == [
        {"d": 1, "mean": 0.5, "reference": None},
        {"d": 2, "mean": None, "reference": None},
    ]
    assert [str(column.type) for column in table.columns] == ["int64", "double", "double"]
    with pytest.raises(ValueError, match="zip"):
        tables.of_rows(("d", "mean"), [(1,)])
