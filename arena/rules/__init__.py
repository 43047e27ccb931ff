"""Rulesets: the named games, files and options that change them, and their explanation."""
