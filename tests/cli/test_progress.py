"""How a command is told to stop."""

from __future__ import annotations

import contextlib
import signal

import pytest

from fibsbot.cli.progress import told_to_stop


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_remembered_where_the_exception_is_swallowed(number: signal.Signals) -> None:
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # who was started in the background ignores it
    before = signal.getsignal(signal.SIGTERM)
    try:
        with told_to_stop() as interrupts:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(number)
            assert interrupts.heard
        assert [signal.default_int_handler, before] == [signal.getsignal(it) for it in (signal.SIGINT, signal.SIGTERM)]
    finally:
        signal.signal(signal.SIGINT, usual)


def test_who_ignores_ctrl_c_goes_on_ignoring_it() -> None:
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with told_to_stop() as interrupts:
            signal.raise_signal(signal.SIGINT)
        assert not interrupts.heard
    finally:
        signal.signal(signal.SIGINT, usual)
