"""What is said and written down: tiles, rules, messages, records and their codec."""

__version__ = "0.1.0"
