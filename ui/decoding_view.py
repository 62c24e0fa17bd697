"""Decoding on the page: the pictures of a step, what all steps come to, why a cache works, and the numbers behind."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from core.agreement import compare
from core.attention import Attention, attend
from core.decoding import (
    AGAIN,
    KEPT,
    NOT_COMPUTED,
    NOW,
    ORIGINS,
    PARTS,
    Generation,
    Movement,
    Step,
    compare_ways,
    origins,
)
from core.masks import ALIGNMENTS, Alignment, causal_mask
from core.softmax import Floats
from ui import controls, decoding_texts, draw, matrices, view, worked
from ui.charts.cache import (
    KIND_HUES,
    MASKED_PAIR,
    SERIES,
    Grid,
    grid_chart,
    grid_picture,
    grid_table,
    steps_chart,
    steps_table,
)
from ui.charts.heat_map import PICTURE_ABOVE, Axis, Panel, named_axis, position_axis, symmetric_limit, word_axis
from ui.literal import literal
from ui.matrices import Follow, Matrix
from ui.shown import Matrix as Numbers
from ui.take_home.figures import WAYS_KEY, Swatch

LEGEND = tuple(
    (name, KIND_HUES[kind])
    for name, kind in (
        (ORIGINS[NOW], NOW),
        (ORIGINS[AGAIN], AGAIN),
        (ORIGINS[KEPT], KEPT),
        ("computed, then masked", MASKED_PAIR),
    )
)
"""What the colours of the cells mean."""

SIDE_AXIS = Axis(
    "side",
    ("K, mask", "K, off", "state, mask", "state, off"),
    ("K, with mask", "K, mask off", "state, with mask", "state, mask off"),
)
"""What moves when a word is added, of the picked layer's K and of the final states."""

_KEY = tuple(Swatch(name, hue) for name, hue in LEGEND)
_PICK = "cell"


@dataclass(frozen=True, slots=True)
class DecodingView:
    """Both ways of decoding, and where the reader looks."""

    vocabulary: tuple[str, ...]
    source: tuple[str, ...]
    """Words of the second sentence; empty without one."""
    plain: Generation
    cached: Generation
    moved: Movement
    whole: Floats
    """(position, d_model): final states of one run over the final text."""
    number: int
    """Of the step, from 0."""
    layer: int
    head: int
    key: int

    @property
    def text(self) -> tuple[str, ...]:
        """The final text."""
        return tuple(self.vocabulary[token] for token in self.cached.tokens)

    @property
    def steps(self) -> tuple[Step, Step]:
        """The step that is looked at, in both ways."""
        return self.plain.steps[self.number], self.cached.steps[self.number]

    @property
    def length(self) -> int:
        """Words that were there in this step."""
        return self.steps[0].length

    @property
    def words_to_come(self) -> int:
        """How many more there are in the last step."""
        return self.plain.steps[-1].length - self.length

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """Queries and keys of this step."""
        so_far = self.text[: self.length]
        return word_axis("query", so_far), word_axis("key", so_far)

    def attention(self, way: Generation) -> Attention:
        """The picked head over the text so far, from the queries, keys and values of one way."""
        found = way.layers[self.layer]
        q, k, v = (
            rows[self.head, : self.length] for rows in (found.q, found.keys_and_values.k, found.keys_and_values.v)
        )
        return attend(q, k, v, causal_mask(self.length))

    def source_attention(self, way: Generation) -> Attention:
        """The picked head's look at the second sentence; only where there is one."""
        found = way.layers[self.layer]
        assert found.cross_q is not None
        assert found.source is not None
        return attend(found.cross_q[self.head, : self.length], found.source.k[self.head], found.source.v[self.head])

    def corner(self, align: Alignment) -> Attention:
        """The newest query against the cache, with one of the mask's two corners."""
        found = self.cached.layers[self.layer]
        k, v = (rows[self.head, : self.length] for rows in (found.keys_and_values.k, found.keys_and_values.v))
        q = found.q[self.head, self.length - 1 : self.length]
        return attend(q, k, v, causal_mask(1, self.length, align))

    # One step

    def show_step(self) -> None:
        """The text so far, and what each way computes to choose its next word."""
        st.html(decoding_texts.text_so_far(self.text, len(self.plain.prompt), self.length))
        st.html(decoding_texts.legend(LEGEND))
        allowed, (queries, keys) = causal_mask(self.length), self.axes
        # The words stand beside the rows; above the columns their positions are enough.
        numbered = replace(keys, labels=tuple(str(place) for place in range(self.length)))
        for place, series, way, step in zip(st.columns(2), SERIES, (self.plain, self.cached), self.steps, strict=True):
            found, weights = origins(way, self.number), self.attention(way).weights
            grid = Grid(queries, numbered, found.queries, found.keys, found.pairs, weights, allowed, self.key)
            with place:
                pairs = step.pairs("scores", self.layer)
                st.html(decoding_texts.step_counts(series, step.rows("K", self.layer), pairs, step.work))
                _show_grid(grid, self.words_to_come, key=f"grid_{series}", name=f"Step {self.number + 1} {series}")

    def show_arithmetic(self) -> None:
        """The newest query's pair with the picked key, and the choice of the word."""
        found, one, row = self.cached.layers[self.layer], self.attention(self.cached), self.length - 1
        q, k = found.q[self.head, row], found.keys_and_values.k[self.head, self.key]
        score, scaled_score, _ = worked.cell_of(one, row, self.key)
        product, share, choice = st.columns(3)
        product.html(worked.products(worked.FEATURE, (worked.Q, worked.K), (q, k), "score"))
        product.html(worked.scaled(score, scaled_score, q.size))
        share.html(worked.softmax_row(self.axes[1].names, one.scaled_scores[row], one.weights[row], self.key))
        choice.html(decoding_texts.ranking(self.vocabulary, self.steps[1].logits))
        choice.html('<p class="quiet">Logit: final state of the last word · embedding. Of equal logits the first.</p>')

    def show_agreement(self) -> None:
        """How far the two ways differ, and one run over the whole text from both."""
        read = slice(len(self.plain.prompt) - 1, len(self.text) - 1)
        states = np.stack([step.state for step in self.cached.steps])
        one_run = compare({"states": states}, {"states": self.whole[read]}).largest_difference
        st.html(decoding_texts.same_words(compare_ways(self.plain, self.cached), one_run, len(self.text)))

    # All steps

    def show_work(self) -> None:
        """Multiply-adds of all steps: how they add up, and what they are for."""
        of_parts = [[step.multiply_adds for step in way.steps] for way in (self.plain, self.cached)]
        added_up = [np.cumsum([sum(parts.values()) for parts in steps]).tolist() for steps in of_parts]
        left, right = st.columns([1.15, 1])
        with left:
            draw.chart(
                steps_table(dict(zip(SERIES, added_up, strict=True)), self.number),
                steps_chart("multiply-adds so far"),
                name="multiply-adds",
                key="work",
                alt=f"Multiply-adds added up over {len(added_up[0])} steps: {added_up[0][-1]:,} without a cache, "
                f"{added_up[1][-1]:,} with a cache",
                grow=1.45,
                legend=WAYS_KEY,
            )
            st.html(
                '<p class="quiet"><span class="unscaled">╌╌ without a cache</span> &nbsp; '
                f'<span class="scaled">── with a cache</span> &nbsp; upright: step {self.number + 1}</p>'
            )
        plain, cached = ({part: sum(parts[part] for parts in steps) for part in PARTS} for steps in of_parts)
        rows, pairs = ([int(total) for total in self._counts(what).sum(axis=0)] for what in ("K", "pairs"))
        counted = [("rows of K, one layer", rows[0], rows[1]), ("query-key pairs, one head", pairs[0], pairs[1])]
        counted += [(f"multiply-adds: {part}", plain[part], cached[part]) for part in PARTS]
        right.html(decoding_texts.two_ways([*counted, ("multiply-adds: all", added_up[0][-1], added_up[1][-1])]))
        st.html(decoding_texts.where_work_is_saved(plain, cached))

    def show_memory(self) -> None:
        """What the cache takes, step by step."""
        sizes = [step.cache_bytes for step in self.cached.steps]
        left, right = st.columns([1.15, 1])
        with left:
            draw.chart(
                steps_table({SERIES[1]: sizes}, self.number),
                steps_chart("bytes in the cache", SERIES[1:], 200),
                name="bytes in the cache",
                key="memory",
                alt=f"Memory of the cache: {sizes[0]:,} bytes after the first step, {sizes[-1]:,} after the last",
                grow=1.45,
            )
        right.html(
            decoding_texts.cache_memory(
                sizes[self.number], len(self.cached.layers), self.length, len(self.source), self.whole.shape[-1]
            )
        )

    # Why it works

    def show_mask(self) -> None:
        """How far rows move when a word is added: not at all with the mask, and far without it."""
        sides, places = self._sides(), word_axis("word", self.text[:-1])
        left, right = st.columns([1.15, 1])
        with left:
            matrices.show(
                Matrix(
                    "how far each row moves",
                    sides,
                    places,
                    SIDE_AXIS,
                    limit=symmetric_limit(sides),
                    picked=[(self.key, None)],
                ),
                Panel(height=min(26.0, 280 / len(places.labels))),
                key="moved",
                alt=f"Movement of the rows of K in layer {self.layer} and of the final states when a word is added",
                follow=Follow("key"),
            )
        right.html(decoding_texts.why_keys_and_values(self.moved.keys, self.moved.states, self.layer))

    def show_movement(self) -> None:
        """The final state of the picked word without a mask, feature by feature."""
        name = literal(self.axes[1].names[self.key])
        st.html(f'<p class="line">Final state of {name}, mask off, before and after the last word is added:</p>')
        st.html(worked.movement(self.moved.before[1, self.key], self.moved.after[1, self.key]))

    def show_corner(self) -> None:
        """The weights of the newest query with both corners of the mask."""
        queries, keys = self.axes
        for place, align in zip(st.columns(2), ALIGNMENTS, strict=True):
            with place:
                matrices.show(
                    Matrix(
                        align,
                        self.corner(align).weights,
                        named_axis("query", queries.names[-1:]),
                        keys,
                        ramp="weights",
                        may_attend=causal_mask(1, self.length, align),
                        picked=[(0, self.key)],
                    ),
                    Panel(height=44, row_labels=False),
                    key=f"corner_{align}",
                    alt=f"Weights of the newest query with the corner of the mask at the {align}",
                    follow=Follow("", "key"),
                    sums=True,
                )
        found, whole = self.corner("bottom-right").weights[0], self.attention(self.plain).weights[-1]
        st.html(decoding_texts.corner_verdict(found, whole, self.length))

    # A second sentence

    def show_source(self) -> None:
        """What each way computes of the second sentence in this step."""
        for place, series, way, step in zip(st.columns(2), SERIES, (self.plain, self.cached), self.steps, strict=True):
            found, weights = origins(way, self.number), self.source_attention(way).weights
            keys = word_axis("key", self.source)
            grid = Grid(
                self.axes[0], keys, found.queries, found.source, found.source_pairs, weights, weights >= 0, None
            )
            with place:
                pairs = step.pairs("cross scores", self.layer)
                st.html(decoding_texts.step_counts(series, step.rows("source K", self.layer), pairs))
                name = f"Step {self.number + 1} {series}, second sentence"
                _show_grid(grid, 0 if view.turned() else self.words_to_come, key=f"source_{series}", name=name)
        st.html(
            '<p class="quiet">The second sentence goes through one encoder block. No new word changes it, so step 1 '
            "computes its keys and values, and with a cache no other step does.</p>"
        )

    # Behind the pictures

    def _counts(self, what: str) -> Floats:
        """(step, way): rows of that name in the picked layer, or pairs of one head."""
        both = zip(self.plain.steps, self.cached.steps, strict=True)
        if what == "pairs":
            return np.array([[step.pairs("scores", self.layer) for step in steps] for steps in both], dtype=np.float64)
        return np.array([[step.rows(what, self.layer) for step in steps] for steps in both], dtype=np.float64)

    def _sides(self) -> Floats:
        return np.column_stack([self.moved.keys[self.layer], self.moved.states])

    def matrices(self) -> dict[str, Numbers]:
        """All numbers, for the table, the files and the script."""
        queries, keys = self.axes
        ways = named_axis("way", SERIES)
        numbered = named_axis("step", tuple(str(place + 1) for place in range(len(self.plain.steps))))
        positions, kept = word_axis("word", self.text[:-1]), self.cached.layers[self.layer].keys_and_values
        features = position_axis("feature", kept.k.shape[-1], "d")
        states = np.stack([step.state for step in self.cached.steps])
        sizes = np.array([[step.cache_bytes] for step in self.cached.steps], dtype=np.float64)
        newest = named_axis("query", queries.names[-1:])
        found: dict[str, Numbers] = {
            "logits": (
                np.stack([step.logits for step in self.cached.steps]),
                numbered,
                word_axis("word of the vocabulary", self.vocabulary),
            ),
            "states": (states, numbered, position_axis("feature", states.shape[1], "d_model")),
            "K in the cache": (kept.k[self.head], positions, features),
            "V in the cache": (kept.v[self.head], positions, features),
            "weights": (self.attention(self.cached).weights, queries, keys),
            "rows of K": (self._counts("K"), numbered, ways),
            "query-key pairs": (self._counts("pairs"), numbered, ways),
            "bytes in the cache": (sizes, numbered, named_axis("way", SERIES[1:])),
            "how far each row moves": (self._sides(), positions, SIDE_AXIS),
        }
        found |= {align: (self.corner(align).weights, newest, keys) for align in ALIGNMENTS}
        for series, way in zip(SERIES, (self.plain, self.cached), strict=True):
            work = np.array([[*step.multiply_adds.values()] for step in way.steps], dtype=np.float64)
            found[f"multiply-adds {series}"] = work, numbered, named_axis("part", tuple(PARTS))
        if self.source:
            weights = self.source_attention(self.cached).weights
            found["weights of the second sentence"] = weights, queries, word_axis("key", self.source)
        return found


def _show_grid(grid: Grid, rows_to_come: int, key: str, name: str) -> None:
    """One way's step; a click on a key's column picks that key where the picture has one to pick.

    All steps have the room of the last one: what stands below stays in its place when the reader goes on, and the
    browser need not make the chart anew for another height.
    """
    turned, presenting = view.turned(), view.now().presenting
    n_rows = grid.first_key + len(grid.keys.labels) if turned else grid.first_query + len(grid.queries.labels)
    room = (195, 270) if grid.picked is not None else (165, 240)  # in pixels, on a slide and on the page
    height = min(26 * (n_rows + rows_to_come), room[not presenting]) / n_rows
    rows = [int((grid.of_keys == kind).sum()) for kind in (NOW, AGAIN, KEPT)]
    pairs = int((grid.of_pairs != NOT_COMPUTED).sum())
    alt = (
        f"{name}: of {grid.of_keys.size} rows of K and V {rows[0]} are computed now, {rows[1]} again, "
        f"{rows[2]} come from the cache; {pairs} query-key pairs are computed"
    )
    if grid.cells > PICTURE_ABOVE:
        sides = ("columns", "rows") if turned else ("rows", "columns")
        caption = f"{sides[0]}: K and V, then {grid.queries.caption}; {sides[1]}: Q, then {grid.keys.caption}"
        # At twice the size, so that it stays sharp on a projector and on a phone.
        file = grid_picture(grid, 900, 2 * room[not presenting], turned, view.dark())
        draw.picture(file, name=name, caption=caption, alt=alt)
        return
    pick = "" if grid.picked is None else _PICK
    draw.chart(
        grid_table(grid, turned),
        grid_chart(grid, height, pick, draw.LARGE if presenting else 1.0, turned),
        name=name,
        key=key,
        alt=alt,
        on_pick=_picker(key, grid) if pick else None,
        picks=_PICK,
        legend=_KEY,
    )


def _picker(key: str, grid: Grid) -> Callable[[], None]:
    """Takes the key of a clicked cell over into its control."""
    position = "row_position" if view.turned() else "column_position"

    def pick() -> None:
        cells = st.session_state[key]["selection"].get(_PICK, [])
        place = int(cells[0][position]) - grid.first_key if cells else -1
        if 0 <= place < len(grid.keys.names):
            controls.take({"key": grid.keys.names[place]})

    return pick
