"""Read-only views of an event while it is played: `show` and `watch`."""
