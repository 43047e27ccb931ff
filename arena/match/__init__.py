"""A game between processes: referee, table, clock, poller, and the players in the seats."""
