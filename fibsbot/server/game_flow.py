"""The course of a game of any kind: opening roll, turns, automatic plays, the end of the game and of the match.

A program that acts on every board gets one board for each decision, or asks for it. In backgammon boards follow each
event; after `can't move` and in a resumed match none is sent unasked, and the board after a play is not sent to a
player for whom the server rolls at once, if it would show that a double is possible. In other games the board follows
the command, once the game waits for somebody (`dispatch.handle`).

Specification: "Start a Game", "Player's Turn", "Move", "End of a Game", "End of a Match", "Watching a Game".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message
from fibs_protocol.words import UNLIMITED, YOU, TableNaming, Toggle
from fibsbot.match import Dice
from fibsbot.position import Play
from fibsbot.rules import game
from fibsbot.rules.game_plays import greedy_play, most_moves, only_play
from fibsbot.rules.permissions import match_winner, may_reject_roll, refusal_to_double, refusal_to_redouble
from fibsbot.rules.ruleset import Numbers
from fibsbot.rules.state import Ending, GameState, Naming, Seat, Stage
from fibsbot.server.accounts import Account, GameRating, RatingCalculation
from fibsbot.server.audience import MatchView, match_views, send_boards, send_to_viewers
from fibsbot.server.users import ServerMatch, update_laws
from fibsbot.server.world import World

NAMINGS: Final = {Naming.DOUBLE: TableNaming.DOUBLE, Naming.POINT: TableNaming.POINT}


# -- the start ------------------------------------------------------------------------------------------------------


def start_game(world: World, match: ServerMatch, *, resumed: bool = False) -> None:
    """Start a game: each player rolls one die until they differ, unless the winner of the last game begins.

    In backgammon the first move is announced with a board and without a request to move (docs/reference/protocol.md,
    pitfall 8).
    `resumed` means that a resumed match goes on with this game: then programs ask for the board themselves.
    """
    update_laws(match)
    match.joined.clear()
    match.moves.clear()
    match.can_move = (0, 0)
    for user in match.users.values():
        user.settings.begin_game()
    send_to_viewers(world, match, lambda view: m.GameStarts(match.names[view.seat.other]))
    while match.state.stage is Stage.OPENING:
        before, dice = match.state, _roll_two(world, match)
        match.state = game.roll_opening(before, *dice)
        send_to_viewers(world, match, partial(_each_rolls, kind=m.OpeningRoll, dice=dice))
        _announce_raise(world, match, before)
    _announce(world, match, m.FirstMove, match.state.turn)
    _note_movable_checkers(match)
    offer_rethrow(world, match)
    if match.lines.boards_at_once:
        send_boards(world, match, except_for=partial(asks_after_resume, world) if resumed else None)
    if match.lines.plays_at_start:
        continue_game(world, match)
    world.mark_unsaved(match)


def start_next_game(world: World, match: ServerMatch, *, resumed: bool = False) -> None:
    """Start the next game of a match."""
    match.state = game.next_game(match.state)
    match.swap_colours()
    start_game(world, match, resumed=resumed)


def asks_after_resume(world: World, view: MatchView) -> bool:
    """Return whether a user asks for the board of a resumed match: a player's program does."""
    return not view.is_watcher and view.wants_raw_boards and not world.quirks.board_after_resume


def _announce(world: World, match: ServerMatch, kind: Callable[[str], Message], seat: Seat) -> None:
    """Send everybody who sees the match a message that has a player's name only."""
    send_to_viewers(world, match, lambda view: kind(view.name(seat)))


# -- turns ----------------------------------------------------------------------------------------------------------


def continue_game(world: World, match: ServerMatch, *, skip_board: bool = False) -> None:
    """Continue the game until a player has to decide, and ask that player; or end it.

    `skip_board` is as for `roll`, and applies to the first roll.
    """
    world.mark_unsaved(match)
    while True:
        stage = match.state.stage
        if stage is Stage.OVER:
            end_game(world, match)
            return
        if stage is Stage.CONTEST:
            _roll_contest(world, match)
        elif stage is Stage.ROLL and _rolls_automatically(match):
            roll(world, match, skip_board=skip_board)
            skip_board = False
        elif stage is Stage.MOVE and most_moves(match.state) == 0:
            _pass(world, match)
            skip_board = True
        elif stage is not Stage.MOVE or not _plays_by_itself(world, match):
            ask(world, match)
            return


def ask(world: World, match: ServerMatch) -> None:
    """Ask the player who has to decide, unless an offer waits for its answer, which is announced elsewhere."""
    state = match.state
    if state.decides is None or state.resignation or state.stage is Stage.DOUBLED:
        return
    world.send(match.users[state.decides], question(match))


def question(match: ServerMatch) -> Message:
    """Return what asks the player who has to decide, or to answer an offer."""
    state = match.state
    if state.resignation is not None:
        return m.ResignOffer(match.names[state.resignation.seat], YOU, state.resignation.points)
    if state.answering is not None:
        name, more = match.names[state.answering.other], refusal_to_redouble(state) is None
        return m.OpponentRedoubles(name, state.offered, more) if state.redoubles else m.OpponentDoubles(name, more)
    if state.stage is Stage.ROLL:
        return m.RollOrDouble()
    if state.naming is not None:
        return m.NamePrompt(NAMINGS[state.naming], game.choices(state))
    return m.MovePrompt(most_moves(state))


def _rolls_automatically(match: ServerMatch) -> bool:
    """Return whether the server rolls for the player on turn, who cannot double or does not want to be asked."""
    seat = match.state.turn
    return not match.users[seat].settings[Toggle.DOUBLE] or refusal_to_double(match.state, seat) is not None


def _pass(world: World, match: ServerMatch) -> None:
    """Make the empty play of a player who cannot move."""
    seat = match.state.turn
    make_play(world, match, Play(), lambda view: m.CannotMove(view.name(seat)))


def _plays_by_itself(world: World, match: ServerMatch) -> bool:
    """Make the play that the player's toggles leave to the server; return whether there was one."""
    state = match.state
    seat, settings = state.turn, match.users[state.turn].settings
    if may_reject_roll(state):
        return False
    bearing_off = greedy_play(state) if settings[Toggle.GREEDY] else None
    if bearing_off is not None:
        bear_off(world, match, bearing_off)
        return True
    play = only_play(state) if settings[Toggle.AUTOMOVE] else None
    if play is None:
        return False
    made = m.OnlyMove(match.lines.moves(play, match.colours[seat]))
    make_play(world, match, play, lambda _: made)
    return True


# -- rolling --------------------------------------------------------------------------------------------------------


def _roll_two(world: World, match: ServerMatch) -> Dice:
    """Roll two dice for a match."""
    dice = world.roll(match.key, match.rolls)
    match.rolls += 1
    return dice


def _roll_dice(world: World, match: ServerMatch) -> Numbers:
    """Roll as many dice as the game has; the third one is the first of another roll of two."""
    dice: Numbers = _roll_two(world, match)
    if match.rules.dice > len(dice):
        dice += world.dice.dice(match.key, match.rolls)[: match.rules.dice - len(dice)]
        match.rolls += 1
    return dice


def roll(world: World, match: ServerMatch, *, skip_board: bool = False) -> None:
    """Roll for the player on turn.

    `skip_board` is whether clients ask for the board because of the last event (`can't move`, a resumed match): then
    the player on turn does not get the board of this roll as well.
    """
    before, seat, dice = match.state, match.state.turn, _roll_dice(world, match)
    match.state = game.roll(before, seat, dice)
    _note_movable_checkers(match)
    if len(dice) == 2:
        two = (dice[0], dice[1])
        send_to_viewers(world, match, lambda view: m.Rolls(view.name(seat), two))
    else:
        send_to_viewers(world, match, lambda view: m.RollsThree(view.name(seat), dice))
    _announce_raise(world, match, before)
    offer_rethrow(world, match)
    if match.lines.boards_at_once:
        send_boards(world, match, rolled=True, except_for=lambda view: skip_board and view.is_player(seat))
    if match.state.turn is not seat:  # a roll that brings nothing
        match.record_play(seat, dice, Play())
        _announce(world, match, m.CannotMove, seat)


def _roll_contest(world: World, match: ServerMatch) -> None:
    """Roll two dice for each player until the totals differ; the higher one names the point to open."""
    dice = (_roll_two(world, match), _roll_two(world, match))
    match.state = game.roll_contest(match.state, sum(dice[Seat.A]), sum(dice[Seat.B]))
    send_to_viewers(world, match, partial(_each_rolls, kind=m.ContestRolls, dice=dice))


def _each_rolls(view: MatchView, kind: Callable[[str, Any, str, Any], Message], dice: tuple[Any, ...]) -> Message:
    """Return the message about a roll of each player, the viewer's first."""
    seat = view.seat
    return kind(view.name(seat), dice[seat], view.match.names[seat.other], dice[seat.other])


def _announce_raise(world: World, match: ServerMatch, before: GameState) -> None:
    """Announce that a roll has raised the cube, if it has."""
    cube = match.state.cube
    if cube != before.cube:
        send_to_viewers(world, match, lambda _: m.CubeRaised(cube))


def offer_rethrow(world: World, match: ServerMatch) -> None:
    """Offer the player on turn to reject the roll, if the laws allow it; a program decides once it has the board."""
    if may_reject_roll(match.state):
        world.send(match.users[match.state.turn], m.MayRethrow(2 * match.state.cube))


def _note_movable_checkers(match: ServerMatch) -> None:
    """Note how many checkers the player who has rolled can move, which boards of backgammon show."""
    if match.game is None:
        a, b = match.can_move
        count = most_moves(match.state)
        match.can_move = (count, b) if match.state.turn is Seat.A else (a, count)


# -- playing --------------------------------------------------------------------------------------------------------


def bear_off(world: World, match: ServerMatch, play: Play) -> None:
    """Make a play chosen by the server that only bears off."""
    moves = match.lines.moves(play, match.colours[match.state.turn])
    off = m.BearsOff(tuple(move.source or 0 for move in moves))
    send_to_viewers(world, match, lambda _: off)
    make_play(world, match, play)


def make_play(
    world: World, match: ServerMatch, play: Play, message_for: Callable[[MatchView], Message | None] | None = None
) -> None:
    """Make a play of a turn, or of a part of it, and announce it and what follows in the turn.

    Raises:
        PlayError: if the play is not legal; then nothing has changed.
    """
    before, seat = match.state, match.state.turn
    match.state = game.play(before, seat, play)
    match.record_play(seat, before.part.numbers, play)
    if play.moves or message_for is not None:
        made = m.Moves(match.names[seat], match.lines.moves(play, match.colours[seat]))
        send_to_viewers(world, match, message_for or (lambda view: None if view.is_player(seat) else made))
    _announce_rest(world, match, before)
    if match.lines.boards_at_once and play.moves and match.state.stage is not Stage.OVER:
        _send_boards_after_play(world, match)


def _announce_rest(world: World, match: ServerMatch, before: GameState) -> None:
    """Announce what follows a part of a turn: another part, another roll, or parts that are left to the opponent."""
    state, seat = match.state, before.turn
    if state.stage is Stage.MOVE:
        numbers = state.part.numbers
        if state.turn is not seat:
            send_to_viewers(world, match, lambda view: m.RestLeft(view.name(seat), view.name(seat.other)))
        send_to_viewers(world, match, lambda view: m.NextPart(view.name(state.turn), numbers))
    elif state.stage is Stage.ROLL and state.turn is seat and not before.passed:
        _announce(world, match, m.RollsAgain, seat)


def _send_boards_after_play(world: World, match: ServerMatch) -> None:
    # A program would double where this board allows it: in the Crawford game, or with the toggle `double` off.
    turn = match.state.turn
    repeats = _rolls_automatically(match) and match.state.owner is not turn.other
    send_boards(world, match, except_for=lambda view: repeats and view.is_player(turn) and view.wants_board_after_roll)


def go_on_after_take(world: World, match: ServerMatch, seat: Seat, *, redoubled: bool = False) -> None:
    """Announce that a player has taken a double, or an instant redouble, and continue the game."""
    match.record_action(seat, "accepts")
    cube, kind = match.state.cube, m.RedoubleAccepted if redoubled else m.DoubleAccepted
    send_to_viewers(world, match, lambda view: kind(view.name(seat), None if view.is_watcher else cube))
    continue_game(world, match)


def name(world: World, match: ServerMatch, seat: Seat, number: int) -> None:
    """Name the double to play, or the point to open. Raises RuleError for what may not be named."""
    naming = match.state.naming
    match.state = game.name(match.state, seat, number)
    if naming is not None:
        match.record_action(seat, f"names {number}")
        send_to_viewers(world, match, lambda view: m.NumberNamed(view.name(seat), NAMINGS[naming], number))


# -- the end --------------------------------------------------------------------------------------------------------


def end_game(world: World, match: ServerMatch) -> None:
    """Announce the result of a finished game, and ask to join the next one or end the match."""
    world.mark_unsaved(match)
    result, winner = match.state.result, match_winner(match.state)
    if result is None:
        match.record_action(match.state.turn, "draws")
    else:
        match.record_action(result.winner, "wins")
    for view in match_views(world, match):
        messages = [_result(view)]
        if view.user.settings[Toggle.MOVES] and not view.is_watcher:
            messages += match.list_moves(view.seat)
            if world.quirks.glue_moves:
                messages[:2] = [m.Unknown(write(messages[0]) + write(messages[1]))]
        if winner is None:
            own, other = view.seat, view.seat.other
            scores = match.state.scores
            messages.append(m.Score(match.length, match.names[own], scores[own], match.names[other], scores[other]))
            if not view.is_watcher:
                messages.append(m.JoinNextGame())
        world.send(view.user, *messages)
    if winner is not None:
        _end_match(world, match, winner)


def _result(view: MatchView) -> Message:
    state = view.match.state
    if state.result is None:
        return m.GameDrawn(state.reason)
    winner, loser, points = view.name(state.result.winner), view.name(state.result.winner.other), state.result.points
    match state.result.how:
        case Ending.DROPPED:
            return m.GaveUp(loser, winner, points)
        case Ending.RESIGNED:
            return m.ResignAccepted(winner, points)
        case Ending.BORNE_OFF | Ending.OTHER:
            return view.match.lines.game_won(state, winner, is_watcher=view.is_watcher)


def _end_match(world: World, match: ServerMatch, winner: Seat) -> None:
    """Update the ratings, announce the winner, and end the match."""
    length, scores = match.length, (match.state.scores[winner], match.state.scores[winner.other])
    names = match.names[winner], match.names[winner.other]
    if length != UNLIMITED and match.agreed is None:  # the formula belongs to the laws of FIBS
        _update_ratings(world, match, winner)
    report: Message = m.MatchReportEnd(*names, length, *scores)
    if match.game is not None:
        report = m.GameReportEnd(*names, length, match.game, *scores)
    send_to_viewers(world, match, lambda view: m.MatchWon(view.name(winner), length, *scores))
    players = list(match.users.values())
    for user in players:
        user.match = None
    report_match(world, match, report)
    world.show_status(*players)


def _update_ratings(world: World, match: ServerMatch, winner: Seat) -> None:
    """Change two ratings by a match, and show the calculation to the players who want to see it.

    Every game has ratings of its own; those of backgammon are in the accounts.
    """
    won: Account | GameRating = match.users[winner].account
    lost: Account | GameRating = match.users[winner.other].account
    if match.game is not None:
        won, lost = (world.database.game_rating(rated.name, match.rules.name) for rated in (won, lost))
        match.new_ratings = (won, lost)
    calculation = RatingCalculation(won.rated_player, lost.rated_player, match.length)
    won.rating += calculation.gain
    lost.rating -= calculation.loss
    for rated in (won, lost):
        rated.experience += match.length
    world.traffic.ratings += 2
    for user in match.users.values():
        if user.settings[Toggle.RATINGS]:
            world.send(user, *calculation.lines())


def report_match(world: World, match: ServerMatch, message: Message) -> None:
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
