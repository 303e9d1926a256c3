"""With whom we play: a policy, and small pure rules that say why not."""

from fibsbot.policy.bots import is_bot
from fibsbot.policy.lengths import Lengths
from fibsbot.policy.names import NameRule
from fibsbot.policy.policy import Direction, Policy, Reason, Request
from fibsbot.policy.rules import reasons, reasons_not_to_resume, unchecked
from fibsbot.policy.wording import describe

__all__ = [
    "Direction",
    "Lengths",
    "NameRule",
    "Policy",
    "Reason",
    "Request",
    "describe",
    "is_bot",
    "reasons",
    "reasons_not_to_resume",
    "unchecked",
]
