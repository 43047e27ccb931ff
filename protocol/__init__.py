"""The shared vocabulary: tiles, rulesets, messages, records and their JSON. No game is played."""

__version__ = "0.1.0"
