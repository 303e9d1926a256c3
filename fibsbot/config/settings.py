"""The definition of every setting.

Where a setting is only passed on to another room, its default is that room's default and stands there alone.
"""

# ruff: noqa: RUF009 - what is called here declares attrs fields

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from fibsbot.bot.settings import AgentSettings, ChatSettings, RunSettings, SeekSettings, Timings
from fibsbot.client.settings import BackoffSettings
from fibsbot.config.fields import SettingsClass, build_from, section_field, sections_field, setting, setting_of
from fibsbot.log import LogFormat, LogLevel
from fibsbot.policy import Lengths, NamePattern, Policy
from fibsbot.records.session_log import Rotation
from fibsbot.service.settings import ServiceSettings
from fibsbot.strategies import DEFAULT_STRATEGY

DAY: Final = 86_400
MONTH: Final = 30 * DAY
MEGABYTE: Final = 2**20
_DIRECTIONS: Final = "`:from` means their invitations only, `:to` only ours."
_ROTATION: Final = Rotation()
_PASSWORD_IN_URL: Final = re.compile(r"[a-z0-9+]+://(?:[^/@]*:[^/@]*@|.*[?&](?:ssl)?password=)", re.IGNORECASE)
_PLAYER: Final[Mapping[str, Any]] = {
    "takes": "a name of letters and underscores, at most 20",
    "fits": re.compile(r"[A-Za-z_]{1,20}").fullmatch,
}


def _seconds_of(owner: SettingsClass, name: str, about: str, **more: Any) -> Any:
    """Declare a time to wait, a day at most unless it says more."""
    return setting_of(owner, name, about, **{"unit": "seconds", "most": DAY, **more})


def _length_of(owner: SettingsClass, name: str, about: str) -> Any:
    """Declare the length of a match; FIBS plays up to 99 points."""
    return setting_of(owner, name, about, unit="points", least=1, most=99)


def _policy_limit(name: str, about: str, **more: Any) -> Any:
    """Declare a limit of the policy."""
    return setting_of(Policy, name, about, least=0, **more)


class UnknownAccountError(LookupError):
    """No account has that name; the text is one line."""


@frozen
class ServerConfig:
    """Where to play."""

    host: str = setting("127.0.0.1", "Host name or address of the server; FIBS is fibs.com.", fixed=True)
    port: int = setting(4321, "TCP port of the server.", least=1, most=65535, fixed=True)
    register: bool = setting_of(
        RunSettings, "register", "Whether to make the account first if there is none.", fixed=True
    )
    tls: bool = setting(
        default=False,
        about="Whether to speak TLS with the server. FIBS itself offers none: telnet sends the password in clear.",
        fixed=True,
    )
    tls_ca: Path | None = setting(
        None,
        "File with the certificates that the server's own must be signed by, instead of this machine's.",
        example="server.pem",
        fixed=True,
    )


@frozen
class AccountConfig:
    """Who plays.

    The password never stands in this file, only its place: the first of the four that is named counts. Without any, it
    is in the systemd credential that has the account's name; a bot that is alone finds it also in the credential
    `password` and in the environment variable FIBSBOT_PASSWORD.
    """

    name: str | None = setting(None, "Name of the account.", example="marvin", fixed=True, **_PLAYER)
    password_file: Path | None = setting(
        None, "File with the password in its first line.", example="/etc/fibsbot/marvin", hidden=True, fixed=True
    )
    password_credential: str | None = setting(
        None, "Name of the systemd credential that holds the password.", example="marvin", hidden=True, fixed=True
    )
    password_env: str | None = setting(
        None, "Environment variable that holds the password.", example="MARVINS_PASSWORD", hidden=True, fixed=True
    )
    password_keyring: str | None = setting(
        None,
        "Service under which this machine's keyring has the password of the account.",
        example="fibsbot",
        blanks=True,
        hidden=True,
        fixed=True,
    )
    client: str | None = setting(
        None,
        "What the bot's program calls itself to the server, instead of its name and version.",
        example="marvins_bot",
        longest=20,
        fits=str.isascii,
        fixed=True,
    )
    own: Mapping[str, Mapping[str, Any]] = field(factory=dict, kw_only=True)
    """Settings that hold for this account alone, by section and name."""


@frozen
class BotConfig:
    """Who decides, and what there is to do."""

    strategy: str = setting(
        DEFAULT_STRATEGY,
        "Who decides; `fibsbot strategies` lists what is installed. What follows a colon goes to the strategy, as in "
        "`gnubg:2` or `ubgi:/opt/engine --fast`.",
        blanks=True,
        fixed=True,
    )
    invite: str | None = setting_of(
        AgentSettings, "invite", "Whom to invite whenever there is no match.", example="arthur", **_PLAYER
    )
    invite_length: int = _length_of(AgentSettings, "length", "Length of the matches that we invite that player to.")
    matches: int | None = setting_of(
        AgentSettings,
        "matches",
        "Log out after so many matches; without it the bot plays on for ever.",
        example=10,
        least=1,
    )
    resign: bool = setting_of(AgentSettings, "resign", "Whether to resign games that the strategy takes for lost.")
    resign_match: bool = setting_of(AgentSettings, "resign_match", "Whether to resign also where that loses the match.")


@frozen
class PolicyConfig:
    """With whom to play. Who is refused is told the reason; `fibsbot explain-invite` tells you."""

    accept: bool = setting_of(Policy, "accept", "Whether to accept invitations at all.")
    lengths: Lengths = setting_of(
        Policy,
        "lengths",
        "Lengths of the matches that are played: single ones, ranges, unlimited.",
        example=Lengths.parse(["1-9", "11", "unlimited"]),
    )
    min_rating: float | None = _policy_limit("min_rating", "Lowest rating of the other player.", example=1450.0)
    max_rating: float | None = _policy_limit("max_rating", "Highest rating of the other player.", example=1900.0)
    min_experience: int | None = _policy_limit(
        "min_experience", "Least experience of the other player: points played on this server.", example=50
    )
    max_experience: int | None = _policy_limit("max_experience", "Most experience of the other player.", example=10_000)
    experience_per_point: float = _policy_limit(
        "experience_per_point", "The other's experience must be so many times the length of the match; 0 asks for none."
    )
    block: tuple[NamePattern, ...] = setting_of(
        Policy, "block", f"Who is not played. {_DIRECTIONS}", example=("Quitter*", "ford:to")
    )
    allow: tuple[NamePattern, ...] = setting_of(
        Policy,
        "allow",
        f"If anybody stands here, nobody else is played. {_DIRECTIONS}",
        example=("arthur", "tri*:from"),
    )
    bots: bool = setting_of(Policy, "bots", "Whether to accept invitations of other bots.")
    people: bool = setting_of(Policy, "people", "Whether to accept invitations of people.")
    max_saved_games: int | None = _policy_limit(
        "max_saved_games", "Saved games that the other may have; FIBS is asked for them first.", example=8
    )
    cool_down: float = _seconds_of(
        Policy, "cool_down", "Time after a match before the next one with the same player.", least=0, most=MONTH
    )
    max_per_day: int | None = setting_of(
        Policy, "max_per_day", "New matches with the same player within 24 hours.", least=1, example=5
    )


@frozen
class SeekConfig:
    """Inviting somebody when there is nothing else to do. Nobody is invited whom the policy would refuse."""

    after: float | None = _seconds_of(
        SeekSettings,
        "after",
        "So long without a match, and somebody is invited; without a value nobody is.",
        above=0,
        example=600.0,
    )
    length: int = _length_of(SeekSettings, "length", "Length of the matches that we offer.")
    per_hour: int = setting_of(SeekSettings, "per_hour", "Invitations within an hour at most.", least=1, most=60)
    forgive: float = _seconds_of(
        SeekSettings, "forgive", "Time before somebody who has refused is invited again.", least=0, most=MONTH
    )
    bots: bool = setting_of(SeekSettings, "bots", "Whether to invite other bots.")


@frozen
class ChatConfig:
    """What to say to people. The bot never shouts, and never answers another bot."""

    greet: bool = setting_of(ChatSettings, "greet", "Whether to greet the opponent, once a match.")
    greeting: str = setting_of(
        ChatSettings,
        "greeting",
        "What to greet with.",
        blanks=True,
        takes="1 to 240 ASCII characters without **",
    )
    greet_watchers: bool = setting_of(
        ChatSettings, "greet_watchers", "Whether to welcome those who watch a match, by tell, once a match."
    )
    answer: bool = setting_of(
        ChatSettings, "answer", "Whether to answer `help`, `settings`, `stats`, `score` and `who are you`."
    )
    window: float = _seconds_of(
        ChatSettings, "window", "Time in which the same person gets one answer to the same question.", least=0
    )
    operators: tuple[str, ...] = setting_of(
        ChatSettings,
        "operators",
        "Players whose tells are orders: `status`, `pause`, `resume`, `finish`, `quit`.",
        example=("zaphod",),
        **_PLAYER,
    )
    ignore: tuple[NamePattern, ...] = setting_of(
        ChatSettings, "ignore", "Who is never answered, besides other bots: reputation services."
    )


@frozen
class TimingConfig:
    """How long to wait, in seconds."""

    pause: float = _seconds_of(Timings, "pause", "Between two commands at least.", least=0)
    commands_a_minute: int | None = setting_of(
        AgentSettings, "commands_a_minute", "No more commands than this within any minute.", least=1, example=60
    )
    think_least: float = _seconds_of(
        Timings, "think_least", "Before a play or a cube action at least, so that people can follow.", least=0
    )
    think_most: float = _seconds_of(Timings, "think_most", "Before a play or a cube action at most.", least=0)
    deadline: float = _seconds_of(
        RunSettings, "deadline", "For a decision of the strategy; then others are asked.", above=0, fixed=True
    )
    watchdog: float = _seconds_of(
        Timings, "watchdog", "For the server's next step, before asking for the board.", above=0
    )
    patience: float = _seconds_of(
        Timings, "patience", "For the opponent's next step, before asking for the board: lines get lost.", above=0
    )
    keep_alive: float = _seconds_of(
        Timings, "keep_alive", "Between two commands at most, so as not to be idle.", above=0
    )
    silence: float = _seconds_of(
        Timings, "silence", "Without a byte from the server, before the connection is taken for dead.", above=0
    )
    invitation: float = _seconds_of(
        Timings, "invitation", "For the rest of an invitation, before answering it.", least=0
    )
    retry: float = _seconds_of(Timings, "retry", "Before inviting the same player again.", above=0)
    left: float = _seconds_of(
        Timings, "left", "After an opponent has left a match, before inviting them once to go on with it.", above=0
    )
    finish: float = _seconds_of(
        Timings, "finish", "For the match to end once an end was asked for; then the server saves it.", above=0
    )
    connect: float = _seconds_of(RunSettings, "connect_timeout", "For a connection to be made.", above=0, fixed=True)


@frozen
class ReconnectConfig:
    """How pauses grow between attempts to connect again."""

    first: float = _seconds_of(BackoffSettings, "first", "The first pause.", above=0, fixed=True)
    longest: float = _seconds_of(BackoffSettings, "longest", "No pause grows longer than this.", above=0, fixed=True)
    factor: float = setting_of(
        BackoffSettings, "factor", "How much longer each pause is than the one before.", least=1, fixed=True
    )
    jitter: float = setting_of(
        BackoffSettings, "jitter", "Each pause gets a random part of itself added, up to this.", least=0, fixed=True
    )
    restart: float = _seconds_of(
        BackoffSettings,
        "restart",
        "The least pause after the server has said that it restarts or shuts down.",
        above=0,
        fixed=True,
    )
    healthy: float = _seconds_of(
        BackoffSettings, "healthy", "A connection that lasted so long starts the pauses anew.", above=0, fixed=True
    )


@frozen
class LogConfig:
    """What is written down."""

    format: LogFormat = setting(LogFormat.CONSOLE, "Form of the program's own log.")
    level: LogLevel = setting(LogLevel.INFO, "What is worth a line in the program's own log.")
    directory: Path = setting(Path("logs"), "Where session logs go, the exact bytes of each connection.", fixed=True)
    max_megabytes: int = setting(
        _ROTATION.max_bytes // MEGABYTE,
        "A session log that would grow beyond this begins a new file.",
        unit="MB",
        least=1,
        most=100_000,
        fixed=True,
    )
    max_total_megabytes: int = setting(
        _ROTATION.max_total_bytes // MEGABYTE,
        "All session logs of an account together: the oldest are removed when there is more; 0 does not limit them.",
        unit="MB",
        least=0,
        most=1_000_000,
        fixed=True,
    )
    daily: bool = setting_of(Rotation, "daily", "Whether a new file begins with each day, UTC.", fixed=True)
    keep_days: int = setting_of(
        Rotation,
        "keep_days",
        "Old session logs, which are compressed, are removed after this; 0 keeps them for ever.",
        unit="days",
        least=0,
        most=36_500,
        fixed=True,
    )


@frozen
class ServiceConfig:
    """The process of `fibsbot run`."""

    store: str | None = setting(
        "fibsbot.db",
        "Where matches, opponents and ratings are remembered: a file, or the URL of a database such as"
        " postgresql+psycopg://host/name, which finds its password in ~/.pgpass.",
        takes="a path, or a URL without a password",
        fits=lambda text: not _PASSWORD_IN_URL.match(text),
        blanks=True,
        hidden=True,
        fixed=True,
    )
    control: Path | None = setting(
        Path("fibsbot.sock"),
        "Socket at which `fibsbot status` and others give their orders.",
        takes="a path of at most 100 bytes",
        fits=lambda path: len(os.fsencode(path)) <= 100,  # sockets take no more than 107
        fixed=True,
    )
    web_port: int | None = setting_of(
        ServiceSettings,
        "web_port",
        "Port on 127.0.0.1 for /metrics and /healthz; 0 takes a free one.",
        least=0,
        most=65_535,
        example=9464,
        fixed=True,
    )
    live: bool = setting_of(
        ServiceSettings,
        "live",
        "Whether browsers on this machine see boards, moves and chat at /live on that port.",
        fixed=True,
    )
    thinkers: int = setting_of(
        ServiceSettings,
        "thinkers",
        "Decisions that strategies work on at the same time, all accounts together.",
        least=1,
        most=256,
        fixed=True,
    )


@frozen
class Config:
    """All settings, by section."""

    server: ServerConfig = section_field(ServerConfig, apart=True)
    accounts: tuple[AccountConfig, ...] = sections_field("account", AccountConfig)
    bot: BotConfig = section_field(BotConfig, apart=True)
    policy: PolicyConfig = section_field(PolicyConfig, apart=True)
    seek: SeekConfig = section_field(SeekConfig, apart=True)
    chat: ChatConfig = section_field(ChatConfig, apart=True)
    timing: TimingConfig = section_field(TimingConfig, apart=True)
    reconnect: ReconnectConfig = section_field(ReconnectConfig, apart=True)
    log: LogConfig = section_field(LogConfig)
    service: ServiceConfig = section_field(ServiceConfig)

    def account_called(self, name: str | None) -> AccountConfig:
        """Return an account by its name; None means the only one. Raises UnknownAccountError."""
        found = [it for it in self.accounts if name in {None, it.name}]
        if len(found) == 1:
            return found[0]
        names = ", ".join(it.name or "one without a name" for it in self.accounts) or "none"
        raise UnknownAccountError(f"expected the name of an account ({names}), got {name or 'none'}")

    def only(self, account: AccountConfig) -> Config:
        """Return what holds for this account: its own settings go before those of all."""
        own = {part: evolve(getattr(self, part), **values) for part, values in account.own.items()}
        return evolve(self, accounts=(evolve(account, own={}),), **own)

    def policy_of(self, name: str | None) -> Policy:
        """Return with whom an account plays; None: the only one, or what holds for all. Raises UnknownAccountError."""
        if name is None and len(self.accounts) != 1:
            return build_from(Policy, self.policy)
        return build_from(Policy, self.only(self.account_called(name)).policy)

    def service_settings(self) -> ServiceSettings:
        """Return the settings of the process."""
        return build_from(ServiceSettings, self.service, deadline=self.timing.deadline)
