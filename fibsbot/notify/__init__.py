"""Notices to an operator: what happened, sent to a web address or a command of the operator's own.

The modules:

    settings.py  the section [[notify]]: events, formats, where the address is
    notice.py    what happened, as a sentence and as JSON
    formats.py   the request or the standard input that a receiver expects
    delivery.py  one attempt to deliver: an HTTP request, or a command that runs
    outbox.py    the notices that wait for a receiver, also over a restart
    trial.py     a trial notice to each hook
    notifier.py  the thread that delivers, with growing pauses between attempts
"""
