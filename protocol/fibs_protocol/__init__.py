"""FIBS and CLIP without I/O: parses and writes typed messages and commands, for both ends of a connection."""
