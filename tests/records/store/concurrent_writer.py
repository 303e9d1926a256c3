"""A process that writes into a store as fast as it can, as if it had several accounts; tests run it and kill it.

    python -m tests.records.store.concurrent_writer URL ROUNDS ACCOUNT ...

With each round, every account makes one decision more; the number of each round that is in the store for certain goes
to standard output. It goes on with the matches that the accounts were in, or begins one.
"""

from __future__ import annotations

import datetime as dt
import os
import sys

import structlog

from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.stored_rows import MatchOutcome
from tests.records.store.recorder import XGID


def made(url: str, account: str) -> int:
    """Return how many decisions an account has made."""
    with Store.open(url) as store:
        return sum(1 for match in store.matches(account=account) for _ in store.decisions(match))


def main(url: str, rounds: str, *accounts: str) -> None:
    """Write so many rounds, or until somebody kills us."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    writer = StoreWriter(url)

    def put(account: str, name: str, /, **fields: object) -> None:
        writer.put(account, name, fields, dt.datetime.now(dt.UTC))

    with Store.open(url) as store:
        going_on = {
            match.account for match in store.matches() if match.outcome in (MatchOutcome.SAVED, MatchOutcome.PLAYING)
        }
    numbers = {account: made(url, account) for account in accounts}
    first = 1 + max(numbers.values())

    def decide(account: str, number: int) -> None:
        put(account, "decision", phase="move", turn=number, xgid=XGID, dice=(3, 1), answer="8/5 6/5")

    for account in accounts:
        put(account, "logged_in", name=account)
        if account in going_on:
            put(account, "match_started", opponent="ford", length=None, resumed=True)
            put(account, "match_resumed", opponent="ford", length=25, score=[0, 0])
        else:
            put(account, "match_started", opponent="ford", length=25, resumed=False)
            put(account, "game_started", opponent="ford", game=1)
        for number in range(numbers[account] + 1, first):  # a kill came when only some had put the last one
            decide(account, number)
    for number in range(first, first + int(rounds)):
        for account in accounts:
            decide(account, number)
        assert writer.flush()
        os.write(1, f"{number}\n".encode())
    assert writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
