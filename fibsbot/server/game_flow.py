"""The course of a game: opening roll, turns, automatic moves, why a move is refused, the end of game and match.

A program that acts at every board gets one board for each decision, or asks for it: after `can't move` and in a
resumed match no board comes by itself, and the board after a move is not sent to somebody for whom the server rolls
at once, if it would show that a double is possible.

Specification: "Start a Game", "Player's Turn", "Move", "End of a Game", "End of a Match", "Watching a Game".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import UNLIMITED, FibsMove, Toggle

from fibsbot import fibs
from fibsbot.match import Dice
from fibsbot.position import BAR, OFF, Move, Play, Position
from fibsbot.rules import game
from fibsbot.rules.game import Ending, Result, Seat, Stage, refusal_to_double
from fibsbot.rules.plays import legal_plays, resulting_positions
from fibsbot.server.accounts import RatingCalculation
from fibsbot.server.audience import MatchView, match_views, send_boards, tell_viewers
from fibsbot.server.server_match import ServerMatch, update_laws
from fibsbot.server.world import World

FIBS_BAR_NUMBERS: Final = {1: 0, -1: BAR}
"""The number under which the server speaks of the bar of a player who moves in this direction."""


def possible_moves(position: Position, dice: Dice) -> int:
    """Return how many checkers can be moved: 0 to 4."""
    return max(map(len, resulting_positions(position.points, dice).values()), default=0)


def greedy_play(position: Position, dice: Dice) -> Play | None:
    """Return the play that bears off a checker with every number; None if there is none.

    Where fewer checkers are left than numbers, bearing all of them off is enough.
    """
    if not position.all_home:
        return None
    numbers = 4 if dice[0] == dice[1] else 2
    for play in legal_plays(position, dice):
        borne_off = bool(play.moves) and all(move.target == OFF for move in play.moves)
        if borne_off and (len(play) == numbers or position.play(play).over):
            return play
    return None


def only_play(position: Position, dice: Dice) -> Play | None:
    """Return the play if the dice leave no choice (other ways to the same position do not count)."""
    plays = resulting_positions(position.points, dice)
    return Play(tuple(Move(*step) for step in next(iter(plays.values())))) if len(plays) == 1 else None


def refusal_of_move(position: Position, dice: Dice, moves: tuple[FibsMove, ...], direction: int) -> Refusal:
    """Tell what is wrong with a play that the laws forbid.

    First the number of moves, then the moves in the order given: each must be possible after those before it. What is
    left over is a play that uses the wrong number, where only one of the two can be played.
    """
    count = possible_moves(position, dice)
    if len(moves) < count:
        return m.TooFewMoves(count)
    if len(moves) > count:
        return m.TooManyMoves(count)
    left = [dice[0]] * 4 if dice[0] == dice[1] else list(dice)
    which, move = 0, Move(0, 0)
    for which, fibs_move in enumerate(moves, 1):
        move = fibs.from_fibs(fibs_move, direction)
        reason = _refusal_of_one(position, left, move, which, direction)
        if reason is not None:
            return reason
        left.remove(_die_used(left, move))
        position = position.after(move)
    return m.CantMovePoints(move.pips, which)


def _refusal_of_one(position: Position, left: list[int], move: Move, which: int, direction: int) -> Refusal | None:
    fibs_move = fibs.to_fibs(move, direction)
    source = FIBS_BAR_NUMBERS[direction] if fibs_move.source is None else fibs_move.source
    off = move.target == OFF
    reasons = (
        (m.BarFirst(which), position.bar and move.source != BAR),
        (m.CantMoveFrom(source, which), position.points[move.source] <= 0),
        (m.CantMoveHome(source, which), move.target >= move.source),
        (m.CantBearOff(which), off and not (position.all_home and _bears_off(position, left, move.source))),
        (m.CantMovePoints(move.pips, which), not off and move.pips not in left),
        (m.CantMoveTo(fibs_move.target or 0, which), not off and position.points[move.target] < -1),
    )
    return next((reason for reason, holds in reasons if holds), None)


def _bears_off(position: Position, left: list[int], source: int) -> bool:
    highest = not any(n > 0 for n in position.points[source + 1 :])
    return source in left or (highest and max(left) > source)


def _die_used(left: list[int], move: Move) -> int:
    if move.pips in left:
        return move.pips
    return min(number for number in left if number > move.pips)


# -- throwing -------------------------------------------------------------------------------------------------------


def roll_dice(world: World, table: ServerMatch) -> Dice:
    """Throw two dice for a match."""
    dice = world.fixtures.dice.dice(table.key, table.throws)
    table.throws += 1
    world.statistics.count(dice)
    return dice


def start_game(world: World, table: ServerMatch, *, resumed: bool = False) -> None:
    """Begin a game: each player throws one die until they differ, and the higher one moves first.

    The first move is announced with a board and without a request to move (docs/protocol.md, pitfall 8). `resumed` says
    that a match goes on with this game: then programs ask for the board themselves.
    """
    update_laws(table)
    table.joined.clear()
    table.moves.clear()
    table.can_move = (0, 0)
    for user in table.users.values():
        user.settings.begin_game()
    tell_viewers(world, table, lambda view: m.GameStarts(table.names[view.seat.other]))
    while table.state.stage is Stage.OPENING:
        dice, cube = roll_dice(world, table), table.state.cube
        table.state = game.throw_opening(table.state, *dice)
        tell_viewers(world, table, partial(_opening_roll, dice=dice))
        if table.state.cube != cube:
            world.tell_all((view.user for view in match_views(world, table)), m.CubeRaised(table.state.cube))
    seat = table.state.turn
    _store_movable_checkers(table)
    tell_viewers(world, table, lambda view: m.FirstMove(view.name(seat)))
    send_boards(world, table, unless=partial(asks_after_resume, world) if resumed else None)
    world.changed(table)


def _opening_roll(view: MatchView, dice: Dice) -> Message:
    seat = view.seat
    return m.OpeningRoll(view.name(seat), dice[seat], view.table.names[seat.other], dice[seat.other])


def asks_after_resume(world: World, view: MatchView) -> bool:
    """Whether a user asks for the board of a resumed match: a player's program does."""
    return not view.watched and view.reads_raw and not world.fixtures.quirks.board_after_resume


def continue_game(world: World, table: ServerMatch, *, asked: bool = False) -> None:
    """Let the game go on until somebody has to decide: ask for double or roll, or roll for whoever cannot double.

    `asked` is as for `roll`, of the first throw.
    """
    world.changed(table)
    while table.state.stage is Stage.ROLL:
        if not _rolls_automatically(table):
            world.tell(table.users[table.state.turn], m.RollOrDouble())
            return
        asked = roll(world, table, asked=asked)


def _rolls_automatically(table: ServerMatch) -> bool:
    """Whether the server rolls for the player on turn, who cannot double or does not want to be asked."""
    seat = table.state.turn
    return not table.users[seat].settings[Toggle.DOUBLE] or refusal_to_double(table.state, seat) is not None


def roll(world: World, table: ServerMatch, *, asked: bool = False) -> bool:
    """Throw for the player on turn, and play if there is no choice or the player wants no other.

    Args:
        world: the world.
        table: the match.
        asked: whether something has just happened after which clients ask for the board (`can't move`, a resumed
            match): the player on turn does not get this throw's board as well.

    Returns:
        Whether the player cannot move, after which clients ask.
    """
    seat, dice = table.state.turn, roll_dice(world, table)
    table.state = game.roll(table.state, seat, dice)
    count = _store_movable_checkers(table)
    tell_viewers(world, table, lambda view: m.Rolls(view.name(seat), dice))
    send_boards(world, table, rolled=True, unless=lambda view: asked and view.plays(seat))
    if count == 0:
        table.note_play(seat, dice, Play())
        table.state = game.play(table.state, seat, Play())
        tell_viewers(world, table, lambda view: m.CannotMove(view.name(seat)))
        return True
    _play_or_ask(world, table, seat, count)
    return False


def _play_or_ask(world: World, table: ServerMatch, seat: Seat, count: int) -> None:
    """Make the play that the player's toggles leave to the server, or ask for one of `count` moves."""
    dice = table.state.dice or (0, 0)
    settings, position = table.users[seat].settings, table.state.position
    if settings[Toggle.GREEDY]:
        play = greedy_play(position, dice)
        if play is not None:
            make_bear_off(world, table, play)
            return
    if settings[Toggle.AUTOMOVE]:
        play = only_play(position, dice)
        if play is not None:
            made = m.OnlyMove(fibs.play_to_fibs(play, table.direction(seat)))
            make_play(world, table, play, lambda _: made)
            return
    world.tell(table.users[seat], m.MovePrompt(count))


def _store_movable_checkers(table: ServerMatch) -> int:
    """Remember how many checkers the player who has thrown can move."""
    state = table.state
    count = possible_moves(state.position, state.dice or (0, 0))
    table.can_move = (count, table.can_move[1]) if state.turn is Seat.A else (table.can_move[0], count)
    return count


# -- playing --------------------------------------------------------------------------------------------------------


def make_bear_off(world: World, table: ServerMatch, play: Play) -> None:
    """Make a play of bearing off only, which the server has found."""
    seat = table.state.turn
    off = m.BearsOff(tuple(move.source or 0 for move in fibs.play_to_fibs(play, table.direction(seat))))
    tell_viewers(world, table, lambda _: off)
    make_play(world, table, play)


def make_play(
    world: World, table: ServerMatch, play: Play, say: Callable[[MatchView], Message | None] | None = None
) -> None:
    """Make a legal play for the player on turn and tell about it; then the next turn's board, or the end of the game.

    Raises:
        PlayError: if the play is not legal; then nothing has changed.
    """
    seat, dice = table.state.turn, table.state.dice
    table.state = game.play(table.state, seat, play)
    table.note_play(seat, dice or (0, 0), play)
    made = fibs.play_to_fibs(play, table.direction(seat))
    tell_viewers(world, table, say or (lambda view: None if view.plays(seat) else m.Moves(table.names[seat], made)))
    if table.state.stage is Stage.OVER:
        end_game(world, table)
        return
    # What may double here would be doubled: the Crawford game shows 1, and who has `double` off is not asked.
    rolls, turn = _rolls_automatically(table), table.state.turn

    def repeats(view: MatchView) -> bool:
        return rolls and view.plays(turn) and view.sees_rolls and view.board().state.may_double

    send_boards(world, table, unless=repeats)


# -- the end --------------------------------------------------------------------------------------------------------


def end_game(world: World, table: ServerMatch) -> None:
    """Tell the result of a game that has just ended, and ask for the next one or end the match."""
    result = table.state.result
    if result is None:
        raise AssertionError("a game that is over has a result")
    world.changed(table)
    table.note(result.winner, "wins")
    winner = game.match_winner(table.state)
    for view in match_views(world, table):
        told: list[Message] = [_result(view, result)]
        if view.user.settings[Toggle.MOVES] and not view.watched:
            told += table.list_moves(view.seat)
            if world.fixtures.quirks.glue_moves:
                told[:2] = [m.Unknown(write(told[0]) + write(told[1]))]
        if winner is None:
            own, other = view.seat, view.seat.other
            scores = table.state.scores
            told.append(m.Score(table.length, table.names[own], scores[own], table.names[other], scores[other]))
            if not view.watched:
                told.append(m.JoinNextGame())
        world.tell(view.user, *told)
    if winner is not None:
        _end_match(world, table, winner)


def _result(view: MatchView, result: Result) -> Message:
    winner, loser = view.name(result.winner), view.name(result.winner.other)
    match result.how:
        case Ending.BORNE_OFF:
            return m.GameWon(winner, result.points, view.watched)
        case Ending.DROPPED:
            return m.GaveUp(loser, winner, result.points)
        case Ending.RESIGNED:
            return m.ResignAccepted(winner, result.points)


def _end_match(world: World, table: ServerMatch, winner: Seat) -> None:
    """Rate the players and let them go."""
    length, scores = table.length, table.state.scores
    won, lost = table.users[winner].account, table.users[winner.other].account
    if length != UNLIMITED:
        calculation = RatingCalculation(won.standing, lost.standing, length)
        won.rating += calculation.gain
        lost.rating -= calculation.loss
        won.experience += length
        lost.experience += length
        world.traffic.ratings += 2
        for user in table.users.values():
            if user.settings[Toggle.RATINGS]:
                world.tell(user, *calculation.lines())
    points, others = scores[winner], scores[winner.other]
    tell_viewers(world, table, lambda view: m.MatchWon(view.name(winner), length, points, others))
    players = list(table.users.values())
    for user in players:
        user.table = None
    report_match(world, table, m.MatchReportEnd(won.name, lost.name, length, points, others))
    world.show_status(*players)


def report_match(world: World, table: ServerMatch, message: Message) -> None:
    """Tell about a match whoever wants to hear of all matches, other than those who see it anyway."""
    seen = {id(view.user) for view in match_views(world, table)}
    world.tell_all(
        (user for user in world.users.values() if user.settings[Toggle.REPORT] and id(user) not in seen), message
    )
