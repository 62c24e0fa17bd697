"""The reader's settings: one frozen value, and its two-way translation to the parameters of a link."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from core.tokens import fit, shorten, split_words

MAX_CHARACTERS = 600
MAX_WORDS = 64
D_HEAD_RANGE = (1, 64)
N_HEADS_RANGE = (1, 12)
SEED_RANGE = (0, 9999)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the sidebar holds; every page computes from this.

    Parameters
    ----------
    sentence : str
        At most `MAX_CHARACTERS`; may be blank while the reader types.
    d_head : int
        Size of each key, within `D_HEAD_RANGE`.
    n_heads : int
        Number of heads, within `N_HEADS_RANGE`.
    seed : int
        Of all random numbers, within `SEED_RANGE`.

    Raises
    ------
    ValueError
        A value lies outside its range.

    Examples
    --------
    >>> Settings().words, Settings().d_model
    (('Meera', 'bought', 'a', 'new', 'bat'), 8)
    """

    sentence: str = "Meera bought a new bat"
    d_head: int = 4
    n_heads: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what the sidebar could not have set."""
        if len(self.sentence) > MAX_CHARACTERS:
            raise ValueError(f"sentence must have at most {MAX_CHARACTERS} characters; got {len(self.sentence)}")
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name} must be from {low} to {high}; got {value}")

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are analysed: the first `MAX_WORDS` of the sentence."""
        return split_words(self.sentence)[:MAX_WORDS]

    @property
    def d_model(self) -> int:
        """Width of an embedding: each head works in its own d_head features."""
        return self.n_heads * self.d_head


RANGES = {"d_head": D_HEAD_RANGE, "n_heads": N_HEADS_RANGE, "seed": SEED_RANGE}
LINK_KEYS = {"sentence": "text", "d_head": "d", "n_heads": "heads", "seed": "seed"}
"""Name of each setting in a link."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A parameter of a link that could not be used as it was given."""

    key: str
    wanted: str
    given: str
    used: str

    def __str__(self) -> str:
        """One sentence for the page."""
        return (
            f"The link's {self.key} was ignored: wanted {self.wanted}, given {self.given}. Used instead: {self.used}."
        )


def read_whole_number(text: str, low: int, high: int) -> int:
    """A whole number within a range, written in plain digits.

    Parameters
    ----------
    text : str
        From a link: "64". Neither "7.5" nor "1e1", "07" nor "٣" is a whole number in plain digits.
    low, high : int
        Bounds, both allowed.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        It is not such a number, or lies outside the bounds.

    Examples
    --------
    >>> read_whole_number("64", 1, 64)
    64
    """
    if not re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text) or not low <= int(text) <= high:
        raise ValueError(f"a whole number from {low} to {high}")
    return int(text)


def read_sentence(text: str) -> str:
    """A sentence from a link: not blank, and cut between words where it is too long.

    Parameters
    ----------
    text : str
        From a link.

    Returns
    -------
    str
        The text itself, or as many of its first words as fit into `MAX_CHARACTERS`.

    Raises
    ------
    ValueError
        There is no word in it.

    Examples
    --------
    >>> read_sentence("dog bites man")
    'dog bites man'
    """
    if not split_words(text):
        raise ValueError("at least one word")
    if len(text) <= MAX_CHARACTERS:
        return text
    whole = text.strip()
    kept = whole[:MAX_CHARACTERS]
    if len(whole) == len(kept) or kept[-1].isspace() or whole[len(kept)].isspace():
        return kept.rstrip()
    # The cut falls inside a word: the word goes; a first word longer than all is cut between visible characters.
    before, *_ = kept.rsplit(None, 1)
    return before if before != kept else fit(whole, MAX_CHARACTERS)


def from_query(query: Mapping[str, list[str]]) -> tuple[Settings, tuple[Ignored, ...]]:
    """Settings of a link, whatever the link holds.

    Parameters
    ----------
    query : mapping of str to list of str
        All values of each parameter; parameters of other names are none of ours.

    Returns
    -------
    tuple of Settings and tuple of Ignored
        A parameter that is missing or wrong leaves its default; the wrong ones are listed.

    Examples
    --------
    >>> settings, ignored = from_query({"d": ["16"], "heads": ["many"]})
    >>> settings.d_head, settings.n_heads, ignored[0].key
    (16, 2, 'heads')
    """
    default = Settings()
    values: dict[str, str | int] = {}
    ignored = []
    for name, key in LINK_KEYS.items():
        if key not in query:
            continue
        fallback = getattr(default, name)
        try:
            values[name] = _read(name, query[key])
        except ValueError as error:
            ignored.append(Ignored(key, str(error), quote(query[key]), str(fallback)))
            continue
        if name == "sentence" and values[name] != query[key][0]:
            given, kept = len(query[key][0]), values[name]
            used = f"its first {len(str(kept))}"
            ignored.append(Ignored(key, f"at most {MAX_CHARACTERS} characters", str(given), used))
    return Settings(**values), tuple(ignored)  # type: ignore[arg-type]


def _read(name: str, values: list[str]) -> str | int:
    if len(values) != 1:
        raise ValueError("one value")
    return read_sentence(values[0]) if name == "sentence" else read_whole_number(values[0], *RANGES[name])


def quote(values: list[str]) -> str:
    """What a link gave, short enough to be repeated in a notice.

    Parameters
    ----------
    values : list of str
        All values of one parameter.

    Returns
    -------
    str
        The values in quotation marks, each at most twenty columns wide.

    Examples
    --------
    >>> quote(["abc"]), quote([""])
    ('“abc”', 'nothing')
    """
    if not any(values):
        return "nothing"
    cleaned = [" ".join(split_words(value)) for value in values]
    if not any(cleaned):
        return "only white space"
    return " and ".join(f"“{shorten(value, 20)}”" for value in cleaned)


def to_query(settings: Settings) -> dict[str, list[str]]:
    """The parameters of a link that restores these settings; defaults stay out of it.

    Parameters
    ----------
    settings : Settings
        What the reader set.

    Returns
    -------
    dict of str to list of str
        As `from_query` reads it.

    Examples
    --------
    >>> to_query(Settings(d_head=16))
    {'d': ['16']}
    """
    default = Settings()
    return {
        LINK_KEYS[field.name]: [str(getattr(settings, field.name))]
        for field in fields(settings)
        if getattr(settings, field.name) != getattr(default, field.name)
    }
