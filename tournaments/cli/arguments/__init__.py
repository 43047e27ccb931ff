"""Arguments and options that several commands share: their names, their completion."""
