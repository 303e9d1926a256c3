"""Handlers: which function carries out which command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from fibsbot.server.users import User
from fibsbot.server.world import World
from protocol.commands import Command

C = TypeVar("C")
Handler: TypeAlias = Callable[[World, User, Any], None]
"""Carries out a command of one kind for a user; raises CommandError to refuse it."""


class Handlers(dict[type[Command], Handler]):
    """A table of handlers by the kind of command, filled with decorators."""

    def on(
        self, *kinds: type[Command]
    ) -> Callable[[Callable[[World, User, C], None]], Callable[[World, User, C], None]]:
        """Make a function the handler of some kinds of commands."""

        def add(handler: Callable[[World, User, C], None]) -> Callable[[World, User, C], None]:
            self.update(dict.fromkeys(kinds, handler))
            return handler

        return add
