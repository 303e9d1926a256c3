"""What an operator can choose about the agent."""

from __future__ import annotations

from attrs import evolve, field, fields, frozen
from attrs.validators import ge, gt

from fibsbot import __version__


@frozen
class Timings:
    """How long the agent waits, in seconds."""

    watchdog: float = field(default=8.0, validator=gt(0))
    """For the server's next step, before asking for the board (docs/protocol.md, pitfall 12)."""
    keep_alive: float = field(default=120.0, validator=gt(0))
    """Between two commands at most, so that the server does not take us for idle (pitfall 20)."""
    pause: float = field(default=1.5, validator=ge(0))
    """Between two commands at least (pitfall 21)."""
    invitation: float = field(default=1.0, validator=ge(0))
    """For the third line of an invitation, the warning about a saved match (pitfall 15)."""
    retry: float = field(default=30.0, validator=gt(0))
    """Before inviting the same player again."""

    def scaled(self, factor: float) -> Timings:
        """Return the same waits, all multiplied."""
        return evolve(self, **{f.name: getattr(self, f.name) * factor for f in fields(Timings)})


@frozen
class AgentSettings:
    """Who plays, against whom and when it stops."""

    name: str
    """The account's name."""
    password: str = field(repr=False)
    client: str = field(default=f"fibsbot_{__version__}")
    """How we call ourselves to the server: at most 20 characters, no blanks."""
    invite: str | None = None
    """Whom to invite whenever there is no match."""
    length: int = field(default=1, validator=ge(1))
    """Points of the matches that we invite to."""
    min_length: int = field(default=1, validator=ge(1))
    """Invitations to shorter matches are refused."""
    max_length: int = field(default=25, validator=ge(1))
    """Invitations to longer matches are refused."""
    unlimited: bool = False
    """Whether to play unlimited matches, which never end (pitfall 16)."""
    accept: bool = True
    """Whether to accept invitations at all."""
    matches: int | None = None
    """Log out after so many finished matches; None plays on for ever."""
    strict: bool = False
    """Whether a difference between our state and the server's board is an error (tests, replay)."""
    timings: Timings = field(factory=Timings)

    def length_fault(self, length: int) -> str | None:
        """Return the sentence that refuses a match of this length (0 is unlimited), None for a length that we play."""
        if not length:
            return None if self.unlimited else "I don't play unlimited matches."
        if not self.min_length <= length <= self.max_length:
            return f"I play matches of {self.min_length} to {self.max_length} points."
        return None
