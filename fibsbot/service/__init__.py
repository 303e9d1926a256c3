"""Bots that are left running: several accounts in one process, and what an operator sees of them.

The modules:

    service.py         the process of `fibsbot run`
    supervisor.py      its accounts and their strategies
    account.py         one account
    account_sharing.py accounts shared with other processes
    alarms.py          what operators are notified of
    blocked_players.py players whom orders have blocked, over a restart
    list_reader.py     lists of players from files and addresses
    match_files.py     each finished match in a file of its own
    memories.py        what accounts remember of other players
    settings.py        the settings of the process
    control_server.py  the control socket
    control_client.py  its client
    web_pages.py       which web pages there are, and their server
    metrics.py         /metrics and /healthz
    pages.py           what web pages are made of
    systemd.py         notifications to systemd

The package `live` serves the page that follows running bots, `dashboard` the one of all accounts.
"""
