"""Sentences that say who has to do what in a game."""

from __future__ import annotations

from fibsbot.rules.state import MatchGame, Stage


def situation(state: MatchGame, names: tuple[str, str]) -> str:
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
