"""Builds a match of a game other than backgammon from a session, and checks it by the rules core.

Every action is made on the state of the game, and every `table:` line is compared with the state that follows. A line
is the truth: where it differs, or something was not seen, the game goes on from it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, TypeAlias

from attrs import fields

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.table_state import TableStage, TableState
from fibs_protocol.words import YOU
from fibsbot.bot.tracked_match import Difference
from fibsbot.evolve import evolve
from fibsbot.fibs_numbering import length_from_fibs
from fibsbot.games import UnknownGameError, load_ruleset
from fibsbot.match import CubeAction
from fibsbot.notation.play_notation import CANNOT_MOVE, format_play
from fibsbot.position import Play
from fibsbot.replay import events
from fibsbot.replay.entry_recorder import EntryRecorder
from fibsbot.replay.table_transcript import TableTranscript
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.errors import DiceError, RuleError
from fibsbot.rules.game import next_game, play, roll, roll_opening, start_match_of
from fibsbot.rules.general_plays import legal_plays
from fibsbot.rules.ruleset import Numbers, Ruleset
from fibsbot.rules.sides import HAND, OFF
from fibsbot.rules.state import Ending, GameState, Seat, Stage
from fibsbot.table_lines import game_from_state, play_of_moves, table_state
from fibsbot.text import plural
from fibsbot.transcript import Contest, Cube, Entry, Named, Player, apply

_Time: TypeAlias = dt.datetime | None
_Place: TypeAlias = tuple[int, _Time]
"""Offset and time of a line."""

_NOT_COMPARED: Final = frozenset({"player", "opponent", "colour", "may_double", "opponent_may_double"})
"""Fields of a line that do not follow from the game alone: no line shows the cube's owner."""
_COMPARED: Final = tuple(it.name for it in fields(TableState) if it.name not in _NOT_COMPARED)


class TableMatch:
    """A match of a game other than backgammon. No message makes it raise."""

    def __init__(
        self,
        number: int,
        players: tuple[Player, Player],
        emit: Callable[[events.MatchEvent], None],
        *,
        own: bool,
        site: str = "",
    ) -> None:
        """Start a match; the first player is the user, or the one who is watched. Nothing is known of it yet."""
        self.number = number
        self.players = (players[0].name, players[1].name)
        self.own = own
        self._rated_players = players
        self._site = site
        self.game = ""
        """The game's full name; empty until it is known."""
        self.length: int | None = None
        self.scores: tuple[int, int] | None = None
        self._emit = emit
        self._begun = False
        self._games = 0
        self._turn = 0
        """Number of the actions of the current game."""
        self._playing = False
        self._state: GameState | None = None
        """The game after all that was seen; None if that is not known."""
        self._unconfirmed: Play | None = None
        """The play that was sent, before any answer."""
        self._transcript: TableTranscript | None = None
        """Builds the transcript of a match of a game that is backgammon but for its set-up or its count."""
        self._recorder: EntryRecorder | None = None
        """Builds the transcript of a match of any other game."""
        self._at: _Time = None

    @property
    def _builder(self) -> TableTranscript | EntryRecorder | None:
        """What builds the transcript, once the game and the length are known."""
        return self._transcript or self._recorder

    is_full: Final = False
    """Never full: what is kept of it has a bound."""

    @property
    def is_won(self) -> bool:
        """Whether a player has all points of the match."""
        return self.winner is not None

    @property
    def is_under_way(self) -> bool:
        """Whether any game of it was seen."""
        return self._games > 0

    # -- input ----------------------------------------------------------------------------------------------------

    def set_game(self, title: str, length: int | None) -> None:
        """Take over the game's name and the length, as far as they are said."""
        points = self.length if length is None else length_from_fibs(length)
        if (self.game, self.length) == (title, points):
            return
        self.game, self.length, self._transcript, self._recorder = title, points, None, None
        rules = _ruleset(title)
        if points is None or self._games or rules is None:
            return
        if is_backgammon(rules):
            self._transcript = TableTranscript(self._rated_players, points, self._site, own=self.own)
        else:
            self._recorder = EntryRecorder(self._rated_players, points, self._site, own=self.own)

    def send(self, command: Command) -> None:
        """Note a command of the user."""
        if isinstance(command, c.Move) and self.own:
            self._unconfirmed = play_of_moves(command.moves)

    def receive(self, message: Message, at: _Time, offset: int) -> None:
        """Process a message."""
        if isinstance(message, Refusal):
            self._unconfirmed = None
            return
        handler = self._handlers.get(type(message))
        if handler is None:
            return
        self._at, place = at, (offset, at)
        self._record(lambda it: it.note_time(at))
        if self._unconfirmed is not None and not self._is_repeated(message):
            sent, self._unconfirmed = self._unconfirmed, None
            self._play(Seat.A, sent, place)
        handler(self, message, place)
        if self._transcript:
            self._transcript.receive(message, self.seat_of, at)

    def _is_repeated(self, message: Message) -> bool:
        """Whether a message only shows the state before a play that was sent: the answer to a `board` before it."""
        return isinstance(message, m.TableBoard) and self._state is not None and not self._differences(message.state)

    def interrupt(self) -> None:
        """Note that the match broke off: what happens until it is resumed is not seen."""
        self._state = self._unconfirmed = None

    def resume(self) -> None:
        """Note that it goes on; the next line shows where it stands."""
        if self._transcript:
            self._transcript.resume()

    def log_decision(self, logged: Mapping[str, Any]) -> None:
        """Take a decision of the user as a session log has it."""
        if self._transcript:
            self._transcript.log_decision(logged)

    def close(self) -> None:
        """Finish the match, of which nothing more will be seen."""
        if self._playing:
            self._end_game(None, 0, "")
        if self._begun:
            seen = self._builder.finish() if self._builder else None
            self._emit(events.TableMatchEnded(self.number, self.players, self.scores, self.winner, self._at, seen))
            self._begun = False

    @property
    def winner(self) -> Seat | None:
        """Who has all points of the match."""
        if not self.length or self.scores is None:
            return None
        return next((seat for seat in Seat if self.scores[seat] >= (self.length or 0)), None)

    def seat_of(self, player: str) -> Seat | None:
        """Return the seat of a player by the name in a message."""
        if player == self.players[0] or (self.own and player == YOU):
            return Seat.A
        return Seat.B if player == self.players[1] else None

    # -- events ---------------------------------------------------------------------------------------------------

    def _begin_match(self) -> None:
        if not self._begun:
            self._begun = True
            self._emit(events.TableMatchBegan(self.number, self.game, self.players, self.length, self.own, self._at))

    def _begin_game(self, *, crawford: bool = False) -> None:
        self._begin_match()
        if not self._playing:
            self._games, self._turn, self._playing = self._games + 1, 0, True
            self._emit(events.TableGameBegan(self.number, self._games, self.scores, crawford=crawford))

    def _add(self, seat: Seat, text: str, *, decision: bool = True) -> None:
        self._begin_game()
        self._turn += 1
        self._emit(
            events.TableActionAdded(self.number, self._games, self._turn, seat, text, decision=decision, at=self._at)
        )

    def _differ(self, differences: Iterable[Difference], place: _Place) -> None:
        self._begin_match()
        self._emit(events.DifferenceFound(self.number, self._games, self._turn, tuple(differences), *place))

    def _end_game(self, winner: Seat | None, points: int, reason: str, *, drawn: bool = False) -> None:
        self._begin_game()
        if winner is not None and self.scores is not None:
            a, b = self.scores
            self.scores = (a + points, b) if winner is Seat.A else (a, b + points)
        self._playing = False
        self._emit(
            events.TableGameEnded(self.number, self._games, winner, points, reason, drawn=drawn, scores=self.scores)
        )

    # -- actions ----------------------------------------------------------------------------------------------------

    def _apply(
        self,
        what: str,
        shown: object,
        place: _Place,
        change: Callable[[GameState], GameState],
        record: Callable[[EntryRecorder], None] = lambda _: None,
    ) -> None:
        """Make an action, if the state is known, and record it; one that the rules forbid is a difference."""
        state = self._state
        if state is None:
            return
        try:
            self._state = change(state)
        except RuleError as error:
            self._state = None
            self._differ([Difference(what, str(error), shown)], place)
        else:
            self._record(record)

    def _enter(self, what: str, shown: object, place: _Place, entry: Entry) -> None:
        """Make the action of an entry, and record it."""
        self._apply(what, shown, place, lambda state: apply(state, entry), lambda it: it.add(entry))

    def _record(self, record: Callable[[EntryRecorder], None]) -> None:
        if self._recorder:
            record(self._recorder)

    def _play(self, seat: Seat, made: Play, place: _Place) -> None:
        state = self._state
        text = " ".join(map(str, made.moves)) or "no move"
        if state is not None and state.stage is Stage.MOVE and state.turn is seat:
            numbers = "".join(map(str, state.part.numbers))
            try:
                text = f"{numbers}: {format_play(made, state)}"
            except RuleError:
                text = f"{numbers}: {text}"
        self._add(seat, text, decision=bool(made.moves))
        if self._transcript:
            self._transcript.play(seat, made, place[1])
        self._apply(
            "play", text, place, lambda state: play(state, seat, made), lambda it: it.play(seat, made, place[1])
        )

    def _fill_in_play(self, line: TableState) -> None:
        """Add the user's own play, which no server reports, if a line after it allows only one."""
        state = self._state
        if not self.own or state is None or state.stage is not Stage.MOVE or state.turn is not Seat.A:
            return
        if state.resignation is not None or not self._differences(line):
            return
        found = []
        for made in legal_plays(state.rules, state.sides, state.part) or (Play(),):
            after = play(state, Seat.A, made)
            if after.sides_for(Seat.A).own.row == line.side.row:
                found.append(made)
        if len(found) == 1:
            self._play(Seat.A, found[0], (0, self._at))

    def _differences(self, line: TableState) -> list[Difference]:
        """Return how a line differs from the state of the game."""
        state = self._state
        if state is None:
            return []
        ours = table_state(state, Seat.A, line.player, line.opponent, line.colour)
        pairs = ((it, getattr(ours, it), getattr(line, it)) for it in _COMPARED)
        return [Difference(it, mine, theirs) for it, mine, theirs in pairs if mine != theirs]

    # -- messages -----------------------------------------------------------------------------------------------------

    def _on_table(self, message: m.TableBoard, place: _Place) -> None:
        line = message.state
        if self.seat_of(line.player) is not Seat.A or self.seat_of(line.opponent) is not Seat.B:
            return
        self.set_game(line.game, line.length)
        try:
            shown = game_from_state(line)
        except ValueError as error:
            self._state = None
            self._differ([Difference("table", None, str(error))], place)
            return
        self.scores = self.scores or shown.scores
        if line.stage is not TableStage.OVER:
            self._begin_game(crawford=shown.crawford)
        self._fill_in_play(line)
        if differences := self._differences(line):
            self._differ(differences, place)
        if differences or self._state is None:
            self._state = shown
            self.scores = shown.scores
        elif shown.stage is not Stage.OVER:  # only a line shows whether the players have left out the Crawford game
            self._state = evolve(self._state, crawford=shown.crawford, post_crawford=shown.post_crawford)
        if self._transcript:
            self._transcript.show(shown, place[1])
        self._record(lambda it: it.show(shown))

    def _on_game_starts(self, _: m.GameStarts, place: _Place) -> None:
        if self._playing:
            self._end_game(None, 0, "")
        state, self._state = self._state, None
        if state is not None and state.stage is Stage.OVER:
            self._state = state
            self._apply("start", "a new game", place, next_game)
        elif self.game and self.length is not None and not self._games:
            try:
                self._state = start_match_of(load_ruleset(self.game), self.length)
            except UnknownGameError as error:
                self._differ([Difference("game", None, str(error))], place)
            self.scores = (0, 0)
        if self._state is not None and self._builder:
            self._builder.begin_game(self._state)
        if self._state is not None and self._state.crawford:  # unless the players have left it out, as a line shows
            self._state = evolve(self._state, crawford=False, post_crawford=True)
        elif self._state is not None:
            self._begin_game()

    def _on_opening_roll(self, message: m.OpeningRoll, place: _Place) -> None:
        dice = {self.seat_of(message.player): message.player_die, self.seat_of(message.opponent): message.opponent_die}
        if set(dice) == set(Seat):
            a, b = dice[Seat.A], dice[Seat.B]
            before = self._state
            self._apply("opening roll", (a, b), place, lambda state: roll_opening(state, a, b))
            if before is not None and self._state is not None and self._builder:
                self._builder.roll_opening(before, self._state, place[1])

    def _on_roll(self, message: m.Rolls | m.RollsThree, place: _Place) -> None:
        seat, dice = self.seat_of(message.player), tuple(message.dice)
        if seat is not None:
            self._apply(
                "roll",
                dice,
                place,
                lambda state: roll(state, seat, _dice(state, dice)),
                lambda it: it.roll(seat, dice, place[1]),
            )

    def _on_moves(self, message: m.Moves, place: _Place) -> None:
        seat = self.seat_of(message.player)
        if seat is not None:
            self._play(seat, play_of_moves(message.moves), place)

    def _on_only_move(self, message: m.OnlyMove, place: _Place) -> None:
        if self._state is not None:
            self._play(self._state.turn, play_of_moves(message.moves), place)

    def _on_bears_off(self, message: m.BearsOff, place: _Place) -> None:
        """Play for the user, to whom no other message shows the play that the server chose."""
        state = self._state
        if state is not None and self.own and state.turn is Seat.A:
            self._play(Seat.A, Play.of(*((point or HAND, OFF) for point in message.points)), place)

    def _on_cannot_move(self, message: m.CannotMove, place: _Place) -> None:
        seat, state = self.seat_of(message.player), self._state
        if seat is None:
            return
        if state is not None and (state.stage is not Stage.MOVE or state.turn is not seat):
            self._add(seat, CANNOT_MOVE, decision=False)  # the roll brought nothing to play
        else:
            self._play(seat, Play(), place)

    def _on_named(self, message: m.NumberNamed, place: _Place) -> None:
        seat, number = self.seat_of(message.player), message.number
        if seat is not None:
            self._add(seat, f"names {number}")
            self._enter("name", number, place, Named(seat=seat, number=number, at=place[1]))

    def _on_contest(self, message: m.ContestRolls, place: _Place) -> None:
        totals = {
            self.seat_of(message.player): sum(message.dice),
            self.seat_of(message.opponent): sum(message.opponent_dice),
        }
        if set(totals) == set(Seat):
            a, b = totals[Seat.A], totals[Seat.B]
            self._enter("contest", (a, b), place, Contest(totals=(a, b), at=place[1]))

    def _on_double(self, message: m.YouDouble | m.OpponentDoubles | m.WatchedDouble, place: _Place) -> None:
        seat = self.seat_of(getattr(message, "player", self.players[0]))
        if seat is not None:
            self._add(seat, "doubles")
            self._enter("double", "doubles", place, Cube(seat=seat, action=CubeAction.DOUBLE, at=place[1]))

    def _on_take(self, message: m.DoubleAccepted, place: _Place) -> None:
        seat = self.seat_of(message.player)
        if seat is not None:
            self._add(seat, "takes")
            self._enter("take", "takes", place, Cube(seat=seat, action=CubeAction.TAKE, at=place[1]))

    def _on_offer(self, message: m.ResignOffer, _: _Place) -> None:
        seat = self.seat_of(message.player)
        if seat is not None:
            self._add(seat, f"wants to resign {plural(message.points, 'point')}")
            self._record(lambda it: it.offer(seat, message.points))
        self._state = None  # the next line shows the offer

    def _on_reject(self, message: m.ResignRejected, _: _Place) -> None:
        seat = self.seat_of(message.player)
        if seat is not None:
            self._add(seat, "rejects")
        self._record(lambda it: it.reject_offer(self._at))
        self._state = None

    def _on_cube_raised(self, message: m.CubeRaised, _: _Place) -> None:
        if self._state is not None and self._state.cube != message.cube:
            self._state = None

    def _on_unknown_change(self, _: Message, __: _Place) -> None:
        """Forget the state, because it is not followed any further; the next line shows it."""
        self._state = None

    def _on_game_won(self, message: m.GameWonBy | m.GameWon, place: _Place) -> None:
        winner, state = self.seat_of(message.winner), self._state
        if winner is None:
            return
        if state is not None:
            seen = (winner.name, message.points)
            ours = (state.result.winner.name, state.result.points) if state.result else None
            if ours != seen:
                self._differ([Difference("result", ours, seen)], place)
                self._state = None
        self._record(lambda it: it.end_game(winner, message.points, Ending.BORNE_OFF, self._at))
        self._end_game(winner, message.points, getattr(message, "reason", ""))

    def _on_drawn(self, message: m.GameDrawn, place: _Place) -> None:
        if self._state is not None and not self._state.drawn:
            self._differ([Difference("result", None, "drawn")], place)
            self._state = None
        self._record(lambda it: it.end_game(None, 0, Ending.OTHER, self._at))
        self._end_game(None, 0, message.reason, drawn=True)

    def _on_given_up(self, message: m.GaveUp | m.ResignAccepted, _: _Place) -> None:
        winner = self.seat_of(message.winner)
        if winner is not None:
            reason = "double passed" if isinstance(message, m.GaveUp) else "resigned"
            self._state = None
            how = Ending.DROPPED if isinstance(message, m.GaveUp) else Ending.RESIGNED
            self._record(lambda it: it.end_game(winner, message.points, how, self._at))
            self._end_game(winner, message.points, reason)

    def _on_match_won(self, message: m.MatchWon, place: _Place) -> None:
        winner = self.seat_of(message.winner)
        if winner is None:
            return
        shown = (message.winner_points, message.loser_points)
        shown = shown if winner is Seat.A else shown[::-1]
        if self.scores not in {None, shown}:
            self._differ([Difference("score", self.scores, shown)], place)
        self.scores = shown

    def _on_what_follows(self, _: Message, __: _Place) -> None:
        """Do nothing: the rules say the same."""

    _handlers: ClassVar[Mapping[type[Message], Callable[[TableMatch, Any, _Place], None]]] = {
        m.TableBoard: _on_table,
        m.GameStarts: _on_game_starts,
        m.OpeningRoll: _on_opening_roll,
        m.Rolls: _on_roll,
        m.RollsThree: _on_roll,
        m.Moves: _on_moves,
        m.OnlyMove: _on_only_move,
        m.CannotMove: _on_cannot_move,
        m.NumberNamed: _on_named,
        m.ContestRolls: _on_contest,
        m.YouDouble: _on_double,
        m.OpponentDoubles: _on_double,
        m.WatchedDouble: _on_double,
        m.DoubleAccepted: _on_take,
        m.ResignOffer: _on_offer,
        m.ResignRejected: _on_reject,
        m.CubeRaised: _on_cube_raised,
        m.BearsOff: _on_bears_off,
        m.YouRedouble: _on_unknown_change,
        m.OpponentRedoubles: _on_unknown_change,
        m.WatchedRedouble: _on_unknown_change,
        m.RedoubleAccepted: _on_unknown_change,
        m.GameWonBy: _on_game_won,
        m.GameWon: _on_game_won,
        m.GameDrawn: _on_drawn,
        m.GaveUp: _on_given_up,
        m.ResignAccepted: _on_given_up,
        m.MatchWon: _on_match_won,
        **dict.fromkeys((m.RestLeft, m.NextPart, m.RollsAgain, m.NamePrompt), _on_what_follows),
    }
    """The messages about such a match; any of them shows that the play that was sent before was accepted."""


def _ruleset(title: str) -> Ruleset | None:
    try:
        return load_ruleset(title)
    except UnknownGameError:
        return None


def _dice(state: GameState, dice: Numbers) -> Numbers:
    """Return the dice if they are as many as the game has. Raises DiceError."""
    if len(dice) != state.rules.dice:
        raise DiceError(f"expected {state.rules.dice} dice, got {len(dice)}")
    return dice
