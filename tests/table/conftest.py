"""Fixtures of the tests of tables: connections of their telnet users are closed as in the server's tests."""

from tests.server.conftest import _close_connections

__all__ = ["_close_connections"]
