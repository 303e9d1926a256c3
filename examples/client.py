"""A client of FIBS, with `fibs_protocol` alone: who is ready to play, best first.

FIBS_PASSWORD=... python examples/client.py fibs.com NAME
"""

import asyncio
import os
import sys

import fibs_protocol
from fibs_protocol import messages


async def ready_players(host, name, password, port=4321):
    """Return the players that wait for a match, with rating and experience, the best first."""
    found = {}
    async with fibs_protocol.connect(host, name, password, port=port) as fibs:
        async for message in fibs:  # the server begins with a list of everybody who is logged in
            match message:
                case messages.WhoInfo(ready=True, opponent=None) as player:
                    found[player.name] = (player.rating, player.experience)
                case messages.WhoEnd():
                    break
    return sorted(found.items(), key=lambda player: player[1], reverse=True)


if __name__ == "__main__":
    for player, (rating, experience) in asyncio.run(ready_players(*sys.argv[1:3], os.environ["FIBS_PASSWORD"])):
        print(f"{player:20} {rating:8.2f} {experience:6}")
