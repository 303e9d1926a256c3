"""Boards of tables games as text, as FIBS draws that of backgammon: board styles 1 and 2."""

from __future__ import annotations

from typing import Final

from fibs_protocol.drawing import LOWER, UPPER, Half, draw_frame, draw_stack
from fibsbot.draw.board_text import situation
from fibsbot.rules.game import choices
from fibsbot.rules.ruleset import Part, Then
from fibsbot.rules.sides import HAND, OFF, START, Course, Side, Sides
from fibsbot.rules.state import GameState, Naming, Seat, Stage

COLOURS: Final = ("O", "X")


def draw_table(
    game: GameState, seat: Seat, names: tuple[str, str], *, style: int = 1, own_colour: str = "O"
) -> list[str]:
    """Draw the current state of a game, seen by one player: home below on the right, points as the player counts them.

    A checker that lies under one of the other side is a small letter. Below the board are the checkers in hand, on the
    bar and off, the dice, what of the turn is still to be played, and how the courses meet unless they are contrary.

    Args:
        game: the game, in any stage.
        seat: the player who sees it.
        names: names of seat A and seat B.
        style: 1, or 2 with the point numbers outside the frame.
        own_colour: the player's letter, O or X.
    """
    other_colour = COLOURS[own_colour == COLOURS[0]]
    letters = (own_colour, other_colour) if seat is Seat.A else (other_colour, own_colour)
    sides, course = game.sides_for(seat), game.rules.course
    bars = [side.row[HAND] - game.rules.in_hand(side) for side in (sides.own, sides.opponent)]
    upper, lower = (
        Half(
            numbers,
            [draw_stack(_column(sides, course, point, (own_colour, other_colour))) for point in numbers],
            draw_stack(letters[it] * bars[it is not seat]),
            f"{letters[it]}: {names[it]} - score: {game.scores[it]}",
        )
        for numbers, it in ((UPPER, seat.other), (LOWER, seat))
    )
    match = f"{game.length}-point match" if game.length else "unlimited match"
    return [
        *draw_frame(upper, lower, f"{match}, {game.rules.full_name}", style),
        _counts(game, letters, names),
        *_remarks(game, seat, letters, names),
    ]


def _column(sides: Sides, course: Course, point: int, colours: tuple[str, str]) -> str:
    """Return the checkers on a point from below to the top."""
    facing = course.facing(point)
    own, other = (
        letter.lower() if side.pinned >> place & 1 else letter * side.row[place]
        for side, place, letter in ((sides.own, point, colours[0]), (sides.opponent, facing, colours[1]))
    )
    return "".join(sorted((own, other), key=str.isupper))


def _counts(game: GameState, letters: tuple[str, str], names: tuple[str, str]) -> str:
    sides = sorted(zip(letters, (game.sides_for(it).own for it in Seat), strict=True))
    places = {
        "HAND": [(letter, game.rules.in_hand(side)) for letter, side in sides],
        "BAR": [(letter, side.row[HAND] - game.rules.in_hand(side)) for letter, side in sides],
        "OFF": [(letter, side.row[OFF]) for letter, side in sides],
    }
    if not game.rules.setup.get(HAND):
        del places["HAND"]
    words = [f"{name}: " + " ".join(f"{letter}-{count}" for letter, count in it) for name, it in places.items()]
    if game.laws.cube:
        owner = f" (owned by {names[game.owner]})" if game.cube > 1 and game.owner is not None else ""
        words.append(f"Cube: {game.cube}{' (Crawford game)' if game.crawford else owner}")
    elif game.cube > 1:
        words.append(f"Stake: {game.cube}")
    return f"   {'   '.join(words)}  {_turn(game, names)}".rstrip()


def _turn(game: GameState, names: tuple[str, str]) -> str:
    if game.dice and game.stage in {Stage.MOVE, Stage.NAME}:
        thrower = game.turn.other if game.passed else game.turn
        return f"{names[thrower]} rolled {' '.join(map(str, game.dice))}."
    return "" if game.decides is None else f"turn: {names[game.decides]}"


def _remarks(game: GameState, seat: Seat, letters: tuple[str, str], names: tuple[str, str]) -> list[str]:
    """Return what has to be said below the board about the turn, pins and courses."""
    remarks = []
    if game.stage is Stage.MOVE and not _is_plain(game):
        remarks.append(f"{names[game.turn]} to play: {describe_turn(game)}.")
    if game.sides.own.pinned or game.sides.opponent.pinned:
        remarks.append("A small letter is a checker that lies under the others on its point.")
    course, own, other = game.rules.course, letters[seat], letters[seat.other]
    if course is not Course.CONTRARY:
        start, end = course.facing(START), course.facing(1)
        remarks.append(f"{own} moves from 24 down to 1, {other} the same way from {start} to {end}.")
    return [f"   {remark}" for remark in remarks]


def _is_plain(game: GameState) -> bool:
    """Return whether the dice alone say what is to be played."""
    part, dice = game.part, game.dice or ()
    plain = part.compulsory and not (part.ordered or part.one_checker)
    doubled = dice * 2 if len(set(dice)) == 1 else dice
    return len(game.turn_left) == 1 and plain and sorted(part.numbers) in (sorted(dice), sorted(doubled))


def describe_turn(game: GameState) -> str:
    """Return what of a turn is still to be played, such as `3 3 3 3, then 4 4 4 4, then another roll`."""
    return ", then ".join(_describe_part(it) if isinstance(it, Part) else _THEN[it] for it in game.turn_left)


_THEN: Final = {Then.ROLL: "another roll", Then.NAME_DOUBLE: "a double of the player's choice"}


def _describe_part(part: Part) -> str:
    facts = (
        (part.ordered, "in this order"),
        (part.one_checker, "with one checker"),
        (not part.compulsory, "as far as the player likes"),
    )
    return " ".join((*map(str, part.numbers), *(fact for holds, fact in facts if holds)))


def describe_game(game: GameState, names: tuple[str, str]) -> list[tuple[str, str]]:
    """Return the facts of a game that the drawing leaves out or abbreviates, each with its name."""
    sides = [game.sides_for(it).own for it in (game.turn, game.turn.other)]
    facts = [("game", f"{game.rules.title} ({game.rules.full_name})"), ("decision", table_situation(game, names))]
    facts.append(("pips", " to ".join(str(side.pips) for side in sides)))
    remembered = [
        (name, _memory(side)) for name, side in zip((names[game.turn], names[game.turn.other]), sides, strict=True)
    ]
    return [*facts, *((name, memory) for name, memory in remembered if memory)]


def _memory(side: Side) -> str:
    """Return what has to be remembered about a side."""
    return ", ".join(str(mark.name).lower().replace("_", " ") for mark in side.marks)


def table_situation(game: GameState, names: tuple[str, str]) -> str:
    """Return who has to do what in a tables game, or how it ended."""
    match game.stage:
        case _ if game.resignation:
            pass
        case Stage.OVER if game.result is None:
            return f"a draw: {game.reason}"
        case Stage.OVER if game.reason:
            return f"{situation(game, names)}, having {game.reason}"
        case Stage.NAME if game.namer is not None and game.naming is not None:
            return f"{names[game.namer]} to name {game.naming.value}: {', '.join(map(str, choices(game)))}"
        case Stage.CONTEST:
            return f"both to roll for {Naming.POINT.value}"
        case Stage.MOVE if not _is_plain(game):
            return f"{situation(game, names)}: {describe_turn(game)}"
    return situation(game, names)
