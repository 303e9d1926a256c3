"""The client side of a connection: telnetlib3, TLS, and the growing pauses between attempts."""
