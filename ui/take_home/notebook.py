"""From a composed program in percent format to a Jupyter notebook."""

import ast
import base64
import re
from collections.abc import Sequence
from typing import Any

from ui.take_home.scripts import split_cells


def build(script: str, figures: Sequence[tuple[str, bytes]] = ()) -> bytes:
    r"""The file of a notebook: explanation in Markdown, code, and figures that show before anything is run.

    Parameters
    ----------
    script : str
        From `ui.take_home.scripts.compose` with ``notebook=True``.
    figures : sequence of (str, bytes)
        Title and PNG file of each; a title is shown literally.

    Returns
    -------
    bytes
        Notebook format 4.5; the same input gives the same bytes.

    Examples
    --------
    >>> file = build('"Two: a number."\n\n# %%\nprint(2)\n')
    >>> import nbformat
    >>> [cell.source for cell in nbformat.reads(file.decode(), as_version=4).cells]
    ['# Two: a number', 'print(2)']
    """
    import nbformat  # a quarter of a second, and only needed here
    from nbformat import v4

    header, *cells = split_cells(script)
    about = ast.parse(header.text).body[0]
    docstring = ast.get_docstring(ast.Module([about], [])) or ""
    imports = "".join(header.text.splitlines(keepends=True)[about.end_lineno :]).strip()
    first, *rest = docstring.split("\n")
    made: list[Any] = [v4.new_markdown_cell("\n".join([f"# {first.removesuffix('.')}", *rest]))]
    made += [_figure(number, title, file) for number, (title, file) in enumerate(figures)]
    if imports:
        made.append(v4.new_code_cell(imports))
    for cell in cells:
        text = cell.text.strip()
        made.append(v4.new_markdown_cell(cell.markdown) if cell.is_markdown else v4.new_code_cell(text))
    for number, each in enumerate(made):
        each["id"] = f"cell-{number}"  # nbformat's own are random
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook = v4.new_notebook(cells=made, metadata=metadata, nbformat_minor=5)
    written: str = nbformat.writes(notebook)
    return written.encode()


def _figure(number: int, title: str, file: bytes) -> Any:
    """A Markdown cell that holds a picture and shows it."""
    from nbformat import v4

    # No character of the title may act as Markdown, HTML or a formula.
    literal = re.sub(r"([\\`*_\[\]<>#!|$&~])", r"\\\1", " ".join(title.split()))
    name = f"figure-{number}.png"
    attachments = {name: {"image/png": base64.b64encode(file).decode()}}
    return v4.new_markdown_cell(f"**{literal}**\n\n![{literal}](attachment:{name})", attachments=attachments)
