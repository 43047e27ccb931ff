"""An event's folder: ledger, seeds, history, and how an event grows."""
