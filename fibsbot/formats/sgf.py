"""SGF, game 6: the format of GNU Backgammon, one game tree a game (red-bean.com/sgf/backgammon.html).

Written so that GNU Backgammon 1.07 takes it as it is meant, which differs from the specification in two things: games
are numbered from 0, and a player who throws and does not play any more has dice put on the board (DI).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from attrs import define, evolve

from fibsbot.formats import FormatError, expected, single_line
from fibsbot.formats import sgf_properties as properties
from fibsbot.formats.checked_game import CheckedGame, CheckedMatch, likeness, resigned_level
from fibsbot.formats.match_laws import NACKGAMMON, name_of_setup, unusual_setup, with_setup
from fibsbot.formats.sgf_properties import BACKGAMMON, RootInfo, read_match_details, write_root
from fibsbot.formats.sgf_trees import Node, Tree, escape_value, parse_trees
from fibsbot.games.state_json import HIGHEST_CUBE
from fibsbot.match import CubeAction
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import (
    Cube,
    Entry,
    Game,
    Gap,
    RejectedRoll,
    Resign,
    Throw,
    Transcript,
    TranscriptError,
    walk,
)

REBUILT: Final = "rebuilt"
"""The comment on what was not seen, but is the only thing that can have happened."""
SETUP: Final = "set-up"
"""The comment on a board from which a game begins with its opening roll."""
GAP_PREFIX: Final = "gap: "
"""How the comment begins on a board that was seen after something unknown had happened."""
UNKNOWN_REASON: Final = "unknown"
"""The reason of a gap for which the file has none."""
ACTIONS: Final = {"double": CubeAction.DOUBLE, "take": CubeAction.TAKE, "drop": CubeAction.PASS}
COLOUR_NAMES: Final = {Seat.A: "White", Seat.B: "Black"}
_REFUSED_RESIGNATION: Final = re.compile(
    rf"({'|'.join(COLOUR_NAMES.values())}) wants to resign ({'|'.join(level.words for level in Level)}): refused"
)
_REJECTED_ROLL: Final = re.compile(
    rf"({'|'.join(COLOUR_NAMES.values())}) rejects the first roll ([1-6])([1-6]) and doubles the cube"
)
_SEATS: Final = {name: seat for seat, name in COLOUR_NAMES.items()}
_PLAY: Final = re.compile(r"([1-6])([1-6])((?:[a-z]{2}){0,4})")
_RESIGNATION: Final = re.compile(r"resign(?::([0-9]{1,9}))?")
_ANSWERS: Final = {"accept": True, "reject": False}
_RESULT: Final = re.compile(r"([BW])\+([0-9]{0,9})(R?)", re.IGNORECASE)


# -- writing ----------------------------------------------------------------------------------------------------------


def write_sgf(transcript: Transcript) -> str:
    """Return a match as SGF, a tree a game."""
    games = transcript.games or (Game(1, start_match(FIBS, transcript.length)),)
    return "".join(_write_game(transcript, game, first=game is games[0]) for game in games)


def _write_game(transcript: Transcript, game: Game, *, first: bool) -> str:
    head = write_root(transcript, game, _result(game), first=first)
    nodes = [head, *_setup_nodes(game.start, game.entries)] if _is_set_up(game) else [head]
    if len(nodes) > 1 and game.start.stage is Stage.OPENING:
        nodes[1] += f"C[{SETUP}]"
    for index, entry in enumerate(game.entries):
        written = _write_entry(entry, game.entries[index + 1 :])
        if entry.rebuilt and written:
            written[0] += f"C[{REBUILT}]"
        nodes += written
    return "(;" + "\n;".join(nodes) + ")\n"


def _is_set_up(game: Game) -> bool:
    """Whether a game needs nodes that set up its board: RU does not say where it begins."""
    if game.start.stage is not Stage.OPENING:
        return True
    setup = unusual_setup(game.start)
    return setup is not None and name_of_setup(setup) != NACKGAMMON


def _write_entry(entry: Entry, rest: tuple[Entry, ...]) -> list[str]:
    match entry:
        case Throw(play=None, seat=seat, dice=dice):
            # If only a refused resignation came in between, the same roll comes again with its play.
            return [] if _played_later(rest) else [properties.write_dice(seat, dice)]
        case Throw():
            return [_write_play(entry)]
        case Cube(seat=seat, action=action):
            word = next((word for word, meant in ACTIONS.items() if meant is action), "double")
            return [f"{properties.COLOURS[seat]}[{word}]"]
        case RejectedRoll() | Resign(accepted=False):
            return [f"C[{_comment(entry)}]"]
        case Gap(then=then):
            nodes = _setup_nodes(then, rest)
            nodes[0] += f"C[{GAP_PREFIX}{escape_value(single_line(entry.reason, UNKNOWN_REASON))}]"
            return nodes
    return []  # an accepted resignation is in the result


def _comment(entry: RejectedRoll | Resign) -> str:
    """Return what the format has only comments for."""
    player = COLOUR_NAMES[entry.seat]
    if isinstance(entry, Resign):
        return f"{player} wants to resign {entry.level.words}: refused"
    return f"{player} rejects the first roll {max(entry.dice)}{min(entry.dice)} and doubles the cube"


def _played_later(rest: tuple[Entry, ...]) -> bool:
    """Whether a roll without its play comes again with it, as the next roll."""
    following = next((entry for entry in rest if isinstance(entry, Throw | Gap)), None)
    return isinstance(following, Throw)


def _write_play(entry: Throw) -> str:
    moves = entry.play.ordered if entry.play else []
    letters = "".join(
        properties.point_letter(move.source, entry.seat) + properties.point_letter(move.target, entry.seat)
        for move in moves
    )
    return f"{properties.COLOURS[entry.seat]}[{entry.dice[0]}{entry.dice[1]}{letters}]"


def _setup_nodes(state: GameState, rest: tuple[Entry, ...]) -> list[str]:
    """Return the nodes that bring a game into a state; `rest` is what happens after it."""
    turn = state.turn
    if state.stage is Stage.OPENING:  # who is on turn will be seen
        turn = next((entry.seat for entry in rest if isinstance(entry, Throw)), turn)
    nodes = properties.write_setup(state, turn)
    if state.stage is Stage.DOUBLED:
        seats = [turn if step % 2 == 0 else turn.other for step in range(state.redoubles + 1)]
        nodes += [f"{properties.COLOURS[seat]}[double]" for seat in seats]
    return nodes


def _result(game: Game) -> str:
    result = game.result or _reached_result(game)
    if result is None:
        return ""
    last = game.entries[-1] if game.entries else None
    resigned = result.how is Ending.RESIGNED or (isinstance(last, Resign) and last.accepted)
    return f"{properties.COLOURS[result.winner]}+{result.points}{'R' if resigned else ''}"


def _reached_result(game: Game) -> Result | None:
    """Return the result that the entries lead to."""
    state = game.start
    try:
        for step in walk(game):
            state = step.after
    except TranscriptError:
        return None
    return state.result


# -- reading ----------------------------------------------------------------------------------------------------------


def iter_sgf(text: str) -> Iterator[Transcript]:
    """Yield the matches of an SGF text, at least one.

    What belongs to other games than backgammon, other branches than the first, comments and properties that say nothing
    of a match's course are passed over. Raises FormatError.
    """
    match: _MatchReader | None = None
    other = "no game"
    for tree in parse_trees(text.removeprefix("\ufeff")):
        kind = (tree[0].value("GM") or "1").strip()
        if kind != BACKGAMMON:
            other = f"GM[{kind[:10]}]"
            continue
        head = RootInfo.read(tree[0])
        if match is None or not match.continues(head):
            if match is not None:
                yield match.transcript()
            match = _MatchReader(head, read_match_details(tree[0], head.names))
        match.add(head, tree)
    if match is None:
        raise expected("a game of backgammon in SGF, GM[6]", other)
    yield match.transcript()


@define
class _MatchReader(CheckedMatch):
    """A match that is being read."""

    head: RootInfo
    """Of the first game."""
    details: Transcript

    def continues(self, head: RootInfo) -> bool:
        """Whether a game is the next one of this match."""
        if self.head.length != head.length:
            return False
        if head.number is None:
            return self.head.names == head.names and sum(head.start.scores) >= sum(self.games[-1].start.scores)
        same = all(likeness(*names) for names in zip(self.head.names, head.names, strict=True))
        return same and head.number > self.games[-1].number

    def add(self, head: RootInfo, tree: Tree) -> None:
        """Read a game."""
        if head.names != self.head.names:
            meant = " and ".join(self.head.names)
            self.remarks[head.names] = f"line {tree[0].line}: {' and '.join(head.names)} are taken for {meant}"
        number = head.number or len(self.games) + 1
        game = _SgfGameReader(CheckedGame(number, head.start, first=not self.games))
        game.read(tree)
        self.end_game(game.checked)

    def transcript(self) -> Transcript:
        """Return the match. Raises FormatError where no turn of it can be read."""
        return self.with_games(evolve(self.details, length=self.head.length))


@define
class _SgfGameReader:
    """A game that is being read."""

    checked: CheckedGame
    after_setup: bool = False
    """Whether the last thing that happened is that a board was set up."""
    offered: tuple[Seat, Level] | None = None
    """The player and the level of an offer to resign that has no answer yet."""

    def read(self, tree: Tree) -> None:
        """Read a game's main line."""
        root = tree[0]
        self.checked.line = root.line
        if properties.has_board(root):  # CV and CP mean something else here
            wanted = {
                name: values for name, values in root.properties.items() if name in {*properties.BOARD_PROPERTIES, "PL"}
            }
            self._apply_setup(Node(root.line, wanted))
        with self.checked.reading(root.line):
            self._moves(root)
            for node in tree[1:]:
                self.checked.line = node.line
                if properties.sets_up(node):
                    self._apply_setup(node)
                self._moves(node)
                self._comment(node)
        self._take_result(root)

    def _apply_setup(self, node: Node) -> None:
        checked = self.checked
        comment = single_line(node.value("C") or "")
        state = properties.read_setup(node, checked.state)
        dice = properties.read_dice(node.value("DI") or "")
        rolled = not self.after_setup or checked.state.dice is not None
        if dice and rolled and not properties.has_board(node):
            checked.add(Throw(seat=state.turn, dice=dice, rebuilt=comment == REBUILT))
            self.after_setup = False
            return
        if not checked.entries and comment == SETUP:
            checked.restart(with_setup(checked.start, state.position_for(Seat.A)))
            return
        if not checked.entries and not comment.startswith(GAP_PREFIX):
            checked.restart(state)
        elif self.after_setup and not properties.has_board(node):
            self._replace(state)
        else:
            reason = comment.removeprefix(GAP_PREFIX) or UNKNOWN_REASON
            checked.add(Gap(reason=reason, then=state))
        self.after_setup = self.after_setup or properties.has_board(node)

    def _replace(self, state: GameState) -> None:
        """Say otherwise what has been set up last."""
        checked = self.checked
        if not checked.entries:
            checked.restart(state)
            return
        gap = checked.entries[-1]
        if isinstance(gap, Gap):
            checked.entries[-1] = evolve(gap, then=state)
            checked.state = state

    def _moves(self, node: Node) -> None:
        for seat, colour in properties.COLOURS.items():
            for value in node.properties.get(colour, ())[:1]:
                self._correct_turn(seat)
                self._move(seat, "".join(value.split()).lower(), node)
                self.after_setup = False

    def _correct_turn(self, seat: Seat) -> None:
        """Believe a player who acts first on a board that was set up: GNU Backgammon often writes a wrong PL."""
        state = self.checked.state
        if self.after_setup and state.stage is Stage.ROLL and state.turn is not seat:
            self._replace(evolve(state, turn=seat, board=state.position.swapped()))

    def _move(self, seat: Seat, value: str, node: Node) -> None:
        checked = self.checked
        if value in ACTIONS:
            checked.cube(seat, ACTIONS[value])
        elif resignation := _RESIGNATION.fullmatch(value):
            cube = checked.state.cube  # the number is what the game counts then
            self.offered = seat, resigned_level(int(resignation[1] or cube), cube)
        elif value in _ANSWERS:
            self._answer(seat, value)
        elif found := _PLAY.fullmatch(value):
            points = [properties.letter_point(name, seat) for name in found[3]]
            moves = list(zip(points[::2], points[1::2], strict=True))
            checked.throw(seat, (int(found[1]), int(found[2])), moves)
        else:
            raise expected("a move such as 31hefe, double, take or drop", value, node.line)
        if single_line(node.value("C") or "") == REBUILT:
            checked.entries[-1] = evolve(checked.entries[-1], rebuilt=True)

    def _answer(self, seat: Seat, value: str) -> None:
        """Add the offer to resign that this answers."""
        if self.offered is None or self.offered[0] is seat:
            raise expected("an offer to resign before its answer", value, self.checked.line)
        (loser, level), self.offered = self.offered, None
        self.checked.resign(loser, level, accepted=_ANSWERS[value])

    def _comment(self, node: Node) -> None:
        """Add what the format has only comments for."""
        comment = single_line(node.value("C") or "")
        if found := _REFUSED_RESIGNATION.fullmatch(comment):
            level = next(level for level in Level if level.words == found[2])
            self.checked.resign(_SEATS[found[1]], level, accepted=False)
        elif found := _REJECTED_ROLL.fullmatch(comment):
            self.checked.reject_roll(_SEATS[found[1]], (int(found[2]), int(found[3])))

    def _take_result(self, root: Node) -> None:
        """Take the result from the root, if the entries do not reach the end of the game."""
        checked = self.checked
        checked.line = root.line
        found = _RESULT.match("".join((root.value("RE") or "").split()))
        if not found or checked.over:
            return
        winner = properties.SEATS[found[1].upper()]
        cube = checked.state.cube
        points = int(found[2] or cube)
        if not 1 <= points <= 3 * HIGHEST_CUBE:
            raise FormatError(f"line {root.line}: expected a result of at least a point, got {points}")
        level = Level(min(max(points // cube, 1), 3))
        checked.stated = Result(winner, points, level, Ending.RESIGNED if found[3] else Ending.BORNE_OFF)
        if found[3] and not checked.problem:
            checked.resign(winner.other, level)
