"""What an error says about a name that other libraries have and this one has not: where the same is found here.

Python itself suggests names that are spelled much alike; these are the others. The tests try each name in a hint.
"""

from __future__ import annotations

from typing import Final

_PLAYS: Final = "the legal plays are board.plays"
_PLAY: Final = "board.play(...) returns the board after a play"
_EARLIER: Final = "a board never changes, board.play(...) returns another one: keep the one from before"
_PLAYER: Final = "the player who decides is board.player"
_CHECKERS: Final = "the checkers are board.decision.position, in other games than backgammon board.decision.sides"
_ID: Final = "the XGID is board.id, GNU Backgammon's ID board.gnubg_id"
_SAME_SIDE: Final = "a board is always seen by the player who decides, board.player"
_KIND: Final = "whether the sides can still meet is board.decision.position.contact"
_VALUE: Final = "what a board is worth is bg.evaluate(board), each play bg.rank(board), the cube bg.cube(board)"

BOARD_HINTS: Final = {
    "legal_plays": _PLAYS,
    "legal_moves": _PLAYS,
    "moves": _PLAYS,
    "is_legal": "board.play(...) raises RuleError for an illegal play, and says why; the legal ones are board.plays",
    "push": _PLAY,
    "move": _PLAY,
    "pop": _EARLIER,
    "undo": _EARLIER,
    "copy": "a board never changes and needs no copy: actions such as board.play return another one",
    "turn": _PLAYER,
    "on_roll": _PLAYER,
    "pip_count": "the pips of both players are board.pips",
    "is_game_over": "whether the game is over is board.is_over, the match board.is_match_over",
    "result": "who has won is board.winner, the score board.score",
    "outcome": "who has won is board.winner, the score board.score",
    "piece_at": _CHECKERS,
    "points": _CHECKERS,
    "checkers": _CHECKERS,
    "bar": _CHECKERS,
    "off": _CHECKERS,
    "position": _CHECKERS,
    "fen": _ID,
    "xgid": _ID,
    "flip": _SAME_SIDE,
    "mirror": _SAME_SIDE,
    "swap": _SAME_SIDE,
    "swapped": _SAME_SIDE,
    "opponent": _PLAYER,
    "contact": _KIND,
    "is_race": _KIND,
    "equity": _VALUE,
    "svg": "a picture is bg.draw(board), its text bg.draw(board).svg",
}
"""By names that somebody may try at a `Board`."""

MATCH_HINTS: Final = {
    "moves": "the plays of a game are among the entries of match.games[0].entries, the boards are match.boards",
    "plays": "the plays of a game are among the entries of match.games[0].entries, the boards are match.boards",
    "pr": "the PR is that of an analysis: bg.analyse(match).pr",
    "errors": "the errors are those of an analysis: bg.analyse(match).errors()",
    "result": "who has won is match.winner, the score match.score",
}
"""By names that somebody may try at a `Match`."""

MODULE_HINTS: Final = {
    "load": "matches are read by bg.read(...)",
    "open": "matches are read by bg.read(...)",
    "best": "the best play is bg.rank(board)[0]",
    "best_play": "the best play is bg.rank(board)[0]",
    "Move": "plays are read by board.play(...), as fibsbot.notation.parse_play does",
    "parse_play": "plays are read by board.play(...), as fibsbot.notation.parse_play does",
    "Position": "positions are fibsbot.position.Position; most programs need bg.Board",
    "Game": "a game at a moment is a bg.Board, the games of a match are match.games",
}
"""By names that somebody may try at the module `fibsbot`, here called `bg`."""


def missing(owner: object, kind: str, name: str, hint: str) -> AttributeError:
    """Return the error for a name that something has not; `kind` is what Python calls it, such as `'Board' object`."""
    return AttributeError(f"{kind} has no attribute {name!r}: {hint}", name=name, obj=owner)
