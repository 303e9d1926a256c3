"""A client that plays any game by the `table:` lines alone, choosing at random."""

from __future__ import annotations

import random
from collections.abc import Callable

from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.grammar import write_command
from fibs_protocol.table_state import TablePlayer, TableStage, TableState
from fibsbot.position import Play
from fibsbot.rules.general_plays import legal_plays
from fibsbot.table_lines import game_from_state, moves_to_fibs


@define
class RulesetPlayer:
    """Decides whatever a `table:` line waits for."""

    send: Callable[[str], None]
    random: random.Random
    doubles: float = 0.2
    resigns: float = 0.0
    table: TableState | None = None
    """The last one received."""
    tables: int = 0
    ends: list[m.Message] = field(factory=list)
    """The messages about games that ended."""
    refusals: list[str] = field(factory=list)
    unknown: list[str] = field(factory=list)
    """Lines that the grammar does not know."""

    def hear(self, message: m.Message, line: str) -> None:
        """Answer a message."""
        match message:
            case m.Refusal():
                self.refusals.append(line)
            case m.Unknown() | m.RefusedBoard() if line:
                self.unknown.append(line)
            case m.TableBoard(state):
                self.table = state
                self.tables += 1
                if state.decides is TablePlayer.PLAYER:
                    self.send(self.decide(state))
            case m.GameWonBy() | m.GameDrawn() | m.GaveUp() | m.ResignAccepted():
                self.ends.append(message)
            case m.JoinNextGame():
                self.send("join")

    def decide(self, state: TableState) -> str:
        """Return the command for what the game waits for."""
        if state.resignation or state.stage is TableStage.DOUBLED:
            return "accept" if self.random.random() < 0.6 else "reject"
        if self.random.random() < self.resigns:
            return f"resign {self.random.choice('ngb')}"
        if state.stage is TableStage.ROLL:
            return "double" if state.may_double and self.random.random() < self.doubles else "roll"
        if state.stage is TableStage.NAME:
            return f"name {self.random.choice(state.choices)}"
        game = game_from_state(state)
        plays = legal_plays(game.rules, game.sides, game.part) or (Play(),)
        return write_command(c.Move(moves_to_fibs(self.random.choice(plays))))
