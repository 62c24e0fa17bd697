"""The link that restores a page, built from its state and not from the address bar."""

from collections.abc import Collection, Mapping
from urllib.parse import urlencode, urlsplit, urlunsplit

from ui import view
from ui.pages import HOME, PAGES


def query_of(link: Mapping[str, list[str]], present: bool = False, hide: Collection[str] = ()) -> dict[str, list[str]]:
    """All parameters of a link.

    Parameters
    ----------
    link : mapping of str to list of str
        Those of the controls.
    present : bool
        Whether it opens as a presentation.
    hide : collection of str
        Keys of the controls that it hides.

    Returns
    -------
    dict of str to list of str
        Ready for `link_to`.

    Examples
    --------
    >>> query_of({"d": ["16"]}, present=True, hide=["seed"])
    {'d': ['16'], 'present': ['1'], 'hide': ['seed']}
    """
    query = {key: list(values) for key, values in link.items()}
    if present:
        query[view.PRESENT] = ["1"]
    if hide:
        query[view.HIDE] = sorted(hide)
    return query


def link_to(url: str, page: str, query: Mapping[str, list[str]]) -> str:
    """The address of a page with its parameters.

    Parameters
    ----------
    url : str
        Where the dashboard is open now, on whichever page.
    page : str
        Name of the page that the link leads to.
    query : mapping of str to list of str
        All values of each parameter.

    Returns
    -------
    str
        Only characters that survive being pasted anywhere.

    Examples
    --------
    >>> link_to("http://localhost:8501/causal_mask", "home", {"text": ["a+b & c"]})
    'http://localhost:8501/?text=a%2Bb+%26+c'
    """
    parts = urlsplit(url)
    folders = parts.path.rstrip("/").split("/")
    if folders[-1] in {entry.name for entry in PAGES}:
        folders.pop()
    path = "/".join([*folders, "" if page == HOME.name else page]) or "/"
    return urlunsplit((parts.scheme, parts.netloc, path, urlencode(query, doseq=True, errors="replace"), ""))
