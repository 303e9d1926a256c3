"""Lists, old matches, settings, help and facts about the server: answers and refusals."""

from __future__ import annotations

import re
from typing import Final

import pytest

from fibs_protocol.grammar.commands import COMMAND_FORMS
from fibs_protocol.words import Toggle
from fibsbot.server.texts import topics
from fibsbot.server.users import ClientMode, User
from tests.server.simulated_world import Simulation, boards, two_players

# fmt: off
LISTED_BY_FIBS: Final = (
    "about", "accept", "address", "autologin", "average", "away", "back", "beaver", "beginner", "board",
    "boardstyle", "bye", "client", "cls", "commands", "complaints", "countries", "crawford", "date", "dicetest",
    "double", "erase", "formula", "gag", "help", "hostnames", "invite", "join", "kibitz", "last", "leave", "look",
    "man", "message", "motd", "move", "names", "off", "oldboard", "oldmoves", "otter", "panic", "password", "pip",
    "raccoon", "ratings", "rawboard", "rawwho", "redouble", "reject", "resign", "roll", "rules", "save", "say",
    "set", "shout", "show", "shutdown", "sortwho", "stat", "tell", "time", "timezones", "tinyfugue", "toggle",
    "unwatch", "version", "watch", "wave", "where", "whisper", "who", "whois", "!!",
)
# fmt: on
"""The topics that `help` lists on FIBS."""

# -- lists ----------------------------------------------------------------------------------------------------------


def test_who_and_rawwho(simulation: Simulation, alice: User) -> None:
    simulation.log_in("bob")
    carol = simulation.log_in("carol")
    simulation.say(carol, "toggle ready")
    row = "5 {} - - {} 0 1500.00 0 0 1795176000 127.0.0.1 test -"
    simulation.say(alice, "who")
    assert [row.format("alice", 0), row.format("bob", 0), row.format("carol", 1)] == simulation.received(
        alice, status=True
    )
    simulation.say(alice, "rawwho ready")
    assert [row.format("carol", 1), "6"] == simulation.received(alice, status=True)
    simulation.say(alice, "rawwho away")
    assert ["6"] == simulation.received(alice, status=True)
    assert [] == simulation.say(alice, "who away")
    assert ["6"] == simulation.received(alice, status=True), "a client gets lines 5 and 6 only"
    simulation.say(alice, "who bob")
    assert [row.format("bob", 0)] == simulation.received(alice, status=True)
    assert ["** There is no one called nobody_here"] == simulation.say(alice, "rawwho nobody_here")
    assert ["There are 3 users logged in."] == simulation.say(alice, "who count")
    simulation.say(alice, "rawwho from 127")
    assert 4 == len(simulation.received(alice, status=True))


def test_who_for_people_is_a_table(simulation: Simulation, alice: User) -> None:
    person = simulation.log_in("person", ClientMode.TELNET, client=None)
    simulation.say(person, "set sortwho name")
    assert [
        "No  S  username        rating   exp login  idle from",
        " 1  -  alice           1500.00    0 12:00  0:00 127.0.0.1",
        " 2  -  person          1500.00    0 12:00  0:00 127.0.0.1",
    ] == simulation.say(person, "who")
    assert alice.name


def test_show(simulation: Simulation, alice: User, bob: User) -> None:
    assert ["** show what?"] == simulation.say(alice, "show")
    assert ["** Don't know how to show nonsense"] == simulation.say(alice, "show nonsense")
    assert ["no saved games."] == simulation.say(alice, "show saved")
    assert ["bob has no saved games."] == simulation.say(alice, "show savedcount bob")
    assert ["** There is no one called nobody_here"] == simulation.say(alice, "show savedcount nobody_here")
    assert ["Watching players: none."] == simulation.say(alice, "show watchers")
    assert ["max_logins is 2 (maximum: 1000)"] == simulation.say(alice, "show max")
    carol = simulation.log_in("carol")
    simulation.say(carol, "watch bob")
    simulation.start(alice, bob, 5)
    assert ["Watching players:", "carol is watching bob."] == simulation.say(alice, "show watchers")
    assert ["List of games:", "alice           -             bob (5 point match 0-0)"] == simulation.say(
        alice, "show games"
    )
    simulation.say(bob, "leave")
    assert ["alice has 1 saved game."] == simulation.say(alice, "show savedcount")


def test_whois(simulation: Simulation, alice: User) -> None:
    bob = simulation.log_in("bob")
    simulation.time += 64
    assert [
        "Information about bob:",
        "  Last login:  Friday, November 20 12:00 UTC from 127.0.0.1",
        "  Still logged in. 1:04 minutes idle.",
        "  bob is not ready to play, not watching, not playing.",
        "  Rating: 1500.00 Experience: 0",
        "  No email address.",
        "",
    ] == simulation.say(alice, "whois bob")
    simulation.log_out(bob)
    assert [
        "  Last logout: Friday, November 20 12:01 UTC",
        "  Not logged in right now.",
    ] == simulation.say(alice, "whois bob")[2:4]
    assert ["** please give a name as an argument."] == simulation.say(alice, "whois")
    assert ["No information found on user nobody_here."] == simulation.say(alice, "whois nobody_here")


def test_where(simulation: Simulation, alice: User) -> None:
    assert ["alice from 127.0.0.1", "(127.0.0.1)"] == simulation.say(alice, "where")
    assert ["** There is no one called nobody_here"] == simulation.say(alice, "where nobody_here")


def test_ratings(simulation: Simulation, alice: User) -> None:
    header = " rank name            rating    Experience"
    for rank in range(1, 31):
        simulation.log_out(
            simulation.log_in(
                "user_" + chr(96 + rank) if rank < 27 else "late_" + "a" * rank, rating=2000.0 - rank, experience=51
            )
        )
    assert [header, *["x"] * 20] == [line if line == header else "x" for line in simulation.say(alice, "ratings")]
    assert "    1 user_a          1999.00       51" == simulation.received(alice)[1]
    assert [header, "    2 user_b          1998.00       51"] == simulation.say(alice, "ratings from 2 to 2")
    assert [header, "*  31 alice           1500.00        0"] == simulation.say(alice, "ratings alice")
    assert [header] == simulation.say(alice, "ratings nobody_here")
    assert [header] == simulation.say(alice, "ratings from 90 to 95")
    for command, refusal in {
        "ratings a b": "** Please use only one of the given names 'a' and 'b'.",
        "ratings from 20 to 15": "** invalid range from 20 to 15",
        "ratings from 1000 to 2000": "** range currently limited to 100.",
        "ratings from x to y": "** Please give a positive number after 'from'.",
        "ratings to 0": "** Please give a positive number after 'to'.",
    }.items():
        assert [refusal] == simulation.say(alice, command)


def test_the_own_rank_comes_last(simulation: Simulation) -> None:
    for name, rating in (("first", 1900.0), ("second", 1800.0)):
        simulation.log_out(simulation.log_in(name, rating=rating, experience=100))
    third = simulation.log_in("third", rating=1700.0, experience=100)
    assert ["    1 first           1900.00      100", "    3 third           1700.00      100"] == simulation.say(
        third, "ratings to 1"
    )[1:]


# -- old matches ----------------------------------------------------------------------------------------------------


def test_oldboard_and_oldmoves() -> None:
    simulation, alice, bob = two_players((4, 1), (6, 5))
    simulation.say(alice, "move 1-2 12-16")
    assert ["** You can't do this while playing."] == simulation.say(alice, "oldboard bob")
    assert "X: (4 1) 1-2 12-16" == simulation.say(alice, "oldmoves bob")[-1]
    simulation.say(bob, "leave")
    assert boards(simulation.say(alice, "oldboard bob"))[0].startswith("board:You:bob:3:0:0:")
    assert ["Score is 0-0 in a 3 point match.", "alice is X - bob is O", "", "X: (4 1) 1-2 12-16"] == simulation.say(
        bob, "oldmoves alice"
    )
    assert ["** usage: oldboard <name>"] == simulation.say(alice, "oldboard")
    assert ["** usage: oldmoves <name>"] == simulation.say(alice, "oldmoves")
    assert ["** There's no saved match with a player called 'carol'."] == simulation.say(alice, "oldboard carol")
    assert ["** There is no saved game with carol."] == simulation.say(alice, "oldmoves carol")


# -- settings and the rest ------------------------------------------------------------------------------------------


def test_toggles(simulation: Simulation, alice: User) -> None:
    assert ["** You're now ready to invite or join someone."] == simulation.say(alice, "toggle ready")
    assert ["** You're now refusing to play with someone."] == simulation.say(alice, "to rea")
    assert ["** You won't hear what other players shout."] == simulation.say(alice, "toggle silent")
    assert ["** Don't know how to toggle nonsense"] == simulation.say(alice, "toggle nonsense")
    assert 18 == len(simulation.say(alice, "toggle"))


def test_settings(simulation: Simulation, alice: User) -> None:
    assert [
        "Settings of variables:",
        "boardstyle: 3",
        "linelength: 0",
        "pagelength: 0",
        "redoubles:  none",
        "sortwho:    login",
        "timezone:   UTC",
        "games:      off",
    ] == simulation.say(alice, "set")
    for command, answer in {
        "set boardstyle": "Value of 'boardstyle' is 3",
        "set boardstyle 2": "Value of 'boardstyle' set to 2.",
        "set boardstyle 4": "** Valid arguments are the numbers 1 to 3.",
        "set linelength 79": "Value of 'linelength' set to 79.",
        "set linelength 1000": "** Valid arguments are the numbers 0 to 999. Use 0 for no linelength.",
        "set pagelength x": "Value of 'pagelength' set to 0.",
        "set redoubles 7": "Value of 'redoubles' set to 7.",
        "set redoubles unlimited": "Value of 'redoubles' set to unlimited.",
        "set redoubles 0": "** Valid arguments are 'none', 'unlimited' and the numbers 1 to 99.",
        "set sortwho rrating": "Value of 'sortwho' set to rrating.",
        "set sortwho x": "** Unknown value 'x'. Try 'login', 'name', 'rating' or 'rrating'.",
        "set timezone UTC": "Value of 'timezone' set to UTC.",
        "set nonsense": "** Invalid argument. Type 'help set'.",
    }.items():
        assert [answer] == simulation.say(alice, command)
    received = simulation.say(alice, "set timezone Nowhere/Land")
    assert "Can't find timezone 'Nowhere/Land'. Try one of:" == received[0]
    assert any("UTC," in line for line in received[1:])


def test_only_saved_settings_are_restored(simulation: Simulation, alice: User) -> None:
    simulation.say(alice, "toggle report")
    simulation.say(alice, "set redoubles 5")
    assert ["Settings saved."] == simulation.say(alice, "save")
    simulation.say(alice, "toggle silent")
    simulation.log_out(alice)
    again = simulation.log_in("alice")
    on = set(simulation.say(again, "toggle"))
    assert {"report          YES", "silent          NO"} <= on
    assert ["Value of 'redoubles' is 5"] == simulation.say(again, "set redoubles")


def test_address(simulation: Simulation, alice: User) -> None:
    assert ["** You didn't give your address."] == simulation.say(alice, "address")
    assert ["** 'http://foobar' is not an email address."] == simulation.say(alice, "address http://foobar")
    assert ["Your email address is 'a@b.example'."] == simulation.say(alice, "address a@b.example and rubbish")
    assert "5 alice - - 0 0 1500.00 0 0 1795176000 127.0.0.1 test a@b.example" in simulation.received(
        alice, status=True
    )


def test_the_server_about_itself(simulation: Simulation, alice: User) -> None:
    simulation.world.port = 4321
    assert ["The server is running on port 4321."] == simulation.say(alice, "port")
    assert ["Friday, November 20 12:00:00 UTC   ( Fri Nov 20 12:00:00 2026 UTC )"] == simulation.say(alice, "time")
    assert simulation.say(alice, "date Nowhere")[0].startswith("Can't find timezone 'Nowhere'")
    assert simulation.say(alice, "version")[0].startswith("** Version ")
    assert ["The 1 last logins/logouts:", "Fri 12:00 UTC: alice logs in."] == simulation.say(alice, "last")
    simulation.world.sample_user_count()
    assert "00:00-00:59   0.0     0   0    12:00-12:59   1.0     1   1" == simulation.say(alice, "average")[1]
    assert ["*** running dice test:", "*** Rolled 0 times with 2 dice"] == simulation.say(alice, "dicetest")[:2]
    assert "The server is running since Fri Nov 20 12:00:00 UTC." == simulation.say(alice, "stat")[0]
    assert ["\x1b[;H\x1b[2J"] == simulation.say(alice, "cls")
    assert 10 == len(simulation.say(alice, "motd"))
    assert simulation.say(alice, "about")


@pytest.mark.parametrize("command", ["erase", "shutdown now", "shutdown"])
def test_administrators_commands_are_denied(simulation: Simulation, alice: User, command: str) -> None:
    assert ["** Permission denied"] == simulation.say(alice, command)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("nonsense", "** Unknown command: 'nonsense'"),
        ("re", "** Unknown command: 're'"),
        ("login x 1008 y z", "** Unknown command: 'login'"),
        ("name other", "** You're not supposed to change your name."),
    ],
)
def test_unknown_commands(simulation: Simulation, alice: User, command: str, answer: str) -> None:
    assert [answer] == simulation.say(alice, command)


def test_the_last_command_can_be_repeated(simulation: Simulation, alice: User) -> None:
    simulation.say(alice, "port")
    assert ["The server is running on port 0."] == simulation.say(alice, "!!")
    simulation.say(alice, "shout once")
    assert [] == simulation.say(alice, "!!")


@pytest.mark.parametrize("mode", [ClientMode.CLIP, ClientMode.TELNET])
def test_every_name_that_fibs_lists_is_answered(mode: ClientMode) -> None:
    """As a command, both idle and in a match, and as a help topic."""
    simulation = Simulation()
    bob = simulation.log_in("bob")
    for name in LISTED_BY_FIBS:
        user = simulation.world.users.get("alice") or simulation.log_in("alice", mode)
        user.last_command = "port"
        simulation.say(user, name)
        idle = simulation.received(user, status=True)
        user = simulation.world.users.get("alice") or simulation.log_in("alice", mode)
        helped = simulation.say(user, f"help {name}")
        simulation.start(user, bob, 5)
        simulation.say(user, name)
        playing = simulation.received(user, status=True)
        assert all((idle, helped, playing)), name
        assert not re.search("Unknown command|No help", "".join((*idle, *helped, *playing))), name
        if user.match is not None:
            simulation.say(bob, "leave")


def test_a_topic_that_is_no_command_is_shown(simulation: Simulation, alice: User) -> None:
    for topic in ("rules", "formula", "tinyfugue", "toggle-ready", "rule1"):
        assert (
            simulation.say(alice, topic)
            == simulation.say(alice, f"help {topic}")
            == simulation.say(alice, f"man {topic}")
        )
    assert ["** Unknown command: 'tinyf'"] == simulation.say(alice, "tinyf"), "only a complete name"
    assert simulation.say(alice, "man") == simulation.say(alice, "help")


def test_sortwho(simulation: Simulation) -> None:
    for name, rating in (("zoe", 1900.0), ("amy", 1700.0), ("kim", 1800.0)):
        simulation.log_in(name, rating=rating)
    person = simulation.log_in("person", ClientMode.TELNET, client=None)
    program = simulation.world.users["zoe"]
    orders = {
        "login": ["zoe", "amy", "kim", "person"],
        "name": ["amy", "kim", "person", "zoe"],
        "rating": ["zoe", "kim", "amy", "person"],
        "rrating": ["person", "amy", "kim", "zoe"],
    }
    for order, names in orders.items():
        for user, place in ((person, 2), (program, 1)):
            assert [f"Value of 'sortwho' set to {order}."] == simulation.say(user, f"sortwho {order}")
            assert [f"Value of 'sortwho' is {order}"] == simulation.say(user, "sortwho")
            simulation.say(user, "who")
            rows = [line.split() for line in simulation.received(user, status=True)]
            assert names == [row[place] for row in rows if row[place] in names]
    refusal = "** Unknown value 'x'. Try 'login', 'name', 'rating' or 'rrating'."
    assert [refusal] == simulation.say(person, "sortwho x")


@pytest.mark.parametrize(("short", "answer"), [("rej", "reject"), ("red", "redouble"), ("res n", "resign n")])
def test_short_forms_that_fit_one_command_only(short: str, answer: str) -> None:
    """`re` fits three of them and is refused even where one could be meant."""
    simulation, alice, bob = two_players((6, 4), length="unlimited")
    simulation.say(alice, "move 1-7 12-16")
    simulation.say(bob, "double")
    assert ["** Unknown command: 're'"] == simulation.say(alice, "re")
    first = simulation.say(alice, short)
    again, other, bob = two_players((6, 4), length="unlimited")
    again.say(other, "move 1-7 12-16")
    again.say(bob, "double")
    assert first == again.say(other, answer) != []


def test_every_command_and_toggle_has_a_help_text(simulation: Simulation, alice: User) -> None:
    assert [] == [form.name for form in COMMAND_FORMS if form.name not in topics()]
    assert [] == [toggle.value for toggle in Toggle if f"toggle-{toggle.value}" not in topics()]
    assert simulation.say(alice, "help") == simulation.say(alice, "help help")
    assert "   invite - ask somebody to play" == simulation.say(alice, "help inv")[1]
    assert ["** No help available on 'nonsense'."] == simulation.say(alice, "help nonsense")


def test_help_lines_fit_on_a_screen_and_name_only_topics_that_exist() -> None:
    for name, lines in topics().items():
        assert max(map(len, lines)) <= 76, name
    lines = topics()["help"]
    listed = " ".join(lines[next(i for i, line in enumerate(lines) if "topics are:" in line) + 1 :]).split()
    assert set(LISTED_BY_FIBS) <= set(listed)
    assert set() == set(listed) - set(topics())


def test_names_are_shown_without_signs_at_their_ends() -> None:
    simulation = Simulation()
    alice = simulation.log_in("alice")
    assert ["** Please use only one of the given names 'a' and 'b'."] == simulation.say(alice, "ratings a. 'b'")
    assert ["** There is no one called x"] == simulation.say(alice, "who 'x.")
