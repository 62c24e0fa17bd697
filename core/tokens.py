"""From a reader's text to words, and from a word to the short label that a picture can carry."""

import unicodedata

import regex

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# These turn the reading direction of whatever follows, so one word could reverse its neighbours on the page.
_DIRECTION_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def split_words(text: str) -> tuple[str, ...]:
    r"""Words of a text: NFC-normalised, split at white space, in the order typed.

    Parameters
    ----------
    text : str
        Any text; nothing in it raises an error.

    Returns
    -------
    tuple of str
        No element is empty. An empty or blank text gives ``()``. A character that no page or file could carry
        (a control character, half a surrogate pair, a direction override) is replaced by U+FFFD, never dropped.

    Notes
    -----
    Emoji sequences and scripts with combining signs stay whole, since only white space separates.
    A sentence in a script without spaces is one word; see `written_without_spaces`.

    Examples
    --------
    >>> split_words(" dog  bites\tman ")
    ('dog', 'bites', 'man')
    >>> split_words("")
    ()
    """
    return tuple(unicodedata.normalize("NFC", _clean(word)) for word in text.split())


def _clean(word: str) -> str:
    return "".join(
        _REPLACEMENT if unicodedata.category(c) in ("Cc", "Cs") or c in _DIRECTION_OVERRIDES else c for c in word
    )


def written_without_spaces(word: str) -> bool:
    """Whether a word holds several characters of a script that puts no spaces between its words.

    Parameters
    ----------
    word : str
        One element of `split_words`.

    Returns
    -------
    bool
        True for two or more Chinese, Japanese kana, Thai, Lao, Khmer or Myanmar letters.

    Examples
    --------
    >>> written_without_spaces("我喜欢"), written_without_spaces("bat"), written_without_spaces("क्या")
    (True, False, False)
    """
    scripts = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
    return len(regex.findall(scripts, word)) > 1


def shorten(word: str, width: int = 10) -> str:
    """A word cut to a width that fits a label, with an ellipsis; never inside a visible character.

    Parameters
    ----------
    word : str
        The word as typed.
    width : int
        Columns available; a Chinese character or an emoji takes two.

    Returns
    -------
    str
        The word itself where it fits.

    Raises
    ------
    ValueError
        The width is below 2.

    Notes
    -----
    Cuts between extended grapheme clusters (Unicode Standard Annex 29), so that an emoji sequence, a flag or a
    letter with its signs is either whole or gone.

    Examples
    --------
    >>> shorten("internationalisation"), shorten("bat")
    ('internati…', 'bat')
    """
    if width < 2:
        raise ValueError(f"width must be at least 2; got {width}")
    if word.isascii() and len(word) <= width:
        return word
    clusters = regex.findall(r"\X", word)
    if sum(map(_columns, clusters)) <= width:
        return word
    kept, used = [], 0
    for cluster in clusters:
        used += _columns(cluster)
        if used > width - 1:
            break
        kept.append(cluster)
    return "".join(kept) + "…"


def _columns(cluster: str) -> int:
    # A flag is two regional indicators, and U+FE0F asks for the picture form of a sign: both are drawn wide.
    wide = any(unicodedata.east_asian_width(c) in "WF" or c == "\ufe0f" for c in cluster)
    return 2 if wide or regex.match(r"\p{Regional_Indicator}", cluster) else 1


def fit(text: str, length: int) -> str:
    """As much of a text as has at most so many characters, cut between visible characters.

    Parameters
    ----------
    text : str
        Any text.
    length : int
        Code points allowed.

    Returns
    -------
    str
        A beginning of the text; empty where its first visible character is longer than allowed.

    Examples
    --------
    >>> fit("ab🇮🇳", 3)
    'ab'
    """
    end = 0
    for cluster in regex.finditer(r"\X", text):
        if cluster.end() > length:
            break
        end = cluster.end()
    return text[:end]


def label_words(words: tuple[str, ...], width: int = 10) -> tuple[str, ...]:
    """Labels of the positions of a sentence: the position, then the word, so that equal words stay apart.

    Parameters
    ----------
    words : tuple of str
        The sentence.
    width : int
        Columns for the word itself.

    Returns
    -------
    tuple of str
        As many labels as words, all different.

    Raises
    ------
    ValueError
        The width is below 2.

    Examples
    --------
    >>> label_words(("the", "cat", "the"))
    ('0 the', '1 cat', '2 the')
    """
    return tuple(f"{position} {shorten(word, width)}" for position, word in enumerate(words))
