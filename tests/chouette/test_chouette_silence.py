"""Servers that do anything at a chouette, or nothing: whatever comes or does not come, every wait ends."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from fibs_protocol.session import State
from fibsbot.bot.timeouts import TIMEOUT_RULES, Awaited
from fibsbot.strategies.questions import last_resort_answer
from tests.bot.agent_script import AFTER_61, PROMPT, Script
from tests.chouette.test_chouette_bot import DOUBLED, JOIN, NO_SEAT, SEAT, TABLE, captain, seated, shown

RULES: Final = TIMEOUT_RULES
BLOCKED: Final = "0:-2:-2:-2:-2:-2:-2:0:0:0:0:0:0:0:0:0:0:0:0:-3:0:0:0:0:14:1"
"""Our checker on the bar cannot enter."""
REFUSAL: Final = "** chouette: not now"
LINES: Final = (
    *(SEAT, NO_SEAT, TABLE, JOIN, REFUSAL, PROMPT, DOUBLED),
    *("Please move 2 pieces.", "Please move 1 piece.", "You can't move.", "Starting a new game with arthur."),
    *("arthur wants to resign. You will win 2 points. Type 'accept' or 'reject'.", "You roll 6 and 4."),
    *("arthur rejects. The game continues.", "You want to resign. arthur will win 1 point.", "** You're not playing."),
    *("chouette: marvin is captain now.", "chouette: arthur leaves the table.", "arthur rolls 6 and 5."),
    *("chouette: game 1: arthur wins 2 points from marvin, ford.", "chouette: ledger: arthur +4, ford -2, marvin -2."),
    *("** Please wait until arthur has joined too.", "** You did already roll the dice.", "12 arthur hello"),
    *(shown(), shown(turn=-1), shown(cells=AFTER_61, dice="6:4"), shown(cells=BLOCKED, dice="6:6", can_move=0)),
)
"""What a server may say at any time, whether it means something then or not."""
ANSWERS: Final[tuple[tuple[str, ...], ...]] = (
    (),
    (SEAT,),
    (REFUSAL,),
    (SEAT, "chouette: waiting for arthur."),
    (SEAT, PROMPT, shown()),
    (SEAT, "Please move 2 pieces.", shown(cells=AFTER_61, dice="6:4")),
    (SEAT, "Please move 2 pieces.", shown()),
    (SEAT, "Please move 2 pieces.", shown(cells=BLOCKED, dice="6:6", can_move=0)),
    (SEAT, DOUBLED, shown(turn=-1)),
    (PROMPT,),
    ("Please move 2 pieces.",),
    (JOIN,),
)
"""What a server may answer to every command, for ever, while nothing happens at the table."""
STEP: Final = 20.0
LONGEST: Final = (
    2 * RULES[Awaited.CHOUETTE].bound(Script().agent.settings.timings)
    + RULES[Awaited.STRATEGY].bound(Script().agent.settings.timings)
    + 60
)
"""Maximum seconds at a table at which nothing happens: half an hour until we leave, as long until we reconnect."""


def endure(script: Script, answer: tuple[str, ...], *, thinks: bool = True) -> None:
    """Have a server give every command the same answer until the bot has left the table or reconnects."""
    sent: list[str] = []
    began, hang_ups = script.now, len(script.hang_ups)
    while script.agent.state is State.SEATED and len(script.hang_ups) == hang_ups:
        assert script.now - began <= LONGEST, (script.agent.state, script.sent_so_far[-8:])
        for _ in range(3):
            sent = script.server(*answer) if sent else []  # one answer to several commands
            sent += think(script) if thinks else []
        sent += script.wait(STEP)


def think(script: Script) -> list[str]:
    """Answer all questions of the bot to its strategy."""
    sent: list[str] = []
    while script.questions:
        answer = last_resort_answer(script.questions[0].question)
        assert answer is not None
        sent += script.answer(answer)
    return sent


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("thinks", [True, False])
def test_a_table_at_which_nothing_happens_is_left_whatever_the_server_answers(
    answer: tuple[str, ...],
    thinks: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    endure(seated(), answer, thinks=thinks)
    endure(captain(), answer, thinks=thinks)


def test_please_move_that_comes_late_is_answered_on_the_board_that_follows() -> None:
    script = captain()
    assert ["roll"] == script.roll()
    assert [] == script.server("You roll 6 and 4.")
    script.wait(30)
    assert ["board"] == script.server("Please move 2 pieces.")
    script.server(shown(cells=AFTER_61, dice="6:4"))
    (line,) = script.first_play()
    assert line.startswith("move ")


class Chouettes(RuleBasedStateMachine):
    """A server that says anything at a table, at any time, and then nothing, or always the same."""

    @initialize(playing=st.booleans())
    def sit_down(self, playing: bool) -> None:  # noqa: FBT001 - hypothesis passes it
        """Take a seat; perhaps a game is on."""
        self.script = captain(strict=False) if playing else seated(strict=False)

    @rule(line=st.sampled_from(LINES))
    def say(self, line: str) -> None:
        """Send a line."""
        self.script.server(line)

    @rule(seconds=st.floats(0.05, 600))
    def wait(self, seconds: float) -> None:
        """Advance the clock."""
        self.script.wait(seconds)

    @rule()
    def decide(self) -> None:
        """Have the strategy answer."""
        think(self.script)

    @rule(answer=st.sampled_from(ANSWERS), thinks=st.booleans())
    def go_on_for_ever(self, answer: tuple[str, ...], thinks: bool) -> None:  # noqa: FBT001 - as above
        """Nothing happens any more."""
        script = self.script
        if script.agent.state is State.SEATED and not script.hang_ups:
            endure(script, answer, thinks=thinks)


Chouettes.TestCase.settings = settings(
    deadline=None,
    stateful_step_count=12,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)
TestChouettes = pytest.mark.slow(Chouettes.TestCase)
