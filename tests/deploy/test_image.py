"""What the Dockerfile copies, and how the image is run; tests/browser/test_replicas.py runs servers from it."""

from pathlib import Path

import pytest

from server.routes import ALIVE
from tests.deploy.image import ROOT, build, context, read_image


def made(folder: Path, dockerfile: str, dockerignore: str, files: tuple[str, ...]) -> Path:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "Dockerfile").write_text(dockerfile)
    (folder / ".dockerignore").write_text(dockerignore)
    return folder


def test_the_image_has_every_file_of_the_rooms_that_the_app_runs_from(tmp_path: Path) -> None:
    build(tmp_path)
    for room in ("core", "pages", "server", "ui", ".streamlit"):
        here = {path.relative_to(ROOT) for path in (ROOT / room).rglob("*") if path.is_file()}
        here = {path for path in here if "__pycache__" not in path.parts and path.name != "secrets.toml"}
        there = {path.relative_to(tmp_path) for path in (tmp_path / room).rglob("*") if path.is_file()}
        assert there == here


def test_docker_is_sent_only_what_is_copied() -> None:
    sources = [source for source, _ in read_image().copies]
    rest = [path for path in context() if not any(path == s or path.startswith(f"{s}/") for s in sources)]
    assert rest == []


def test_the_command_serves_the_exposed_port_to_everyone_and_watches_no_file() -> None:
    image = read_image()
    port = image.value_of("--server.port")
    assert image.all_of("EXPOSE") == [port]
    assert f"http://127.0.0.1:{port}/{ALIVE}'" in image.health_check[-1]
    assert image.value_of("--server.address") == "0.0.0.0"
    assert image.value_of("--server.fileWatcherType") == "none"
    user = image.all_of("USER")[0].split(":")[0]
    assert int(user) > 0  # a name would not convince an orchestrator


def test_requirements_are_a_layer_before_the_code() -> None:
    layers = [rest for name, rest in read_image().instructions if name in ("COPY", "RUN")]
    install = next(number for number, rest in enumerate(layers) if rest.startswith("pip install"))
    assert layers[install - 1] == "requirements.txt ./"
    assert all(not rest.startswith(("core", "ui")) for rest in layers[:install])


@pytest.mark.parametrize(
    ("dockerignore", "sent"),
    [
        ("", ["a.py", "b/a.py", "b/c/a.py", "b/c/d.txt"]),
        ("*.py", ["b/a.py", "b/c/a.py", "b/c/d.txt"]),
        ("**/*.py", ["b/c/d.txt"]),
        ("b/c", ["a.py", "b/a.py"]),
        ("*\n!b\n# b/a.py\nb/c/**\n!b/c/d.txt", ["b/a.py", "b/c/d.txt"]),
        ("b/?", ["a.py", "b/a.py"]),
    ],
)
def test_dockerignore_is_read_by_dockers_rules(tmp_path: Path, dockerignore: str, sent: list[str]) -> None:
    root = made(tmp_path, "", f"Dockerfile\n.dockerignore\n{dockerignore}", ("a.py", "b/a.py", "b/c/a.py", "b/c/d.txt"))
    assert context(root) == sent


def test_what_is_copied_but_hidden_is_named(tmp_path: Path) -> None:
    root = made(tmp_path / "root", "FROM x\nCOPY code code\n", "code", ("code/a.py",))
    with pytest.raises(FileNotFoundError, match=r"copies 'code', which does not exist or is in \.dockerignore"):
        build(tmp_path / "image", root)
    (root / ".dockerignore").write_text("")
    build(tmp_path / "image", root)
    assert (tmp_path / "image" / "code" / "a.py").read_text() == "code/a.py"


def test_an_instruction_that_is_not_understood_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM x\nADD a b\n")
    with pytest.raises(ValueError, match=r"got \['ADD'\]"):
        read_image(tmp_path / "Dockerfile")
