"""The course of a game: opening, turns, what the server does by itself, and the end of game and match.

A program that acts at every board gets one board for each decision, or asks for it: after `can't move` and in a resumed
match no board comes by itself, and the board after a move is not sent to somebody for whom the server rolls at once,
if it would show that a double is possible.

Specification: "Start a Game", "Player's Turn", "Opponent's Turn", "End of a Game", "End of a Match", "Watching a Game".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fibsbot import fibs
from fibsbot.position import Play
from fibsbot.rules import game
from fibsbot.rules.cube import refusal_to_double
from fibsbot.rules.game import Ending, Result, Seat, Stage
from fibsbot.server import moves
from fibsbot.server.ratings import Calculation
from fibsbot.server.table import Table, renew_laws
from fibsbot.server.views import View, announce, show_boards, views
from fibsbot.server.world import World
from protocol import messages as m
from protocol.grammar import write
from protocol.messages import Message
from protocol.words import UNLIMITED, Dice, Toggle

# -- throwing -------------------------------------------------------------------------------------------------------


def throw(world: World, table: Table) -> Dice:
    """Throw two dice for a match."""
    dice = world.fixtures.dice.dice(table.key, table.throws)
    table.throws += 1
    world.statistics.count(dice)
    return dice


def start_game(world: World, table: Table, *, resumed: bool = False) -> None:
    """Begin a game: each player throws one die until they differ, and the higher one moves first.

    The first move is announced with a board and without a request to move (docs/protocol.md, pitfall 8). `resumed` says
    that a match goes on with this game: then programs ask for the board themselves.
    """
    renew_laws(table)
    table.joined.clear()
    table.moves.clear()
    table.can_move = (0, 0)
    for user in table.users.values():
        user.settings.begin_game()
    announce(world, table, lambda view: m.GameStarts(table.names[view.seat.other]))
    while table.state.stage is Stage.OPENING:
        dice, cube = throw(world, table), table.state.cube
        table.state = game.throw_opening(table.state, *dice)
        announce(world, table, partial(_opening_roll, dice=dice))
        if table.state.cube != cube:
            world.tell_all((view.user for view in views(world, table)), m.CubeRaised(table.state.cube))
    seat = table.state.turn
    _note_mobility(table)
    announce(world, table, lambda view: m.FirstMove(view.name(seat)))
    show_boards(world, table, unless=partial(asks_after_resume, world) if resumed else None)
    world.changed(table)


def _opening_roll(view: View, dice: Dice) -> Message:
    seat = view.seat
    return m.OpeningRoll(view.name(seat), dice[seat], view.table.names[seat.other], dice[seat.other])


def asks_after_resume(world: World, view: View) -> bool:
    """Whether a user asks for the board of a resumed match: a player's program does."""
    return not view.watched and view.reads_raw and not world.fixtures.quirks.board_after_resume


def go_on(world: World, table: Table, *, asked: bool = False) -> None:
    """Let the game go on until somebody has to decide: ask for double or roll, or roll for whoever cannot double.

    `asked` is as for `roll`, of the first throw.
    """
    world.changed(table)
    while table.state.stage is Stage.ROLL:
        if not _rolls_automatically(table):
            world.tell(table.users[table.state.turn], m.RollOrDouble())
            return
        asked = roll(world, table, asked=asked)


def _rolls_automatically(table: Table) -> bool:
    """Whether the server rolls for the player on turn, who cannot double or does not want to be asked."""
    seat = table.state.turn
    return not table.users[seat].settings[Toggle.DOUBLE] or refusal_to_double(table.state, seat) is not None


def roll(world: World, table: Table, *, asked: bool = False) -> bool:
    """Throw for the player on turn, and play if there is no choice or the player wants no other.

    Args:
        world: the world.
        table: the match.
        asked: whether something has just happened after which clients ask for the board (`can't move`, a resumed
            match): the player on turn does not get this throw's board as well.

    Returns:
        Whether the player cannot move, after which clients ask.
    """
    seat, dice = table.state.turn, throw(world, table)
    table.state = game.roll(table.state, seat, dice)
    count = _note_mobility(table)
    announce(world, table, lambda view: m.Rolls(view.name(seat), dice))
    show_boards(world, table, rolled=True, unless=lambda view: asked and view.plays(seat))
    if count == 0:
        table.note_play(seat, dice, Play())
        table.state = game.play(table.state, seat, Play())
        announce(world, table, lambda view: m.CannotMove(view.name(seat)))
        return True
    _play_or_ask(world, table, seat, count)
    return False


def _play_or_ask(world: World, table: Table, seat: Seat, count: int) -> None:
    """Make the play that the player's toggles leave to the server, or ask for one of `count` moves."""
    dice = table.state.dice or (0, 0)
    settings, position = table.users[seat].settings, table.state.position
    if settings[Toggle.GREEDY]:
        play = moves.greedy_play(position, dice)
        if play is not None:
            bear_off(world, table, play)
            return
    if settings[Toggle.AUTOMOVE]:
        play = moves.only_play(position, dice)
        if play is not None:
            made = m.OnlyMove(fibs.play_to_fibs(play, table.direction(seat)))
            make_play(world, table, play, lambda _: made)
            return
    world.tell(table.users[seat], m.MovePrompt(count))


def _note_mobility(table: Table) -> int:
    """Remember how many checkers the player who has thrown can move."""
    state = table.state
    count = moves.possible_moves(state.position, state.dice or (0, 0))
    table.can_move = (count, table.can_move[1]) if state.turn is Seat.A else (table.can_move[0], count)
    return count


# -- playing --------------------------------------------------------------------------------------------------------


def bear_off(world: World, table: Table, play: Play) -> None:
    """Make a play of bearing off only, which the server has found."""
    seat = table.state.turn
    off = m.BearsOff(tuple(move.source or 0 for move in fibs.play_to_fibs(play, table.direction(seat))))
    announce(world, table, lambda _: off)
    make_play(world, table, play)


def make_play(world: World, table: Table, play: Play, say: Callable[[View], Message | None] | None = None) -> None:
    """Make a legal play for the player on turn and tell about it; then the next turn's board, or the end of the game.

    Raises:
        PlayError: if the play is not legal; then nothing has changed.
    """
    seat, dice = table.state.turn, table.state.dice
    table.state = game.play(table.state, seat, play)
    table.note_play(seat, dice or (0, 0), play)
    made = fibs.play_to_fibs(play, table.direction(seat))
    announce(world, table, say or (lambda view: None if view.plays(seat) else m.Moves(table.names[seat], made)))
    if table.state.stage is Stage.OVER:
        end_game(world, table)
        return
    # What may double here would be doubled: the Crawford game shows 1, and who has `double` off is not asked.
    rolls, turn = _rolls_automatically(table), table.state.turn

    def repeats(view: View) -> bool:
        return rolls and view.plays(turn) and view.sees_rolls and view.board().state.may_double

    show_boards(world, table, unless=repeats)


# -- the end --------------------------------------------------------------------------------------------------------


def end_game(world: World, table: Table) -> None:
    """Tell the result of a game that has just ended, and ask for the next one or end the match."""
    result = table.state.result
    if result is None:
        raise AssertionError("a game that is over has a result")
    world.changed(table)
    table.note(result.winner, "wins")
    winner = game.match_winner(table.state)
    for view in views(world, table):
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


def _result(view: View, result: Result) -> Message:
    winner, loser = view.name(result.winner), view.name(result.winner.other)
    match result.how:
        case Ending.BORNE_OFF:
            return m.GameWon(winner, result.points, view.watched)
        case Ending.DROPPED:
            return m.GaveUp(loser, winner, result.points)
        case Ending.RESIGNED:
            return m.ResignAccepted(winner, result.points)


def _end_match(world: World, table: Table, winner: Seat) -> None:
    """Rate the players and let them go."""
    length, scores = table.length, table.state.scores
    won, lost = table.users[winner].account, table.users[winner.other].account
    if length != UNLIMITED:
        calculation = Calculation(won.standing, lost.standing, length)
        won.rating += calculation.gain
        lost.rating -= calculation.loss
        won.experience += length
        lost.experience += length
        world.traffic.ratings += 2
        for user in table.users.values():
            if user.settings[Toggle.RATINGS]:
                world.tell(user, *calculation.lines())
    points, others = scores[winner], scores[winner.other]
    announce(world, table, lambda view: m.MatchWon(view.name(winner), length, points, others))
    players = list(table.users.values())
    for user in players:
        user.table = None
    report(world, table, m.MatchReportEnd(won.name, lost.name, length, points, others))
    world.show_status(*players)


def report(world: World, table: Table, message: Message) -> None:
    """Tell about a match whoever wants to hear of all matches, other than those who see it anyway."""
    seen = {id(view.user) for view in views(world, table)}
    world.tell_all(
        (user for user in world.users.values() if user.settings[Toggle.REPORT] and id(user) not in seen), message
    )
