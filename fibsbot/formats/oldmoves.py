"""The moves of a game as the command `oldmoves` lists them, and the server after a game with `toggle moves`.

One game after another, each below its score and its players' colours. Written as the server writes it: X is seat A
and moves up from 1 to 24, O down. GNU Backgammon reads it (`import oldmoves`).

The format holds less than others; docs/formats.md lists what is lost. One extension is our own: where the moves do
not show how many points a game counted, `X: wins` is followed by them, as in `X: wins 4 points`. Other programs read
only as far as `wins`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from fibs_protocol.words import Colour, FibsMove
from fibsbot.fibs_numbering import DIRECTIONS, to_fibs
from fibsbot.formats import FormatError, expected, single_line
from fibsbot.formats.checked_game import (
    only_one,
    resigned_level,
    scores_before,
    with_beavers_allowed,
)
from fibsbot.formats.oldmoves_game import (
    SEATS_BY_LETTER,
    STARTING_CUBES,
    SWAPPED_SEATS,
    beginning,
    game_of_lines,
    laws_of_lines,
    laws_of_points,
    read_game,
)
from fibsbot.formats.oldmoves_lists import GameList, Header, Scores, find_matches
from fibsbot.formats.setups import USUAL, name_of_setup, named_setups, unusual_setup
from fibsbot.match import CubeAction
from fibsbot.position import Position
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Laws, Level
from fibsbot.rules.state import Ending, GameState, Seat, Stage
from fibsbot.transcript import (
    Cube,
    Entry,
    Game,
    Gap,
    Player,
    RejectedRoll,
    Resign,
    Throw,
    Transcript,
    add_points,
    end_game,
)


def iter_oldmoves(text: str) -> Iterator[Transcript]:
    """Yield the matches of a text, at least one. Raises FormatError.

    Other output of the server may surround the lists, and they may use either player's numbers or both. A score that
    is the wrong way round, or is the one after the game, is corrected by the games around it. oldmoves_lists.py says
    which lists make a match.
    """
    matches = find_matches(text)
    if not matches:
        raise expected("`Score is 0-0 in a 3 point match.` and below it `A is X - B is O`", text.lstrip()[:40])
    for match in matches:
        transcript = _transcript(match.lists, after=match.scored_after)
        yield evolve(transcript, remarks=(*match.remarks, *transcript.remarks))


# -- a match ----------------------------------------------------------------------------------------------------------


@frozen
class _ReadGame:
    """A game that has been read, and the possible meanings of its score."""

    header: Header
    game: Game
    stated: Scores
    """The scores in the text, seat A's first."""

    @property
    def is_lost(self) -> bool:
        """Whether the end of the game could not be read, so that the cube is unknown."""
        return bool(self.game.entries) and isinstance(self.game.entries[-1], Gap)

    @property
    def counts(self) -> tuple[int, ...]:
        """The possible points of the game; several if the level of a resignation is unknown."""
        result = self.game.result
        if result is None:
            return ()
        if self.is_lost:
            return tuple(level * cube for cube in STARTING_CUBES for level in Level)
        if result.how is not Ending.RESIGNED or result.level is not Level.SINGLE:
            return (result.points,)
        return tuple(level * result.points for level in Level)

    def afterwards(self, start: Scores) -> dict[Scores, int]:
        """Return the scores after the game, with what it counted then."""
        result = self.game.result
        if result is None:
            return {}
        return {add_points(start, result.winner, points): points for points in self.counts}

    def beginnings(self, *, after: bool) -> list[Scores]:
        """Return the possible scores before the game; `after`: the text has those after it."""
        scores = [self.stated, self.stated[::-1]]
        result = self.game.result
        if after and result:
            scores = [add_points(score, result.winner, -points) for score in scores for points in self.counts]
        length = self.header.length
        return [score for score in scores if min(score) >= 0 and not (length and max(score) >= length)]

    def counting(self, points: int) -> Game:
        """Return the game as one that counted this many points."""
        result = self.game.result
        if result is None or result.points == points or points not in self.counts:
            return self.game
        if self.is_lost:
            return evolve(self.game, result=evolve(result, points=points, level=resigned_level(points, 1)))
        level = Level(points // result.points)
        *entries, last = self.game.entries
        resigned = evolve(last, level=level) if isinstance(last, Resign) else last
        return evolve(self.game, entries=(*entries, resigned), result=evolve(result, points=points, level=level))


def _transcript(blocks: Sequence[GameList], *, after: bool) -> Transcript:
    """Return the match of these lists; `after`: they are known to have the scores after games that are over."""
    first = blocks[0].header
    laws = laws_of_lines((line for block in blocks for line in block.lines), first.length)
    laws = laws_of_points((block.lines for block in blocks), laws, first.length)
    reads, problems = _read_games(blocks, laws, USUAL)
    remarks: tuple[str, ...] = ()
    for name, setup in named_setups().items() if problems else ():
        others, problems_there = _read_games(blocks, laws, setup)
        if not problems_there:
            reads, problems = others, []
            remarks = (f"line {first.line}: read as {name}, as the plays are not legal from the usual set-up",)
    if problems and not any(isinstance(entry, Throw) for read in reads for entry in read.game.entries):
        raise problems[0]
    # The server lists a game that is over under the score after it, other programs under the one before.
    before, later = _start_scores(reads, after=False), _start_scores(reads, after=True)
    after = after or _count_misfits(reads, later) < _count_misfits(reads, before)
    starts = later if after else before
    players = (Player(first.names[0]), Player(first.names[1]))
    games = with_beavers_allowed(list(_with_scores(reads, starts, after=after)))
    return Transcript(players, first.length, games, remarks=remarks)


def _read_games(blocks: Sequence[GameList], laws: Laws, setup: Position) -> tuple[list[_ReadGame], list[FormatError]]:
    """Return the games from a set-up, and what could not be read of them."""
    first = blocks[0].header
    start = beginning(laws, first.length, setup)
    reads, problems = [], []
    for number, block in enumerate(blocks, 1):
        same = block.header.names == first.names
        seats = SEATS_BY_LETTER if same else SWAPPED_SEATS
        game, problem = read_game(block.lines, start, number, seats)
        problems += [problem] if problem else []
        reads.append(_ReadGame(block.header, game, block.header.scores if same else block.header.scores[::-1]))
    return reads, problems


def _start_scores(reads: Sequence[_ReadGame], *, after: bool) -> list[Scores]:
    """Return the scores at which the games can have begun, each as it fits best to the game before it."""
    starts: list[Scores] = []
    expected: Mapping[Scores, int] = {}
    for read in reads:
        options = read.beginnings(after=after) or [read.stated]
        starts.append(next((option for option in options if option in expected), options[0]))
        expected = read.afterwards(starts[-1])
    return starts


def _count_misfits(reads: Sequence[_ReadGame], starts: Sequence[Scores]) -> int:
    """Count the games that cannot begin at these scores, or not after the game before them."""
    pairs = zip(reads, starts, starts[1:], strict=False)
    impossible = sum(
        bool(read.header.length) and max(start) >= read.header.length for read, start in zip(reads, starts, strict=True)
    )
    return impossible + sum(bool(read.counts) and then not in read.afterwards(start) for read, start, then in pairs)


def _with_scores(reads: Sequence[_ReadGame], starts: Sequence[Scores], *, after: bool) -> Iterator[Game]:
    """Yield the games at the scores at which they began."""
    played = False
    for number, (read, scores) in enumerate(zip(reads, starts, strict=True)):
        following = sum(read.stated) if after else sum(starts[number + 1]) if number + 1 < len(starts) else 0
        game = read.counting(following - sum(scores))
        laws, length = game.start.laws, read.header.length
        try:
            start = start_match(laws, length, scores, post_crawford=played)
            if start.crawford and any(isinstance(entry, Cube | RejectedRoll) for entry in game.entries):
                start = start_match(laws, length, scores, post_crawford=True)
        except RuleError as error:
            raise FormatError(f"line {read.header.line}: {error}") from None
        played = start.crawford or start.post_crawford
        yield _with_start(game, evolve(start, cube=game.start.cube, board=game.start.position))


def _with_start(game: Game, start: GameState) -> Game:
    """Return a game as one that began so, also what is known of the state after what could not be read."""
    last = game.entries[-1] if game.entries else None
    if not isinstance(last, Gap):
        return evolve(game, start=start)
    crawford, post = start.crawford, start.post_crawford
    then = evolve(last.then, laws=start.laws, scores=start.scores, crawford=crawford, post_crawford=post)
    gap = evolve(last, then=end_game(then, game.result) if game.result else then)
    return evolve(game, start=start, entries=(*game.entries[:-1], gap))


COLOURS: Final = {Seat.A: Colour.X, Seat.B: Colour.O}
CUBE_WORDS: Final = {
    CubeAction.DOUBLE: "doubles",
    CubeAction.BEAVER: "doubles",  # the server says `redoubles`, which GNU Backgammon does not know
    CubeAction.TAKE: "accepts",
    CubeAction.PASS: "rejects",
}
CANNOT_MOVE_TEXT: Final = "can't move"
NAMELESS: Final = "?"


def write_oldmoves(transcript: Transcript) -> str:
    """Return a match as the server lists it, each game up to the first thing that the text cannot say."""
    games = transcript.games or (Game(1, start_match(FIBS, transcript.length)),)
    return "\n".join("\n".join(_write_game(transcript, game)) + "\n" for game in games)


def _write_game(transcript: Transcript, game: Game) -> list[str]:
    x, o = (single_line(player.name, NAMELESS) for player in transcript.players)
    a, b = scores_before(game)
    match = f"a {transcript.length} point match" if transcript.length else "an unlimited match"
    lines = [f"Score is {a}-{b} in {match}.", f"{x} is X - {o} is O", ""]
    moves = list(_move_lines(game))
    return lines + moves + list(_win_line(game, transcript.length, moves))


def _move_lines(game: Game) -> Iterator[str]:
    setup = unusual_setup(game.start)
    if game.start.stage is not Stage.OPENING or (setup and not name_of_setup(setup)):
        return
    for entry in game.entries:
        if isinstance(entry, Gap):
            return
        yield from _write_entry(entry)


def _write_entry(entry: Entry) -> Iterator[str]:
    match entry:
        case Throw(seat=seat, dice=dice, play=play) if play is not None:
            direction = DIRECTIONS[COLOURS[seat]]
            moves = " ".join(_point_to_point(to_fibs(move, direction)) for move in play.ordered)
            yield f"{COLOURS[seat].name}: ({dice[0]} {dice[1]}) {moves or CANNOT_MOVE_TEXT}"
        case RejectedRoll(seat=seat, dice=dice):
            yield f"{COLOURS[seat].name}: rejects {dice[0]}-{dice[1]}"
        case Cube(seat=seat, action=action):
            yield f"{COLOURS[seat].name}: {CUBE_WORDS[action]}"
        case Resign(seat=seat, accepted=True):
            yield f"{COLOURS[seat].name}: wants to resign"


def _point_to_point(move: FibsMove) -> str:
    source = "bar" if move.source is None else move.source
    return f"{source}-{'off' if move.target is None else move.target}"


def _win_line(game: Game, length: int, moves: list[str]) -> Iterator[str]:
    """Yield the winner; the points only if the moves, read again, would give others."""
    result = game.result
    if result is None or not game.whole:
        return
    wins = f"{COLOURS[result.winner].name}: wins"
    try:
        again = game_of_lines([(1, line) for line in (*moves, wins)], length, unusual_setup(game.start) or USUAL)
    except FormatError:  # a match by laws that the server has not
        again = None
    stated = again.result.points if again and again.result else None
    yield wins if stated == result.points else f"{wins} {result.points} point{'s' * (result.points != 1)}"


def read_oldmoves(text: str) -> Transcript:
    """Read the match of a text. Raises FormatError, also where there are several."""
    return only_one(iter_oldmoves(text))
