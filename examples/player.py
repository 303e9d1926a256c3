"""A client of FIBS that plays: it invites somebody, or accepts an invitation, and plays one match.

FIBS_PASSWORD=... python examples/player.py fibs.com NAME OPPONENT
"""

import asyncio
import os
import sys

import fibs_protocol
import fibsbot as bg
from fibs_protocol import DecisionKind, commands


def answer(decision):
    """Return the command that answers a decision, by the engine without looking ahead."""
    board = bg.Board.from_fibs(decision)
    match decision.kind:
        case DecisionKind.MOVE:
            return decision.move(str(bg.rank(board, evaluator="engine:0")[0].play))
        case DecisionKind.ROLL:
            return commands.Double() if bg.cube(board, "engine:0").action == "double" else commands.Roll()
        case DecisionKind.DOUBLE:
            return commands.Accept() if bg.cube(board, "engine:0").answer == "take" else commands.Reject()
        case DecisionKind.RESIGNATION:
            return commands.Accept()


async def play(connection, opponent=None, length=None):
    """Play one match; return what the server said at its end."""
    async with connection as fibs:
        async for decision in fibs.play(opponent, length):
            fibs.send(answer(decision))
    return fibs.match_end


if __name__ == "__main__":
    host, name, *opponent = sys.argv[1:]
    connection = fibs_protocol.connect(host, name, os.environ["FIBS_PASSWORD"])
    print(asyncio.run(play(connection, *opponent, length=1)))
