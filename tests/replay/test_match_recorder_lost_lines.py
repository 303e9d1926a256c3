"""Whatever line gets lost, what is written down of the match is right, and says what is missing."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any, Final

import pytest

from fibs_protocol.commands import Command
from fibsbot.bot.events_and_actions import Action, Event, MessageReceived, Record, Send
from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.replay.match_recorder import MatchRecorder
from fibsbot.transcript import Gap, Transcript
from tests.bot.simulation import NOON, Bot, Fault, Simulation, doubling, losing, unharmed
from tests.bot.test_lost_lines import DoublingStrategy, lines_of
from tests.transcript.reconstruction_checks import assert_nothing_wrong, from_other_seat

MOST: Final = 2
"""So many kinds of lines are lost, one match each."""
SEED: Final = 8
"""A short match in which much happens."""


class Remembering(Simulation):
    """Bots with stores, one each, fed as the service feeds them."""

    def __init__(self, seed: int, folder: Path, fault: Fault) -> None:
        """Have nobody there."""
        super().__init__(seed, fault=fault)
        self.folder = folder
        self.writers: dict[str, StoreWriter] = {}
        self.sheets: dict[str, MatchRecorder] = {}
        self._said: list[Command] = []

    @property
    def time(self) -> dt.datetime:
        """The time of this world."""
        return dt.datetime.fromtimestamp(NOON + self.now, dt.UTC)

    def remember(self, name: str) -> None:
        """Give a bot a store."""
        writer = self.writers[name] = StoreWriter(self.folder / f"{name}.sqlite")
        self.sheets[name] = MatchRecorder(name, "", lambda kind, fields, at: writer.put(name, kind, fields, at))

    def handle(self, bot: Bot, event: Event) -> None:
        """Let something happen to a bot, and show it to its sheets as the driver would."""
        super().handle(bot, event)
        if isinstance(event, MessageReceived):
            self.sheets[bot.name].on_message(event.message)
        said, self._said = self._said, []
        for command in said:
            self.sheets[bot.name].on_sent(command)

    def _do(self, bot: Bot, action: Action) -> None:
        super()._do(bot, action)
        if isinstance(action, Record):
            self.writers[bot.name].put(bot.name, action.name, action.fields, self.time)
            self.sheets[bot.name].on_record(action)
        elif isinstance(action, Send):
            self._said.append(action.command)

    def read(self, name: str) -> Transcript:
        """Return the match as a bot remembers it."""
        assert self.writers[name].close()
        assert not self.writers[name].lost
        with Store.open(self.folder / f"{name}.sqlite") as store:
            assert () == check_integrity(store).problems
            (match,) = store.matches()
            return store.transcript(match)


def play(folder: Path, seed: int, fault: Fault, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> list[Transcript]:
    """Let two bots play a match; return how marvin and ford remember it."""
    folder.mkdir()
    simulation = Remembering(seed, folder, fault)
    monkeypatch.setattr("fibsbot.replay.match_recorder.utc_now", lambda: simulation.time)
    for name, invite in (("marvin", "ford"), ("ford", None)):
        simulation.remember(name)
        simulation.add(name, DoublingStrategy(seed + (name == "ford")), invite=invite, length=3, **settings)
    try:
        simulation.run(4 * 3600)
        return [simulation.read("marvin"), simulation.read("ford")]
    finally:
        simulation.close()


def gaps(match: Transcript) -> int:
    return sum(isinstance(entry, Gap) for game in match.games for entry in game.entries)


@pytest.mark.slow
def test_without_lost_lines_the_whole_match_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = play(tmp_path / "match", SEED, unharmed, monkeypatch)
    assert all(game.whole for match in (ours, theirs) for game in match.games)
    for one, other in zip(ours.games, theirs.games, strict=True):
        assert_nothing_wrong(from_other_seat(other), one)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [losing, doubling])
def test_lost_or_repeated_lines_lead_to_no_wrong_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    """The other player, who hears everything, knows what happened."""
    chosen = [line for line in lines_of(SEED)[0] if line.bot == "marvin" and (line.down or fault is losing)]
    assert len(chosen) > 20, "few kinds of lines were tried"
    missing = 0
    for number, line in enumerate(random.Random(4).sample(chosen, MOST)):
        faulty = fault(line.bot, line.number, down=line.down)
        ours, theirs = play(tmp_path / str(number), SEED, faulty, monkeypatch)
        assert not gaps(theirs)
        assert ours.scores == theirs.scores[::-1], line
        for one, other in zip(ours.games, theirs.games, strict=True):
            assert_nothing_wrong(from_other_seat(other), one)
        missing += gaps(ours)
    assert missing <= 1, "most of it can be rebuilt"
