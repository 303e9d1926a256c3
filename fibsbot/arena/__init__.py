"""Server and bots together in one process: the demo, and long runs of matches."""
