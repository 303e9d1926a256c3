"""The definition of every setting.

Where a setting is only passed on to another room, its default is that room's default and stands there alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from fibsbot.bot.runner import RunSettings
from fibsbot.bot.settings import AgentSettings, Timings
from fibsbot.client.backoff import Pauses
from fibsbot.config.declaring import Section, passed_on, setting
from fibsbot.log import LogFormat, LogLevel
from fibsbot.policy import Lengths, Policy


def _wait(owner: Section, name: str, about: str, **more: Any) -> Any:
    """Declare a time to wait, a day at most."""
    return passed_on(owner, name, about, unit="seconds", most=86_400, **more)


def _length(name: str, about: str) -> Any:
    """Declare the length of a match; FIBS plays up to 99 points."""
    return passed_on(AgentSettings, name, about, unit="points", least=1, most=99)


@frozen
class ServerConfig:
    """Where to play."""

    host: str = setting("127.0.0.1", "Host name or address of the server; FIBS is fibs.com.")
    port: int = setting(4321, "TCP port of the server.", least=1, most=65535)
    register: bool = passed_on(RunSettings, "register", "Whether to make the account first if there is none.")


@frozen
class AccountConfig:
    """Who plays. The password never stands in this file: it comes from a file of its own or from the environment."""

    name: str | None = setting(None, "Name of the account.", example="marvin", player=True)
    password_file: Path | None = setting(  # noqa: RUF009 - an attrs field
        None,
        "File with the password in its first line; goes before the environment.",
        example="/run/secrets/fibsbot",
        hidden=True,
    )
    password_env: str = setting("FIBSBOT_PASSWORD", "Environment variable that holds the password.", hidden=True)
    client: str | None = setting(
        None, "What we call ourselves to the server, instead of name and version.", example="marvins_bot", longest=20
    )


@frozen
class BotConfig:
    """What to play and with whom."""

    strategy: str = setting("handmade", "Who decides; `fibsbot strategies` lists what is installed.")
    accept: bool = passed_on(Policy, "accept", "Whether to accept invitations.")
    min_length: int = setting(1, "Shorter matches are not played.", unit="points", least=1, most=99)
    max_length: int = setting(25, "Longer matches are not played.", unit="points", least=1, most=99)
    accept_unlimited: bool = setting(
        default=False, about="Whether to play unlimited matches, which end only when somebody leaves."
    )
    invite: str | None = setting(None, "Whom to invite whenever there is no match.", example="arthur", player=True)
    invite_length: int = _length("length", "Length of the matches that we invite to.")
    matches: int | None = setting(None, "Log out after so many matches; play on for ever without.", example=10, least=1)


@frozen
class TimingConfig:
    """How long to wait."""

    pause: float = _wait(Timings, "pause", "Between two commands at least.", least=0)
    deadline: float = _wait(RunSettings, "deadline", "For a decision of the strategy; then others are asked.", above=0)
    watchdog: float = _wait(Timings, "watchdog", "For the server's next step, before asking for the board.", above=0)
    keep_alive: float = _wait(Timings, "keep_alive", "Between two commands at most, so as not to be idle.", above=0)
    invitation: float = _wait(Timings, "invitation", "For the rest of an invitation, before answering it.", least=0)
    retry: float = _wait(Timings, "retry", "Before inviting the same player again.", above=0)
    connect: float = _wait(RunSettings, "connect_timeout", "For a connection to be made.", above=0)


@frozen
class ReconnectConfig:
    """How pauses grow between attempts to connect again."""

    first: float = _wait(Pauses, "first", "The first pause.", above=0)
    longest: float = _wait(Pauses, "longest", "No pause grows longer than this.", above=0)
    factor: float = passed_on(Pauses, "factor", "How much longer each pause is than the one before.", least=1)
    jitter: float = passed_on(Pauses, "jitter", "Each pause gets a random part of itself added, up to this.", least=0)
    healthy: float = _wait(Pauses, "healthy", "A connection that lasted so long starts the pauses anew.", above=0)


@frozen
class LogConfig:
    """What is written down."""

    directory: Path = setting(Path("logs"), "Where session logs go, the exact bytes of each connection.")  # noqa: RUF009 - an attrs field
    format: LogFormat = setting(LogFormat.CONSOLE, "Form of the program's own log.")  # noqa: RUF009
    level: LogLevel = setting(LogLevel.INFO, "What is worth a line in the program's own log.")  # noqa: RUF009


@frozen
class Config:
    """All settings, by section."""

    server: ServerConfig = field(factory=ServerConfig)
    account: AccountConfig = field(factory=AccountConfig)
    bot: BotConfig = field(factory=BotConfig)
    timing: TimingConfig = field(factory=TimingConfig)
    reconnect: ReconnectConfig = field(factory=ReconnectConfig)
    log: LogConfig = field(factory=LogConfig)

    def run_settings(self, name: str, password: str, log_path: Path | None = None) -> RunSettings:
        """Return what a run needs; name and password are passed in, for a command line may know better."""
        bot, timing, reconnect = self.bot, self.timing, self.reconnect
        agent = AgentSettings(
            name=name,
            password=password,
            invite=bot.invite,
            length=bot.invite_length,
            policy=Policy(
                accept=bot.accept,
                lengths=Lengths(((bot.min_length, bot.max_length),), bot.accept_unlimited),
            ),
            matches=bot.matches,
            timings=Timings(timing.watchdog, timing.keep_alive, timing.pause, timing.invitation, timing.retry),
        )
        return RunSettings(
            host=self.server.host,
            port=self.server.port,
            agent=evolve(agent, client=self.account.client) if self.account.client else agent,
            register=self.server.register,
            deadline=timing.deadline,
            connect_timeout=timing.connect,
            pauses=Pauses(reconnect.first, reconnect.longest, reconnect.factor, reconnect.jitter, reconnect.healthy),
            log_path=log_path,
        )

    def warnings(self) -> tuple[str, ...]:
        """Return what is allowed, but cannot be meant, a sentence each."""
        bot, reconnect = self.bot, self.reconnect
        found = (
            (bot.min_length > bot.max_length, "bot.min_length is above bot.max_length: no invitation can be accepted"),
            (not bot.accept and bot.invite is None, "bot.accept is false and bot.invite is missing: nothing is played"),
            (reconnect.first > reconnect.longest, "reconnect.first is above reconnect.longest: every pause is longest"),
        )
        return tuple(text for useless, text in found if useless)
