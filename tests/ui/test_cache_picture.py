"""One step of decoding with more cells than marks make sense for: a picture, cell by cell."""

import io

import numpy as np
import pytest
from PIL import Image

from core.decoding import AGAIN, KEPT, NOT_COMPUTED, NOW
from ui.charts.cache import KIND_HUES, MASKED_PAIR, Grid, grid_picture
from ui.charts.heat_map import word_axis

EACH = 7  # pixels across a cell


def step(n_query: int, n_key: int) -> Grid:
    """A step in which the last query and key are new, and what lies behind a query is masked."""
    queries = word_axis("query", tuple(f"q{number}" for number in range(n_query)))
    keys = word_axis("key", tuple(f"k{number}" for number in range(n_key)))
    of_queries, of_keys = np.full(n_query, AGAIN, np.int16), np.full(n_key, KEPT, np.int16)
    of_queries[-1] = of_keys[-1] = NOW
    of_pairs = np.full((n_query, n_key), NOW, np.int16)
    of_pairs[0] = NOT_COMPUTED
    may_attend = np.tri(n_query, n_key, n_key - n_query, dtype=bool)
    return Grid(queries, keys, of_queries, of_keys, of_pairs, np.zeros((n_query, n_key)), may_attend, 2)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("turned", [False, True])
def test_every_cell_of_the_picture_has_the_colour_of_its_kind(theme: str, turned: bool) -> None:
    """31 queries and 37 keys: an edge is two cells wide, K in rows 0 and 1, V in 2 and 3, Q in columns 0 and 1."""
    grid = step(31, 37)
    assert (grid.first_query, grid.first_key) == (6, 4)
    sides = (grid.first_key + 37, grid.first_query + 31)
    size = sides[::-1] if turned else sides
    file = grid_picture(grid, EACH * size[0], EACH * size[1], turned, theme == "dark")
    image = np.asarray(Image.open(io.BytesIO(file)).convert("RGBA"))[EACH // 2 :: EACH, EACH // 2 :: EACH]
    if turned:
        image = image.swapaxes(0, 1)
    colour = {
        kind: [int(getattr(hue, theme)[place : place + 2], 16) for place in (1, 3, 5)]
        for kind, hue in KIND_HUES.items()
    }
    first_query, first_key = grid.first_query, grid.first_key
    for row in range(4):
        assert image[row, first_key, :3].tolist() == colour[KEPT]
        assert image[row, -1, :3].tolist() == colour[NOW]
    assert image[first_query, 0, :3].tolist() == colour[AGAIN]
    assert image[-1, 0, :3].tolist() == colour[NOW]
    assert image[first_query + 1, first_key, :3].tolist() == colour[MASKED_PAIR if not grid.may_attend[1, 0] else NOW]
    assert image[first_query + 1, -1, :3].tolist() == colour[MASKED_PAIR]
    assert image[-1, -1, :3].tolist() == colour[NOW]
    # What is not computed, and the gap, let the page show through.
    assert image[first_query, first_key, 3] == image[4, first_key, 3] == image[0, 0, 3] == 0
    assert image[-1, -1, 3] == 255
