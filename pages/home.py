"""Home: attention at work on the reader's sentence, and the way to every page."""

import streamlit as st

from core.examples import draw_example
from core.multi_head import multi_head_attention
from ui import controls, formulas, frame
from ui.charts.heat_map import word_axis
from ui.charts.links import links_chart, links_table
from ui.literal import literal
from ui.pages import PAGES

frame.heading(
    "home",
    "Every word looks at every word and decides how much to take. Point at one on the left.",
)
settings = controls.settings()
words = controls.need_words()
example = draw_example(words, settings.d_head, settings.n_heads, settings.seed)
queries, keys = word_axis("query", words), word_axis("key", words)

picture, reading = st.columns([1.7, 1])
with reading:
    head = controls.pick("head", controls.head_labels(), "head", width=90)
    query = controls.pick('<b class="query">query</b>', queries.names, "query")
heads = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads
weights = heads.weights[head]
strongest = int(weights[query].argmax())
with picture:
    st.vega_lite_chart(
        links_table(weights, queries, keys, query),
        links_chart(len(words)),
        key="links",
        alt=f"Lines from each word to the words it looks at; word {query} looks most at word {strongest}",
    )
with reading:
    st.html(
        f'<p class="line"><b class="query">{literal(words[query])}</b> takes most from '
        f'<b class="key">{literal(words[strongest])}</b>: {weights[query, strongest]:.0%}.</p>'
    )
    st.html(formulas.shares(keys.names, weights[query]))
    frame.provenance(
        f"Embeddings and projections are <b>random</b> (seed {settings.seed}), so the pattern means nothing yet; "
        "training is what makes such links useful. The weights are <b>computed</b> from them, live."
    )

st.subheader("Follow it step by step", anchor=False)
for row in range(0, len(PAGES), 3):
    for place, page in zip(st.columns(3), PAGES[row : row + 3], strict=False):
        with place.container(border=True, height="stretch"):
            st.page_link(page.path, label=f"**{page.title}**", icon=page.icon)
            st.html(f'<p class="quiet">{literal(page.question)}</p>')

frame.numbers(
    {
        "weights of this head": (weights, queries, keys),
    },
    key="home_numbers",
)
frame.way_on("home")
