"""Records of past play: session logs and the match store.

The modules:

    session_log.py        the format of a session log, and its reader
    session_log_writer.py its writer, with rotation
    finished_logs.py      finished files: names, compression, removal
    stored_rows.py        what the store returns

The store itself is the package `store`, which imports SQLAlchemy.
"""
