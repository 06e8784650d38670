"""A signal after a load of several hosts."""

import signal

import pytest

from plimsoll.cli.figures_first import FiguresFirst


def test_a_first_signal_after_the_load_waits_for_figures_and_a_second_one_does_not() -> None:
    with FiguresFirst(lambda: True) as signals:
        signal.raise_signal(signal.SIGINT)
        assert signals.count == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_signal_before_the_end_of_the_load_ends_the_command() -> None:
    with FiguresFirst(lambda: False), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_signals_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with FiguresFirst(lambda: False) as signals:
            signal.raise_signal(signal.SIGINT)
            assert not signals.count
    finally:
        signal.signal(signal.SIGINT, before)
