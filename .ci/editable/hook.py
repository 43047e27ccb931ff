"""The build hook that adds a finder of our packages to an editable install."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EditableInstall(BuildHookInterface):  # type: ignore[misc]
    """An editable install, which Python also finds where it may not list the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the finder, and the line that loads it when Python starts."""
        if version == "editable":
            build_data["force_include_editable"] = {
                **self.build_config.get_force_include(),
                ".ci/editable/finder.py": "_boneyard_editable.py",
                ".ci/editable/finder.pth": "_boneyard_editable.pth",
            }
