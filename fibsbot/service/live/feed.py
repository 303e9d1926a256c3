"""What there is to see of one account: its board, the moves of the game, what was said, the last games.

Nothing is drawn before somebody wants to see it: what a bot does costs no more than a note that something has changed.
"""

from __future__ import annotations

import datetime as dt
import enum
import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from fibsbot.bot.agent import Agent
from fibsbot.bot.track import Track
from fibsbot.draw.markup import clean
from fibsbot.draw.scene import Shown
from fibsbot.records.session_log import utc_now
from fibsbot.redaction import cleaned, redacted
from fibsbot.replay.happenings import GameBegan, GameEnded, Happened, Happening, MatchBegan, MatchEnded
from fibsbot.replay.telling import deeds, end_in_words, length_in_words, names_of, result_in_words
from fibsbot.rules.state import Seat
from fibsbot.service.live.board import Picture, picture
from fibsbot.transcript import Gap, Step, Throw, walk
from protocol import messages as m
from protocol.messages import Message

LINES: Final = 100
"""Lines of chat that are kept."""
MOVES: Final = 600
"""Entries of a game that are kept; hardly any game has a quarter of that."""
GAMES: Final = 20
"""Finished games that are kept."""
LONGEST: Final = 300
"""Characters of a line of chat."""


class Part(enum.Enum):
    """What is sent to browsers each for itself, when it has changed."""

    BOARD = "board"
    MOVES = "moves"
    CHAT = "chat"
    GAMES = "games"


_OURS: Final[Mapping[type[Message], str]] = {m.YouSay: "says", m.YouKibitz: "kibitzes", m.YouWhisper: "whispers"}
_THEIRS: Final[Mapping[type[Message], str]] = {m.Says: "says", m.Kibitzes: "kibitzes", m.Whispers: "whispers"}


class Feed:
    """One account."""

    def __init__(self, account: str) -> None:
        """Know nothing yet."""
        self._account = account
        self.versions = dict.fromkeys(Part, 0)
        """Each part's number of changes."""
        self._written: dict[Part, tuple[int, str]] = {}
        self._parts: Mapping[Part, Callable[[], Mapping[str, Any]]] = {
            Part.BOARD: self._board,
            Part.MOVES: self._move_list,
            Part.CHAT: lambda: {"lines": list(self._chat)},
            Part.GAMES: lambda: {"games": list(self._games)},
        }
        self._track: Track | None = None
        self._picture: Picture | None = None
        """The last one that could be drawn."""
        self._over = False
        """Whether the match that was shown is over, and none has begun since."""
        self._last: Shown | None = None
        self._own = Seat.A
        self._names = ("?", "?")
        self._length = ""
        self._game: Mapping[str, Any] = {}
        self._moves: deque[Mapping[str, Any]] = deque(maxlen=MOVES)
        self._chat: deque[Mapping[str, Any]] = deque(maxlen=LINES)
        self._games: deque[Mapping[str, Any]] = deque(maxlen=GAMES)

    def part(self, part: Part) -> str:
        """Return a part as it is now, as JSON."""
        version, text = self._written.get(part, (-1, ""))
        if version != self.versions[part]:
            version = self.versions[part]
            text = json.dumps(cleaned(self._parts[part]()), separators=(",", ":"))
            self._written[part] = version, text
        return text

    def _changed(self, part: Part) -> None:
        self.versions[part] += 1

    # -- what happens -------------------------------------------------------------------------------------------

    def hear(self, message: Message, agent: Agent) -> bool:
        """Take in a message of the server, after the agent has; return whether there is something new to see."""
        before = sum(self.versions.values())
        if agent.track is not self._track:
            self._track = agent.track
            self._over = not agent.track.running and (self._over or isinstance(message, m.MatchWon))
            self._changed(Part.BOARD)
        if verb := _OURS.get(type(message)):
            self._say(self._account, verb, message, own=True)
        elif verb := _THEIRS.get(type(message)):
            self._say(getattr(message, "name", "?"), verb, message, own=False)
        return sum(self.versions.values()) != before

    def _say(self, name: str, verb: str, message: Message, *, own: bool) -> None:
        line = {"at": _clock(), "name": safe(name, 24), "verb": verb, "text": safe(_text(message))}
        self._chat.append(line | {"own": own})
        self._changed(Part.CHAT)

    def happen(self, happening: Happening) -> None:
        """Take in what happened in a match."""
        match happening:
            case MatchBegan(transcript=transcript):
                self._names = names_of(transcript)
                self._own = Seat.A if transcript.user is None else transcript.user
                self._length = length_in_words(transcript.length)
            case GameBegan(game=game):
                self._moves.clear()
                start = game.start
                self._game = {"game": game.number, "scores": self._ours_first(start.scores), "crawford": start.crawford}
                self._last = None
                for step in walk(game):  # of a game that goes on after a break
                    self._enter(step)
                self._changed(Part.MOVES)
            case Happened(step=step):
                self._enter(step)
            case GameEnded(game=game) if game.result:
                result = game.result
                a, b = game.start.scores
                scores = (a + result.points, b) if result.winner is Seat.A else (a, b + result.points)
                self._finish(result_in_words(result, self._names), scores, won=result.winner is self._own)
            case MatchEnded(transcript=transcript) if transcript.winner is not None:
                won = transcript.winner is self._own
                self._finish(end_in_words(transcript), transcript.scores, won=won, match=True)

    def _enter(self, step: Step) -> None:
        """Add an entry to the list of moves."""
        entry = step.entry
        if isinstance(entry, Gap):
            self._moves.append({"turn": step.turn, "text": f"missing: {clean(entry.reason, LONGEST)}"})
        for seat, deed in deeds(step):
            self._moves.append({"turn": step.turn, "own": seat is self._own, "text": deed})
        if isinstance(entry, Throw) and entry.play is not None:
            mover = entry.seat
            self._last = Shown(entry.play, step.before.position_for(mover), below=mover is self._own)
            self._changed(Part.BOARD)
        self._changed(Part.MOVES)

    def _finish(self, said: str, scores: tuple[int, int], *, won: bool, match: bool = False) -> None:
        ours, theirs = self._ours_first(scores)
        place = {"at": _clock(), "opponent": self._names[self._own.other], "length": self._length}
        self._games.append(place | {"said": said, "score": f"{ours}-{theirs}", "won": won, "match": match})
        self._changed(Part.GAMES)

    def _ours_first(self, scores: tuple[int, int]) -> tuple[int, int]:
        return scores[self._own], scores[self._own.other]

    # -- what is shown ------------------------------------------------------------------------------------------

    def _board(self) -> Mapping[str, Any]:
        """Return the board; the last one, as past, after a match and where nothing is known of the present one."""
        now = picture(self._track, self._account, self._last) if self._track else None
        self._picture = shown = now or self._picture
        if shown is None:
            return {"svg": "", "title": "", "past": False}
        return {"svg": shown.svg, "title": shown.title, "past": now is None or self._over}

    def _move_list(self) -> Mapping[str, Any]:
        players = [self._names[self._own], self._names[self._own.other]]
        return {"players": players, "length": self._length, **self._game, "moves": list(self._moves)}


def safe(text: str, longest: int = LONGEST) -> str:
    """Return a text as it may be shown; a password is hidden before the text is cut."""
    return clean(redacted(text), longest)


def _text(message: Message) -> str:
    text: str = getattr(message, "text", "")
    return text


def _clock() -> str:
    return utc_now().astimezone(dt.UTC).isoformat(timespec="seconds")
