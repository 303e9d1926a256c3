"""Strategies are found by entry points; a broken one is reported and does not affect the others."""

# ruff: noqa: ARG002, D102 - the strategies here only have to be wrong

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.strategies import base, loader, split_name
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer, Strategy
from fibsbot.strategies.child_process.engine_process import NotReadyError
from fibsbot.strategies.loader import ENTRY_POINT_GROUP, ReusedStrategies, StrategyError, available, check, find, load
from fibsbot.strategies.random_play import RandomStrategy
from fibsbot.strategies.simple_players import PipPlayer
from tests.patience import SOON

Install = Callable[..., None]


class Picky:
    """A class that wants another argument."""

    def __init__(self, speed: str = "") -> None:
        raise ValueError(f"expected a speed,\n got {speed!r}")


class Unwilling:
    """A class that cannot be made."""

    def __init__(self) -> None:
        raise RuntimeError("out of\nluck")


class Halfway:
    """A class without most methods of a strategy."""

    name = "halfway"

    def resign(self, state: MatchState) -> int:
        return 0


def leave() -> Strategy:
    raise SystemExit(3)


class Nonsense(RandomStrategy):
    """Answers nonsense."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        return PlayAnswer(Play())

    def offer_double(self, state: MatchState) -> CubeAnswer:
        return CubeAnswer(CubeAction.TAKE)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        raise KeyError("cube")

    def resign(self, state: MatchState) -> int:
        return 4

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:
        return 1  # type: ignore[return-value]  # nonsense


class Hanging(RandomStrategy):
    """Chooses no play until it is let go."""

    def __init__(self) -> None:
        super().__init__(1)
        self.let_go = threading.Event()
        self.asked = 0

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        self.asked += 1
        self.let_go.wait(SOON)
        return super().choose_play(state, plays)


class Unclosable(RandomStrategy):
    """Raises, or hangs, when it is closed."""

    let_go: threading.Event | None = None

    def close(self) -> None:
        if self.let_go is None:
            raise SystemExit("cannot be closed")
        self.let_go.wait(SOON)


class Nameless(RandomStrategy):
    """A strategy whose name is no text."""

    name = 5  # type: ignore[assignment]  # nonsense


class Starting(RandomStrategy):
    """An engine that is not ready for its first decisions."""

    asked = 0

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        self.asked += 1
        if self.asked < 4:
            raise NotReadyError("is not ready yet")
        return super().choose_play(state, plays)


class NonsenseInPlakoto(PipPlayer):
    """Never moves there."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        return PlayAnswer(Play()) if state.rules.name == "plakoto" else super().choose_play(state, plays)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install these entry points and no others, each a name and a reference."""

    def only(*references: tuple[str, str]) -> None:
        points = [EntryPoint(name, reference, ENTRY_POINT_GROUP) for name, reference in references]
        monkeypatch.setattr(loader, "entry_points", lambda group: points if group == ENTRY_POINT_GROUP else [])

    return only


def test_our_own_strategies_are_installed_with_their_package() -> None:
    installed = {it.name: it for it in available()}
    assert {"heuristic", "random"} <= set(installed)
    assert "fibsbot.strategies.random_play:RandomStrategy" == installed["random"].reference
    assert "fibsbot" == installed["random"].distribution
    assert installed["random"].version
    assert "Decide everything by chance" in installed["random"].description()


def test_every_strategy_of_ours_passes_the_check() -> None:
    for name in ("heuristic", "random"):
        strategy = load(name)
        assert name == strategy.name
        assert isinstance(strategy, Strategy)
        assert () == check(strategy)
        strategy.close()


def test_options_go_to_the_constructor() -> None:
    assert isinstance(load("random", seed=1), RandomStrategy)
    with pytest.raises(StrategyError, match=r"'random' .* cannot be made: TypeError"):
        load("random", speed=1)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        StrategyError,
        match=r"no strategy is called 'gnu'; did you mean 'gnubg'\? installed are: .*gnubg, heuristic, pips, random",
    ):
        load("gnu")


def test_an_argument_that_a_strategy_refuses_is_one_clean_line(install: Install) -> None:
    install(("picky", f"{__name__}:Picky"))
    with pytest.raises(StrategyError, match=r"^strategy 'picky:x': expected a speed, got 'x'$"):
        load("picky:x")


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("fibsbot.nowhere:Strategy", "cannot be imported: ModuleNotFoundError"),
        ("fibsbot.position:Nothing", "cannot be imported: AttributeError"),
        ("fibsbot.position:BAR", "is no class, but 25"),
        (f"{__name__}:Unwilling", "cannot be made: RuntimeError: out of luck"),
        (f"{__name__}:leave", "cannot be made: SystemExit: 3"),
        (f"{__name__}:Picky", "cannot be made: ValueError: expected a speed"),
        (f"{__name__}:Nameless", "is no Strategy: expected text as its name, got 5"),
        (f"{__name__}:Halfway", "is no Strategy: it lacks accept_invitation, accept_resignation, answer_double"),
    ],
)
def test_a_broken_plug_in_is_one_line(install: Install, reference: str, reason: str) -> None:
    install(("broken", reference))
    with pytest.raises(StrategyError) as caught:
        load("broken")
    assert reason in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())


def test_a_broken_plug_in_does_not_affect_the_others(install: Install) -> None:
    install(("broken", "fibsbot.nowhere:Strategy"), ("random", "fibsbot.strategies.random_play:RandomStrategy"))
    assert ["broken", "random"] == [it.name for it in available()]
    assert () == check(load("random"))


def test_two_strategies_of_one_name_are_refused(install: Install) -> None:
    install(("twin", f"{__name__}:Nonsense"), ("twin", f"{__name__}:Halfway"))
    with pytest.raises(StrategyError, match="more than one strategy is called 'twin'"):
        load("twin")


def test_the_check_reports_every_kind_of_nonsense_and_never_raises() -> None:
    faults = "\n".join(check(Nonsense()))
    assert "expected one of the 16 plays offered, got Play('cannot move')" in faults
    assert (
        "offer_double, the opening: answered nonsense: expected ROLL or DOUBLE, got <CubeAction.TAKE: 'take'>" in faults
    )
    assert "answer_double, the opening: raised KeyError: 'cube'" in faults
    assert "resign, the opening: answered nonsense: expected 0, 1, 2 or 3, got 4" in faults
    assert "accept_invitation from ford: answered nonsense: expected None or a sentence, got 1" in faults
    assert "accept_resignation" not in faults


def test_the_check_ends_with_a_strategy_that_hangs() -> None:
    hanging = Hanging()
    assert ("choose_play, the opening, 3-1: gave no answer within 0.2 s",) == check(hanging, deadline=0.2)
    hanging.let_go.set()
    assert 1 == hanging.asked


def test_the_check_waits_for_an_engine_that_is_starting() -> None:
    assert () == check(Starting(1))


@pytest.mark.parametrize("hangs", [False, True])
def test_strategies_that_cannot_be_closed_do_no_harm(
    monkeypatch: pytest.MonkeyPatch, install: Install, *, hangs: bool
) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(Unclosable, "let_go", let_go if hangs else None)
    monkeypatch.setattr(base, "CLOSE_TIMEOUT", 0.1)
    install(("unclosable", f"{__name__}:Unclosable"))
    strategies = ReusedStrategies()
    strategies.fresh("unclosable")
    strategies.close()
    let_go.set()


def test_the_check_includes_the_games_that_are_named() -> None:
    strategy = NonsenseInPlakoto()
    assert () == check(strategy)
    (fault,) = check(strategy, ["plakoto:exception"])
    assert fault.startswith("plakoto:exception, move: answered nonsense: expected one of the")
    assert () == check(PipPlayer(), ["plakoto", "acey-deucey", "nackgammon"])


CLASS = """
class Mine:
    \"\"\"Play in my way.\"\"\"

    name = "mine"

    def __init__(self, text="none"):
        self.text = text

    choose_play = offer_double = answer_double = accept_resignation = resign = accept_invitation = close = print
"""


def test_a_class_in_a_file_is_loaded_with_the_text_after_a_second_colon(tmp_path: Path) -> None:
    file = tmp_path / "my.py"
    file.write_text(CLASS)
    assert ["none", "a:b"] == [getattr(load(f"{file}:Mine{text}"), "text", None) for text in ("", ":a:b")]
    assert "Play in my way." == find(f"{file}:Mine").description()


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (CLASS, "my.py:Other", "has no 'Other'; it has Mine"),
        (CLASS, "my.py", "expected a strategy in a file as FILE.py:CLASS, got"),
        (CLASS, "my.py:", "expected a strategy in a file as FILE.py:CLASS, got"),
        (CLASS, "none.py:Mine", "there is no file"),
        ("import nothing_such", "my.py:Mine", "ModuleNotFoundError: No module named 'nothing_such'"),
        ("def", "my.py:Mine", "SyntaxError: invalid syntax"),
        ("Mine = 1", "my.py:Mine", "is no class, but 1"),
    ],
)
def test_a_file_without_a_strategy_is_refused_in_a_line(content: str, name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(content)
    with pytest.raises(StrategyError) as caught:
        load(f"{tmp_path}/{name}")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_with_commands_are_no_files() -> None:
    assert ("ubgi", "python my.py:x") == split_name("ubgi:python my.py:x")
    assert ("c:/my.py:A", "b") == split_name("c:/my.py:A:b")
    assert ("engine", None) == split_name("engine")
