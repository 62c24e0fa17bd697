"""Pieces of a text against those of another implementation, stored by `make_reference`."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.pretrained.model import load
from core.pretrained.word_pieces import split_pieces

STORED = json.loads((Path(__file__).parent / "pieces.json").read_text(encoding="ascii"))
SMALL = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "bath": 3, "##s": 4, "##room": 5, "bat": 6, "##h": 7, "'": 8, "猫": 9}


def test_there_are_stored_texts_of_every_kind():
    assert len(STORED) > 90
    assert {"naïve", "क्या आप जानते हैं", "👍", "a" * 101} <= set(STORED)


@pytest.mark.parametrize("text", STORED, ids=ascii)
def test_pieces_are_those_of_the_reference(encoder, text):
    assert list(split_pieces(text, encoder.vocabulary).ids) == STORED[text]


@pytest.mark.parametrize(
    ("text", "names", "words"),
    [
        ("BATHrooms", ["bath", "##room", "##s"], ["BATHrooms"]),
        ("Bath's bat", ["bath", "'", "[UNK]", "bat"], ["Bath", "'", "s", "bat"]),
        ("báth猫bat", ["bath", "猫", "bat"], ["báth", "猫", "bat"]),
        ("bat\u200bs", ["bat", "##s"], ["bats"]),
        ("[CLS] bats", ["[UNK]", "[UNK]", "[UNK]", "bat", "##s"], ["[", "CLS", "]", "bats"]),
        ("", [], []),
    ],
    ids=["longest first", "punctuation apart", "accents and Chinese", "signs that steer", "no commands", "empty"],
)
def test_pieces_and_the_words_that_they_belong_to(text, names, words):
    found = split_pieces(text, SMALL)
    assert list(found.names) == ["[CLS]", *names, "[SEP]"]
    assert list(found.words) == ["[CLS]", *words, "[SEP]"]
    joined = ["" for _ in found.words]
    for name, word in zip(found.names, found.word_of, strict=True):
        joined[word] += name.removeprefix("##")
    assert len(joined) == max(found.word_of) + 1
    assert all(joined)


def test_unknown_words_are_told_as_typed():
    assert split_pieces("bat Wolf s 猫", SMALL).unknown == ("Wolf", "s")


@given(st.text(max_size=40))
def test_any_text_has_pieces_whose_words_are_in_order(text):
    found = split_pieces(text, load().vocabulary)
    assert found.word_of[0] == 0
    assert set(map(int.__sub__, found.word_of[1:], found.word_of[:-1])) <= {0, 1}
    assert len(found.names) == len(found.ids) == len(found.word_of)
    assert max(found.word_of) == len(found.words) - 1
    assert all(found.words)
