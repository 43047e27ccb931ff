"""A game between processes: referee, table, clock, poller, and whoever sits at the table."""
