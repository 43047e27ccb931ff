"""Views of an event while it is played: `show` and `watch`. Changes nothing."""
