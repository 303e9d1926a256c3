"""FIBS and CLIP without I/O: bytes to typed messages and commands, and back, for both ends of a connection."""
