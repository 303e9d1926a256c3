"""The policy about opponents and match lengths, and the rules that refuse matches."""

from fibsbot.policy.policy import Direction, Lengths, MatchRequest, NamePattern, Policy, RefusalReason, is_bot
from fibsbot.policy.rules import describe_policy, reasons_not_to_resume, reasons_to_refuse, unknown_facts

__all__ = [
    "Direction",
    "Lengths",
    "MatchRequest",
    "NamePattern",
    "Policy",
    "RefusalReason",
    "describe_policy",
    "is_bot",
    "reasons_not_to_resume",
    "reasons_to_refuse",
    "unknown_facts",
]
