"""Counting products: the shapes of what was multiplied, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attention import attend
from core.products import Counter, Product, count, multiply


def multiplied_one_by_one(left, right):
    """A product entry by entry, and how many multiplications that took."""
    leading = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left, right = (np.broadcast_to(a, leading + a.shape[-2:]) for a in (left, right))
    made, multiplications = np.zeros((*leading, left.shape[-2], right.shape[-1])), 0
    for place in np.ndindex(made.shape):
        for inner in range(left.shape[-1]):
            made[place] += left[(*place[:-1], inner)] * right[(*place[:-2], inner, place[-1])]
            multiplications += 1
    return made, multiplications


sizes = st.integers(1, 4)


@given(rows=sizes, inner=sizes, columns=sizes, heads=st.lists(sizes, max_size=2), one=st.booleans())
def test_a_product_and_its_count_are_those_of_a_loop(rows, inner, columns, heads, one):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(*heads, rows, inner)), rng.normal(size=(*([] if one else heads), inner, columns))
    counter = Counter()
    made = counter.of_layer(3)("K", left, right)
    expected, multiplications = multiplied_one_by_one(left, right)
    np.testing.assert_allclose(made, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(made, multiply("K", left, right))
    assert counter.products == [Product("K", 3, left.shape, right.shape)]
    (product,) = counter.products
    assert (product.multiply_adds, product.rows, product.entries) == (multiplications, rows, rows * columns)


def test_attention_reports_its_two_products():
    rng, counter = np.random.default_rng(0), Counter()
    q, k, v = (rng.normal(size=(3, n, width)) for n, width in ((5, 7), (11, 7), (11, 13)))
    counted = attend(q, k, v, multiply=counter.of_layer(None))
    np.testing.assert_array_equal(counted.output, attend(q, k, v).output)
    assert counter.products == [
        Product("scores", None, (3, 5, 7), (3, 7, 11)),
        Product("mixing", None, (3, 5, 11), (3, 11, 13)),
    ]
    assert counter.products[0].entries == 55
    assert count(counter.products) == 3 * 5 * 11 * (7 + 13)
    assert count(counter.products, ["mixing"]) == 3 * 5 * 11 * 13
    assert count(counter.products, []) == 0


def test_a_product_that_does_not_fit_is_refused_and_not_hidden():
    with pytest.raises(ValueError, match="matmul"):
        Counter().of_layer(0)("K", np.ones((2, 3)), np.ones((2, 3)))
