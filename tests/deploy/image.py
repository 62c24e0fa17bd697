"""What `docker build` would put into the image, without Docker: the files that it copies, the variables, the command.

Only as much of a Dockerfile is understood as ours has; anything else is refused.
"""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

UNDERSTOOD = ("FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "CMD")


@dataclass(frozen=True, slots=True)
class Image:
    """A Dockerfile, read."""

    instructions: tuple[tuple[str, str], ...]
    """Each as its name and the rest, continued lines joined."""

    def all_of(self, name: str) -> list[str]:
        """What stands behind every instruction of a name."""
        return [rest for given, rest in self.instructions if given == name]

    @property
    def command(self) -> list[str]:
        """What the container runs."""
        (rest,) = self.all_of("CMD")
        return _words_of_json(rest)

    @property
    def health_check(self) -> list[str]:
        """What Docker runs to see whether it is well."""
        (rest,) = self.all_of("HEALTHCHECK")
        return _words_of_json(rest.partition("CMD ")[2])

    @property
    def variables(self) -> dict[str, str]:
        """Environment that it sets."""
        pairs = [pair.partition("=") for rest in self.all_of("ENV") for pair in shlex.split(rest)]
        return {name: value for name, _, value in pairs}

    @property
    def copies(self) -> list[tuple[str, str]]:
        """Each file or folder of the context that is copied, and where to, below the working folder."""
        found = []
        for rest in self.all_of("COPY"):
            *sources, target = rest.split()
            if rest.startswith("--") or (len(sources) > 1 and not target.endswith("/")):
                raise ValueError(f"COPY must name sources and a target, a folder where there are several; got {rest!r}")
            found += [
                (source, f"{target}{Path(source).name}" if target.endswith("/") else target) for source in sources
            ]
        return found

    def value_of(self, option: str) -> str:
        """What an option of the command is set to."""
        return self.command[self.command.index(option) + 1]


def read_image(dockerfile: Path = ROOT / "Dockerfile") -> Image:
    """The image that a Dockerfile describes.

    Raises
    ------
    ValueError
        If it has an instruction that this file does not understand.
    """
    text = dockerfile.read_text(encoding="utf-8")
    lines = re.sub(r"(?m)^\s*#.*\n", "", text).replace("\\\n", " ").splitlines()
    instructions = tuple((line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines if line.strip())
    strange = {name for name, _ in instructions} - set(UNDERSTOOD)
    if strange:
        raise ValueError(f"a Dockerfile must have only {', '.join(UNDERSTOOD)} to be understood; got {sorted(strange)}")
    return Image(instructions)


def context(root: Path = ROOT) -> list[str]:
    """Files that Docker is sent from a folder: all but what its .dockerignore names, as paths below it."""
    lines = [line.strip() for line in (root / ".dockerignore").read_text(encoding="utf-8").splitlines()]
    rules = [(line.startswith("!"), _pattern(line.lstrip("!"))) for line in lines if line and not line.startswith("#")]
    found: list[str] = []
    for place in sorted(root.iterdir()):
        # The big ones that are hidden whole need no walk.
        inside = place.rglob("*") if place.is_dir() and _sent(place.name, rules) else [place]
        found += [str(path.relative_to(root).as_posix()) for path in inside if path.is_file()]
    return [path for path in found if _sent(path, rules)]


def build(folder: Path, root: Path = ROOT) -> Image:
    """Copy into an empty folder what the image would have in its working folder.

    Raises
    ------
    FileNotFoundError
        If something is copied that is not in the context: it does not exist, or .dockerignore hides it.
    """
    image, sent = read_image(root / "Dockerfile"), context(root)
    for source, target in image.copies:
        taken = [path for path in sent if path == source or path.startswith(f"{source}/")]
        if not taken:
            raise FileNotFoundError(f"the Dockerfile copies {source!r}, which does not exist or is in .dockerignore")
        for path in taken:
            goal = folder / (target + path.removeprefix(source))
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, goal)
    return image


def command_here(image: Image, port: int) -> list[str]:
    """The image's command, but with this Python, on this computer's own address only, and on a port that is free."""
    command = [sys.executable if word == "python" else word for word in image.command]
    for option, value in (("--server.address", "127.0.0.1"), ("--server.port", str(port))):
        command[command.index(option) + 1] = value
    return command


def _words_of_json(text: str) -> list[str]:
    words: list[str] = json.loads(text)  # a shell form is no JSON
    return words


def _pattern(line: str) -> re.Pattern[str]:
    """One line of a .dockerignore, by Docker's rules: from the root, and whatever is below a match matches too."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", line.strip("/"))
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meanings.get(part, re.escape(part)) for part in parts) + "(?:/.*)?")


def _sent(path: str, rules: Sequence[tuple[bool, re.Pattern[str]]]) -> bool:
    """Whether a path is sent: the last rule that matches decides."""
    matching = [again for again, pattern in rules if pattern.fullmatch(path)]
    return matching[-1] if matching else True
