"""The bot that its first argument names, of those beside this file.

    python -I -S broken NAME TAG START_MS

The bots are a module of their own, so that Python compiles them once and not at each start.
"""

import importlib
import sys

if __name__ == "__main__":
    getattr(importlib.import_module("bots"), sys.argv[1])().play()
