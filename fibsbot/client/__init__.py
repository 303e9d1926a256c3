"""The client side of a connection: telnetlib3, TLS, and the growing pauses between attempts.

The modules:

    connection.py one connection, the only user of telnetlib3
    backoff.py    the pauses between attempts to connect
    settings.py   the settings of all these, without slow imports
"""
