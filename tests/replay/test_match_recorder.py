"""What is written down of a match as it is played is in the store as it was, whenever it is broken off."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from fibs_protocol import messages as m
from fibsbot.bot.events_and_actions import Record
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.replay.events import EntryAdded, GameBegan, GameEnded, MatchBegan, MatchEnded, MatchEvent
from fibsbot.replay.match_recorder import MatchRecorder
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.rules.state import Ending, Seat
from fibsbot.transcript import Cube, Game, Gap, Player, Step, Throw, Transcript, apply, walk
from tests.examples import examples
from tests.formats.simulated_matches import simulate
from tests.records.store.recorder import NOON, writing
from tests.transcript.reconstruction_checks import assert_nothing_wrong, comparable_entries

_accounts = itertools.count()
HOW = {Ending.BORNE_OFF: "game_won", Ending.DROPPED: "gave_up", Ending.RESIGNED: "resign_accepted"}


@define
class Told:
    """Tells a store of a match, as the agent and the scribe of one process after another would."""

    writer: StoreWriter
    transcript: Transcript
    account: str = field(factory=lambda: f"marvin{next(_accounts)}")
    now: dt.datetime = NOON
    sheets: MatchRecorder = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Be another process."""
        self.sheets = MatchRecorder(self.account, "test", lambda name, fields, _: self.put(name, **fields))

    def put(self, name: str, /, **fields: Any) -> None:
        """Put a record, a second after the last one."""
        self.now += dt.timedelta(seconds=1)
        self.writer.put(self.account, name, fields, self.now)

    def record(self, name: str, /, **fields: Any) -> None:
        """Have the agent tell something."""
        self.put(name, **fields)
        self.sheets.on_record(Record(name, fields))

    def happen(self, happening: MatchEvent) -> None:
        """Have the scribe tell something."""
        self.sheets.write(happening, self.now)

    def begin(self) -> None:
        """Begin the match."""
        length = self.transcript.length
        self.record("logged_in", name=self.account)
        self.record("match_started", opponent="ford", length=length, resumed=False, rating=1600.5, experience=77)
        self.happen(MatchBegan(1, self.transcript))

    def resume(self, score: tuple[int, int]) -> None:
        """Go on with the match in another process."""
        self.restart()
        self.record("logged_in", name=self.account)
        self.record("match_started", opponent="ford", length=None, resumed=True)
        self.record("match_resumed", opponent="ford", length=self.transcript.length, score=list(score))
        self.happen(MatchBegan(1, self.transcript))

    def begin_game(self, game: Game) -> None:
        """Begin a game."""
        self.record("game_started", opponent="ford", game=game.number)
        self.happen(GameBegan(1, Game(game.number, game.start)))

    def play(self, game: Game, since: int = 0, until: int | None = None) -> None:
        """Play some entries of a game, and end it after the last one."""
        steps = list(walk(game))
        for step in steps[since:until]:
            if step.index == len(steps) - 1 and game.result:
                score = list(step.after.scores)
                winner = "You" if game.result.winner is Seat.A else "ford"
                how, cube = HOW[game.result.how], step.after.cube
                self.record("game_ended", winner=winner, points=game.result.points, how=how, cube=cube, score=score)
            self.happen(EntryAdded(1, step))
        if until is None:
            self.happen(GameEnded(1, game, steps[-1].after if steps else game.start))

    def end(self) -> None:
        """End the match; an unlimited one may be a draw, which is none."""
        score = self.transcript.scores
        if score[0] == score[1]:
            self.record("match_saved", opponent="ford", length=0, why="you_left", how=None)
            return
        fields = {"opponent": "ford", "length": self.transcript.length}
        self.record("match_ended", **fields, won=score[0] > score[1], score=list(score))
        self.happen(MatchEnded(1, self.transcript))

    def read(self, url: str | Path) -> Transcript:
        """Return the transcript of the only match of the account."""
        assert self.writer.flush(), self.writer.error
        assert not self.writer.lost
        with Store.open(url) as store:
            (match,) = store.matches(account=self.account)
            return store.transcript(match)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, StoreWriter]]:
    path = tmp_path_factory.mktemp("sheets") / "store.sqlite"
    with writing(path) as writer:
        yield path, writer
    with Store.open(path) as opened:
        assert () == check_integrity(opened).problems


def match(seed: int, length: int | None = None) -> Transcript:
    """Play a match that is over."""
    return simulate(seed, length, names=("marvin", "ford"), user=Seat.A)


@pytest.mark.slow
@settings(examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_a_recorded_match_equals_the_match_that_was_played(store: tuple[Path, StoreWriter], seed: int) -> None:
    played = match(seed)
    told = Told(store[1], played)
    told.begin()
    for game in played.games:
        told.begin_game(game)
        told.play(game)
    told.end()
    paper = told.read(store[0])
    assert comparable_entries(played) == comparable_entries(paper)
    assert [game.start for game in played.games] == [game.start for game in paper.games]
    assert [game.result for game in played.games] == [game.result for game in paper.games]
    assert all(game.whole for game in paper.games)
    assert (played.length, played.scores, Seat.A, "test") == (paper.length, paper.scores, paper.user, paper.site)
    assert (("ford", 1600.5, 77), told.account) == (
        (paper.players[1].name, paper.players[1].rating, paper.players[1].experience),
        paper.players[0].name,
    )


@pytest.mark.slow
@settings(examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), data=st.data(), lost=st.integers(0, 3), missed=st.integers(0, 3))
def test_a_match_that_was_interrupted_anywhere_is_recorded_correctly_with_gaps(
    store: tuple[Path, StoreWriter], seed: int, data: st.DataObject, lost: int, missed: int
) -> None:
    """`lost` entries were seen but never stored; `missed` ones happened before anybody looked again."""
    played = match(seed, data.draw(st.sampled_from((1, 3))))
    number = data.draw(st.integers(0, len(played.games) - 1))
    game = played.games[number]
    cut = data.draw(st.integers(0, len(game.entries) - 1))
    again = min(cut + missed, len(game.entries) - 1)
    told = Told(store[1], played)
    told.begin()
    for before in played.games[:number]:
        told.begin_game(before)
        told.play(before)
    told.begin_game(game)
    told.play(game, until=max(cut - lost, 0))
    told.resume(game.start.scores)
    told.play(game, since=again)
    for later in played.games[number + 1 :]:
        told.begin_game(later)
        told.play(later)
    told.end()
    paper = told.read(store[0])
    assert played.scores == paper.scores
    assert [game.result for game in played.games] == [game.result for game in paper.games]
    for one, other in zip(played.games, paper.games, strict=True):
        assert_nothing_wrong(one, other, rebuilt=lost + again - cut <= 1)
        assert other.whole or one is game
    if not lost and not missed:
        assert comparable_entries(played) == comparable_entries(paper)


@pytest.mark.slow
def test_a_single_unseen_turn_is_usually_rebuilt(store: tuple[Path, StoreWriter]) -> None:
    played = match(5, 1)
    game = played.games[0]
    whole = 0
    cuts = range(1, len(game.entries) - 1, 4)
    for cut in cuts:
        told = Told(store[1], played)
        told.begin()
        told.begin_game(game)
        told.play(game, until=cut)
        told.resume((0, 0))
        told.play(game, since=cut + 1)
        told.end()
        (paper,) = told.read(store[0]).games
        assert_nothing_wrong(game, paper)
        if paper.whole:
            whole += 1
            assert 1 == sum(entry.rebuilt for entry in paper.entries)
        else:
            (gap,) = (entry for entry in paper.entries if isinstance(entry, Gap))
            assert "the match was broken off, and what happened last was not seen" == gap.reason
    assert whole > 2 * len(cuts) / 3


@pytest.mark.parametrize("seen", [0, 1])
def test_the_end_of_a_game_may_be_reported_before_its_last_entries(store: tuple[Path, StoreWriter], seen: int) -> None:
    """Also where these are the first that were seen of it."""
    played = match(1, 1)
    (game,) = played.games
    told = Told(store[1], played)
    told.begin()
    told.record("game_started", opponent="ford", game=1)
    told.play(game, since=len(game.entries) - 1 - seen)
    told.end()
    (paper,) = told.read(store[0]).games
    assert [evolve(it, at=None) for it in game.entries[-1 - seen :]] == [evolve(it, at=None) for it in paper.entries]
    assert game.result == paper.result


def test_only_matches_of_the_agent_are_recorded() -> None:
    kept: list[str] = []
    played = match(1, 1)
    sheets = MatchRecorder("marvin", "test", lambda name, _, __: kept.append(name))
    sheets.write(MatchBegan(1, played), NOON)
    for step in walk(played.games[0]):
        sheets.write(EntryAdded(1, step), NOON)
    assert [] == kept
    sheets.on_record(Record("match_started", {"opponent": "ford", "length": 1}))
    sheets.write(MatchBegan(2, simulate(1, 1, names=("marvin", "ford"), user=None)), NOON)
    sheets.write(GameBegan(2, Game(1, played.games[0].start)), NOON)
    assert [] == kept, "that one is watched"
    sheets.write(MatchBegan(3, played), NOON)
    sheets.write(GameBegan(3, Game(1, played.games[0].start)), NOON)
    assert ["sheet"] == kept


def test_entries_of_an_older_match_are_not_recorded_in_a_new_one() -> None:
    """A scribe that gives up a saved match tells the rest of it, also while another one with the same player begins."""
    kept: list[str] = []
    played = match(1, 1)
    *_, last = walk(played.games[0])
    sheets = MatchRecorder("marvin", "test", lambda name, _, __: kept.append(name))
    sheets.on_record(Record("match_started", {"opponent": "ford", "length": 1, "resumed": False}))
    sheets.write(MatchBegan(1, played), NOON)
    sheets.on_record(Record("match_saved", {"opponent": "ford"}))
    sheets.on_record(Record("match_started", {"opponent": "ford", "length": 1, "resumed": False}))
    for happening in (MatchBegan(1, played), GameBegan(1, played.games[0]), EntryAdded(1, last)):
        sheets.write(happening, NOON)
    assert [] == kept
    for happening in (MatchBegan(2, played), GameBegan(2, Game(1, played.games[0].start))):
        sheets.write(happening, NOON)
    assert ["sheet"] == kept


class Confused:
    """A transcriber that fails."""

    def __init__(self, *_: object) -> None:
        """Accept any arguments."""

    def receive(self, *_: object) -> list[MatchEvent]:
        """Fail."""
        raise KeyError("what now?")

    send = log_event = disconnect = receive


def test_an_error_of_the_transcriber_is_logged_once_and_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.replay.match_recorder.Transcriber", Confused)
    sheets = MatchRecorder("marvin", "test", lambda *_: None)
    with capture_logs() as logs:
        for _ in range(3):
            sheets.on_message(m.GameStarts("ford"))
            sheets.on_message(m.GameStarts("ford"))
            sheets.on_record(Record("connection_lost", {"reason": "so it is"}))
    assert ["matches are not recorded until the next connection"] == [log["event"] for log in logs]


def test_a_game_that_proves_to_be_without_the_crawford_rule_is_consistent(
    store: tuple[Path, StoreWriter],
) -> None:
    """No line says so before somebody doubles."""
    with_rule = start_match(FIBS, 3, (2, 0))
    opening = Throw(seat=Seat.A, dice=(3, 1), play=Play.of((8, 5), (6, 5)))
    thrown = apply(with_rule, opening)
    without = evolve(thrown, crawford=False, laws=evolve(thrown.laws, crawford=False))
    doubled = apply(without, double := Cube(seat=Seat.B, action=CubeAction.DOUBLE))
    passed = apply(doubled, drop := Cube(seat=Seat.A, action=CubeAction.PASS))
    told = Told(store[1], Transcript((Player("marvin"), Player("ford")), 3, user=Seat.A))
    told.record("match_started", opponent="ford", length=None, resumed=True)
    told.record("match_resumed", opponent="ford", length=3, score=[2, 0])
    told.happen(MatchBegan(1, told.transcript))
    told.begin_game(Game(1, with_rule))
    told.happen(EntryAdded(1, Step(1, 0, with_rule, opening, thrown)))
    told.happen(EntryAdded(1, Step(1, 1, without, double, doubled)))
    told.happen(EntryAdded(1, Step(1, 2, doubled, drop, passed)))
    (paper,) = told.read(store[0]).games
    assert [opening, double, drop] == [evolve(step.entry, at=None) for step in walk(paper)]
    assert paper.whole
    assert Seat.B is (paper.result and paper.result.winner)
