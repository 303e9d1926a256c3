"""What happened: the session log, and whatever is read from it."""
