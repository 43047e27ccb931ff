"""Compiled templates lie in the user's cache, if it can be written to."""

from pathlib import Path

import pytest

from arena.ui.templates import environment


def test_pages_are_made_without_a_writable_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path}")
    (tmp_path / "boneyard").write_text("no folder")
    (tmp_path / "one.html.j2").write_text("Hello {{ name }}")
    environment.cache_clear()
    template = environment((tmp_path,)).get_template("one.html.j2")
    assert template.render(name="<ada>") == "Hello &lt;ada&gt;"
