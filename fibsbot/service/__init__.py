"""Bots that are left running: several accounts in one process, and what an operator sees of them.

The modules:

    service.py         the process of `fibsbot run`
    supervisor.py      its accounts and their strategies
    account.py         one account
    account_sharing.py accounts shared with other processes
    match_recorder.py  what the store gets of a match
    settings.py        the settings of the process
    control_server.py  the control socket
    control_client.py  its client
    web_server.py      /metrics and /healthz
    request_guards.py  what web pages keep away
    systemd.py         notifications to systemd

The package `live` serves the page that follows running bots.
"""
