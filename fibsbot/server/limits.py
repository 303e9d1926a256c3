"""Limits: what one connection may use, so that nobody can harm the others."""

from __future__ import annotations

from attrs import frozen


@frozen
class Limits:
    """Bounds of the server. A connection that passes one is slowed down, cut short or closed; the others never wait."""

    line: int = 1024
    """Characters of a line; the rest of a longer one is dropped."""
    send_buffer: int = 2**20
    """Bytes waiting for a client that does not read; with more the connection is closed."""
    connections: int = 2000
    """Connections at a time."""
    connections_per_address: int = 1500
    """Connections at a time from one address. Bots and tests all come from this machine's own."""
    login_time: float = 120.0
    """Seconds to log in."""
    login_attempts: int = 5
    """Wrong passwords, after which the connection is closed."""
    idle_time: float = 3600.0
    """Seconds without a command, after which the connection is closed ("about an hour"; specification: "Timeout")."""
    commands_per_second: float = 500.0
    """Commands that one connection may send in the long run; a faster one is read more slowly."""
    burst: int = 200
    """Commands that it may send at once before that."""
    bytes_per_second: float = 2.0**16
    """Bytes that one connection may send in the long run; more are read more slowly."""
    burst_bytes: int = 2**16
    """Bytes that it may send at once before that."""
    receive_buffer: int = 2**14
    """Bytes that the system keeps of what a connection has sent and we have not read (it may double them)."""
    accounts: int = 100_000
    """Users that can be registered."""
    password_cost: int = 2**14
    """Cost of a password's hash (scrypt's N); a test may want it cheap."""
