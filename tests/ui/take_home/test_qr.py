"""The QR code holds the link, whole, in a picture that a phone can read."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
import segno

from ui.take_home.qr import MOST_MODULES, QUIET_ZONE, qr_svg

SVG = "{http://www.w3.org/2000/svg}"
LINKS = [
    "https://attention.example.org/query_key_value?text=Meera+bought+a+new+bat&d=4&heads=2&seed=0",
    "https://attention.example.org/?text=%E0%A4%AE%E0%A5%80%E0%A4%B0%E0%A4%BE",
    "https://attention.example.org/?text=मीरा",
    "https://attention.example.org/?text=" + 1100 * "a",
]


def modules(svg):
    """The dark modules of a picture, painted from its path: a row of dashes for each row of the code."""
    root = ET.fromstring(svg)
    side = int(root.attrib["viewBox"].split()[2])
    painted = np.zeros((side, side), dtype=np.uint8)
    (path,) = [node for node in root.iter(f"{SVG}path") if node.get("stroke") == "#000"]
    x = y = 0.0
    for command, rest in split(path.attrib["d"]):
        numbers = [float(number) for number in rest.replace("-", " -").split()]
        if command == "M":
            x, y = numbers
        elif command == "m":
            x, y = x + numbers[0], y + numbers[1]
        else:
            painted[int(y), int(x) : int(x + numbers[0])] = 1
            x += numbers[0]
    return painted


def split(path):
    start = 0
    for at in [i for i, char in enumerate(path) if char in "Mmh" and i] + [len(path)]:
        yield path[start], path[start + 1 : at]
        start = at


@pytest.mark.parametrize("link", LINKS)
def test_the_picture_is_the_code_of_the_link_with_its_quiet_zone(link):
    svg = qr_svg(link)
    level = "l" if len(link) > 900 else "m"
    expected = np.array(segno.make_qr(link, error=level, encoding="utf-8").matrix)
    painted = modules(svg)
    np.testing.assert_array_equal(painted[QUIET_ZONE:-QUIET_ZONE, QUIET_ZONE:-QUIET_ZONE], expected)
    painted[QUIET_ZONE:-QUIET_ZONE, QUIET_ZONE:-QUIET_ZONE] = 0
    assert QUIET_ZONE == 4
    assert not painted.any()


def test_two_links_are_two_codes():
    assert not np.array_equal(modules(qr_svg(LINKS[0])), modules(qr_svg(LINKS[0].replace("seed=0", "seed=1"))))


def test_it_scales_and_brings_its_own_white_and_its_name():
    root = ET.fromstring(qr_svg(LINKS[0]))
    assert root.tag == f"{SVG}svg"
    assert root.attrib["role"] == "img"
    assert "width" not in root.attrib
    assert "height" not in root.attrib
    assert root.find(f"{SVG}title").text == "QR code of the link to this page"
    side = root.attrib["viewBox"].split()[2]
    ground = root.find(f"{SVG}path")
    assert (ground.attrib["fill"], ground.attrib["d"]) == ("#fff", f"M0 0h{side}v{side}h-{side}z")


def test_the_longest_link_is_the_longest_that_the_last_row_can_read():
    assert len(modules(qr_svg("a" * 997))) == MOST_MODULES + 2 * QUIET_ZONE  # level M
    assert len(modules(qr_svg("a" * 1273))) == MOST_MODULES + 2 * QUIET_ZONE  # level L
    assert qr_svg("a" * 1274) is None
    assert qr_svg("a" * 5000) is None


@pytest.mark.parametrize("link", ["", "\ud800"])
def test_what_is_no_link_is_refused(link):
    with pytest.raises(ValueError):
        qr_svg(link)
