"""The course of a game other than backgammon: turns in parts, names of doubles and points, draws.

Messages come as things happen; the board, drawn or as a `table:` line, follows once the game waits for somebody
(`send_tables`). So a client can act on the last line alone (docs/protocol.md, "Other games").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.words import UNLIMITED, TableNaming, Toggle
from fibsbot.evolve import evolve
from fibsbot.position import Play
from fibsbot.rules import game
from fibsbot.rules.general_plays import legal_plays
from fibsbot.rules.permissions import match_winner, refusal_to_double
from fibsbot.rules.ruleset import Numbers
from fibsbot.rules.sides import OFF
from fibsbot.rules.state import Ending, GameState, Naming, Seat, Stage
from fibsbot.server import game_flow
from fibsbot.server.accounts import RatingCalculation
from fibsbot.server.audience import MatchView, match_views, send_to_viewers
from fibsbot.server.ruleset_match import RulesetMatch
from fibsbot.server.world import World
from fibsbot.table_lines import moves_to_fibs

NAMINGS: Final = {Naming.DOUBLE: TableNaming.DOUBLE, Naming.POINT: TableNaming.POINT}


def start_game(world: World, match: RulesetMatch) -> None:
    """Start a game: each player rolls one die until they differ, unless the winner of the last game begins."""
    match.joined.clear()
    match.moves.clear()
    for user in match.users.values():
        user.settings.begin_game()
    send_to_viewers(world, match, lambda view: m.GameStarts(match.names[view.seat.other]))
    while match.state.stage is Stage.OPENING:
        dice = _two_dice(world, match)
        match.state = game.roll_opening(match.state, *dice)

        def rolled(view: MatchView, dice: tuple[int, int] = dice) -> Message:
            seat = view.seat
            return m.OpeningRoll(view.name(seat), dice[seat], match.names[seat.other], dice[seat.other])

        send_to_viewers(world, match, rolled)
    _announce(world, match, m.FirstMove, match.state.turn)
    continue_game(world, match)


def continue_game(world: World, match: RulesetMatch) -> None:
    """Continue the game until a player has to decide, and ask that player; or end it."""
    world.mark_unsaved(match)
    while True:
        state = match.state
        if state.stage is Stage.OVER:
            end_game(world, match)
            return
        if state.stage is Stage.CONTEST:
            _roll_contest(world, match)
        elif state.stage is Stage.ROLL and not _asks_to_double(match):
            roll(world, match)
        elif state.stage is not Stage.MOVE or not _plays_by_itself(world, match):
            _ask(world, match)
            return


def _ask(world: World, match: RulesetMatch) -> None:
    """Ask the player who has to decide, unless an offer waits for its answer, which is announced elsewhere."""
    state = match.state
    if state.decides is None or state.resignation or state.stage is Stage.DOUBLED:
        return
    user = match.users[state.decides]
    if state.stage is Stage.ROLL:
        world.send(user, m.RollOrDouble())
    elif state.naming is not None:
        world.send(user, m.NamePrompt(NAMINGS[state.naming], game.choices(state)))
    else:
        world.send(user, m.MovePrompt(max(map(len, _plays(state)))))


def send_tables(world: World, match: RulesetMatch) -> None:
    """Send the board to everybody who sees the match; drawings to those with `autoboard` on."""
    for view in match_views(world, match):
        if view.wants_raw_boards or view.user.settings[Toggle.AUTOBOARD]:
            world.send(view.user, view.board())


def _announce(world: World, match: RulesetMatch, kind: Callable[[str], Message], seat: Seat) -> None:
    """Send everybody who sees the match a message that has a player's name only."""
    send_to_viewers(world, match, lambda view: kind(view.name(seat)))


# -- rolling --------------------------------------------------------------------------------------------------------


def _two_dice(world: World, match: RulesetMatch) -> tuple[int, int]:
    dice = world.dice.dice(match.key, match.rolls)
    match.rolls += 1
    world.statistics.count(dice)
    return dice


def _dice(world: World, match: RulesetMatch) -> Numbers:
    """Roll as many dice as the game has; the third one is the first of another roll of two."""
    dice: Numbers = _two_dice(world, match)
    if match.rules.dice > len(dice):
        dice += world.dice.dice(match.key, match.rolls)[: match.rules.dice - len(dice)]
        match.rolls += 1
    return dice


def _asks_to_double(match: RulesetMatch) -> bool:
    """Return whether the player on turn may double, and wants to be asked."""
    seat = match.state.turn
    return match.users[seat].settings[Toggle.DOUBLE] and refusal_to_double(match.state, seat) is None


def roll(world: World, match: RulesetMatch) -> None:
    """Roll for the player on turn."""
    before, seat, dice = match.state, match.state.turn, _dice(world, match)
    match.state = game.roll(before, seat, dice)
    if len(dice) == 2:
        two = (dice[0], dice[1])
        send_to_viewers(world, match, lambda view: m.Rolls(view.name(seat), two))
    else:
        send_to_viewers(world, match, lambda view: m.RollsThree(view.name(seat), dice))
    if match.state.cube != before.cube:
        world.send_all((view.user for view in match_views(world, match)), m.CubeRaised(match.state.cube))
    if match.state.turn is not seat:  # a roll that brings nothing
        match.record_part(seat, dice, Play())
        _announce(world, match, m.CannotMove, seat)


def _roll_contest(world: World, match: RulesetMatch) -> None:
    """Roll two dice for each player until the totals differ; the higher one names the point to open."""
    dice = (_two_dice(world, match), _two_dice(world, match))
    match.state = game.roll_contest(match.state, sum(dice[Seat.A]), sum(dice[Seat.B]))

    def rolled(view: MatchView) -> Message:
        seat = view.seat
        return m.ContestRolls(view.name(seat), dice[seat], match.names[seat.other], dice[seat.other])

    send_to_viewers(world, match, rolled)


# -- playing --------------------------------------------------------------------------------------------------------


def _plays(state: GameState) -> tuple[Play, ...]:
    return legal_plays(state.rules, state.sides, state.part)


def _plays_by_itself(world: World, match: RulesetMatch) -> bool:
    """Make the play that is left to the server: none is possible, there is no choice, or the toggle `greedy` says so.

    Return whether there was such a play.
    """
    state, seat = match.state, match.state.turn
    plays, settings = _plays(state), match.users[seat].settings
    if not any(play.moves for play in plays):
        make_play(world, match, Play(), lambda view: m.CannotMove(view.name(seat)))
        return True
    bearing_off = greedy_play(state, plays) if settings[Toggle.GREEDY] else None
    if bearing_off is not None:
        bear_off(world, match, bearing_off)
        return True
    if settings[Toggle.AUTOMOVE] and len(plays) == 1:
        only = m.OnlyMove(moves_to_fibs(plays[0]))
        make_play(world, match, plays[0], lambda _: only)
        return True
    return False


def greedy_play(state: GameState, plays: tuple[Play, ...] | None = None) -> Play | None:
    """Return the play that bears off a checker with every number of the part; None if there is none."""
    numbers = len(state.part.numbers)
    for play in plays or _plays(state):
        own = state.sides.own
        off = bool(play.moves) and all(move.target == OFF for move in play.moves)
        if off and (len(play) == numbers or own.row[OFF] + len(play) == own.checkers):
            return play
    return None


def bear_off(world: World, match: RulesetMatch, play: Play) -> None:
    """Make a play chosen by the server that only bears off."""
    off = m.BearsOff(tuple(move.source or 0 for move in moves_to_fibs(play)))
    send_to_viewers(world, match, lambda _: off)
    make_play(world, match, play)


def make_play(
    world: World, match: RulesetMatch, play: Play, message_for: Callable[[MatchView], Message | None] | None = None
) -> None:
    """Make a play of a part of a turn, announce it, and what follows in the turn.

    Raises:
        PlayError: if the play is not legal; then nothing has changed.
    """
    before, seat = match.state, match.state.turn
    match.state = game.play(before, seat, play)
    match.record_part(seat, before.part.numbers, play)
    if play.moves or message_for is not None:
        made = moves_to_fibs(play)
        send_to_viewers(
            world,
            match,
            message_for or (lambda view: None if view.is_player(seat) else m.Moves(match.names[seat], made)),
        )
    _announce_rest(world, match, before)


def _announce_rest(world: World, match: RulesetMatch, before: GameState) -> None:
    """Announce what follows a part of a turn: another part, another roll, or parts that are left to the opponent."""
    state, seat = match.state, before.turn
    if state.stage is Stage.MOVE:
        numbers = state.part.numbers
        if state.turn is not seat:
            send_to_viewers(world, match, lambda view: m.RestLeft(view.name(seat), view.name(seat.other)))
        send_to_viewers(world, match, lambda view: m.NextPart(view.name(state.turn), numbers))
    elif state.stage is Stage.ROLL and state.turn is seat and not before.passed:
        _announce(world, match, m.RollsAgain, seat)


def name(world: World, match: RulesetMatch, seat: Seat, number: int) -> None:
    """Name the double to play, or the point to open. Raises RuleError for what may not be named."""
    naming = match.state.naming
    match.state = game.name(match.state, seat, number)
    if naming is not None:
        match.record_action(seat, f"names {number}")
        send_to_viewers(world, match, lambda view: m.NumberNamed(view.name(seat), NAMINGS[naming], number))


# -- the end --------------------------------------------------------------------------------------------------------


def end_game(world: World, match: RulesetMatch) -> None:
    """Announce the result of a finished game, and ask to join the next one or end the match."""
    world.mark_unsaved(match)
    result, winner = match.state.result, match_winner(match.state)
    if result is None:
        match.record_action(match.state.turn, "draws")
    else:
        match.record_action(result.winner, "wins")
    game_flow.announce_end(world, match, _result, goes_on=winner is None)
    if winner is not None:
        _end_match(world, match, winner)


def _result(view: MatchView) -> Message:
    state: GameState = view.match.state
    if state.result is None:
        return m.GameDrawn(state.reason)
    winner, loser, points = view.name(state.result.winner), view.name(state.result.winner.other), state.result.points
    match state.result.how:
        case Ending.DROPPED:
            return m.GaveUp(loser, winner, points)
        case Ending.RESIGNED:
            return m.ResignAccepted(winner, points)
        case _:
            return m.GameWonBy(winner, points, state.reason)


def _end_match(world: World, match: RulesetMatch, winner: Seat) -> None:
    """Update the ratings of this game, which are not those of backgammon, and end the match."""
    length, scores = match.length, match.state.scores
    names = match.names[winner], match.names[winner.other]
    if length != UNLIMITED:
        won, lost = (world.database.game_rating(name, match.rules.name) for name in names)
        calculation = RatingCalculation(won.rated_player, lost.rated_player, length)
        match.new_ratings = (
            evolve(won, rating=won.rating + calculation.gain, experience=won.experience + length),
            evolve(lost, rating=lost.rating - calculation.loss, experience=lost.experience + length),
        )
        game_flow.show_calculation(world, match, calculation)
    report = m.GameReportEnd(*names, length, match.game, scores[winner], scores[winner.other])
    game_flow.close_match(world, match, winner, report)
