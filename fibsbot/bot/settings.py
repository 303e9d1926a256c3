"""What an operator can choose about the agent and its run."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import Attribute, evolve, field, fields, frozen
from attrs.validators import ge, gt, optional

from fibsbot import __version__
from fibsbot.client.settings import BackoffSettings, TlsSettings
from fibsbot.policy import NamePattern, Policy
from fibsbot.records.session_log import Rotation


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
    left: float = field(default=300.0, validator=gt(0))
    """After an opponent has left a match, before inviting them once to go on with it."""
    silence: float = field(default=300.0, validator=gt(0))
    """Without a byte from the server, before the connection is taken for dead."""
    finish: float = field(default=3600.0, validator=gt(0))
    """For the match to end, once an end was asked for; then it is left to the server to save it."""
    think_least: float = field(default=0.0, validator=ge(0))
    """Before a play or a cube action, counted from when the decision was there, so that people can follow.

    The wait is chosen at random between this and the next. A throw and what leaves no choice do not wait.
    """
    think_most: float = field(default=0.0, validator=ge(0))
    patience: float = field(default=60.0, validator=gt(0))
    """For the opponent's next step, before asking for the board: a line may have been lost."""

    def scaled(self, factor: float) -> Timings:
        """Return the same waits, all multiplied."""
        return evolve(self, **{f.name: getattr(self, f.name) * factor for f in fields(Timings)})


def _one_line(_: object, attribute: Attribute[str], text: str) -> None:
    """Check that a text can be said: the server would cut or spoil anything else."""
    if not re.fullmatch(r"[ -~]{1,240}", text) or "**" in text or not text.strip():
        raise ValueError(f"expected {attribute.name} of 1 to 240 ASCII characters without **, got {text!r}")


@frozen
class ChatSettings:
    """What the bot says to people. It never shouts."""

    greet: bool = True
    """Whether to greet the opponent, once a match."""
    greeting: str = field(
        default="Hello, I am a computer program. If I stop moving, kibitz `move`; tell me `help` for more.",
        validator=_one_line,
    )
    greet_watchers: bool = False
    """Whether to welcome, by tell and once a match, those who watch us."""
    answer: bool = True
    """Whether to answer `help`, `settings`, `stats`, `score` and `who are you`."""
    window: float = field(default=300.0, validator=ge(0))
    """Seconds in which the same person gets one answer to the same question."""
    operators: tuple[str, ...] = ()
    """Players whose tells are commands: `status`, `pause`, `resume`, `finish`, `quit`."""
    ignore: tuple[NamePattern, ...] = (NamePattern("RepBot*"), NamePattern("MissManners"))
    """Players who are never answered, besides other bots: reputation services."""


@frozen
class SeekSettings:
    """Inviting somebody when there is nothing else to do."""

    after: float | None = None
    """Seconds without a match before we invite somebody; None: never."""
    length: int = field(default=5, validator=ge(1))
    """Points of the matches that we offer."""
    per_hour: int = field(default=6, validator=ge(1))
    """Invitations within an hour, at most."""
    forgive: float = field(default=86_400.0, validator=ge(0))
    """Seconds before somebody who has refused is invited again."""
    bots: bool = False
    """Whether to invite other bots."""


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
    policy: Policy = field(factory=Policy)
    """Whom we play."""
    seek: SeekSettings = field(factory=SeekSettings)
    chat: ChatSettings = field(factory=ChatSettings)
    resign: bool = True
    """Whether to resign what the strategy takes for lost."""
    resign_match: bool = False
    """Whether to resign also where that loses the match."""
    matches: int | None = None
    """Log out after so many finished matches; None plays on for ever."""
    commands_a_minute: int | None = field(default=None, validator=optional(ge(1)))
    """No more commands than this within any minute; None does not limit them."""
    seed: int | None = None
    """For what is left to chance (how long to think); None: another one each run."""
    strict: bool = False
    """Whether a difference between our state and the server's board is an error (tests, replay)."""
    timings: Timings = field(factory=Timings)


@frozen
class RunSettings:
    """Where to play, and everything about the run that is not about the play."""

    host: str
    port: int
    agent: AgentSettings
    tls: TlsSettings | None = None
    """Whether the server is spoken to through TLS, and how it is known."""
    register: bool = False
    """Whether to make the account first if there is none."""
    deadline: float = field(default=30.0, validator=gt(0))
    """Seconds that a strategy has for one decision."""
    connect_timeout: float = field(default=15.0, validator=gt(0))
    """Seconds that a connection may take to be made, and each step of a registration."""
    pauses: BackoffSettings = field(factory=BackoffSettings)
    """Between attempts to connect again."""
    retry_first: bool = False
    """Whether to try again when the very first connection cannot be made."""
    log_path: Path | None = None
    """Where to write the session log."""
    rotation: Rotation | None = None
    """When the session log begins a new file; None: never."""
