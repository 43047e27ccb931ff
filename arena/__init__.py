"""One game: the engine, the referee, the table, the log."""
