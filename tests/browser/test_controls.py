"""Controls to pictures: what a reader moves, clicks or points at is what the pictures then show."""

import re

import pytest
from playwright.sync_api import Locator, expect

from core.attention import SelfAttention, self_attention
from core.examples import ATTENTION_WORDS, draw_example
from core.multi_head import multi_head_attention
from core.scaling import single_draws
from core.softmax import softmax
from tests.browser.page_object import Dashboard, as_shown, cell_texts, cell_values

pytestmark = pytest.mark.browser

WEIGHTS = "weights: softmax"
N = len(ATTENTION_WORDS)


def computed(d_head: int = 4, head: int = 0) -> SelfAttention:
    """What core makes of the sidebar's defaults."""
    example = draw_example(ATTENTION_WORDS, d_head)
    return self_attention(example.x, example.w_q[head], example.w_k[head], example.w_v[head])


def outlined(chart: Locator) -> list[str]:
    """Cells of a chart that are outlined, alone or with their row or column, by column and row."""
    # The first group of rectangles are the cells themselves.
    labels: list[str] = chart.locator("g.mark-rect").evaluate_all(
        "groups => groups.slice(1).flatMap(group => [...group.querySelectorAll('path')])"
        ".map(path => path.getAttribute('aria-label'))"
    )
    return [label.partition("; note")[0] for label in labels]


def click_cell(chart: Locator, row: int, column: int) -> None:
    """Click into the middle of a number, row sums included."""
    chart.locator("g.mark-text.role-mark text").nth(row * N + column if column < N else N * N + row).click(force=True)


def worked_tables(tab: Dashboard) -> list[list[list[str]]]:
    """The arithmetic on the page: tables of rows of cells."""
    tab.settle()
    texts = tab.page.locator(".worked table").all_inner_texts()
    return [[re.split(r"\t+", line.replace("−", "-")) for line in text.splitlines()] for text in texts]


def three(value: float) -> str:
    return f"{value:.3f}"


def assert_worked_out(tab: Dashboard, query: int, key: int) -> None:
    """The arithmetic on the page is that of one cell: its products, score, scaled score, weight and output."""
    run = computed()
    dot_product, row, mixed = worked_tables(tab)
    assert [line[3] for line in dot_product[1:-1]] == [three(product) for product in run.q[query] * run.k[key]]
    assert dot_product[-1][-1] == three(run.attention.scores[query, key])
    assert [line[-1] for line in row[1:-1]] == [three(weight) for weight in run.attention.weights[query]]
    assert [line[-1] for line in mixed[1:-1]] == [three(x) for x in run.attention.weights[query] * run.v[:, 0]]
    assert mixed[-1] == ["output", three(run.attention.output[query, 0])]
    chosen = tab.page.locator("tr.picked td").all_inner_texts()
    assert chosen[0] == chosen[4] == f"{key} {ATTENTION_WORDS[key]}"
    assert chosen[3] == chosen[5] == three(run.attention.weights[query, key])
    scaled = f"{run.attention.scores[query, key]:.3f} ÷ √4 = {run.attention.scaled_scores[query, key]:.3f}"
    expect(tab.page.get_by_text(scaled.replace("-", "−"))).to_be_visible()


def test_slider_to_picture(tab: Dashboard) -> None:
    tab.open("query_key_value")
    tab.slider("d: size of each key").press("ArrowRight")
    expect(tab.chart("Q (5 × 5)")).to_be_visible()
    tab.settle()
    run = computed(d_head=5)
    assert cell_values(tab.chart("Q (5 × 5)"), "Q") == pytest.approx(run.q.ravel(), abs=1e-6)
    assert cell_values(tab.chart(WEIGHTS), WEIGHTS) == pytest.approx(run.attention.weights.ravel(), abs=1e-6)
    assert cell_texts(tab.chart(WEIGHTS))[: N * N] == [as_shown(w) for w in run.attention.weights.ravel()]
    assert tab.query() == {"d": "5"}


def test_click_on_a_cell_works_it_out_and_a_click_on_a_sum_does_not(tab: Dashboard) -> None:
    tab.open("query_key_value")
    tab.agreed()
    assert outlined(tab.chart(WEIGHTS)) == ["column: 3 new; row: 0 Meera"]
    click_cell(tab.chart(WEIGHTS), 1, 0)
    expect(tab.step()).to_have_text("softmax")
    expect(tab.picker("query")).to_have_value("1 bought")
    expect(tab.picker("key")).to_have_value("0 Meera")
    (softmax_row,) = worked_tables(tab)
    weights = computed().attention.weights[1]
    assert [line[-1] for line in softmax_row[1:]] == [*map(three, weights), "1.000"]
    assert tab.query() == {"query": "1 bought", "key": "0 Meera", "step": "softmax"}
    assert outlined(tab.chart(WEIGHTS)) == ["column: 0 Meera; row: 1 bought"]
    assert outlined(tab.chart("scaled ÷")) == ["row: 1 bought"]  # what the weight is made of: all of its row
    assert outlined(tab.chart("scores Q")) == []

    click_cell(tab.chart(WEIGHTS), 4, N)
    tab.page.wait_for_timeout(500)  # nothing can be waited for where nothing is to happen
    assert tab.picker("query").input_value() == "1 bought"

    tab.page.get_by_role("radio", name="overview").click()
    expect(tab.page.locator(".worked")).to_have_count(3)
    assert_worked_out(tab, 1, 0)
    for title in (WEIGHTS, "scores Q", "scaled ÷"):
        assert outlined(tab.chart(title)) == ["column: 0 Meera; row: 1 bought"]


def test_cell_chosen_by_keyboard_alone(tab: Dashboard) -> None:
    tab.open("query_key_value")
    tab.choose("query", "4 bat")
    tab.choose("key", "2 a")
    expect(tab.page.locator("tr.picked td").first).to_have_text("2 a")
    assert_worked_out(tab, 4, 2)
    assert outlined(tab.chart(WEIGHTS)) == ["column: 2 a; row: 4 bat"]
    assert tab.query() == {"query": "4 bat", "key": "2 a"}


def test_scale_is_felt_while_dragging_without_the_server(tab: Dashboard) -> None:
    tab.open("scaling_sweep")
    expect(tab.page.locator(".agree")).to_contain_text("✓", timeout=60_000)  # PyTorch's timer has ended
    tab.settle()
    caption = tab.chart_named("Weights of 5 keys for d = 512").locator("text", has_text="largest weight")
    raw = single_draws(seed=0)[-1].raw_scores
    before = tab.heard.frames_sent
    slider = tab.page.locator("input[type=range][name=exponent]")
    for key, power in (("Home", 0), ("End", 1)):
        slider.press(key)
        largest = softmax(raw / 512**power).max()
        expect(caption).to_contain_text(f"÷ {512**power}: largest weight {largest:.3f},")
    assert tab.heard.frames_sent == before


def test_pointing_at_a_word_leaves_only_its_lines_without_the_server(tab: Dashboard) -> None:
    tab.open("")
    example = draw_example(ATTENTION_WORDS)
    weights = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads.weights[0]
    chart = tab.chart_named("Lines from each word")
    before = tab.heard.frames_sent
    chart.locator("text", has_text="1 bought").first.hover(force=True)
    lines = chart.locator("g.layer_0_marks line")
    expect(lines.first).to_have_attribute("opacity", "0.02")
    opacities = [float(text) for text in lines.evaluate_all("lines => lines.map(line => line.getAttribute('opacity'))")]
    rows = [opacities[start : start + N] for start in range(0, N * N, N)]
    assert rows[1] == pytest.approx([min(1, 0.04 + 1.2 * weight) for weight in weights[1]])
    assert max(opacity for query, row in enumerate(rows) for opacity in row if query != 1) <= 0.02
    assert tab.heard.frames_sent == before


def test_click_on_the_name_of_a_part_of_the_block_goes_to_its_step(tab: Dashboard) -> None:
    tab.open("encoder_block")
    tab.chart_named("Parts of the block").locator("text", has_text="bend").first.click(force=True)
    expect(tab.page).to_have_url(re.compile("step=bend"))
    expect(tab.page.get_by_role("radio", name="bend")).to_be_checked()


def test_clicks_on_one_cell_of_a_mask_turn_it_over_and_back_however_it_was_changed_in_between(tab: Dashboard) -> None:
    """The browser tells the server nothing of a selection that has not changed, and this one must count each time."""
    tab.open("three_shapes")
    mask = tab.chart("decoder: may attend = 1")
    for way in ("click", "click", "click", "button", "click"):
        turned = "decoder_mask=" in tab.page.url
        if way == "click":
            click_cell(mask, 0, 2)
        else:
            tab.page.get_by_role("button", name="Reset mask").click()
        expect(tab.page).to_have_url(re.compile("^(?!.*decoder_mask)" if turned else "decoder_mask=causal~AC"))
        tab.settle()
    assert tab.settled_texts("decoder: may attend = 1")[:6] == ["1", "0", "1", "0", "0", "0"]


# When did the weights stand there, and when the comparison with PyTorch?
FIRST_SEEN = """
window.__first = {};
new MutationObserver(() => {
  const now = {
    weights: document.querySelector('[aria-label^="Attention weights"] g.mark-rect path'),
    agreement: [...document.querySelectorAll('.agree')].find(line => line.textContent.startsWith('✓')),
  };
  for (const name in now) if (now[name] && !(name in window.__first)) window.__first[name] = performance.now();
}).observe(document, {subtree: true, childList: true, characterData: true});
"""


def test_pytorch_line_comes_after_the_picture(first_tab: Dashboard) -> None:
    tab = first_tab
    tab.page.add_init_script(FIRST_SEEN)
    tab.page.goto(f"{tab.address}/query_key_value")
    expect(tab.page.locator(".agree")).to_contain_text("✓ NumPy = PyTorch", timeout=60_000)
    first = tab.page.evaluate("window.__first")
    assert first["weights"] < first["agreement"]


def test_pytorch_is_asked_for_on_the_mask_page(first_tab: Dashboard) -> None:
    tab = first_tab
    tab.open("causal_mask")
    expect(tab.page.locator(".agree")).to_have_count(0)
    tab.page.get_by_role("button", name="Check against PyTorch").click()
    expect(tab.page.locator(".agree")).to_contain_text("✓ NumPy = PyTorch", timeout=60_000)
