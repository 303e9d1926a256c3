"""Wordings outside of matches: prompts, login, settings, chat, watching, reports, lists."""

from __future__ import annotations

from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.grammar.templates import Wording, hears, says
from fibs_protocol.words import YOU, Setting, Toggle

_TOGGLES: Final = {
    Toggle.ALLOWPIP: (
        "You allow the use the server's 'pip' command.",
        "You don't allow the use of the server's 'pip' command.",
    ),
    Toggle.AUTOBOARD: (
        "The board will be refreshed after every move.",
        "The board won't be refreshed after every move.",
    ),
    Toggle.AUTODOUBLE: (
        "You agree that doublets during opening double the cube.",
        "You don't agree that doublets during opening double the cube.",
    ),
    Toggle.AUTOMOVE: ("Forced moves will be done automatically.", "Forced moves won't be done automatically."),
    Toggle.BELL: (
        "Your terminal will ring the bell if someone talks to you or invites you",
        "Your terminal won't ring the bell if someone talks to you or invites you",
    ),
    Toggle.CRAWFORD: (
        "You insist on playing with the Crawford rule.",
        "You would like to play without using the Crawford rule.",
    ),
    Toggle.DOUBLE: ("You will be asked if you want to double.", "You won't be asked if you want to double."),
    Toggle.GREEDY: ("Will use automatic greedy bearoffs.", "Won't use automatic greedy bearoffs."),
    Toggle.MOREBOARDS: ("Will send rawboards after rolling.", "Won't send rawboards after rolling."),
    Toggle.MOVES: ("You want a list of moves after this game.", "You won't see a list of moves after this game."),
    Toggle.NOTIFY: ("You'll be notified when new users log in.", "You won't be notified when new users log in."),
    Toggle.RATINGS: (
        "You'll see how the rating changes are calculated.",
        "You won't see how the rating changes are calculated.",
    ),
    Toggle.READY: ("You're now ready to invite or join someone.", "You're now refusing to play with someone."),
    Toggle.REPORT: (
        "You will be informed about starting and ending matches.",
        "You won't be informed about starting and ending matches.",
    ),
    # The specification has these two swapped.
    Toggle.SILENT: ("You won't hear what other players shout.", "You will hear what other players shout."),
    Toggle.TELNET: (
        "You use telnet and don't need extra 'newlines'.",
        "You use a client program and will receive extra 'newlines'.",
    ),
    Toggle.WRAP: ("The server will wrap long lines.", "Your terminal knows how to wrap long lines."),
}
"""The answers of each toggle when it is turned on, and off ("Toggle")."""

DICETEST_END: Final = says(m.DicetestEnd, "Done.")

LOBBY: Final[tuple[Wording[Any], ...]] = (
    # -- log in, registration, log out: "Logging In", "Bye", "Timeout"
    says(m.LoginPrompt, "login: "),
    says(m.PasswordPrompt, "password: "),
    says(m.CommandPrompt, "> "),
    says(m.NewPasswordPrompt, "Please give your password: "),
    says(m.RetypePasswordPrompt, "Please retype your password: "),
    says(m.PasswordsDifferPrompt, "** The two passwords were not identical. Please give them again. Password: "),
    says(m.ServerTime, "{local:local}   ( {utc} )"),
    says(m.AlreadyLoggedIn, "** Warning: You are already logged in."),
    hears(m.AlreadyLoggedIn, "** WARNING: You are already logged in."),
    says(m.LastLogin, "** Last login: {text:text}"),
    says(m.LoginIncorrect, "Login incorrect"),
    hears(m.LoginIncorrect, "Login incorrect."),
    hears(m.LoginIncorrect, "** Login incorrect."),
    says(m.GuestWelcome, "Welcome to FIBS. You just logged in as guest."),
    hears(m.GuestWelcome, "Welcome to {:word}. You just logged in as guest."),
    hears(m.GuestWelcome, "Welcome to {:word}.You just logged in as guest.", server="JIBS"),
    says(m.NameChosen, "Your name will be {name}"),
    says(m.NoPasswordHint, "Type in no password and hit Enter/Return if you want to change it now."),
    says(m.PasswordTooShort, "Minimal password length is 4 characters."),
    says(m.Registered, "You are registered."),
    says(m.BeginnerHint, "Type 'help beginner' to get started."),
    says(m.Goodbye, "                             Goodbye."),
    hears(m.Goodbye, "Thanks for using this server!", server="BaldLies"),
    says(m.ConnectionTimedOut, "Connection timed out."),
    says(m.RestartNotice, "*** ATTENTION ! FIBS will {restart:restart} in {delay:text}"),
    says(m.Shutdown, "** System administrator causes shutdown. FIBS is terminating."),
    says(m.GamesWillBeSaved, "** All running games will be saved."),
    # -- toggles, settings and the account: "Settings Commands"
    *(
        says(m.ToggleSet, f"** {text}", toggle=toggle, value=value)
        for toggle, texts in _TOGGLES.items()
        for value, text in zip((True, False), texts, strict=True)
    ),
    says(m.TogglesStart, "The current settings are:"),
    *(says(m.ToggleValue, f"{toggle.value:<15} {{value:yes_no}}", toggle=toggle) for toggle in Toggle),
    says(m.SettingsStart, "Settings of variables:"),
    *(says(m.SettingListed, f"{setting.value + ':':<11} {{value:value}}", setting=setting) for setting in Setting),
    says(m.SettingIs, "Value of '{setting}' is {value:value}"),
    hears(m.SettingChanged, "Value of '{setting}' set to '{value:value}'."),
    hears(m.SettingChanged, "Value of {setting} set to {value:value}."),
    says(m.SettingChanged, "Value of '{setting}' set to {value:value}."),
    says(m.SettingsSaved, "Settings saved."),
    says(m.AddressSet, "Your email address is '{address:quoted}'."),
    says(m.PasswordChanged, "Password changed."),
    # -- chat: "Tell", "Kibitz", "Message", "Away", "Waves"
    says(m.Heard, "** But nobody heard you.", count=0),
    says(m.Heard, "** {count:users} heard you."),
    says(m.YouSayToYourself, "You say to yourself: {text:text}"),
    says(m.NoMail, "There are no new messages for you."),
    says(m.UserIsAway, "{name} is away: {text:text}"),
    says(m.YouAreAway, "You're away. Please type 'back'"),
    says(m.WelcomeBack, "Welcome back."),
    says(m.NobodyAway, "None of the users is away."),
    says(m.AwayListStart, "The following users are away:"),
    says(m.Waves, "You wave goodbye.", name=YOU, again=False),
    says(m.Waves, "You wave goodbye again and log out.", name=YOU, again=True),
    says(m.Waves, "{name} waves goodbye.", again=False),
    says(m.Waves, "{name} waves goodbye again.", again=True),
    # -- "Waitfor", "Gag", "Blind"
    says(m.WaitingForNobody, "You are not waiting for any players."),
    says(m.WaitingFor, "You are waiting for {name}"),
    says(m.WaitingForMany, "You are waiting for the following {count} players:"),
    says(m.WillTellLogin, "** You'll receive a message when '{name:quoted}' logs in."),
    says(m.AwaitedLoggedIn, "** FINALLY!!! {name} logs in."),
    says(m.IsWaitingForYou, "** {name} is waiting for you to log in."),
    says(m.GagList, "** Gagged users: {names}"),
    says(m.GagSet, "** You gag {name}.", value=True),
    says(m.GagSet, "** You ungag {name}.", value=False),
    says(m.BlindList, "** Blinded users: {names}"),
    says(m.BlindSet, "** You blind {name}.", value=True),
    says(m.BlindSet, "** You unblind {name}.", value=False),
    # -- "Watch", "Unwatch", "Look"
    says(m.YouWatch, "You're now watching {name}."),
    hears(m.YouWatch, "You are now watching {name}."),
    says(m.NothingInteresting, "{name} is not doing anything interesting."),
    says(m.YouStopWatching, "You stop watching {name}."),
    hears(m.YouStopWatching, "** You stop watching {name}."),
    says(m.WatchesYou, "{name} is watching you."),
    says(m.StartsWatching, "{watcher} starts watching {player}."),
    says(m.StopsWatching, "{watcher} stops watching you.", player=YOU),
    says(m.StopsWatching, "{watcher} stops watching {player}."),
    says(m.BansWatcher, "{player} bans you from watching.", watcher=YOU),
    says(m.BansWatcher, "{player} bans {watcher} from watching."),
    says(m.WatchedGone, "{text:sentence}. You're not watching anymore."),
    says(m.YouLookGreat, "You look great."),
    # -- "Game Reports"
    says(m.MatchReportStart, "{player1} and {player2} start {length:match}."),
    hears(m.MatchReportStart, "{player1} and {player2} start a new {length:hyphen_match}."),
    says(m.MatchReportResume, "{player1} and {player2} are resuming their {length:hyphen_match}."),
    says(m.MatchReportEnd, "{winner} wins {length:match} against {loser}  {winner_points}-{loser_points} ."),
    says(m.MatchReportLeft, "{player} has left the game with {opponent}."),
    # -- "Show", "Who", "Where"
    says(m.SavedStart, "  opponent          matchlength   score (your points first)"),
    hears(m.SavedStart, "  opponent          matchlength   score(your points first)"),
    says(
        m.SavedMatch,
        "{stars:stars}{name:name<18} {length:saved_length} {own_points:number>13} - {opponent_points:number>2}",
    ),
    says(m.NoSavedGames, "no saved games."),
    says(m.SavedCount, "{name} has {count:saved_games}."),
    says(m.GamesStart, "List of games:"),
    says(m.GameListed, "{player1:name<15} - {player2:name>15} ({length:bare_match} {points1}-{points2})"),
    says(m.WatchersStart, "Watching players:"),
    says(m.WatcherListed, "{watcher} is watching {player}."),
    says(m.NoWatchers, "Watching players: none."),
    says(m.MaxLogins, "max_logins is {current} (maximum: {maximum})"),
    says(m.WhoHeader, "No  S  username        rating   exp login  idle from"),
    says(m.WhereIs, "{name} from {address:host}"),
    says(m.WhereHost, "({host:host})"),
    # -- "Pip", "Whois", "Ratings", "Last", "FIBS Info", "Other Commands"
    says(m.PipCounts, "Pipcounts: {player1} {pips1}   {player2} {pips2}"),
    says(m.WhoisStart, "Information about {name}:"),
    says(m.WhoisLogin, "  Last login:  {time:phrase} from {host:word}"),
    says(m.WhoisLogout, "  Last logout: {time:phrase}"),
    says(m.WhoisIdle, "  Still logged in. {seconds:idle} idle."),
    says(m.WhoisNotLoggedIn, "  Not logged in right now."),
    says(m.WhoisPlaying, "  {name} is playing with {opponent:name}."),
    says(m.WhoisNotPlaying, "  {name} is {ready:ready} to play, {watching:watching}, not playing."),
    says(m.WhoisRating, "  Rating: {rating} Experience: {experience}"),
    says(m.WhoisEmail, "  No email address.", address=None),
    says(m.WhoisEmail, "  Email address: {address:word}"),
    says(m.WhoisUnknown, "No information found on user {name:typed}."),
    says(m.RatingsHeader, " rank name            rating    Experience"),
    says(m.RatingListed, "{starred:star}{rank:number>4} {name:name<15} {rating:rating>7} {experience:number>8}"),
    says(m.LastStart, "The {count} last logins/logouts:"),
    says(m.LastListed, "{time:weektime}: {text:text}"),
    says(m.AverageHeader, "Time (UTC)  average min max    Time (UTC)  average min max"),
    says(
        m.AverageListed,
        "{period1:period} {average1:tenth>5} {least1:number>5} {most1:number>3}"
        "    {period2:period} {average2:tenth>5} {least2:number>5} {most2:number>3}",
    ),
    says(m.DicetestStart, "*** running dice test:"),
    DICETEST_END,
    says(m.StatStart, "The server is running since {since:phrase}."),
    says(m.ServerVersion, "** Version {text:text}"),
    says(m.ServerPort, "The server is running on port {port}."),
    says(m.PanicSaved, "Your game was saved in the panic file."),
)
