"""Chouette: three to six players at one board, one against a team: an immutable state and the actions that change it.

The man in the box has seat A of a game of backgammon, the team has seat B, and its captain acts for it. There is one
cube; the Jacoby rule and instant redoubles are off. Source: "Chouette" in MacGregor's "Backgammon, or 'Tables' Games"
(docs/reference/rules.md has its sentences). As in game.py, an action that is not allowed raises a RuleError and changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import field, frozen

from fibsbot.chouette import FEWEST_PLAYERS, MOST_PLAYERS
from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules import game as rules
from fibsbot.rules.errors import (
    DiceError,
    DoublePendingError,
    GameRunningError,
    NotYourTurnError,
    RuleError,
)
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.permissions import check_running
from fibsbot.rules.state import Ending, GameState, Seat, Stage
from fibsbot.rules.turns import end_game

LAWS_CHOUETTE: Final = Laws("chouette")
"""One cube without limit, gammons and backgammons; no Jacoby rule, no instant redoubles."""
BOX: Final = Seat.A
"""The seat of the man in the box."""
TEAM: Final = Seat.B
"""The seat of the team."""


# -- the order of play ----------------------------------------------------------------------------------------------


@frozen
class Casting:
    """The casting of dice for the order of play: sentence 3. Ties are cast again, among the tied players only."""

    groups: tuple[tuple[str, ...], ...]
    """The players, the highest first; those of one group have thrown the same so far."""

    @property
    def tied(self) -> tuple[str, ...]:
        """The players who have to cast a die, again or for the first time."""
        return tuple(player for group in self.groups if len(group) > 1 for player in group)

    @property
    def order(self) -> tuple[str, ...]:
        """The players in their order; it is final once nobody is tied."""
        return tuple(player for group in self.groups for player in group)


def begin_casting(players: Sequence[str]) -> Casting:
    """Return the state before the first die is cast. Raises RuleError unless there are three to six players."""
    _check_players(players)
    return Casting((tuple(players),))


def cast(casting: Casting, dice: Mapping[str, int]) -> Casting:
    """Cast one die for each of the tied players, and only for them."""
    if set(dice) != set(casting.tied):
        raise RuleError(f"expected one die each for {', '.join(casting.tied)}, got {', '.join(dice) or 'none'}")
    for player, die in dice.items():
        if die not in range(1, 7):
            raise DiceError(f"expected a die of 1 to 6 for {player}, got {die!r}")
    groups: list[tuple[str, ...]] = []
    for group in casting.groups:
        if len(group) == 1:
            groups.append(group)
        else:
            numbers = sorted({dice[player] for player in group}, reverse=True)
            groups += [tuple(player for player in group if dice[player] == number) for number in numbers]
    return Casting(tuple(groups))


# -- the state ------------------------------------------------------------------------------------------------------


@frozen(slots=False)
class Chouette:
    """A game of a chouette, with the points that everybody has won or lost so far."""

    order: tuple[str, ...]
    """The players of this game in their rotation: the man in the box, then the team."""
    captains: tuple[str, ...]
    """The captains of this game: the one who began and those to whom the captaincy was passed, the present one last."""
    in_game: tuple[str, ...]
    """The members of the team who have not dropped out, in their rotation."""
    ledger: Mapping[str, int] = field(hash=False)
    """Points won (or lost, below zero) by everybody who has played; they sum to zero."""
    game: GameState
    waiting: tuple[str, ...] = ()
    """While the box's double waits, the members who have not answered yet; the first is asked next."""
    dropped_captain_last: bool = False
    """Whether a captain who drops out goes to the bottom of the rotation, against sentence 14 (a common house rule)."""

    @property
    def box(self) -> str:
        """The man in the box."""
        return self.order[0]

    @property
    def captain(self) -> str:
        """The captain who acts for the team now, or did so at the end of the game."""
        return self.captains[-1]

    @property
    def team(self) -> tuple[str, ...]:
        """The team in its rotation, with those who have dropped out."""
        return self.order[1:]

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.game.stage is Stage.OVER

    @property
    def to_act(self) -> str | None:
        """The player whose decision is awaited: exactly one, except before the opening roll and after the game."""
        state = self.game
        if state.stage is Stage.OVER:
            return None
        if state.resignation is not None:
            return self.player_of(state.resignation.seat.other)
        if state.stage is Stage.OPENING:
            return None
        if state.answering is BOX:
            return self.box
        if state.answering is TEAM:
            return self.waiting[0]
        return self.player_of(state.turn)

    def player_of(self, seat: Seat) -> str:
        """Return the player who moves the checkers of a seat."""
        return self.box if seat is BOX else self.captain

    def may_advise(self, player: str) -> bool:
        """Return whether a player may advise the captain: the members still in may (sentences 6 and 12)."""
        return player in self.in_game


def start(order: Sequence[str], *, laws: Laws = LAWS_CHOUETTE, dropped_captain_last: bool = False) -> Chouette:
    """Return the first game, before its opening roll, with the players in the order of their casts.

    Raises RuleError unless there are three to six different players.
    """
    _check_players(order)
    if laws.jacoby or laws.redoubles:
        raise RuleError("a chouette with one cube has neither the Jacoby rule nor instant redoubles")
    return _new_game(tuple(order), dict.fromkeys(order, 0), laws, dropped_captain_last=dropped_captain_last)


def _new_game(order: tuple[str, ...], ledger: Mapping[str, int], laws: Laws, *, dropped_captain_last: bool) -> Chouette:
    return Chouette(
        order=order,
        captains=order[1:2],
        in_game=order[1:],
        ledger=ledger,
        game=rules.start_match(laws, 0),
        dropped_captain_last=dropped_captain_last,
    )


# -- box and captain at the board -----------------------------------------------------------------------------------


def act(state: Chouette, player: str, action: Callable[..., GameState], *arguments: Any) -> Chouette:
    """Let box or captain act for their side at the board.

    `action` takes the game, the seat and the arguments, as the functions of `fibsbot/rules/game.py` do.
    """
    return follow(state, action(state.game, _seat(state, player), *arguments))


def resign(state: Chouette, player: str, level: Level) -> Chouette:
    """Offer to resign, for the box or for the whole team; not while a double waits for its answers."""
    if state.game.stage is Stage.DOUBLED:
        raise DoublePendingError("a double waits for its answer")
    return act(state, player, rules.resign, level)


def follow(state: Chouette, game: GameState) -> Chouette:
    """Return the chouette after the game at the board has changed by an action of one side.

    A double of the box is put to every member who is still in, and a game that is over is settled. The members' answers
    and withdrawals are not the game's: `take`, `drop` and `withdraw` follow them.
    """
    if game.stage is Stage.DOUBLED and state.game.stage is not Stage.DOUBLED and game.answering is TEAM:
        return fast_evolve(state, game=game, waiting=state.in_game)
    if game.stage is Stage.OVER and not state.over:
        return _settled(fast_evolve(state, game=game))
    return fast_evolve(state, game=game)


# -- answers to a double --------------------------------------------------------------------------------------------


def take(state: Chouette, player: str) -> Chouette:
    """Accept a double: the box accepts the team's once for all members, a member the box's for himself."""
    if state.game.answering is not TEAM or state.waiting[:1] != (player,):
        _check_not_asked(state, player)
        return act(state, player, rules.take)
    return _answered(fast_evolve(state, waiting=state.waiting[1:]))


def drop(state: Chouette, player: str) -> Chouette:
    """Refuse a double: the box loses to every member who is still in, a member drops out and loses to the box.

    Each loses the value that the cube had before the double.
    """
    if state.game.answering is not TEAM or state.waiting[:1] != (player,):
        _check_not_asked(state, player)
        return act(state, player, rules.drop)
    return _answered(_dropped_out(state, player))


def _check_not_asked(state: Chouette, player: str) -> None:
    """Raise RuleError for a member who answers the box's double out of turn."""
    if state.game.answering is TEAM and player in state.team:
        raise NotYourTurnError(f"{state.waiting[0]} has to answer the double first")


def _answered(state: Chouette) -> Chouette:
    """Go on once every member has answered the box's double: the team takes if one member has taken."""
    if state.waiting:
        return state
    if not state.in_game:
        return fast_evolve(state, game=rules.drop(state.game, TEAM))
    return _with_captain(fast_evolve(state, game=rules.take(state.game, TEAM)))


def _dropped_out(state: Chouette, member: str) -> Chouette:
    """Let a member lose the value of the cube, which a double that waits has not changed, and leave the team."""
    return fast_evolve(
        state,
        ledger=_paid(state.ledger, {member: state.game.cube}, state.box),
        in_game=_without(state.in_game, member),
        waiting=_without(state.waiting, member),
    )


def _with_captain(state: Chouette) -> Chouette:
    """Pass the captaincy to the next player in the rotation if the captain has dropped out: sentence 13."""
    if state.captain in state.in_game:
        return state
    return fast_evolve(state, captains=(*state.captains, state.in_game[0]))


# -- players who do not come back -----------------------------------------------------------------------------------


def withdraw(state: Chouette, player: str) -> Chouette:
    """Drop a player who does not play on, at any time before the game is over, at the value of the cube.

    A member loses it to the box, and the next one in the rotation acts for the team if it was the captain; the box
    loses it to every member who is still in. No document has a rule for this; over the board nobody disappears.
    """
    check_running(state.game)
    game = fast_evolve(state.game, resignation=None, dice=None, offered=0, answering=None, redoubles=0)
    if player == state.box:
        return _settled(fast_evolve(state, game=end_game(game, TEAM, Level.SINGLE, Ending.RESIGNED), waiting=()))
    if player not in state.in_game:
        raise RuleError(f"{player} is not in this game")
    after = _dropped_out(state, player)
    if state.waiting:
        return _answered(after)
    if not after.in_game:
        return fast_evolve(after, game=end_game(game, BOX, Level.SINGLE, Ending.RESIGNED))
    offer = state.game.resignation
    if offer is not None and offer.seat is TEAM and player == state.captain:
        # The next captain decides anew whether the team resigns.
        after = fast_evolve(after, game=fast_evolve(after.game, resignation=None))
    return _with_captain(after)


# -- the end of a game ----------------------------------------------------------------------------------------------


def _settled(state: Chouette) -> Chouette:
    """Settle a game that is over: the box wins from, or loses to, each member who is still in."""
    result = state.game.result
    if result is None:
        raise AssertionError("a game of backgammon that is over has a result")
    points = result.points if result.winner is BOX else -result.points
    return fast_evolve(state, ledger=_paid(state.ledger, dict.fromkeys(state.in_game, points), state.box), waiting=())


def _paid(ledger: Mapping[str, int], losses: Mapping[str, int], box: str) -> Mapping[str, int]:
    """Return the ledger after members have lost these points to the box (or won them, below zero)."""
    paid = {player: points - losses.get(player, 0) for player, points in ledger.items()}
    paid[box] += sum(losses.values())
    return paid


def next_order(state: Chouette) -> tuple[str, ...]:
    """Return the rotation after a game: sentences 7 to 9, 14 and 15.

    If the box has won, he stays, and the captain goes to the bottom. If the team has won, its captain becomes the man
    in the box, and the old one goes to the bottom. A captain who had dropped out keeps his place, unless
    `dropped_captain_last`. Raises GameRunningError before the end of the game.
    """
    if state.game.result is None:
        raise GameRunningError("the game is not over yet")
    dropped = state.captains[:-1] if state.dropped_captain_last else ()
    others = tuple(player for player in state.team if player != state.captain and player not in dropped)
    if state.game.result.winner is BOX:
        return (state.box, *others, *dropped, state.captain)
    return (state.captain, *others, state.box, *dropped)


def next_game(state: Chouette, players: Iterable[str] | None = None) -> Chouette:
    """Return the next game, before its opening roll.

    `players` are those who play it (default: the same). A player who leaves keeps an entry in the ledger, so that it
    sums to zero; the others move up, and newcomers go to the bottom of the rotation.
    """
    order = next_order(state)
    if players is not None:
        wanted = tuple(players)
        order = (*filter(wanted.__contains__, order), *(player for player in wanted if player not in order))
    _check_players(order)
    ledger = {**state.ledger, **dict.fromkeys((player for player in order if player not in state.ledger), 0)}
    return _new_game(order, ledger, state.game.laws, dropped_captain_last=state.dropped_captain_last)


# -- checks ---------------------------------------------------------------------------------------------------------


def _check_players(players: Sequence[str]) -> None:
    if not FEWEST_PLAYERS <= len(players) <= MOST_PLAYERS:
        raise RuleError(f"expected {FEWEST_PLAYERS} to {MOST_PLAYERS} players, got {len(players)}")
    if len(set(players)) < len(players):
        raise RuleError("expected different players, got one of them twice")


def _seat(state: Chouette, player: str) -> Seat:
    """Return the seat that a player acts for: the box or, for the captain, the team."""
    if player == state.box:
        return BOX
    if player == state.captain:
        return TEAM
    if player in state.team:
        raise NotYourTurnError(f"{state.captain} is the captain and acts for the team")
    raise RuleError(f"{player} does not play in this chouette")


def _without(players: tuple[str, ...], player: str) -> tuple[str, ...]:
    return tuple(other for other in players if other != player)
