"""The parts of a report about ratings: standings, comparisons, the meaning of the numbers."""
