"""Sentences that the heads of the trained model are measured on, written for this, what belongs together marked."""

from dataclasses import dataclass

# A mark follows its word: _D a determiner, _A an adjective, _P a preposition (of the noun that comes next), _V a verb
# (of the object that comes next), _N a noun, _O a noun that is the object of the verb before it.
MARKED = (
    "the_D old_A teacher_N opened_V the_D small_A window_O .",
    "a_D farmer_N sold_V the_D strong_A brown_A horses_O in_P the_D village_N .",
    "the_D child_N drew_V trees_O on_P the_D white_A wall_N .",
    "our_D neighbour_N painted_V the_D long_A wooden_A fence_O last week .",
    "the_D doctor_N read_V letters_O from_P her_D older_A sister_N .",
    "my_D brother_N lost_V the_D silver_A key_O near_P the_D river_N .",
    "the_D young_A singer_N wrote_V sad_A songs_O about_P the_D long_A cruel_A war_N .",
    "some students_N often borrowed_V dictionaries_O .",
    "the_D poor_A tired_A driver_N parked_V his_D car_O behind_P the_D school_N .",
    "a_D loud_A noise_N woke_V the_D sleeping_A baby_O .",
    "the_D committee_N rejected_V the_D plan_O after_P a_D short_A angry_A debate_N .",
    "the_D cook_N cut_V bread_O with_P a_D long_A sharp_A knife_N .",
    "every_D visitor_N admired_V the_D temple_O .",
    "the_D big_A black_A cat_N chased_V mice_O under_P tables_N .",
    "her_D uncle_N repaired_V clocks_O .",
    "the_D company_N built_V modern_A bridges_O across_P the_D valley_N .",
    "the_D strong_A cold_A wind_N damaged_V the_D roof_O of_P the_D church_N .",
    "this_D writer_N published_V her_D first_A short_A novel_O in_P a_D small_A town_N .",
    "the_D nervous_A player_N missed_V the_D shot_O .",
    "a_D kind_A woman_N gave_V water_O to_P the_D poor_A hungry_A dog_N .",
    "the_D engineer_N tested_V the_D new_A electric_A motor_O in_P laboratories_N .",
    "the_D two friends_N shared_V pizza_O at_P the_D old_A station_N .",
)

REPEATED = (
    "the dog saw another dog in the park .",
    "a cup of tea is cheaper than a cup of coffee .",
    "she bought a red coat and a blue coat yesterday .",
    "the king met the king of france .",
    "his house is older than my house .",
    "one train left before the other train arrived .",
    "the first page is longer than the last page .",
    "music makes people happy and people make music .",
    "a good book costs more than a bad book .",
    "the river joins a wider river near the coast .",
    "my sister knows your sister from school .",
    "the winter was colder than any winter before .",
    "he sold one car and bought another car .",
    "the lake is deep but no lake is endless .",
    "this question leads to a harder question .",
    "an island can hide behind a larger island .",
    "his answer was not the answer they expected .",
    "the small garden lies behind the big garden .",
    "one doctor asked another doctor for advice .",
    "the road to town crosses the road to the sea .",
)

# Two people, or a person and several, of whom a pronoun can mean only one. Every frame is used with both orders and
# both pronouns, so that the nearer noun is right as often as the farther one.
_FRAMES = (
    "{0} called {1} when {2} arrived .",
    "{0} thanked {1} because {2} was kind .",
    "{0} met {1} after {2} came home .",
    "{0} visited {1} before {2} left the town .",
    "{0} asked {1} where {2} lived .",
    "{0} saw {1} while {2} was in the garden .",
    "{0} told {1} that {2} was late .",
)
_PEOPLE = (
    (("mary", "she"), ("john", "he")),
    (("the woman", "she"), ("the man", "he")),
    (("the queen", "she"), ("the king", "he")),
)

# The last word decides which of two nouns "it" means: the first with the first word, the second with the second.
LAST_WORD = (
    ("mary put the bat in her bag because it was {} .", "bat", "new", "bag", "empty"),
    ("tom put the hammer in the box because it was {} .", "hammer", "heavy", "box", "empty"),
    ("the trophy did not fit in the suitcase because it was too {} .", "trophy", "big", "suitcase", "small"),
    ("anna poured water from the bottle into the cup until it was {} .", "bottle", "empty", "cup", "full"),
    ("the ball broke the window because it was {} .", "ball", "hard", "window", "thin"),
    ("the key did not open the lock because it was {} .", "key", "bent", "lock", "rusted"),
    ("sara moved the chair to the table because it was {} .", "chair", "light", "table", "set"),
    ("the dog chased the cat until it was {} .", "dog", "tired", "cat", "caught"),
    ("the knife could not cut the bread because it was {} .", "knife", "blunt", "bread", "stale"),
    ("omar tied the boat to the post because it was {} .", "boat", "drifting", "post", "firm"),
    ("the truck could not cross the bridge because it was too {} .", "truck", "heavy", "bridge", "weak"),
    ("the fish ate the worm because it was {} .", "fish", "hungry", "worm", "tasty"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A word and the word that it should look at."""

    text: str
    query: int
    """Position among the words, the start [CLS] included: the first word of the text is 1."""
    key: int
    rival: int | None = None
    """A word that it could be mistaken for."""
    group: str = ""
    """What it has in common with cases that differ in a word or two; empty for the text itself."""


def marked_cases() -> dict[str, tuple[Case, ...]]:
    """What belongs together in the marked sentences.

    Returns
    -------
    dict of str to tuple of Case
        "determiner to noun", "adjective to noun", "preposition to noun" and "verb to object".

    Examples
    --------
    >>> marked_cases()["verb to object"][0]
    Case(text='the old teacher opened the small window .', query=4, key=7, rival=None, group='')
    """
    targets = {"D": "NO", "A": "NO", "P": "NO", "V": "O"}
    names = {"D": "determiner to noun", "A": "adjective to noun", "P": "preposition to noun", "V": "verb to object"}
    found: dict[str, list[Case]] = {name: [] for name in names.values()}
    for sentence in MARKED:
        pairs = [word.partition("_") for word in sentence.split()]
        text = " ".join(word for word, _, _ in pairs)
        marks = [mark for _, _, mark in pairs]
        for place, mark in enumerate(marks):
            if mark in names:
                key = next(later for later in range(place + 1, len(marks)) if marks[later] in [*targets[mark]])
                found[names[mark]].append(Case(text, place + 1, key + 1))
    return {name: tuple(cases) for name, cases in found.items()}


def plain_texts() -> tuple[str, ...]:
    """The marked sentences without their marks.

    Returns
    -------
    tuple of str
        One a sentence.

    Examples
    --------
    >>> plain_texts()[0]
    'the old teacher opened the small window .'
    """
    return tuple(" ".join(word.partition("_")[0] for word in sentence.split()) for sentence in MARKED)


def repeated_cases() -> tuple[Case, ...]:
    """Both places of the noun that a sentence holds twice, each with the other.

    Returns
    -------
    tuple of Case
        Two a sentence.

    Examples
    --------
    >>> [(case.query, case.key) for case in repeated_cases()[:2]]
    [(2, 5), (5, 2)]
    """
    little = {"the", "a", "than", "to", "in", "of", "and", "my", "one"}
    found = []
    for text in REPEATED:
        words = text.split()
        twice = next(word for word in words if word not in little and words.count(word) == 2)
        first, second = (place + 1 for place, word in enumerate(words) if word == twice)
        found += [Case(text, first, second), Case(text, second, first)]
    return tuple(found)


def pronoun_cases() -> tuple[Case, ...]:
    """A pronoun, the person whom it means, and the other one.

    Returns
    -------
    tuple of Case
        Every frame with every pair of people, both orders and both pronouns.

    Examples
    --------
    >>> case = pronoun_cases()[0]
    >>> len(pronoun_cases()), case.text, case.query, case.key, case.rival
    (84, 'mary called john when she arrived .', 5, 1, 3)
    """
    found = []
    for frame in _FRAMES:
        for pair in _PEOPLE:
            for first, second in (pair, pair[::-1]):
                for (meant, pronoun), (other, _) in ((first, second), (second, first)):
                    text = frame.format(first[0], second[0], pronoun)
                    words = ["", *text.split()]
                    query, key, rival = (words.index(name.split()[-1]) for name in (pronoun, meant, other))
                    found.append(Case(text, query, key, rival, frame))
    return tuple(found)


def last_word_cases() -> tuple[Case, ...]:
    """The word "it", the noun that it means by the last word, and the other noun.

    Returns
    -------
    tuple of Case
        Two a sentence, one for each last word.

    Examples
    --------
    >>> [(case.key, case.rival) for case in last_word_cases()[:2]]
    [(4, 7), (7, 4)]
    """
    found = []
    for frame, first, for_first, second, for_second in LAST_WORD:
        for last, meant, other in ((for_first, first, second), (for_second, second, first)):
            words = ["", *frame.format(last).split()]
            query, key, rival = (words.index(name) for name in ("it", meant, other))
            found.append(Case(frame.format(last), query, key, rival, frame))
    return tuple(found)
