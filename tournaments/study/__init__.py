"""Studies of logged games: luck, reviews, lost points, tables of decisions."""
