"""What a link of the fuzzer is: a page and parameters, and as short a text of it as still shows the same fault."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ui.take_home.links import link_to

Query = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A page and the values of every parameter, in the order of the address."""

    page: str
    query: Query = ()

    def __str__(self) -> str:
        """The address without its host."""
        return link_to("http://localhost", self.page, self.parameters).removeprefix("http://localhost")

    @property
    def parameters(self) -> dict[str, list[str]]:
        """All values of each parameter."""
        return {key: list(values) for key, values in self.query}


def shorter(link: Link) -> Iterator[Link]:
    """The same link with one parameter less, one value less, or one value cut in half."""
    for place, (key, values) in enumerate(link.query):
        before, after = link.query[:place], link.query[place + 1 :]
        yield replace(link, query=before + after)
        for number, value in enumerate(values):
            others = values[:number], values[number + 1 :]
            if len(values) > 1:
                yield replace(link, query=(*before, (key, others[0] + others[1]), *after))
            half = len(value) // 2
            for cut in (value[:half], value[half:]) if half else ():
                yield replace(link, query=(*before, (key, (*others[0], cut, *others[1])), *after))


def shortest(link: Link, fails: Callable[[Link], bool], tries: int = 60) -> Link:
    """A link that still fails and of which no shorter one, of those tried, does."""
    while tries > 0:
        for candidate in shorter(link):
            tries -= 1
            if fails(candidate):
                link = candidate
                break
            if tries <= 0:
                break
        else:
            break
    return link
