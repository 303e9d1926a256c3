"""A state machine of random legal actions: every game ends, and all invariants hold."""

from __future__ import annotations

from random import Random

from attrs import evolve
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fibsbot.match import Dice, MatchState, Phase
from fibsbot.position import CHECKERS, Play
from fibsbot.rules import game as rules
from fibsbot.rules.laws import FIBS, LAWS, AutomaticRaise, Level
from fibsbot.rules.permissions import match_winner, refusal_to_double, refusal_to_redouble
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from tests.examples import examples
from tests.hypothesis_strategies import dice

LEVELS = st.sampled_from(Level)


class Match(RuleBasedStateMachine):
    """Matches one after another, or a few games of an unlimited one."""

    state: GameState = rules.start_match(FIBS, 1)

    @initialize(
        laws=st.sampled_from(sorted(LAWS)),
        automatic=st.sampled_from(AutomaticRaise),
        redoubles=st.integers(0, 4),
        length=st.integers(0, 7),
    )
    def start(self, laws: str, automatic: AutomaticRaise, redoubles: int, length: int) -> None:
        """Choose the laws."""
        chosen = evolve(LAWS[laws], automatic=automatic, redoubles=redoubles)
        self.state = rules.start_match(chosen, length)
        self.won = [0, 0]

    def has_to(self, *phases: Phase) -> bool:
        """Return whether a player has a decision of one of these phases."""
        return any(seen is not None and seen.phase in phases for seen in self.seen().values())

    def seen(self) -> dict[Seat, MatchState | None]:
        """Return the decision of each player."""
        return {seat: MatchState.of(self.state, seat) for seat in Seat}

    @property
    def decider(self) -> Seat:
        """The player who has to decide."""
        return next(seat for seat, seen in self.seen().items() if seen is not None)

    @precondition(lambda self: self.state.stage is Stage.OPENING and not self.state.resignation)
    @rule(numbers=dice())
    def open(self, numbers: Dice) -> None:
        """Roll one die for each player."""
        self.state = rules.roll_opening(self.state, *numbers)

    @precondition(lambda self: self.has_to(Phase.ROLL))
    @rule(numbers=dice(), doubling=st.booleans())
    def roll_or_double(self, numbers: Dice, *, doubling: bool) -> None:
        """Double if `doubling` and allowed, else roll."""
        if doubling and refusal_to_double(self.state, self.decider) is None:
            self.state = rules.double(self.state, self.decider)
        else:
            self.state = rules.roll(self.state, self.decider, numbers)

    @precondition(lambda self: self.has_to(Phase.MOVE))
    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        """Make any legal play, or the empty one."""
        assert self.state.dice is not None
        plays = legal_plays(self.state.position, self.state.dice)
        chosen = data.draw(st.sampled_from(plays)) if plays else Play()
        self.state = rules.play(self.state, self.decider, chosen)

    @precondition(lambda self: self.has_to(Phase.DOUBLED))
    @rule(answer=st.sampled_from((rules.take, rules.drop, rules.redouble)))
    def answer(self, answer: object) -> None:
        """Answer a double."""
        if answer is rules.drop:
            self.state = rules.drop(self.state, self.decider)
        elif answer is rules.redouble and refusal_to_redouble(self.state) is None:
            self.state = rules.redouble(self.state, self.decider)
        else:
            self.state = rules.take(self.state, self.decider)

    @precondition(lambda self: self.state.stage is not Stage.OVER and not self.state.resignation)
    @rule(seat=st.sampled_from(Seat), level=LEVELS)
    def give_up(self, seat: Seat, level: Level) -> None:
        """Offer to resign; either player may."""
        self.state = rules.resign(self.state, seat, level)

    @precondition(lambda self: self.has_to(Phase.RESIGNED))
    @rule(accepted=st.booleans())
    def answer_resignation(self, *, accepted: bool) -> None:
        """Answer an offer to resign."""
        answer = rules.accept_resignation if accepted else rules.reject_resignation
        self.state = answer(self.state, self.decider)

    @precondition(lambda self: self.state.stage is Stage.OVER)
    @rule()
    def go_on(self) -> None:
        """Start the next game, or the next match."""
        assert self.state.result is not None
        self.won[self.state.result.winner] += self.state.result.points
        if match_winner(self.state) is None:
            self.state = rules.next_game(self.state)
        else:
            self.state = rules.start_match(self.state.laws, self.state.length)
            self.won = [0, 0]

    @invariant()
    def exactly_one_player_has_a_decision_during_a_game(self) -> None:
        """No player has one otherwise."""
        deciders = sum(seen is not None for seen in self.seen().values())
        waiting = self.state.stage in {Stage.OPENING, Stage.OVER} and not self.state.resignation
        assert (0 if waiting else 1) == deciders

    @invariant()
    def checkers_are_conserved(self) -> None:
        """Each side has 15 checkers on the board or off."""
        position = self.state.position
        assert not position.status()
        assert CHECKERS == sum(n for n in position.points if n > 0) + position.off
        assert position == position.swapped().swapped()

    @invariant()
    def scores_are_the_sums_of_the_games(self) -> None:
        """A game that is over also has a result."""
        result = self.state.result
        assert (result is not None) == (self.state.stage is Stage.OVER)
        expected = [*getattr(self, "won", (0, 0))]
        if result is not None:
            expected[result.winner] += result.points
        assert tuple(expected) == self.state.scores

    @invariant()
    def a_pending_double_offers_twice_the_value(self) -> None:
        """Otherwise no value is offered."""
        doubled = self.state.stage is Stage.DOUBLED
        assert (2 * self.state.cube if doubled else 0) == self.state.offered
        assert doubled == (self.state.answering is not None)


TestMatch = Match.TestCase
TestMatch.settings = settings(examples(25), stateful_step_count=60)


def test_random_matches_come_to_an_end() -> None:
    """Without doubles or resignations, random plays lead to a winner."""
    for seed in range(8):
        chance = Random(seed)
        state = rules.start_match(FIBS, 3)
        while (winner := match_winner(state)) is None:
            numbers = (chance.randint(1, 6), chance.randint(1, 6))
            if state.stage is Stage.OVER:
                state = rules.next_game(state)
            elif state.stage is Stage.OPENING:
                state = rules.roll_opening(state, *numbers)
            elif state.stage is Stage.ROLL:
                state = rules.roll(state, state.turn, numbers)
            else:
                assert state.dice is not None
                plays = legal_plays(state.position, state.dice)
                state = rules.play(state, state.turn, chance.choice(plays) if plays else Play())
        assert 3 <= state.scores[winner]
