"""One connection to a server: telnetlib3, TLS, and the growing pauses between attempts."""
