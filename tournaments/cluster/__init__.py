"""One event on many machines: sittings go out as tasks of a distributed engine, results return."""
