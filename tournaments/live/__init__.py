"""Read-only views of an event while it is played: the display of `run`, `show` and `watch`."""
