"""The text of the server's command `oldmoves`, which is also what `toggle moves` brings after a game.

One game after another, each under its score and its players' colours. Written as the server writes it: X is seat A and
goes up from 1 to 24, O comes down. GNU Backgammon reads it (`import oldmoves`).

The text says less than the others; what is lost stands in docs/formats.md. One thing is our own: where the moves do not
tell what a game counted, `X: wins` goes on with the points, as in `X: wins 4 points`. Everybody else reads as far as
`wins`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fibsbot.fibs import DIRECTIONS, to_fibs
from fibsbot.formats.building import only_one, scores_before
from fibsbot.formats.errors import FormatError
from fibsbot.formats.oldmoves_reading import matches, replayed
from fibsbot.formats.text import one_line
from fibsbot.match import CubeAction
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.rules.state import Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Resign, Throw, Transcript
from protocol.words import Colour, FibsMove

COLOURS: Final = {Seat.A: Colour.X, Seat.B: Colour.O}
WORDS: Final = {
    CubeAction.DOUBLE: "doubles",
    CubeAction.BEAVER: "doubles",  # the server says `redoubles`, which GNU Backgammon does not know
    CubeAction.TAKE: "accepts",
    CubeAction.PASS: "rejects",
}
CANNOT_MOVE: Final = "can't move"
NAMELESS: Final = "?"


def write_oldmoves(transcript: Transcript) -> str:
    """Return a match as the server lists it, each game up to the first thing that the text cannot say."""
    games = transcript.games or (Game(1, start_match(FIBS, transcript.length)),)
    return "\n".join("\n".join(_write_game(transcript, game)) + "\n" for game in games)


def _write_game(transcript: Transcript, game: Game) -> list[str]:
    x, o = (one_line(player.name, NAMELESS) for player in transcript.players)
    a, b = scores_before(game)
    match = f"a {transcript.length} point match" if transcript.length else "an unlimited match"
    lines = [f"Score is {a}-{b} in {match}.", f"{x} is X - {o} is O", ""]
    moves = list(_moves(game))
    return lines + moves + list(_ending(game, transcript.length, moves))


def _moves(game: Game) -> Iterator[str]:
    if game.start.stage is not Stage.OPENING:
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
            yield f"{COLOURS[seat].name}: ({dice[0]} {dice[1]}) {moves or CANNOT_MOVE}"
        case Cube(seat=seat, action=action):
            yield f"{COLOURS[seat].name}: {WORDS[action]}"
        case Resign(seat=seat, accepted=True):
            yield f"{COLOURS[seat].name}: wants to resign"


def _point_to_point(move: FibsMove) -> str:
    source = "bar" if move.source is None else move.source
    return f"{source}-{'off' if move.target is None else move.target}"


def _ending(game: Game, length: int, moves: list[str]) -> Iterator[str]:
    """Yield who wins; the points only where the moves, read again, would tell others."""
    result = game.result
    if result is None or not game.whole:
        return
    wins = f"{COLOURS[result.winner].name}: wins"
    try:
        again = replayed([(1, line) for line in (*moves, wins)], length)
    except FormatError:  # a match by laws that the server has not
        again = None
    told = again.result.points if again and again.result else None
    yield wins if told == result.points else f"{wins} {result.points} point{'s' * (result.points != 1)}"


def read_oldmoves(text: str) -> Transcript:
    """Read the match of a text. Raises FormatError, also where there are several."""
    return only_one(iter_oldmoves(text))


def iter_oldmoves(text: str) -> Iterator[Transcript]:
    """Yield the matches of a text, at least one. Raises FormatError.

    The text may stand in anything that the server said besides, and may use either player's numbers or both. A score
    that the server tells the wrong way round, or as it was after the game, is put right by the games around it.
    """
    yield from matches(text)
