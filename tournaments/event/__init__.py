"""An event that is or was played: its folder, ledger, luck and facts, and how it grows."""
