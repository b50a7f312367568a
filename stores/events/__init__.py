"""The event log: the ordered stream chunks of a turn, which any number of readers can follow and rejoin."""
