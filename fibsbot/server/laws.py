"""Matches by other laws than those of FIBS: their invitations, the commands `laws` and `rethrow`.

A client that has not asked for them, by `laws on` or by such an invitation, sees nothing of them: it is not invited to
such a match and cannot watch one. People, who read sentences, need not ask.
"""

from __future__ import annotations

from typing import Final

from attrs import evolve

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibsbot.rules import game
from fibsbot.rules.law_words import LawWordsError, describe_laws, law_words, parse_law_words
from fibsbot.rules.laws import Laws, with_board_limit
from fibsbot.rules.permissions import may_reject_roll
from fibsbot.server import game_flow
from fibsbot.server.audience import send_to_viewers
from fibsbot.server.game_commands import check_turn, require_match
from fibsbot.server.saved_match import CUBE_LIMIT
from fibsbot.server.texts import help_on
from fibsbot.server.users import ServerMatch, User
from fibsbot.server.world import CommandHandlers, World

HANDLERS: Final = CommandHandlers()


def agreed_laws(world: World, inviter: User, guest: User, words: str | None) -> Laws | None:
    """Return the laws of an invitation, None for those of FIBS; without words, the laws of the house if both know any.

    Raises:
        CommandError: if the words name no laws, or the guest's client knows none.
    """
    if words is None:
        return world.house_laws if inviter.knows_laws and guest.knows_laws else None
    try:
        laws = parse_law_words(words)
    except LawWordsError as error:
        raise CommandError(m.UnknownLaws(str(error))) from None
    if not guest.knows_laws:
        raise CommandError(m.KnowsNoLaws(guest.name))
    inviter.asked_for_laws = True
    return playable_laws(laws)


def playable_laws(laws: Laws) -> Laws:
    """Return laws with the limits of this server: the cube has at most four digits, and ties add one up to 6."""
    return evolve(with_board_limit(laws), cube_limit=CUBE_LIMIT)


def law_lines(laws: Laws | None) -> tuple[m.MatchLaws, ...]:
    """Return the line that shows the laws of a match; none for those of FIBS."""
    return () if laws is None else (m.MatchLaws(law_words(laws), describe_laws(laws)),)


def check_knows(match: ServerMatch | None, *users: User) -> None:
    """Refuse a match by other laws to clients that know none."""
    for user in users if match and match.agreed else ():
        if not user.knows_laws:
            raise CommandError(m.KnowsNoLaws(user.name))


@HANDLERS.on(c.ShowLaws)
def show_laws(world: World, user: User, command: c.ShowLaws) -> None:
    """Show the laws of the match, or how to agree on others; or note whether the client knows other laws."""
    if command.known is not None:
        user.asked_for_laws = command.known
        world.send(user, m.LawsKnown(command.known))
    elif user.match is not None and user.match.agreed is not None:
        world.send(user, *law_lines(user.match.agreed))
    else:
        world.send(user, *help_on("laws"))


@HANDLERS.on(c.Rethrow)
def rethrow(world: World, user: User, command: c.Rethrow) -> None:  # noqa: ARG001 - all handlers are called alike
    """Reject the first roll, which doubles the cube, and roll again; other games than backgammon have no such law."""
    match, seat = require_match(user)
    if match.game is not None:
        raise CommandError(m.CantRethrow())
    check_turn(match, seat, m.NotYourMove())
    dice = match.state.dice
    if dice is None:
        raise CommandError(m.RollFirst())
    if not may_reject_roll(match.state):
        raise CommandError(m.CantRethrow())
    match.state = game.reject_roll(match.state, seat)
    match.record_action(seat, f"rejects {dice[0]}-{dice[1]}")
    cube = match.state.cube
    send_to_viewers(world, match, lambda view: m.RollRejected(view.name(seat), cube))
    game_flow.continue_game(world, match)
