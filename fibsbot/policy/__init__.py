"""The policy about opponents and match lengths, and the rules that refuse matches.

The modules:

    policy.py the settings, and the facts of a match to decide about
    rules.py  the rules, each with a code and a sentence
    name_lists.py lists of players that are kept outside of the configuration
"""

from fibsbot.policy.policy import (
    CHOUETTE,
    Direction,
    Lengths,
    MatchRequest,
    NamePattern,
    Policy,
    RefusalReason,
    full_game_name,
    is_bot,
    is_game,
    is_player_name,
    names_laws,
)
from fibsbot.policy.rules import describe_policy, reasons_not_to_resume, reasons_to_refuse, unknown_facts

__all__ = [
    "CHOUETTE",
    "Direction",
    "Lengths",
    "MatchRequest",
    "NamePattern",
    "Policy",
    "RefusalReason",
    "describe_policy",
    "full_game_name",
    "is_bot",
    "is_game",
    "is_player_name",
    "names_laws",
    "reasons_not_to_resume",
    "reasons_to_refuse",
    "unknown_facts",
]
