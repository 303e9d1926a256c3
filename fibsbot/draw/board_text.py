"""Decisions as text: the board as FIBS draws it, and its facts."""

from __future__ import annotations

import re
from typing import Final

from attrs import evolve
from rich.text import Text

from fibs_protocol.board import BoardState
from fibs_protocol.drawing import draw
from fibs_protocol.words import Colour
from fibsbot.fibs_numbering import DIRECTIONS, cells_from_position, length_to_fibs
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat, Stage

COLOURS: Final = {"O": ("●", "bold yellow"), "X": ("○", "bold cyan")}
"""Sign and style of each colour in a terminal; the signs differ also without colours."""

_COLOUR: Final = re.compile(r"(?<= )[OX](?= |: |-\d)")
"""A colour's letter: a checker, before a player's name, or before a count."""


def draw_state(state: MatchState, player: str = "player", opponent: str = "opponent") -> list[str]:
    """Draw the board of a decision, seen by the player who has to make it: O, whose home is below on the right."""
    return draw(_board(state, player, opponent))


def draw_game(state: GameState, seat: Seat, names: tuple[str, str]) -> list[str]:
    """Draw the current state of a game, always seen from the same seat: O, whose home is below on the right."""
    seen = MatchState(
        position=state.position_for(seat),
        length=state.length,
        score=(state.scores[seat], state.scores[seat.other]),
        cube=state.cube,
        owner=Owner.CENTRED if state.owner is None else Owner.PLAYER if state.owner is seat else Owner.OPPONENT,
    )
    board = _board(seen, names[seat], names[seat.other])
    if state.stage in {Stage.OPENING, Stage.OVER}:
        return draw(evolve(board, turn=None))
    if state.turn is seat:
        return draw(evolve(board, dice=state.dice or (0, 0)))
    return draw(evolve(board, turn=Colour.X, opponent_dice=state.dice or (0, 0)))


def _board(state: MatchState, player: str, opponent: str) -> BoardState:
    """Return the fields of a `board:` line; those not shown by the drawing have their initial values."""
    position = state.position
    pending = state.phase is Phase.DOUBLED
    return BoardState(
        player=player,
        opponent=opponent,
        length=length_to_fibs(state.length),
        score=state.score[0],
        opponent_score=state.score[1],
        points=cells_from_position(position, Colour.O, DIRECTIONS[Colour.O]),
        turn=Colour.X if pending else Colour.O,
        dice=state.dice or (0, 0),
        opponent_dice=(0, 0),
        cube=state.cube,
        may_double=state.owner is not Owner.OPPONENT,
        opponent_may_double=state.owner is not Owner.PLAYER,
        was_doubled=pending,
        colour=Colour.O,
        direction=DIRECTIONS[Colour.O],
        home=0,
        bar=25,
        off=position.off,
        opponent_off=position.opponent_off,
        on_bar=position.bar,
        opponent_on_bar=position.opponent_bar,
        can_move=0,
        forced_move=0,
        post_crawford=int(state.post_crawford),
        redoubles=state.redoubles,
    )


def styled_board(lines: list[str]) -> Text:
    """Return a drawn board for a terminal, with signs and colours for the checkers."""
    text = Text("\n").join(_styled(line) for line in lines)
    text.no_wrap = True
    return text


def _styled(line: str) -> Text:
    text = Text(_COLOUR.sub(lambda letter: COLOURS[letter[0]][0], line))
    for sign, style in COLOURS.values():
        text.highlight_regex(re.escape(sign), style)
    return text


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
            return "double or roll"
        case Phase.MOVE:
            return "play " + "-".join(map(str, state.dice or ()))
        case Phase.DOUBLED:
            beaver = ", pass or redouble" if state.redoubles else " or pass"
            return f"the opponent doubles to {2 * state.cube}: take{beaver}"
        case Phase.RESIGNED:
            return f"the opponent resigns {Level(state.resignation).words}: accept or reject"


def _score(state: MatchState) -> str:
    score = f"{state.score[0]} to {state.score[1]}"
    if state.length:
        game = ", Crawford game" if state.crawford else ", after the Crawford game" if state.post_crawford else ""
        return f"{score} in a match to {state.length}{game}"
    rules = [name for name, holds in (("Jacoby", state.jacoby), ("beavers", state.redoubles)) if holds]
    return f"{score} in an unlimited match" + (f" with {' and '.join(rules)}" if rules else "")
