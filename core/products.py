"""Matrix products that count themselves: each one reports the shapes of its own two operands."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from core.softmax import Floats


class Multiply(Protocol):
    """What multiplies two matrices and is told what for."""

    def __call__(self, name: str, left: Floats, right: Floats) -> Floats:
        """The product of the last two axes of both."""
        ...


def multiply(name: str, left: Floats, right: Floats) -> Floats:
    """A matrix product that nobody counts.

    Parameters
    ----------
    name : str
        What it is for; not used here.
    left : ndarray of shape (..., row, inner)
        First operand.
    right : ndarray of shape (..., inner, column)
        Second operand.

    Returns
    -------
    ndarray of shape (..., row, column)
        left @ right.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Examples
    --------
    >>> multiply("scores", np.ones((1, 3)), np.ones((3, 1))).tolist()
    [[3.0]]
    """
    return left @ right


@dataclass(frozen=True, slots=True)
class Product:
    """One matrix product that was made, by the shapes of what was multiplied."""

    name: str
    """What it was for, such as "K" or "scores"."""
    layer: int | None
    """The layer that it belongs to, from 0; None outside all of them."""
    left: tuple[int, ...]
    """(..., row, inner)."""
    right: tuple[int, ...]
    """(..., inner, column)."""

    @property
    def rows(self) -> int:
        """Rows of the result, in each of the matrices that were multiplied side by side."""
        return self.left[-2]

    @property
    def entries(self) -> int:
        """Entries of the result in each of them: for scores, the query-key pairs of one head."""
        return self.left[-2] * self.right[-1]

    @property
    def multiply_adds(self) -> int:
        """One multiplication and one addition for each entry of the result and each inner place, all of them."""
        return _side_by_side(self.left[:-2], self.right[:-2]) * self.entries * self.left[-1]


def _side_by_side(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    """Matrices that are multiplied, from the leading axes of both operands."""
    # Alike or none on one side, as in every layer here; asking NumPy takes ten times as long.
    return math.prod(left or right if left == right or not (left and right) else np.broadcast_shapes(left, right))


@dataclass(slots=True)
class Counter:
    """Multiplies like `multiply` and writes down what it multiplied."""

    products: list[Product] = field(default_factory=list)

    def of_layer(self, layer: int | None) -> Multiply:
        """The same counter for one layer.

        Parameters
        ----------
        layer : int or None
            What its products are written down under.

        Returns
        -------
        callable
            To be given to whatever takes a `Multiply`.

        Examples
        --------
        >>> counter = Counter()
        >>> product = counter.of_layer(0)("K", np.ones((5, 8)), np.ones((8, 4)))
        >>> counter.products[0].rows, counter.products[0].multiply_adds
        (5, 160)
        """

        def counted(name: str, left: Floats, right: Floats) -> Floats:
            self.products.append(Product(name, layer, left.shape, right.shape))
            return left @ right

        return counted


def count(products: Collection[Product], names: Collection[str] | None = None) -> int:
    """Multiply-adds of some products together.

    Parameters
    ----------
    products : collection of Product
        From a `Counter`.
    names : collection of str or None
        Those to count; None counts all.

    Returns
    -------
    int
        Exact. An operation of PyTorch's counting is half of one: a multiply-add takes two.

    Examples
    --------
    >>> count([Product("K", 0, (5, 8), (8, 8)), Product("V", 0, (5, 8), (8, 8))], ["K"])
    320
    """
    return sum(product.multiply_adds for product in products if names is None or product.name in names)
