"""The conformance walk: talks to one bot as the referee would, and says what to mend."""
