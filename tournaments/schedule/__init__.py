"""Tables, seats and boards: who meets whom, and what is played next. Pure."""
