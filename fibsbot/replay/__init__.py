"""Replays what was logged or captured: bytes to messages to the agent's own tracking to transcripts.

From bytes to events:

    match_files.py     finds files and their formats; reads those of other programs, yields the events of each
    log_reading.py     files of sessions as lines
    captures.py        session logs and raw bytes as messages and commands; the decisions that a log has recorded
    transcriber.py     messages and commands as events of matches
    session_tracker.py the agent's own tracking beside it
    session_matches.py which match is on, which may be resumed
    match_builder.py   one match, game by game
    game_messages.py   what each message adds to a game
    game_builder.py    one game, line by line
    game_entries.py    its entries, checked by the rules
    logged_decisions.py  what a log says about the user's decisions
    board_view.py      what a `board:` line or a drawn board shows of a game
    state_view.py      what a `table:` line shows of a game
    seated_games.py    the interface of what reads games at a table with more than two seats (`fibsbot/chouette`)
    events.py          the events
    places.py          places among them

From events to output:

    match_recorder.py  records of a match that is being played, for the store
    batch.py           one file after another, or by workers
    writers.py         a list of moves, JSON objects, differing decisions
    event_text.py      events as text
    comparison.py      decisions compared with those of a strategy
    terminal.py        a board that is played back
    keys.py            keys of a terminal
"""
