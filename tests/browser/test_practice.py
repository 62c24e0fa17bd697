"""Practice with the keyboard alone: boxes filled, checked with Enter, the mistake told, another exercise."""

import io
import zipfile

import pytest
from playwright.sync_api import expect

from core.practice.kinds import draw
from tests.browser.page_object import Dashboard

pytestmark = pytest.mark.browser


def test_an_exercise_without_a_mouse_and_the_files_to_take_home(tab: Dashboard) -> None:
    page, keys = tab.page, tab.page.keyboard
    exercise, following = draw("softmax", 0, 3), draw("softmax", 0, 4)
    tab.open("practice", exercise="softmax", number=3)
    said = page.locator(".verdict")
    boxes = page.get_by_test_id("stForm").get_by_role("textbox")
    expect(boxes).to_have_count(3)
    expect(said).to_have_count(0)

    wrong = next(mistake for mistake in exercise.mistakes if mistake.name == "wrong axis")
    for answer, expected in ((wrong.answer, wrong.says), (exercise.answer, "Right.")):
        boxes.first.focus()
        for place, value in enumerate(answer[0]):
            keys.press("ControlOrMeta+a")
            keys.type(f"{value:.2f}")
            keys.press("Tab" if place < 2 else "Enter")
        expect(said).to_contain_text(expected)
        tab.settle()
    expect(page.locator(".score")).to_have_text("This session: 1 right of 1 tried.")

    page.get_by_role("button", name="Another one").focus()
    keys.press("Enter")
    expect(said).to_have_count(0)
    tab.settle()
    assert tab.query() == {"exercise": "softmax", "number": "4"}
    assert [box.input_value() for box in boxes.all()] == ["", "", ""]
    numbers = [float(text.replace("−", "-")) for text in tab.settled_texts("scaled scores")]
    assert numbers == following.operands[0].values.ravel().tolist()

    with page.expect_download() as download:
        page.get_by_role("button", name="All of it (.zip)").click()
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as held:
        assert held.namelist() == ["build_attention.ipynb", "check_attention.py", "read_me.txt"]
