"""Colours: one meaning each, in both themes, and ramps from values to colours with numbers that stay readable."""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.softmax import Floats


@dataclass(frozen=True, slots=True)
class Hue:
    """One colour for each theme, both with a contrast of at least 4.5 : 1 to the page."""

    light: str
    dark: str


QUERY = Hue("#0072B2", "#56B4E9")
KEY = Hue("#B84F00", "#F5915A")
VALUE = Hue("#007A58", "#2FC79B")
POSITION = Hue("#A34A7C", "#E3A0C5")
NEUTRAL = Hue("#4A5361", "#B4BDC9")
PICKED = Hue("#D98A00", "#FFB938")
MASKED = Hue("#CDD3DB", "#3B4551")
PAGE = Hue("#FFFFFF", "#10141A")
BOX = Hue("#EEF0F3", "#1C232C")
"""Behind words in a drawing: a little off the page."""
UNSCALED = Hue("#8A4B08", "#FFC98A")
SCALED = Hue("#34288A", "#B9B0FF")
"""Raw scores and what is made of them after the division: lines, bars and weights outside the heat maps."""
FEATURE = Hue("#6B6400", "#D2C64A")
"""The dimension d, the features of one head; query and key positions have the colours of their roles."""
WIDTH = Hue("#A3243B", "#F5909F")
"""The dimension d_model, the features of an embedding."""

NOW = Hue("#34288A", "#CFC8FF")
AGAIN = Hue("#DDB27C", "#9A6526")
KEPT = Hue("#E4E1F8", "#312C57")
"""Cells by where they come from: computed now, computed again, kept from before. They differ in lightness too."""
WITHOUT_CACHE, WITH_CACHE = UNSCALED, SCALED
"""Lines and numbers of the two ways of decoding, in the same two families."""
PRE_NORM = Hue("#0B6B78", "#5CCBD9")
POST_NORM = Hue("#9A3F9E", "#E79BEA")
"""A stack with the norm before each part, and one with the norm after it."""

_STEPS = 101

# Björn Ottosson's OKLab (2020): equal steps in it look equal, which neither RGB nor HSL promises.
_TO_CONE = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _linear(colour: str) -> Floats:
    """A hex colour as linear red, green, blue."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def _interpolate(stops: tuple[str, ...]) -> NDArray[np.str_]:
    """A ramp of `_STEPS` hex colours through the stops, even in OKLab."""
    lab = np.array([_TO_LAB @ np.cbrt(_TO_CONE @ _linear(stop)) for stop in stops])
    where = np.linspace(0, len(stops) - 1, _STEPS)
    path = np.stack([np.interp(where, np.arange(len(stops)), lab[:, axis]) for axis in range(3)], axis=-1)
    linear = np.clip((np.linalg.solve(_TO_LAB, path.T) ** 3).T @ np.linalg.inv(_TO_CONE).T, 0, 1)
    channels = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.array(["#{:02X}{:02X}{:02X}".format(*np.rint(rgb * 255).astype(int)) for rgb in channels])


@dataclass(frozen=True, slots=True)
class Ramp:
    """Colours for the values from `low` to `high`, one list a theme."""

    light: NDArray[np.str_]
    dark: NDArray[np.str_]
    low: float
    high: float

    def steps(self, values: ArrayLike, limit: float = 1.0) -> NDArray[np.int16]:
        """Index of each value's colour in `light` and `dark`.

        Parameters
        ----------
        values : array_like of any shape
            Finite numbers; those beyond the ends get the colour of the end.
        limit : float
            Positive; the ramp runs from `low` · limit to `high` · limit.

        Returns
        -------
        ndarray of int, of the same shape
            From 0 to the length of the ramp - 1.

        Examples
        --------
        >>> WEIGHTS.steps([0.0, 0.5, 1.0]).tolist()
        [0, 50, 100]
        """
        share = (np.asarray(values, dtype=np.float64) / limit - self.low) / (self.high - self.low)
        return np.rint(np.clip(share, 0, 1) * (_STEPS - 1)).astype(np.int16)


WEIGHTS = Ramp(
    _interpolate(("#F0F1FA", "#A79FE0", "#34288A")), _interpolate(("#1A1F2B", "#5B50B8", "#CFC8FF")), 0.0, 1.0
)
"""Attention weights, 0 to 1 on every picture."""

SIGNED = Ramp(
    _interpolate(("#8A4B08", "#DDB27C", "#F3F4F7", "#A79FE0", "#34288A")),
    _interpolate(("#FFC98A", "#9A6526", "#1E232C", "#5B50B8", "#CFC8FF")),
    -1.0,
    1.0,
)
"""Scores and other signed values: brown below 0, violet above, centred on 0."""


@functools.lru_cache(maxsize=1024)
def luminance(colour: str) -> float:
    """Relative luminance of a hex colour.

    Parameters
    ----------
    colour : str
        "#RRGGBB".

    Returns
    -------
    float
        0 for black to 1 for white (WCAG 2.2, definition of relative luminance).

    Examples
    --------
    >>> round(luminance("#FFFFFF"), 6), luminance("#000000")
    (1.0, 0.0)
    """
    return float(np.array([0.2126, 0.7152, 0.0722]) @ _linear(colour))


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two hex colours.

    Parameters
    ----------
    first, second : str
        "#RRGGBB".

    Returns
    -------
    float
        1 for equal colours to 21 for black on white (WCAG 2.2, definition of contrast ratio).

    Examples
    --------
    >>> round(contrast("#FFFFFF", "#000000"), 3)
    21.0
    """
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)
