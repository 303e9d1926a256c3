"""Events as text: names, plays, results and differences, and a whole match as a list of moves with a column per player.

Names and texts come from files that anybody may have made up: control characters are removed.
"""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Iterator
from typing import Final

from attrs import define

from fibsbot.bot.tracked_match import Difference
from fibsbot.drawing.markup import clean
from fibsbot.match import CubeAction
from fibsbot.notation.play_notation import CANNOT_MOVE, format_play
from fibsbot.position import Play
from fibsbot.replay import events
from fibsbot.rules.backgammon import BACKGAMMON, is_backgammon
from fibsbot.rules.state import Ending, GameState, Result, Seat
from fibsbot.text import plural
from fibsbot.transcript import (
    Continuation,
    Cube,
    Game,
    Gap,
    Named,
    RejectedRoll,
    Resign,
    Step,
    Throw,
    Transcript,
    after_roll,
)

LONGEST_NAME: Final = 20
LONGEST_TEXT: Final = 200
"""Characters of a text from a file that are shown."""
COLUMN_WIDTH: Final = 40
"""Characters of each player's column."""


def shown_names(transcript: Transcript) -> tuple[str, str]:
    """Return the players' names, clipped and without control characters."""
    first, second = (clean(player.name, LONGEST_NAME) or "?" for player in transcript.players)
    return first, second


def length_text(length: int) -> str:
    """Return the length of a match as text."""
    return plural(length, "point") if length else "unlimited"


def kind_text(began: events.MatchBegan) -> str:
    """Return the length of a match and its game, unless that is backgammon, or which game of a chouette it is."""
    if began.chouette is not None:
        return clean(str(began.chouette), 60)
    length = length_text(began.transcript.length)
    return length if began.rules is BACKGAMMON else f"{length} of {began.rules.full_name}"


def time_text(at: dt.datetime | None) -> str:
    """Return a time as text, in UTC; empty for None."""
    return f"{at.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S} UTC" if at else ""


def match_text(began: events.MatchBegan) -> str:
    """Return the heading of a match: its number, players, length or chouette, site and time."""
    match = began.transcript
    a, b = shown_names(match)
    facts = [kind_text(began), clean(match.site, 60), time_text(match.started or began.at)]
    return f"Match {began.match}: {a} - {b}, {', '.join(fact for fact in facts if fact)}"


def difference_text(difference: Difference) -> str:
    """Return a difference as text."""
    ours, theirs = (clean(_value_text(value), LONGEST_TEXT) for value in (difference.ours, difference.theirs))
    return f"{clean(difference.what, LONGEST_TEXT)}: ours {ours}, theirs {theirs}"


def _value_text(value: object) -> str:
    return value.name.lower() if isinstance(value, enum.Enum) else str(value)


def difference_place_text(differed: events.DifferenceFound) -> str:
    """Return the place of a difference in the file and in the match."""
    time = f" ({time_text(differed.at)})" if differed.at else ""
    return f"byte {differed.offset}{time}, match {differed.match}, game {differed.game}, turn {differed.turn}"


def gap_text(match: int, step: Step, gap: Gap) -> str:
    """Return the place and the reason of a gap."""
    return f"match {match}, game {step.game}, turn {step.turn}: {clean(gap.reason, LONGEST_TEXT)}"


def missing_beginning_text(game: Game) -> str:
    """Return the note on a game that was first seen in its middle; empty for others."""
    return "" if game.has_beginning else "the beginning of the game is missing"


def entry_actions(step: Step) -> Iterator[tuple[Seat, str]]:
    """Yield each action of an entry with its player; nothing for a gap."""
    entry = step.entry
    mark = " (rebuilt)" if entry.rebuilt else ""
    match entry:
        case Throw(seat=seat):
            yield seat, f"{_roll_text(step, entry)}{mark}"
        case Continuation(seat=seat, play=play):
            yield seat, f"{_part_text(step.before, play)}{mark}"
        case Named(seat=seat, number=number):
            yield seat, f"names {number}{mark}"
        case RejectedRoll(seat=seat, dice=dice):
            yield seat, f"{max(dice)}{min(dice)}: rejects the roll, the cube shows {step.after.cube}"
        case Cube(seat=seat, action=action):
            yield seat, f"{_cube_text(step, action)}{mark}"
        case Resign(seat=seat, level=level, accepted=accepted):
            yield seat, f"resigns {level.words}{mark}"
            yield seat.other, "accepts" if accepted else "rejects"


def _roll_text(step: Step, entry: Throw) -> str:
    if entry.play is None:
        return f"{entry.numbers}: {CANNOT_MOVE if step.after.turn is not entry.seat else 'not played'}"
    if is_backgammon(step.before.rules):
        return f"{entry.numbers}: {format_play(entry.play, step.before.position_for(entry.seat))}"
    return _part_text(step.rolled or after_roll(step.before, entry), entry.play)


def _part_text(state: GameState, play: Play) -> str:
    """Return the numbers of a part of a turn, and its play."""
    return f"{''.join(map(str, state.part.numbers))}: {format_play(play, state)}"


def _cube_text(step: Step, action: CubeAction) -> str:
    words = {
        CubeAction.DOUBLE: f"doubles to {step.after.offered}",
        CubeAction.TAKE: "takes",
        CubeAction.PASS: "passes",
        CubeAction.BEAVER: f"redoubles to {step.after.offered}",
    }
    return words[action]


def result_text(result: Result | None, end: GameState, names: tuple[str, str]) -> str:
    """Return the result of a game, and the state in which it ended, as a sentence."""
    if result is None:
        drawn = f"The game is drawn ({clean(end.reason, LONGEST_TEXT)})."
        return drawn if end.drawn else "The game was not seen to its end."
    kind = result.level.name.lower()
    how = {
        Ending.BORNE_OFF: kind,
        Ending.DROPPED: "double passed",
        Ending.RESIGNED: f"{kind}, resigned",
        Ending.OTHER: clean(end.reason, LONGEST_TEXT),
    }[result.how]
    return f"{names[result.winner]} wins {plural(result.points, 'point')} ({how})."


def match_end_text(match: Transcript) -> str:
    """Return the result of a match as a sentence."""
    names, (a, b) = shown_names(match), match.scores
    if match.winner is None:
        end = "The match was not seen to its end." if match.length else "That is all of the match."
        return f"{end} Score: {names[Seat.A]} {a}, {names[Seat.B]} {b}."
    scores = sorted((a, b), reverse=True)
    return f"{names[match.winner]} wins the match, {scores[0]} to {scores[1]}."


@define
class MoveList:
    """Writes events as a score sheet: a column per player, each action after the number of its turn."""

    _names: tuple[str, str] = ("?", "?")
    _left: str = ""
    """The left column of the unfinished line."""
    _begun: bool = False

    def lines_for(self, event: events.MatchEvent) -> Iterator[str]:
        """Yield the lines that an event completes."""
        if isinstance(event, events.EntryAdded) and not isinstance(event.step.entry, Gap):
            for seat, action in entry_actions(event.step):
                yield from self._cell(seat, f"{event.step.turn:>3}  {action}")
            return
        yield from self.flush()
        match event:
            case events.MatchBegan(transcript=transcript):
                self._names = shown_names(transcript)
                yield from (*[""][: self._begun], match_text(event))
                self._begun = True
            case events.GameBegan(game=game):
                (a, b), start = self._names, game.start
                crawford = ", Crawford game" if start.crawford else ""
                yield from ("", f"  Game {game.number}{crawford}")
                yield f"    {a + f': {start.scores[Seat.A]}':{COLUMN_WIDTH}}  {b}: {start.scores[Seat.B]}"
                if missing := missing_beginning_text(game):
                    yield f"  --- missing: {missing}"
            case events.EntryAdded(step=step) if isinstance(step.entry, Gap):
                yield f"  --- missing: {clean(step.entry.reason, LONGEST_TEXT)}"
            case events.DifferenceFound(differences=differences):
                yield from (f"  !!! byte {event.offset}: {difference_text(difference)}" for difference in differences)
            case events.GameEnded(game=game):
                yield f"    {result_text(game.result, event.end, self._names)}"
            case events.MatchEnded(transcript=transcript):
                yield from ("", f"  {match_end_text(transcript)}")

    def flush(self) -> Iterator[str]:
        """Yield the unfinished line."""
        if self._left:
            yield f"  {self._left}"
        self._left = ""

    def _cell(self, seat: Seat, text: str) -> Iterator[str]:
        if seat is Seat.A:
            yield from self.flush()
            self._left = text
        else:
            yield f"  {self._left:{COLUMN_WIDTH + 2}}  {text}".rstrip()
            self._left = ""
