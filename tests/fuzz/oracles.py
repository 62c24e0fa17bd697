"""What must hold of every page, whatever its link and whatever a reader has done to it."""

import re

import numpy as np
import pandas as pd

from core.settings import LINK_KEYS
from tests.fuzz.visits import Visit
from tests.pages.reading import bodies, charts, notices, plain
from ui.controls import NOTHING
from ui.pages import named
from ui.view import HIDE, PRESENT

NO_NUMBER = re.compile(r"(?<![\w-])[-+−]?(?:nan|inf|infinity)(?![\w-])", re.IGNORECASE)
"""What Python, NumPy and JavaScript write for a number that is none."""

INFOS = (
    "This page needs a sentence",
    "One word has nothing before or after it",
    "Wanted: one word to put in its place.",
    "That is the word which already stands there",
    "Wanted: a second sentence of at least one word.",
    "Nothing to see with this sentence:",
    "With d = 1 there is no pair of features to turn",
    "With a trained head this page shows at most",
    "This model reads at most",
    "Nothing of this sentence is left for the model",
    "This page shows no numbers with these settings",
    "This link has",
    "How alike the words become needs at least two words.",
    "Choose at least one size of a key.",
    "One word has one key, and the softmax of a single score is always 1",
    "This shape needs a second sentence, the target",
)
"""Beginnings of all that a page says in a box."""

OWN_WORDS = (
    "PyTorch's softmax gives NaN there",
    "scores, -inf)",
    "NaN: not a number",
    "NaN of the softmax",
    "NaN of the module",
)
"""What the pages themselves say of a number that is none: what other programs give where a query has no key."""


def faults(found: Visit) -> list[str]:
    """Everything that is wrong with what the page shows now; the link's notices apart, see `unheard`."""
    at = found.at
    said = [f"exception: {' '.join(element.message.split())[:300]}" for element in at.exception]
    said += [f"{kind}: {box.value[:200]}" for kind in ("error", "warning") for box in at.get(kind)]
    said += [f"unknown box: {box.value[:200]}" for box in at.info if not box.value.startswith(INFOS)]
    if found.record is None:
        return [*said, "the page did not come to its end"]
    titles = [title.value for title in at.title]
    if titles != [named(found.page).title]:
        said.append(f"wanted the title of {found.page}, got {titles}")
    said += [f"check: {plain(body)[:200]}" for body in bodies(at) if re.search(r"✗ NumPy|Not checked against", body)]
    return said + not_numbers(found)


def not_numbers(found: Visit) -> list[str]:
    """Every place where a number is none: NaN and infinity nowhere, −∞ only as the score of a masked pair."""
    at, said = found.at, []
    # A reader may write "nan": where it is told from a number by its place only those places are read.
    strict = not any(re.search("nan|inf", text, re.IGNORECASE) for text in found.typed)
    prose = [plain(re.sub(r"<bdi.*?</bdi>", " ", body, flags=re.DOTALL)) for body in bodies(at)]
    prose += [re.sub(r"\\inf(ty|inity)", "", element.value) for element in at.get("latex")]
    if strict:
        prose = [plain(body) for body in bodies(at)] + prose[len(bodies(at)) :]
        prose += [element.value for kind in ("markdown", "info") for element in at.get(kind)]
    prose += [f"{metric.value} {metric.delta}" for metric in at.metric]
    drawn = charts(at)
    if strict:
        prose += [alt for alt, _ in drawn]
    for sentence in OWN_WORDS:
        prose = [" ".join(text.split()).replace(sentence, "") for text in prose]
    said += [f"not a number in {around(text)!r}" for text in prose if NO_NUMBER.search(text)]
    for alt, frame in drawn:
        masked = frame.note.str.startswith("masked").to_numpy() if "note" in frame else np.zeros(len(frame), bool)
        for name in frame.select_dtypes("number").columns.difference(["reference"]):
            values = frame[name].to_numpy(dtype=float)
            wrong = ~np.isfinite(values) & ~(masked if name == "value" else False)
            if wrong.any():
                said.append(f"not a number in {name} of the chart {alt[:60]!r}")
        for name in frame.columns.intersection(["text", "said"]):
            if strict and frame[name].astype(str).str.contains(NO_NUMBER).any():
                said.append(f"not a number in {name} of the chart {alt[:60]!r}")
    for name, (values, *_) in found.record.matrices.items():
        numbers = np.asarray(values, dtype=float)
        wrong = np.isnan(numbers) | np.isposinf(numbers)
        if "score" not in name:
            wrong |= np.isneginf(numbers)
        if wrong.any():
            said.append(f"not a number in the matrix {name!r}")
    for table in at.dataframe:
        said += [f"not a number in the table's {name!r}" for name in unreal(table.value)]
    return said


def unreal(table: pd.DataFrame) -> list[str]:
    """Columns with a number that is none."""
    numbers = table.select_dtypes("number")
    return [str(name) for name in numbers if not np.isfinite(numbers[name].to_numpy(dtype=float)).all()]


def around(text: str) -> str:
    """The words about the first number that is none."""
    found = NO_NUMBER.search(text)
    return " ".join(text[max(0, found.start() - 40) : found.end() + 40].split()) if found else ""


def unheard(found: Visit) -> list[str]:
    """Parameters of a link that were neither used nor named, and notices of what the link did not hold."""
    if found.record is None or found.at.exception:
        return []
    said, told = [], [line for line in notices(found.at) if line.startswith("The link's ")]
    named_keys = [line.split()[2] for line in told]
    given = found.link.parameters
    said += [f"named twice: {key}" for key in set(named_keys) if named_keys.count(key) > 1]
    said += [f"named, but not in the link: {key}" for key in named_keys if key not in given]
    for key in found.record.controls:
        if key in given and key not in named_keys and not _used(found, key, given[key]):
            now = found.at.session_state.get(key)
            said.append(f"neither used nor named: {key}={given[key]!r:.120}; it is {now!r:.120}")
    if given.get(PRESENT, ["0"]) not in (["0"], ["1"]) and PRESENT not in named_keys:
        said.append("neither used nor named: present")
    if HIDE in given and HIDE not in named_keys:
        asked = {name for text in given[HIDE] for name in text.split(",")}
        if asked != found.at.session_state["_view"].hidden:
            said.append("neither used nor named: hide")
    return said


def _used(found: Visit, key: str, given: list[str]) -> bool:
    state = found.at.session_state
    if key not in state:
        return True  # a button
    value = state[key]
    if isinstance(value, list):
        return [str(item) for item in value] == given or (not value and given == [NOTHING])
    if isinstance(value, bool):
        return [text.lower() for text in given] == [str(value).lower()]
    if key == LINK_KEYS["sentence"]:
        return given == [value]
    return given == [str(value)]


def differences(found: Visit, other: Visit) -> list[str]:
    """Where the page that the shared link opens is not the one that it was shared from.

    Two things a link does not hold, and says so: a sentence of white space alone, which stands for no words and would
    be taken for a slip in a link, and what was revealed, which each reader finds out anew.
    """
    ours, theirs = found.record, other.record
    if ours is None or theirs is None:
        return ["no record to compare"]
    if "".join(ours.link.get("text", ["words"])).strip() == "" or ours.code.get("revealed"):
        return []
    said = [f"the link's page says: {line}" for line in notices(other.at) if line.startswith("The link's ")]
    for part in ("page", "link", "controls", "code"):
        one, two = getattr(ours, part), getattr(theirs, part)
        if one != two:
            keys = [key for key in {*one, *two} if one.get(key) != two.get(key)] if isinstance(one, dict) else []
            detail = {key: (one.get(key), two.get(key)) for key in keys[:3]} if keys else (one, two)
            said.append(f"{part} differs after the link: {detail!r:.300}")
    if list(ours.matrices) != list(theirs.matrices):
        return [*said, f"other matrices after the link: {list(ours.matrices)} and {list(theirs.matrices)}"]
    for name, (values, rows, columns) in ours.matrices.items():
        again, *axes = theirs.matrices[name]
        if not np.array_equal(values, again) or axes != [rows, columns]:
            said.append(f"other numbers after the link: {name!r}")
    if [figure.name for figure in ours.figures] != [figure.name for figure in theirs.figures]:
        said.append("other figures after the link")
    return said
