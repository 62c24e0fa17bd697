"""What the tasks ask for, by slow and obvious loops; a reader's own sequences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.training import sentences, sequences
from core.training.figures import accuracy, loss, masses
from core.training.model import Run
from core.training.task import NONE, read
from core.training.tasks import TASKS

RNG = np.random.default_rng


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_is_whole(task):
    batch = task.draw(RNG(0), 7)
    assert len(task.words) == len(set(task.words)) == task.design.n_words
    assert batch.tokens.max() < task.design.n_words
    assert batch.tokens.shape[1] <= task.design.n_positions
    assert batch.lit.shape == (task.design.n_pictures, *batch.tokens.shape)
    assert task.lit(batch.tokens).tolist() == batch.lit.tolist()
    assert ((batch.sure == batch.targets) | (batch.sure == NONE)).all()
    assert task.lit(task.numbers(task.probe)).max() > NONE or task.name == "mask"


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_same_seed_draws_the_same_and_another_one_something_else(task):
    first, again, other = (task.draw(RNG(seed), 5).tokens.tolist() for seed in (3, 3, 4))
    assert first == again != other


def test_reversed_and_copied_rows_look_at_what_they_write():
    for batch in (TASKS["reverse"].draw(RNG(1), 5), TASKS["copy-3"].draw(RNG(1), 5), TASKS["sort"].draw(RNG(1), 5)):
        for row in range(5):
            for query, key in enumerate(batch.lit[0, row]):
                if key != NONE:
                    assert batch.tokens[row, key] == batch.targets[row, query]
    assert (TASKS["copy-3"].draw(RNG(1), 5).targets[:, :3] == 26).all()


def test_sorted_digits_are_different_and_in_order():
    batch = sequences.sort(RNG(2), 11)
    for tokens, targets in zip(batch.tokens, batch.targets, strict=True):
        assert sorted(tokens[:6]) == targets[6:].tolist() == sorted(set(tokens[:6]))
        assert tokens[7:].tolist() == targets[6:11].tolist()
        assert (targets[:6] == NONE).all()


def test_tables_look_after_the_last_earlier_copy_and_know_what_they_say():
    batch = sequences.tables(32, 2, RNG(3), 5)
    for row in range(5):
        letters = batch.tokens[row].tolist()
        for query in range(32):
            earlier = [place for place in range(query) if letters[place] == letters[query]]
            key = earlier[-1] + 1 if earlier else NONE
            assert batch.lit[1, row, query] == key
            known = earlier and letters[key] == batch.targets[row, query]
            assert batch.sure[row, query] == (batch.targets[row, query] if known else NONE)
            assert batch.lit[0, row, query] == (query - 1 if query else NONE)


def test_the_table_decides_nine_steps_in_ten():
    batch = sequences.tables(32, 1, RNG(4), 400)
    again = batch.lit[-1] != NONE
    agrees = (batch.sure != NONE)[again].mean()
    # Both the earlier step and this one have to follow the table: 0.9², and a few by chance.
    assert agrees == pytest.approx(0.81 + 0.19 / 16, abs=0.02)


def test_a_pronoun_means_the_noun_that_the_adjective_fits():
    batch = sentences.pronouns(2, False, False, RNG(5), 200)
    unclear = 0
    for row in range(200):
        words = [sentences.PRONOUN_WORDS[number] for number in batch.tokens[row]]
        asks = words.index("it")
        meant = words[batch.targets[row, asks]]
        (adjective,) = (w for w in words if w in sentences.EITHER or any(w in g for g in sentences.ADJECTIVES.values()))
        if adjective in sentences.EITHER:
            unclear += 1
            assert batch.sure[row, asks] == NONE
            continue
        kind = next(kind for kind, group in sentences.ADJECTIVES.items() if adjective in group)
        assert meant in sentences.NOUNS[kind]
        assert (meant, adjective) not in sentences.KEPT_BACK
        assert sum(word in sentences.NOUNS[kind] for word in words) == 1
        assert batch.lit[:, row, asks].tolist() == [words.index(adjective), batch.targets[row, asks]]
        owner = next(word for word in words if word in sentences.OWNERS)
        assert not ({"her", "his"} - {sentences.OWNERS[owner]}) & set(words)
    assert 8 <= unclear <= 35


def test_fresh_pronouns_are_pairs_that_training_never_shows():
    assert len(sentences.KEPT_BACK) == 30
    batch = sentences.pronouns(2, True, True, RNG(6), 50)
    for row in range(50):
        words = [sentences.PRONOUN_WORDS[number] for number in batch.tokens[row]]
        asks = words.index("it")
        noun, adjective = (words[batch.lit[place, row, asks]] for place in (1, 0))
        assert (noun, adjective) in sentences.KEPT_BACK
        assert batch.targets[row, asks] == sentences.PRONOUN_WORDS.index(noun)


def test_who_keeps_mirror_images_on_one_side():
    shown = {tuple(row) for row in sentences.who(False, RNG(7), 5000).tokens.tolist()}
    kept_back = {tuple(row) for row in sentences.who(True, RNG(7), 56).tokens.tolist()}
    assert (len(shown), len(kept_back)) == (168, 56)
    assert shown.isdisjoint(kept_back)
    assert {(who, b, deed, a) for who, a, deed, b in kept_back} == kept_back


def test_texts_keep_to_the_grammar_and_disorder_does_not():
    batch = sentences.texts(12, True, RNG(8), 50)
    for row in range(50):
        words = [sentences.GRAMMAR_WORDS[number] for number in batch.tokens[row]]
        assert sentences.is_grammatical(words)
        assert batch.tokens[row, 1:].tolist() == batch.targets[row, :-1].tolist()
        assert not sentences.is_grammatical(words[::-1])


@pytest.mark.parametrize("text", ["dog", "the dog dog", "the dog sees .", "the dog sees the park", "the big big dog",
                                  "the dog sees the cat in the dog"])  # fmt: skip
def test_what_is_no_text_of_the_grammar(text):
    assert not sentences.is_grammatical(text.split())


# Figures


def test_accuracy_and_loss_count_what_is_asked():
    logits = np.array([[[2.0, 0.0], [0.0, 3.0], [1.0, 0.0]]])
    targets = np.array([[0, 0, NONE]])
    assert accuracy(logits, targets) == 0.5
    by_hand = -(np.log(np.exp(2) / (np.exp(2) + 1)) + np.log(1 / (1 + np.exp(3)))) / 2
    assert loss(logits, targets) == pytest.approx(by_hand)
    assert np.isnan(accuracy(logits, np.full((1, 3), NONE)))


def test_mass_is_the_mean_over_lit_cells_alone():
    from core.attention import attend

    first, second = (attend(RNG(seed).normal(size=(2, 3, 5)), np.eye(3, 5), np.eye(3)) for seed in (0, 1))
    lit = np.array([[[0, NONE, 2], [NONE, NONE, NONE]], [[NONE] * 3] * 2])
    found = masses(Run((first, second), np.zeros((2, 3, 7))), lit)
    assert found[0] == pytest.approx((first.weights[0, 0, 0] + first.weights[0, 2, 2]) / 2)
    assert np.isnan(found[1])


# A reader's own sequence


@pytest.mark.parametrize(
    ("task", "text", "words"),
    [
        ("reverse", "Attentions", "attentions"),
        ("reverse", "a t t e n t i o n s", "attentions"),
        ("sort", "309214", "309214"),
        ("induction", "ab", "ab"),
    ],
)
def test_symbols_are_read_with_and_without_spaces(task, text, words):
    assert read(TASKS[task], text) == tuple(words)


def test_words_are_read_with_any_capitals_and_get_what_belongs_before_them():
    assert read(TASKS["order"], "Dog BITES man") == ("[who]", "dog", "bites", "man")
    sentence = "meera Put the bat in HER bag because it was empty"
    assert " ".join(read(TASKS["pronoun"], sentence)) == "Meera put the bat in her bag because it was empty"


@pytest.mark.parametrize(
    ("task", "text", "said"),
    [
        ("reverse", "hello", "wanted 10 symbols"),
        ("reverse", "attent1ons", "does not know “1”"),
        ("copy-2", "", "wanted 1 to 12 symbols"),
        ("copy-2", "ab_", "blank"),
        ("sort", "112345", "different digits"),
        ("sort", "12345|", "bar"),
        ("induction", "xyz", "does not know “x”, “y”, “z”"),
        ("pronoun", "Meera put the ball in her bag because it was new", "does not know “ball”"),
        ("pronoun", "Meera put the bat in her bag because", "exactly once; got 0"),
        ("pronoun", "it was it", "exactly once; got 2"),
        ("order", "dog bites", "wanted 3 words"),
        ("order", "bites dog man", "a noun, a verb and a noun"),
        ("order", "[who] bites man", "a noun, a verb and a noun"),
        ("scale", "123", "wanted 12 symbols"),
        ("mask", "the <b>cat</b>", "does not know “<b>cat</b>”"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(task, text, said):
    with pytest.raises(ValueError, match=said.replace("|", r"\|")):
        read(TASKS[task], text)


@given(st.sampled_from(sorted(TASKS)), st.text(max_size=40))
def test_any_text_is_read_or_refused_with_a_sentence(name, text):
    task = TASKS[name]
    refusal = ""
    try:
        words = read(task, text)
    except ValueError as error:
        refusal = str(error)
    assert refusal.startswith("wanted ") or task.numbers(words).shape == (1, len(words))
