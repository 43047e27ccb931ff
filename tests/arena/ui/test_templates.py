"""Compiled templates lie in the user's cache, and are made again when their source changes."""

from pathlib import Path

import pytest

from arena.ui.templates import environment


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path}")
    return tmp_path / "boneyard"


def rendered(folder: Path, text: str) -> str:
    """Return what a fresh process would make of a template."""
    (folder / "one.html.j2").write_text(text)
    environment.cache_clear()
    return environment((folder,)).get_template("one.html.j2").render(name="<ada>")


def files(kept: Path) -> list[Path]:
    return sorted((kept / "templates").iterdir())


@pytest.mark.parametrize("content", [b"", b"j2"])
def test_a_damaged_file_is_no_harm(tmp_path: Path, kept: Path, content: bytes) -> None:
    rendered(tmp_path, "Hello {{ name }}")
    (file,) = files(kept)
    file.write_bytes(file.read_bytes()[:20] if content else content)
    assert rendered(tmp_path, "Hello {{ name }}") == "Hello &lt;ada&gt;"


def test_where_nothing_can_be_written_pages_are_made_too(tmp_path: Path, kept: Path) -> None:
    kept.write_text("no folder")
    assert rendered(tmp_path, "Hello {{ name }}") == "Hello &lt;ada&gt;"
