"""Compiled templates are kept like compiled modules, and made again when their source changes."""

import sys
from pathlib import Path

import pytest

from arena.ui.templates import environment


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "pycache_prefix", f"{tmp_path}/kept")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "kept"


def rendered(folder: Path, text: str) -> str:
    """Return what a fresh process would make of a template."""
    (folder / "one.html.j2").write_text(text)
    environment.cache_clear()
    return environment((folder,)).get_template("one.html.j2").render(name="<ada>")


def test_a_template_is_compiled_once(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rendered(tmp_path, "Hello {{ name }}") == "Hello &lt;ada&gt;"
    assert len([*kept.rglob("one.html*")]) == 1
    monkeypatch.setattr("jinja2.Environment._generate", None)
    assert rendered(tmp_path, "Hello {{ name }}") == "Hello &lt;ada&gt;"


def test_a_changed_template_is_compiled_again(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rendered(tmp_path, "Hello {{ name }}") == "Hello &lt;ada&gt;"
    assert rendered(tmp_path, "Bye {{ name }}") == "Bye &lt;ada&gt;"
    before = [file.read_bytes() for file in kept.rglob("one.html*")]
    monkeypatch.setattr("jinja2.__version__", "99")
    assert rendered(tmp_path, "Bye {{ name }}") == "Bye &lt;ada&gt;"
    assert [file.read_bytes() for file in kept.rglob("one.html*")] != before


@pytest.mark.parametrize("content", [b"", b"j2"])
def test_a_damaged_file_is_no_harm(tmp_path: Path, kept: Path, content: bytes) -> None:
    rendered(tmp_path, "Hello {{ name }}")
    (file,) = kept.rglob("one.html*")
    file.write_bytes(file.read_bytes()[:20] if content else content)
    assert rendered(tmp_path, "Hello {{ name }}") == "Hello &lt;ada&gt;"


def test_who_wants_no_compiled_modules_gets_none(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(tmp_path, "Hello {{ name }}") == "Hello &lt;ada&gt;"
    assert not kept.exists()


def test_where_nothing_can_be_written_pages_are_made_too(tmp_path: Path, kept: Path) -> None:
    kept.write_text("no folder")
    assert rendered(tmp_path, "Hello {{ name }}") == "Hello &lt;ada&gt;"
