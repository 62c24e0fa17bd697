"""A link as a QR code, for a hundred phones in a lecture hall."""

import io

import segno

MOST_MODULES = 117
"""Modules along a side, without the quiet zone, beyond which no code is made (version 25).

Projected two metres high, such a code with its quiet zone has modules of 16 mm. From fifteen metres, the main camera
of a phone (4,000 pixels across some 65 degrees) resolves about 5 mm a pixel: three pixels a module, the fewest that a
decoder works with. Version 25 holds 1,273 bytes; the largest of all codes would hold 2,953, for the front rows only.
"""

QUIET_ZONE = 4
"""Modules of white around the code; the standard asks for at least four."""


def qr_svg(link: str) -> str | None:
    """A link as a QR code that any phone reads.

    Parameters
    ----------
    link : str
        At least one character.

    Returns
    -------
    str or None
        An SVG element without a size of its own, black on its own white in either theme; None where the link is too
        long for a code that can be read from the back row. The error correction is M (15 % of the code may be lost)
        or better where that fits, else L (7 %).

    Raises
    ------
    ValueError
        The link is empty, or no text that UTF-8 can hold.

    Examples
    --------
    >>> qr_svg("https://example.org/?text=hello")[:15]
    '<svg role="img"'
    >>> qr_svg("https://example.org/?text=" + 2000 * "a") is None
    True
    """
    if not link:
        raise ValueError("there is no link to encode")
    for level in ("m", "l"):
        try:
            # The smallest code of this level; a better level is taken where it costs no module.
            code = segno.make_qr(link, error=level, encoding="utf-8")
        except segno.DataOverflowError:
            continue
        if len(code.matrix) <= MOST_MODULES:
            return _drawn(code)
    return None


def _drawn(code: segno.QRCode) -> str:
    file = io.BytesIO()
    code.save(
        file,
        kind="svg",
        xmldecl=False,
        nl=False,
        border=QUIET_ZONE,
        dark="#000000",
        light="#FFFFFF",
        omitsize=True,
        svgclass=None,
        lineclass=None,
        title="QR code of the link to this page",
    )
    # Without it, rounding leaves white hairlines between the rows.
    return file.getvalue().decode().replace("<svg ", '<svg role="img" shape-rendering="crispEdges" ', 1)
