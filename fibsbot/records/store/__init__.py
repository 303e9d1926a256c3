"""The match store: matches, games, decisions, opponents, ratings and connections, on SQLite or PostgreSQL.

The modules:

    schema.py          the tables
    database.py        opens the database
    writer.py          writes records as they come, in a thread
    record_queue.py    the records on their way, in memory and in the spill file
    record_handlers.py what each kind of record changes
    match_lifecycle.py the start, end and interruption of matches and games
    account_rows.py    the rows of an account in a transaction
    reader.py          reads the store
    transcripts.py     makes a transcript of a match
    practice_cards.py  exercises of a person, with the answers
    leases.py          which process plays which account
    maintenance.py     check, backup, copy and export
"""

from fibsbot.records.store.database import MissingPsycopgError, StoreError
from fibsbot.records.store.leases import AccountLeases, LeaseHolder, LeaseView
from fibsbot.records.store.reader import Store
from fibsbot.records.store.writer import StoreWriter

__all__ = [
    "AccountLeases",
    "LeaseHolder",
    "LeaseView",
    "MissingPsycopgError",
    "Store",
    "StoreError",
    "StoreWriter",
]
