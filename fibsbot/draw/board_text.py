"""Boards as text, as FIBS draws them, and sentences about who has to do what."""

from __future__ import annotations

from typing import Final

from attrs import evolve

from fibs_protocol.drawing import draw
from fibs_protocol.words import Colour
from fibsbot.fibs_numbering import board_of, dice_to_fibs
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat, Stage


def draw_state(state: MatchState, player: str = "player", opponent: str = "opponent") -> list[str]:
    """Draw the board of a decision, seen by the player who has to make it: O, whose home is below on the right."""
    return draw(board_of(state, player, opponent))


def draw_game(state: GameState, seat: Seat, names: tuple[str, str]) -> list[str]:
    """Draw the current state of a game, always seen from the same seat: O, whose home is below on the right."""
    seen = MatchState(
        board=state.position_for(seat),
        length=state.length,
        score=(state.scores[seat], state.scores[seat.other]),
        cube=state.cube,
        owner=state.owner_for(seat),
    )
    board = board_of(seen, names[seat], names[seat.other])
    if state.stage in {Stage.OPENING, Stage.OVER}:
        return draw(evolve(board, turn=None))
    if state.turn is seat:
        return draw(evolve(board, dice=dice_to_fibs(state.dice)))
    return draw(evolve(board, turn=Colour.X, opponent_dice=dice_to_fibs(state.dice)))


def describe_state(state: MatchState) -> list[tuple[str, str]]:
    """Return the facts that the drawing leaves out or abbreviates, each with its name."""
    own, theirs = state.position.pips, state.position.opponent_pips
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


def situation(state: GameState, names: tuple[str, str]) -> str:
    """Return who has to do what in a game, or who has won; names are those of seat A and seat B."""
    if state.resignation:
        offer = state.resignation
        return f"{names[offer.seat]} resigns ({offer.level.name.lower()}), {names[offer.seat.other]} to answer"
    match state.stage:
        case Stage.OPENING:
            return "the game begins"
        case Stage.OVER if state.result:
            points = "a point" if state.result.points == 1 else f"{state.result.points} points"
            return f"{names[state.result.winner]} wins {points}"
        case Stage.DOUBLED if state.answering is not None:
            seat = state.answering
            return f"{names[seat.other]} doubles to {state.offered}, {names[seat]} to answer"
        case Stage.MOVE if state.dice:
            return f"{names[state.turn]} to play{dice_text(state.dice)}"
    return f"{names[state.turn]} to roll"


def dice_text(dice: tuple[int, ...] | None) -> str:
    """Return dice after a blank, the highest first; nothing if there are none."""
    return f" {'-'.join(map(str, sorted(dice, reverse=True)))}" if dice else ""
