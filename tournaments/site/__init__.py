"""Views of an event for people: what may be seen of it, by whom, how late; it changes nothing."""
