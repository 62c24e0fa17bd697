"""A reader's words as they are: never Markdown, LaTeX or HTML."""

import html


def literal(text: str) -> str:
    """Text for an HTML element that shows every character as typed.

    Parameters
    ----------
    text : str
        Words of a reader, or anything else that must not act as markup.

    Returns
    -------
    str
        HTML, isolated from the reading direction of what stands around it; a position in front stays in front.

    Examples
    --------
    >>> literal("a<b")
    '<bdi dir="ltr">a&lt;b</bdi>'
    """
    return f'<bdi dir="ltr">{html.escape(text)}</bdi>'
