"""What server, bot and replay ask of a game at a table with more than two seats, whichever it is."""

from __future__ import annotations

from typing import Final

import pytest
from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Refusal
from fibs_protocol.words import Departure
from fibsbot.bot.seated_part import SeatedPart
from fibsbot.chouette.bot import ChouetteFlow
from fibsbot.chouette.replay import ChouetteGames
from fibsbot.chouette.server import HOOKS
from fibsbot.extensions import extension
from fibsbot.replay.seated_games import SeatedGames
from fibsbot.server import world as worlds
from fibsbot.server.users import ServerMatch, User
from fibsbot.server.world import CommandHandlers, TableHooks, World
from tests.server.simulated_world import Simulation

SEATED_PART: Final[type[SeatedPart]] = ChouetteFlow
SEATED_GAMES: Final[type[SeatedGames]] = ChouetteGames


def test_each_taker_finds_its_part_of_a_chouette() -> None:
    found = [extension(taker) for taker in ("server", "bot", "replay")]
    assert [HOOKS, SEATED_PART, SEATED_GAMES] == found


@define(eq=False)
class Bench:
    """A table at which nobody plays."""

    calls: list[str] = field(factory=list)
    match: ServerMatch | None = None
    not_acting: Refusal = field(factory=m.NothingToGiveUp)


def bench_hooks(bench: Bench) -> TableHooks:
    """Return hooks by which whoever types `chouette` sits down on a bench."""
    handlers, seated_handlers = CommandHandlers(), CommandHandlers()

    @handlers.on(c.Chouette)
    def sit_down(_: World, user: User, __: c.Chouette) -> None:
        user.table = bench

    @seated_handlers.on(c.Leave)
    def get_up(_: World, user: User, __: c.Leave) -> None:
        user.table = None

    return TableHooks(
        handlers,
        seated_handlers,
        saved_tables=lambda _: [bench],
        come_back=lambda _, user: bench.calls.append(f"{user.name} comes"),
        go_away=lambda _, user, how: bench.calls.append(f"{user.name} goes: {how.value}"),
        after_command=lambda _, table: table.calls.append("command"),
        drop_late_players=lambda _: bench.calls.append("late"),
    )


def test_another_game_at_a_table_has_the_same_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    monkeypatch.setattr(worlds, "extension", lambda _: bench_hooks(bench))
    simulation = Simulation()
    alice = simulation.log_in("alice")
    simulation.log_in("bob")
    assert [bench] == simulation.world.tables
    assert ["** Error: No one to leave."] == simulation.say(alice, "leave")
    simulation.say(alice, "chouette")
    assert ["alice comes", "bob comes", "command"] == bench.calls
    assert [m.NothingToGiveUp()] == (simulation.say(alice, "roll"), simulation.messages(alice))[1]
    simulation.say(alice, "leave")
    assert ["** Error: No one to leave."] == simulation.say(alice, "leave")
    simulation.say(alice, "chouette")
    simulation.log_out(alice, Departure.DROPPED)
    assert f"alice goes: {Departure.DROPPED.value}" == bench.calls[-1]
