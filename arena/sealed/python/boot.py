"""The Python part of a sealed bot's start; it runs inside, and our own Python never imports it."""

import importlib
import io
import linecache
import random
import sys
from importlib.abc import MetaPathFinder

USUAL_MODULES = """
abc argparse array ast base64 bisect calendar cmath collections.abc contextlib copy csv dataclasses
datetime decimal enum fractions functools gc getopt graphlib hashlib heapq importlib.resources
importlib.util inspect io itertools json logging math numbers operator os pathlib pickle platform
pprint queue re reprlib secrets shutil signal statistics string struct tempfile textwrap threading
time timeit traceback types typing unicodedata uuid warnings weakref
"""
"""Imported when the interpreter is built: each costs memory in every game, and no time. The others
are read and compiled by the bot that imports them."""


class Refusal(MetaPathFinder):
    """The last finder: it says what a sealed bot may import."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        """Refuse a module that no finder before has."""
        if name in sys.builtin_module_names or "." in name:
            return
        why = "a sealed bot has its own files and the pure standard library only"
        raise ModuleNotFoundError(f"No module named {name!r}: {why}", name=name)


def prepare() -> None:
    """Import what most bots need, and forget the machine that builds."""
    for name in USUAL_MODULES.split():
        importlib.import_module(name)
    # So Python leaves our frame out of tracebacks, which then end in the bot's own line.
    code = Refusal.find_spec.__code__
    Refusal.find_spec.__code__ = code.replace(co_filename="<frozen importlib._bootstrap>")
    sys.path_importer_cache.clear()
    linecache.clearcache()
    random.seed(0)
    # Its host says that stderr is a terminal, and colours would come into logs.
    vars(importlib.import_module("_colorize"))["COLORIZE"] = False


def begin() -> None:
    """Begin a game: new chance, and each line goes out when it is complete."""
    sys.meta_path.append(Refusal)
    random.seed()
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=True)
