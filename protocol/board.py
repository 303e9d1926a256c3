"""BoardState: the 53 tokens of a `board:` line, both ways (clip_facts 1; specification: "Board State")."""

from __future__ import annotations

from attrs import frozen

from protocol.words import Colour, Dice


@frozen
class BoardState:
    """A `board:` line. Fields stand in the order of its tokens; the names are the specification's."""

    player: str
    """YOU in a game of our own, else the name of the player whom we watch."""
    opponent: str
    length: int
    """Match length; UNLIMITED is 9999."""
    score: int
    opponent_score: int
    points: tuple[int, ...]
    """26 cells: 0 is X's bar, 1 to 24 the points, 25 O's bar; O's checkers are positive, X's negative."""
    turn: Colour | None
    """None when the game is over or between two games. Not to be trusted while a double is pending."""
    dice: Dice
    """The player's dice; (0, 0) when there are none."""
    opponent_dice: Dice
    cube: int
    may_double: bool
    """True even in the Crawford game and when the cube is dead: see clip_facts, pitfall 13."""
    opponent_may_double: bool
    was_doubled: bool
    """True only on a board that was asked for while the opponent's double is pending."""
    colour: Colour
    """The player's colour."""
    direction: int
    """-1 when the player moves from 24 to 1, 1 when from 1 to 24."""
    home: int
    bar: int
    off: int
    """The player's checkers borne off."""
    opponent_off: int
    on_bar: int
    """The player's checkers on the bar."""
    opponent_on_bar: int
    can_move: int
    """Stale except right after the player's own roll."""
    forced_move: int
    """Not to be trusted."""
    post_crawford: int
    """1 after the Crawford game was played ("did Crawford")."""
    redoubles: int
    """Instant redoubles allowed in unlimited matches."""
