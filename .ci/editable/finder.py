"""Finds Boneyard's packages in a checkout that Python may read but not list.

A bot at sandbox level C is such a Python: an event can lie in the checkout. This finder serves the
checkout's entry of `sys.path` alone, so that leftovers in site-packages, which Python takes for
namespace packages, never hide the checkout's packages.
"""

import os.path
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType

PACKAGES = ("protocol", "arena", "tournaments", "sample_bots")
CHECKOUT = os.path.join(os.path.dirname(__file__), "_boneyard_arena.pth")  # noqa: PTH118, PTH120
"""The file in which the editable install has the path of the checkout."""


class CheckoutFinder(FileFinder):
    """Python's own finder, which also looks for our packages where it can list nothing."""

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a module in the checkout; None if it has no such module."""
        spec = super().find_spec(fullname, target)
        if spec is not None or fullname not in PACKAGES:
            return spec
        folder = f"{self.path}/{fullname}"
        source = f"{folder}/__init__.py"
        if not os.path.isfile(source):  # noqa: PTH113
            return None
        loader = SourceFileLoader(fullname, source)
        spec = ModuleSpec(fullname, loader, origin=source, is_package=True)
        spec.submodule_search_locations = [folder]
        spec.has_location = True
        return spec


with open(CHECKOUT) as _file:  # noqa: PTH123
    _path = _file.read().strip()
sys.path_importer_cache[_path] = CheckoutFinder(_path, (SourceFileLoader, SOURCE_SUFFIXES))
