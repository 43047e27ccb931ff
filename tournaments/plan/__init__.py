"""Events as users write them: formats, bots, options. Plays nothing."""
