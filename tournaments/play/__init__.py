"""The playing of an event: sittings side by side, on all cores or on many machines."""
