"""Reads the analysis of a match as text, as GNU Backgammon (`export match text`) and Backgammon Studio write it.

Each game begins with its score. Before each decision come the Position ID and the Match ID, and after them a line with
a star: what the player did. The rest (boards, chances, lists of plays) is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from attrs import define, evolve, field

from fibsbot.formats import FormatError, expected, single_line
from fibsbot.formats.checked_game import CheckedGame, CheckedMatch, errors_at, numbered_lines
from fibsbot.formats.match_laws import reading_laws
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation.position_ids import GAME_PLAYING, MatchKey, parse_gnubg_id
from fibsbot.position import Play
from fibsbot.rules.game import start_match
from fibsbot.rules.plays import can_move
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Gap, Player, Transcript

LONGEST_LINE: Final = 1000
"""Characters of a line that says anything."""
_SCORE: Final = re.compile(
    r"The score \(after ([0-9]{1,6}) games?\) is: (.{1,200}) ([0-9]{1,9}), (.{1,200}) ([0-9]{1,9})"
    r"(?: \(match to ([0-9]{1,9}) points?\b.*|[,(].*)?"
)
_NUMBER: Final = re.compile(r"Move number ([0-9]{1,6}):")
_POSITION_ID: Final = re.compile(r"Position ID ?: +([A-Za-z0-9+/]{14})\b")
_MATCH_ID: Final = re.compile(r"Match ID +: +([A-Za-z0-9+/]{12})\b")
_DICE: Final = re.compile(r"(?:.* to play |Rolled )([1-6])([1-6])\b.*")
_HEADER: Final = re.compile(r"(Place|Event|Round|Annotator|Comments): (.{1,400})")
_TAGS: Final = {
    "Event": "Event",
    "Round": "Round",
    "Annotator": "Transcriber",
    "Comment": "Comment",
    "Comments": "Comment",
}
_CANNOT_MOVE: Final = "cannot move"
_CUBE_WORDS: Final = {
    "doubles": CubeAction.DOUBLE,
    "redoubles": CubeAction.DOUBLE,
    "beavers": CubeAction.DOUBLE,
    "raccoons": CubeAction.DOUBLE,
    "accepts": CubeAction.TAKE,
    "takes": CubeAction.TAKE,
    "rejects": CubeAction.PASS,
    "passes": CubeAction.PASS,
    "drops": CubeAction.PASS,
}
_WINS: Final = re.compile(r"wins ([0-9]{1,9}) points?\b.*")


def iter_text_analysis(text: str) -> Iterator[Transcript]:
    """Yield the matches of a text, at least one. Raises FormatError."""
    match: _Match | None = None
    for number, line in numbered_lines(text, LONGEST_LINE):
        if score := _SCORE.fullmatch(line):
            names = single_line(score[2], "?"), single_line(score[4], "?")
            length, games = int(score[6] or 0), int(score[1])
            if match is None or not match.goes_on(names, length, games):
                if match:
                    yield match.transcript()
                match = _Match(names, length)
            match.begin(games + 1, (int(score[3]), int(score[5])), number)
        elif match:
            match.line(line, number)
    if match is None:
        raise expected("`The score (after 0 games) is: A 0, B 0 (match to 5 points)`", text.lstrip()[:40])
    yield match.transcript()


@define
class _Match(CheckedMatch):
    """A match that is being read."""

    names: tuple[str, str]
    length: int
    game: _AnalysedGame | None = None
    tags: dict[str, str] = field(factory=dict)
    site: str = ""

    def goes_on(self, names: tuple[str, str], length: int, games: int) -> bool:
        """Whether another game belongs to this match."""
        self._end()
        return (self.names, self.length) == (names, length) and games >= self.games[-1].number

    def begin(self, number: int, scores: tuple[int, int], line: int) -> None:
        """Begin a game."""
        self._end()
        self.game = _AnalysedGame(self.names, self.length, number, scores, line)

    def line(self, line: str, number: int) -> None:
        """Process a line."""
        if header := _HEADER.fullmatch(line):
            if header[1] == "Place":
                self.site = self.site or single_line(header[2])
            else:
                self.tags.setdefault(_TAGS.get(header[1], header[1]), single_line(header[2]))
        elif self.game:
            self.game.line(line, number)

    def _end(self) -> None:
        if self.game:
            self.problem = self.problem or self.game.problem
            self.end_game(self.game.checked or self.game.unseen())
            self.game = None

    def transcript(self) -> Transcript:
        """Return the match. Raises FormatError where no turn of it can be read."""
        self._end()
        players = (Player(self.names[0]), Player(self.names[1]))
        return self.with_games(Transcript(players, self.length, site=self.site, tags=self.tags))


@define
class _AnalysedGame:
    """A game that is being read."""

    names: tuple[str, str]
    length: int
    number: int
    scores: tuple[int, int]
    start_line: int
    checked: CheckedGame | None = None
    """None before its first decision, which shows the position and the laws."""
    turn: int = 1
    """The number of the decision."""
    position_id: str = ""
    dice: tuple[int, int] | None = None
    """Those of the decision."""
    problem: FormatError | None = None
    """The first error."""

    def line(self, line: str, number: int) -> None:
        """Process a line. An error costs the rest of the game."""
        if found := _NUMBER.match(line):
            self.turn, self.position_id, self.dice = int(found[1]), "", None
        try:
            if rolled := _DICE.fullmatch(line):
                self.dice = int(rolled[1]), int(rolled[2])
            if found := _POSITION_ID.search(line):
                self.position_id = found[1]
            elif self.position_id and (found := _MATCH_ID.search(line)):
                self._decision(self.position_id, found[1], number)
                self.position_id = ""
            elif self.checked and not self.checked.stated:
                self.checked.line = number
                self._action(self.checked, line)
        except FormatError as error:
            self.problem = self.problem or error
            if self.checked:
                self.checked.give_up(error)

    def _decision(self, position_id: str, match_id: str, line: int) -> None:
        """Compare the game with what the IDs say; begin it with them, or go on with them after a gap."""
        with errors_at(f"line {line}"):
            # Before the first play GNU Backgammon writes that no game is being played.
            key = evolve(MatchKey.parse(match_id), game=GAME_PLAYING)
            seen, seat = parse_gnubg_id(f"{position_id}:{key}"), Seat(key.turn)
        if self.checked is None:
            self.checked = CheckedGame(self.number, self._start(seen, seat), first=self.number > 1)
        self.checked.line = line
        state = self.checked.state
        if self.checked.problem or seen.phase not in {Phase.ROLL, Phase.MOVE}:
            return
        if state.stage is not Stage.OVER and state.position_for(seat).points != seen.position.points:
            then = _state_seen(state, seen, seat, self.turn)
            self.checked.add(Gap(reason=f"line {line}: a turn is missing", then=then))

    def _start(self, seen: MatchState, seat: Seat) -> GameState:
        """Return the state in which the game begins; one that was not seen from its first roll begins in its middle."""
        laws = reading_laws(self.length, jacoby=seen.jacoby)
        with errors_at(f"line {self.start_line}"):
            start = start_match(laws, self.length, self.scores)
            if start.crawford and not seen.crawford:
                start = start_match(laws, self.length, self.scores, post_crawford=True)
        if self.turn > 1:
            return _state_seen(start, seen, seat, self.turn)
        white = seen.position if seat is start.turn else seen.position.swapped()
        return evolve(start, board=white, cube=seen.cube)

    def _action(self, checked: CheckedGame, line: str) -> None:
        """Process what a player did."""
        starred = line.startswith("* ")
        text = line.removeprefix("* ")
        seat = next((seat for seat in Seat if text.startswith(f"{self.names[seat]} ")), None)
        if seat is None:
            return
        words = text.removeprefix(f"{self.names[seat]} ").strip().rstrip(".!")
        if won := _WINS.fullmatch(words):
            checked.win(seat, int(won[1]))
        elif starred and not checked.problem:
            self._decide(checked, seat, words)

    def _decide(self, checked: CheckedGame, seat: Seat, words: str) -> None:
        if words in _CUBE_WORDS:
            checked.cube(seat, _CUBE_WORDS[words])
        elif words == _CANNOT_MOVE or words.startswith("moves "):
            if self.dice is None:
                raise expected("the dice before a play", words, checked.line)
            moves = words.removeprefix("moves ")
            play = Play() if words == _CANNOT_MOVE else checked.read_play(seat, self.dice, moves)
            if not play.moves and can_move(checked.state.position_for(seat), self.dice):
                raise expected(f"a play for {self.dice[0]}-{self.dice[1]}", words, checked.line)
            checked.throw(seat, self.dice, [(move.source, move.target) for move in play.moves])

    def unseen(self) -> CheckedGame:
        """Return the game if it has no decision."""
        return CheckedGame(self.number, start_match(reading_laws(self.length), self.length, self.scores))


def _state_seen(state: GameState, seen: MatchState, seat: Seat, turn: int) -> GameState:
    """Return a state in which a player is on roll, as the IDs show it."""
    owner = {1: seat, -1: seat.other}.get(seen.owner.value)
    return evolve(
        state,
        board=seen.position,
        turn=seat,
        stage=Stage.ROLL,
        dice=None,
        cube=seen.cube,
        owner=owner,
        offered=0,
        answering=None,
        redoubles=0,
        turns=max(turn - 1, 1),
    )
