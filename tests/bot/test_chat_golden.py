"""The bot's chat during a whole evening as others read it, compared with a golden file.

`FIBSBOT_GOLDEN=write pytest tests/bot/test_chat_golden.py` updates it; read the difference before committing it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from fibs_protocol.words import Departure
from fibsbot.bot.settings import ChatSettings
from fibsbot.policy import Lengths, NamePattern, Policy
from tests.bot.chat_simulation import ChatSimulation

GOLDEN: Final = Path(__file__).parents[1] / "data" / "bot" / "evening.golden"
POLICY: Final = Policy(
    lengths=Lengths(((1, 7),)), min_rating=1450, block=(NamePattern("Quitter*"),), bots=False, cool_down=900
)
CHAT: Final = ChatSettings(operators=("slarti",), greet_watchers=True)


@pytest.fixture(scope="module")
def evening() -> Iterator[ChatSimulation]:
    """Return the simulation after the whole evening."""
    evening = ChatSimulation(policy=POLICY, chat=CHAT, client="fibsbot")
    for scene in (invitations, questions, match, interruptions, orders):
        scene(evening)
    yield evening
    evening.close()


def invitations(evening: ChatSimulation) -> None:
    """Players whom the bot refuses get the reason, once per window."""
    evening.title("Whom it does not play")
    evening.enter("zaphod", 1700)
    evening.connect()
    evening.types("zaphod", "invite marvin 9", "invite marvin 9")
    evening.enter("marvins_fan")
    evening.types("marvins_fan", "invite marvin unlimited")
    evening.enter("Quitter_X")
    evening.types("Quitter_X", "invite marvin 5")
    evening.enter("vogon", 1320)
    evening.types("vogon", "invite marvin 5")
    evening.enter("gnubot", client="gnu_bot_2")
    evening.types("gnubot", "invite marvin 5")


def questions(evening: ChatSimulation) -> None:
    """All people may ask; bots get no answer."""
    evening.title("Questions")
    evening.enter("trillian")
    for line in ("who r u?", "help", "settings", "Stats!", "score", "marvin, help please", "thanks", "why?"):
        evening.types("trillian", f"tell marvin {line}")
    evening.enter("arthur")
    evening.types(
        "arthur",
        "tell marvin hello",
        "tell marvin where can I get a cup of tea?",
        "tell marvin and why not?",
        "shout help, who are you, marvin?",
    )
    evening.types("gnubot", "tell marvin help")
    evening.enter("RepBotNG")
    evening.types("RepBotNG", "tell marvin Your reputation is 5 (30/25)")


def match(evening: ChatSimulation) -> None:
    """A match with resignations on both sides, talk, nudges and a watcher."""
    evening.title("A match")
    evening.enter("ford", 1580.25)
    evening.types("ford", "invite marvin 3")
    evening.enter("agrajag")
    evening.types("agrajag", "watch marvin")
    evening.types("ford", "kibitz hello, good luck!", "kibitz score?", "say what a lucky roll")
    evening.types("agrajag", "kibitz score?", "tell marvin score")
    evening.types("zaphod", "invite marvin 1")
    evening.types("ford", "kibitz move", "kibitz MOVE!!!")
    evening.title("It resigns")
    evening.strategy.level = 1
    evening.wait(20)
    evening.types("ford", "accept")
    evening.wait(30)
    evening.title("The opponent resigns, too little and enough")
    evening.types("ford", "resign n", "resign g")
    evening.wait(30)
    evening.types("ford", "tell marvin score", "resign n", "tell marvin stats", "invite marvin 3")


def interruptions(evening: ChatSimulation) -> None:
    """The opponent leaves in the middle of a match and returns; then connections break."""
    evening.title("The opponent leaves")
    evening.types("zaphod", "invite marvin 5")
    evening.wait(20)
    evening.types("zaphod", "leave")
    evening.types("trillian", "tell marvin score")
    evening.wait(400)
    evening.types("zaphod", "join marvin")
    evening.wait(20)
    evening.title("The opponent's connection breaks")
    evening.leave("zaphod", Departure.DROPPED)
    evening.wait(60)
    evening.enter("zaphod")
    evening.wait(60)
    evening.types("zaphod", "join marvin")
    evening.wait(20)
    evening.title("The bot's own connection breaks")
    evening.lose_connection()
    evening.wait(20)
    evening.connect()
    evening.types("zaphod", "join marvin")
    evening.wait(20)
    evening.types("zaphod", "resign b")
    evening.wait(20)
    evening.types("zaphod", "resign b")


def orders(evening: ChatSimulation) -> None:
    """Orders are accepted only from operators."""
    evening.title("Operators")
    evening.enter("Slarti")
    evening.types("Slarti", "tell marvin quit")
    evening.enter("slarti", notify=True)
    evening.types("slarti", "tell marvin help", "tell marvin status", "tell marvin pause")
    evening.types("trillian", "invite marvin 1")
    evening.types("slarti", "tell marvin resume")
    evening.types("trillian", "invite marvin 1")
    evening.wait(20)
    evening.types("slarti", "tell marvin finish")
    evening.types("arthur", "invite marvin 1")
    evening.types("trillian", "resign b")
    evening.wait(60)
    assert "marvin" not in evening.present


def test_the_evening_is_as_recorded(evening: ChatSimulation) -> None:
    lines = "\n".join(evening.lines).strip() + "\n"
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        GOLDEN.write_text(lines)
    assert GOLDEN.read_text() == lines


def test_strangers_get_no_shouts_and_few_tells(evening: ChatSimulation) -> None:
    words = {line.split()[0] for line in evening.sent}
    assert not {"shout", "whisper", "say", "message"} & words
    read = [line for line in evening.lines if re.search(r"marvin (says|kibitzes):", line)]
    assert 10 < len(read) < 40
    assert not any(re.search("^[0-9:]+ +(gnubot|RepBotNG) +marvin says: (Tell|I am a computer)", line) for line in read)


def test_the_bot_follows_the_evening_without_a_difference(evening: ChatSimulation) -> None:
    assert 0 == evening.agent.counters.differences
    assert ["logged out"] == [record.fields["reason"] for record in evening.records if record.name == "disconnecting"]
