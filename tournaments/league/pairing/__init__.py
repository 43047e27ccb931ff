"""The choice of a round's tables: those that tell most. Pure, so that `verify` can repeat it."""
