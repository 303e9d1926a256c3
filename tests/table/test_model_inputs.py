"""The table's model under any inputs: what is offered can be done, and what is refused changes nothing."""

from __future__ import annotations

from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fibsbot.games import load_ruleset
from fibsbot.strategies.loader import load
from fibsbot.strategies.questions import ask_strategy
from fibsbot.table.bot_match import PERSON, BotMatch
from fibsbot.table.model import Action, Preference
from fibsbot.transcript import walk
from tests.examples import examples
from tests.marks import SAMPLE

NUMBERS = st.lists(st.integers(-1, 30), max_size=3)


class TableMachine(RuleBasedStateMachine):
    """A person who presses whatever there is, and the bot."""

    @initialize(game=st.sampled_from(sorted(SAMPLE)), length=st.integers(0, 3), seed=st.integers(0, 999))
    def begin(self, game: str, length: int, seed: int) -> None:
        """Sit down."""
        rules = load_ruleset(game)
        self.match = BotMatch(rules, rules.laws, length, ("you", "bot"), Random(seed))
        self.checkers = self.match.shown.sides.own.checkers

    @rule(action=st.sampled_from(Action), numbers=NUMBERS)
    def press_anything(self, action: Action, numbers: list[int]) -> None:
        """Press something, perhaps nonsense."""
        before = self.match.shown, self.match.actions, len(self.match.sheet)
        if not self.match.act(action, numbers):
            assert (self.match.shown, self.match.actions, len(self.match.sheet)) == before

    @precondition(lambda self: self.match.actions)
    @rule(data=st.data())
    def do_what_is_offered(self, data: st.DataObject) -> None:
        """Do what may be done."""
        action = data.draw(st.sampled_from(self.match.actions))
        numbers: tuple[int, ...] = ()
        if action is Action.MOVE:
            numbers = data.draw(st.sampled_from(sorted(self.match.ways)))
        elif action is Action.NAME:
            numbers = (data.draw(st.sampled_from(self.match.names_offered)),)
        elif action is Action.RESIGN:
            numbers = (data.draw(st.integers(1, 3)),)
        assert self.match.act(action, numbers)

    @precondition(lambda self: self.match.moves)
    @rule(data=st.data())
    def go_farther(self, data: st.DataObject) -> None:
        """Move a checker by as many dice as it takes."""
        (source, target), way = data.draw(st.sampled_from(sorted(self.match.ways.items(), key=lambda item: item[0])))
        play = self.match.play
        assert play is not None
        before = len(play.moves)
        assert self.match.act(Action.MOVE, (source, target))
        assert self.match.play is not None
        assert len(self.match.play.moves) == before + len(way)
        assert len(self.match.dice_played) <= len(self.match.shown.dice or ())

    @rule(preference=st.sampled_from(Preference), wanted=st.booleans())
    def prefer(self, preference: Preference, *, wanted: bool) -> None:
        """Leave something to the table."""
        self.match.prefer(preference, wanted=wanted)
        assert (preference in self.match.preferences) is wanted

    @precondition(lambda self: self.match.waiting)
    @rule()
    def let_the_bot_decide(self) -> None:
        """Let the bot play."""
        while (question := self.match.question) is not None:
            self.match.answer(ask_strategy(load("pips"), question))

    @invariant()
    def nothing_is_lost(self) -> None:
        """All checkers are there, and somebody has to act."""
        if hasattr(self, "match"):
            sides = self.match.shown.sides_for(PERSON)
            assert (sides.own.checkers, sides.opponent.checkers) == (self.checkers, self.checkers)
            assert not (self.match.waiting and self.match.actions)
            assert self.match.sentence

    def teardown(self) -> None:
        """What was written down is legal."""
        if hasattr(self, "match"):
            for game in self.match.transcript.games:
                list(walk(game))


TestTableMachine = TableMachine.TestCase
TestTableMachine.settings = settings(examples(20), stateful_step_count=50)
