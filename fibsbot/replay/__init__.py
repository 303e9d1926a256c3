"""Replays what was logged or captured: bytes to messages to the agent's own tracking to transcripts.

From bytes to events:

    match_files.py     what kind of file it is; reads files of other programs
    captures.py        session logs and raw bytes as messages and commands
    transcriber.py     messages and commands as events of matches
    session_tracker.py the agent's own tracking beside it
    session_matches.py which match is on, which may be resumed
    match_builder.py   one match
    game_builder.py    one game, entry by entry
    decision_logs.py   what a log has about the user's decisions
    game_messages.py   what each message adds to a game
    board_view.py      what a board shows of a game
    table_match.py     one match of another game
    chouette_games.py  the games of a chouette
    events.py          the events, and places among them
    source_files.py    the files to replay, and the events of each

From events to output:

    batch.py           one file after another, or by workers
    writers.py         a list of moves, JSON objects, differing decisions
    event_text.py      events as text
    comparison.py      decisions compared with those of a strategy
    terminal.py        a board that is played back
    keys.py            keys of a terminal
"""
