import os
import signal
import threading

import pytest

from plimsoll.errors import Interrupted
from plimsoll.processes.interruption import Interruption, ending_early


def send(number: int = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_raises_where_nothing_is_deferred(number: int) -> None:
    with Interruption().listening(), pytest.raises(KeyboardInterrupt):
        send(number)


def test_a_deferred_block_is_asked_to_end_and_goes_on() -> None:
    asked: list[bool] = []
    with Interruption().listening() as interruption:
        with interruption.deferred(lambda: asked.append(True)):
            send()
            reached = True
        with pytest.raises(Interrupted) as caught:
            interruption.check()
    assert (asked, reached) == ([True], True)
    assert caught.value.exit_code == 130
    assert caught.value.hint == "repeat it"


def test_the_second_signal_raises_within_a_deferred_block() -> None:
    with Interruption().listening() as interruption, interruption.deferred():
        send()
        with pytest.raises(KeyboardInterrupt):
            send()


def test_a_block_within_another_gives_back_what_was_asked_before() -> None:
    asked: list[str] = []
    interruption = Interruption()
    with interruption.deferred(lambda: asked.append("outer")):
        with interruption.deferred(lambda: asked.append("inner")):
            pass
        interruption.handle(2, None)
    assert asked == ["outer"]


def test_handlers_are_given_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interruption().listening():
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_nothing_is_raised_without_a_signal() -> None:
    Interruption().check()


def test_another_thread_may_listen_without_effect() -> None:
    counts: list[int] = []

    def listen() -> None:
        with Interruption().listening() as interruption:
            counts.append(interruption.count)

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert counts == [0]


def test_what_ends_early_is_named_in_an_error_of_plimsoll() -> None:
    with (
        pytest.raises(Interrupted, match="a signal ended the check early"),
        ending_early("the check"),
        Interruption().listening(),
    ):
        send()


def test_what_is_left_ends_by_itself_after_the_first_signal_once_it_is_deferred() -> None:
    interruption = Interruption()
    with interruption.listening():
        interruption.defer()
        signal.raise_signal(signal.SIGINT)
        with interruption.deferred():
            pass
        assert interruption.count == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
