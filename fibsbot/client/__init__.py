"""The client side of a connection: telnetlib3, TLS, and the growing pauses between attempts.

The modules:

    connection.py one connection, the only user of telnetlib3
    settings.py   TLS and pauses, without slow imports
"""
