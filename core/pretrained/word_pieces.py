"""From an English text to the pieces that a model with a vocabulary of word pieces reads, and back to whole words."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

import regex

START, END, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
"""What a model puts before and after a text, and in place of a word that its pieces cannot spell."""

LONGEST_WORD = 100
"""Letters of a word beyond which it counts as unknown."""

# Blocks of Chinese characters, each of which is a word of its own to the model; kana and hangul are not among them.
_CHINESE = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F)),
    *((0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text as the model reads it, its start and its end included."""

    names: tuple[str, ...]
    """One a piece; "##" before those that go on within a word."""
    ids: tuple[int, ...]
    """Numbers of the pieces in the vocabulary."""
    word_of: tuple[int, ...]
    """Which entry of `words` a piece belongs to."""
    words: tuple[str, ...]
    """Whole words and punctuation marks as they were typed, with the start and the end around them."""

    @property
    def spelled(self) -> tuple[str, ...]:
        """Every entry of `words` as the model spells it: its pieces joined."""
        joined = [""] * len(self.words)
        for word, name in zip(self.word_of, self.names, strict=True):
            joined[word] += name.removeprefix("##")
        return tuple(joined)

    @property
    def foreign(self) -> tuple[str, ...]:
        """Words as typed with a letter of another alphabet than the Latin one."""
        return tuple(word for word in self.words if regex.search(r"[^\P{L}\p{Latin}]", word))

    @property
    def unknown(self) -> tuple[str, ...]:
        """Words as typed that the vocabulary cannot spell."""
        return tuple(self.words[w] for w, name in zip(self.word_of, self.names, strict=True) if name == UNKNOWN)


def split_pieces(text: str, vocabulary: Mapping[str, int]) -> Pieces:
    """The pieces of a text: lower case, no accents, punctuation apart, then the longest pieces that fit.

    Parameters
    ----------
    text : str
        Any text; nothing in it raises an error.
    vocabulary : mapping of str to int
        Every piece with its number; those that go on within a word begin with "##".

    Returns
    -------
    Pieces
        At least the start and the end.

    Notes
    -----
    The rules of BERT's uncased vocabularies (Devlin et al. 2019; Wu et al. 2016, section 4.1 for the longest match).
    One difference to common libraries: "[MASK]" in a text is a bracket, a word and a bracket here, since a reader's
    words are never commands.

    Examples
    --------
    >>> found = split_pieces("Baths!", {"[CLS]": 0, "[SEP]": 1, "bath": 2, "##s": 3, "!": 4})
    >>> found.names, found.ids, found.word_of, found.words
    (('[CLS]', 'bath', '##s', '!', '[SEP]'), (0, 2, 3, 4, 1), (0, 1, 1, 2, 3), ('[CLS]', 'Baths', '!', '[SEP]'))
    """
    names, word_of, words = [START], [0], [START]
    for letters, typed in _words(text):
        for name in _longest_first(letters, vocabulary):
            names.append(name)
            word_of.append(len(words))
        words.append(typed)
    names.append(END)
    word_of.append(len(words))
    words.append(END)
    return Pieces(tuple(names), tuple(vocabulary[name] for name in names), tuple(word_of), tuple(words))


def _words(text: str) -> list[tuple[str, str]]:
    """Words and punctuation marks: as the model spells them, and as they were typed."""
    found: list[tuple[str, str]] = []
    spelled, typed = "", ""
    for character in [*text, " "]:
        if _is_space(character):
            separate, letters = True, ""
        elif ord(character) in (0, 0xFFFD) or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Cn"):
            continue  # signs that only steer the typesetting or say nothing
        else:
            separate, letters = _is_chinese(character), _plain(character)
        alone = [separate or _is_punctuation(letter) for letter in letters] if letters else [separate]
        if not any(alone):
            spelled, typed = spelled + letters, typed + character
            continue
        # A letter can come apart into several, some of them punctuation: each then stands for what was typed.
        for letter, is_alone in zip(letters or " ", alone, strict=True):
            if not is_alone:
                spelled, typed = spelled + letter, typed + character
                continue
            if spelled:
                found.append((spelled, typed))
            spelled, typed = "", ""
            if letters:
                found.append((letter, character))
    return found


def _plain(character: str) -> str:
    """Lower case, without accents."""
    apart = unicodedata.normalize("NFD", character)
    return "".join(letter.lower() for letter in apart if unicodedata.category(letter) != "Mn")


def _is_space(character: str) -> bool:
    return character.isspace() and character not in "\x0b\x0c\x1c\x1d\x1e\x1f\x85"


def _is_chinese(character: str) -> bool:
    return any(low <= ord(character) <= high for low, high in _CHINESE)


def _is_punctuation(letter: str) -> bool:
    signs = 33 <= ord(letter) < 127 and not letter.isalnum()  # "$", "+" and the like count in ASCII only
    return signs or unicodedata.category(letter).startswith("P")


def _longest_first(letters: str, vocabulary: Mapping[str, int]) -> list[str]:
    if len(letters) > LONGEST_WORD:
        return [UNKNOWN]
    found: list[str] = []
    start = 0
    while start < len(letters):
        for end in range(len(letters), start, -1):
            name = ("##" if start else "") + letters[start:end]
            if name in vocabulary:
                found.append(name)
                start = end
                break
        else:
            return [UNKNOWN]
    return found
