"""`.mat`, the match format of Jellyfish that every program reads: the writer here, the reader in mat_reader.py.

A game has two columns, the player at seat A in the left one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from attrs import define, evolve, field

from fibsbot.formats.mat_headers import column_name, variation_of, write_headers
from fibsbot.formats.match_laws import USUAL, raised_cube, scores_before, setup_of_name, unusual_setup
from fibsbot.match import CubeAction
from fibsbot.notation.xgid import format_xgid_board
from fibsbot.position import CHECKERS, OFF, Play, Position
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import start_match
from fibsbot.rules.state import Result, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, RejectedRoll, Resign, Throw, Transcript

LEFT_WIDTH: Final = 27
"""Columns of the left half, after the row's number."""
NAME_WIDTH: Final = 31
"""Columns of the left player's name and score."""
UNPLAYED_MARK: Final = "???"
"""In place of a play: the dice were rolled, and nothing more was seen. XG writes it, and gnubg reads it."""

TextCell: TypeAlias = tuple[Seat, str]
BoardsBySeat: TypeAlias = dict[Seat, Position]
"""The position as each of the players sees it."""


def write_mat(transcript: Transcript) -> str:
    """Return a match as the text of a `.mat` file.

    A game with a gap is written up to the gap, one that was first seen in its middle not at all, each with its result;
    a line above the games says so, as it does of rejected resignations.
    """
    transcript = evolve(transcript, games=tuple(_with_growing_numbers(transcript.games)))
    lines = write_headers(transcript, dict(_notes(transcript)))
    lines += ["", f" {transcript.length} point match", ""]
    for game in transcript.games:
        lines += [*_game(transcript, game), ""]
    return "\n".join(lines)


def _with_growing_numbers(games: Iterable[Game]) -> Iterator[Game]:
    """Yield games with numbers that grow, which readers of notes rely on."""
    last = 0
    for game in games:
        last = max(game.number, last + 1)
        yield evolve(game, number=last)


def _game(transcript: Transcript, game: Game) -> Iterator[str]:
    first, second = (column_name(player.name) for player in transcript.players)
    yield f" Game {game.number}"
    scores = scores_before(game)
    left = f"{first} : {scores[0]}"
    yield f" {left:{NAME_WIDTH}}{' ' * 2 if len(left) >= NAME_WIDTH else ''}{second} : {scores[1]}"
    rows = _Rows()
    for seat, text in _cells(game):
        rows.add(seat, text)
    if game.result:
        rows.end(game.result)
    yield from rows.lines()


@define
class _Rows:
    """The two columns as they grow."""

    rows: list[list[str]] = field(factory=list)
    last: str = ""
    """A line below them."""

    def add(self, seat: Seat, text: str) -> None:
        """Put an action beside that of the left player, or into a new row."""
        if seat is Seat.A:
            self.rows.append([text, ""])
        elif self.rows and not self.rows[-1][1]:
            self.rows[-1][1] = text
        else:
            self.rows.append(["", text])

    def end(self, result: Result) -> None:
        """Add the winner: in the right column beside the last action on the left, else below."""
        text = f"Wins {result.points} point{'' if result.points == 1 else 's'}"
        if result.winner is Seat.A:
            self.last = f"{'':6}{text}"
        elif self.rows and not self.rows[-1][1]:
            self.rows[-1][1] = f" {text}"
        else:
            self.last = f"{'':34}{text}"

    def lines(self) -> Iterator[str]:
        """Yield the lines.

        Blanks at the end of a left half stay: in a line of 15 characters gnubg reads the right half of the one before.
        """
        for number, (left, right) in enumerate(self.rows, 1):
            yield f"{number:3}) {left:{LEFT_WIDTH}} {right}" if left else f"{number:3}) {'':{LEFT_WIDTH + 1}}{right}"
        if self.last:
            yield self.last


def shown_entries(game: Game) -> tuple[Entry, ...]:
    """Return the entries that a file can show: those from the opening roll to the first gap."""
    if game.start.stage is not Stage.OPENING:
        return ()
    end = next((place for place, entry in enumerate(game.entries) if isinstance(entry, Gap)), len(game.entries))
    return game.entries[:end]


def _cells(game: Game) -> Iterator[TextCell]:
    """Yield each action with its player, in the words of the format."""
    entries = [entry for entry in shown_entries(game) if not isinstance(entry, Resign)]
    entries = [
        entry
        for place, entry in enumerate(entries)
        if not (isinstance(entry, Throw) and entry.play is None and _rolled_later(entries, place))
    ]
    cube = offered = raised_cube(game)
    boards = _first_boards(game)
    for place, entry in enumerate(entries):
        match entry:
            case Throw(seat=seat, dice=dice, play=play):
                high, low = max(dice), min(dice)
                yield seat, f"{high}{low}: {UNPLAYED_MARK if play is None else _moves(play, boards[seat])}"
                boards = _next_boards(boards, entry)
            case Cube(seat=seat, action=CubeAction.DOUBLE):
                offered = 2 * cube
                yield seat, f" Doubles => {offered}"
            case Cube(seat=seat, action=CubeAction.BEAVER):
                cube, offered = offered, 2 * offered
                yield seat, f" {_redouble(entries, place)} => {offered}"
            case Cube(seat=seat, action=CubeAction.TAKE):
                cube = offered
                if not _taken_silently(entries, place):
                    yield seat, " Takes"
            case Cube(seat=seat, action=CubeAction.PASS):
                yield seat, " Drops"


def _rolled_later(entries: list[Entry], place: int) -> bool:
    """Whether the same roll comes again with its play, after a rejected resignation."""
    return any(isinstance(entry, Throw) for entry in entries[place + 1 :])


def _first_boards(game: Game) -> BoardsBySeat:
    return {seat: game.start.position_for(seat) for seat in Seat}


def _next_boards(boards: BoardsBySeat, throw: Throw) -> BoardsBySeat:
    if throw.play is None:
        return boards
    after = boards[throw.seat].play(throw.play)
    return {throw.seat: after, throw.seat.other: after.swapped()}


def _moves(play: Play, position: Position) -> str:
    """Return every single move, the farthest checker first."""
    words = []
    reached = {OFF}
    for move in play.ordered:
        hit = position.points[move.target] == -1 and move.target not in reached
        words.append(f"{move.source}/{move.target}{'*' if hit else ''}")
        reached.add(move.target)
    return " ".join(words)


def _redouble(entries: list[Entry], place: int) -> str:
    """Return how an instant redouble is called.

    After a beaver gnubg waits for a throw, which takes it, or for a raccoon. What else may follow one it understands
    if the beaver is another double.
    """
    row = _redoubles_in_row(entries, place)
    if row == 1 and _taken_silently(entries, place + 1):
        return "Beavers"
    if row == 1 and place + 1 < len(entries) and _is_cube(entries[place + 1], CubeAction.BEAVER):
        return "Beavers"
    return "Raccoons" if row == 2 else "Doubles"


def _taken_silently(entries: list[Entry], place: int) -> bool:
    """Whether this is the take of a single beaver that is followed by a roll, which implies it."""
    return (
        place + 1 < len(entries)
        and _is_cube(entries[place], CubeAction.TAKE)
        and isinstance(entries[place + 1], Throw)
        and _redoubles_in_row(entries, place - 1) == 1
    )


def _redoubles_in_row(entries: list[Entry], place: int) -> int:
    """Count the instant redoubles in a row, up to this place."""
    row = 0
    while row <= place and _is_cube(entries[place - row], CubeAction.BEAVER):
        row += 1
    return row


def _is_cube(entry: Entry, action: CubeAction) -> bool:
    return isinstance(entry, Cube) and entry.action is action


def _notes(transcript: Transcript) -> Iterator[tuple[str, str]]:
    """Yield what the games cannot say, by our own keys."""
    past_crawford = False
    variation = setup_of_name(variation_of(transcript))
    for game in transcript.games:
        if start := _start_note(game, variation, past_crawford=past_crawford):
            yield f"Start {game.number}", start
        past_crawford |= game.start.crawford or game.start.post_crawford
        if gap := _gap_note(game):
            yield f"Gap {game.number}", gap
        if rejected := "; ".join(_rejected(game)):
            yield f"Rejected {game.number}", rejected
        if rethrown := "; ".join(_rejected_rolls(game)):
            yield f"Rethrown {game.number}", rethrown


def _start_note(game: Game, variation: Position | None, *, past_crawford: bool) -> str:
    """Return what a reader would not see in the scores; `variation` is the set-up that the headers name."""
    start = game.start
    try:
        taken = start_match(start.laws, start.length, scores_before(game), post_crawford=past_crawford)
    except RuleError:
        return ""
    words = []
    cube = raised_cube(game)
    if start.stage is Stage.OPENING and cube != taken.cube:
        words.append(f"cube {cube}")
    if (start.crawford, start.post_crawford) != (taken.crawford, taken.post_crawford):
        place = "" if start.crawford else "after " if start.post_crawford else "before "
        words.append(f"{place}Crawford")
    if start.stage is Stage.OPENING and (setup := unusual_setup(start)) != variation:
        words.append(f"set-up {format_xgid_board(setup or USUAL)}")
    return ", ".join(words)


def _gap_note(game: Game) -> str:
    """Return what is missing."""
    if game.start.stage is not Stage.OPENING:
        return f"first seen in turn {game.start.turns + 1}"
    shown = shown_entries(game)
    turn = 1 + sum(isinstance(entry, Throw) and entry.play is not None for entry in shown)
    for gap in game.entries[len(shown) : len(shown) + 1]:
        if isinstance(gap, Gap):
            return f"turn {turn}: {gap.reason}"
    return f"turn {turn}: not seen to its end" if game.result and not _reaches_end(game, shown) else ""


def _reaches_end(game: Game, shown: tuple[Entry, ...]) -> bool:
    """Whether the entries come to the game's end."""
    match shown[-1:]:
        case (Cube(action=CubeAction.PASS) | Resign(accepted=True),):
            return True
        case (Throw(seat=seat),):
            boards = _first_boards(game)
            for entry in shown:
                boards = _next_boards(boards, entry) if isinstance(entry, Throw) else boards
            return boards[seat].off == CHECKERS
    return False


def _rejected_rolls(game: Game) -> Iterator[str]:
    for entry in shown_entries(game):
        if isinstance(entry, RejectedRoll):
            yield f"player {entry.seat + 1} rejected {max(entry.dice)}{min(entry.dice)} and doubled the cube"


def _rejected(game: Game) -> Iterator[str]:
    turn = 1
    for entry in shown_entries(game):
        match entry:
            case Throw(play=Play()):
                turn += 1
            case Resign(seat=seat, level=level, accepted=False):
                yield f"turn {turn}: player {seat + 1} offered {level.words}"
