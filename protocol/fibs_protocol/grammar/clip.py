"""Wordings of the numbered lines (specification: "CLIP Messages") and of boards."""

from __future__ import annotations

from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.grammar.templates import Wording, hears, says

MOTD_END: Final = says(m.MotdEnd, "4")

CLIP: Final[tuple[Wording[Any], ...]] = (
    says(m.Welcome, "1 {name} {last_login:seconds} {last_host:word}"),
    says(
        m.OwnInfo,
        "2 {name} {allowpip} {autoboard} {autodouble} {automove} {away} {bell} {crawford} {double} {experience}"
        " {greedy} {moreboards} {moves} {notify} {rating} {ratings} {ready} {redoubles:redoubles} {report} {silent}"
        " {timezone:word}",
    ),
    says(m.MotdStart, "3"),
    MOTD_END,
    says(
        m.WhoInfo,
        "5 {name} {opponent} {watching} {ready} {away} {rating} {experience} {idle} {login:seconds} {host:word}"
        " {client} {email}",
    ),
    says(m.WhoEnd, "6"),
    says(m.LoggedIn, "7 {name} {text:text}"),
    says(m.LoggedOut, "8 {name} {text:text}"),
    says(m.MailReceived, "9 {name} {time:seconds} {text:text}"),
    says(m.MailDelivered, "10 {name}"),
    says(m.MailSaved, "11 {name}"),
    says(m.Says, "12 {name} {text:text}"),
    says(m.Shouts, "13 {name} {text:text}"),
    says(m.Whispers, "14 {name} {text:text}"),
    says(m.Kibitzes, "15 {name} {text:text}"),
    says(m.YouSay, "16 {text:text}"),
    says(m.YouShout, "17 {text:text}"),
    says(m.YouWhisper, "18 {text:text}"),
    says(m.YouKibitz, "19 {text:text}"),
    says(m.Alert, "20 {name} {text:text}"),
)

HEARD: Final[tuple[Wording[Any], ...]] = (
    # No time at an account's first login, and never a name in the second line.
    hears(m.Welcome, "1 {name} {last_host:word}", server="BaldLies", last_login=0),
    hears(
        m.OwnInfo,
        "2 {allowpip} {autoboard} {autodouble} {automove} {away} {bell} {crawford} {double} {experience}"
        " {greedy} {moreboards} {moves} {notify} {rating} {ratings} {ready} {redoubles:redoubles} {report} {silent}"
        " {timezone:word}",
        server="BaldLies",
        name="",
    ),
    # No address if the user gave none.
    hears(
        m.WhoInfo,
        "5 {name} {opponent} {watching} {ready} {away} {rating} {experience} {idle} {login:seconds} {host:word}"
        " {client}",
        server="JIBS",
        email=None,
    ),
    # The host once more at the end.
    hears(
        m.OwnInfo,
        "2 {name} {allowpip} {autoboard} {autodouble} {automove} {away} {bell} {crawford} {double} {experience}"
        " {greedy} {moreboards} {moves} {notify} {rating} {ratings} {ready} {redoubles:redoubles} {report} {silent}"
        " {timezone:word} ({:word})",
        server="TigerGammon",
    ),
)
"""Numbered lines as other servers write them."""

BOARD: Final = says(m.Board, "{state}")
