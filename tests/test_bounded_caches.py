"""Every cache of the server has an end, however many readers with sentences of their own it has seen."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
AT_HOME = ROOT / "ui" / "take_home" / "sources"
"""Programs that readers take home; the server does not run them."""

SOURCES = [
    path
    for folder in ("core", "ui", "pages", "server")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if AT_HOME not in path.parents
]
BOUNDS = {"st.cache_data": "max_entries", "st.cache_resource": "max_entries", "lru_cache": "maxsize"}


def caches(source: str) -> list[tuple[str, str, int | None, bool]]:
    """Every cached function: its name, by what, its bound, and whether it takes arguments."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for decorator in getattr(node, "decorator_list", []):
            call = decorator if isinstance(decorator, ast.Call) else None
            name = ast.unparse(call.func if call else decorator).removeprefix("functools.")
            if name not in (*BOUNDS, "cache"):
                continue
            bound = None
            for keyword in call.keywords if call else ():
                if keyword.arg == BOUNDS.get(name):
                    bound = ast.literal_eval(keyword.value)
            arguments = node.args.args + node.args.kwonlyargs + [node.args.vararg, node.args.kwarg]
            found.append((node.name, name, bound, any(arguments)))
    return found


def test_every_cache_is_bounded() -> None:
    found = [(path, *cache) for path in SOURCES for cache in caches(path.read_text(encoding="utf-8"))]
    assert len(found) > 40
    for path, function, by, bound, takes_arguments in found:
        assert bound is not None or not takes_arguments, f"{path}: {function} is kept by {by} without a bound"


def test_an_unbounded_cache_is_seen() -> None:
    source = "@functools.cache\ndef a(x): ...\n@lru_cache(maxsize=3)\ndef b(x): ...\n@st.cache_data\ndef c(): ...\n"
    expected = [("a", "cache", None, True), ("b", "lru_cache", 3, True), ("c", "st.cache_data", None, False)]
    assert caches(source) == expected
