"""From a page's source and its settings to one file that runs by itself.

The sources are real programs in percent format: cells of code (``# %%``) and of explanation (``# %% [markdown]``).
"""

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ui.pages import ORDER

SOURCES = Path(__file__).parent / "sources"

PAGES = tuple(page.name for page in ORDER)
"""Pages that have a source; each also has a twin by PyTorch."""

_WIDTH = 100
_MARKDOWN, _NOTEBOOK_ONLY = "[markdown]", "notebook only"


@lru_cache(maxsize=64)
def read_source(page: str, torch: bool = False) -> str:
    """Source of a page, as it stands in the repository.

    Parameters
    ----------
    page : str
        One of `PAGES`.
    torch : bool
        Whether the twin by PyTorch is wanted.

    Returns
    -------
    str
        For `compose`.

    Raises
    ------
    ValueError
        There is no such page.

    Examples
    --------
    >>> read_source("home").splitlines()[0]
    '\"\"\"Attention at work: how much each word takes from each word, in one of several heads.'
    """
    if page not in PAGES:
        raise ValueError(f"page must be one of {PAGES}; got {page!r}")
    return (SOURCES / f"{page}{'_torch' if torch else ''}.py").read_text(encoding="utf-8")


def settings_of(source: str) -> dict[str, object]:
    """What `compose` can set, with the values that the source has by itself.

    Parameters
    ----------
    source : str
        From `read_source`.

    Returns
    -------
    dict of str to object
        Names that the first code cell assigns a literal to, in their order.

    Examples
    --------
    >>> settings_of(read_source("parameter_count"))
    {'d_model': 32, 'n_heads': 4, 'd_ff': 64, 'n_layers': 1, 'biases': 'all'}
    """
    return {name: ast.literal_eval(node) for name, node in _settings(source).items()}


def _settings(source: str) -> dict[str, ast.expr]:
    """The literals of the first code cell by the name that they are assigned to."""
    first = next(cell for cell in split_cells(source)[1:] if not cell.is_markdown)
    found: dict[str, ast.expr] = {}
    for node in ast.parse(source).body:
        if not first.line <= node.lineno <= first.line + first.text.count("\n"):
            continue
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_literal(value):
                found[name] = value
    return found


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def compose(source: str, values: Mapping[str, object], *, notebook: bool = False) -> str:
    """One self-contained program for some settings.

    Parameters
    ----------
    source : str
        From `read_source`.
    values : mapping of str to object
        What the first code cell assigns, or part of it: whole numbers, truth values, texts, sequences of them.
    notebook : bool
        Keep the percent format, and the cells that draw, for `ui.take_home.notebook.build`.

    Returns
    -------
    str
        Imports of sibling files are replaced by what these hold. A reader's text stands in literals only, and every
        character that does not print is written as an escape.

    Raises
    ------
    ValueError
        The source assigns no literal to a name.
    TypeError
        A value is of another type.

    Examples
    --------
    >>> program = compose(read_source("home"), {"words": ("the", "cat"), "d_head": 8})
    >>> [line for line in program.splitlines() if line.startswith(("words", "d_head"))]
    ['words = ["the", "cat"]', 'd_head = 8  # size of a query, key or value']
    """
    header, *cells = split_cells(_assign(source, values))
    imports, held = _Imports(), set[str]()
    program = []
    for cell in cells if notebook else [cell for cell in cells if _NOTEBOOK_ONLY not in cell.mark]:
        if cell.is_markdown:
            text = cell.text
        elif _NOTEBOOK_ONLY in cell.mark:
            own = _Imports()
            body = _inline(cell.text, own, held)
            text = _join(own.without(imports).written(), body)
        else:
            text = _inline(cell.text, imports, held)
        program.append(Cell(cell.mark, text, cell.line))
    tree = ast.parse(header.text)
    _gather(tree, imports)
    docstring = header.text[: _end(header.text, tree.body[0])]
    written = [cell.written() for cell in program] if notebook else _plain(program)
    return _join(docstring, imports.written(), *written).rstrip() + "\n"


@dataclass(frozen=True, slots=True)
class Cell:
    """Part of a program in percent format."""

    mark: str
    """What follows ``# %%`` on its first line; empty for what stands before the first mark."""
    text: str
    """All lines but the first."""
    line: int
    """Number of the text's first line, from 1."""

    @property
    def is_markdown(self) -> bool:
        """Whether its text is explanation, each line a comment."""
        return self.mark.startswith(_MARKDOWN)

    @property
    def markdown(self) -> str:
        """Its explanation without the comment signs."""
        return "\n".join(line.removeprefix("#").removeprefix(" ") for line in self.text.strip().splitlines())

    def written(self) -> str:
        """The cell in percent format."""
        return f"{'# %% ' + self.mark}".rstrip() + f"\n{self.text.strip()}"


def split_cells(program: str) -> list[Cell]:
    r"""Cells of a program in percent format.

    Parameters
    ----------
    program : str
        A source, or what `compose` made of it.

    Returns
    -------
    list of Cell
        The first holds what stands before the first mark.

    Examples
    --------
    >>> [(cell.mark, cell.text) for cell in split_cells("import math\n# %% [markdown]\n# Why\n# %%\nx = 1\n")]
    [('', 'import math\n'), ('[markdown]', '# Why\n'), ('', 'x = 1\n')]
    """
    cells, mark, start = [], "", 0
    lines = _lines(program)
    for number, line in enumerate([*lines, "# %%"]):
        if line.startswith("# %%"):
            cells.append(Cell(mark, "".join(lines[start:number]), start + 1))
            mark, start = line.removeprefix("# %%").strip(), number + 1
    return cells


def _lines(text: str) -> list[str]:
    """Lines with their ends; str.splitlines knows other ends of lines than Python's syntax."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _plain(cells: Sequence[Cell]) -> list[str]:
    """Cells for a reader of the plain script: an explanation becomes the comment above its code."""
    written, above = [], ""
    for cell in cells:
        if cell.is_markdown:
            heading, *rest = cell.markdown.splitlines()
            title = heading.lstrip("# ")
            above = "\n".join([f"# %% {title}", *(f"# {line}".rstrip() for line in rest)])
        else:
            code = cell.text.strip("\n")
            written.append(_join(above or "# %%", code) if code.startswith("def ") else f"{above or '# %%'}\n{code}")
            above = ""
    return written


def _join(*parts: str) -> str:
    """Parts with the blank lines between them that a formatter would leave: two around a function."""
    text = ""
    for part in (part.strip("\n") for part in parts if part.strip()):
        last = next((line for line in reversed(text.split("\n")) if line[:1].strip()), "")
        text += ("\n\n\n" if last.startswith("def ") or part.startswith("def ") else "\n\n") * bool(text) + part
    return text


# Settings


def _assign(source: str, values: Mapping[str, object]) -> str:
    """The source with other literals, everything else as it was."""
    nodes = _settings(source)
    unknown = sorted(set(values) - set(nodes))
    if unknown:
        raise ValueError(f"the source assigns {', '.join(nodes)}; got {', '.join(unknown)}")
    lines = [line.encode() for line in _lines(source)]  # positions in the syntax tree count bytes
    for name, value in sorted(values.items(), key=lambda item: nodes[item[0]].lineno, reverse=True):
        node = nodes[name]
        assert node.end_lineno is not None
        first, last = node.lineno - 1, node.end_lineno - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        lines[first : last + 1] = [before + write_literal(value, node.col_offset).encode() + after]
    return b"".join(lines).decode()


def write_literal(value: object, indent: int = 0, depth: int = 0) -> str:
    r"""A value as Python source, readable where it can be.

    Parameters
    ----------
    value : object
        A whole number, a finite float, a truth value, None, a text, or a sequence of these.
    indent : int
        Columns that stand before it on its line.
    depth : int
        How many lists it stands in, each of them written over several lines.

    Returns
    -------
    str
        ``ast.literal_eval`` gives the value back, a sequence as a list. Whatever does not print is an escape, so that
        a text stays on its line; a long list is wrapped.

    Raises
    ------
    TypeError
        The value is of another type.

    Examples
    --------
    >>> print(write_literal(["क्या", 'say "it\'s"', "\n"]), write_literal((3, 1)))
    ["क्या", 'say "it\'s"', "\n"] [3, 1]
    """
    if isinstance(value, list | tuple):
        items = [write_literal(item) for item in value]
        line = f"[{', '.join(items)}]"
        if indent + len(line) <= _WIDTH:
            return line
        margin = " " * (4 * depth)
        if any(isinstance(item, list | tuple) for item in value):
            inner = 4 * (depth + 1)
            lines = [f"{margin}    {write_literal(item, inner + 1, depth + 1)},\n" for item in value]
        else:
            lines = [f"{margin}{one}" for one in _wrap(items, _WIDTH - 4 * depth)]
        return "[\n" + "".join(lines) + f"{margin}]"
    if isinstance(value, str):
        text = repr(value)
        return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text and "'" not in value else text
    if value is None or isinstance(value, bool | int):
        return repr(value)
    if isinstance(value, float) and abs(value) < float("inf"):
        return repr(value)
    raise TypeError(f"value must be a number, a text or a sequence of them; got {type(value).__name__}")


def _wrap(items: Sequence[str], width: int) -> list[str]:
    """Lines of a long list, as many items on each as fit."""
    lines = [""]
    for item in items:
        if lines[-1] and 4 + len(lines[-1]) + len(item) + 2 > width:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return [f"    {line}\n" for line in lines]


# Imports


@dataclass(slots=True)
class _Imports:
    """Import statements, each name once."""

    modules: set[str] = field(default_factory=set)
    """As written after ``import``: "numpy as np"."""
    names: dict[str, set[str]] = field(default_factory=dict)
    """Module to what is imported from it."""

    def add(self, node: ast.Import | ast.ImportFrom) -> None:
        """Take over one statement."""
        written = {f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            self.names.setdefault(str(node.module), set()).update(written)
        else:
            self.modules |= written

    def without(self, others: "_Imports") -> "_Imports":
        """Those that the others do not hold."""
        left = {module: names - others.names.get(module, set()) for module, names in self.names.items()}
        return _Imports(self.modules - others.modules, {module: names for module, names in left.items() if names})

    def written(self) -> str:
        """All statements, Python's own modules first."""
        lines = [(module, f"import {module}") for module in sorted(self.modules)]
        lines += [
            (module, f"from {module} import {', '.join(sorted(names))}") for module, names in sorted(self.names.items())
        ]
        own = [line for module, line in lines if re.split(r"\W", module)[0] in sys.stdlib_module_names]
        return _join("\n".join(own), "\n".join(line for _, line in lines if line not in own))


def _inline(code: str, imports: _Imports, held: set[str]) -> str:
    """Code without its imports: those of siblings become what the sibling holds, the others are gathered."""
    tree = ast.parse(code)
    siblings = _gather(tree, imports)
    parts = [_sibling(name, imports, held) for name in siblings if name not in held]
    lines = _lines(code)
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert node.end_lineno is not None
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    parts.append("".join(lines))
    return _join(*parts)


def _gather(tree: ast.Module, imports: _Imports) -> list[str]:
    """Take over a module's imports, and name the siblings among them."""
    siblings = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (SOURCES / f"{node.module}.py").exists():
            siblings.append(str(node.module))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.add(node)
    return siblings


def _sibling(name: str, imports: _Imports, held: set[str]) -> str:
    """What a sibling holds besides its docstring and its imports, with that of its own siblings."""
    held.add(name)
    text = (SOURCES / f"{name}.py").read_text(encoding="utf-8")
    after = text[_end(text, ast.parse(text).body[0]) :]
    return _inline(after, imports, held)


def _end(text: str, node: ast.stmt) -> int:
    """Where a statement ends that closes its line."""
    assert node.end_lineno is not None
    return sum(map(len, _lines(text)[: node.end_lineno]))
