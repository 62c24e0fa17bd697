"""Home: attention at work on the reader's sentence, and the way to every page."""

import numpy as np
import streamlit as st

from core.examples import draw_example
from core.multi_head import multi_head_attention
from ui import controls, draw, formulas, frame, questions, steps
from ui.charts.heat_map import word_axis
from ui.charts.links import links_chart, links_table
from ui.literal import literal
from ui.pages import PAGES, named

frame.heading(
    "home",
    "Every word looks at every word and decides how much to take. Point at one on the left.",
)
settings = controls.settings()
words = controls.need_words()
example = draw_example(words, settings.d_head, settings.n_heads, settings.seed)
queries, keys = word_axis("query", words), word_axis("key", words)


def work_out(query_name: str, key_name: str) -> None:
    """Take one weight along to the page that works it out."""
    controls.take({"query": query_name, "key": key_name, "step": "softmax"})
    st.switch_page(named("query_key_value").path, query_params={})  # None: see `ui.steps`


with steps.section("links"):
    picture, reading = st.columns([1.7, 1])
    with reading, st.container(horizontal=True):
        head = controls.pick("head", controls.head_labels(), "head", width=80)
        query = controls.pick('<b class="query">query</b>', queries.names, "query", width=150)
    heads = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads
    weights = heads.weights[head]
    strongest = int(weights[query].argmax())
    with picture:
        draw.chart(
            links_table(weights, queries, keys, query),
            links_chart(len(words)),
            name="links",
            key="links",
            alt=f"Lines from each word to the words it looks at; word {query} looks most at word {strongest}",
            grow=1.15,
        )
    with reading:
        st.html(
            f'<p class="line"><b class="query">{literal(words[query])}</b> takes most from '
            f'<b class="key">{literal(words[strongest])}</b>: {weights[query, strongest]:.0%}.</p>'
        )
        st.html(formulas.shares(keys.names, weights[query]))
        with steps.section(steps.PAGE_ONLY):
            st.button(
                "Work this out",
                icon=":material/calculate:",
                on_click=work_out,
                args=(queries.names[query], keys.names[strongest]),
                help="Opens “Query, key, value” at this weight.",
            )
        frame.provenance(
            f"Embeddings and projections are <b>random</b> (seed {settings.seed}), so the pattern means nothing yet; "
            "training is what makes such links useful. The weights are <b>computed</b> from them, live."
        )

with steps.section(steps.PAGE_ONLY):
    frame.subheading("Follow it step by step")
    # A link is a cell of the grid and holds the question itself: columns and boxes around both were 75 elements of the
    # page's 130, each of them drawn anew whenever a slider moves.
    with st.grid(3, border=True, key="ways"):
        for page in PAGES:
            st.page_link(page.path, label=f"**{page.title}** {page.question}", icon=page.icon)

frame.numbers(
    {"weights of this head": (weights, queries, keys)},
    frame.sentence_code() | {"head": head, "query": query},
    key="home_numbers",
)
with steps.section("guess"):
    others = np.delete(np.arange(settings.n_heads), head)
    questions.number(
        "equal_shares",
        f"If <b>{literal(words[query])}</b> looked at every word alike, how large would each weight be?",
        (0.0, 1.0),
        lambda: 1 / len(words),
        lambda true: (
            f"The weights of one word always sum to 1, so {len(words)} equal ones are 1 ÷ {len(words)}. Its largest "
            f"weight here is {weights[query, strongest]:.2f}."
        ),
        (words, head, query),
    )
    if others.size:
        questions.choice(
            "other_heads",
            f"Head {head} looks most at {literal(queries.names[strongest])}. In how many of the other {others.size} "
            "heads does this word look most at the same one?",
            [str(count) for count in range(others.size + 1)],
            lambda: str(int((heads.weights[others, query].argmax(axis=-1) == strongest).sum())),
            lambda: (
                "Every head has its own W_q, W_k and W_v and asks its own question. In a trained model that is what "
                "makes several heads worth their cost."
            ),
            (settings, head, query),
        )
frame.way_on("home")
