"""What an operator wants to know of a bot at a glance."""

from __future__ import annotations

from typing import Any

from attrs import asdict, frozen

from fibsbot.bot.desk import Desk
from fibsbot.bot.lobby import Lobby
from fibsbot.bot.matches import Matches


@frozen
class Status:
    """One bot at one moment. Times of the run itself are added by whoever runs it."""

    account: str
    state: str
    """State of the connection, as protocol/session.py calls it."""
    opponent: str | None
    length: int | None
    """Points, 0 for unlimited; None while no match is on, or its length is not known."""
    score: tuple[int, int] | None
    """Ours first."""
    paused: bool
    finishing: bool
    saved: int
    """Saved matches that wait to be resumed."""
    stuck: int
    """How many of them were given up, because the server could not go on with them."""
    invitations: int
    """Invitations that wait for our answer."""
    counters: dict[str, int]

    @property
    def sentence(self) -> str:
        """Say it as people do: `playing ford, 3-2 of 5`."""
        if self.opponent is None:
            said = "waiting for a match" if self.state == "LOBBY" else self.state.lower().replace("_", " ")
        else:
            score = f", {self.score[0]}-{self.score[1]}" if self.score else ""
            length = {None: "", 0: " unlimited"}.get(self.length, f" of {self.length}")
            said = f"playing {self.opponent}{score}{length}"
        said += f", {self.stuck} saved match{'es' * (self.stuck > 1)} stuck" if self.stuck else ""
        return said + (", then leaving" if self.finishing else ", paused" if self.paused else "")

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can write it."""
        return {**asdict(self), "sentence": self.sentence}


def status_of(desk: Desk, matches: Matches, lobby: Lobby) -> Status:
    """Look at an agent's parts."""
    match, state = matches.current, desk.track.state
    return Status(
        account=desk.settings.name,
        state=desk.session.state.name,
        opponent=match.opponent if match else None,
        length=match.length if match else None,
        score=state.score if match and state else None,
        paused=desk.paused,
        finishing=desk.finishing,
        saved=len(lobby.saved),
        stuck=sum(desk.memory.of(name).stuck is not None for name in lobby.saved),
        invitations=lobby.waiting,
        counters=desk.counters.as_dict(),
    )
