"""Lessons at a table against the bot: hints, the tutor, decisions taken back, positions set up, the report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest
from attrs import evolve
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from fibsbot.formats.transcript_json import iter_json, write_json
from fibsbot.games import GAMES, load_ruleset
from fibsbot.match import MatchState, Phase
from fibsbot.notation import format_gnubg_id
from fibsbot.position import Position
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.game import roll_opening, start_match
from fibsbot.rules.laws import MODERN
from fibsbot.rules.state import GameState, Stage
from fibsbot.strategies.loader import load
from fibsbot.strategies.questions import ask_strategy
from fibsbot.table.bot_match import PERSON, BotMatch
from fibsbot.table.hosts import BotHost
from fibsbot.table.learning import Lesson
from fibsbot.table.model import Action, Preference
from fibsbot.table.set_up import SetUp, SetUpError, read_position
from fibsbot.transcript import Resign, Throw, walk
from tests.marks import is_no_sample, some_slow
from tests.patience import SOON

EVERY_GAME = some_slow(["backgammon", *sorted(GAMES)], is_no_sample)
QUICK = "engine:0"
"""An evaluator that does not look ahead."""
BLUNDER_POSITION = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"
"""The opening with 3-1, in which 8/5 6/5 is best by far."""


def new_match(game: str = "backgammon", length: int = 1, seed: int = 1, position: GameState | None = None) -> BotMatch:
    rules = load_ruleset(game)
    return BotMatch(rules, rules.laws, length, ("you", "bot"), Random(seed), position)


def at(text: str, length: int = 3) -> BotMatch:
    return new_match(length=length, position=read_position(text, BACKGAMMON, BACKGAMMON.laws))


@asynccontextmanager
async def hosted(match: BotMatch) -> AsyncIterator[BotHost]:
    host = BotHost(match, load("pips"), QUICK)
    try:
        async with asyncio.timeout(SOON):
            await host.start()
            await settled(host)
            yield host
    finally:
        await host.close()


async def settled(host: BotHost) -> None:
    """Wait until neither the bot nor the adviser is thinking."""
    changed = asyncio.Event()
    host.listen(changed.set)
    while host.learning.thinking or host.match.question is not None:
        changed.clear()
        await changed.wait()


def play_worst(host: BotHost) -> None:
    """Make the moves of a play, those of the checkers nearest to home first."""
    while host.match.moves:
        move = min(host.match.moves, key=lambda made: made.move.source).move
        assert host.act(Action.MOVE, (move.source, move.target))


async def until_play(host: BotHost) -> None:
    """Play on until the person has a choice of plays."""
    while True:
        await settled(host)
        state = MatchState.of(host.match.state, PERSON)
        if state is not None and host.match.state.stage is Stage.MOVE and state.has_choice:
            return
        match host.match.state.stage:
            case Stage.ROLL:
                assert host.stand(Action.ROLL, ())
            case Stage.DOUBLED:
                assert host.stand(Action.TAKE, ())
            case Stage.NAME:
                assert host.stand(Action.NAME, (host.match.names_offered[0],))
            case Stage.MOVE:
                play_worst(host)
                assert host.stand(Action.DONE, ())
            case _:
                pytest.fail("the game is over")


@pytest.mark.parametrize("game", EVERY_GAME)
async def test_every_game_has_hints_a_tutor_and_steps_back(game: str) -> None:
    async with hosted(new_match(game, 3)) as host:
        learning = host.learning
        await until_play(host)
        before = host.match.state
        assert learning.ask(Lesson.HINT)
        await settled(host)
        hint = learning.hint
        assert hint is not None
        assert len(hint.choices) > 1
        assert [choice.loss for choice in hint.choices] == sorted(choice.loss for choice in hint.choices)
        assert hint.choices[0].loss == 0
        state = MatchState.of(before, PERSON)
        assert state is not None
        for choice in hint.choices:
            assert choice.play is not None
            assert choice.chances is not None
            state.check_play(choice.play)

        learning.switch_tutor(wanted=True)
        learning.threshold = -1.0  # every decision is warned about
        play_worst(host)
        shown = host.match.shown
        assert host.act(Action.DONE)
        assert host.match.state is before
        assert host.match.shown == shown
        await settled(host)
        warning = learning.warning
        assert warning is not None
        assert not host.match.actions
        assert not host.act(Action.UNDO)
        assert learning.ask(Lesson.THINK_AGAIN)
        assert host.match.shown == shown
        assert host.act(Action.DONE)
        await settled(host)
        assert learning.ask(Lesson.SHOW)
        assert warning.judgement.best
        assert host.match.shown == before
        entries = len(host.match.transcript.games[0].entries)
        assert learning.ask(Lesson.PLAY_IT)
        assert len(host.match.transcript.games[0].entries) > entries
        await settled(host)

        assert learning.ask(Lesson.TAKE_BACK)
        assert host.match.state == before
        assert host.match.shown == before
        assert len(host.match.transcript.games[0].entries) == entries


async def test_the_tutor_says_what_reports_say_and_lets_good_decisions_stand() -> None:
    async with hosted(at(BLUNDER_POSITION)) as host:
        host.learning.switch_tutor(wanted=True)
        await settled(host)
        for move in ((24, 21), (6, 5)):
            assert host.act(Action.MOVE, move)
        assert host.act(Action.DONE)
        await settled(host)
        warning = host.learning.warning
        assert warning is not None
        assert warning.judgement.made == "24/21 6/5"
        assert warning.judgement.best == "8/5 6/5"
        assert warning.judgement.sentence == (f"24/21 6/5 costs {warning.judgement.loss:.3f}: think again, or play it.")
        host.learning.ask(Lesson.THINK_AGAIN)
        assert host.act(Action.UNDO)
        assert host.act(Action.UNDO)
        for move in ((8, 5), (6, 5)):
            assert host.act(Action.MOVE, move)
        assert host.act(Action.DONE)
        await settled(host)
        assert host.learning.warning is None
        assert host.match.sheet[0].text == "8/5 6/5"


@pytest.mark.parametrize(("length", "dice", "best"), [(0, (3, 1), "8/5 6/5"), (3, (4, 1), "reject the roll")])
async def test_a_first_roll_that_may_be_rejected_is_judged(length: int, dice: tuple[int, int], best: str) -> None:
    """With 3-1 one is better off than by another roll for twice as much; with 4-1 one is not."""
    laws = evolve(MODERN, reject_first_throw=True)
    start = roll_opening(start_match(laws, length), *dice)
    async with hosted(new_match(position=start)) as host:
        assert Action.REJECT_ROLL in host.match.actions
        host.learning.ask(Lesson.HINT)
        await settled(host)
        hint = host.learning.hint
        assert hint is not None
        worth = {choice.text: choice for choice in hint.choices}
        assert next(iter(worth)) == best
        host.learning.switch_tutor(wanted=True)
        await settled(host)
        host.learning.threshold = 0.0
        assert host.act(Action.REJECT_ROLL)
        await settled(host)
        rejection = host.learning.warning
        assert rejection is not None
        assert rejection.judgement.loss == pytest.approx(worth["reject the roll"].loss)
        host.learning.ask(Lesson.THINK_AGAIN)
        play_worst(host)
        assert host.act(Action.DONE)
        await settled(host)
        assert host.learning.warning is not None
        assert host.learning.warning.judgement.best == best
        host.learning.ask(Lesson.PLAY_IT)


async def test_a_decision_that_is_changed_while_the_tutor_looks_does_not_stand() -> None:
    async with hosted(at(BLUNDER_POSITION)) as host:
        host.learning.switch_tutor(wanted=True)
        await settled(host)
        play_worst(host)
        before = host.match.state
        assert host.act(Action.DONE)
        assert host.learning.thinking == "looking at a decision"
        assert host.act(Action.UNDO)
        await settled(host)
        assert host.learning.warning is None
        assert host.match.state is before


DECISIONS = {
    "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:3:10": {"roll", "double"},
    "XGID=-b----E-C---eE---c-e----B-:0:0:-1:D:0:0:0:3:10": {"take", "pass"},
    "XGID=-b----E-C---eE---c-e----B-:0:0:-1:D:0:0:3:0:10": {"take", "pass", "beaver"},
    "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:2:0:1:3:10": {"roll"},
}


@pytest.mark.parametrize("text", DECISIONS)
async def test_hints_about_the_cube(text: str) -> None:
    async with hosted(at(text)) as host:
        assert host.learning.ask(Lesson.HINT)
        await settled(host)
        hint = host.learning.hint
        assert hint is not None
        assert {choice.text for choice in hint.choices} == DECISIONS[text]
        assert host.learning.ask(Lesson.HINT)
        assert host.learning.hint is None


async def test_a_hint_about_a_resignation() -> None:
    resigned = evolve(MatchState(Position.start()), phase=Phase.RESIGNED, resignation=2)
    async with hosted(at(format_gnubg_id(resigned))) as host:
        assert host.learning.ask(Lesson.HINT)
        await settled(host)
        assert host.learning.hint is not None
        assert {choice.text for choice in host.learning.hint.choices} == {"accept", "reject"}
        assert host.act(Action.REJECT)
    entries = host.match.transcript.games[0].entries
    assert isinstance(entries[0], Resign)
    assert not entries[0].accepted


async def test_the_tutor_warns_before_a_cube_action_and_a_resignation() -> None:
    async with hosted(at("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:3:10")) as host:
        host.learning.switch_tutor(wanted=True)
        for action, numbers, made in ((Action.DOUBLE, (), "double"), (Action.RESIGN, (1,), "resign 1")):
            assert host.act(action, numbers)
            await settled(host)
            assert host.learning.warning is not None
            assert host.learning.warning.judgement.made == made
            assert host.match.state.stage is Stage.ROLL
            assert host.match.state.resignation is None
            assert host.learning.ask(Lesson.THINK_AGAIN)
        assert host.act(Action.ROLL)
        await settled(host)
        assert host.learning.warning is None
        assert host.match.state.stage is Stage.MOVE


async def test_an_evaluator_that_fails_stops_nobody() -> None:
    host = BotHost(at(BLUNDER_POSITION), load("pips"), "no-such-strategy")
    try:
        host.learning.switch_tutor(wanted=True)
        await settled(host)
        assert "no strategy is called" in host.learning.fault
        play_worst(host)
        assert host.act(Action.DONE)
        await settled(host)
        assert host.match.sheet
    finally:
        await host.close()


def bot_answers(match: BotMatch) -> None:
    while match.question is not None:
        match.answer(ask_strategy(load("pips"), match.question))


def test_taken_back_decisions_get_the_same_dice_again() -> None:
    match = new_match(length=3)
    seen = []
    for _ in range(2):
        rolls = []
        for _ in range(6):
            bot_answers(match)
            if match.act(Action.ROLL):
                rolls.append(match.state.dice)
            while match.moves:
                match.act(Action.MOVE, (match.moves[0].move.source,))
            match.act(Action.DONE)
        seen.append((rolls, match.transcript.games))
        while match.may_take_back:
            assert match.take_back()
        assert not match.take_back()
    assert seen[0] == seen[1]
    assert any(seen[0][0])


def before_a_roll(length: int) -> BotMatch:
    """Play until the person may roll."""
    match = new_match(length=length)
    bot_answers(match)
    while match.state.stage is not Stage.ROLL:
        while match.moves:
            match.act(Action.MOVE, (match.moves[0].move.source,))
        match.act(Action.DONE)
        bot_answers(match)
    return match


@pytest.mark.parametrize(("length", "stage"), [(1, Stage.MOVE), (3, Stage.ROLL)])
def test_rolls_are_left_to_the_table_only_where_no_double_makes_sense(length: int, stage: Stage) -> None:
    match = before_a_roll(length)
    match.prefer(Preference.ROLL, wanted=True)
    assert stage is match.state.stage


def test_a_step_back_leaves_nothing_to_the_table_at_once() -> None:
    match = before_a_roll(1)
    assert match.act(Action.ROLL)
    match.prefer(Preference.ROLL, wanted=True)
    assert match.take_back()
    assert match.state.stage is Stage.ROLL
    assert Action.ROLL in match.actions


class Inputs(RuleBasedStateMachine):
    """Inputs in any order, decisions taken back and positions set up among them."""

    game = "backgammon"

    def __init__(self) -> None:
        super().__init__()
        self.match = new_match(self.game, 2)

    @rule(seed=st.integers(0, 1 << 16), decisions=st.integers(1, 40))
    def play(self, seed: int, decisions: int) -> None:
        """Play on at random, and take some of it back."""
        random = Random(seed)
        for _ in range(decisions):
            bot_answers(self.match)
            if random.random() < 0.1:
                self.match.take_back()
                self.transcript_is_legal()
                continue
            possible = [action for action in self.match.actions if action is not Action.RESIGN]
            if not possible:
                return
            action = random.choice(possible)
            numbers: tuple[int, ...] = ()
            if action is Action.MOVE:
                move = random.choice(self.match.moves).move
                numbers = (move.source, move.target)
            elif action is Action.NAME:
                numbers = (random.choice(self.match.names_offered),)
            assert self.match.act(action, numbers)

    @rule(level=st.integers(1, 3))
    def resign(self, level: int) -> None:
        """Resign, which the bot may refuse."""
        self.match.act(Action.RESIGN, (level,))

    @rule(preference=st.sampled_from(Preference), wanted=st.booleans())
    def prefer(self, preference: Preference, *, wanted: bool) -> None:
        """Leave something to the table, or take it back."""
        self.match.prefer(preference, wanted=wanted)

    @precondition(lambda self: self.match.may_take_back)
    @rule(steps=st.integers(1, 5))
    def take_back(self, steps: int) -> None:
        """Take decisions back."""
        for _ in range(steps):
            self.match.take_back()

    @precondition(lambda self: self.match.state.stage in {Stage.ROLL, Stage.MOVE} and not self.match.state.todo[1:])
    @rule()
    def set_up(self) -> None:
        """Begin a match at the present position."""
        state = self.match.state
        found = SetUp.from_json(SetUp.of(state).to_json())
        game = found.game(state.rules, state.laws)
        assert game.sides_for(PERSON).own.row == state.sides_for(PERSON).own.row
        self.match = new_match(state.rules.full_name, position=game)

    @rule()
    def again(self) -> None:
        """Begin anew after the match."""
        if self.match.match_over:
            self.match = self.match.again(Random(2))

    @invariant()
    def transcript_is_legal(self) -> None:
        """Check that the transcript is legal, leads to the present state and can be written and read."""
        match = self.match
        games = match.transcript.games
        for game in games:
            for _ in walk(game):
                pass
        last = games[-1]
        after = list(walk(last))[-1].after if last.entries else last.start
        state = evolve(match.state, resignation=None)
        if match.state.stage is not Stage.MOVE:
            assert (after.stage, after.turn, after.board, after.cube) == (
                state.stage,
                state.turn,
                state.board,
                state.cube,
            )
        assert [read.games for read in iter_json(write_json(match.transcript))] == [games]


@pytest.mark.parametrize("game", EVERY_GAME)
def test_the_transcript_is_legal_whatever_is_done(game: str) -> None:
    run_state_machine_as_test(
        type(f"Inputs_{game}", (Inputs,), {"game": game}),
        settings=settings(
            max_examples=8, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


WRONG = {
    "hello": "expected an XGID",
    "24:2 13:5 8:3 6:6 / 24:2 13:5 8:3 6:5": "expected 15 checkers, got 16 in your row",
    "24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:7": "expected 15 checkers, got 17 in the bot's row",
    "24:15 / 1:15": "both",
    "25:1 6:2 5:2 4:2 3:2 2:2 1:2 7:2 / 25:1 6:2 5:2 4:2 3:2 2:2 1:2 7:2": "somebody can move",
    "0:15 / 1:2": "both sides on the board",
    "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:3:0:0:3:10": "expected scores below the match length 3",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_position_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(SetUpError, match=WRONG[text]) as caught:
        read_position(text, BACKGAMMON, BACKGAMMON.laws)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({}, "expected a board"),
        ({"board": 7}, "expected board as text"),
        ({"board": "24:15 / 24:15", "turn": 2}, "expected turn as 0"),
        ({"board": "24:15 / 24:15", "turn": True}, "expected turn as 0"),
        ({"board": "24:15 / 24:15", "dice": [7, 1]}, "dice"),
        ({"board": "24:15 / 24:15", "dice": ["1"]}, "expected dice as"),
        ({"board": "24:15 / 24:15", "cube": 3}, "power of two"),
        ({"board": "24:15 / 24:15", "scores": [1]}, "two scores"),
        ({"board": "24:15 / 24:15", "length": 3, "scores": [3, 0]}, "expected scores"),
        ({"board": "24:15 / 24:15", "length": 1000}, "0 to 99"),
        ({"board": "24:15 / 24:15", "colour": 1}, "expected board, turn"),
    ],
)
def test_wrong_values_of_a_position_are_refused_in_a_line(values: dict[str, object], fault: str) -> None:
    with pytest.raises(SetUpError, match=fault):
        SetUp.from_json(values).game(BACKGAMMON, BACKGAMMON.laws)


def test_a_position_is_played_on_with_its_cube_and_score() -> None:
    match = at("XGID=-b----E-C---eE---c-e----B-:1:1:1:31:2:1:0:5:10")
    assert (match.state.cube, match.state.owner, match.state.scores) == (2, PERSON, (2, 1))
    assert match.state.dice == (3, 1)
    while match.moves:
        match.act(Action.MOVE, (match.moves[0].move.source,))
    assert match.act(Action.DONE)
    (game,) = match.transcript.games
    first = next(walk(game))
    assert isinstance(first.entry, Throw)
    assert (first.entry.seat, first.entry.dice) == (PERSON, (3, 1))
    assert match.again(Random(1)).state == first.before
