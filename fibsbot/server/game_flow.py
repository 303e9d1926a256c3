"""The course of a game: opening roll, turns, automatic plays, refused plays, the end of the game and of the match.

A program that acts on every board gets one board for each decision, or asks for it: after `can't move` and in a
resumed match no board is sent unasked, and the board after a play is not sent to a player for whom the server rolls
at once, if it would show that a double is possible.

Specification: "Start a Game", "Player's Turn", "Move", "End of a Game", "End of a Match", "Watching a Game".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import UNLIMITED, FibsMove, Toggle
from fibsbot import fibs_numbering
from fibsbot.match import Dice
from fibsbot.position import BAR, OFF, Move, Play, Position
from fibsbot.rules import game
from fibsbot.rules.permissions import match_winner, may_reject_roll, refusal_to_double
from fibsbot.rules.plays import legal_plays, most_moves, resulting_positions
from fibsbot.rules.state import Ending, Result, Seat, Stage
from fibsbot.server.accounts import RatingCalculation
from fibsbot.server.audience import MatchView, match_views, send_boards, send_to_viewers
from fibsbot.server.pair_match import PairMatch
from fibsbot.server.server_match import ServerMatch, update_laws
from fibsbot.server.world import World

FIBS_BAR_NUMBERS: Final = {1: 0, -1: BAR}
"""The server's number for the bar of a player who moves in this direction."""


def greedy_play(position: Position, dice: Dice) -> Play | None:
    """Return the play that bears off a checker with every number; None if there is none.

    If fewer checkers are left than numbers, bearing all of them off is enough.
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
    """Return the play if all legal plays lead to the same position, else None."""
    plays = resulting_positions(position.points, dice)
    return Play(tuple(Move(*step) for step in next(iter(plays.values())))) if len(plays) == 1 else None


def refusal_of_move(position: Position, dice: Dice, moves: tuple[FibsMove, ...], direction: int) -> Refusal:
    """Return the reason why an illegal play is refused.

    The number of moves is checked first, then the moves in the given order: each must be possible after those before
    it. What remains is a play that uses the wrong number, where only one of the two can be played.
    """
    count = most_moves(position.points, dice)
    if len(moves) < count:
        return m.TooFewMoves(count)
    if len(moves) > count:
        return m.TooManyMoves(count)
    left = [dice[0]] * 4 if dice[0] == dice[1] else list(dice)
    which, move = 0, Move(0, 0)
    for which, fibs_move in enumerate(moves, 1):
        move = fibs_numbering.from_fibs(fibs_move, direction)
        reason = _refusal_of_one(position, left, move, which, direction)
        if reason is not None:
            return reason
        left.remove(_die_used(left, move))
        position = position.after(move)
    return m.CantMovePoints(move.pips, which)


def _refusal_of_one(position: Position, left: list[int], move: Move, which: int, direction: int) -> Refusal | None:
    fibs_move = fibs_numbering.to_fibs(move, direction)
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


# -- rolling --------------------------------------------------------------------------------------------------------


def roll_dice(world: World, match: ServerMatch) -> Dice:
    """Roll two dice for a match."""
    dice = world.dice.dice(match.key, match.rolls)
    match.rolls += 1
    world.statistics.count(dice)
    return dice


def start_game(world: World, match: ServerMatch, *, resumed: bool = False) -> None:
    """Start a game: each player rolls one die until they differ, and the higher one moves first.

    The first move is announced with a board and without a request to move (docs/protocol.md, pitfall 8). `resumed`
    means that a resumed match goes on with this game: then programs ask for the board themselves.
    """
    update_laws(match)
    match.joined.clear()
    match.moves.clear()
    match.can_move = (0, 0)
    for user in match.users.values():
        user.settings.begin_game()
    send_to_viewers(world, match, lambda view: m.GameStarts(match.names[view.seat.other]))
    while match.state.stage is Stage.OPENING:
        dice, cube = roll_dice(world, match), match.state.cube
        match.state = game.roll_opening(match.state, *dice)
        send_to_viewers(world, match, partial(_opening_roll, dice=dice))
        if match.state.cube != cube:
            world.send_all((view.user for view in match_views(world, match)), m.CubeRaised(match.state.cube))
    seat = match.state.turn
    _store_movable_checkers(match)
    send_to_viewers(world, match, lambda view: m.FirstMove(view.name(seat)))
    offer_rethrow(world, match)
    send_boards(world, match, except_for=partial(asks_after_resume, world) if resumed else None)
    world.mark_unsaved(match)


def _opening_roll(view: MatchView, dice: Dice) -> Message:
    seat = view.seat
    return m.OpeningRoll(view.name(seat), dice[seat], view.match.names[seat.other], dice[seat.other])


def asks_after_resume(world: World, view: MatchView) -> bool:
    """Return whether a user asks for the board of a resumed match: a player's program does."""
    return not view.is_watcher and view.wants_raw_boards and not world.quirks.board_after_resume


def continue_game(world: World, match: ServerMatch, *, skip_board: bool = False) -> None:
    """Continue the game until a player has to decide: ask to roll or double, or roll for a player who cannot double.

    `skip_board` is as for `roll`, and applies to the first roll.
    """
    world.mark_unsaved(match)
    while match.state.stage is Stage.ROLL:
        if not _rolls_automatically(match):
            world.send(match.users[match.state.turn], m.RollOrDouble())
            return
        skip_board = roll(world, match, skip_board=skip_board)


def _rolls_automatically(match: ServerMatch) -> bool:
    """Return whether the server rolls for the player on turn, who cannot double or does not want to be asked."""
    seat = match.state.turn
    return not match.users[seat].settings[Toggle.DOUBLE] or refusal_to_double(match.state, seat) is not None


def roll(world: World, match: ServerMatch, *, skip_board: bool = False) -> bool:
    """Roll for the player on turn, and play if there is no choice or the player's toggles make it.

    Args:
        world: the world.
        match: the match.
        skip_board: whether clients ask for the board because of the last event (`can't move`, a resumed
            match): then the player on turn does not get the board of this roll as well.

    Returns:
        Whether the player cannot move, after which clients ask for the board.
    """
    seat, dice = match.state.turn, roll_dice(world, match)
    match.state = game.roll(match.state, seat, dice)
    count = _store_movable_checkers(match)
    send_to_viewers(world, match, lambda view: m.Rolls(view.name(seat), fibs_numbering.dice_to_fibs(dice)))
    offer_rethrow(world, match)
    send_boards(world, match, rolled=True, except_for=lambda view: skip_board and view.is_player(seat))
    if count == 0:
        match.record_play(seat, dice, Play())
        match.state = game.play(match.state, seat, Play())
        send_to_viewers(world, match, lambda view: m.CannotMove(view.name(seat)))
        return True
    _play_or_ask(world, match, seat, count)
    return False


def _play_or_ask(world: World, match: ServerMatch, seat: Seat, count: int) -> None:
    """Make the play that the player's toggles leave to the server, or ask the player for `count` moves."""
    dice = match.state.dice or (0, 0)
    settings, position = match.users[seat].settings, match.state.position
    if may_reject_roll(match.state):
        world.send(match.users[seat], m.MovePrompt(count))
        return
    if settings[Toggle.GREEDY]:
        play = greedy_play(position, dice)
        if play is not None:
            make_bear_off(world, match, play)
            return
    if settings[Toggle.AUTOMOVE]:
        play = only_play(position, dice)
        if play is not None:
            made = m.OnlyMove(fibs_numbering.play_to_fibs(play, match.direction(seat)))
            make_play(world, match, play, lambda _: made)
            return
    world.send(match.users[seat], m.MovePrompt(count))


def offer_rethrow(world: World, match: ServerMatch) -> None:
    """Offer the player on turn to reject the roll, if the laws allow it; a program decides once it has the board."""
    if may_reject_roll(match.state):
        world.send(match.users[match.state.turn], m.MayRethrow(2 * match.state.cube))


def _store_movable_checkers(match: ServerMatch) -> int:
    """Store and return how many checkers the player who has rolled can move."""
    state = match.state
    count = most_moves(state.position.points, state.dice or (0, 0))
    match.can_move = (count, match.can_move[1]) if state.turn is Seat.A else (match.can_move[0], count)
    return count


# -- playing --------------------------------------------------------------------------------------------------------


def make_bear_off(world: World, match: ServerMatch, play: Play) -> None:
    """Make a play chosen by the server that only bears off."""
    seat = match.state.turn
    off = m.BearsOff(tuple(move.source or 0 for move in fibs_numbering.play_to_fibs(play, match.direction(seat))))
    send_to_viewers(world, match, lambda _: off)
    make_play(world, match, play)


def make_play(
    world: World, match: ServerMatch, play: Play, message_for: Callable[[MatchView], Message | None] | None = None
) -> None:
    """Make a legal play for the player on turn, announce it, and send the next board or end the game.

    Raises:
        PlayError: if the play is not legal; then nothing has changed.
    """
    seat, dice = match.state.turn, match.state.dice
    match.state = game.play(match.state, seat, play)
    match.record_play(seat, dice or (0, 0), play)
    made = fibs_numbering.play_to_fibs(play, match.direction(seat))
    send_to_viewers(
        world, match, message_for or (lambda view: None if view.is_player(seat) else m.Moves(match.names[seat], made))
    )
    if match.state.stage is Stage.OVER:
        end_game(world, match)
        return
    # A program would double where this board allows it: in the Crawford game, or with the toggle `double` off.
    rolls, turn = _rolls_automatically(match), match.state.turn

    def repeats(view: MatchView) -> bool:
        return rolls and view.is_player(turn) and view.wants_board_after_roll and view.board().state.may_double

    send_boards(world, match, except_for=repeats)


# -- the end --------------------------------------------------------------------------------------------------------


def end_game(world: World, match: ServerMatch) -> None:
    """Announce the result of a finished game, and ask to join the next one or end the match."""
    result = match.state.result
    if result is None:
        raise AssertionError("a game that is over has a result")
    world.mark_unsaved(match)
    match.record_action(result.winner, "wins")
    winner = match_winner(match.state)
    announce_end(world, match, lambda view: _result(view, result), goes_on=winner is None)
    if winner is not None:
        _end_match(world, match, winner)


def announce_end(
    world: World, match: PairMatch[Any], result_for: Callable[[MatchView], Message], *, goes_on: bool
) -> None:
    """Send everybody who sees a match the result of a game, and the score and the request to join if it goes on."""
    for view in match_views(world, match):
        messages: list[Message] = [result_for(view)]
        if view.user.settings[Toggle.MOVES] and not view.is_watcher:
            messages += match.list_moves(view.seat)
            if world.quirks.glue_moves:
                messages[:2] = [m.Unknown(write(messages[0]) + write(messages[1]))]
        if goes_on:
            own, other = view.seat, view.seat.other
            scores = match.state.scores
            messages.append(m.Score(match.length, match.names[own], scores[own], match.names[other], scores[other]))
            if not view.is_watcher:
                messages.append(m.JoinNextGame())
        world.send(view.user, *messages)


def _result(view: MatchView, result: Result) -> Message:
    winner, loser = view.name(result.winner), view.name(result.winner.other)
    match result.how:
        case Ending.BORNE_OFF | Ending.OTHER:
            return m.GameWon(winner, result.points, view.is_watcher)
        case Ending.DROPPED:
            return m.GaveUp(loser, winner, result.points)
        case Ending.RESIGNED:
            return m.ResignAccepted(winner, result.points)


def _end_match(world: World, match: ServerMatch, winner: Seat) -> None:
    """Update the ratings and end the match."""
    length, scores = match.length, match.state.scores
    won, lost = match.users[winner].account, match.users[winner.other].account
    if length != UNLIMITED and match.agreed is None:  # the formula belongs to the laws of FIBS
        calculation = RatingCalculation(won.rated_player, lost.rated_player, length)
        won.rating += calculation.gain
        lost.rating -= calculation.loss
        won.experience += length
        lost.experience += length
        show_calculation(world, match, calculation)
    report = m.MatchReportEnd(won.name, lost.name, length, scores[winner], scores[winner.other])
    close_match(world, match, winner, report)


def show_calculation(world: World, match: PairMatch[Any], calculation: RatingCalculation) -> None:
    """Count a change of two ratings, and show it to the players who want to see it."""
    world.traffic.ratings += 2
    for user in match.users.values():
        if user.settings[Toggle.RATINGS]:
            world.send(user, *calculation.lines())


def close_match(world: World, match: PairMatch[Any], winner: Seat, report: Message) -> None:
    """Announce the winner of a match, and end it."""
    points, others = match.state.scores[winner], match.state.scores[winner.other]
    send_to_viewers(world, match, lambda view: m.MatchWon(view.name(winner), match.length, points, others))
    players = list(match.users.values())
    for user in players:
        user.match = None
    report_match(world, match, report)
    world.show_status(*players)


def report_match(world: World, match: PairMatch[Any], message: Message) -> None:
    """Report a match to users with the toggle `report`, except for those who see it anyway.

    A client that has not asked for other games hears nothing of them.
    """
    seen = {id(view.user) for view in match_views(world, match)}
    world.send_all(
        (
            user
            for user in world.users.values()
            if user.settings[Toggle.REPORT] and id(user) not in seen and (match.game is None or match.is_shown_to(user))
        ),
        message,
    )
