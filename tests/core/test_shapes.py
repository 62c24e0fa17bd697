"""Three shapes: which sentence asks and which is looked at, whose numbers they have, and how far a word is heard."""

import numpy as np
import pytest

from core.cross_attention import cross_attention
from core.examples import draw_decoder_projections, draw_example
from core.masks import causal_mask, local_mask
from core.reach import reach, reach_across
from core.shapes import PARTS, SHAPES, draw_shape, reach_of, sentences

SOURCE, TARGET = ("dog", "bites", "man"), ("Hund", "beisst", "den", "Mann", "tot")
ASKS = {
    ("encoder", "encoder"): (SOURCE, SOURCE),
    ("decoder", "decoder"): (SOURCE, SOURCE),
    ("encoder-decoder", "encoder"): (SOURCE, SOURCE),
    ("encoder-decoder", "decoder"): (TARGET, TARGET),
    ("encoder-decoder", "cross"): (TARGET, SOURCE),
}


def test_every_part_of_every_shape_has_its_sentences():
    assert list(ASKS) == [(shape, part) for shape in SHAPES for part in PARTS[shape]]
    for (shape, part), expected in ASKS.items():
        assert sentences(part, shape, SOURCE, TARGET) == expected


@pytest.mark.parametrize(("shape", "part"), [("encoder", "cross"), ("decoder", "encoder"), ("encoder", "decoder")])
def test_a_part_that_a_shape_does_not_have_is_refused(shape, part):
    with pytest.raises(ValueError, match=f"part must be one of {shape} in this shape; got '{part}'"):
        sentences(part, shape, SOURCE, TARGET)


@pytest.mark.parametrize(("shape", "part"), ASKS)
def test_rows_are_the_words_vectors_and_projections_those_of_the_part(shape, part):
    given = draw_shape(shape, SOURCE, TARGET, 7, 3, 11)[part]
    for rows, words in zip((given.x, given.source), ASKS[shape, part], strict=True):
        np.testing.assert_array_equal(rows, draw_example(words, 7, 3, 11).x)
    own, across = draw_decoder_projections(7, 3, 11)
    expected = {("encoder-decoder", "decoder"): own, ("encoder-decoder", "cross"): across}
    used = expected.get((shape, part), draw_example(SOURCE, 7, 3, 11))
    for name in ("w_q", "w_k", "w_v"):
        np.testing.assert_array_equal(getattr(given.projections, name), getattr(used, name))


def test_another_source_leaves_the_decoders_own_attention_alone():
    def weights(source, part):
        given = draw_shape("encoder-decoder", source, TARGET, 7, 3, 11)[part]
        of = given.projections
        return cross_attention(given.x, given.source, of.w_q, of.w_k, of.w_v).heads.weights

    other = (*SOURCE[:-1], "cat")
    np.testing.assert_array_equal(weights(SOURCE, "decoder"), weights(other, "decoder"))
    assert (weights(SOURCE, "cross") != weights(other, "cross")).any()


def test_reach_is_that_of_the_part():
    masks = {"encoder": local_mask(3, 3, 1), "decoder": causal_mask(5), "cross": local_mask(5, 3, 0)}
    for part in ("encoder", "decoder"):
        np.testing.assert_array_equal(reach_of(part, masks, 3), reach(masks[part], 3))
    expected = reach_across(masks["encoder"], masks["decoder"], masks["cross"], 3)
    np.testing.assert_array_equal(reach_of("cross", masks, 3), expected)
