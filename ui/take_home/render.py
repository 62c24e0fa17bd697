"""Vega-Lite specifications to SVG and PNG: a program of its own, run by `ui.take_home.figures`.

It reads a list of jobs as JSON from its standard input and writes the pictures as JSON to its standard output.
It imports nothing of the app, so that it is ready at once: the converter brings a JavaScript engine whose memory is
given back when the process ends, and which ends the process where a text displeases it.
"""

import base64
import copy
import json
import re
import sys
import unicodedata
import xml.etree.ElementTree as ET
from typing import Any

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"

SCALE = 72 / 101.6
"""The converter counts 72 pixels to the inch; here 640 are 16 cm."""


TYPEFACES = {
    "ARABIC": "Noto Sans Arabic, Noto Naskh Arabic, Segoe UI, Geeza Pro, DejaVu Sans, sans-serif",
    "CJK": "Noto Sans CJK SC, Noto Sans SC, Microsoft YaHei, PingFang SC, sans-serif",
    "DEVANAGARI": "Noto Sans Devanagari, Nirmala UI, Kohinoor Devanagari, Lohit Devanagari, sans-serif",
    "EMOJI": "Noto Color Emoji, Apple Color Emoji, Segoe UI Emoji, sans-serif",
    "HANGUL": "Noto Sans CJK KR, Noto Sans KR, Malgun Gothic, Apple SD Gothic Neo, sans-serif",
    "HIRAGANA": "Noto Sans CJK JP, Noto Sans JP, Yu Gothic, Hiragino Sans, sans-serif",
}
TYPEFACES["KATAKANA"] = TYPEFACES["KATAKANA-HIRAGANA"] = TYPEFACES["HIRAGANA"]

VOWEL_SIGNS = {"TAMIL": 0.6, "MALAYALAM": 0.5, "KANNADA": 0.42, "TELUGU": 0.34, "SINHALA": 0.31}
"""Ems that most vowel signs to the right or left of a letter take in Noto Sans; 0.26 in the scripts of the north."""


def main() -> None:
    """Convert the jobs on the standard input."""
    jobs = json.load(sys.stdin.buffer)
    sys.stdout.write(json.dumps([_convert(**job) for job in jobs]))


def _convert(spec: dict[str, Any], name: str, alt: str, head: str, head_height: int, dots: int) -> dict[str, str]:
    """One picture; `dots` is how many pixels of PNG its longer side has at least, 0 for no PNG."""
    import vl_convert

    # Without a list of allowed addresses, a specification could make the server fetch any of them.
    root = ET.fromstring(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    if head:
        root = _under(head, head_height, root)
    _simplify(root)
    svg = labelled(root, name, alt)
    if not dots:
        return {"svg": svg}
    enlarged = max(3.0, dots / max(float(root.attrib["width"]), float(root.attrib["height"])))
    _choose_typefaces(root)  # other programs choose well by themselves, so that the SVG stays as it is
    png = vl_convert.svg_to_png(ET.tostring(root, encoding="unicode"), scale=SCALE, ppi=enlarged / SCALE * 72)
    return {"svg": svg, "png": base64.b64encode(png).decode()}


def _under(head: str, head_height: int, root: ET.Element) -> ET.Element:
    """The same picture with a line of SVG above it, on the same white."""
    width, height = root.attrib["width"], f"{float(root.attrib['height']) + head_height:g}"
    around = f'<svg xmlns="{SVG}" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    framed = ET.fromstring(f'{around}<rect width="{width}" height="{height}" fill="#FFFFFF"/>{head}</svg>')
    moved = ET.SubElement(framed, f"{{{SVG}}}g", {"transform": f"translate(0,{head_height})"})
    moved.extend(root)
    return framed


def _simplify(node: ET.Element) -> None:
    """Leave out what is not seen, and what only a screen needs."""
    # Under role="img" assistive technology reads the root alone; the rest would make the file twice as large.
    for attribute in list(node.attrib):
        if attribute.startswith("aria-") or attribute in ("role", "pointer-events", "class"):
            del node.attrib[attribute]
    opacity = node.attrib.get("opacity")
    if opacity and not len(node):
        # The opacity of a whole element makes the converter paint a layer as large as the picture for each of them:
        # half a minute for the lines of thirty words. No mark is both filled and stroked, so this looks the same.
        del node.attrib["opacity"]
        if opacity != "1":
            node.attrib |= {"fill-opacity": opacity, "stroke-opacity": opacity}
    for child in list(node):
        # What is transparent serves the mouse, or is a number too small to be read; editors would show it as clutter.
        if child.get("opacity") == "0":
            node.remove(child)
        else:
            _simplify(child)


def _choose_typefaces(root: ET.Element) -> None:
    """Help the converter where its own typeface lacks letters.

    Left to choose, it takes any typeface that has the missing ones, bold ones too, sets the letters of Devanagari on
    top of each other, and the position before an emoji in the emoji's own wide digits. It cannot mix typefaces within
    one text, so a text gets the typeface of its script, and emoji behind a position become a text of their own.
    """
    for parent in list(root.iter()):
        for text in [child for child in parent if child.tag == f"{{{SVG}}}text"]:
            said = text.text or ""
            scripts = [script for script in map(_script, said) if script]
            letters = [script for script in scripts if script != "EMOJI"]
            if letters:
                text.set("font-family", _typeface(letters[0]))
                _make_room(text, said, VOWEL_SIGNS.get(letters[0], 0.26))
            elif scripts and (found := re.fullmatch(r"(\d+ )([^ -~]+)", said)):
                parent.append(_apart(text, found[1], found[2]))


def _make_room(text: ET.Element, said: str, width: float) -> None:
    """Move what follows a vowel sign of Indian scripts, whose width (in ems) the converter forgets."""
    signs = [unicodedata.category(char) == "Mc" for char in said]
    if not any(signs):
        return
    room = width * _size(text)
    shifts = [0.0, *(room * sign for sign in signs[:-1])]
    shifts[0] -= room * sum(signs) * {"end": 1.0, "middle": 0.5}.get(text.get("text-anchor", "start"), 0.0)
    text.set("dx", " ".join(f"{shift:.2f}" for shift in shifts))


def _size(text: ET.Element) -> float:
    return float(text.get("font-size", "12px").removesuffix("px"))


def _apart(text: ET.Element, position: str, emoji: str) -> ET.Element:
    """Split a text: it keeps the position; the emoji are returned, set beside it."""
    beside = copy.deepcopy(text)
    text.text, beside.text = position.strip(), emoji
    beside.set("font-family", _typeface("EMOJI"))
    size = _size(text)
    digits, gap, pictures = 0.556 * size * len(text.text), 0.278 * size, 1.245 * size * _pictures(emoji)
    # How far each goes from where both together were anchored.
    shifts = {
        "start": (0.0, digits + gap),
        "middle": (-(gap + pictures) / 2, (digits + gap) / 2),
        "end": (-gap - pictures, 0.0),
    }
    for part, shift in zip((text, beside), shifts[text.get("text-anchor", "start")], strict=True):
        part.set("dx", f"{shift:.2f}")
    return beside


def _pictures(emoji: str) -> float:
    """How many pictures a row of emoji shows: two letters make a flag, a joiner makes one of two."""
    shown = sum(0.5 if "\U0001f1e6" <= c <= "\U0001f1ff" else 1.0 for c in emoji if unicodedata.category(c) == "So")
    return shown - emoji.count("\u200d")


def _typeface(script: str) -> str:
    return TYPEFACES.get(script, f"Noto Sans {script.title()}, sans-serif")


def _script(char: str) -> str:
    """The script of a letter, as a typeface is named after it; "" for what the figure's own typeface has."""
    # Latin, Greek, Cyrillic, Hebrew, punctuation, arrows, mathematics; signs belong to the letter before.
    if char < "\u0600" or "\u1e00" <= char < "\u2600" or unicodedata.category(char)[0] in "MC":
        return ""
    if unicodedata.category(char) == "So":
        return "EMOJI"
    if unicodedata.east_asian_width(char) in "WF":
        name = unicodedata.name(char, "CJK").split()[0]
        return name if name in TYPEFACES else "CJK"
    return unicodedata.name(char, " ").split(" ")[0]


def labelled(root: ET.Element, name: str, alt: str) -> str:
    """An SVG with its name and its text alternative.

    Parameters
    ----------
    root : xml.etree.ElementTree.Element
        Of the SVG; changed.
    name, alt : str
        Characters that XML can hold.

    Returns
    -------
    str
        The SVG.

    Examples
    --------
    >>> labelled(ET.Element(f"{{{SVG}}}svg"), "weights", "")[:60]
    '<svg xmlns="http://www.w3.org/2000/svg" role="img"><title>we'
    """
    root.set("role", "img")
    title, description = ET.Element(f"{{{SVG}}}title"), ET.Element(f"{{{SVG}}}desc")
    title.text, description.text = name, alt
    root[:0] = [title, description]
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    return ET.tostring(root, encoding="unicode")


if __name__ == "__main__":
    main()
