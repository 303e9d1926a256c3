"""One connection to a server: telnetlib3, pacing, keep-alive."""
