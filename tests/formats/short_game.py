"""The beginning of a game that several formats are tested with."""

from __future__ import annotations

from typing import Final

from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.rules.state import Seat
from fibsbot.transcript import Cube, Throw

MOVES: Final = (
    Throw(seat=Seat.A, dice=(4, 1), play=Play.of((24, 23), (13, 9))),
    Throw(seat=Seat.B, dice=(6, 5), play=Play.of((24, 18), (18, 13))),
    Cube(seat=Seat.A, action=CubeAction.DOUBLE),
    Cube(seat=Seat.B, action=CubeAction.TAKE),
    Throw(seat=Seat.A, dice=(3, 3), play=Play.of((8, 5), (8, 5), (6, 3), (6, 3))),
    Throw(seat=Seat.B, dice=(6, 2), play=Play.of((24, 18), (13, 11))),
)
