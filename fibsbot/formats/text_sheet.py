"""A score sheet as text: matches of any game, to be read by people.

A column for each player, as in a `.mat` file; further parts of a turn stand below its roll, with their numbers. Plays
are written as their player counts the points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fibsbot.formats import single_line
from fibsbot.match import CubeAction, Phase
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.state import GameState, Seat
from fibsbot.text import plural
from fibsbot.transcript import (
    Contest,
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
    decisions,
    walk,
)

_WIDTH: Final = 34
"""Characters of a column."""
_CUBE_WORDS: Final = {
    CubeAction.DOUBLE: "doubles to {}",
    CubeAction.TAKE: "takes",
    CubeAction.PASS: "drops",
    CubeAction.BEAVER: "beavers to {}",
}


def write_text_sheet(transcript: Transcript) -> str:
    """Return a match as a score sheet. Raises TranscriptError where the match cannot have happened so."""
    return "\n".join(_lines(transcript)) + "\n\n"


def _lines(transcript: Transcript) -> Iterator[str]:
    names = [single_line(player.name, "?") for player in transcript.players]
    rules = transcript.rules
    length = f"match to {plural(transcript.length, 'point')}" if transcript.length else "unlimited match"
    yield f"{names[Seat.A]} - {names[Seat.B]}: {rules.title} ({rules.full_name}), {length}"
    for game in transcript.games:
        yield from _game_lines(game, names)
    a, b = transcript.scores
    winner = "" if transcript.winner is None else f", {names[transcript.winner]} wins"
    yield ""
    yield f"Score: {names[Seat.A]} {a}, {names[Seat.B]} {b}{winner}"


def _game_lines(game: Game, names: list[str]) -> Iterator[str]:
    a, b = game.start.scores
    crawford = ", Crawford game" if game.start.crawford else ""
    yield ""
    yield f"Game {game.number}: {names[Seat.A]} {a}, {names[Seat.B]} {b}{crawford}"
    if not game.has_beginning:
        yield f"  first seen in turn {game.start.turns + 1}"
    end = game.start
    rows: list[tuple[str, str]] = []
    for step in walk(game):
        end = step.after
        if isinstance(step.entry, Gap):
            rows.append((f"gap: {single_line(step.entry.reason)}", ""))
            continue
        for seat, words in _acts(step):
            if seat is Seat.B and rows and not rows[-1][1]:
                rows[-1] = rows[-1][0], words
            else:
                rows.append((words, "") if seat is Seat.A else ("", words))
    for number, (left, right) in enumerate(rows, 1):
        yield f"{number:4}) {left:<{_WIDTH}} {right}".rstrip()
    yield f"      {_result(game, end, names)}"


def _acts(step: Step) -> Iterator[tuple[Seat, str]]:
    """Yield what an entry says that the players do."""
    mark = " (rebuilt)" if step.entry.rebuilt else ""
    match step.entry:
        case Throw(seat=seat, play=play) as roll:
            text = "" if play is None else decisions(step)[-1].text
            yield seat, f"{roll.numbers}: {text}{mark}".rstrip()
        case RejectedRoll(seat=seat, dice=dice):
            yield seat, f"{''.join(map(str, dice))}: rejected, the cube shows {step.after.cube}"
        case Contest(totals=(a, b)):
            yield Seat.A, f"rolls {a}"
            yield Seat.B, f"rolls {b}"
        case Cube(seat=seat, action=action):
            yield seat, _CUBE_WORDS[action].format(step.after.offered) + mark
        case Resign(seat=seat, level=level, accepted=accepted):
            yield seat, f"resigns {level.words}"
            yield seat.other, "accepts" if accepted else "rejects"
        case Continuation() | Named():
            for decision in decisions(step):
                numbers = "".join(map(str, decision.state.part.numbers)) if decision.state.phase is Phase.MOVE else ""
                words = f"{numbers}: {decision.text}" if numbers else decision.text.replace("name", "names")
                yield decision.seat, words + mark


def _result(game: Game, end: GameState, names: list[str]) -> str:
    if end.drawn:
        return f"a draw: {end.reason}"
    result = game.result
    if result is None:
        return "not seen to its end"
    won = f"{names[result.winner]} wins {plural(result.points, 'point')}"
    if end.reason and not is_backgammon(end.rules):
        return f"{won}, having {end.reason}"
    return f"{won} ({result.how.value})"
