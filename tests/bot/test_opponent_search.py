"""The search for opponents: when and whom the idle bot invites to new matches."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fibsbot.bot.events_and_actions import PauseRequested
from fibsbot.bot.settings import SeekSettings
from fibsbot.policy import Lengths, NamePattern, Policy
from tests.bot.agent_script import ME, Script
from tests.bot.lobby_lines import INVITED, TIME, saved, who

OTHERS = ("arthur", "ford", "trillian", "zaphod")


class Seeker:
    """A bot that searches for opponents on a server where invitations are not answered by default."""

    def __init__(self, *lines: str, seek: dict[str, Any] | None = None, **settings: Any) -> None:
        """Log in, with the players of these `5` lines online."""
        rows = settings.pop("saved", ("no saved games.",))
        self.script = Script(seek=SeekSettings(**{"after": 60.0, "per_hour": 60, **(seek or {})}), **settings)
        self.script.to_lobby(saved=rows)
        self.lines = lines or tuple(who(name) for name in OTHERS)
        self.invited: list[tuple[float, str]] = []
        self.refusals: dict[str, str] = {}
        self.say(*self.lines)

    def say(self, *lines: str) -> None:
        """Receive lines of the server, and answer the bot's commands."""
        self._answer(self.script.server(*lines))

    def wait(self, seconds: float) -> None:
        """Advance the clock."""
        end = self.script.now + seconds
        while self.script.now < end:
            self._answer(self.script.wait(min(1.0, end - self.script.now)))

    def _answer(self, commands: list[str]) -> None:
        for command in commands:
            word, _, rest = command.partition(" ")
            if word == "invite":
                name = rest.split()[0]
                self.invited.append((self.script.now, rest))
                self.say(self.refusals.get(name, f"** You invited {name} to a 5 point match."))
            elif word == "rawwho":
                self.say(*self.lines, who(ME), "6")
            elif word == "time":
                self.say(TIME)

    @property
    def names(self) -> list[str]:
        """The invited players, in order."""
        return [words.split()[0] for _, words in self.invited]

    @property
    def times(self) -> list[float]:
        """The times of the invitations, in seconds since the login."""
        return [at - 1000 for at, _ in self.invited]


def assert_invites_after(seeker: Seeker, idle: float) -> None:
    """Assert that the first invitation goes out within three seconds after this idle time."""
    seeker.wait(idle)
    assert [] == seeker.invited
    seeker.wait(3)
    assert 1 == len(seeker.invited)


# -- when -----------------------------------------------------------------------------------------------------------


def test_by_default_no_opponent_is_searched_for() -> None:
    seeker = Seeker(seek={"after": None})
    seeker.wait(1000)
    assert [] == seeker.invited


def test_an_opponent_is_invited_after_some_idle_time() -> None:
    seeker = Seeker(seek={"length": 7})
    assert_invites_after(seeker, 58)
    name, length = seeker.invited[0][1].split()
    assert name in OTHERS
    assert "7" == length
    assert [{"name": name, "length": 7, "why": "seek"}] == seeker.script.events("inviting")


def test_the_idle_time_restarts_after_a_match() -> None:
    seeker = Seeker()
    seeker.wait(50)
    seeker.say("** Player ford has joined you for a 1 point match.", "You win the 1 point match 1-0 .")
    assert_invites_after(seeker, 59)


def test_the_idle_time_restarts_when_an_invitation_expires() -> None:
    seeker = Seeker()
    seeker.wait(350)
    assert pytest.approx([60, 150, 240, 330], abs=4) == seeker.times


def test_there_are_no_more_invitations_an_hour_than_wanted() -> None:
    lines = [who(f"player_{chr(97 + n)}") for n in range(26)]
    seeker = Seeker(*lines, seek={"per_hour": 3})
    seeker.wait(10_000)
    times = seeker.times
    assert 9 == len(times)
    for begin in times:
        assert 3 >= sum(begin <= at < begin + 3600 for at in times)


def test_a_pause_stops_the_search_and_restarts_its_time() -> None:
    seeker = Seeker(invite="marvin_too")
    seeker.wait(50)
    seeker.script.event(PauseRequested(seeker.script.now, paused=True))
    seeker.say(who("marvin_too"))
    seeker.wait(100)
    assert [] == seeker.invited
    seeker.say(who("marvin_too", "ford"))
    seeker.script.event(PauseRequested(seeker.script.now, paused=False))
    assert_invites_after(seeker, 58)


def test_a_player_who_has_invited_us_comes_first() -> None:
    seeker = Seeker()
    seeker.wait(57)
    seeker.say(*INVITED)
    assert [] == seeker.script.wait(1.5)
    assert ["join ford"] == seeker.script.verdict(accepted=True)
    assert [] == seeker.invited


def test_an_invitation_that_is_accepted_is_of_the_length_that_we_offered() -> None:
    seeker = Seeker(who("ford"), length=3)
    seeker.wait(62)
    assert [] == seeker.script.server("** Player ford has joined you for a 5 point match.")
    assert ["leave"] == Seeker(who("ford"), length=3).script.server(
        "** Player ford has joined you for a 26 point match."
    )


# -- whom -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        (who("ford", "zaphod"), {}),
        (who("ford", ready=False), {}),
        (who("ford", away=True), {}),
        (who(ME), {}),
        (who("GammonBot"), {}),
        (who("ford", client="=0123456789"), {}),
        (who("ford"), {"policy": Policy(people=False)}),
        (who("ford"), {"policy": Policy(min_rating=1700)}),
        (who("ford"), {"policy": Policy(max_experience=1000)}),
        (who("ford"), {"policy": Policy(experience_per_point=1000)}),
        (who("ford"), {"policy": Policy(lengths=Lengths(((1, 3),)))}),
        (who("ford"), {"policy": Policy(block=(NamePattern("ford", from_them=False),))}),
        (who("ford"), {"policy": Policy(allow=(NamePattern("arthur"),))}),
        (who("ford"), {"saved": saved("ford", length=99, score="0 -  0")}),
    ],
)
def test_a_player_whom_the_policy_refuses_is_not_invited(line: str, settings: dict[str, Any]) -> None:
    seeker = Seeker(line, **settings)
    seeker.wait(1000)
    assert [] == seeker.invited


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        (who("ford", rating=1700), {"policy": Policy(accept=False, min_rating=1700)}),
        (
            who("ford"),
            {"policy": Policy(block=(NamePattern("ford", to_them=False),), allow=(NamePattern("x", to_them=False),))},
        ),
        (who("GammonBot"), {"seek": {"bots": True}, "policy": Policy(people=False, bots=False)}),
    ],
)
def test_a_player_whom_the_policy_accepts_is_invited(line: str, settings: dict[str, Any]) -> None:
    seeker = Seeker(line, **settings)
    seeker.wait(62)
    assert 1 == len(seeker.invited)


def test_a_player_who_becomes_free_later_is_found() -> None:
    seeker = Seeker(who("ford", "zaphod"))
    seeker.wait(200)
    seeker.say(who("ford"))
    seeker.wait(31)
    assert ["ford"] == seeker.names


def test_a_player_who_did_not_play_is_not_invited_twice_within_an_hour() -> None:
    seeker = Seeker()
    seeker.wait(3600)
    assert dict.fromkeys(OTHERS, 1) == Counter(seeker.names)
    seeker.wait(400)
    assert dict.fromkeys(OTHERS, 2) == Counter(seeker.names)


def test_no_player_is_invited_twice_in_a_row_while_others_are_available() -> None:
    seeker = Seeker(who("ford"), who("zaphod"))
    for _ in range(12):
        count = len(seeker.invited)
        while len(seeker.invited) == count:
            seeker.wait(10)
        seeker.say(
            f"** Player {seeker.names[-1]} has joined you for a 5 point match.", "You win the 5 point match 5-0 ."
        )
    assert ["ford", "zaphod"] * 6 in (seeker.names, [*seeker.names[1:], seeker.names[0]])


def test_the_only_player_who_is_there_is_invited_again_after_a_match() -> None:
    seeker = Seeker(who("ford"))
    for _ in range(3):
        seeker.wait(65)
        seeker.say("** Player ford has joined you for a 5 point match.", "You win the 5 point match 5-0 .")
    assert ["ford"] * 3 == seeker.names


def test_the_invited_player_is_chosen_at_random_by_the_seed() -> None:
    def first(seed: int) -> str:
        seeker = Seeker(seed=seed)
        seeker.wait(65)
        return seeker.names[0]

    assert {first(seed) for seed in range(40)} == set(OTHERS)
    assert 1 == len({first(7) for _ in range(3)})


# -- refusals -------------------------------------------------------------------------------------------------------


def test_a_player_who_refuses_games_according_to_the_server_is_not_invited() -> None:
    seeker = Seeker(who("ford"), seek={"forgive": 20_000.0})
    seeker.refusals["ford"] = "** ford is refusing games."
    seeker.wait(19_000)
    assert ["ford"] == seeker.names
    assert [{"name": "ford", "text": "** ford is refusing games."}] == seeker.script.events("refused_by")
    seeker.wait(2_000)
    assert ["ford", "ford"] == seeker.names


def test_a_tell_instead_of_joining_is_a_refusal() -> None:
    seeker = Seeker(who("ford"))
    seeker.wait(62)
    seeker.say("12 ford no thanks, I play people only")
    assert [] == seeker.script.events("refused_by"), "perhaps he joins all the same"
    seeker.wait(30)
    assert [{"name": "ford", "text": "no thanks, I play people only"}] == seeker.script.events("refused_by")
    seeker.wait(80_000)
    assert ["ford"] == seeker.names
    seeker.wait(10_000)
    assert ["ford", "ford"] == seeker.names


def test_a_tell_before_joining_is_not_a_refusal() -> None:
    seeker = Seeker(who("ford"))
    seeker.wait(62)
    seeker.say("12 ford sure, one second", "** Player ford has joined you for a 5 point match.")
    seeker.say("You win the 5 point match 5-0 .")
    seeker.wait(100)
    assert [] == seeker.script.events("refused_by")
    assert ["ford", "ford"] == seeker.names


def test_silence_is_not_a_refusal() -> None:
    seeker = Seeker(who("ford"))
    seeker.wait(200)
    assert [] == seeker.script.events("refused_by")
    assert seeker.script.agent._connection.context.memory.history_of("ford").refused is None


def test_a_tell_by_another_player_is_not_a_refusal() -> None:
    seeker = Seeker(who("ford"))
    seeker.wait(62)
    seeker.say("12 zaphod no", "13 ford I hate bots", "15 ford no")
    seeker.wait(100)
    assert [] == seeker.script.events("refused_by")


def test_a_player_who_has_logged_out_is_not_invited_again() -> None:
    seeker = Seeker(who("ford"))
    seeker.refusals["ford"] = "** There is no one called ford."
    seeker.wait(62)
    assert "ford" not in seeker.script.agent._connection._lobby.players.users
    assert [] == seeker.script.events("refused_by")


# -- the player whom the settings name ------------------------------------------------------------------------------


def test_the_configured_player_comes_first() -> None:
    seeker = Seeker(invite="trillian", length=3)
    assert ["trillian 3"] == [words for _, words in seeker.invited]
    assert [{"name": "trillian", "length": 3, "why": "wanted"}] == seeker.script.events("inviting")
    seeker.wait(70)
    assert "trillian" == seeker.names[1]


def test_the_policy_applies_to_the_configured_player_too() -> None:
    seeker = Seeker(invite="trillian", length=3, policy=Policy(lengths=Lengths(((5, 9),))), seek={"after": None})
    seeker.wait(100)
    assert [] == seeker.invited


def test_a_cool_down_applies_to_the_configured_player_too() -> None:
    seeker = Seeker(who("ford"), invite="ford", policy=Policy(cool_down=650), seek={"after": None})
    seeker.say("** Player ford has joined you for a 1 point match.", "You win the 1 point match 1-0 .")
    begun = len(seeker.invited)
    seeker.wait(640)
    assert begun == len(seeker.invited)
    seeker.wait(15)
    assert begun < len(seeker.invited), "as soon as the break is over, though nothing else happens"
