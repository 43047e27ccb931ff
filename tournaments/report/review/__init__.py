"""The review of an event's decisions: its sums, its part of the report, its CSV."""
