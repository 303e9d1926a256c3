"""Settings of an agent and of its run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from fibs_protocol.words import GUEST
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.match import LONGEST_MATCH
from fibsbot.policy import NamePattern, Policy, full_game_name, is_game, is_player_name, names_laws
from fibsbot.policy.name_lists import ListSettings
from fibsbot.records.session_log import Rotation
from fibsbot.rules.law_words import LawWordsError, name_same_laws
from fibsbot.setting import MONTH, seconds, setting, setting_fields
from fibsbot.strategies import DEFAULT_STRATEGY
from fibsbot.version import __version__

PLAYER: Final[Mapping[str, Any]] = {
    "expected": "a name of letters and underscores, at most 20",
    "check": is_player_name,
}
"""Fields of a setting that takes names of players."""


def is_account_name(name: str) -> bool:
    """Return whether an account may have this name."""
    return is_player_name(name) and name.lower() != GUEST


ACCOUNT: Final[Mapping[str, Any]] = {
    "expected": f"a name of letters and underscores, at most 20, not {GUEST!r}, which servers keep for registering",
    "check": is_account_name,
}
"""Fields of a setting that takes the name of an account."""


@frozen
class Timings:
    """Waits, in seconds."""

    # docs/reference/protocol.md has the reasons: pitfall 21 (pause), 12 (watchdog), 20 (keep_alive), 15 (invitation)

    pause: float = seconds(1.5, "Minimum time between two commands.", minimum=0)
    commands_a_minute: int | None = setting(None, "Maximum number of commands within a minute.", minimum=1, example=60)
    think_least: float = seconds(
        0.0, "Minimum time before a play or a cube action, so that people can follow.", minimum=0
    )
    """Counted from when there was something to decide; a roll and forced actions do not wait."""
    think_most: float = seconds(
        0.0, "Maximum time before a play or a cube action; the wait is random between the two.", minimum=0
    )
    deadline: float = seconds(
        30.0, "Time that a strategy has for a decision before the next one is asked.", above=0, needs_restart=True
    )
    watchdog: float = seconds(
        8.0, "Wait for the server's next step before asking for the board.", above=0
    )  # pitfall 12
    patience: float = seconds(
        60.0, "Wait for the opponent's next step before asking for the board, because lines get lost.", above=0
    )
    keep_alive: float = seconds(
        120.0, "Maximum time between two commands, so as not to be disconnected as idle.", above=0
    )
    silence: float = seconds(
        300.0, "Time without a byte from the server after which the connection is considered dead.", above=0
    )
    invitation: float = seconds(
        1.0, "Wait for the third line of an invitation, about a saved match, before answering.", minimum=0
    )
    retry: float = seconds(30.0, "Wait before inviting the same player again.", above=0)
    left: float = seconds(
        300.0, "Wait after an opponent has left a match before inviting them, once, to resume it.", above=0
    )
    finish: float = seconds(
        3600.0, "Wait for the match to end after a stop was requested; then the server saves it.", above=0
    )
    connect: float = seconds(
        15.0, "Wait for a connection, and for each step of a registration.", above=0, needs_restart=True
    )

    def scaled(self, factor: float) -> Timings:
        """Return the same waits at another speed: all multiplied but the deadline and the time to connect."""
        waits = {attribute.name for attribute, info in setting_fields(Timings) if info.unit and not info.needs_restart}
        return evolve(self, **{name: getattr(self, name) * factor for name in waits})


PLACEHOLDERS: Final = ("opponent", "me", "score", "length")
"""Names in braces that stand for something in a greeting or goodbye."""
_PLACEHOLDER: Final = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})\}}")
_LINE: Final = (
    f"1 to 240 ASCII characters without ** and without braces but {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}"
)


def placeholders_in(text: str) -> frozenset[str]:
    """Return the names in braces that a text contains."""
    return frozenset(_PLACEHOLDER.findall(text))


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """Return a greeting or goodbye with values in place of the names in braces."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _is_chat_line(text: str) -> bool:
    """Whether the server passes a text on as it is: it would cut or spoil anything else.

    Braces are those of PLACEHOLDERS: any others were meant to stand for something.
    """
    plain = _PLACEHOLDER.sub("", text)
    return bool(re.fullmatch(r"[ -~]{1,240}", text)) and not re.search(r"\*\*|[{}]", plain) and bool(text.strip())


@frozen
class ChatSettings:
    """What the bot says to people. It never shouts, and never answers another bot."""

    greet: bool = setting(default=True, help="Whether to greet the opponent, once per match.")
    greeting: str = setting(
        "Hello, I'm a computer program. If I get stuck, kibitz `move`. For more commands, tell me `help`.",
        "Text of the greeting; `{opponent}` stands for the opponent's name, `{me}` for the bot's, `{score}` for the"
        " score, the bot's points first, `{length}` for the points of the match, or `unlimited`.",
        blanks=True,
        expected=_LINE,
        check=_is_chat_line,
    )
    goodbye: str | None = setting(
        None,
        "What to tell the opponent after a match that was played to its end, with the same names in braces; without a"
        " value nothing.",
        blanks=True,
        expected=_LINE,
        check=_is_chat_line,
        example="Thank you for the match, {opponent}!",
    )
    greet_watchers: bool = setting(
        default=False, help="Whether to welcome players who watch a match, by tell, once per match."
    )
    answer: bool = setting(
        default=True, help="Whether to answer `help`, `settings`, `stats`, `score` and `who are you`."
    )
    evaluation: bool = setting(
        default=False,
        help="Whether to tell the equity of its last decision to those who watch the match, play none and ask for"
        " `eval` by tell. Nothing shows whether a watcher passes it on to the opponent.",
    )
    window: float = seconds(300.0, "Time within which a player gets only one answer to the same question.", minimum=0)
    operators: tuple[str, ...] = setting(
        (),
        "Players whose tells are orders: `status`, `pause`, `resume`, `invite`, `block`, `unblock`, `say`, `finish`,"
        " `quit`.",
        example=("zaphod",),
        **PLAYER,
    )
    ignore: tuple[NamePattern, ...] = setting(
        (NamePattern("RepBot*"), NamePattern("MissManners")),
        "Players who are never answered, besides other bots: reputation services.",
    )


@frozen
class SeekSettings:
    """Inviting players when there is no match. Nobody is invited whom the policy would refuse."""

    after: float | None = seconds(
        None, "Time without a match before somebody is invited; without a value nobody is.", above=0, example=600.0
    )
    length: int = setting(5, "Length of the matches to offer.", unit="points", minimum=1, maximum=LONGEST_MATCH)
    lengths: tuple[int, ...] = setting(
        (),
        "Lengths of the matches to offer in turn, in place of `length`.",
        unit="points",
        minimum=1,
        maximum=LONGEST_MATCH,
        example=(3, 5, 7),
    )
    per_hour: int = setting(6, "Maximum number of invitations within an hour.", minimum=1, maximum=60)
    forgive: float = seconds(
        86_400.0, "Time before a player who has refused is invited again.", minimum=0, maximum=MONTH
    )
    bots: bool = setting(default=False, help="Whether to invite other bots.")

    @property
    def lengths_in_turn(self) -> tuple[int, ...]:
        """The lengths to offer, one after the other."""
        return self.lengths or (self.length,)


@frozen
class PlaySettings:
    """The strategy, and which matches to play."""

    strategy: str = setting(
        DEFAULT_STRATEGY,
        "Strategy that plays; `fibsbot strategies` lists those installed. The text after a colon is passed to the "
        "strategy, as in `gnubg:2` or `ubgi:/opt/engine --fast`.",
        blanks=True,
        needs_restart=True,
    )
    invite: str | None = setting(None, "Player to invite whenever there is no match.", example="arthur", **PLAYER)
    invite_length: int = setting(
        1, "Length of the matches to invite that player to.", unit="points", minimum=1, maximum=LONGEST_MATCH
    )
    invite_lengths: tuple[int, ...] = setting(
        (),
        "Lengths of those matches in turn, in place of `invite_length`.",
        unit="points",
        minimum=1,
        maximum=LONGEST_MATCH,
        example=(3, 5, 7),
    )
    invite_laws: str | None = setting(
        None,
        "Laws of those matches, other than those of FIBS, as `invite NAME 5 laws ...` names them.",
        blanks=True,
        example="1931 point",
        expected="the words of laws, such as 1931 point",
        check=names_laws,
    )
    invite_game: str | None = setting(
        None,
        "Game of those matches, if it is not backgammon, with options after colons; only the embedded server has it.",
        example="plakoto",
        expected="the name of a game, such as plakoto",
        check=is_game,
        normal=full_game_name,
    )
    matches: int | None = setting(
        None, "Number of matches after which to log out; without a value the bot never stops.", minimum=1, example=10
    )
    resign: bool = setting(default=True, help="Whether to resign games that the strategy considers lost.")
    resign_match: bool = setting(default=False, help="Whether to resign also if that loses the match.")

    @property
    def lengths_in_turn(self) -> tuple[int, ...]:
        """The lengths to invite that player to, one after the other."""
        return self.invite_lengths or (self.invite_length,)


@frozen
class AgentSettings:
    """All settings of an agent."""

    name: str
    """The account's name."""
    password: str = field(repr=False)
    client: str = f"fibsbot_{__version__}"
    """Name of the program, sent to the server: at most 20 characters, no blanks."""
    play: PlaySettings = field(factory=PlaySettings)
    policy: Policy = field(factory=Policy)
    seek: SeekSettings = field(factory=SeekSettings)
    chat: ChatSettings = field(factory=ChatSettings)
    timings: Timings = field(factory=Timings)
    lists: ListSettings = field(factory=ListSettings)
    seed: int | None = None
    """Seed of the random waits; None: a different one each run."""
    strict: bool = False
    """Whether a difference between our state and the server's board is an error (tests, replay)."""

    @property
    def knows_laws(self) -> bool:
        """Whether matches by other laws than those of FIBS are played at all."""
        return bool(self.policy.laws or self.play.invite_laws)

    def plays_by(self, words: str) -> bool:
        """Return whether a match by these laws is played: one that we invite to, or that the policy accepts."""
        invited = self.play.invite_laws
        try:
            return bool(invited and name_same_laws(invited, words)) or self.policy.plays_by(words)
        except LawWordsError:
            return False

    @property
    def knows_games(self) -> bool:
        """Whether games other than backgammon are played at all."""
        return bool(self.policy.games or self.play.invite_game)


@frozen
class RunSettings:
    """All settings of the run of an account."""

    server: ServerSettings
    agent: AgentSettings
    backoff: BackoffSettings = field(factory=BackoffSettings)
    """Pauses between attempts to connect again."""
    retry_first: bool = False
    """Whether to try again if the very first connection fails."""
    log_path: Path | None = None
    """File of the session log; None: there is none."""
    rotation: Rotation | None = None
    """When the session log begins a new file; None: never."""
    match_directory: Path | None = None
    """Where `fibsbot run` writes each finished match into a file of its own; None: nowhere."""
