"""The build hook that compiles the hot modules with mypyc, in builds that ask for it."""

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledBuild(BuildHookInterface):  # type: ignore[misc]
    """A wheel of the same sources, with machine code beside the modules of `pyproject.toml`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules, and let the wheel's tag say for which Python and machine.

        Raises RuntimeError for an editable install, whose edits a compiled module would ignore.
        """
        if version == "editable":
            raise RuntimeError("An editable install is not compiled. Install without -e.")
        self._folder = Path(tempfile.mkdtemp())
        for library in self._built():
            build_data["force_include"][str(library)] = str(library.relative_to(self._libraries))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what only the build needed."""
        del version, build_data, artifact_path
        shutil.rmtree(self._folder)

    @property
    def _libraries(self) -> Path:
        return self._folder / "libraries"

    def _built(self) -> list[Path]:
        # Only here: builds that are pure Python install neither.
        from mypyc.build import mypycify
        from setuptools import Distribution

        with contextlib.chdir(self.root):
            options = ("--config-file=", f"--cache-dir={self._folder / 'cache'}")
            extensions = mypycify(
                [*options, *self.config["modules"]],
                group_name="boneyard",
                target_dir=str(self._folder / "c"),
            )
            build = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
            build.build_lib, build.build_temp = str(self._libraries), str(self._folder / "objects")
            build.ensure_finalized()
            build.run()
        return sorted(self._libraries.rglob("*.so"))
