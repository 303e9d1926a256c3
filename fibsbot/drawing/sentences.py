"""Sentences about a game: who has to do what, what is to be played, and what a drawing leaves out."""

from __future__ import annotations

from typing import Final

from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Position
from fibsbot.rules.game import choices
from fibsbot.rules.laws import Level
from fibsbot.rules.ruleset import Part, Then
from fibsbot.rules.sides import Side
from fibsbot.rules.state import GameState, Naming, Stage
from fibsbot.text import predicate

# -- games ----------------------------------------------------------------------------------------------------------


def situation(game: GameState, names: tuple[str, str]) -> str:
    """Return who has to do what in a game, or how it ended; names are those of seat A and seat B."""
    said = f"{names[game.turn]} to roll"
    if game.resignation:
        offer, name = game.resignation, names[game.resignation.seat]
        resigns = predicate(name, f"resigns ({offer.level.name.lower()})")
        return f"{name} {resigns}, {names[offer.seat.other]} to answer"
    match game.stage:
        case Stage.OPENING:
            said = "the game begins"
        case Stage.OVER:
            said = _ending(game, names)
        case Stage.DOUBLED if game.answering is not None:
            name = names[game.answering.other]
            said = f"{name} {predicate(name, 'doubles')} to {game.offered}, {names[game.answering]} to answer"
        case Stage.NAME if game.namer is not None and game.naming is not None:
            said = f"{names[game.namer]} to name {game.naming.value}: {', '.join(map(str, choices(game)))}"
        case Stage.CONTEST:
            said = f"both to roll for {Naming.POINT.value}"
        case Stage.MOVE if game.dice:
            rest = "" if is_plain(game) else f": {describe_turn(game)}"
            said = f"{names[game.turn]} to play{dice_text(game.dice)}{rest}"
    return said


def _ending(game: GameState, names: tuple[str, str]) -> str:
    if game.result is None:
        return f"a draw: {game.reason}"
    points = "a point" if game.result.points == 1 else f"{game.result.points} points"
    winner = names[game.result.winner]
    return f"{winner} {predicate(winner, 'wins')} {points}" + (f", having {game.reason}" if game.reason else "")


def dice_text(dice: tuple[int, ...] | None) -> str:
    """Return dice after a blank, the highest first; nothing if there are none."""
    return f" {'-'.join(map(str, sorted(dice, reverse=True)))}" if dice else ""


def is_plain(game: GameState) -> bool:
    """Return whether the dice alone say what is to be played in a turn."""
    part, dice = game.part, game.dice or ()
    plain = part.compulsory and not (part.ordered or part.one_checker)
    doubled = dice * 2 if len(set(dice)) == 1 else dice
    return len(game.turn_left) == 1 and plain and sorted(part.numbers) in (sorted(dice), sorted(doubled))


def describe_turn(game: GameState) -> str:
    """Return what of a turn is still to be played, such as `3 3 3 3, then 4 4 4 4, then another roll`."""
    return ", then ".join(_describe_part(step) if isinstance(step, Part) else _THEN[step] for step in game.turn_left)


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
    sides = [game.sides_for(seat).own for seat in (game.turn, game.turn.other)]
    facts = [("game", f"{game.rules.title} ({game.rules.full_name})"), ("decision", situation(game, names))]
    facts.append(("pips", " to ".join(str(side.pips) for side in sides)))
    remembered = [
        (name, _memory(side)) for name, side in zip((names[game.turn], names[game.turn.other]), sides, strict=True)
    ]
    return [*facts, *((name, memory) for name, memory in remembered if memory)]


def _memory(side: Side) -> str:
    """Return what has to be remembered about a side."""
    return ", ".join(str(mark.name).lower().replace("_", " ") for mark in side.marks)


# -- decisions ------------------------------------------------------------------------------------------------------


def is_over(state: MatchState) -> bool:
    """Return whether a side of a position of backgammon has borne off all its checkers: the position was typed in."""
    return isinstance(state.board, Position) and state.board.over


def decision_title(state: MatchState, names: tuple[str, str]) -> str:
    """Return who has to do what in a decision, or who has won; names are those of the player and the opponent."""
    player, opponent = names
    if is_over(state):
        return f"{player if state.position.off > state.position.opponent_off else opponent} has borne off"
    match state.phase:
        case Phase.MOVE | Phase.NAME:
            what = f"name {state.naming.value}" if state.naming else f"play{dice_text(state.dice)}"
            return f"{player} to {what}"
        case Phase.DOUBLED:
            return f"{opponent} doubles to {2 * state.cube}, {player} to answer"
        case Phase.RESIGNED:
            return f"{opponent} resigns ({Level(state.resignation).name.lower()}), {player} to answer"
        case Phase.ROLL:
            return f"{player} to {'double or roll' if state.may_double else 'roll'}"


def describe_state(state: MatchState) -> list[tuple[str, str]]:
    """Return the facts that the drawing leaves out or abbreviates, each with its name."""
    own, theirs = state.sides.own.pips, state.sides.opponent.pips
    return [
        ("decision", _decision(state)),
        ("pips", f"{own} to {theirs}"),
        ("score", _score(state)),
        ("cube", f"{state.cube}, {_OWNERS[state.owner]}"),
    ]


_OWNERS: Final = {
    Owner.CENTRED: "in the middle",
    Owner.PLAYER: "owned by the player",
    Owner.OPPONENT: "owned by the opponent",
}


def _decision(state: MatchState) -> str:
    match state.phase:
        case Phase.ROLL:
            return "double or roll" if state.may_double else "roll"
        case Phase.MOVE:
            return "play " + "-".join(map(str, state.dice or ()))
        case Phase.DOUBLED:
            beaver = ", pass or redouble" if state.redoubles else " or pass"
            return f"the opponent doubles to {2 * state.cube}: take{beaver}"
        case Phase.RESIGNED:
            return f"the opponent resigns {Level(state.resignation).words}: accept or reject"
        case Phase.NAME:
            return f"name {state.naming.value if state.naming else 'a number'}"


def _score(state: MatchState) -> str:
    score = f"{state.score[0]} to {state.score[1]}"
    if state.length:
        game = ", Crawford game" if state.crawford else ", after the Crawford game" if state.post_crawford else ""
        return f"{score} in a match to {state.length}{game}"
    rules = [name for name, holds in (("Jacoby", state.jacoby), ("beavers", state.redoubles)) if holds]
    return f"{score} in an unlimited match" + (f" with {' and '.join(rules)}" if rules else "")
