"""The agent that plays: a pure function from events to actions, and what drives it live.

The agent and its interface:

    agent.py              the function: makes the parts below for each connection, passes each event to them
    events_and_actions.py what it takes and returns
    context.py            the state that its parts share; `@on(...)` registers their methods
    settings.py           the settings of an agent and of its run

What it knows of a match:

    tracked_match.py      the state of the match, immutable
    board_comparison.py   how a board differs from it
    match_tracker.py      the state after a message
    current_match.py      the match as a whole, from its start to its end
    match_search.py       whether we are in a match without knowing it

What it decides and sends:

    decision_flow.py      a decision, from when it is open until the server confirms it
    decisions.py          which decision is open, its question, its command
    seated_part.py        the interface of what decides at a table with more than two seats (`fibsbot/chouette`)
    command_queue.py      commands that wait to be sent, and their answers
    timeouts.py           how long it waits for what, and what follows
    recovery.py           lost lines, and matches without progress

Between matches:

    login.py              login, registration, logout
    lobby.py              what is done in which order; whom to invite
    invitations.py        invitations sent and received
    saved_matches.py      which matches to resume, and when
    players.py            who is logged in
    chat.py               greetings and answers
    orders.py             what operators may order

Live:

    driver.py             one connection: bytes, clocks, threads, logs
    runner.py             one account: connection after connection
"""
