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
    settings.py        the settings of the process
    control_server.py  the control socket
    control_client.py  its client
    metrics.py         /metrics and /healthz
    systemd.py         notifications to systemd

The package `live` serves the page that follows running bots, `dashboard` the one of all accounts.
"""
