"""The live page's content for one account: the board, the moves of the game, the chat, the last games.

Nothing is drawn before a browser asks for it: until then a message costs no more than a note that something has
changed.
"""

from __future__ import annotations

import datetime as dt
import enum
import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import evolve, frozen

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibsbot.bot.agent import Agent
from fibsbot.bot.tracked_match import TrackedMatch
from fibsbot.drawing.caption import caption_of_game
from fibsbot.drawing.markup import clean
from fibsbot.drawing.scene import ViewOptions, last_play, scene_of_game, show_play
from fibsbot.drawing.svg import scene_svg
from fibsbot.drawing.themes import Theme
from fibsbot.position import Play
from fibsbot.records.session_log import utc_now
from fibsbot.redaction import redact, redact_record
from fibsbot.replay import event_text, events
from fibsbot.rules.game import play
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.table.remote_match import FollowedMatch
from fibsbot.transcript import Gap, Step, walk

LINES: Final = 100
"""Maximum number of chat lines that are kept."""
MOVES: Final = 600
"""Maximum number of entries of a game that are kept; hardly any game has a quarter of that."""
GAMES: Final = 20
"""Maximum number of finished games that are kept."""
LONGEST: Final = 300
"""Maximum length of a chat line."""
_VIEW: Final = ViewOptions(theme=Theme.PAGE, fixed_numbers=True)
"""The bot sits below, and points have its numbers."""


@frozen
class BoardPicture:
    """A board as the page shows it."""

    svg: str
    title: str
    """The open decision, in words."""


def board_picture(match: FollowedMatch, last: tuple[GameState, Play] | None) -> BoardPicture:
    """Draw a match, with the last play, made in the game before it, if the board is still as it left it."""
    state, names = match.state, match.names
    scene, caption = scene_of_game(state, match.seat, names), caption_of_game(state, names)
    if last is not None:
        before, made = last
        if play(before, before.turn, made).sides_for(match.seat) == state.sides_for(match.seat):
            scene = evolve(scene, shown=show_play(made, before, below=before.turn is match.seat))
    if state.stage is Stage.OVER and state.result is None:
        caption = evolve(caption, title="between two games")
    return BoardPicture(scene_svg(scene, caption, _VIEW), caption.title)


class FeedPart(enum.Enum):
    """A part of the content; each is sent to browsers separately, when it has changed."""

    BOARD = "board"
    MOVES = "moves"
    CHAT = "chat"
    GAMES = "games"
    CHANCE = "chance"


_OWN_VERBS: Final[Mapping[type[Message], str]] = {m.YouKibitz: "kibitzes", m.YouWhisper: "whispers"}
_OTHERS_VERBS: Final[Mapping[type[Message], str]] = {m.Says: "says", m.Kibitzes: "kibitzes", m.Whispers: "whispers"}


class AccountFeed:
    """The page's content for an account, in parts."""

    def __init__(self, account: str) -> None:
        """Start without a match."""
        self._account = account
        self.versions = dict.fromkeys(FeedPart, 0)
        """Each part's number of changes."""
        self._written: dict[FeedPart, tuple[int, str]] = {}
        self._parts: Mapping[FeedPart, Callable[[], Mapping[str, Any]]] = {
            FeedPart.BOARD: self._board,
            FeedPart.MOVES: self._move_list,
            FeedPart.CHAT: lambda: {"lines": list(self._chat)},
            FeedPart.GAMES: lambda: {"games": list(self._games)},
            FeedPart.CHANCE: lambda: {"win": self._chance},
        }
        self._track: TrackedMatch | None = None
        self._match: FollowedMatch | None = None
        """The match that is played, or the last one."""
        self._over = False
        """Whether the match shown is over, and none has begun since."""
        self._last: tuple[GameState, Play] | None = None
        """The last play of the game, and the game before it."""
        self._chance: float | None = None
        self._own = Seat.A
        self._names = ("?", "?")
        self._length = ""
        self._game: Mapping[str, Any] = {}
        self._moves: deque[Mapping[str, Any]] = deque(maxlen=MOVES)
        self._chat: deque[Mapping[str, Any]] = deque(maxlen=LINES)
        self._games: deque[Mapping[str, Any]] = deque(maxlen=GAMES)

    def part(self, part: FeedPart) -> str:
        """Return the present content of a part as JSON."""
        version, text = self._written.get(part, (-1, ""))
        if version != self.versions[part]:
            version = self.versions[part]
            text = json.dumps(redact_record(self._parts[part]()), separators=(",", ":"))
            self._written[part] = version, text
        return text

    def _changed(self, part: FeedPart) -> None:
        self.versions[part] += 1

    # -- events -------------------------------------------------------------------------------------------------

    def on_message(self, message: Message, agent: Agent) -> bool:
        """Handle a message of the server, after the agent; return whether anything visible has changed."""
        before = sum(self.versions.values())
        tracked = agent.tracked
        if tracked is not self._track:
            self._track = tracked
            self._follow(message, tracked)
            self._over = not tracked.running and (self._over or isinstance(message, m.MatchWon))
            self._changed(FeedPart.BOARD)
        if isinstance(message, m.YouSay):  # a bot does not `say`: the echo begins with a name
            name, _, text = message.text.partition(" ")
            self._say(self._account, f"tells {name}", text, own=True)
        elif verb := _OWN_VERBS.get(type(message)):
            self._say(self._account, verb, _text(message), own=True)
        elif verb := _OTHERS_VERBS.get(type(message)):
            self._say(getattr(message, "name", "?"), verb, _text(message), own=False)
        return sum(self.versions.values()) != before

    def _follow(self, message: Message, tracked: TrackedMatch) -> None:
        """Show what the agent knows of its match."""
        if tracked.state is not None and (self._match is None or self._match.number != tracked.match):
            self._match = FollowedMatch(self._account, tracked)
        if self._match is not None and self._match.number == tracked.match:
            self._match.follow(message, tracked)

    def _say(self, name: str, verb: str, text: str, *, own: bool) -> None:
        line = {"at": _clock(), "name": safe_text(name, 24), "verb": safe_text(verb, 30), "text": safe_text(text)}
        self._chat.append(line | {"own": own})
        self._changed(FeedPart.CHAT)

    def on_match_event(self, event: events.MatchEvent) -> None:
        """Handle an event of a match."""
        match event:
            case events.MatchBegan(transcript=transcript):
                self._names = event_text.shown_names(transcript)
                self._own = Seat.A if transcript.user is None else transcript.user
                self._length = event_text.kind_text(event)
            case events.GameBegan(game=game):
                self._moves.clear()
                start = game.start
                self._game = {"game": game.number, "scores": self._ours_first(start.scores), "crawford": start.crawford}
                self._last = None
                for step in walk(game):  # of a resumed game
                    self._enter(step)
                self._changed(FeedPart.MOVES)
            case events.EntryAdded(step=step):
                self._enter(step)
            case events.GameEnded(game=game, end=end) if game.result or end.drawn:
                won = None if game.result is None else game.result.winner is self._own
                self._finish(event_text.result_text(game.result, end, self._names), game.scores, won=won)
            case events.MatchEnded(transcript=transcript) if transcript.winner is not None:
                won = transcript.winner is self._own
                self._finish(event_text.match_end_text(transcript), transcript.scores, won=won, match=True)

    def _enter(self, step: Step) -> None:
        """Add an entry to the list of moves."""
        if isinstance(step.entry, Gap):
            self._moves.append({"turn": step.turn, "text": f"missing: {clean(step.entry.reason, LONGEST)}"})
        for seat, deed in event_text.entry_actions(step):
            self._moves.append({"turn": step.turn, "own": seat is self._own, "text": deed})
        if played := last_play(step):
            self._last = played
            self._changed(FeedPart.BOARD)
        self._changed(FeedPart.MOVES)

    def _finish(self, said: str, scores: tuple[int, int], *, won: bool | None, match: bool = False) -> None:
        """Add a game or a match that is over; `won` is None for a draw."""
        ours, theirs = self._ours_first(scores)
        place = {"at": _clock(), "opponent": self._names[self._own.other], "length": self._length}
        self._games.append(place | {"said": said, "score": f"{ours}-{theirs}", "won": won, "match": match})
        self._changed(FeedPart.GAMES)

    def _ours_first(self, scores: tuple[int, int]) -> tuple[int, int]:
        return scores[self._own], scores[self._own.other]

    # -- chances ------------------------------------------------------------------------------------------------

    @property
    def game(self) -> tuple[GameState, Seat] | None:
        """The game that is played, and the account's seat; None while there is none, or it is not known."""
        if self._match is None or self._over or self._track is None or self._track.state is None:
            return None
        return self._match.state, self._match.seat

    def show_chance(self, chance: float | None) -> None:
        """Show the chance that the account wins the game; None if it is not known."""
        if chance != self._chance:
            self._chance = chance
            self._changed(FeedPart.CHANCE)

    # -- content ------------------------------------------------------------------------------------------------

    def _board(self) -> Mapping[str, Any]:
        """Return the board; after a match, or while the present one is unknown, the last board, marked as past."""
        if self._match is None:
            return {"svg": "", "title": "", "past": False}
        shown = board_picture(self._match, self._last)
        unknown = self._track is None or self._track.state is None
        return {"svg": shown.svg, "title": shown.title, "past": self._over or unknown}

    def _move_list(self) -> Mapping[str, Any]:
        players = [self._names[self._own], self._names[self._own.other]]
        return {"players": players, "length": self._length, **self._game, "moves": list(self._moves)}


def safe_text(text: str, longest: int = LONGEST) -> str:
    """Return a text that is safe to show; passwords are hidden before the text is cut."""
    return clean(redact(text), longest)


def _text(message: Message) -> str:
    text: str = getattr(message, "text", "")
    return text


def _clock() -> str:
    return utc_now().astimezone(dt.UTC).isoformat(timespec="seconds")
