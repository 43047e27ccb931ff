"""The formats: each decides the pairings of its events; `ChosenFormat` of `plan.event` has all."""
