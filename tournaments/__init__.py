"""Many games: events, schedules, ledgers, ratings, reports, and the program's entry."""
