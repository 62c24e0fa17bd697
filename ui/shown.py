"""What a page shows in one run: numbers, figures and controls, for the files, the code and the link of that state."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

from ui.take_home.figures import Figure, PictureFigure
from ui.take_home.tables import Matrix

__all__ = ["Matrix", "Shown", "begin", "now"]


@dataclass(slots=True)
class Shown:
    """Filled while a page runs; whoever holds it afterwards has that state, whatever the reader changes next."""

    page: str
    """Name of the page."""
    link: dict[str, list[str]] = field(default_factory=dict)
    """Parameters that restore every control which is not at its default."""
    controls: dict[str, str] = field(default_factory=dict)
    """Key of every control that can stand in the link, with its name for the reader."""
    matrices: Mapping[str, Matrix] = field(default_factory=dict)
    """The numbers behind the pictures."""
    figures: list[Figure | PictureFigure] = field(default_factory=list)
    """The pictures, in the order of the page."""
    alternatives: dict[str, str] = field(default_factory=dict)
    """Text alternatives of the charts by their labels, which are all different."""
    told: bool = False
    """Whether the frame has told them to the browser: what a fragment draws later comes too late for it."""
    code: Mapping[str, object] = field(default_factory=dict)
    """Values for the page's script."""
    step: str = ""
    """Where the reader is on a page that goes step by step; empty where all of it is shown."""
    first: str = ""
    """The first of its steps, which depends on a control where their order does."""
    sections: int = 0
    """How many there have been."""
    out_of_sight: bool = False
    """Whether what is drawn now belongs to another step than the one on the slide."""

    def label(self, wanted: str, alternative: str) -> str:
        """A label for a chart under which its text alternative is kept.

        Parameters
        ----------
        wanted : str
            Short; another chart may have it already.
        alternative : str
            In full.

        Returns
        -------
        str
            The label, with a number where it was taken.

        Examples
        --------
        >>> shown = Shown("home")
        >>> shown.label("norm", "norm 1 of every word"), shown.label("norm", "norm 2 of every word")
        ('norm', 'norm, 2')
        """
        label, number = wanted, 1
        while label in self.alternatives:
            number += 1
            label = f"{wanted}, {number}"
        self.alternatives[label] = alternative
        return label


_now: ContextVar[Shown] = ContextVar("shown")


def begin(page: str) -> Shown:
    """Start the record of a run.

    Parameters
    ----------
    page : str
        Name of the page that is about to run.

    Returns
    -------
    Shown
        Empty.

    Examples
    --------
    >>> begin("home") is now()
    True
    """
    shown = Shown(page)
    _now.set(shown)
    return shown


def now() -> Shown:
    """The record of this run.

    Returns
    -------
    Shown
        What `begin` made.

    Raises
    ------
    LookupError
        No run has begun.

    Examples
    --------
    >>> begin("home").page
    'home'
    """
    return _now.get()
