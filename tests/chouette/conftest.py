"""Fixtures of the tests of chouettes: those of the server's tests."""

from tests.server.conftest import _close_connections, _close_databases

__all__ = ["_close_connections", "_close_databases"]
