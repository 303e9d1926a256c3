"""Login, toggles and settings, registration."""

from __future__ import annotations

import pytest
from attrs import asdict

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.session import State
from fibsbot.bot.events_and_actions import (
    Connected,
    ConnectionLost,
    Disconnect,
    End,
    MessageReceived,
    Send,
    SendLine,
    SendSecret,
    WakeAt,
    Woken,
)
from fibsbot.bot.login import Registration
from fibsbot.bot.settings import AgentSettings, Timings
from tests.bot.agent_script import ME, OWN_INFO, Script


def test_the_login_line_is_sent_at_the_prompt_and_not_before() -> None:
    script = Script()
    assert [] == script.connect()
    assert [] == script.raw(b"WELCOME TO THE\r\nlogin from somewhere\r\n")
    assert [] == script.raw(b"log")
    assert [f"login {AgentSettings('x', 'y').client} 1008 {ME} pass:word"] == script.raw(b"in: ")


def test_a_second_prompt_means_a_wrong_password_and_ends_the_run() -> None:
    script = Script()
    script.connect()
    script.raw(b"login: ")
    assert [] == script.raw(b"\r\nlogin: ")
    assert [End.REFUSED] == [hang_up.end for hang_up in script.hang_ups]
    assert [] == script.raw(b"> 5 ford - - 1 0 1500.00 0 0 1 h - -\r\n")


def test_only_what_is_wrong_is_toggled_and_ready_comes_first() -> None:
    script = Script()
    script.connect()
    script.raw(b"login: ")
    # name, allowpip, autoboard, autodouble, automove, away, bell, crawford, double, exp, greedy, moreboards, moves,
    # notify, rating, ratings, ready, redoubles, report, silent, timezone
    wrong = f"2 {ME} 1 0 1 1 0 1 0 0 2396 1 0 1 0 1457.85 0 0 0 0 0 UTC"
    answers = {
        "show saved": "no saved games.",
        "toggle ready": "** You're now ready to invite or join someone.",
        "set boardstyle 3": "Value of 'boardstyle' set to 3.",
        "toggle autoboard": "** The board will be refreshed after every move.",
        "toggle moreboards": "** Will send rawboards after rolling.",
        "toggle notify": "** You'll be notified when new users log in.",
        "toggle automove": "** Forced moves won't be done automatically.",
        "toggle greedy": "** Won't use automatic greedy bearoffs.",
        "toggle autodouble": "** You don't agree that doublets during opening double the cube.",
        "toggle bell": "** Your terminal won't ring the bell if someone talks to you or invites you",
        "toggle moves": "** You won't see a list of moves after this game.",
        "toggle crawford": "** You insist on playing with the Crawford rule.",
        "toggle double": "** You will be asked if you want to double.",
    }
    sent = script.server(f"1 {ME} 1 h", wrong, "6")
    said = []
    while sent:
        said += sent
        sent = script.server(answers[sent[0]])
    assert list(answers) == said
    assert 0 == script.agent.counters.refusals


def test_an_invitation_during_the_login_is_accepted_when_all_is_done() -> None:
    """Two more toggles are wrong, and there is the usual pause between two commands."""
    script = Script(timings=Timings())
    script.connect()
    script.raw(b"login: ")
    script.server(
        f"1 {ME} 1 h", OWN_INFO.replace(f"{ME} 1 1 ", f"{ME} 1 0 ").replace(" 1457.85 0 1 ", " 1457.85 0 0 "), "6"
    )
    assert ["show saved"] == script.wait(1.5)
    script.server("no saved games.")
    assert ["toggle ready"] == script.wait(1.5)
    script.server("** You're now ready to invite or join someone.")
    script.server("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
    assert [] == script.verdict(accepted=True)
    assert ["set boardstyle 3"] == script.wait(3)
    assert ["toggle autoboard"] == script.server("Value of 'boardstyle' set to 3."), "nothing is joined before"
    assert ["join ford"] == script.server("** The board will be refreshed after every move.") + script.wait(3)


def test_nothing_is_toggled_if_the_settings_are_right() -> None:
    script = Script().to_lobby()
    assert [] == script.wait(60)


def test_a_toggle_whose_answer_gets_lost_is_not_undone_by_another() -> None:
    script = Script()
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1 h", OWN_INFO.replace(" 1 1 0 0 0 0 1 1 2396", " 1 0 0 0 0 0 1 1 2396"), "6")
    assert ["set boardstyle 3"] == script.server("no saved games.")
    assert ["toggle autoboard"] == script.server("Value of 'boardstyle' set to 3.")
    assert ["toggle"] == script.wait(4.1), "the answer is overdue"
    assert [] == script.server("The current settings are:", "autoboard       YES")


def test_a_login_takes_as_long_as_its_answers_if_each_comes_in_time() -> None:
    script = Script()
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1 h", f"2 {ME} 1 0 1 1 0 1 0 0 2396 1 0 1 0 1457.85 0 0 0 0 0 UTC", "6")
    answers = {
        "autoboard": "** The board will be refreshed after every move.",
        "moreboards": "** Will send rawboards after rolling.",
        "notify": "** You'll be notified when new users log in.",
        "automove": "** Forced moves won't be done automatically.",
        "greedy": "** Won't use automatic greedy bearoffs.",
        "bell": "** Your terminal won't ring the bell if someone talks to you or invites you",
    }
    assert ["toggle ready"] == script.server("no saved games.") + script.wait(3.9)
    sent = script.server("** You're now ready to invite or join someone.") + script.wait(3.9)
    sent = script.server("Value of 'boardstyle' set to 3.")
    for toggle, line in answers.items():
        assert [f"toggle {toggle}"] == sent
        assert [] == script.wait(3.9), "no answer is overdue"
        sent = script.server(line)
        if toggle == "greedy":
            assert ["toggle autodouble"] == sent
            sent = script.server("** You don't agree that doublets during opening double the cube.")
    assert ["toggle moves"] == sent, "after 27 seconds, nothing was given up"


def test_a_question_that_stays_unanswered_twice_marks_its_feature_as_missing() -> None:
    script = Script().to_lobby()
    assert ["toggle ready"] == script.server(f"5 {ME} - - 0 0 1500.00 0 0 1 h - -")
    assert ["toggle"] == script.wait(4.1)
    assert [] == script.events("server_feature")
    script.wait(4.1)
    assert [{"feature": "toggle", "lacking": True}] == script.events("server_feature")


def test_the_board_style_is_set_again_if_there_was_no_answer() -> None:
    script = Script()
    script.connect()
    script.raw(b"login: ")
    assert ["show saved"] == script.server(f"1 {ME} 1 h", OWN_INFO)
    assert ["set boardstyle 3"] == script.server("no saved games.")
    assert ["set boardstyle 3"] == script.wait(4.1)
    assert "set boardstyle 3" not in script.server("Value of 'boardstyle' set to 3.") + script.wait(60)


def test_a_toggle_that_was_changed_back_is_set_again_but_not_too_often() -> None:
    script = Script().to_lobby()
    not_ready = f"5 {ME} - - 0 0 1500.00 0 0 1 h - -"
    said = []
    for _ in range(20):
        said += script.server(not_ready, "6", "** You're now ready to invite or join someone.")
    assert ["toggle ready"] * 3 == said
    script.wait(61)
    assert ["toggle ready"] == [line for line in script.server(not_ready) if line != "time"]


def test_a_login_is_remembered_once() -> None:
    script = Script().to_lobby()
    script.server(*[f"1 {ME} 1 h"] * 50)
    assert 1 == len(script.events("logged_in"))


def test_a_missing_line_2_is_replaced_by_asking() -> None:
    script = Script()
    script.connect()
    script.raw(b"login: ")
    assert [] == script.server(f"1 {ME} 1 h")
    assert ["show saved"] == script.wait(8.1)
    assert ["set boardstyle 3"] == script.server("no saved games.")
    assert ["toggle"] == script.server("Value of 'boardstyle' set to 3.")
    assert ["toggle greedy"] == script.server("The current settings are:", "greedy          YES", "ready           YES")


def test_a_connection_without_a_prompt_is_closed() -> None:
    script = Script()
    script.connect()
    script.raw(b"SSH-2.0-OpenSSH\r\n")
    script.wait(33)
    assert [None] == [hang_up.end for hang_up in script.hang_ups]


def test_another_login_of_the_same_name_ends_the_run() -> None:
    script = Script().to_lobby()
    script.server(f"7 {ME} {ME} logs in again.")
    script.lose()
    assert [End.REPLACED] == [hang_up.end for hang_up in script.hang_ups]


def test_a_second_session_of_our_name_is_recognised_after_a_disconnection() -> None:
    for by_server in (True, False):
        script = Script().to_lobby()
        script.lose(by_server=by_server)
        script.connect()
        script.lose()
        script.connect()
        script.raw(b"login: ")
        script.server("** Warning: You are already logged in.", f"1 {ME} 60 h")
        assert [End.REPLACED] * by_server == [hang_up.end for hang_up in script.hang_ups]


@pytest.mark.parametrize("seconds", [0.5, 10])
def test_a_server_that_has_not_noticed_the_end_of_our_connection_is_not_another_session(seconds: float) -> None:
    script = Script().to_lobby()  # its `5` line says that we have logged in at 1
    script.wait(seconds)
    script.lose(by_server=True)
    script.connect()
    script.raw(b"login: ")
    script.server("** Warning: You are already logged in.", f"1 {ME} 1 h", f"7 {ME} {ME} logs in again.", OWN_INFO)
    assert [] == script.hang_ups


@pytest.mark.parametrize("warned", [True, False])
def test_a_login_of_our_own_of_which_we_saw_no_answer_is_not_another_session(warned: bool) -> None:  # noqa: FBT001 - parametrized
    script = Script().to_lobby()
    script.wait(10)
    script.lose(by_server=True)
    script.connect()
    script.raw(b"login: ")
    if warned:
        script.server("** Warning: You are already logged in.")
    script.lose(by_server=True)  # the server has let us in at 60
    script.connect()
    script.raw(b"login: ")
    if not warned:
        script.server("** Warning: You are already logged in.")
    script.server(f"1 {ME} 60 h", f"7 {ME} {ME} logs in again.", OWN_INFO)
    assert [] == script.hang_ups


def test_another_session_is_recognised_although_we_do_not_know_when_we_have_logged_in() -> None:
    script = Script()
    for _ in range(2):
        script.connect()
        script.raw(b"login: ")
        script.server("** Warning: You are already logged in.", f"1 {ME} 1 h")
        script.lose(by_server=True)
    assert [End.REPLACED] == [hang_up.end for hang_up in script.hang_ups]


def test_an_old_connection_of_our_own_is_not_another_login() -> None:
    script = Script()
    script.connect()
    script.raw(b"login: ")
    script.server("** Warning: You are already logged in.", f"1 {ME} 1 h", f"7 {ME} {ME} logs in again.", OWN_INFO)
    script.lose()
    assert [] == script.hang_ups


def test_a_request_to_finish_in_the_lobby_sends_bye() -> None:
    script = Script().to_lobby()
    assert ["bye"] == script.finish()
    script.server("                             Goodbye.")
    script.lose()
    assert State.CONNECTING is script.agent.state
    assert [End.FINISHED] == [hang_up.end for hang_up in script.hang_ups]


def test_an_unanswered_bye_ends_the_run_too() -> None:
    script = Script().to_lobby()
    script.finish()
    script.wait(8.1)
    assert [End.FINISHED] == [hang_up.end for hang_up in script.hang_ups]


def test_a_request_to_finish_without_a_connection_ends_the_run() -> None:
    script = Script().to_lobby()
    script.lose()
    assert [] == script.finish()
    assert [End.FINISHED] == [hang_up.end for hang_up in script.hang_ups]


def test_the_password_is_in_no_record_and_no_repr() -> None:
    script = Script().to_lobby()
    assert "pass:word" not in repr(script.records)
    assert "pass:word" not in repr(AgentSettings(ME, "pass:word"))
    assert "pass:word" not in repr([SendSecret("pass:word"), c.Login("x", ME, "pass:word")])


def test_all_waits_are_scaled_together() -> None:
    before, after = asdict(Timings(commands_a_minute=7)), asdict(Timings(commands_a_minute=7).scaled(0.5))
    unscaled = {"commands_a_minute", "deadline", "connect"}
    assert unscaled == {name for name in before if before[name] == after[name] != 0}
    assert all(after[name] == before[name] / 2 for name in before.keys() - unscaled)


# -- registration ---------------------------------------------------------------------------------------------------


def registration(*messages: m.Message) -> tuple[Registration, list[object]]:
    subject = Registration("marvin", "pass:word", 15)
    assert [WakeAt(15)] == subject.handle(Connected(0))
    actions: list[object] = []
    for message in messages:
        actions += [a for a in subject.handle(MessageReceived(1, message)) if not isinstance(a, WakeAt)]
    return subject, actions


ASKED = (m.LoginPrompt(), m.GuestWelcome(), m.CommandPrompt(), m.NameChosen("marvin"), m.NewPasswordPrompt())


def test_an_account_is_made_as_a_guest() -> None:
    subject, actions = registration(*ASKED, m.RetypePasswordPrompt(), m.Registered())
    secret = SendSecret("pass:word")
    expected = [SendLine("guest"), Send(c.Name("marvin")), secret, secret, Send(c.Bye())]
    assert [*expected, Disconnect("registered", End.FINISHED)] == actions
    assert "" == subject.outcome


@pytest.mark.parametrize(
    ("messages", "outcome"),
    [
        ((m.LoginPrompt(), m.GuestWelcome(), m.NameTaken("marvin")), "the name 'marvin' is taken"),
        ((m.LoginPrompt(), m.GuestWelcome(), m.NameInvalid()), "the server refuses the name 'marvin'"),
        ((*ASKED, m.PasswordTooShort()), "the server wants a longer password"),
        ((m.LoginPrompt(), m.LoginPrompt()), "the server takes no guests"),
        ((m.LoginPrompt(), m.PasswordPrompt()), "the server takes no guests"),
    ],
)
def test_a_failed_registration_has_a_reason(messages: tuple[m.Message, ...], outcome: str) -> None:
    subject, _ = registration(*messages)
    assert outcome == subject.outcome


def test_a_registration_that_stalls_or_breaks_ends() -> None:
    stalled, _ = registration(m.LoginPrompt())
    stalled.handle(Woken(16))
    broken, _ = registration(m.LoginPrompt())
    broken.handle(ConnectionLost(2, "reset"))
    assert stalled.outcome
    assert broken.outcome


def test_an_endless_registration_is_ended() -> None:
    subject, _ = registration(m.LoginPrompt())
    wake = [subject.handle(MessageReceived(at, m.ProseLine("Please wait.")))[-1] for at in range(2, 60, 5)]
    assert [WakeAt(60)] == wake[-1:], "four waits after the connection"
