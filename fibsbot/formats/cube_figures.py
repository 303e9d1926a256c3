"""What an analysis in a file says of a double: the equities, and what they make the best actions."""

from __future__ import annotations

from attrs import frozen

from fibsbot.match import CubeAction


@frozen
class CubeFigures:
    """The analysis of a double, and of its answer; equities of the player who may double, normalised to the cube."""

    by: str
    """The program and how deep it searched."""
    no_double: float
    double_take: float
    double_pass: float

    @property
    def doubled(self) -> float:
        """The equity of the player who doubles, if the answer is right."""
        return min(self.double_take, self.double_pass)

    @property
    def action(self) -> CubeAction:
        """What is best before the roll."""
        return CubeAction.DOUBLE if self.doubled > self.no_double else CubeAction.ROLL

    @property
    def answer(self) -> CubeAction:
        """What is best after a double; whether a beaver would be is not read."""
        return CubeAction.TAKE if self.double_take <= self.double_pass else CubeAction.PASS
