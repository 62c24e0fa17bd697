"""Common mistakes: each one made by a switch, with its symptom, the test that finds it, and the fix beside it."""

import streamlit as st

from core.agreement import Agreement
from core.common_mistakes import LENGTHS, MISTAKES, Comparison, Mistake, Side, make
from core.examples import draw_example
from core.order import default_order
from ui import controls, draw, frame, matrices, mistake_check, mistakes, questions, steps, torch_check, view
from ui.charts.growth import growth_chart, growth_table
from ui.charts.heat_map import Panel, named_axis, symmetric_limit, word_axis
from ui.matrices import Follow, Matrix
from ui.pages import ORDER
from ui.take_home.figures import GROWTH_KEY


@st.cache_data(max_entries=64, show_spinner=False)
def cached(
    mistake: Mistake, words: tuple[str, ...], d_head: int, n_heads: int, seed: int, head: int, query: int
) -> Comparison:
    """A pure function of small settings; the generator takes a tenth of a second at its largest."""
    return make(mistake, words, d_head, n_heads, seed, head, query)


checked = frame.heading(
    "common_mistakes",
    "Ten mistakes that raise no error: every shape fits. Make one with the switch, and look for what gives it away.",
)
settings = controls.settings()
words = controls.need_words()
n, d, n_heads = len(words), settings.d_head, settings.n_heads
queries, keys = word_axis("query", words), word_axis("key", words)

with (
    steps.section("mistake"),
    st.container(horizontal=True, vertical_alignment="center", gap="small"),
):
    chosen = MISTAKES[controls.pick("mistake", MISTAKES, "mistake", width=178)]
    made = controls.switch("Make it", "made", True)
    head = controls.pick("head", controls.head_labels(), "head", width=72)
    query = controls.pick('<b class="query">query</b>', queries.names, "query", width=118)
    key = controls.pick('<b class="key">key</b>', keys.names, "key", default=3, width=118)

state = (words, d, n_heads, settings.seed, head, query)
slide = view.now().presenting
told, found = mistakes.TOLD[chosen], cached(chosen, *state)
runs = found.wrong if made else found.right
order = default_order(words) or tuple(range(n))
limit = symmetric_limit(found.wrong.values, found.right.values)


def picture(name: str, side: Side) -> None:
    """One of the two matrices."""
    rows, columns = mistakes.axes_of(side, words, tuple(words[position] for position in order))
    weights, square, asks = side.columns in ("key", "sentence"), side.columns == "key", side.rows == "query"
    matrices.show(
        Matrix(
            name,
            side.values,
            rows,
            columns,
            ramp="weights" if weights else "signed",
            limit=1.0 if weights else limit,
            may_attend=side.may_attend,
            picked=[(query, key if square else None)] if asks else [],
        ),
        Panel(height=min(22.0 if slide else 34.0, 190 / len(side.values)), column_labels=not slide),
        key=name.replace(" ", "_"),
        alt=f"{name}, {chosen}: {mistakes.shown(chosen, query) or 'weights of the head'}",
        follow=Follow("query", "key" if square else "") if asks else None,
        sums=weights,
    )


with steps.section("mistake"):
    st.html(mistakes.introduction(told, chosen, made, query, slide))
    wide, narrow = st.columns([2, 1.1])
    with wide:
        legend, places = st.container(), st.columns(2)
        if chosen == "quadratic cost":
            legend.html(mistakes.growth_legend(made))
            for column, name in enumerate(mistakes.NAMES["cost"]):
                with places[column]:
                    true, guess = found.right.values[:, column].tolist(), found.wrong.values[:, column].tolist()
                    draw.chart(
                        growth_table((n, *LENGTHS), guess if made else None, true),
                        growth_chart(name),
                        name=name,
                        key=f"growth_{column}",
                        alt=f"{name} over tokens, from {true[0]:,.0f} at {n:,} to {true[-1]:,.0f} at {LENGTHS[-1]:,}",
                        grow=0.8,
                        legend=GROWTH_KEY if made else GROWTH_KEY[1:],
                    )
        else:
            for place, name, side in zip(places, ("as it runs", "done right"), (runs, found.right), strict=True):
                with place:
                    picture(name, side)
        reason = mistakes.unseen(chosen, found, words, d, n_heads)
        if reason:
            st.html(f'<p class="remark" role="status">{reason}</p>')
    # What a page shows under the pictures has its place beside them on a slide.
    detail, beside = "", mistakes.symptom(found, made)
    if found.recital:
        detail = mistakes.recited(found, words, made)
    elif chosen == "batch first":
        detail = mistakes.batch_shapes(n)
    elif chosen == "inverted mask":
        detail = mistakes.POLARITIES
    elif found.outcomes:
        detail = mistakes.rules_table(queries.names[query], found.outcomes, n, slide)
    if slide and chosen in ("inverted mask", "no allowed key"):
        detail, beside = "", mistakes.verdict(told, found, made, slide) + detail
    else:
        beside += mistakes.verdict(told, found, made, slide)
    if slide and chosen == "batch first":
        detail, beside = "", beside + detail
    narrow.html(beside)
    if found.recital:
        with steps.section(steps.PAGE_ONLY):
            st.html(
                '<p class="quiet">Recited from the first word on, each next word from those named before; struck out '
                "where the sentence has another one:</p>"
            )
    if detail:
        st.html(detail)

with (
    steps.section(steps.PAGE_ONLY),
    frame.disclosure("The picked number, worked out", "work_open") as opened,
):
    if opened:
        for place, name, side in zip(st.columns(2), ("As it runs", "Done right"), (runs, found.right), strict=True):
            across = chosen == "softmax axis" and side is found.wrong
            place.html(f'<p class="quiet">{name}:</p>{mistakes.worked_cell(side, keys, query, key, across)}')
fitted = ", and so is the layer under the generator’s fitted read-out" if found.recital else ""
frame.provenance(
    f"Embeddings and projections are <b>random</b> (seed {settings.seed}){fitted}; the rest is <b>computed</b>."
)
home = next((page for page in ORDER if page.name == told.page), None)
if home:
    with steps.section(steps.PAGE_ONLY):
        st.page_link(home.path, label=f"How it is done right: {home.title}", icon=":material/menu_book:")

axes = {
    name: mistakes.axes_of(side, words, tuple(words[position] for position in order))
    for name, side in (("as it runs", runs), ("done right", found.right))
}
measures = named_axis("measure", tuple(measure.name for measure in (*found.measures, found.test)))
frame.numbers(
    {
        "as it runs": (runs.values, *axes["as it runs"]),
        "done right": (found.right.values, *axes["done right"]),
        "measures": (found.matrix_of_measures(made), measures, named_axis("computed", ("as it runs", "done right"))),
    },
    frame.sentence_code() | {"mistake": chosen, "made": made, "head": head, "query": query},
    key="mistake_numbers",
)
frame.to_notice(
    "Not one of these raises an error, and most give rows that sum to 1. What finds them is a relation that must hold "
    "whatever the numbers are: change a later word, shuffle the words, change another sentence, compare with a "
    "lopsided matrix."
)
with steps.section("guess"):
    questions.choice(
        "rows",
        f"With the mistake “{chosen}” made, does every row of the attention weights still sum to 1?",
        ("yes", "no"),
        lambda: "yes" if found.rows_sum_to_one else "no",
        lambda: mistakes.why_rows(found),
        (chosen, state),
    )
    questions.choice(
        "survive",
        "A test sums the rows of the weights and nothing else. How many of the ten mistakes does it let pass here?",
        [str(count) for count in range(len(MISTAKES) + 1)],
        lambda: str(sum(cached(mistake, *state).rows_sum_to_one for mistake in MISTAKES)),
        lambda: mistakes.caught([one for one in MISTAKES if not cached(one, *state).rows_sum_to_one]),
        state,
    )
frame.way_on("common_mistakes")


def check() -> Agreement:
    """What runs now, by PyTorch."""
    example = draw_example(words, d, n_heads, settings.seed)
    return mistake_check.agreement(chosen, made, found, words, example, head, query)


if chosen in mistake_check.COMPARED:
    with checked:
        torch_check.show(check, mistake_check.COMPARED[chosen], on_request=True)
